//! Power of a drive, and area of its interconnect. Reports contain these figures; the simulated timing does not depend on them.

pub mod area;
pub mod energy;

use crate::quantities;

quantities! {
    /// A constant from which a result is computed.
    Constant as "Constant" {
        /// Name of the constant.
        name: &'static str;
        /// Value in `unit`.
        value: f64;
        /// Unit of the value.
        unit: &'static str;
        /// Paper that states the value, or the choice made because no paper states one; `configuration` for a configured value.
        source: &'static str;
    }
}
