//! `[schedule]`

use super::ftl::FirmwarePolicy;
use crate::config::Config;
use crate::config::choices::choices;
use crate::config::section::section;
use crate::units::Time;

choices! {
    /// Which waiting transaction a die runs next.
    SchedulePolicy {
        /// Out of order: requests by their kind; garbage collection before or after them, as `gc.preemptible` says.
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
        /// The longest waiting.
        Arrival = "arrival",
    }
}

choices! {
    /// When the erase of a collected block is scheduled.
    EraseOrder {
        /// As the other transactions of the collection.
        WithCollection = "with-collection",
        /// Before all requests: its plane has free pages soonest.
        First = "first",
        /// When nothing else waits, or space is nearly out: no request waits for it before that.
        Last = "last",
    }
}

choices! {
    /// How dies use the priorities of requests.
    Priorities {
        /// Not at all.
        Off = "off",
        /// A higher priority goes first, whatever the kind; within a priority the kinds have their order.
        Strict = "strict",
        /// Within each kind, urgent requests first; then weighted round robin of high, medium and low priority, 4 : 2 : 1.
        Weighted = "weighted",
    }
}

section! {
    /// Which waiting transaction a die runs next. Suspension of operations for reads is set by `flash.suspension`.
    Schedule, "schedule" {
        /// How a die chooses among the transactions that wait for it.
        policy: SchedulePolicy = SchedulePolicy::OutOfOrder, with "policy.scheduler" = [""], needs any, step "out-of-order | sprinkler | paq | fair";
        /// Which kind of request goes first. The read that a write of a part of a page needs is a read.
        order: KindOrder = KindOrder::ReadFirst, with "policy" = ["\"out-of-order\""], with "policy.scheduler" = [""],
            needs any, step "read-first | arrival";
        /// When erases go. Space is nearly out below `gc.hard-threshold`, and where a write finds no page.
        erases: EraseOrder = EraseOrder::WithCollection, with "policy" != ["\"fifo\""], with "policy.scheduler" = [""], needs any;
        /// What priorities of requests do. With them on, only transactions of the same priority join in a multi-plane operation. A
        /// policy in Python sees priorities where this is not `off`, and says itself what they do.
        priorities: Priorities = Priorities::Off, with "policy" = ["\"out-of-order\""], needs any;
        /// A request's transaction that has waited this long for its die goes before those of all other requests, so that none
        /// waits for ever behind a kind or a priority that always goes first; where `policy` is `out-of-order`, reads and writes then take
        /// turns ([scheduling.md](scheduling.md)). 1000 s is no bound.
        age_bound: Time = Time::from_ms(20), in Time::ZERO..=Time::from_ms(1_000_000),
            with "policy" != ["\"fifo\""], with "policy.scheduler" = [""], needs plain;
        /// How many waiting reads of another plane are searched for one that can join a multi-plane read; programs too, where
        /// `ftl.write-binding` is early.
        lookahead: u32 = 32, in 1..=65_535, needs plain;
    }
}

impl Config {
    /// Which scheduling policy runs: that of the firmware policy when it brings one.
    pub fn schedule_policy(&self) -> SchedulePolicy {
        match self.ftl.policy {
            FirmwarePolicy::Sprinkler => SchedulePolicy::Sprinkler,
            _ => self.schedule.policy,
        }
    }
}
