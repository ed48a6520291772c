//! Paths that transactions hold from the command to the last byte (`fabric.hold-path`), one rule over every interconnect.
//!
//! The fabric reserves a path when a die asks for one, sends over it as often as the path is granted here, and takes it back. A read holds
//! its path until its last data has left, a program, an erase or a copyback until the controller knows of its end. The die may use the path
//! that it holds for whatever it wants next, a command beside its data as well; when nothing of that is left the path is given back.
//!
//! No paper says that a path is kept so, and Venice, ISCA 2023, Figure 3 shows it released while the array works. It is here since the
//! published gains over the bus come out where it is assumed of the prior designs: a reader may compare.
//!
//! Nobody waits for a path while it holds another one that somebody needs to end an operation, and every operation ends: so every path is
//! given back.

use std::collections::VecDeque;

use crate::config::{Config, HoldPath};
use crate::flash::geometry::Geometry;
use crate::ids::{AcknowledgementId, DieId, LinkId, PathId, RequestId};
use crate::units::Time;

use super::layout::{Layout, SharedResource};
use super::{
    AnyFabric, ArbitrationPolicy, Cause, DataOf, Fabric, FabricEvent, Grant, Granted, Held, LinkUsage, Message, Outbox,
    Payload, Sent, TOKENS, TransferPhase, nossd, venice,
};

/// Added to the number of a path, the token of the wake-up for an acknowledgement that has crossed it.
const TOLD: u32 = TOKENS / 2;

/// What goes over a path next.
#[derive(Clone, Copy, Debug)]
enum Wish {
    /// What its die has asked for, and since when.
    Transfer(TransferPhase, Time),
    Acknowledgement(AcknowledgementId),
}

/// A path that the fabric has granted.
#[derive(Clone, Debug)]
struct Path {
    /// As the fabric granted it.
    grant: Grant,
    since: Time,
    links: Vec<LinkId>,
    is_moving: bool,
    next: VecDeque<Wish>,
    /// Programs, erases and copybacks whose end the controller has not been told.
    changes: u32,
}

/// An interconnect whose paths are held.
#[derive(Clone, Debug)]
pub struct HeldPaths {
    fabric: Box<AnyFabric>,
    rule: HoldPath,
    /// By path.
    paths: Vec<Option<Path>>,
    /// By die: the path that its transaction holds.
    kept: Vec<Option<PathId>>,
    /// By die: the paths of its reads whose data has not all left, in the order in which it does, each with the pages that have yet to.
    reading: Vec<VecDeque<(PathId, u32)>>,
    /// By die: the paths of its programs, erases and copybacks that go on, in the order in which they were sent and end.
    changing: Vec<VecDeque<PathId>>,
    /// By die and phase: how long it waited for the path that it held, where that was the last to be granted.
    waited: Vec<[Option<Time>; TransferPhase::ALL.len()]>,
    /// By die: ends of operations that hold no path, to be told over one of their own.
    untold: Vec<VecDeque<AcknowledgementId>>,
    /// By link.
    held_for: Vec<Time>,
}

impl HeldPaths {
    /// Holds the paths of `fabric`, which leads to so many dies.
    pub fn new(fabric: AnyFabric, rule: HoldPath, dies: u32) -> HeldPaths {
        let dies = dies as usize;
        HeldPaths {
            rule,
            paths: Vec::new(),
            kept: vec![None; dies],
            reading: vec![VecDeque::new(); dies],
            changing: vec![VecDeque::new(); dies],
            waited: vec![Default::default(); dies],
            untold: vec![VecDeque::new(); dies],
            held_for: vec![Time::ZERO; fabric.layout().links.len()],
            fabric: Box::new(fabric),
        }
    }

    fn path(&mut self, path: PathId) -> &mut Path {
        self.paths[path.index()].as_mut().expect("a path is used by whom it was granted to")
    }

