//! What the tests share: random drives, small workloads, runs with all oracles on, and what lies beside the repository.
#![allow(dead_code, reason = "every group of tests uses its part of it")]

pub mod arbitrary;
#[path = "../../../flashmesh-workload/tests/support/cases.rs"]
pub mod cases;
pub mod drives;
pub mod partitions;
#[path = "../../../flashmesh-workload/tests/support/shared.rs"]
pub mod shared;
