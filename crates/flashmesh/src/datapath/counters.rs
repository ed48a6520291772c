use crate::power::energy::ArrayOperationCounts;
use crate::schedule::queues::PlaneMasks;
use crate::schedule::transaction::TransactionClass;

/// Numbers of array steps and of operations, for reports.
#[derive(Clone, Debug, Default)]
pub struct Counters {
    /// Number of array steps (reads, programs and erases), by kind and page type. A multi-plane operation counts as the steps of one plane.
    pub work: ArrayOperationCounts,
    /// Number of operations on more than one plane.
    pub multi_plane_operations: u64,
    /// Number of operations whose lead (first transaction) is a user read that waited for `schedule.age-bound` or longer, while user programs were
    /// queued at the die when the operation started.
    pub overdue_reads: u64,
    /// Number of operations whose lead (first transaction) is a user program that waited for `schedule.age-bound` or longer, while user reads were
    /// queued at the die when the operation started.
    pub overdue_programs: u64,
}

impl Counters {
    /// Counts the operation if its lead (first transaction) is an overdue user read while user programs are queued at the die, or an overdue user
    /// program while user reads are queued there. `lead` is the class of the lead, `is_aged` returns whether the lead has waited for
    /// `schedule.age-bound` or longer, and `queued` contains the planes with queued transactions, by class.
    #[inline(always)]
    pub(super) fn count_overdue(&mut self, lead: TransactionClass, queued: PlaneMasks, is_aged: impl FnOnce() -> bool) {
        let other = match lead {
            TransactionClass::UserRead => TransactionClass::UserProgram,
            TransactionClass::UserProgram => TransactionClass::UserRead,
            _ => return,
        };
        if queued.of(other) != 0 && is_aged() {
            match lead {
                TransactionClass::UserRead => self.overdue_reads += 1,
                _ => self.overdue_programs += 1,
            }
        }
    }
}
