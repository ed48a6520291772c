//! Tests of whole drives on random workloads, compared with a simple model, between instances, and over epochs and windows; and copies of
//! traces.
#![allow(missing_docs)]

#[path = "../support/mod.rs"]
mod support;

mod against_model;
mod fitted_real_traces;
mod golden_corpus;
mod instances;
mod steady_state;
mod stepping;
