//! Workload tests: traces of every format and their writers, profiles, fitted profiles, synthetic workloads.
#![allow(missing_docs)]

#[path = "../support/mod.rs"]
mod support;

mod fitted_profiles;
mod profile_settings;
mod profiles;
mod readers_files;
mod readers_formats;
mod readers_real_traces;
mod synthetic;
mod trace_writers;
