//! Controllers that reserve circuits for dies.

use std::collections::VecDeque;

use crate::config::{Config, Retry};
use crate::fabric::layout::Layout;
use crate::fabric::{Cause, Fabric, Grant, Granted, Leg, LinkUsage, Message, Outbox, Payload, Sent};
use crate::flash::geometry::Geometry;
use crate::ids::{ChannelId, ChipId, DieId, LinkId, PathId};
use crate::units::Time;

use super::controller::{Controller, Stage};
use super::counters::Counters;
use super::layout::layout;
use super::mesh::Mesh;
use super::network::{Network, Step};
use super::routing::AnyRouting;
use super::tie_break::TieBreaker;
use super::waiting::{Asker, ControllerQueue, Line};

/// Flits of a scout, a header and a tail, which cross a link one after the other (paper 000, section 4.2).
const SCOUT_FLITS: u64 = 2;

/// What the dies of a chip share: its pins.
#[derive(Clone, Debug, Default)]
struct Chip {
    /// Whether a circuit ends here, or a scout is on its way here.
    taken: bool,
    /// The controller that keeps a circuit to this chip while its array works.
    kept_by: Option<ChannelId>,
    /// Dies that wait for the pins.
    line: Line,
}

/// The Venice interconnect; see the [module](super).
#[derive(Debug)]
pub struct Venice {
    network: Network,
    layout: Layout,
    usage: Vec<LinkUsage>,
    controllers: Vec<Controller>,
    /// Controllers that are free; while there is one, nobody waits for it.
    free: u32,
    chips: Vec<Chip>,
    dies_per_chip: u32,
    /// Dies that wait for a controller, and for nothing else.
    waiting: ControllerQueue,
    /// Dies whose scout has failed.
    asleep: Line,
    /// When which scout takes its next step, in the order of time.
    steps: VecDeque<(Time, ChannelId)>,
    /// Dies that have asked so far.
    asked: u64,
    /// Circuits torn down so far.
    torn_down: u64,
    hops: u64,
    link_width: u64,
    link_cycle: Time,
    scout_hop: Time,
    hold_circuit: bool,
    retry: Retry,
}

impl Venice {
    /// Builds the mesh: a row for each channel, a column for each chip on it.
    pub fn new(config: &Config, geometry: &Geometry) -> Venice {
        let mesh = Mesh::new(geometry.channels, geometry.chips_per_channel);
        let venice = &config.venice;
        let tie_break = TieBreaker::new(venice.tie_break, config.seed);
        let link_width = venice.link_width.as_u64();
        Venice {
            network: Network::new(mesh, AnyRouting::new(venice.routing), tie_break),
            layout: layout(&mesh, 8 * link_width as u32),
            usage: vec![LinkUsage::default(); mesh.links() as usize],
            controllers: (0..mesh.rows()).map(|_| Controller::new()).collect(),
            free: mesh.rows(),
            chips: vec![Chip::default(); mesh.routers() as usize],
            dies_per_chip: geometry.dies_per_chip,
            waiting: ControllerQueue::new(mesh.rows(), venice.service),
            asleep: Line::default(),
            steps: VecDeque::new(),
            asked: 0,
            torn_down: 0,
            hops: 0,
            link_width,
            link_cycle: venice.link_cycle,
            scout_hop: venice.link_cycle * SCOUT_FLITS,
            hold_circuit: venice.hold_circuit,
            retry: venice.retry,
        }
    }

    /// A die asks: its scout leaves at once if its chip and a controller are free.
    #[inline]
    fn admit(&mut self, asker: Asker, now: Time, outbox: &mut Outbox) {
        if self.chips[asker.chip.index()].taken {
            self.chips[asker.chip.index()].line.insert(asker.blocked(Cause::Channel));
        } else if let Some(controller) = self.nearest_free(asker.place.row, None) {
            self.launch(controller, asker, self.torn_down, now, outbox);
        } else {
            self.waiting.insert(asker.blocked(Cause::Controller));
        }
    }

    /// The free controller whose row is nearest to `row`, the upper of two; of those after `beyond` in this order, if that is given.
    #[inline]
    fn nearest_free(&self, row: u32, beyond: Option<ChannelId>) -> Option<ChannelId> {
        if self.free == 0 {
            return None;
        }
        let rows = self.network.mesh().rows();
        let key = |controller: ChannelId| (controller.0.abs_diff(row), controller.0);
        let beyond = beyond.map(key);
        let start = beyond.map_or(0, |(distance, _)| distance);
        let at_distance = |distance: u32| [row.checked_sub(distance), row.checked_add(distance)];
        let nearest_first = (start..rows).flat_map(at_distance).flatten().filter(|other| *other < rows);
        nearest_first.map(ChannelId).find(|controller| {
            self.network.is_free(*controller) && beyond.is_none_or(|beyond| key(*controller) > beyond)
        })
    }

