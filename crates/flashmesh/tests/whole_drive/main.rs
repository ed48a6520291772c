//! Whole drives on random workloads: against a plain model, lean against full instances, over epochs and windows.
#![allow(missing_docs)]

#[path = "../support/mod.rs"]
mod support;

mod against_model;
mod lean_and_full;
mod steady_state;
