//! Interconnects between controllers and chips: the [`Fabric`] trait and its implementations.
//!
//! Glossary: a die *requests* a path; the fabric *grants* the path, at once or later; the die *sends* over the path and *releases* it. A *cause* is
//! the resource whose occupation delayed a grant. The mark \[choice\] is on each modelling decision that no paper states. Each kind of interconnect
//! has a folder with a static [`FabricInfo`], and an entry in the [registry]. The `FabricInfo` has all properties of the kind that other modules use.

pub mod bus;
mod cause;
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
pub use cause::{Cause, Causes};
pub use channels::arbitration_policy::{ArbitrationPolicy, Contender};
pub use channels::channel_timing::PAGE_ADDRESS_SIZE;
pub use channels::shared_channels::SharedChannels;
pub use info::{FabricInfo, RouterPlacement, check};
pub use layout::{Layout, SharedResource};
pub use outbox::{GrantRecord, LinkUse, Outbox, ScoutMove, ScoutSearch, ScoutStep, SearchPrediction};
pub use pnssd::Pnssd;
pub use registry::{AnyFabric, info_of};
pub use transfer::{DataOwner, FabricEvent, Grant, Payload, SendOutcome, TOKENS, TransferKind, TransferPhase};
pub use usage::{HoldTimes, LinkUsage};

/// An interconnect between controllers and chips.
///
/// # Contract
/// - A die requests a path with [`acquire`](Fabric::acquire), with at most one pending request per phase. On channels it may request a path for its
///   next data before it releases the current one. The fabric answers each request with exactly one [`GrantRecord`] in the outbox, in the same call
///   if a path is free, otherwise in a later call, such as of [`release`](Fabric::release) or [`wake`](Fabric::wake).
/// - The payload is chosen after the grant (late binding): the holder (the die of the grant) calls [`send`](Fabric::send) once, or releases the path
///   unused. [`FabricEvent::Delivered`] occurs when the last byte arrives: the simulation schedules the event if `send` returns the arrival time,
///   otherwise the fabric adds the event to the outbox.
/// - The holder calls [`release`](Fabric::release) exactly once. A path is held only while bytes move, never during tR, tPROG or tBERS. The exception
///   is `fabric.hold-path`: in a fabric built by [`FabricInfo::build_held`], a path is released at the end of the transaction, and serves every
///   transfer of its die until then, in any phase. Such a fabric uses wake-up tokens below half of [`TOKENS`].
/// - A fabric with activity of its own, such as scouts or packets in flight, schedules [`FabricEvent::Wake`] or [`FabricEvent::Alarm`] through the
///   outbox, or keeps [`Outbox::wake_at`] up to date.
/// - A link carries one transfer at a time. While [`Outbox::link_uses`] is `Some`, each use of a link is added there when the use ends. The fabric is
///   deterministic.
#[enum_dispatch]
#[auto_impl(Box)]
pub trait Fabric: std::fmt::Debug {
    /// Replaces the routing of scouts (Venice) with `routing`. Call before the first request. Returns `false` if the fabric has no scouts.
    fn set_routing(&mut self, _routing: &dyn venice::routing::RoutingAlgorithm) -> bool {
        false
    }

    /// Replaces XY routing of packets with `routing`. Call before the first request. The fabric must have been built from `config` and `geometry`.
    /// Returns `false` if the fabric does not route packets.
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

    /// Replaces `fabric.arbitration` with `policy`. Call before the first request. Returns `false` if `fabric.arbitration` does not apply to the
    /// fabric.
    fn set_arbitration_policy(&mut self, _policy: std::boxed::Box<dyn ArbitrationPolicy + Send>) -> bool {
        false
    }

    /// Sets the host request of the next path request; `None` for firmware work. Called before each path request, but only if
    /// `venice.circuits-per-request` limits the paths of a host request.
    fn set_host_request(&mut self, _request: Option<RequestId>) {}

    /// Requests a path for `phase` of `die` at `now`. The grant is added to the outbox, in this call or in a later one.
    fn acquire(&mut self, die: DieId, phase: TransferPhase, now: Time, outbox: &mut Outbox);

    /// Requests a path for [`TransferPhase::DataOut`] at `now`, like [`acquire`](Fabric::acquire). `data` is the owner class of the data (mapping
    /// cache, host request or GC); arbitration rules without data classes ignore `data`.
    fn acquire_for(&mut self, die: DieId, _data: DataOwner, now: Time, outbox: &mut Outbox) {
        self.acquire(die, TransferPhase::DataOut, now, outbox);
    }

    /// Returns whether data can move from the chip of die `from` to the chip of die `to` without a controller in between.
    fn supports_chip_to_chip(&self, _from: DieId, _to: DieId) -> bool {
        false
    }

    /// Requests a path for [`TransferPhase::Copy`] at `now`, from die `from` to the page buffer of the chip of die `to`. `from` must have no pending
    /// request for [`TransferPhase::DataOut`], because both phases empty its page register. The die of the grant is `from`. Call only if
    /// [`supports_chip_to_chip`](Fabric::supports_chip_to_chip) holds for the dies.
    fn acquire_chip_to_chip(&mut self, _from: DieId, _to: DieId, _now: Time, _outbox: &mut Outbox) {
        unreachable!("this fabric moves nothing from chip to chip");
    }

    /// Sends `payload` over the path of `grant` at `now`. Returns the arrival time, if known, and the minimum duration.
    fn send(&mut self, grant: Grant, payload: Payload, now: Time, outbox: &mut Outbox) -> SendOutcome;