    /// Takes note of what the fabric has granted, those of `outbox` from `first` on.
    fn note_grants(&mut self, first: usize, now: Time, outbox: &mut Outbox) {
        let mut at = first;
        while let Some(&Granted { grant, .. }) = outbox.grants.get(at) {
            let (die, path) = (grant.die.index(), grant.path.index());
            self.paths.resize_with(self.paths.len().max(path + 1), || None);
            self.paths[path] = Some(Path {
                grant,
                since: now,
                links: self.fabric.links_of(grant),
                is_moving: true,
                next: VecDeque::new(),
                changes: 0,
            });
            self.waited[die][grant.phase.index()] = None;
            // Data goes over the path of its read, so that what else leaves a die is an acknowledgement.
            let answers = grant.phase == TransferPhase::DataOut && self.rule.holds_reads();
            match if answers { self.untold[die].pop_front() } else { None } {
                Some(id) => {
                    outbox.grants.remove(at);
                    self.tell(grant, id, now, outbox);
                }
                None => at += 1,
            }
        }
    }

    /// Has the fabric do something that it may grant paths on.
    fn ask(&mut self, now: Time, outbox: &mut Outbox, does: impl FnOnce(&mut AnyFabric, &mut Outbox)) {
        let first = outbox.grants.len();
        does(&mut self.fabric, outbox);
        self.note_grants(first, now, outbox);
    }

    /// The path that a die holds and uses for `phase`: for data that of its read. Who is done with it, but for telling so, asks for its next one
    /// like all others.
    fn own_path(&self, die: DieId, phase: TransferPhase) -> Option<PathId> {
        if phase == TransferPhase::DataOut
            && let Some(&(path, _)) = self.reading[die.index()].front()
        {
            return Some(path);
        }
        let path = self.kept[die.index()]?;
        let tells =
            self.fabric.acknowledges() && self.paths[path.index()].as_ref().is_some_and(|path| path.changes > 0);
        (phase != TransferPhase::Command || !tells).then_some(path)
    }

    fn wish(&mut self, path: PathId, wish: Wish, now: Time, outbox: &mut Outbox) {
        let held = self.path(path);
        held.next.push_back(wish);
        if !held.is_moving {
            self.go_on(path, now, outbox);
        }
    }

    /// Nothing moves over a path: something else does, or its die waits for its array, or gives it back.
    fn go_on(&mut self, number: PathId, now: Time, outbox: &mut Outbox) {
        let path = self.path(number);
        let grant = path.grant;
        match path.next.pop_front() {
            Some(Wish::Transfer(phase, asked)) => {
                path.is_moving = true;
                self.waited[grant.die.index()][phase.index()] = Some(now - asked);
                let grant = Grant { phase, ..grant };
                outbox.grants.push(Granted { grant, since: now, cause: Cause::Channel });
            }
            Some(Wish::Acknowledgement(id)) => self.tell(grant, id, now, outbox),
            None if path.changes > 0 || self.owes_data(grant) => {}
            None => self.give_back(number, now, outbox),
        }
    }

    /// Whether data that was read, or will be, leaves over a path.
    fn owes_data(&self, grant: Grant) -> bool {
        self.reading[grant.die.index()].iter().any(|(path, _)| *path == grant.path)
    }

    fn give_back(&mut self, number: PathId, now: Time, outbox: &mut Outbox) {
        let Some(Path { grant, since, links, .. }) = self.paths[number.index()].take() else { return };
        let kept = &mut self.kept[grant.die.index()];
        *kept = kept.filter(|kept| *kept != number);
        links.iter().for_each(|link| self.held_for[link.index()] += now - since);
        self.ask(now, outbox, |fabric, outbox| fabric.release(grant, now, outbox));
    }

    /// An acknowledgement crosses the path of `grant`. That is over before the controller acts on it.
    fn tell(&mut self, grant: Grant, id: AcknowledgementId, now: Time, outbox: &mut Outbox) {
        self.path(grant.path).is_moving = true;
        let at = self.fabric.tell_end(grant, now);
        outbox.events.push((at, FabricEvent::Wake(TOLD | grant.path.0)));
        outbox.events.push((at, FabricEvent::Acknowledged(id)));
    }
}

