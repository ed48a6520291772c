//! Issue: choice of the transactions that may run on a die, and path requests for them.

mod chip;
mod chip_suspension;
mod die;
mod outcome;

pub use outcome::{HeldDie, IssueOutcome};