    /// Sends the scout of `controller` to look for a path.
    fn launch(&mut self, controller: ChannelId, asker: Asker, torn_down_before: u64, now: Time, outbox: &mut Outbox) {
        self.free -= 1;
        self.chips[asker.chip.index()].taken = true;
        self.network.launch(controller, asker.chip);
        let state = &mut self.controllers[controller.index()];
        state.stage = Stage::Searching;
        state.asker = asker;
        state.since = now;
        state.next_step = now + self.scout_hop;
        state.torn_down_before = torn_down_before;
        self.follow(controller, now, outbox);
        self.steps.push_back((now + self.scout_hop, controller));
    }

    /// Asks to be woken for the next step or grant.
    #[inline]
    fn ask_for_wake(&self, outbox: &mut Outbox) {
        let step = self.steps.front().map(|(at, _)| *at);
        let grants = self.controllers.iter().filter(|state| state.stage == Stage::Returning).map(|state| state.due);
        outbox.wake_at = step.into_iter().chain(grants).min().unwrap_or(Time::MAX);
    }

    /// Lets the scouts take the steps that fall due up to `now`, each at its time.
    ///
    /// Nothing but scouts sees what scouts do until a circuit is granted, so they need no event of the simulation for each
    /// step: it is enough to catch up whenever something else touches the links, and before a grant can fall due.
    #[inline]
    fn catch_up(&mut self, now: Time, outbox: &mut Outbox) {
        while let Some(&(at, controller)) = self.steps.front()
            && at <= now
        {
            self.steps.pop_front();
            self.step(controller, at, now, outbox);
        }
    }

    /// The scout of `controller` takes its step at `at`, while the simulation has come to `now`.
    #[inline]
    fn step(&mut self, controller: ChannelId, at: Time, now: Time, outbox: &mut Outbox) {
        let step = self.network.step(controller);
        if step == Step::Failed {
            return self.failed(controller, at, outbox);
        }
        self.follow(controller, at, outbox);
        let state = &mut self.controllers[controller.index()];
        if let Step::Reached { hops } = step {
            state.circuit.clear();
            state.circuit.extend(self.network.held(controller));
            state.stage = Stage::Returning;
            state.due = at + self.scout_hop * u64::from(hops);
            debug_assert!(state.due > now, "a scout was back at {}, found out at {now}", state.due);
        } else {
            state.next_step = at + self.scout_hop;
            self.steps.push_back((state.next_step, controller));
        }
    }

    /// Tells the oracle, when one looks, what the controller holds now.
    #[inline(always)]
    fn follow(&mut self, controller: ChannelId, now: Time, outbox: &mut Outbox) {
        if outbox.uses.is_some() {
            self.tell(controller, now, outbox);
        }
    }

    /// Tells the oracle what the controller holds now.
    #[cold]
    fn tell(&mut self, controller: ChannelId, now: Time, outbox: &mut Outbox) {
        let state = &mut self.controllers[controller.index()];
        state.trace.follow(self.network.held(controller), state.asker.die, now, outbox);
    }

    /// The circuit is granted to whom it was reserved for.
    #[inline]
    fn grant(&mut self, controller: ChannelId, since: Time, outbox: &mut Outbox) {
        let state = &mut self.controllers[controller.index()];
        state.stage = Stage::Granted;
        let Asker { die, leg, cause, .. } = state.asker;
        let grant = Grant { die, leg, path: PathId(controller.0) };
        outbox.grants.push(Granted { grant, since, cause: cause.unwrap_or(Cause::Link) });
    }

    /// A controller has nothing to do any more; gives what it did last.
    #[inline]
    fn get_free(&mut self, controller: ChannelId, now: Time, outbox: &mut Outbox) {
        self.follow(controller, now, outbox);
        let state = &mut self.controllers[controller.index()];
        state.busy = state.busy_until(now);
        state.stage = Stage::Free;
        self.free += 1;
    }

    /// The pins of a chip are free: whoever has waited longest for them now waits for a controller.
    #[inline]
    fn chip_got_free(&mut self, chip: ChipId) {
        let state = &mut self.chips[chip.index()];
        state.taken = false;
        if let Some(next) = state.line.pop() {
            self.waiting.insert(next);
        }
    }

    /// Sends scouts for those who wait for a controller, as long as there are free ones.
    #[inline]
    fn serve_waiting(&mut self, now: Time, outbox: &mut Outbox) {
        while self.free > 0
            && let Some(asker) = self.waiting.pop(|controller| self.network.is_free(controller))
        {
            self.admit(asker, now, outbox);
        }
    }

