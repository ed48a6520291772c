//! Results, declared once: the name, unit and meaning of every quantity that a run reports.

pub mod counters;

pub use flashmesh_base::results::*;
