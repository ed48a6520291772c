//! `[schedule]`

use super::ftl::FirmwarePolicy;
use crate::config::Config;
use crate::config::choices::choices;
use crate::config::section::section;
use crate::units::Time;

choices! {
    /// Which waiting transaction a die runs next.
    SchedulePolicy {
        /// Requests by their kind, in any order of arrival; collection before or after them, as it is preemptible.
        OutOfOrder = "out-of-order",
        /// In the order of arrival; only collection that must come first, and reads where suspension is on, overtake.
        Fifo = "fifo",
        /// Sprinkler (HPCA 2014): the chips of a channel by turns, each with the transactions that overlap most.
        Sprinkler = "sprinkler",
        /// Physically addressed queueing (PAQ, ISCA 2012): the largest set of transactions without a conflict.
        Paq = "paq",
        /// The stream that others slow down most, on each die (after FLIN, ISCA 2018).
        Fair = "fair",
    }
}

choices! {
    /// Which kind of request a die serves first.
    KindOrder {
        /// Reads before writes.
        ReadFirst = "read-first",
        /// Writes before reads.
        WriteFirst = "write-first",
        /// Whatever waits longest.
        Arrival = "arrival",
    }
}

choices! {
    /// When the erase that ends a collection goes.
    EraseOrder {
        /// As the other transactions of its collection go.
        WithCollection = "with-collection",
        /// Before all requests: its plane has free pages soonest.
        First = "first",
        /// When nothing else waits, or space is nearly out: no request waits for it before that.
        Last = "last",
    }
}

choices! {
    /// What the priority of a request means to a die.
    Priorities {
        /// Nothing.
        Off = "off",
        /// A higher priority goes first, whatever the kind; within a priority the kinds have their order.
        Strict = "strict",
        /// Within each kind, urgent requests first; high, medium and low ones take turns, 4 : 2 : 1 where all of them wait.
        Weighted = "weighted",
    }
}

section! {
    /// Which waiting transaction a die runs next. What the array interrupts for a read is `flash.suspension`.
    Schedule, "schedule" {
        /// How a die chooses among the transactions that wait for it.
        policy: SchedulePolicy = SchedulePolicy::OutOfOrder;
        /// Which kind of request goes first. The read that a write of a part of a page needs is a read.
        order: KindOrder = KindOrder::ReadFirst, with "policy" = ["\"out-of-order\""];
        /// When erases go. Space is nearly out below `gc.hard-threshold`, and where a write finds no page.
        erases: EraseOrder = EraseOrder::WithCollection, with "policy" != ["\"fifo\""];
        /// What priorities of requests do. With them on, only transactions of the same priority join in a multi-plane operation.
        priorities: Priorities = Priorities::Off, with "policy" = ["\"out-of-order\""];
        /// A request's transaction that has waited this long for its die goes before those of all other requests, so that none
        /// waits for ever behind a kind or a priority that always goes first; where `policy` is `out-of-order`, reads and writes then take
        /// turns ([scheduling.md](scheduling.md)). 1000 s is no bound.
        age_bound: Time = Time::from_ms(20), in Time::ZERO..=Time::from_ms(1_000_000), with "policy" != ["\"fifo\""];
        /// How many waiting reads of another plane are searched for one that can join a multi-plane read; programs too, where
        /// `ftl.write-binding` is early.
        lookahead: u32 = 32, in 1..=65_535;
    }
}

impl Config {
    /// Which scheduling policy runs: that of the firmware policy when it brings one.
    pub fn schedule_policy(&self) -> SchedulePolicy {
        match self.ftl.policy {
            FirmwarePolicy::Sprinkler => SchedulePolicy::Sprinkler,
            FirmwarePolicy::Page | FirmwarePolicy::Tbm | FirmwarePolicy::Mbm => self.schedule.policy,
        }
    }
}
