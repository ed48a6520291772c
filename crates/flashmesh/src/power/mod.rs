//! What a drive draws, and how much room its interconnect takes. Reports only: nothing here decides when anything happens.

pub mod area;
pub mod energy;

use crate::quantities;

quantities! {
    /// A constant that a result rests on.
    Constant as "Constant" {
        /// What the constant is.
        name: &'static str;
        /// Its value, in `unit`.
        value: f64;
        /// The unit of the value.
        unit: &'static str;
        /// The paper, or the choice made where no paper states one; `configuration` for a value that was configured.
        source: &'static str;
    }
}
