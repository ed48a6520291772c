//! Interconnects between controllers and chips: the [`Fabric`] trait and its implementations.
//!
//! Glossary: a die *requests* a path; the fabric *grants* it, at once or later; the die *sends* over it and *releases* it. A *cause* is the
//! resource whose occupation delayed a grant. Each kind is a folder with a static [`Facts`], which states all properties that other modules use,
//! and a line in the [registry].

mod arbiter;
mod arbitration_policy;
pub mod bus;
mod cause;
mod channels;
mod facts;
mod framing;
mod hold;
pub mod ideal;
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
pub use facts::{Facts, Routers, check};
pub use framing::LISTED_PAGE;
pub use layout::{Layout, SharedResource};
pub use outbox::{Granted, LinkUse, Outbox, ScoutMove, ScoutStep, Search, Verdict};
pub use pnssd::Pnssd;
pub use registry::{AnyFabric, facts};
pub use shared_channels::SharedChannels;
pub use transfer::{DataOf, FabricEvent, Grant, Message, Payload, Sent, TOKENS, TransferPhase};
pub use usage::{Held, LinkUsage};

/// An interconnect between controllers and chips.
///
/// # Contract
/// - A die requests a path with [`acquire`](Fabric::acquire), with at most one request per phase pending; on channels it may request the path of
///   its next data before it releases the current one. The fabric answers each request with exactly one [`Granted`] in the outbox, in the same call
///   if a path is free, otherwise in a later call.
/// - The payload is chosen after the grant (late binding): the holder calls [`send`](Fabric::send) once, or releases the path unused.
///   [`FabricEvent::Delivered`] occurs when the last byte arrives: the simulation schedules the event if `send` returns the time, otherwise the
///   fabric raises it through the outbox.
/// - The holder calls [`release`](Fabric::release) exactly once. A path is held only while bytes move, never during tR, tPROG or tBERS. The
///   exception is `fabric.hold-path`: a fabric built by [`Facts::held`] is released at the end of the transaction, and until then `send` is called
///   over the same path as often as its die has something to send, in any phase. Such a fabric uses wake-up tokens below 2^31.
/// - A fabric with activity of its own schedules [`FabricEvent::Wake`] or [`FabricEvent::Alarm`] through the outbox, or keeps [`Outbox::wake_at`]
///   up to date.
/// - A link carries one transfer at a time, and each use is reported to the outbox when it ends. The fabric is deterministic.
#[enum_dispatch]
#[auto_impl(Box)]
pub trait Fabric: std::fmt::Debug {
    /// Sets the `routing` of scouts; call before the first request. Returns `false` if the fabric has no scouts.
    fn set_routing(&mut self, _routing: &dyn venice::routing::RoutingAlgorithm) -> bool {
        false
    }

    /// Replaces XY routing of packets with `routing`; call before the first request. `config` and `geometry` are those that the fabric was built
    /// from. Returns `false` if the fabric has no packets.
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

    /// Replaces `fabric.arbitration` with `policy`; call before the first request. Returns `false` if that key does not affect the fabric.
    fn set_arbiter(&mut self, _policy: std::boxed::Box<dyn ArbitrationPolicy + Send>) -> bool {
        false
    }

    /// Names the request whose transaction requests the next path, `None` for firmware work. Called before each request for a path if the
    /// configuration limits the paths of a host request.
    fn name_request(&mut self, _request: Option<RequestId>) {}

    /// Requests a path for `phase` of `die` at `now`.
    fn acquire(&mut self, die: DieId, phase: TransferPhase, now: Time, outbox: &mut Outbox);

    /// Requests a path for [`TransferPhase::DataOut`] at `now`, like [`acquire`](Fabric::acquire), with the owner class of the data for arbitration
    /// rules that use it.
    fn acquire_for(&mut self, die: DieId, _data: DataOf, now: Time, outbox: &mut Outbox) {
        self.acquire(die, TransferPhase::DataOut, now, outbox);
    }

    /// Returns whether data can go from the chip of one die to the chip of the other without passing a controller.
    fn copies(&self, _from: DieId, _to: DieId) -> bool {
        false
    }

    /// Requests at `now` a path for [`TransferPhase::Copy`] from `from` to the page buffer of the chip of `to`, in place of
    /// [`TransferPhase::DataOut`], since a die has one register. The grant names `from`. Only for pairs for which [`copies`](Fabric::copies) holds.
    fn acquire_copy(&mut self, _from: DieId, _to: DieId, _now: Time, _outbox: &mut Outbox) {
        unreachable!("this fabric moves nothing from chip to chip");
    }

    /// Sends `payload` over the path of `grant`.
    fn send(&mut self, grant: Grant, payload: Payload, now: Time, outbox: &mut Outbox) -> Sent;

