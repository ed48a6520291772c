//! Power of a drive, and area of its interconnect. Reports only: nothing here affects the simulated timing.

pub mod area;
pub mod energy;

use crate::quantities;

quantities! {
    /// A constant that a result rests on.
    Constant as "Constant" {
        /// Name of the constant.
        name: &'static str;
        /// Value in `unit`.
        value: f64;
        /// Unit of the value.
        unit: &'static str;
        /// Paper that states the value, or the choice made because none does; `configuration` for a configured value.
        source: &'static str;
    }
}
