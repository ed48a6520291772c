//! pnSSD (Venice, ISCA 2023, section 3.2): N rows of N chips, each on the horizontal channel of its row and the vertical channel of its column.
//!
//! A channel is 8 bit wide, like a channel of the bus, and carries packets, as in pSSD. A transfer uses the horizontal channel if it is free,
//! otherwise the vertical one; if both are held, whichever becomes free first. A chip has separate pins for its two channels, and can use both at
//! once (\[choice\]: no paper states it): for two dies, for a command and outgoing data of one die or, with `split-page`, for the two halves of one
//! transfer.
//!
//! By default a controller drives one channel. With `controllers = "shared"` a controller drives a horizontal and a vertical channel, one at a time.
//! A chip on the diagonal of the array then has both channels at one controller, so its pages are never split \[choice\].
//!
//! Chip-to-chip moves of GC cross the vertical channel of the two chips as a data packet, without a controller. They are arbitrated like other
//! outgoing data \[choice\].

mod channel_grid;
mod info;

use crate::config::{self, Config};
use crate::flash::geometry::Geometry;
use crate::ids::{DieId, LinkId, PathId};
use crate::units::{Bytes, Time};

use super::channels::arbiter::{Arbiter, QueuedRequest};
use super::channels::arbitration_policy::{ArbitrationPolicy, SharedPolicy};
use super::channels::channel_timing::ChannelTiming;
use super::layout::{LinkKind, SharedResource, TransferDestination};
use super::{
    Cause, DataOwner, Fabric, Grant, GrantRecord, Layout, LinkUsage, Outbox, Payload, SendOutcome, TransferKind,
    TransferPhase,
};
use channel_grid::{ChannelGrid, DieChannel};
pub use info::INFO;

#[derive(Clone, Copy, Debug)]
struct ChannelHolder {
    die: DieId,
    phase: TransferPhase,
    since: Time,
    /// Whether the transfer is split over both channels of its die.
    is_split: bool,
}

#[derive(Clone, Debug)]
struct FlashController {
    is_busy: bool,
    busy: Time,
    arbiter: Arbiter,
}

/// The pnSSD interconnect.
#[derive(Clone, Debug)]
pub struct Pnssd {
    grid: ChannelGrid,
    /// Holder of each channel, indexed by link; `None` if the channel is free.
    channels: Vec<Option<ChannelHolder>>,
    controllers: Vec<FlashController>,
    usage: Vec<LinkUsage>,
    durations: ChannelTiming,
    splits_pages: bool,
    /// Whether GC moves pages directly from chip to chip (`gc.move = "chip-to-chip"`).
    supports_chip_to_chip: bool,
    order: u64,
    hops: u64,
    layout: Layout,
}

/// Splits `payload` into two halves, for the granted channel and for the other channel of the die. The first half has the command, and the odd byte.
fn split_payload(payload: Payload) -> [Payload; 2] {
    let other = Bytes::new(payload.bytes.as_u64() / 2);
    let rest = Payload { kind: TransferKind::Data, command_time: Time::ZERO, bytes: other, ..payload };
    [Payload { bytes: payload.bytes - other, ..payload }, rest]
}

impl Pnssd {
    /// Creates a pnSSD interconnect with free channels. The array of chips must be square.
    pub fn new(config: &Config, geometry: &Geometry) -> Pnssd {
        let grid = ChannelGrid::new(geometry, config.pnssd.controllers);
        let dies = grid.dies_per_controller();
        let arbiter = || Arbiter::new(config.fabric.arbitration, dies, geometry.dies_per_chip);
        let controller = || FlashController { is_busy: false, busy: Time::ZERO, arbiter: arbiter() };
        Pnssd {
            channels: vec![None; grid.channels() as usize],
            controllers: (0..grid.controllers()).map(|_| controller()).collect(),
            usage: vec![LinkUsage::default(); grid.channels() as usize],
            durations: ChannelTiming::packets(&config.packets, config.fabric.channel_rate),
            splits_pages: config.pnssd.split_page,
            supports_chip_to_chip: config.gc.r#move == config::PageMove::ChipToChip,
            order: 0,
            hops: 0,
            layout: grid.layout(),
            grid,
        }
    }

    fn is_free(&self, side: DieChannel) -> bool {
        self.channels[side.link.index()].is_none() && !self.controllers[side.controller as usize].is_busy
    }

    /// Marks the channel of `side` as held by `die` from `now` on. Also marks its controller as busy, unless `phase` is a chip-to-chip copy, which
    /// needs none.
    fn hold(&mut self, side: DieChannel, die: DieId, phase: TransferPhase, now: Time, is_split: bool) {
        self.channels[side.link.index()] = Some(ChannelHolder { die, phase, since: now, is_split });
        self.controllers[side.controller as usize].is_busy |= phase != TransferPhase::Copy;
    }

