//! `[schedule]`

use crate::config::choices::choices;
use crate::config::section::section;

choices! {
    /// Which waiting transaction a die runs next.
    SchedulePolicy {
        /// Reads before writes before erases, in any order of arrival.
        OutOfOrder = "out-of-order",
        /// In the order of arrival; only collection that must come first, and reads where suspension is on, overtake.
        Fifo = "fifo",
    }
}

section! {
    /// Which waiting transaction a die runs next.
    Schedule, "schedule" {
        /// How a die chooses among the transactions that wait for it.
        policy: SchedulePolicy = SchedulePolicy::OutOfOrder;
        /// How many waiting reads of another plane are searched for one that can join a multi-plane read.
        lookahead: u32 = 32, in 1..=65_535;
    }
}
