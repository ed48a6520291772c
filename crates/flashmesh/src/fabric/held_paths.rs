//! Paths of several parts that are held through the operation of the array (`fabric.hold-path`), as channels are
//! ([`HeldChannels`](super::held_channels)): those of pnSSD and of NoSSD.
//!
//! A way to a die is a set of parts: links, and controllers. A die that asks gets the first of its ways all of whose parts are free, and
//! holds all of them from the command to the last byte of the data, or until the controller knows the end of a program or an erase. Dies
//! that wait are served in the order of asking; a later one overtakes only where it takes no part that an earlier one waits for.
//!
//! # Why nothing comes to a halt
//!
//! A die takes all parts of a way at once, or none and waits: nobody holds a part while waiting for another. The holder of a way needs nothing
//! else to end its operation, and gives the way back. Of the dies that wait nobody takes a part from the first, whose parts all
//! come free, since each is given back and taken by no other: so the first is served, and then the next is first.

use crate::ids::{AcknowledgementId, DieId, LinkId, PathId};
use crate::units::Time;

use super::holding::Holding;
use super::layout::{Layout, Passage};
use super::{
    Cause, DataOf, Fabric, FabricEvent, Grant, Granted, Held, LinkUsage, Outbox, Payload, Sent, TransferPhase,
};

/// One of the ways to a die.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Way {
    /// The parts that it takes, by their numbers: links first, then what else there is.
    pub(super) parts: Vec<u32>,
    /// Which way it is, for the interconnect.
    pub(super) number: u32,
}

/// An interconnect whose paths may be held: what ways there are, and how long something takes over them.
pub trait Ways: std::fmt::Debug {
    /// How many parts there are.
    fn parts(&self) -> u32;

    /// The ways to a die that asks now, the best first; `load` gives how many dies hold or want a part.
    fn of(&mut self, die: DieId, load: &dyn Fn(u32) -> u32) -> Vec<Way>;

    /// What is in the way of a die none of whose `ways` is free, where `is_taken` tells which parts are not.
    fn cause(&self, ways: &[Way], is_taken: &dyn Fn(u32) -> bool) -> Cause;

    /// How long `payload` takes over a way to `die` from `now` on.
    fn time(&mut self, die: DieId, way: u32, payload: Payload, now: Time) -> Sent;

    /// It has arrived, after it was sent at `since`.
    fn count(&mut self, die: DieId, way: u32, phase: TransferPhase, payload: Payload, since: Time, outbox: &mut Outbox);

    /// When the controller knows of the end of an operation at `now`.
    fn acknowledged(&mut self, die: DieId, way: u32, now: Time) -> Time;

    /// It knows of it, as told from `since` on.
    fn count_acknowledgement(&mut self, die: DieId, way: u32, since: Time, outbox: &mut Outbox);

    /// See [`Fabric::layout`].
    fn layout(&self) -> &Layout;

    /// See [`Fabric::passages`].
    fn passages(&self) -> Vec<Passage>;

    /// See [`Fabric::usage`].
    fn usage(&self) -> &[LinkUsage];

    /// See [`Fabric::controllers_busy`].
    fn controllers_busy(&self, now: Time) -> Vec<Time>;

    /// See [`Fabric::hops`].
    fn hops(&self) -> u64;
}

/// What a die holds.
#[derive(Clone, Debug)]
struct HeldWay {
    holding: Holding,
    way: Way,
    since: Time,
    sent: Option<Payload>,
    /// Since when the chip tells the end of its operation.
    telling: Option<Time>,
}

/// A die that waits for a way.
#[derive(Clone, Debug)]
struct Waiting {
    die: DieId,
    phase: TransferPhase,
    ways: Vec<Way>,
    cause: Cause,
}

/// An interconnect whose paths are held through the operation of the array.
#[derive(Debug)]
pub struct HeldPaths<W> {
    ways: W,
    /// By die.
    held: Vec<Option<HeldWay>>,
    /// Who holds each part.
    taken: Vec<Option<DieId>>,
    /// In the order of asking.
    waiting: Vec<Waiting>,
    /// By link: how long it was held.
    held_for: Vec<Time>,
}

