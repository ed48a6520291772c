//! pnSSD (Venice, ISCA 2023, section 3.2): N rows of N chips, each on the horizontal channel of its row and the vertical channel of its column.
//!
//! A channel is 8 bit wide, like a channel of the bus, and carries packets, as in pSSD. A transfer uses the horizontal channel if that is free,
//! otherwise the vertical one; if both are held, the one that becomes free first. A chip has separate pins for its two channels, and can use both at
//! once (\[choice\]: no paper states it): for two of its dies, for a command to a die and outgoing data of the same die, or, with `split-page`, for
//! the two halves of one transfer's data.
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

use super::arbiter::{Arbiter, QueuedRequest};
use super::arbitration_policy::{ArbitrationPolicy, SharedPolicy};
use super::channel_timing::ChannelTiming;
use super::layout::{LinkKind, SharedResource, TransferDestination};
use super::{
    Cause, DataOwner, Fabric, Grant, GrantRecord, Layout, LinkUsage, Outbox, Payload, SendOutcome, TransferKind,
    TransferPhase,
};
use channel_grid::{ChannelGrid, DieChannel};
pub use info::INFO;

/// The transfer that holds a channel.
#[derive(Clone, Copy, Debug)]
struct ChannelHolder {
    die: DieId,
    phase: TransferPhase,
    since: Time,
    /// Whether the transfer is split, and holds both channels of its die.
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

/// Splits `payload` into two halves: for the granted channel, and for the other channel of the die. The first half has the command, and one
/// byte more if the number of bytes is odd.
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

    #[inline]
    fn is_free(&self, side: DieChannel) -> bool {
        self.channels[side.link.index()].is_none() && !self.controllers[side.controller as usize].is_busy
    }

    /// Marks the channel of `side` as held by `die` from `now` on. Also marks its controller as busy, unless `phase` is a copy from chip to
    /// chip, which needs no controller.
    #[inline]
    fn hold(&mut self, side: DieChannel, die: DieId, phase: TransferPhase, now: Time, is_split: bool) {
        self.channels[side.link.index()] = Some(ChannelHolder { die, phase, since: now, is_split });
        self.controllers[side.controller as usize].is_busy |= phase != TransferPhase::Copy;
    }

    /// Holds the channel of `side` for `phase` of `die`, and adds the grant to the outbox. `cause` is the resource for which the die waited.
    #[inline]
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

    /// Releases the channel of `side`, and its controller unless the transfer was a copy from chip to chip. Returns the holder; `None` if
    /// the channel was free.
    #[inline]
    fn release_channel(&mut self, side: DieChannel, now: Time, outbox: &mut Outbox) -> Option<ChannelHolder> {
        let held = self.channels[side.link.index()].take()?;
        self.controllers[side.controller as usize].is_busy &= held.phase == TransferPhase::Copy;
        outbox.record_use(side.link, held.die, held.since, now);
        Some(held)
    }

    /// Returns both channels of `die`, first the channel with number `path`, which was granted.
    #[inline]
    fn channels_from(&self, die: DieId, path: PathId) -> [DieChannel; 2] {
        let [horizontal, vertical] = self.grid.die_channels(die);
        if horizontal.link.0 == path.0 { [horizontal, vertical] } else { [vertical, horizontal] }
    }

    /// Grants as many queued requests of controller `number` as possible, after the controller or one of its channels has become free. A
    /// granted request is also removed from the queue of the other controller of its die.
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
    #[inline]
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

    /// Requests one of the two channels of `die`: grants a free channel, or queues the request at the controllers of both. `data` is the
    /// owner class of outgoing data; ignored for commands.
    #[inline]
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

    /// Enqueues a request of `die` for `phase` at the controller of `side`. `data` is the owner class of outgoing data; `cause` is the busy resource.
    #[inline]
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

    #[inline]
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

    #[inline]
    fn acquire(&mut self, die: DieId, phase: TransferPhase, now: Time, outbox: &mut Outbox) {
        self.request(die, phase, DataOwner::Request, now, outbox);
    }

    #[inline]
    fn acquire_for(&mut self, die: DieId, data: DataOwner, now: Time, outbox: &mut Outbox) {
        self.request(die, TransferPhase::DataOut, data, now, outbox);
    }

    #[inline]
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

    #[inline]
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

    #[inline]
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
            // A controller uses one of its channels at a time. So the die can wait for the holder of any channel of its controllers, and
            // for the dies in their queues.
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
        // A copy from chip to chip occupies a channel, but no controller. So with such copies, all channels can carry data at the same
        // time; without them, one channel per controller.
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
mod tests {
    use super::*;
    use crate::config::{Controllers, FabricKind};
    use crate::units::Rate;

    /// Returns a pnSSD of three rows of three chips with one die each, at 1 GB/s (1 byte per ns). Links 0 to 2 are the rows, links 3 to 5 the
    /// columns; chip 4 is in the middle.
    fn pnssd(controllers: Controllers, split_page: bool) -> Pnssd {
        let mut config = Config::default();
        config.geometry.channels = 3;
        config.geometry.chips_per_channel = 3;
        config.fabric.kind = FabricKind::Pnssd;
        config.fabric.channel_rate = Rate::from_bytes_per_second(1_000_000_000);
        config.pnssd = config::Pnssd { controllers, split_page };
        config.gc.r#move = config::PageMove::ChipToChip;
        Pnssd::new(&config, &Geometry::new(&config.geometry).expect("the geometry is valid"))
    }