    /// Holds the channel of `side` for `phase` of `die`, and adds the grant to the outbox. `cause` is the cause of the wait, if there was one.
    fn grant(
        &mut self,
        side: DieChannel,
        (die, phase): (DieId, TransferPhase),
        cause: Cause,
        now: Time,
        outbox: &mut Outbox,
    ) {
        self.hold(side, die, phase, now, false);
        let grant = Grant { die, phase, path: PathId(side.link.0) };
        outbox.grants.push(GrantRecord { grant, since: now, cause });
    }

    /// Releases the channel of `side` and, except after a chip-to-chip copy, its controller. Returns the holder; `None` if the channel was free.
    fn release_channel(&mut self, side: DieChannel, now: Time, outbox: &mut Outbox) -> Option<ChannelHolder> {
        let held = self.channels[side.link.index()].take()?;
        self.controllers[side.controller as usize].is_busy &= held.phase == TransferPhase::Copy;
        outbox.record_use(side.link, held.die, held.since, now);
        Some(held)
    }

    /// Returns both channels of `die`, beginning with the granted channel, number `path`.
    fn channels_from(&self, die: DieId, path: PathId) -> [DieChannel; 2] {
        let [horizontal, vertical] = self.grid.die_channels(die);
        if horizontal.link.0 == path.0 { [horizontal, vertical] } else { [vertical, horizontal] }
    }

    /// Grants as many queued requests of controller `number` as possible, after it or one of its channels has become free. Cancels the granted
    /// requests at the other controllers of their dies.
    fn grant_queued(&mut self, number: u32, now: Time, outbox: &mut Outbox) {
        while let Some((next, side)) = self.dequeue(number) {
            for other in self.grid.die_channels(next.die) {
                if other.controller != number {
                    self.controllers[other.controller as usize].arbiter.cancel(next.die, next.phase);
                }
            }
            self.grant(side, (next.die, next.phase), next.cause, now, outbox);
        }
    }

    /// Dequeues the next request of controller `number` that can be granted. Returns the request and the free channel to use; `None` if no queued
    /// request can be granted.
    fn dequeue(&mut self, number: u32) -> Option<(QueuedRequest, DieChannel)> {
        let Pnssd { grid, channels, controllers, supports_chip_to_chip: copies_pages, .. } = self;
        let FlashController { is_busy, arbiter, .. } = &mut controllers[number as usize];
        if *is_busy && !*copies_pages {
            return None;
        }
        let side_of = |waiting: &QueuedRequest| {
            let [horizontal, vertical] = grid.die_channels(waiting.die);
            let leads = |side: &DieChannel| side.controller == number && channels[side.link.index()].is_none();
            match waiting.phase {
                TransferPhase::Copy => Some(vertical).filter(leads),
                TransferPhase::Command | TransferPhase::DataOut if *is_busy => None,
                TransferPhase::Command | TransferPhase::DataOut => [horizontal, vertical].into_iter().find(leads),
            }
        };
        let next = arbiter.dequeue(|waiting| side_of(waiting).is_some())?;
        side_of(&next).map(|side| (next, side))
    }

    /// Requests one of the two channels of `die`: grants a free channel whose controller is free, or queues the request at the controllers of both.
    /// `data` is the owner class of outgoing data (mapping cache, host request or GC); ignored for commands.
    fn request(&mut self, die: DieId, phase: TransferPhase, data: DataOwner, now: Time, outbox: &mut Outbox) {
        let [horizontal, vertical] = self.grid.die_channels(die);
        for side in [horizontal, vertical] {
            if self.is_free(side) {
                self.controllers[side.controller as usize].arbiter.record_grant(side.position, phase);
                self.grant(side, (die, phase), Cause::Channel, now, outbox);
                return;
            }
        }
        let is_channel_free = |side: DieChannel| self.channels[side.link.index()].is_none();
        let has_free_channel = is_channel_free(horizontal) || is_channel_free(vertical);
        let cause = if has_free_channel { Cause::Controller } else { Cause::Channel };
        self.order += 1;
        self.enqueue(horizontal, (die, phase, data), cause);
        if vertical.controller != horizontal.controller {
            self.enqueue(vertical, (die, phase, data), cause);
        }
    }

    /// Enqueues a request of `die` for `phase` at the controller of `side`. `data` is the owner class of outgoing data (mapping cache, host request
    /// or GC); `cause` is the busy resource.
    fn enqueue(&mut self, side: DieChannel, (die, phase, data): (DieId, TransferPhase, DataOwner), cause: Cause) {
        let waiting = QueuedRequest {
            die,
            phase,
            data_owner: data,
            continues_operation: false,
            cause,
            position: side.position,
            order: self.order,
        };
        self.controllers[side.controller as usize].arbiter.enqueue(waiting);
    }

    fn count(&mut self, side: DieChannel, phase: TransferPhase, payload: Payload, now: Time, duration: Time) {
        self.hops += 1;
        self.usage[side.link.index()].count(phase, payload, now, duration);
        if phase != TransferPhase::Copy {
            self.controllers[side.controller as usize].busy += duration;
        }
    }
}

