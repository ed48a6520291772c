//! Profiles fitted to traces: what a trace is like in 30 to 150 kB of text, and traces of any length made from that.

mod arrivals;
mod classes;
mod file;
mod fit;
mod model;
mod placement;
mod places;
mod segments;
mod source;
mod table;
mod urn;
mod write;

pub use fit::{fit, fit_requests};
pub use model::{ArrivalModel, Model, Operation, OperationModel, PlaceModel};
pub use source::FittedSource;
pub use table::Table;