impl Fabric for HeldPaths {
    fn set_routing(&mut self, routing: &dyn venice::routing::RoutingAlgorithm) -> bool {
        self.fabric.set_routing(routing)
    }

    fn set_packet_routing(
        &mut self,
        config: &Config,
        geometry: &Geometry,
        routing: &dyn nossd::PacketRouting,
    ) -> Result<bool, nossd::PacketRoutingError> {
        self.fabric.set_packet_routing(config, geometry, routing)
    }

    fn set_arbiter(&mut self, policy: Box<dyn ArbitrationPolicy + Send>) -> bool {
        self.fabric.set_arbiter(policy)
    }

    fn name_request(&mut self, request: Option<RequestId>) {
        self.fabric.name_request(request);
    }

    fn acquire(&mut self, die: DieId, phase: TransferPhase, now: Time, outbox: &mut Outbox) {
        match self.own_path(die, phase) {
            Some(path) => self.wish(path, Wish::Transfer(phase, now), now, outbox),
            None => self.ask(now, outbox, |fabric, outbox| fabric.acquire(die, phase, now, outbox)),
        }
    }

    fn acquire_for(&mut self, die: DieId, data: DataOf, now: Time, outbox: &mut Outbox) {
        match self.own_path(die, TransferPhase::DataOut) {
            Some(path) => self.wish(path, Wish::Transfer(TransferPhase::DataOut, now), now, outbox),
            None => self.ask(now, outbox, |fabric, outbox| fabric.acquire_for(die, data, now, outbox)),
        }
    }

    fn send(&mut self, grant: Grant, payload: Payload, now: Time, outbox: &mut Outbox) -> Sent {
        let die = grant.die.index();
        match payload.message {
            Message::Read if self.rule.holds_reads() => {
                self.reading[die].push_back((grant.path, payload.planes));
                self.kept[die] = Some(grant.path);
            }
            Message::Program | Message::Erase | Message::Copyback if self.rule.holds_programs() => {
                self.path(grant.path).changes += 1;
                self.changing[die].push_back(grant.path);
                self.kept[die] = Some(grant.path);
            }
            Message::Data | Message::Copy => {
                if let Some((_, pages)) = self.reading[die].front_mut() {
                    *pages = pages.saturating_sub(payload.planes);
                    if *pages == 0 {
                        self.reading[die].pop_front();
                    }
                }
            }
            _ => {}
        }
        self.fabric.send(grant, payload, now, outbox)
    }

    fn release(&mut self, grant: Grant, now: Time, outbox: &mut Outbox) {
        self.path(grant.path).is_moving = false;
        self.go_on(grant.path, now, outbox);
    }

    fn acknowledges(&self) -> bool {
        self.rule.holds_programs() || self.fabric.acknowledges()
    }

    fn acknowledge(&mut self, die: DieId, id: AcknowledgementId, now: Time, outbox: &mut Outbox) {
        match self.changing[die.index()].pop_front() {
            Some(path) if self.fabric.acknowledges() => self.wish(path, Wish::Acknowledgement(id), now, outbox),
            Some(number) => {
                // The controller has waited for the end: it knows at once.
                outbox.events.push((now, FabricEvent::Acknowledged(id)));
                let path = self.path(number);
                path.changes -= 1;
                if !path.is_moving {
                    self.go_on(number, now, outbox);
                }
            }
            None => {
                self.untold[die.index()].push_back(id);
                self.ask(now, outbox, |fabric, outbox| fabric.acquire(die, TransferPhase::DataOut, now, outbox));
            }
        }
    }

    fn wake(&mut self, token: u32, now: Time, outbox: &mut Outbox) {
        if token & TOLD == 0 {
            return self.ask(now, outbox, |fabric, outbox| fabric.wake(token, now, outbox));
        }
        let number = PathId(token & !TOLD);
        let path = self.path(number);
        path.is_moving = false;
        // None of an end that held no path, and was told over one of its own.
        path.changes = path.changes.saturating_sub(1);
        self.go_on(number, now, outbox);
    }

