//! What the configuration says of how operations run.

use crate::config::{
    Allocation, Arbitration, Config, EraseOrder, KindOrder, Move, MultiPlane, Priorities, Schedule, SchedulePolicy,
    Suspension, SuspensionScope, WriteBinding,
};
use crate::fabric::Facts;
use crate::flash::die::DieRules;
use crate::flash::geometry::Geometry;
use crate::schedule::queues::{NOTHING, PlaneMasks};
use crate::schedule::transaction::Class;
use crate::schedule::{AnyScheduler, Scheduler};
use crate::units::Time;

/// What of the configuration decides how operations run.
#[derive(Clone, Debug)]
pub(super) struct Rules {
    pub(super) die: DieRules,
    pub(super) multi_plane: MultiPlane,
    /// How many transactions of a queue may be looked at to find one that joins.
    pub(super) lookahead: u32,
    /// Whether only the sectors written are sent for a program.
    pub(super) partial_program: bool,
    pub(super) copyback: bool,
    /// Whether collection has the valid pages of a block moved by one packet.
    pub(super) cleans: bool,
    /// Whether a chip takes one operation at a time, for one of several dies.
    pub(super) dies_take_turns: bool,
    pub(super) erases: EraseOrder,
    /// How long a transaction of a request may wait while one kind of them goes before the other.
    pub(super) age_bound: Time,
    /// Who gets a channel when several wait; that of the default over an interconnect without channels.
    pub(super) arbitration: Arbitration,
    /// Whether writes get their pages before their turn.
    pub(super) preallocates: bool,
    pub(super) tracks_idle: bool,
    /// Whether the scheduling policy says which die asks for a path.
    pub(super) dispatches: bool,
    /// Whether the dies of a chip begin something only when all of them are idle.
    pub(super) dies_start_together: bool,
    /// Whether reads that requests wait for go before collection whatever else does.
    pub(super) reads_before_collection: bool,
    /// Whether a read suspends all that dies of its chip do.
    pub(super) suspends_chips: bool,
    /// What of collection waits while writes have their turn.
    pub(super) waits_for_turn: PlaneMasks,
    /// Whether superblocks have parity.
    pub(super) has_parity: bool,
    /// Whether what a die may begin hangs on nothing but what waits for it and what it does, as in a plain drive: not on other dies, on turns of
    /// collection, on parity, on units that gather, or on Cleans.
    pub(super) dies_decide_alone: bool,
    /// Whether the first transaction goes when only one queue of such a die has any: the scheduling policy is not asked.
    pub(super) first_goes: bool,
    /// Whether the interconnect is told of which request a path is.
    pub(super) names_requests: bool,
}

impl Rules {
    /// Those of a drive whose transactions `scheduler` chooses among.
    pub(super) fn new(config: &Config, geometry: &Geometry, facts: &Facts, scheduler: &AnyScheduler) -> Rules {
        let Schedule { order, priorities, .. } = config.schedule;
        let has_precedence = match config.schedule_policy() {
            SchedulePolicy::Fifo => false,
            SchedulePolicy::OutOfOrder => order != KindOrder::Arrival || priorities != Priorities::Off,
            SchedulePolicy::Sprinkler | SchedulePolicy::Paq | SchedulePolicy::Fair => true,
        };
        let dies_start_together = config.dies_start_together();
        let dies_take_turns = !config.flash.die_interleaving && geometry.dies_per_chip > 1;
        let cleans = config.gc.r#move == Move::Clean;
        let waits_for_turn = match (config.collection_takes_turns(), config.gc.r#move.leaves_the_chip()) {
            (false, _) => NOTHING,
            // What is on its way to another chip occupies a register there, and is programmed.
            (true, true) => PlaneMasks::all_of(&[Class::CollectRead]),
            (true, false) => PlaneMasks::all_of(&[Class::CollectRead, Class::CollectProgram]),
        };
        let has_parity = config.parity_stripe().is_some();
        let dies_decide_alone = !dies_take_turns
            && !dies_start_together
            && !cleans
            && !has_parity
            && !geometry.gathers()
            && waits_for_turn == NOTHING;
        Rules {
            die: DieRules {
                read_cache: config.flash.read_cache,
                suspension: config.suspension(),
                suspensions_max: config.flash.suspensions_max,
                suspend_remaining_min: config.flash.suspend_remaining_min,
            },
            multi_plane: config.flash.multi_plane,
            lookahead: config.schedule.lookahead,
            partial_program: config.flash.partial_program,
            copyback: config.gc.copyback,
            cleans,
            erases: config.schedule.erases,
            age_bound: if has_precedence { config.schedule.age_bound } else { Time::MAX },
            dies_take_turns,
            arbitration: if facts.arbitrates() { config.fabric.arbitration } else { Arbitration::CommandFirst },
            preallocates: config.ftl.write_binding == WriteBinding::Early,
            tracks_idle: config.ftl.allocation == Allocation::Dynamic,
            dispatches: scheduler.dispatches(),
            dies_start_together,
            reads_before_collection: config.reads_go_before_collection(),
            suspends_chips: dies_start_together
                && config.flash.suspension_scope == SuspensionScope::Chip
                && config.suspension() != Suspension::Off,
            waits_for_turn,
            has_parity,
            dies_decide_alone,
            first_goes: dies_decide_alone && priorities == Priorities::Off && scheduler.takes_only_queue(),
            names_requests: config.venice.circuits_per_request.is_some(),
        }
    }

    /// Whether data that leaves the dies has an order beside that of asking.
    #[inline]
    pub(super) fn ranks_data(&self) -> bool {
        self.arbitration == Arbitration::DataFirstRoundRobin
    }

    /// Whether what a die wants next takes part in the choice of who gets the path that its data leaves.
    #[inline]
    pub(super) fn asks_before_release(&self) -> bool {
        matches!(self.arbitration, Arbitration::DataFirstRoundRobin | Arbitration::NextCommandFirst)
    }
}
