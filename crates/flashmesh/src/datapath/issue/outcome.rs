//! Outcome of an issue (the attempt to start or resume an operation at a die), for the controller.

use crate::ids::{DieId, TransactionId};

use super::chip::ChipScan;

#[cfg(doc)]
use crate::datapath::Datapath;

/// Action that the controller must take after an issue attempt (to start or resume an operation at a die).
#[must_use]
#[derive(Clone, Copy, Debug)]
pub enum IssueOutcome {
    /// No action for the controller.
    Nothing,
    /// Consecutive idle dies with empty queues: the first die, and their number. Next, start background work there, such as background GC.
    Idle(DieId, u32),
    /// Queued programs may lack a free page. Next, trigger GC of their planes and call [`Datapath::resume_issue`].
    Pages(HeldDie),
    /// Consecutive dies that may start an operation: the first die, and the number of dies. Next, call [`Datapath::try_issue_of_die`] for each.
    Each(DieId, u32),
    /// The pending operation of a Clean (chip-to-chip move of a whole block) may start. Next, assign a page to each program and call
    /// [`Datapath::start_clean_operation`].
    StartClean(DieId, TransactionId),
}

/// Die with programs that may lack a free page. `chip` is the progress of the scan over its chip, which stopped at this die; `None` if only this die
/// was checked.
#[derive(Clone, Copy, Debug)]
pub struct HeldDie {
    pub die: DieId,
    pub(in super::super) chip: Option<ChipScan>,
}
