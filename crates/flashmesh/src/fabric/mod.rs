//! Interconnects between controllers and chips: the [`Fabric`] trait and its implementations.
//!
//! Glossary: a die *requests* a path; the fabric *grants* the path, at once or later; the die *sends* over the path and *releases* it. A *cause* is
//! the resource whose occupation delayed a grant. A decision that no paper states is marked \[choice\]. Each kind has a folder with a static
//! [`FabricInfo`], which has all properties that other modules use, and a line in the [registry].

mod arbiter;
mod arbitration_policy;
pub mod bus;
mod cause;
mod channel_timing;
mod channels;
mod held_paths;
pub mod ideal;
mod info;
pub mod layout;
pub mod nossd;
mod outbox;
pub mod pnssd;
pub mod pssd;
pub mod registry;
mod shared_channels;
mod transfer;
mod usage;
pub mod venice;
pub mod wormhole;

use auto_impl::auto_impl;
use enum_dispatch::enum_dispatch;

use crate::config::Config;
use crate::flash::geometry::Geometry;
use crate::ids::{AcknowledgementId, DieId, LinkId, RequestId};
use crate::units::Time;

pub use crate::error::FabricError;
pub use arbitration_policy::{ArbitrationPolicy, Contender};
pub use cause::{Cause, Causes};
pub use channel_timing::PAGE_ADDRESS_SIZE;
pub use info::{FabricInfo, RouterPlacement, check};
pub use layout::{Layout, SharedResource};
pub use outbox::{GrantRecord, LinkUse, Outbox, ScoutMove, ScoutSearch, ScoutStep, SearchPrediction};
pub use pnssd::Pnssd;
pub use registry::{AnyFabric, info_of};
pub use shared_channels::SharedChannels;
pub use transfer::{DataOwner, FabricEvent, Grant, Payload, SendOutcome, TOKENS, TransferKind, TransferPhase};
pub use usage::{HoldTimes, LinkUsage};

/// An interconnect between controllers and chips.
///
/// # Contract
/// - A die requests a path with [`acquire`](Fabric::acquire), with at most one request per phase pending; on channels it may request the path of its
///   next data before it releases the current one. The fabric answers each request with exactly one [`GrantRecord`] in the outbox, in the same call
///   if a path is free, otherwise in a later call.
/// - The payload is chosen after the grant (late binding): the holder calls [`send`](Fabric::send) once, or releases the path unused.
///   [`FabricEvent::Delivered`] occurs when the last byte arrives: the simulation schedules the event if `send` returns the time, otherwise the
///   fabric raises it through the outbox.
/// - The holder calls [`release`](Fabric::release) exactly once. A path is held only while bytes move, never during tR, tPROG or tBERS. The exception
///   is `fabric.hold-path`: a path of a fabric built by [`FabricInfo::build_held`] is released at the end of the transaction. Until then `send` is
///   called over the same path as often as its die has something to send, in any phase. Such a fabric uses wake-up tokens below 2^31.
/// - A fabric with activity of its own schedules [`FabricEvent::Wake`] or [`FabricEvent::Alarm`] through the outbox, or keeps [`Outbox::wake_at`]
///   up to date.
/// - A link carries one transfer at a time, and each use is reported to the outbox when it ends. The fabric is deterministic.
#[enum_dispatch]
#[auto_impl(Box)]
pub trait Fabric: std::fmt::Debug {
    /// Replaces the routing of scouts. Call before the first request. Returns `false` if the fabric has no scouts.
    fn set_routing(&mut self, _routing: &dyn venice::routing::RoutingAlgorithm) -> bool {
        false
    }

    /// Replaces XY routing of packets with `routing`. Call before the first request. The fabric must have been built from `config` and `geometry`.
    /// Returns `false` if the fabric has no packets.
    ///
    /// # Errors
    /// If packets would not reach their destinations, or the network could deadlock.
    fn set_packet_routing(
        &mut self,
        _config: &Config,
        _geometry: &Geometry,
        _routing: &dyn nossd::PacketRouting,
    ) -> Result<bool, nossd::PacketRoutingError> {
        Ok(false)
    }

    /// Replaces `fabric.arbitration` with `policy`. Call before the first request. Returns `false` if `fabric.arbitration` has no effect on the
    /// fabric.
    fn set_arbitration_policy(&mut self, _policy: std::boxed::Box<dyn ArbitrationPolicy + Send>) -> bool {
        false
    }

    /// Sets the host request to which the next path request belongs; `None` for firmware work. Called before each path request if the configuration
    /// limits the paths of a host request.
    fn set_host_request(&mut self, _request: Option<RequestId>) {}

    /// Requests a path for `phase` of `die` at `now`.
    fn acquire(&mut self, die: DieId, phase: TransferPhase, now: Time, outbox: &mut Outbox);

    /// Requests a path for [`TransferPhase::DataOut`] at `now`, like [`acquire`](Fabric::acquire). `data` is the owner class of the data, for
    /// arbitration rules that use it.
    fn acquire_for(&mut self, die: DieId, _data: DataOwner, now: Time, outbox: &mut Outbox) {
        self.acquire(die, TransferPhase::DataOut, now, outbox);
    }

    /// Returns whether data can move from the chip of one die to the chip of the other without passing through a controller.
    fn supports_chip_to_chip(&self, _from: DieId, _to: DieId) -> bool {
        false
    }

    /// Requests a path for [`TransferPhase::Copy`] at `now`, from `from` to the page buffer of the chip of `to`. The request takes the place of
    /// [`TransferPhase::DataOut`], because a die has one register. The grant has `from` as its die. Call only for dies for which
    /// [`supports_chip_to_chip`](Fabric::supports_chip_to_chip) holds.
    fn acquire_chip_to_chip(&mut self, _from: DieId, _to: DieId, _now: Time, _outbox: &mut Outbox) {
        unreachable!("this fabric moves nothing from chip to chip");
    }

