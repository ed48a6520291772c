//! How bytes get from a controller to a chip: the seam, and the registry of interconnects.
//!
//! A kind of interconnect is a folder with one static [`Facts`], which says all that the rest of the simulator asks of a kind, and a line
//! in the [registry].

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
/// - A die asks with [`acquire`](Fabric::acquire), at most once for each phase at a time; where there are channels it may ask
///   for the path of its next data before it releases that of the last. The fabric answers through the
///   outbox with exactly one [`Granted`], in the same call when a path is free, in a later call when not.
/// - What moves is decided after the grant (late binding): the holder calls [`send`](Fabric::send) once, or releases the
///   path unused. [`FabricEvent::Delivered`] happens when the last byte arrives: the simulation schedules it when `send`
///   tells the time, the fabric raises it through the outbox when it cannot know yet.
/// - The holder calls [`release`](Fabric::release) exactly once. A path is held only while bytes move, never during tR, tPROG or tBERS,
///   but for `fabric.hold-path`: then a fabric whose [`Facts::held`] builds it is released at the end of the transaction, and until then
///   `send` is called over the same path as often as its die has something to send, for whichever phase. Tokens of its wake-ups are
///   below 2^31.
/// - A fabric that moves in time by itself asks for [`FabricEvent::Wake`] or [`FabricEvent::Alarm`] through the outbox, or keeps [`Outbox::wake_at`] up to date.
/// - A link carries one transfer at a time; each use is told to the outbox when it is over. The fabric is deterministic.
#[enum_dispatch]
#[auto_impl(Box)]
pub trait Fabric: std::fmt::Debug {
    /// Leads scouts by `routing` from now on, before the first request; `false` where there are no scouts.
    fn set_routing(&mut self, _routing: &dyn venice::routing::RoutingAlgorithm) -> bool {
        false
    }

    /// Leads packets by `routing` from now on, before the first request, in place of XY routing; `false` where there are none. `config` and
    /// `geometry` are those that the fabric was built of.
    ///
    /// # Errors
    /// When packets would not arrive by it, or the network could deadlock.
    fn set_packet_routing(
        &mut self,
        _config: &Config,
        _geometry: &Geometry,
        _routing: &dyn nossd::PacketRouting,
    ) -> Result<bool, nossd::PacketRoutingError> {
        Ok(false)
    }

    /// Grants channels or controllers by `policy` from now on, before the first request, in place of `fabric.arbitration`; `false` where
    /// that key does not act.
    fn set_arbiter(&mut self, _policy: std::boxed::Box<dyn ArbitrationPolicy + Send>) -> bool {
        false
    }

    /// The path that is asked for next is for a transaction of `request`, or of none; said before each, where the configuration bounds the
    /// paths of a request.
    fn name_request(&mut self, _request: Option<RequestId>) {}

    /// A die asks for a path for `phase` at `now`.
    fn acquire(&mut self, die: DieId, phase: TransferPhase, now: Time, outbox: &mut Outbox);

    /// A die asks for a path for [`TransferPhase::DataOut`] at `now`, like [`acquire`](Fabric::acquire), and says whose data it is to
    /// a fabric that may have an arbitration which tells.
    fn acquire_for(&mut self, die: DieId, _data: DataOf, now: Time, outbox: &mut Outbox) {
        self.acquire(die, TransferPhase::DataOut, now, outbox);
    }

    /// Whether data can go from the chip of one die to that of another without passing a controller.
    fn copies(&self, _from: DieId, _to: DieId) -> bool {
        false
    }

    /// `from` asks for a path to the page buffer of the chip of `to` at `now`, for [`TransferPhase::Copy`], in place of one for
    /// [`TransferPhase::DataOut`]: a die has one register. The grant is that of `from`. Only where the fabric
    /// [`copies`](Fabric::copies) from one to the other.
    fn acquire_copy(&mut self, _from: DieId, _to: DieId, _now: Time, _outbox: &mut Outbox) {
        unreachable!("this fabric moves nothing from chip to chip");
    }

    /// Moves `payload` over the path of `grant`.
    fn send(&mut self, grant: Grant, payload: Payload, now: Time, outbox: &mut Outbox) -> Sent;

    /// Gives the path of `grant` back; whoever waits for it may be granted it.
    fn release(&mut self, grant: Grant, now: Time, outbox: &mut Outbox);

