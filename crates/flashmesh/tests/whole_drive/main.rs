//! Tests of whole drives: random workloads against a simple model, instances against each other, epochs and measured windows, and fitted copies of
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
