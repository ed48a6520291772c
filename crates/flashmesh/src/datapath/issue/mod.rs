//! Issue: choice of the transactions that may run on a die, and path requests for them.

mod chip;
mod chip_suspension;
mod die;
mod dispatch;
mod outcome;
mod parity;
mod ready;
mod suspension;

pub use outcome::{HeldDie, IssueOutcome};

pub(super) use dispatch::DispatchCandidates;
pub(super) use ready::has_awaited_read;