    /// Sends `payload` over the path of `grant`.
    fn send(&mut self, grant: Grant, payload: Payload, now: Time, outbox: &mut Outbox) -> SendOutcome;

    /// Releases the path of `grant`, after which queued requests can be granted.
    fn release(&mut self, grant: Grant, now: Time, outbox: &mut Outbox);

    /// Returns whether the pending request of `die` waits for a transfer, or for an earlier request, of a die for which `is_another` holds. This
    /// distinguishes waits for other host requests from waits for the same one. `true` if the fabric cannot determine the blocking dies.
    fn is_blocked_by(&self, _die: DieId, _phase: TransferPhase, _is_another: &mut dyn FnMut(DieId) -> bool) -> bool {
        true
    }

    /// Returns whether each transfer occupies exactly one path, which no other transfer uses meanwhile. Then a die waits only for earlier transfers
    /// over the same path, so the order of grants determines for which requests a die waited, and [`is_blocked_by`](Fabric::is_blocked_by) is not
    /// called.
    fn has_exclusive_paths(&self) -> bool {
        false
    }

    /// Returns the wait for `grant` by cause, if it had several causes, one after the other; `None` if [`GrantRecord::cause`] was the only one. Call
    /// when the path has just been granted.
    fn wait_by_cause(&self, _grant: Grant) -> Option<[Time; Cause::ALL.len()]> {
        None
    }

    /// Returns the time for which the transfer of `grant` was blocked in the network; zero if granted paths are free from end to end. Call when the
    /// transfer has just been delivered.
    fn stall_time(&self, _grant: Grant) -> Time {
        Time::ZERO
    }

    /// Returns whether chips send a message to acknowledge the end of a program or an erase.
    fn sends_acknowledgements(&self) -> bool {
        false
    }

    /// Sends an acknowledgement at `now` over the held path of `grant`. Returns its arrival time. Call only for held paths of fabrics for which
    /// [`sends_acknowledgements`](Fabric::sends_acknowledgements) holds.
    fn acknowledge_over(&mut self, _grant: Grant, now: Time) -> Time {
        now
    }

    /// Sends the acknowledgement of `die`, which [`FabricEvent::Acknowledged`] follows. Call only if
    /// [`sends_acknowledgements`](Fabric::sends_acknowledgements) holds.
    fn acknowledge(&mut self, _die: DieId, _id: AcknowledgementId, _now: Time, _outbox: &mut Outbox) {
        unreachable!("this fabric needs no acknowledgements");
    }

    /// Redirects the acknowledgement of the operation that `die` starts without a command to the controller that sent the last command of `by`.
    fn redirect_acknowledgement(&mut self, _die: DieId, _by: DieId) {}

    /// Handles a due [`FabricEvent::Wake`] or [`FabricEvent::Alarm`].
    fn wake(&mut self, _token: u32, _now: Time, _outbox: &mut Outbox) {
        unreachable!("this fabric asked for no wake-up");
    }

    /// Applies the deferred updates of counters up to `now`. Called before counters are read during a run.
    fn catch_up(&mut self, _now: Time, _outbox: &mut Outbox) {}

    /// Advances the counters, and the link uses in the outbox, to the end of the run at `now`.
    fn finish(&mut self, _now: Time, _outbox: &mut Outbox) {}

    /// Returns the links of the path of `grant`, which must not have been released.
    fn links_of(&self, grant: Grant) -> Vec<LinkId> {
        self.held_links().into_iter().filter(|(_, die)| *die == grant.die).map(|(link, _)| link).collect()
    }

    /// Returns the parts of the interconnect.
    fn layout(&self) -> &Layout;

    /// Returns the sets of links that transfers must cross on every route. The sets give a lower bound on run time: a given load occupies a set
    /// equally long in any order and on any route.
    fn shared_resources(&self) -> Vec<SharedResource> {
        self.layout().shared_resources()
    }

    /// Returns the usage of each link so far, in the order of [`Layout::links`].
    fn usage(&self) -> &[LinkUsage];

    /// Returns the time for which each link was held, for interconnects that hold links while no data moves. Complete only after [`Fabric::finish`].
    fn link_hold_times(&self) -> HoldTimes<Time> {
        HoldTimes::TransfersOnly
    }

    /// Returns the busy time of each controller up to `now`.
    fn controller_busy_times(&self, now: Time) -> Vec<Time>;

    /// Returns the number of links crossed, over all transfers.
    fn hops(&self) -> u64;

    /// Returns the counters of scouts; `None` if the fabric has no scouts.
    fn scout_counters(&self) -> Option<&venice::Counters> {
        None
    }

    /// Returns the links that are held now, each with the die for which it is held.
    fn held_links(&self) -> Vec<(LinkId, DieId)>;
}

/// Properties of an interconnect that are known at compile time.
pub trait StaticFabric: Fabric + Clone {
    /// Whether the fabric schedules events or wake-ups of its own. If `false`, the drive never polls for them.
    const SCHEDULES_EVENTS: bool;
}

impl StaticFabric for AnyFabric {
    const SCHEDULES_EVENTS: bool = true;
}

impl StaticFabric for SharedChannels {
    const SCHEDULES_EVENTS: bool = false;
}

impl StaticFabric for Pnssd {
    const SCHEDULES_EVENTS: bool = false;
}

impl StaticFabric for nossd::Nossd {
    const SCHEDULES_EVENTS: bool = true;
}

impl StaticFabric for venice::Venice {
    const SCHEDULES_EVENTS: bool = true;
}
