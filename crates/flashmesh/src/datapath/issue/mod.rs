//! Issue: the request of a command path for a die with transactions that may run, or the resumption of its suspended operation.

mod chip;
mod chip_suspension;
mod die;
mod outcome;

pub use outcome::{HeldDie, IssueOutcome};
