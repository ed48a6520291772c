//! Held paths (`fabric.hold-path`): a layer over any interconnect that keeps a path from the command of an operation to its last byte.
//!
//! The inner fabric reserves a path when a die first requests one. This layer then grants the path anew for each transfer of its die, and releases
//! the path at the end. A read holds its path until its last data has left; a program, an erase or a copyback until its end is acknowledged.
//! Meanwhile the die can use its held path for any further transfer, such as the next command before its data has left.
//!
//! No paper says that paths are held in this way, and Venice, ISCA 2023, Figure 3 shows a path released while the array works. The option exists for
//! comparison: under the assumption that the designs before Venice hold their paths, the published gains of Venice over the bus are reproduced.
//!
//! Deadlock is impossible: an operation that holds a path ends without waiting for a second path. So every operation ends, and every path is
//! released.

use std::collections::VecDeque;

use crate::config::{Config, HoldPath};
use crate::flash::geometry::Geometry;
use crate::ids::{AcknowledgementId, DieId, LinkId, PathId, RequestId};
use crate::units::Time;

use super::layout::{Layout, SharedResource};
use super::{
    AnyFabric, ArbitrationPolicy, Cause, DataOwner, Fabric, FabricEvent, Grant, GrantRecord, HoldTimes, LinkUsage,
    Outbox, Payload, SendOutcome, TOKENS, TransferKind, TransferPhase, nossd, venice,
};

/// Token flag of a wake-up for an acknowledgement that has crossed a held path. The other bits are the path number. Wake-ups of the inner fabric
/// never have this flag.
const ACKNOWLEDGED: u32 = TOKENS / 2;

/// A use of a held path by its die, queued until the path is idle.
#[derive(Clone, Copy, Debug)]
enum PathUse {
    /// A transfer of a phase, with the time at which it was requested.
    Transfer(TransferPhase, Time),
    Acknowledgement(AcknowledgementId),
}

/// A held path: a path that the inner fabric (the interconnect below this layer) granted, and that this layer has not released.
#[derive(Clone, Debug)]
struct Path {
    /// Grant by the inner fabric, for the phase of the first transfer over the path.
    grant: Grant,
    since: Time,
    links: Vec<LinkId>,
    is_moving: bool,
    next: VecDeque<PathUse>,
    /// Number of programs, erases and copybacks on the path whose end has not been acknowledged to the controller.
    unacknowledged: u32,
}

/// Layer over an interconnect (the inner fabric) that keeps each granted path until the transaction of the path ends.
#[derive(Clone, Debug)]
pub struct HeldPaths {
    fabric: Box<AnyFabric>,
    rule: HoldPath,
    /// Held paths, indexed by path; `None` if a path is free.
    paths: Vec<Option<Path>>,
    /// Path of the latest operation that holds one, indexed by die; `None` without such a path, or after its release.
    current_path: Vec<Option<PathId>>,
    /// Paths of the reads that have still to send data, indexed by die, each with its number of remaining pages. In the order in which the data
    /// leaves.
    reading: Vec<VecDeque<(PathId, u32)>>,
    /// Paths of the programs, erases and copybacks in progress, indexed by die, in the order in which they end.
    program_paths: Vec<VecDeque<PathId>>,
    /// Wait of the last transfer for the path that its die held, indexed by die and phase; `None` if the transfer was granted a new path.
    waited: Vec<[Option<Time>; TransferPhase::ALL.len()]>,
    /// Acknowledgements that wait for a new path, because their operation holds none, indexed by die. In the order in which the operations ended.
    pending_acks: Vec<VecDeque<AcknowledgementId>>,
    /// Total time for which each link was held, indexed by link. Links that are still held are included up to the last `catch_up`.
    held_for: Vec<Time>,
}