impl<W: Ways> HeldPaths<W> {
    pub(super) fn new(ways: W, dies: u32) -> HeldPaths<W> {
        HeldPaths {
            held: vec![None; dies as usize],
            taken: vec![None; ways.parts() as usize],
            waiting: Vec::new(),
            held_for: vec![Time::ZERO; ways.layout().links.len()],
            ways,
        }
    }

    /// The die holds its path, and may move something for `phase`.
    fn grant(&mut self, die: DieId, phase: TransferPhase, cause: Cause, now: Time, outbox: &mut Outbox) {
        if let Some(held) = &mut self.held[die.index()] {
            held.holding.moves(phase, now);
            outbox.grants.push(Granted { grant: Grant { die, phase, path: PathId(die.0) }, since: now, cause });
        }
    }

    fn take(&mut self, waiting: Waiting, way: Way, now: Time, outbox: &mut Outbox) {
        let Waiting { die, phase, cause, .. } = waiting;
        way.parts.iter().for_each(|&part| self.taken[part as usize] = Some(die));
        self.held[die.index()] =
            Some(HeldWay { holding: Holding::new(die), way, since: now, sent: None, telling: None });
        self.grant(die, phase, cause, now, outbox);
    }

    /// Parts have come free: those who wait are served as far as they can be.
    fn serve(&mut self, now: Time, outbox: &mut Outbox) {
        let mut claimed: Vec<bool> = self.taken.iter().map(Option::is_some).collect();
        let mut at = 0;
        while at < self.waiting.len() {
            let is_free = |way: &&Way| way.parts.iter().all(|&part| !claimed[part as usize]);
            let Waiting { die, ways, .. } = &self.waiting[at];
            // One that tells the end of its operation has a path still.
            let has_none = self.held[die.index()].is_none();
            let found = ways.iter().find(is_free).filter(|_| has_none).cloned();
            // What the die takes, or waits for, is not for those behind it.
            let wanted = if let Some(way) = &found { std::slice::from_ref(way) } else { ways.as_slice() };
            wanted.iter().flat_map(|way| &way.parts).for_each(|&part| claimed[part as usize] = true);
            match found {
                Some(way) => {
                    let waiting = self.waiting.remove(at);
                    self.take(waiting, way, now, outbox);
                }
                None => at += 1,
            }
        }
    }

    fn ask(&mut self, die: DieId, phase: TransferPhase, now: Time, outbox: &mut Outbox) {
        // Who is done with its path, but for telling so, asks for its next one like all others.
        let goes_on = |held: &&mut HeldWay| phase != TransferPhase::Command || !held.holding.works();
        if let Some(held) = self.held[die.index()].as_mut().filter(goes_on) {
            if held.holding.asks(phase) {
                self.grant(die, phase, Cause::Channel, now, outbox);
            }
            return;
        }
        let (taken, waiting) = (&self.taken, &self.waiting);
        let wants =
            |part: u32| waiting.iter().filter(move |other| other.ways.iter().any(|way| way.parts.contains(&part)));
        let load = |part: u32| u32::from(taken[part as usize].is_some()) + wants(part).count() as u32;
        let ways = self.ways.of(die, &load);
        let cause = self.ways.cause(&ways, &|part| taken[part as usize].is_some() || wants(part).next().is_some());
        self.waiting.push(Waiting { die, phase, ways, cause });
        if self.fits_last() {
            self.serve(now, outbox);
        }
    }

    /// Whether a way of the die that asked last is free.
    fn fits_last(&self) -> bool {
        let free = |way: &Way| way.parts.iter().all(|&part| self.taken[part as usize].is_none());
        self.waiting.last().is_some_and(|last| last.ways.iter().any(free))
    }

    /// The holder moves nothing: it goes on, waits for its array, or gives its way back.
    fn pass_on(&mut self, die: DieId, now: Time, outbox: &mut Outbox) {
        let Some(held) = &mut self.held[die.index()] else { return };
        if let Some(phase) = held.holding.take_next() {
            return self.grant(die, phase, Cause::Channel, now, outbox);
        }
        if !held.holding.is_over() {
            return;
        }
        let Some(HeldWay { way, since, .. }) = self.held[die.index()].take() else { return };
        for part in way.parts {
            self.taken[part as usize] = None;
            if let Some(held_for) = self.held_for.get_mut(part as usize) {
                *held_for += now - since;
            }
        }
        self.serve(now, outbox);
    }
}