    /// Requests a path for outgoing data of `die` at `now` (ns). Returns the new grants, each with its cause.
    fn ask(fabric: &mut Pnssd, die: u32, now: u64) -> Vec<(Grant, Cause)> {
        let mut outbox = Outbox::default();
        fabric.acquire(DieId(die), TransferPhase::DataOut, Time::from_ns(now), &mut outbox);
        outbox.grants.iter().map(|granted| (granted.grant, granted.cause)).collect()
    }

    fn release(fabric: &mut Pnssd, grant: Grant, now: u64) -> Vec<(Grant, Cause)> {
        let mut outbox = Outbox::default();
        fabric.release(grant, Time::from_ns(now), &mut outbox);
        outbox.grants.iter().map(|granted| (granted.grant, granted.cause)).collect()
    }

    fn grant(die: u32, link: u32) -> Grant {
        Grant { die: DieId(die), phase: TransferPhase::DataOut, path: PathId(link) }
    }

    fn page(bytes: u64) -> Payload {
        Payload { kind: TransferKind::Data, planes: 1, command_time: Time::ZERO, bytes: Bytes::new(bytes) }
    }

    #[test]
    fn the_horizontal_channel_goes_first_then_the_vertical_one_then_whichever_is_free_first() {
        let mut fabric = pnssd(Controllers::Independent, false);
        assert_eq!(ask(&mut fabric, 4, 0), [(grant(4, 1), Cause::Channel)]);
        assert_eq!(ask(&mut fabric, 3, 0), [(grant(3, 3), Cause::Channel)]);
        assert_eq!(ask(&mut fabric, 5, 0), [(grant(5, 5), Cause::Channel)]);
        // Chip 4 holds row 1 (link 1), so chips 3 and 5 get their columns (links 3 and 5). Chips 2 and 8 share the column of chip 5 but have free
        // rows.
        assert_eq!(ask(&mut fabric, 2, 0), [(grant(2, 0), Cause::Channel)]);
        assert_eq!(ask(&mut fabric, 8, 0), [(grant(8, 2), Cause::Channel)]);
        // Chip 0 waits for link 0 or 3 (row and column), chip 6 for link 2 or 3.
        assert_eq!(ask(&mut fabric, 0, 1), []);
        assert_eq!(ask(&mut fabric, 6, 2), []);
        assert_eq!(release(&mut fabric, grant(8, 2), 3), [(grant(6, 2), Cause::Channel)]);
        assert_eq!(release(&mut fabric, grant(3, 3), 4), [(grant(0, 3), Cause::Channel)]);
        // The granted requests of chips 0 and 6 were also removed from the queues of links 0 and 3, so nothing is granted.
        assert_eq!(release(&mut fabric, grant(2, 0), 5), []);
        assert_eq!(release(&mut fabric, grant(6, 2), 6), []);
        let held: Vec<_> = fabric.held_links().iter().map(|(link, die)| (link.0, die.0)).collect();
        assert_eq!(held, [(1, 4), (3, 0), (5, 5)]);
    }

    #[test]
    fn a_shared_controller_serves_one_of_its_channels_at_a_time() {
        let mut fabric = pnssd(Controllers::Shared, false);
        // Chip 1 holds the horizontal channel of controller 0 (link 0), and chip 4 the row of chip 3 (link 1). So chip 3 waits: its column, link 3,
        // is free, but controller 0 drives it.
        assert_eq!(ask(&mut fabric, 1, 0), [(grant(1, 0), Cause::Channel)]);
        assert_eq!(ask(&mut fabric, 4, 0), [(grant(4, 1), Cause::Channel)]);
        assert_eq!(ask(&mut fabric, 3, 0), []);
        assert_eq!(release(&mut fabric, grant(1, 0), 1), [(grant(3, 3), Cause::Controller)]);
        // Both channels of chip 4, on the diagonal, belong to controller 1, which drives one of them (link 1) already.
        assert_eq!(ask(&mut fabric, 4, 2), []);
        assert_eq!(release(&mut fabric, grant(4, 1), 3), [(grant(4, 1), Cause::Controller)]);
        assert_eq!(release(&mut fabric, grant(3, 3), 4), []);
        assert_eq!(fabric.held_links(), [(LinkId(1), DieId(4))]);
    }

    #[test]
    fn a_channel_that_is_taken_is_in_the_way_whatever_its_controller_does() {
        let mut fabric = pnssd(Controllers::Independent, false);
        assert_eq!(ask(&mut fabric, 0, 0), [(grant(0, 0), Cause::Channel)]);
        assert_eq!(ask(&mut fabric, 0, 0), [(grant(0, 3), Cause::Channel)]);
        assert_eq!(ask(&mut fabric, 0, 0), []);
        assert_eq!(release(&mut fabric, grant(0, 3), 1), [(grant(0, 3), Cause::Channel)]);
    }