impl HeldPaths {
    /// Creates the layer over `fabric`, which has `dies` dies. `rule` selects the operations that hold their paths.
    pub fn new(fabric: AnyFabric, rule: HoldPath, dies: u32) -> HeldPaths {
        let dies = dies as usize;
        HeldPaths {
            rule,
            paths: Vec::new(),
            current_path: vec![None; dies],
            reading: vec![VecDeque::new(); dies],
            program_paths: vec![VecDeque::new(); dies],
            waited: vec![Default::default(); dies],
            pending_acks: vec![VecDeque::new(); dies],
            held_for: vec![Time::ZERO; fabric.layout().links.len()],
            fabric: Box::new(fabric),
        }
    }

    fn path(&mut self, path: PathId) -> &mut Path {
        self.paths[path.index()].as_mut().expect("a path is used by whom it was granted to")
    }

    /// Records as held the paths that the inner fabric has granted in `outbox` from index `first` on. Removes grants for acknowledgements, and sends
    /// these acknowledgements at once.
    fn record_grants(&mut self, first: usize, now: Time, outbox: &mut Outbox) {
        let mut at = first;
        while let Some(&GrantRecord { grant, .. }) = outbox.grants.get(at) {
            let (die, path) = (grant.die.index(), grant.path.index());
            self.paths.resize_with(self.paths.len().max(path + 1), || None);
            self.paths[path] = Some(Path {
                grant,
                since: now,
                links: self.fabric.links_of(grant),
                is_moving: true,
                next: VecDeque::new(),
                unacknowledged: 0,
            });
            self.waited[die][grant.phase.index()] = None;
            // If reads hold their paths, their data needs no new path. So a new path for outgoing data is for an acknowledgement.
            let is_acknowledgement = grant.phase == TransferPhase::DataOut && self.rule.holds_reads();
            match if is_acknowledgement { self.pending_acks[die].pop_front() } else { None } {
                Some(id) => {
                    outbox.grants.remove(at);
                    self.send_acknowledgement(grant, id, now, outbox);
                }
                None => at += 1,
            }
        }
    }

    /// Runs `call` on the inner fabric, and records the paths granted meanwhile as held.
    fn call_fabric(&mut self, now: Time, outbox: &mut Outbox, call: impl FnOnce(&mut AnyFabric, &mut Outbox)) {
        let first = outbox.grants.len();
        call(&mut self.fabric, outbox);
        self.record_grants(first, now, outbox);
    }

    /// Returns the held path that `die` uses for a transfer of `phase`; `None` if the die has to request a new path.
    ///
    /// If reads hold paths, outgoing data uses the path of its read. Other transfers use the path of the latest operation of the die, if it is still
    /// held. A command uses no path on which an earlier program, erase or copyback has not been acknowledged.
    fn path_for(&self, die: DieId, phase: TransferPhase) -> Option<PathId> {
        if phase == TransferPhase::DataOut
            && let Some(&(path, _)) = self.reading[die.index()].front()
        {
            return Some(path);
        }
        let path = self.current_path[die.index()]?;
        let has_pending_ack = self.fabric.sends_acknowledgements()
            && self.paths[path.index()].as_ref().is_some_and(|path| path.unacknowledged > 0);
        (phase != TransferPhase::Command || !has_pending_ack).then_some(path)
    }

    fn enqueue_use(&mut self, path: PathId, path_use: PathUse, now: Time, outbox: &mut Outbox) {
        let held = self.path(path);
        held.next.push_back(path_use);
        if !held.is_moving {
            self.start_next_use(path, now, outbox);
        }
    }

    /// Starts the next queued use of an idle path. Without one, the path stays held while an operation on it is in progress, otherwise it is
    /// released.
    fn start_next_use(&mut self, number: PathId, now: Time, outbox: &mut Outbox) {
        let path = self.path(number);
        let grant = path.grant;
        match path.next.pop_front() {
            Some(PathUse::Transfer(phase, asked)) => {
                path.is_moving = true;
                self.waited[grant.die.index()][phase.index()] = Some(now - asked);
                let grant = Grant { phase, ..grant };
                outbox.grants.push(GrantRecord { grant, since: now, cause: Cause::Channel });
            }
            Some(PathUse::Acknowledgement(id)) => self.send_acknowledgement(grant, id, now, outbox),
            None if path.unacknowledged > 0 || self.has_data_left(grant) => {}
            None => self.release_path(number, now, outbox),
        }
    }