impl Fabric for Pnssd {
    fn set_arbitration_policy(&mut self, policy: Box<dyn ArbitrationPolicy + Send>) -> bool {
        let policy = SharedPolicy::new(policy);
        for (number, controller) in (0..).zip(&mut self.controllers) {
            controller.arbiter.set_policy(number, policy.clone());
        }
        true
    }

    fn acquire(&mut self, die: DieId, phase: TransferPhase, now: Time, outbox: &mut Outbox) {
        self.request(die, phase, DataOwner::Request, now, outbox);
    }

    fn acquire_for(&mut self, die: DieId, data: DataOwner, now: Time, outbox: &mut Outbox) {
        self.request(die, TransferPhase::DataOut, data, now, outbox);
    }

    fn supports_chip_to_chip(&self, from: DieId, to: DieId) -> bool {
        let ([from_row, from_column], [to_row, to_column]) = (self.grid.die_channels(from), self.grid.die_channels(to));
        from_column.link == to_column.link && from_row.link != to_row.link
    }

    fn acquire_chip_to_chip(&mut self, from: DieId, _to: DieId, now: Time, outbox: &mut Outbox) {
        let [_, vertical] = self.grid.die_channels(from);
        if self.channels[vertical.link.index()].is_none() {
            self.grant(vertical, (from, TransferPhase::Copy), Cause::Channel, now, outbox);
        } else {
            self.order += 1;
            self.enqueue(vertical, (from, TransferPhase::Copy, DataOwner::Collection), Cause::Channel);
        }
    }

    fn send(&mut self, grant: Grant, payload: Payload, now: Time, _outbox: &mut Outbox) -> SendOutcome {
        let [side, other] = self.channels_from(grant.die, grant.path);
        let can_split = self.splits_pages
            && grant.phase != TransferPhase::Copy
            && payload.bytes > Bytes::ZERO
            && side.controller != other.controller;
        if !can_split {
            let least = self.durations.duration(payload);
            self.count(side, grant.phase, payload, now, least);
            return SendOutcome { arrival: Some(now + least), min_duration: least };
        }
        let [first, second] = split_payload(payload);
        let (first_time, second_time) = (self.durations.duration(first), self.durations.duration(second));
        let least = first_time.later(second_time);
        if self.is_free(other) {
            self.hold(side, grant.die, grant.phase, now, true);
            self.hold(other, grant.die, grant.phase, now, true);
            self.count(side, grant.phase, first, now, first_time);
            self.count(other, grant.phase, second, now, second_time);
            return SendOutcome { arrival: Some(now + least), min_duration: least };
        }
        let whole = self.durations.duration(payload);
        self.count(side, grant.phase, payload, now, whole);
        SendOutcome { arrival: Some(now + whole), min_duration: least }
    }

    fn release(&mut self, grant: Grant, now: Time, outbox: &mut Outbox) {
        let [side, other] = self.channels_from(grant.die, grant.path);
        let held = self.release_channel(side, now, outbox);
        if held.is_some_and(|held| held.is_split) {
            self.release_channel(other, now, outbox);
            self.grant_queued(other.controller, now, outbox);
        }
        self.grant_queued(side.controller, now, outbox);
    }

    fn is_blocked_by(&self, die: DieId, _phase: TransferPhase, is_another: &mut dyn FnMut(DieId) -> bool) -> bool {
        self.grid.die_channels(die).into_iter().any(|side| {
            // A controller uses one of its channels at a time. So the die can wait for the holder of any channel of its controllers, and for the dies
            // queued there.
            let of_controller = (0..self.channels.len() as u32)
                .map(LinkId)
                .filter(|link| *link == side.link || self.grid.controller_of(*link) == side.controller);
            let holders = of_controller.filter_map(|link| self.channels[link.index()]).map(|held| held.die);
            let waiting = self.controllers[side.controller as usize].arbiter.queued_dies();
            holders.chain(waiting).any(|other| other != die && is_another(other))
        })
    }

    fn links_of(&self, grant: Grant) -> Vec<LinkId> {
        vec![LinkId(grant.path.0)]
    }

    fn layout(&self) -> &Layout {
        &self.layout
    }

    fn shared_resources(&self) -> Vec<SharedResource> {
        let links: Vec<LinkId> = self.layout.links_of_kind(LinkKind::Channel).collect();
        // Chip-to-chip copies need no controller, so with them all channels can carry data at once; otherwise one channel per controller.
        let at_once = if self.supports_chip_to_chip { links.len() } else { self.controllers.len() } as u32;
        vec![SharedResource { part: TransferDestination::Controllers, links, at_once }]
    }

    fn usage(&self) -> &[LinkUsage] {
        &self.usage
    }

    fn controller_busy_times(&self, _now: Time) -> Vec<Time> {
        self.controllers.iter().map(|controller| controller.busy).collect()
    }

    fn hops(&self) -> u64 {
        self.hops
    }

    fn held_links(&self) -> Vec<(LinkId, DieId)> {
        let links = (0..).map(LinkId);
        links.zip(&self.channels).filter_map(|(link, held)| Some((link, held.as_ref()?.die))).collect()
    }
}

#[cfg(test)]
mod tests;