    /// A scout is back without a path.
    fn failed(&mut self, controller: ChannelId, now: Time, outbox: &mut Outbox) {
        self.get_free(controller, now, outbox);
        let state = &self.controllers[controller.index()];
        let (asker, torn_down_before) = (state.asker.blocked(Cause::Link), state.torn_down_before);
        let other = match self.retry {
            Retry::NextRelease => None,
            Retry::NextController => self.nearest_free(asker.place.row, Some(controller)),
        };
        if let Some(other) = other {
            self.launch(other, asker, torn_down_before, now, outbox);
        } else {
            if torn_down_before < self.torn_down {
                // A link was released meanwhile, perhaps behind the back of the scout.
                self.waiting.insert(asker);
            } else {
                self.asleep.insert(asker);
            }
            self.chip_got_free(asker.chip);
        }
        self.serve_waiting(now, outbox);
        // Scouts that meet nothing but each other may all fail. With nothing under way that could wake them, one leaves alone.
        if self.free as usize == self.controllers.len()
            && let Some(first) = self.asleep.pop()
        {
            self.admit(first, now, outbox);
        }
    }

    /// How long `bytes` take over a circuit of `links` (paper 000, Equation 1), after the command itself.
    #[inline]
    fn transfer_time(&self, payload: Payload, links: u64) -> Time {
        let beats = payload.bytes.as_u64().div_ceil(self.link_width);
        payload.command + self.link_cycle * (links + beats)
    }
}

impl Fabric for Venice {
    fn acquire(&mut self, die: DieId, leg: Leg, now: Time, outbox: &mut Outbox) {
        self.catch_up(now, outbox);
        let chip = ChipId(die.0 / self.dies_per_chip);
        let asker = Asker { order: self.asked, die, leg, chip, place: self.network.mesh().place(chip), cause: None };
        self.asked += 1;
        match self.chips[chip.index()].kept_by {
            Some(controller) if self.controllers[controller.index()].asker.die == die => {
                let state = &mut self.controllers[controller.index()];
                if state.stage == Stage::Kept {
                    state.asker = asker;
                    self.grant(controller, now, outbox);
                } else {
                    self.chips[chip.index()].line.insert(asker.blocked(Cause::Channel));
                }
            }
            _ => self.admit(asker, now, outbox),
        }
        self.ask_for_wake(outbox);
    }

    fn send(&mut self, grant: Grant, payload: Payload, now: Time, _outbox: &mut Outbox) -> Sent {
        let state = &mut self.controllers[grant.path.index()];
        if self.hold_circuit {
            match payload.message {
                Message::Read => state.pages_owed += payload.planes,
                Message::Data => state.pages_owed = state.pages_owed.saturating_sub(payload.planes),
                Message::Program | Message::Erase | Message::Copyback | Message::Copy => {}
            }
        }
        let links = state.circuit.len() as u64;
        // From the controller of the row straight to the router, and to the chip.
        let links_min = u64::from(state.asker.place.column) + 2;
        let duration = self.transfer_time(payload, links);
        for link in &self.controllers[grant.path.index()].circuit {
            self.usage[link.index()].count(grant.leg, payload, now, duration);
        }
        self.hops += links;
        Sent { delivered: Some(now + duration), least: self.transfer_time(payload, links_min) }
    }

    fn release(&mut self, grant: Grant, now: Time, outbox: &mut Outbox) {
        self.catch_up(now, outbox);
        let controller = ChannelId(grant.path.0);
        let state = &mut self.controllers[controller.index()];
        let chip = state.asker.chip;
        if state.pages_owed > 0 {
            state.stage = Stage::Kept;
            self.chips[chip.index()].kept_by = Some(controller);
            // With a cache register the die may have asked for its next command meanwhile.
            if let Some(asker) = self.chips[chip.index()].line.take(grant.die) {
                state.asker = asker;
                self.grant(controller, now, outbox);
            }
            return self.ask_for_wake(outbox);
        }
        self.chips[chip.index()].kept_by = None;
        self.network.release(controller);
        self.get_free(controller, now, outbox);
        self.torn_down += 1;
        while let Some(asker) = self.asleep.pop() {
            self.waiting.insert(asker);
        }
        self.chip_got_free(chip);
        self.serve_waiting(now, outbox);
        self.ask_for_wake(outbox);
    }

    fn wake(&mut self, _token: u32, now: Time, outbox: &mut Outbox) {
        self.catch_up(now, outbox);
        for controller in (0..self.network.mesh().rows()).map(ChannelId) {
            let state = &self.controllers[controller.index()];
            if state.stage == Stage::Returning && state.due == now {
                self.grant(controller, state.since, outbox);
            }
        }
        self.ask_for_wake(outbox);
    }

    fn finish(&mut self, now: Time, outbox: &mut Outbox) {
        self.catch_up(now, outbox);
    }

