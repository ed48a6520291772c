//! Times of scout steps and of grants of circuits.

use crate::fabric::venice::controllers::flash_controller::ControllerStage;
use crate::fabric::venice::controllers::path_queue::PathRequest;
use crate::fabric::venice::fabric::Venice;
use crate::fabric::{Outbox, ScoutMove, ScoutStep};
use crate::ids::ChannelId;
use crate::units::Time;

use super::network::ScoutAction;
use super::reachability::WatchedScout;
use super::step_schedule::StepSchedule;

/// Pending steps of scouts, and pending grants of reserved circuits.
#[derive(Clone, Debug)]
pub(in super::super) struct ScoutEvents {
    pub steps: StepSchedule,
    /// Pending grants of circuits: the time at which the scout will be back at its controller, and the controller. In descending order of time, then
    /// of controller.
    grants: Vec<(Time, ChannelId)>,
}

impl ScoutEvents {
    pub fn new(hop: Time) -> ScoutEvents {
        ScoutEvents { steps: StepSchedule::new(hop), grants: Vec::new() }
    }

    /// Returns the time of the next grant; [`Time::MAX`] if no scout returns over a circuit.
    #[inline]
    fn next_grant(&self) -> Time {
        self.grants.last().map_or(Time::MAX, |(at, _)| *at)
    }

    #[inline]
    fn add_grant(&mut self, at: Time, controller: ChannelId) {
        let key = (at, controller);
        let place = self.grants.iter().rposition(|other| *other > key).map_or(0, |later| later + 1);
        self.grants.insert(place, key);
    }

    /// Removes and returns the controller whose circuit the caller must grant at `now`; the lowest of several, `None` if there is none.
    #[inline]
    pub fn take_grant(&mut self, now: Time) -> Option<ChannelId> {
        debug_assert!(self.next_grant() >= now, "a circuit was to be granted at {}, before {now}", self.next_grant());
        self.grants.pop_if(|(at, _)| *at == now).map(|(_, controller)| controller)
    }
}

impl Venice {
    /// Runs the scout steps that are due up to `until` or the next grant, whichever is earlier, each at its own time. Handles the searches that end.
    ///
    /// The steps need no events: until a circuit is granted, only other scouts can observe them. It suffices to run the due steps before each
    /// request, release, possible grant, or read of counters.
    #[inline]
    pub(in super::super) fn step_scouts(&mut self, until: Time, outbox: &mut Outbox) {
        while let Some((at, controller)) = self.scout_events.steps.first()
            && let until = until.min(self.scout_events.next_grant())
            && at <= until
        {
            if outbox.link_uses.is_some() {
                let step = self.network.step(controller);
                self.record_watched(controller, step, at, outbox);
                if matches!(step, ScoutAction::Forward | ScoutAction::Back) {
                    self.scout_events.steps.advance(1);
                } else {
                    self.end_search(controller, step, at, outbox);
                }
            } else if self.scout_events.steps.has_one() {
                let (at, step) = self.network.run_scout(controller, at, self.timing.scout_hop(), until);
                if matches!(step, ScoutAction::Forward | ScoutAction::Back) {
                    self.scout_events.steps.reschedule_only(at + self.timing.scout_hop());
                } else {
                    self.end_search(controller, step, at, outbox);
                }
            } else if let Some((at, controller, step)) = self.network.run_scouts(&mut self.scout_events.steps, until) {
                self.end_search(controller, step, at, outbox);
            }
        }
    }

    /// Ends the search of `controller`, whose scout is first in the schedule and made its last step, `step`, at `at`.
    #[inline]
    fn end_search(&mut self, controller: ChannelId, step: ScoutAction, at: Time, outbox: &mut Outbox) {
        self.scout_events.steps.remove_first();
        match step {
            ScoutAction::Forward | ScoutAction::Back => {}
            ScoutAction::Failed => self.handle_failure(controller, at, outbox),
            ScoutAction::Reached { hops } => {
                let state = &mut self.controllers[controller];
                state.stage = ControllerStage::Returning;
                self.network.list_circuit(controller, &mut state.circuit);
                self.path_queue.remove(&state.request);
                self.scout_events.add_grant(at + self.timing.scout_hop() * u64::from(hops), controller);
            }
        }
    }