    #[test]
    fn a_page_is_split_over_two_channels_only_when_both_are_free() {
        let mut outbox = Outbox::default();
        let mut fabric = pnssd(Controllers::Independent, true);
        let now = Time::ZERO;
        ask(&mut fabric, 4, 0);
        let sent = fabric.send(grant(4, 1), page(4097), now, &mut outbox);
        assert_eq!(
            sent,
            SendOutcome { arrival: Some(Time::from_ns(2049 + 12)), min_duration: Time::from_ns(2049 + 12) }
        );
        assert_eq!(fabric.held_links(), [(LinkId(1), DieId(4)), (LinkId(4), DieId(4))]);
        let carried: Vec<u64> = fabric.usage().iter().map(|link| link.bytes_out.as_u64()).collect();
        assert_eq!((carried, fabric.hops()), (vec![0, 2049, 0, 0, 2048, 0], 2));
        // The row of chip 3 is held by chip 4, so chip 3 sends its whole page over its column (link 3). The 12 bytes are header and CRC.
        assert_eq!(ask(&mut fabric, 3, 0), [(grant(3, 3), Cause::Channel)]);
        let sent = fabric.send(grant(3, 3), page(4096), now, &mut outbox);
        assert_eq!(
            sent,
            SendOutcome { arrival: Some(Time::from_ns(4096 + 12)), min_duration: Time::from_ns(2048 + 12) }
        );
        // Chip 6 holds the row of chip 7 (link 2), and chip 4 holds its column (link 4) for half of the split page. Chip 7 is granted the column when
        // chip 4 releases it.
        assert_eq!(ask(&mut fabric, 6, 0), [(grant(6, 2), Cause::Channel)]);
        assert_eq!(ask(&mut fabric, 7, 0), []);
        assert_eq!(release(&mut fabric, grant(4, 1), 2061), [(grant(7, 4), Cause::Channel)]);
        let held: Vec<u32> = fabric.held_links().iter().map(|(link, _)| link.0).collect();
        assert_eq!(held, [2, 3, 4]);
    }

    #[test]
    fn a_command_without_data_is_never_split() {
        let mut fabric = pnssd(Controllers::Independent, true);
        ask(&mut fabric, 4, 0);
        let command = Payload { kind: TransferKind::Erase, bytes: Bytes::ZERO, ..page(0) };
        let sent = fabric.send(grant(4, 1), command, Time::ZERO, &mut Outbox::default());
        assert_eq!(sent, SendOutcome { arrival: Some(Time::from_ns(8)), min_duration: Time::from_ns(8) });
        assert_eq!(fabric.held_links(), [(LinkId(1), DieId(4))]);
    }

    #[test]
    fn a_page_for_another_chip_takes_the_vertical_channel_and_no_controller() {
        for &controllers in Controllers::ALL {
            let mut fabric = pnssd(controllers, true);
            assert!(
                fabric.supports_chip_to_chip(DieId(4), DieId(1)) && !fabric.supports_chip_to_chip(DieId(4), DieId(5))
            );
            assert!(!fabric.supports_chip_to_chip(DieId(4), DieId(4)));
            let mut outbox = Outbox::default();
            let copy = Grant { phase: TransferPhase::Copy, ..grant(4, 4) };
            fabric.acquire_chip_to_chip(DieId(4), DieId(1), Time::ZERO, &mut outbox);
            assert_eq!(outbox.grants.pop().map(|granted| granted.grant), Some(copy));
            let sent = fabric.send(
                copy,
                Payload { kind: TransferKind::ChipToChipData, ..page(4096) },
                Time::ZERO,
                &mut outbox,
            );
            assert_eq!(sent.arrival, Some(Time::from_ns(4096 + 12)));
            assert_eq!(fabric.usage()[4].bytes_across, Bytes::new(4096));
            assert_eq!(fabric.controller_busy_times(Time::ZERO).iter().copied().max(), Some(Time::ZERO));
            // The copy holds the column (link 4), but not the controller of the column. So chip 4 can still use its row (link 1), but neither a
            // second transfer of chip 4 nor a copy of chip 7 is granted.
            assert_eq!(ask(&mut fabric, 4, 1), [(grant(4, 1), Cause::Channel)]);
            assert_eq!(ask(&mut fabric, 4, 1), [], "{controllers}");
            fabric.acquire_chip_to_chip(DieId(7), DieId(1), Time::from_ns(2), &mut outbox);
            assert!(outbox.grants.is_empty());
            // When the copy ends, the oldest request for the column, the transfer of chip 4, is granted if the controller of the column is free. A
            // shared controller is busy with the row of chip 4, so the copy of chip 7, which needs no controller, is granted instead.
            let served = release(&mut fabric, copy, 4108);
            match controllers {
                Controllers::Independent => assert_eq!(served, [(grant(4, 4), Cause::Channel)]),
                Controllers::Shared => assert_eq!(served[0].0, Grant { die: DieId(7), ..copy }),
            }
        }
    }
}