    fn is_behind(&self, die: DieId, phase: TransferPhase, is_another: &mut dyn FnMut(DieId) -> bool) -> bool {
        self.fabric.is_behind(die, phase, is_another)
    }

    fn waited_for(&self, grant: Grant) -> Option<[Time; Cause::ALL.len()]> {
        let of_fabric = self.fabric.waited_for(grant)?;
        let Some(waited) = self.waited[grant.die.index()][grant.phase.index()] else { return Some(of_fabric) };
        Some(Cause::ALL.map(|cause| if cause == Cause::Channel { waited } else { Time::ZERO }))
    }

    fn stalled(&self, grant: Grant) -> Time {
        self.fabric.stalled(grant)
    }

    /// Brings the times for which links were held up to `now`.
    fn catch_up(&mut self, now: Time, outbox: &mut Outbox) {
        for path in self.paths.iter_mut().flatten() {
            path.links.iter().for_each(|link| self.held_for[link.index()] += now - path.since);
            path.since = now;
        }
        self.fabric.catch_up(now, outbox);
    }

    fn finish(&mut self, now: Time, outbox: &mut Outbox) {
        self.catch_up(now, outbox);
        self.fabric.finish(now, outbox);
    }

    fn links_held(&self) -> Held<Time> {
        Held::ByOperations(self.held_for.clone())
    }

    fn layout(&self) -> &Layout {
        self.fabric.layout()
    }

    fn shared_resources(&self) -> Vec<SharedResource> {
        self.fabric.shared_resources()
    }

    fn usage(&self) -> &[LinkUsage] {
        self.fabric.usage()
    }

    fn controllers_busy(&self, now: Time) -> Vec<Time> {
        self.fabric.controllers_busy(now)
    }

    fn hops(&self) -> u64 {
        self.fabric.hops()
    }

    fn scouts(&self) -> Option<&venice::Counters> {
        self.fabric.scouts()
    }

    fn held(&self) -> Vec<(LinkId, DieId)> {
        self.fabric.held()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::FabricKind;
    use crate::units::Bytes;

    fn payload(message: Message) -> Payload {
        Payload { message, planes: 1, command: Time::ZERO, bytes: Bytes::from_kib(4) }
    }

    /// The path that is granted to die 0 for `phase`, now that it asks.
    fn granted(held: &mut AnyFabric, phase: TransferPhase, outbox: &mut Outbox) -> Grant {
        held.acquire(DieId(0), phase, Time::ZERO, outbox);
        outbox.grants.pop().expect("a path is free").grant
    }

    /// A register holds the data of a read while its die begins a program and is sent another read, over a path of its own since that of the
    /// program has an end to tell.
    #[test]
    fn data_leaves_over_the_path_of_its_read_whatever_its_die_was_sent_since() {
        let mut config = Config::default();
        config.fabric.kind = FabricKind::Nossd;
        config.fabric.hold_path = HoldPath::Always;
        config.nossd.chip_channels = 2;
        config.nossd.controller_channels = 2;
        let geometry = Geometry::of(&config).expect("the geometry is possible");
        let mut held = AnyFabric::new(&config, &geometry).expect("the interconnect fits");
        let mut outbox = Outbox::default();
        let sent = [Message::Read, Message::Program, Message::Read].map(|message| {
            let grant = granted(&mut held, TransferPhase::Command, &mut outbox);
            held.send(grant, payload(message), Time::ZERO, &mut outbox);
            held.release(grant, Time::ZERO, &mut outbox);
            grant.path
        });
        assert_eq!(sent[0], sent[1]);
        assert_ne!(sent[1], sent[2]);
        for path in [sent[0], sent[2]] {
            let grant = granted(&mut held, TransferPhase::DataOut, &mut outbox);
            assert_eq!(grant.path, path);
            held.send(grant, payload(Message::Data), Time::ZERO, &mut outbox);
            held.release(grant, Time::ZERO, &mut outbox);
        }
    }
}
