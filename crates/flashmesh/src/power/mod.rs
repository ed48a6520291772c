//! Power of a drive, and area of its interconnect. Reports only: nothing here affects the simulated timing.

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
