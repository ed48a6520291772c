//! Scheduling policies, one a file, with the groups of transactions and the rules of precedence on which several policies build.

pub(super) mod fair;
pub mod fifo;
mod group;
pub mod out_of_order;
pub(super) mod paq;
mod precedence;
pub mod sprinkler;
mod weighted_round_robin;