    /// Returns whether the die of `grant` has still to send read data over the path of `grant`.
    fn has_data_left(&self, grant: Grant) -> bool {
        self.reading[grant.die.index()].iter().any(|(path, _)| *path == grant.path)
    }

    fn release_path(&mut self, number: PathId, now: Time, outbox: &mut Outbox) {
        let Some(Path { grant, since, links, .. }) = self.paths[number.index()].take() else { return };
        let kept = &mut self.current_path[grant.die.index()];
        *kept = kept.filter(|kept| *kept != number);
        links.iter().for_each(|link| self.held_for[link.index()] += now - since);
        self.call_fabric(now, outbox, |fabric, outbox| fabric.release(grant, now, outbox));
    }

    /// Sends acknowledgement `id` over the held path of `grant` at `now`. At its arrival, first a wake-up makes the path idle, then
    /// [`FabricEvent::Acknowledged`] occurs: the path is idle when the controller acts.
    fn send_acknowledgement(&mut self, grant: Grant, id: AcknowledgementId, now: Time, outbox: &mut Outbox) {
        self.path(grant.path).is_moving = true;
        let at = self.fabric.acknowledge_over(grant, now);
        outbox.events.push((at, FabricEvent::Wake(ACKNOWLEDGED | grant.path.0)));
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

    fn set_arbitration_policy(&mut self, policy: Box<dyn ArbitrationPolicy + Send>) -> bool {
        self.fabric.set_arbitration_policy(policy)
    }

    fn set_host_request(&mut self, request: Option<RequestId>) {
        self.fabric.set_host_request(request);
    }

    fn acquire(&mut self, die: DieId, phase: TransferPhase, now: Time, outbox: &mut Outbox) {
        match self.path_for(die, phase) {
            Some(path) => self.enqueue_use(path, PathUse::Transfer(phase, now), now, outbox),
            None => self.call_fabric(now, outbox, |fabric, outbox| fabric.acquire(die, phase, now, outbox)),
        }
    }

    fn acquire_for(&mut self, die: DieId, data: DataOwner, now: Time, outbox: &mut Outbox) {
        match self.path_for(die, TransferPhase::DataOut) {
            Some(path) => self.enqueue_use(path, PathUse::Transfer(TransferPhase::DataOut, now), now, outbox),
            None => self.call_fabric(now, outbox, |fabric, outbox| fabric.acquire_for(die, data, now, outbox)),
        }
    }

    fn send(&mut self, grant: Grant, payload: Payload, now: Time, outbox: &mut Outbox) -> SendOutcome {
        let die = grant.die.index();
        match payload.kind {
            TransferKind::Read if self.rule.holds_reads() => {
                self.reading[die].push_back((grant.path, payload.planes));
                self.current_path[die] = Some(grant.path);
            }
            TransferKind::Program | TransferKind::Erase | TransferKind::Copyback if self.rule.holds_programs() => {
                self.path(grant.path).unacknowledged += 1;
                self.program_paths[die].push_back(grant.path);
                self.current_path[die] = Some(grant.path);
            }
            TransferKind::Data | TransferKind::ChipToChipData => {
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
        self.start_next_use(grant.path, now, outbox);
    }

    fn sends_acknowledgements(&self) -> bool {
        self.rule.holds_programs() || self.fabric.sends_acknowledgements()
    }

    fn acknowledge(&mut self, die: DieId, id: AcknowledgementId, now: Time, outbox: &mut Outbox) {
        match self.program_paths[die.index()].pop_front() {
            Some(path) if self.fabric.sends_acknowledgements() => {
                self.enqueue_use(path, PathUse::Acknowledgement(id), now, outbox)
            }
            Some(number) => {
                // The inner fabric has no acknowledgement messages, so report the end of the operation to the controller at once.
                outbox.events.push((now, FabricEvent::Acknowledged(id)));
                let path = self.path(number);
                path.unacknowledged -= 1;
                if !path.is_moving {
                    self.start_next_use(number, now, outbox);
                }
            }
            None => {
                self.pending_acks[die.index()].push_back(id);
                self.call_fabric(now, outbox, |fabric, outbox| {
                    fabric.acquire(die, TransferPhase::DataOut, now, outbox)
                });
            }
        }
    }

    fn wake(&mut self, token: u32, now: Time, outbox: &mut Outbox) {
        if token & ACKNOWLEDGED == 0 {
            return self.call_fabric(now, outbox, |fabric, outbox| fabric.wake(token, now, outbox));
        }
        let number = PathId(token & !ACKNOWLEDGED);
        let path = self.path(number);
        path.is_moving = false;
        // `unacknowledged` is already 0 if the operation held no path, and its acknowledgement got a new one.
        path.unacknowledged = path.unacknowledged.saturating_sub(1);
        self.start_next_use(number, now, outbox);
    }

    fn is_blocked_by(&self, die: DieId, phase: TransferPhase, is_another: &mut dyn FnMut(DieId) -> bool) -> bool {
        self.fabric.is_blocked_by(die, phase, is_another)
    }

    fn wait_by_cause(&self, grant: Grant) -> Option<[Time; Cause::ALL.len()]> {
        let of_fabric = self.fabric.wait_by_cause(grant)?;
        let Some(waited) = self.waited[grant.die.index()][grant.phase.index()] else { return Some(of_fabric) };
        Some(Cause::ALL.map(|cause| if cause == Cause::Channel { waited } else { Time::ZERO }))
    }

    fn stall_time(&self, grant: Grant) -> Time {
        self.fabric.stall_time(grant)
    }

    /// Brings the hold times of the held links up to date.
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

    fn link_hold_times(&self) -> HoldTimes<Time> {
        HoldTimes::OperationHolds(self.held_for.clone())
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

    fn controller_busy_times(&self, now: Time) -> Vec<Time> {
        self.fabric.controller_busy_times(now)
    }

    fn hops(&self) -> u64 {
        self.fabric.hops()
    }

    fn scout_counters(&self) -> Option<&venice::Counters> {
        self.fabric.scout_counters()
    }

    fn held_links(&self) -> Vec<(LinkId, DieId)> {
        self.fabric.held_links()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::FabricKind;
    use crate::units::Bytes;

    fn payload(message: TransferKind) -> Payload {
        Payload { kind: message, planes: 1, command_time: Time::ZERO, bytes: Bytes::from_kib(4) }
    }

    /// Requests a path for `phase` of die 0, and returns the grant. Panics unless a path is granted at once.
    fn granted(held: &mut AnyFabric, phase: TransferPhase, outbox: &mut Outbox) -> Grant {
        held.acquire(DieId(0), phase, Time::ZERO, outbox);
        outbox.grants.pop().expect("the path is free").grant
    }

    /// Starts a program on a die whose page register holds the data of a read, and sends the command of another read. The program uses the held path;
    /// the second read gets its own path, since the program has not been acknowledged. Each read must send its data over the path of its command.
    #[test]
    fn data_leaves_over_the_path_of_its_read_whatever_its_die_was_sent_since() {
        let mut config = Config::default();
        config.fabric.kind = FabricKind::Nossd;
        config.fabric.hold_path = HoldPath::Always;
        config.nossd.chip_channels = 2;
        config.nossd.controller_channels = 2;
        let geometry = Geometry::from_config(&config).expect("the geometry is valid");
        let mut held = AnyFabric::new(&config, &geometry).expect("the interconnect fits");
        let mut outbox = Outbox::default();
        let sent = [TransferKind::Read, TransferKind::Program, TransferKind::Read].map(|message| {
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
            held.send(grant, payload(TransferKind::Data), Time::ZERO, &mut outbox);
            held.release(grant, Time::ZERO, &mut outbox);
        }
    }
}
