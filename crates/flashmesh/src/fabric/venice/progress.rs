//! When scouts take their steps, and when circuits stand.

use crate::fabric::{Outbox, ScoutMove, ScoutStep};
use crate::ids::ChannelId;
use crate::units::Time;

use super::controller::Stage;
use super::fabric::Venice;
use super::network::Step;
use super::turns::Turns;
use super::verdict::Watched;
use super::waiting::PathRequest;

/// What falls due.
#[derive(Clone, Debug)]
pub(super) struct Progress {
    /// When which scout takes its next step.
    pub steps: Turns,
    /// When which scout is back over the circuit it has reserved, the last one first; of one time, that of the last controller.
    grants: Vec<(Time, ChannelId)>,
}

impl Progress {
    /// Nothing falls due; a scout takes `hop` for a link.
    pub fn new(hop: Time) -> Progress {
        Progress { steps: Turns::new(hop), grants: Vec::new() }
    }

    /// When the next circuit is granted; later than anything when none is reserved.
    #[inline]
    fn next_grant(&self) -> Time {
        self.grants.last().map_or(Time::MAX, |(at, _)| *at)
    }

    /// The circuit of `controller` is granted at `at`.
    #[inline]
    fn add_grant(&mut self, at: Time, controller: ChannelId) {
        let key = (at, controller);
        let place = self.grants.iter().rposition(|other| *other > key).map_or(0, |later| later + 1);
        self.grants.insert(place, key);
    }

    /// Takes the controller, the first one, whose circuit is granted at `now`.
    #[inline]
    pub fn take_grant(&mut self, now: Time) -> Option<ChannelId> {
        debug_assert!(self.next_grant() >= now, "a circuit was to be granted at {}, before {now}", self.next_grant());
        self.grants.pop_if(|(at, _)| *at == now).map(|(_, controller)| controller)
    }
}

impl Venice {
    /// Lets the scouts take the steps that fall due up to `until`, each at its time, but none after the next circuit is granted.
    ///
    /// Nothing but scouts sees what scouts do until a circuit is granted, so they need no event of the simulation for each
    /// step: it is enough to catch up whenever something else touches the links, and when a grant may fall due.
    #[inline]
    pub(super) fn step_scouts(&mut self, until: Time, outbox: &mut Outbox) {
        while let Some((at, controller)) = self.progress.steps.first()
            && let until = until.min(self.progress.next_grant())
            && at <= until
        {
            if outbox.uses.is_some() {
                let step = self.network.step(controller);
                self.watch(controller, step, at, outbox);
                if matches!(step, Step::Forward | Step::Back) {
                    self.progress.steps.turn(1);
                } else {
                    self.ended(controller, step, at, outbox);
                }
            } else if self.progress.steps.is_one() {
                let (at, step) = self.network.walk(controller, at, self.timing.scout_hop(), until);
                if matches!(step, Step::Forward | Step::Back) {
                    self.progress.steps.turn_alone(at + self.timing.scout_hop());
                } else {
                    self.ended(controller, step, at, outbox);
                }
            } else if let Some((at, controller, step)) = self.network.walk_in_turn(&mut self.progress.steps, until) {
                self.ended(controller, step, at, outbox);
            }
        }
    }

    /// The search of `controller`, whose turn it was, ended with a step at `at`.
    #[inline]
    fn ended(&mut self, controller: ChannelId, step: Step, at: Time, outbox: &mut Outbox) {
        self.progress.steps.remove_first();
        match step {
            Step::Forward | Step::Back => {}
            Step::Failed => self.failed(controller, at, outbox),
            Step::Reached { hops } => {
                let state = &mut self.controllers[controller];
                state.stage = Stage::Returning;
                self.network.list_circuit(controller, &mut state.circuit);
                self.waiting.remove(&state.request);
                self.progress.add_grant(at + self.timing.scout_hop() * u64::from(hops), controller);
            }
        }
    }

    /// Asks to be woken when a circuit may be granted: that of a scout under way, or of one that leaves in its place.
    #[inline]
    pub(super) fn ask_for_wake(&self, outbox: &mut Outbox) {
        let (mut first, hop) = (self.progress.next_grant(), self.timing.scout_hop());
        self.progress.steps.each(|at, controller| {
            // There is one link to go at least.
            if at + hop < first {
                first = first.min(at + hop * u64::from(self.network.links_to_go(controller)));
            }
        });
        outbox.wake_at = first;
    }

    /// Tells the oracle, when one looks, what the controller holds now.
    #[inline(always)]
    pub(super) fn follow(&mut self, controller: ChannelId, now: Time, outbox: &mut Outbox) {
        if outbox.uses.is_some() {
            self.tell(controller, now, outbox);
        }
    }

    /// Tells the oracle what the controller holds now.
    #[cold]
    fn tell(&mut self, controller: ChannelId, now: Time, outbox: &mut Outbox) {
        let state = &mut self.controllers[controller];
        let (count, last) = self.network.last_held(controller);
        state.trace.follow(count, last, state.request.die, now, outbox);
    }

    /// Tells the probes what the scout of `controller` did at `at`.
    #[cold]
    fn tell_step(&mut self, controller: ChannelId, step: Step, at: Time, outbox: &mut Outbox) {
        let PathRequest { die, chip, .. } = self.controllers[controller].request;
        let (step, to) = match step {
            Step::Forward => (ScoutMove::Forward, self.network.position(controller)),
            Step::Back => (ScoutMove::Back, self.network.position(controller)),
            Step::Reached { .. } => (ScoutMove::Found, Some(chip)),
            Step::Failed => (ScoutMove::Failed, None),
        };
        outbox.steps.push(ScoutStep { at, controller, die, step, to });
    }

    /// Tells the oracle, when one looks, of a step at `at` and of a search that ended with it.
    #[inline(always)]
    fn watch(&mut self, controller: ChannelId, step: Step, at: Time, outbox: &mut Outbox) {
        if outbox.uses.is_some() {
            self.tell(controller, at, outbox);
            self.tell_step(controller, step, at, outbox);
            let ended = match step {
                Step::Forward | Step::Back => None,
                Step::Reached { .. } => Some(true),
                Step::Failed => Some(false),
            };
            let search = self.watched.as_mut().and_then(|watched| watched.step(controller, ended));
            outbox.searches.extend(search);
        }
    }

    /// Works out, when an oracle looks, what becomes of the scout that `controller` has just sent; nothing where others are under way, which
    /// it may meet.
    #[inline(always)]
    pub(super) fn foresee(&mut self, controller: ChannelId, now: Time, outbox: &mut Outbox) {
        if outbox.uses.is_some() {
            let PathRequest { die, chip, .. } = self.controllers[controller].request;
            let to = self.network.position(controller);
            outbox.steps.push(ScoutStep { at: now, controller, die, step: ScoutMove::Sent, to });
            let is_alone = self.progress.steps.is_empty();
            self.watched = is_alone.then(|| Watched::new(&self.network, controller, die, chip));
        }
    }
}
