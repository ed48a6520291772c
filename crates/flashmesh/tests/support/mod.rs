//! Support code of the tests: random drives, small workloads, runs with all oracles enabled, and data in `../shared`.
#![allow(dead_code, reason = "every group of tests uses another part")]

pub mod arbitrary;
#[path = "../../../flashmesh-workload/tests/support/cases.rs"]
pub mod cases;
pub mod drives;
pub mod partitions;
#[path = "../../../flashmesh-workload/tests/support/shared.rs"]
pub mod shared;
