//! The section `[schedule]` of a configuration: its parameters, and the types of their values.

use super::ftl::FirmwarePolicy;
use crate::config::Config;
use crate::config::choices::choices;
use crate::config::section::section;
use crate::units::Time;

choices! {
    /// The transaction that a die executes next.
    SchedulePolicy {
        /// Out of order: requests are ordered by kind. Garbage collection goes before or after all requests, depending on `gc.preemptible`.
        OutOfOrder = "out-of-order",
        /// Transactions in the order of arrival. Only collection with priority, and reads if suspension is on, overtake.
        Fifo = "fifo",
        /// Sprinkler (HPCA 2014): the chips of a channel in turn, each with the transactions that overlap most.
        Sprinkler = "sprinkler",
        /// Physically addressed queueing (PAQ, ISCA 2012): the largest set of transactions without a conflict.
        Paq = "paq",
        /// On each die, the stream that other streams slow down most (after FLIN, ISCA 2018).
        Fair = "fair",
    }
}

choices! {
    /// The kind of request that a die executes first.
    KindOrder {
        /// Reads before writes.
        ReadFirst = "read-first",
        /// Writes before reads.
        WriteFirst = "write-first",
        /// The request that has waited longest.
        Arrival = "arrival",
    }
}

choices! {
    /// The moment at which the erase of a collected block is scheduled.
    EraseOrder {
        /// An erase has the precedence of the other transactions of its collection.
        WithCollection = "with-collection",
        /// An erase goes before all requests, so that the plane has free pages as soon as possible.
        First = "first",
        /// An erase waits until nothing else waits, or space is nearly exhausted. Until then, it delays no request.
        Last = "last",
    }
}

choices! {
    /// The use of request priorities by dies.
    Priorities {
        /// No use of priorities.
        Off = "off",
        /// Strict: a higher priority goes first, whatever the kind; within a priority, requests are ordered by kind.
        Strict = "strict",
        /// Within each kind, urgent requests first; then weighted round robin of high, medium and low priority, 4 : 2 : 1.
        Weighted = "weighted",
    }
}

section! {
    /// Scheduling of the transactions that wait for a die. `flash.suspension` sets which operations reads suspend.
    Schedule, "schedule" {
        /// Rule that selects the transaction a die executes next.
        policy: SchedulePolicy = SchedulePolicy::OutOfOrder, with "policy.scheduler" = [""], needs any, step "out-of-order | sprinkler | paq | fair";
        /// Kind of request that goes first. The read that a write of a part of a page needs counts as a read.
        order: KindOrder = KindOrder::ReadFirst, with "policy" = ["\"out-of-order\""], with "policy.scheduler" = [""],
            needs any, step "read-first | arrival";
        /// Moment at which the erase of a collected block is scheduled. Space is nearly exhausted below `gc.hard-threshold`, and when a write finds
        /// no free page.
        erases: EraseOrder = EraseOrder::WithCollection, with "policy" != ["\"fifo\""], with "policy.scheduler" = [""], needs any;
        /// Use of request priorities. Unless `off`, only transactions of the same priority join in a multi-plane operation. A Python policy decides
        /// itself how to use priorities; with `off`, the policy does not see priorities.
        priorities: Priorities = Priorities::Off, with "policy" = ["\"out-of-order\""], needs any;
        /// Whether reads of requests on other planes join a read of a translation page in a multi-plane operation.
        map_reads_take_others: bool = false, with "mapping.cache-capacity" != [""], with "flash.multi-plane" != ["\"independent\""], needs plain;
        /// Waiting time at a die after which a transaction of a request precedes the transactions of all other requests, so that no request starves
        /// behind a kind or a priority that always goes first. With `policy = "out-of-order"`, reads and writes then take turns
        /// ([scheduling.md](scheduling.md)). 1000 s means no bound.
        age_bound: Time = Time::from_ms(20), in Time::ZERO..=Time::from_ms(1_000_000),
            with "policy" != ["\"fifo\""], with "policy.scheduler" = [""], needs plain;
        /// Maximum number of waiting reads of another plane that are searched for a read that can join a multi-plane read. Applies to programs too if
        /// `ftl.write-binding` is early.
        lookahead: u32 = 32, in 1..=65_535, needs plain;
    }
}

impl Config {
    /// Returns the scheduling policy in effect: the policy that the firmware policy prescribes, or else `schedule.policy`.
    pub fn schedule_policy(&self) -> SchedulePolicy {
        match self.ftl.policy {
            FirmwarePolicy::Sprinkler => SchedulePolicy::Sprinkler,
            _ => self.schedule.policy,
        }
    }
}