    /// Releases the path of `grant`; queued requests can then be granted.
    fn release(&mut self, grant: Grant, now: Time, outbox: &mut Outbox);

    /// Returns whether the pending request of `die` waits for a transfer or an earlier request of a die for which `is_another` holds. Separates
    /// waits for other host requests from waits for the same one. `true` if the fabric cannot tell.
    fn is_behind(&self, _die: DieId, _phase: TransferPhase, _is_another: &mut dyn FnMut(DieId) -> bool) -> bool {
        true
    }

    /// Returns whether each transfer occupies exactly one path exclusively, so that a die waits only for earlier transfers over the same path. If
    /// so, the order of grants determines which requests a die waited for, and [`is_behind`](Fabric::is_behind) is not called.
    fn has_exclusive_paths(&self) -> bool {
        false
    }

    /// Returns the wait of `grant`, just given, by cause, if several causes followed each other; `None` if [`Granted::cause`] was the only one.
    fn waited_for(&self, _grant: Grant) -> Option<[Time; Cause::ALL.len()]> {
        None
    }

    /// Returns the time for which the transfer of `grant`, just delivered, was blocked in the network; zero if a granted path is free from end to
    /// end.
    fn stalled(&self, _grant: Grant) -> Time {
        Time::ZERO
    }

    /// Returns whether chips acknowledge the end of a program or an erase by a message.
    fn acknowledges(&self) -> bool {
        false
    }

    /// Sends an acknowledgement at `now` over the held path of `grant`, and returns its arrival time. Only for held paths of fabrics for
    /// which [`acknowledges`](Fabric::acknowledges) holds.
    fn acknowledge_over(&mut self, _grant: Grant, now: Time) -> Time {
        now
    }

    /// Sends the acknowledgement of `die`; [`FabricEvent::Acknowledged`] follows. Only if [`acknowledges`](Fabric::acknowledges) holds.
    fn acknowledge(&mut self, _die: DieId, _id: AcknowledgementId, _now: Time, _outbox: &mut Outbox) {
        unreachable!("this fabric needs no acknowledgements");
    }

    /// Redirects the acknowledgement of the operation that `die` starts by itself to the controller that sent the last command of `by`.
    fn redirect_acknowledgement(&mut self, _die: DieId, _by: DieId) {}

    /// Handles a [`FabricEvent::Wake`] or a [`FabricEvent::Alarm`] that is due.
    fn wake(&mut self, _token: u32, _now: Time, _outbox: &mut Outbox) {
        unreachable!("this fabric asked for no wake-up");
    }

    /// Applies deferred updates of the counters up to `now`, before counters are read during a run.
    fn catch_up(&mut self, _now: Time, _outbox: &mut Outbox) {}

    /// Updates the counters, and the link uses in the outbox, to the end of the run at `now`.
    fn finish(&mut self, _now: Time, _outbox: &mut Outbox) {}

    /// Returns the links of the path of `grant`, which must not have been released.
    fn links_of(&self, grant: Grant) -> Vec<LinkId> {
        self.held().into_iter().filter(|(_, die)| *die == grant.die).map(|(link, _)| link).collect()
    }

    /// Returns the links, controllers and routers.
    fn layout(&self) -> &Layout;

    /// Returns the links that transfers must cross on every route, for a lower bound on run time: their load occupies them equally long in any
    /// order and on any route.
    fn shared_resources(&self) -> Vec<SharedResource> {
        self.layout().shared_resources()
    }

    /// Returns the usage of each link so far, in the order of [`Layout::links`].
    fn usage(&self) -> &[LinkUsage];

    /// Returns the time for which each link was held, if holding exceeds moving; complete after [`Fabric::finish`].
    fn links_held(&self) -> Held<Time> {
        Held::ToMove
    }

    /// Returns the busy time of each controller up to `now`.
    fn controllers_busy(&self, now: Time) -> Vec<Time>;

    /// Returns the links crossed, summed over all transfers.
    fn hops(&self) -> u64;

    /// Returns the counters of the scouts; `None` if the fabric has no scouts.
    fn scouts(&self) -> Option<&venice::Counters> {
        None
    }

    /// Returns the links held now, each with the die that it is held for.
    fn held(&self) -> Vec<(LinkId, DieId)>;
}

/// Properties of an interconnect that are known at compile time.
pub trait Kind: Fabric + Clone {
    /// Whether the fabric schedules events or wake-ups of its own. If not, a drive over it never polls for them.
    const ACTS: bool;
}

impl Kind for AnyFabric {
    const ACTS: bool = true;
}

impl Kind for SharedChannels {
    const ACTS: bool = false;
}

impl Kind for Pnssd {
    const ACTS: bool = false;
}

impl Kind for nossd::Nossd {
    const ACTS: bool = true;
}

impl Kind for venice::Venice {
    const ACTS: bool = true;
}
