//! Whole drives on random workloads: against a plain model, every instance against the others, over epochs and windows; on copies of traces.
#![allow(missing_docs)]

#[path = "../support/mod.rs"]
mod support;

mod against_model;
mod fitted_real_traces;
mod golden_corpus;
mod instances;
mod steady_state;
mod stepping;