    /// Releases the path of `grant` at `now`, and grants the queued requests that this makes possible.
    fn release(&mut self, grant: Grant, now: Time, outbox: &mut Outbox);

    /// Returns whether the pending request of `die` for `phase` is blocked by another host request: by a transfer or an earlier path request of a die
    /// that matches `is_another`. `is_another` returns whether a die serves another host request than `die`. Returns `true` if the fabric cannot
    /// determine the blocking dies.
    fn is_blocked_by(&self, _die: DieId, _phase: TransferPhase, _is_another: &mut dyn FnMut(DieId) -> bool) -> bool {
        true
    }

    /// Returns whether paths are exclusive: a path carries one transfer at a time, and a transfer uses one path. A die then waits only for earlier
    /// transfers over its path, so the order of grants shows which host requests blocked it, and [`is_blocked_by`](Fabric::is_blocked_by) is not
    /// called.
    fn has_exclusive_paths(&self) -> bool {
        false
    }

    /// Returns the wait for `grant` by cause, indexed by [`Cause::index`]; `None` if the fabric records only one cause per wait,
    /// [`GrantRecord::cause`]. Call when the path has just been granted.
    fn wait_by_cause(&self, _grant: Grant) -> Option<[Time; Cause::ALL.len()]> {
        None
    }

    /// Returns the time for which other packets blocked the transfer of `grant`; zero if granted paths are free from end to end. Call when the
    /// transfer has just been delivered.
    fn stall_time(&self, _grant: Grant) -> Time {
        Time::ZERO
    }

    /// Returns whether chips send a message over the interconnect to acknowledge the end of a program, an erase or a copyback.
    fn sends_acknowledgements(&self) -> bool {
        false
    }

    /// Sends the acknowledgement of an ended operation at `now` over the path of `grant`. Returns the arrival time at the controller. Call only under
    /// `fabric.hold-path`, while the path is held, and if [`sends_acknowledgements`](Fabric::sends_acknowledgements) holds.
    fn acknowledge_over(&mut self, _grant: Grant, now: Time) -> Time {
        now
    }

    /// Sends the acknowledgement `id` of an operation that ended on `die` at `now`. [`FabricEvent::Acknowledged`] occurs at its arrival. Call only
    /// if [`sends_acknowledgements`](Fabric::sends_acknowledgements) holds.
    fn acknowledge(&mut self, _die: DieId, _id: AcknowledgementId, _now: Time, _outbox: &mut Outbox) {
        unreachable!("this fabric needs no acknowledgements");
    }

    /// Sets the controller that receives the acknowledgement of a program that `die` starts without a command, for a page sent directly by die `by`
    /// (chip-to-chip GC): as if the controller of the last command of `by` had commanded the program.
    fn redirect_acknowledgement(&mut self, _die: DieId, _by: DieId) {}

    /// Handles a [`FabricEvent::Wake`] or [`FabricEvent::Alarm`] with token `token` that is due at `now`.
    fn wake(&mut self, _token: u32, _now: Time, _outbox: &mut Outbox) {
        unreachable!("this fabric asked for no wake-up");
    }

    /// Applies the deferred updates of usage and scout counters up to `now`. Called before the counters are read during a run.
    fn catch_up(&mut self, _now: Time, _outbox: &mut Outbox) {}

    /// Applies the deferred updates of the counters, and of the link uses in the outbox, up to the end of the run at `now`.
    fn finish(&mut self, _now: Time, _outbox: &mut Outbox) {}

    /// Returns the links of the path of `grant`, which must not have been released.
    fn links_of(&self, grant: Grant) -> Vec<LinkId> {
        self.held_links().into_iter().filter(|(_, die)| *die == grant.die).map(|(link, _)| link).collect()
    }

    /// Returns the links of the interconnect, and the numbers of its wires, controllers and routers.
    fn layout(&self) -> &Layout;

    /// Returns the sets of links that limit throughput. Every transfer to a certain destination crosses exactly one link of its set, on any route, so
    /// the total busy time of a set gives a lower bound on run time.
    fn shared_resources(&self) -> Vec<SharedResource> {
        self.layout().shared_resources()
    }

    /// Returns the usage of each link since the start of the run, in the order of [`Layout::links`].
    fn usage(&self) -> &[LinkUsage];

    /// Returns the time for which each link was held since the start of the run; [`HoldTimes::TransfersOnly`] if links are held only while data
    /// moves. Complete only after [`Fabric::finish`].
    fn link_hold_times(&self) -> HoldTimes<Time> {
        HoldTimes::TransfersOnly
    }

    /// Returns the busy time of each flash controller from the start of the run up to `now`, in the order of the controllers.
    fn controller_busy_times(&self, now: Time) -> Vec<Time>;

    /// Returns the total number of link crossings of all transfers since the start of the run.
    fn hops(&self) -> u64;

    /// Returns the counters of all scouts since the start of the run; `None` if the fabric has no scouts.
    fn scout_counters(&self) -> Option<&venice::Counters> {
        None
    }

    /// Returns the links that are held, each with the die for which it is held. A die can hold several links.
    fn held_links(&self) -> Vec<(LinkId, DieId)>;
}

/// An interconnect with properties that are known at compile time.
pub trait StaticFabric: Fabric + Clone {
    /// Whether the fabric adds events or wake-ups to its outbox. If not, the drive does not poll for them.
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
