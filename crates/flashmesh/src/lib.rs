//! flashmesh: an SSD simulator for the people who design drives.
//!
//! An I/O request walks down through [`frontend`], [`firmware`] and [`datapath`], and up again. They stand on state machines without time:
//! [`workload`], [`host`], [`cache`], [`ftl`], [`schedule`], [`fabric`], [`flash`]. [`kernel`] keeps the clock, [`measure`] counts, [`reporting`]
//! makes the report, and [`simulation`] owns them all.

/// The guide for contributors; its example is compiled and run with the tests.
#[cfg(doctest)]
#[doc = include_str!("../../../CONTRIBUTING.md")]
pub mod contributing {}

pub mod cache;
pub mod check;
pub mod collisions;
pub mod config;
pub mod datapath;
mod drive;
pub mod engine;
pub mod error;
pub mod fabric;
pub mod firmware;
pub mod flash;
pub mod frontend;
pub mod ftl;
pub mod host;
pub mod ids;
pub mod kernel;
pub mod measure;
pub mod persistence;
pub mod power;
pub mod probes;
pub mod recording;
pub mod reporting;
pub mod results;
pub mod schedule;
pub mod simulation;
pub mod units;
pub mod workload;

pub use drive::MemoryEstimate;
