//! What a drive draws, and how much room its interconnect takes. Reports only: nothing here decides when anything happens.

pub mod area;
pub mod energy;

use serde::Serialize;

/// A figure that a result rests on, with where it comes from.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Constant {
    /// What it is.
    pub name: &'static str,
    /// Its value.
    pub value: f64,
    /// The unit of the value.
    pub unit: &'static str,
    /// The paper, or the choice made where no paper states one; `configuration` for a value that was configured.
    pub source: &'static str,
}