    /// Whether `is_another` holds for any die whose transfer, or whose turn before, is in the way of what `die` has asked for and not
    /// been granted: it tells dies that work for another request from those that work for the same one. A fabric that does
    /// not know says that it does.
    fn is_behind(&self, _die: DieId, _phase: TransferPhase, _is_another: &mut dyn FnMut(DieId) -> bool) -> bool {
        true
    }

    /// Whether a transfer occupies exactly one path, exclusively, so that a die waits only for earlier transfers over the same path. The order of the
    /// grants then says which requests a die waited for, and [`is_behind`](Fabric::is_behind) is not called.
    fn has_exclusive_paths(&self) -> bool {
        false
    }

    /// How long `grant`, just given, was waited for by what was in the way, where several things may be one after the other;
    /// nothing where it is one, that of [`Granted::cause`].
    fn waited_for(&self, _grant: Grant) -> Option<[Time; Cause::ALL.len()]> {
        None
    }

    /// Time the transfer of `grant`, just delivered, was blocked in the network; nothing where a path that is
    /// granted is free from end to end.
    fn stalled(&self, _grant: Grant) -> Time {
        Time::ZERO
    }

    /// Whether a chip tells the end of a program or an erase by a message of its own.
    fn acknowledges(&self) -> bool {
        false
    }

    /// The message of the same over the path of `grant`, which its die holds, leaves at `now`: gives when it has arrived. Only where a
    /// fabric [`acknowledges`](Fabric::acknowledges) and its paths are held.
    fn tell_end(&mut self, _grant: Grant, now: Time) -> Time {
        now
    }

    /// The die tells the end of an operation; [`FabricEvent::Acknowledged`] follows. Only where
    /// [`acknowledges`](Fabric::acknowledges).
    fn acknowledge(&mut self, _die: DieId, _id: AcknowledgementId, _now: Time, _outbox: &mut Outbox) {
        unreachable!("this fabric needs no acknowledgements");
    }

    /// `die` begins by itself what the last command of `by` asked for: the controller of that command is told the end.
    fn answers_for(&mut self, _die: DieId, _by: DieId) {}

    /// The time of a [`FabricEvent::Wake`] or a [`FabricEvent::Alarm`] has come.
    fn wake(&mut self, _token: u32, _now: Time, _outbox: &mut Outbox) {
        unreachable!("this fabric asked for no wake-up");
    }

    /// Its counters are read at `now`, while the run goes on: does what it has put off until then.
    fn catch_up(&mut self, _now: Time, _outbox: &mut Outbox) {}

    /// The run is over at `now`: brings the counters, and what the outbox was told of links, up to that time.
    fn finish(&mut self, _now: Time, _outbox: &mut Outbox) {}

    /// The links of the path of `grant`, which was granted and not released.
    fn links_of(&self, grant: Grant) -> Vec<LinkId> {
        self.held().into_iter().filter(|(_, die)| *die == grant.die).map(|(link, _)| link).collect()
    }

    /// The links, controllers and routers it is made of.
    fn layout(&self) -> &Layout;

    /// The links that transfers have to pass whichever way they take, for a lower bound on the time of a run: what they carried would
    /// have taken them as long in any order and over any path.
    fn shared_resources(&self) -> Vec<SharedResource> {
        self.layout().shared_resources()
    }

    /// What each link carried so far, one entry a link, in the order of [`Layout::links`].
    fn usage(&self) -> &[LinkUsage];

    /// How long each link was held, where that is longer than something moved over it; complete after [`Fabric::finish`].
    fn links_held(&self) -> Held<Time> {
        Held::ToMove
    }

    /// How long each controller was busy up to `now`.
    fn controllers_busy(&self, now: Time) -> Vec<Time>;

    /// Links crossed by what was sent, summed over the transfers.
    fn hops(&self) -> u64;

    /// What the scouts did so far, where there are any.
    fn scouts(&self) -> Option<&venice::Counters> {
        None
    }

    /// The links that are held now, each with the die it is held for.
    fn held(&self) -> Vec<(LinkId, DieId)>;
}

/// What is known of an interconnect when it is compiled.
pub trait Kind: Fabric + Clone {
    /// Whether it may ask for events or wake-ups of its own. Where not, a drive over it never looks for any.
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