    /// Sets the wake-up to the earliest time at which a circuit can be granted. The circuit may be reserved already, or may still be reserved by a
    /// scout in flight or, if that one fails, by its successor.
    #[inline]
    pub(in super::super) fn schedule_wake(&self, outbox: &mut Outbox) {
        let (mut first, hop) = (self.scout_events.next_grant(), self.timing.scout_hop());
        self.scout_events.steps.for_each(|at, controller| {
            // The scout makes its next step at `at`, and at least one more link must be crossed before its controller can get a circuit. If that is
            // no earlier than `first`, the earliest known grant, the exact minimum does not matter.
            if at + hop < first {
                first = first.min(at + hop * u64::from(self.network.remaining_links_min(controller)));
            }
        });
        outbox.wake_at = first;
    }

    /// Records the links that `controller` holds at `now`, if an oracle (a probe that checks the run) is attached.
    #[inline(always)]
    pub(in super::super) fn record_held(&mut self, controller: ChannelId, now: Time, outbox: &mut Outbox) {
        if outbox.link_uses.is_some() {
            self.record_links(controller, now, outbox);
        }
    }

    /// Records the links that `controller` holds at `now`, and adds the uses that have ended to the outbox.
    #[cold]
    fn record_links(&mut self, controller: ChannelId, now: Time, outbox: &mut Outbox) {
        let state = &mut self.controllers[controller];
        let (count, last) = self.network.last_held_link(controller);
        state.trace.record_held(count, last, state.request.die, now, outbox);
    }

    /// Adds the step of the scout of `controller` at `at` to the outbox, for the probes (observers of a run).
    #[cold]
    fn record_step(&mut self, controller: ChannelId, step: ScoutAction, at: Time, outbox: &mut Outbox) {
        let PathRequest { die, chip, .. } = self.controllers[controller].request;
        let (step, to) = match step {
            ScoutAction::Forward => (ScoutMove::Forward, self.network.position(controller)),
            ScoutAction::Back => (ScoutMove::Back, self.network.position(controller)),
            ScoutAction::Reached { .. } => (ScoutMove::Found, Some(chip)),
            ScoutAction::Failed => (ScoutMove::Failed, None),
        };
        outbox.scout_steps.push(ScoutStep { at, controller, die, step, to });
    }

    /// Records the step of the scout of `controller` at `at`, if an oracle (a probe that checks the run) is attached. If it ends a search with a
    /// prediction, also records the search.
    #[inline(always)]
    fn record_watched(&mut self, controller: ChannelId, step: ScoutAction, at: Time, outbox: &mut Outbox) {
        if outbox.link_uses.is_some() {
            self.record_links(controller, at, outbox);
            self.record_step(controller, step, at, outbox);
            let ended = match step {
                ScoutAction::Forward | ScoutAction::Back => None,
                ScoutAction::Reached { .. } => Some(true),
                ScoutAction::Failed => Some(false),
            };
            let search = self.watched.as_mut().and_then(|watched| watched.step(controller, ended));
            outbox.searches.extend(search);
        }
    }

    /// Records the launch of the scout of `controller` at `now`, if an oracle (a probe that checks the run) is attached. Predicts the search if no
    /// other scout is in flight.
    #[inline(always)]
    pub(in super::super) fn predict(&mut self, controller: ChannelId, now: Time, outbox: &mut Outbox) {
        if outbox.link_uses.is_some() {
            let PathRequest { die, chip, .. } = self.controllers[controller].request;
            let to = self.network.position(controller);
            outbox.scout_steps.push(ScoutStep { at: now, controller, die, step: ScoutMove::Sent, to });
            let is_alone = self.scout_events.steps.is_empty();
            self.watched = is_alone.then(|| WatchedScout::new(&self.network, controller, die, chip));
        }
    }
}
