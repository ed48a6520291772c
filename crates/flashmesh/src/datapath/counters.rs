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
    /// Number of operations that an overdue user read started (queued for `schedule.age-bound` or longer) while user programs were queued at the die.
    pub overdue_reads: u64,
    /// Number of operations that an overdue user program started (queued for `schedule.age-bound` or longer) while user reads were queued at the die.
    pub overdue_programs: u64,
}

impl Counters {
    /// Counts an operation that an overdue user read starts while user programs are queued at the die, or an overdue user program while user reads
    /// are queued. `lead` is the class of the first transaction. `is_aged` returns whether it is overdue: queued for `schedule.age-bound` or longer.
    /// `queued` has the planes with queued transactions, by class.
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