    fn layout(&self) -> &Layout {
        &self.layout
    }

    fn usage(&self) -> &[LinkUsage] {
        &self.usage
    }

    fn controllers_busy(&self, now: Time) -> Vec<Time> {
        self.controllers.iter().map(|controller| controller.busy_until(now)).collect()
    }

    fn hops(&self) -> u64 {
        self.hops
    }

    fn scouts(&self) -> Option<&Counters> {
        Some(self.network.counters())
    }

    fn held(&self) -> Vec<(LinkId, DieId)> {
        let of = |(state, number): (&Controller, u32)| {
            let die = state.asker.die;
            self.network.held(ChannelId(number)).map(move |link| (link, die))
        };
        self.controllers.iter().zip(0..).flat_map(of).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::super::ports::Port;
    use super::*;
    use crate::config::Routing;

    /// A mesh of one die a chip.
    fn venice(rows: u32, columns: u32, routing: Routing, retry: Retry) -> Venice {
        let mut config = Config::default();
        config.geometry.channels = rows;
        config.geometry.chips_per_channel = columns;
        config.venice.routing = routing;
        config.venice.retry = retry;
        Venice::new(&config, &Geometry::new(&config.geometry).expect("the geometry is possible"))
    }

    /// Runs until nothing is under way, each path given back as soon as it is granted; gives when which die got its.
    fn run(fabric: &mut Venice, mut outbox: Outbox) -> Vec<(Time, u32)> {
        let mut granted = Vec::new();
        let mut now = Time::ZERO;
        loop {
            while let Some(Granted { grant, .. }) = outbox.grants.pop() {
                granted.push((now, grant.die.0));
                fabric.release(grant, now, &mut outbox);
            }
            if outbox.wake_at == Time::MAX {
                return granted;
            }
            assert!(outbox.wake_at >= now, "a wake-up for {} is asked for at {now}", outbox.wake_at);
            now = outbox.wake_at;
            fabric.wake(0, now, &mut outbox);
        }
    }

    fn asker(fabric: &Venice, die: u32) -> Asker {
        let chip = ChipId(die);
        let place = fabric.network.mesh().place(chip);
        Asker { order: u64::from(die), die: DieId(die), leg: Leg::Command, chip, place, cause: None }
    }

    #[test]
    fn scouts_that_all_fail_at_each_other_are_sent_again() {
        for retry in Retry::ALL {
            let mut fabric = venice(3, 2, Routing::Xy, *retry);
            let mut outbox = Outbox::default();
            // Down and up the second column: each holds the half of it that the other needs.
            for (controller, die) in [(0, 5), (2, 1)] {
                fabric.launch(ChannelId(controller), asker(&fabric, die), 0, Time::ZERO, &mut outbox);
            }
            fabric.ask_for_wake(&mut outbox);
            let mut dies: Vec<u32> = run(&mut fabric, outbox).into_iter().map(|(_, die)| die).collect();
            dies.sort_unstable();
            assert_eq!(dies, [1, 5], "{retry}");
            assert!(fabric.network.counters().failed >= 2, "{retry}: they did not block each other");
            assert!(fabric.held().is_empty());
        }
    }

    #[test]
    fn a_die_whose_chip_is_cut_off_waits_until_a_circuit_is_torn_down() {
        let mut fabric = venice(2, 2, Routing::Venice, Retry::NextRelease);
        let mut outbox = Outbox::default();
        // Both links of the corner (1, 1) are taken.
        let mesh = *fabric.network.mesh();
        let corner = mesh.place(ChipId(3));
        let cut = [mesh.link(corner, Port::West), mesh.link(corner, Port::North)];
        cut.iter().for_each(|link| fabric.network.set_out_of_service(*link, true));
        fabric.acquire(DieId(0), Leg::Command, Time::ZERO, &mut outbox);
        let mut at = Time::ZERO;
        while outbox.grants.is_empty() {
            at = outbox.wake_at;
            fabric.wake(0, at, &mut outbox);
        }
        let grant = outbox.grants.pop().expect("the way to chip 0 is free").grant;
        fabric.acquire(DieId(3), Leg::Command, at, &mut outbox);
        let later = at + Time::from_us(1);
        fabric.catch_up(later, &mut outbox);
        assert!(outbox.grants.is_empty());
        assert_eq!(fabric.network.counters().failed, 1, "it does not try again while nothing changes");
        cut.iter().for_each(|link| fabric.network.set_out_of_service(*link, false));
        outbox.events.clear();
        fabric.release(grant, later, &mut outbox);
        // Over the link of the controller and one of the row, and back.
        assert_eq!(run(&mut fabric, outbox), [(later + Time::from_ns(2 * 2 * 2), 3)]);
    }
}