impl<W: Ways> Fabric for HeldPaths<W> {
    fn acquire(&mut self, die: DieId, phase: TransferPhase, now: Time, outbox: &mut Outbox) {
        self.ask(die, phase, now, outbox);
    }

    /// Whoever has data to send holds its path.
    fn acquire_for(&mut self, die: DieId, _data: DataOf, now: Time, outbox: &mut Outbox) {
        self.ask(die, TransferPhase::DataOut, now, outbox);
    }

    fn send(&mut self, grant: Grant, payload: Payload, now: Time, _outbox: &mut Outbox) -> Sent {
        let held = self.held[grant.die.index()].as_mut().expect("what is sent goes over a path that was granted");
        held.holding.sends(payload);
        held.sent = Some(payload);
        self.ways.time(grant.die, held.way.number, payload, now)
    }

    fn release(&mut self, grant: Grant, now: Time, outbox: &mut Outbox) {
        if let Some(held) = &mut self.held[grant.die.index()]
            && let Some(since) = held.holding.arrives()
            && let Some(payload) = held.sent.take()
        {
            self.ways.count(grant.die, held.way.number, grant.phase, payload, since, outbox);
        }
        self.pass_on(grant.die, now, outbox);
    }

    fn acknowledges(&self) -> bool {
        true
    }

    fn acknowledge(&mut self, die: DieId, id: AcknowledgementId, now: Time, outbox: &mut Outbox) {
        let Some(held) = &mut self.held[die.index()] else { return };
        let at = self.ways.acknowledged(die, held.way.number, now);
        held.telling = Some(now);
        outbox.events.push((at, FabricEvent::Acknowledged(id)));
        if at > now {
            outbox.events.push((at, FabricEvent::Wake(die.0)));
        } else {
            self.wake(die.0, now, outbox);
        }
    }

    /// The controller has been told the end of what the die did.
    fn wake(&mut self, token: u32, now: Time, outbox: &mut Outbox) {
        let die = DieId(token);
        let Some(held) = &mut self.held[die.index()] else { return };
        if let Some(since) = held.telling.take() {
            self.ways.count_acknowledgement(die, held.way.number, since, outbox);
        }
        if held.holding.works_no_more() {
            self.pass_on(die, now, outbox);
        }
    }

    fn is_behind(&self, die: DieId, _phase: TransferPhase, is_another: &mut dyn FnMut(DieId) -> bool) -> bool {
        let Some(at) = self.waiting.iter().position(|waiting| waiting.die == die) else { return false };
        let wanted: Vec<u32> = self.waiting[at].ways.iter().flat_map(|way| way.parts.iter().copied()).collect();
        let holders = wanted.iter().filter_map(|&part| self.taken[part as usize]);
        let wants_the_same =
            |other: &&Waiting| other.ways.iter().any(|way| way.parts.iter().any(|it| wanted.contains(it)));
        let before = self.waiting[..at].iter().filter(wants_the_same).map(|other| other.die);
        holders.chain(before).any(|other| other != die && is_another(other))
    }

    /// Brings the times for which links were held up to the end.
    fn finish(&mut self, now: Time, _outbox: &mut Outbox) {
        for held in self.held.iter_mut().flatten() {
            for &part in &held.way.parts {
                if let Some(held_for) = self.held_for.get_mut(part as usize) {
                    *held_for += now - held.since;
                }
            }
            held.since = now;
        }
    }

    fn links_held(&self) -> Held<Time> {
        Held::ByOperations(self.held_for.clone())
    }

    fn layout(&self) -> &Layout {
        self.ways.layout()
    }

    fn passages(&self) -> Vec<Passage> {
        self.ways.passages()
    }

    fn usage(&self) -> &[LinkUsage] {
        self.ways.usage()
    }

    fn controllers_busy(&self, now: Time) -> Vec<Time> {
        self.ways.controllers_busy(now)
    }

    fn hops(&self) -> u64 {
        self.ways.hops()
    }

    fn held(&self) -> Vec<(LinkId, DieId)> {
        let links = (0..).map(LinkId).zip(&self.taken).take(self.held_for.len());
        links.filter_map(|(link, die)| Some((link, (*die)?))).collect()
    }
}
