//! Firmware tests: translation, placement, GC, policies, scheduling, read collisions and replication.
#![allow(missing_docs)]

#[path = "../support/mod.rs"]
mod support;

mod age_bound;
mod chip_to_chip;
mod clean;
mod collection_priority;
mod collisions;
mod early_units;
mod ftl_model;
mod ftl_steady_state;
mod kept_states;
mod large_units;
mod mapping_cache;
mod mbm_cases;
mod mbm_units;
mod moves_of_units;
mod parity;
mod partition;
mod placement_seam;
mod policies;
mod power_cuts;
mod power_loss;
mod preconditioned_units;
mod prepared_drives;
mod replication;
mod scheduling;
mod slc;
mod slc_waits;
mod slc_with_policies;
mod unwritten_pages;
mod word_lines;
mod write_amplification;
