//! How bytes get from a controller to a chip: the seam, and the registry of interconnects.

mod arbiter;
mod cause;
mod channels;
mod custom;
mod framing;
mod held_channels;
mod held_paths;
mod holding;
pub mod layout;
pub mod nossd;
mod outbox;
mod pnssd;
mod shared_channels;
mod usage;
pub mod venice;
pub mod wormhole;

use enum_dispatch::enum_dispatch;

use crate::config::{self, Config};
use crate::flash::die::OperationKind;
use crate::flash::geometry::Geometry;
use crate::ids::{AcknowledgementId, DieId, LinkId, PathId};
use crate::units::{Bytes, Time};

pub use crate::error::FabricError;
pub use cause::{Cause, Causes};
pub use custom::Custom;
pub use framing::LISTED_PAGE;
use held_paths::HeldPaths;
pub use layout::{Addition, Layout, Passage};
pub use outbox::{Granted, LinkUse, Outbox, ScoutMove, ScoutStep, Search, Verdict};
pub use pnssd::Pnssd;
pub use shared_channels::SharedChannels;
pub use usage::{Held, LinkUsage};

/// What a die wants a path for; as wide as the ids beside it, so that a grant has no padding to be copied around.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u32)]
pub enum TransferPhase {
    /// To receive its next command, with the data of a program.
    Command,
    /// To send the data of a read to a controller.
    DataOut,
    /// To send the data of a read to another chip.
    Copy,
}

impl TransferPhase {
    /// All phases, by their index.
    pub const ALL: [TransferPhase; 3] = [TransferPhase::Command, TransferPhase::DataOut, TransferPhase::Copy];

    /// The position in a table by phase.
    #[inline]
    pub const fn index(self) -> usize {
        self as usize
    }
}

/// Whose data leaves a die, in the order of the arbitrations that tell them apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum DataOf {
    /// Pages of the mapping table.
    Mapping,
    /// A request.
    Request,
    /// Garbage collection or wear levelling.
    Collection,
}

/// A path was granted to a die.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Grant {
    /// The die that asked.
    pub die: DieId,
    /// What it asked for.
    pub phase: TransferPhase,
    /// The path it holds until it is released. Paths count from 0: oracles keep a table of them.
    pub path: PathId,
}

/// What a transfer is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Message {
    /// A command that makes the die read pages, whose data will leave it later.
    Read,
    /// A command with the data to program.
    Program,
    /// A command to erase blocks.
    Erase,
    /// A command to move pages inside their planes.
    Copyback,
    /// The data of one page that was read.
    Data,
    /// The same on its way to the page buffer of another chip.
    Copy,
}

impl Message {
    /// The command for an operation.
    #[inline]
    pub fn commanding(operation: OperationKind) -> Message {
        match operation {
            OperationKind::Read => Message::Read,
            OperationKind::Program => Message::Program,
            OperationKind::Erase => Message::Erase,
            OperationKind::Copyback => Message::Copyback,
        }
    }
}

/// What moves over a path.
#[derive(Clone, Copy, Debug)]
pub struct Payload {
    /// What it is.
    pub message: Message,
    /// The planes that a command addresses, or whose data this is.
    pub planes: u32,
    /// Time of command and address on a shared channel; nothing when data leaves.
    pub command: Time,
    /// User data and the metadata that travels with it.
    pub bytes: Bytes,
}

/// What was sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sent {
    /// When the last byte arrives, where that is known now; else the fabric raises [`FabricEvent::Delivered`] by itself.
    pub delivered: Option<Time>,
    /// How long this transfer takes at least, over the shortest path and with nothing in its way.
    pub least: Time,
}

/// An event a fabric asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FabricEvent {
    /// What was sent over the path has arrived.
    Delivered(Grant),
    /// An acknowledgement has reached a controller.
    Acknowledged(AcknowledgementId),
    /// Time for [`Fabric::wake`], with this token.
    Wake(u32),
    /// The same, in place of the last one that has not come: a fabric has one alarm, which it may set to another time. An alarm that was set
    /// to a time before keeps its turn among the events of that time. One that is set far ahead may still come when it has been set anew.
    Alarm(u32),
}

/// An interconnect between controllers and chips.
///
/// # Contract
/// - A die asks with [`acquire`](Fabric::acquire), at most once for each phase at a time; where there are channels it may ask
///   for the path of its next data before it releases that of the last. The fabric answers through the
///   outbox with exactly one [`Granted`], in the same call when a path is free, in a later call when not.
/// - What moves is decided after the grant (late binding): the holder calls [`send`](Fabric::send) once, or releases the
///   path unused. [`FabricEvent::Delivered`] happens when the last byte arrives: the simulation schedules it when `send`
///   tells the time, the fabric raises it through the outbox when it cannot know yet.
/// - The holder calls [`release`](Fabric::release) exactly once. A path is held only while bytes move (models: one flash
///   operation), never during tR, tPROG or tBERS, unless an option of the fabric says so.
/// - A fabric that moves in time by itself asks for [`FabricEvent::Wake`] or [`FabricEvent::Alarm`] through the outbox, or keeps [`Outbox::wake_at`] up to date.
/// - A link carries one transfer at a time; each use is told to the outbox when it is over. The fabric is deterministic.
#[enum_dispatch]
pub trait Fabric {
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

    /// The run is over at `now`: brings the counters, and what the outbox was told of links, up to that time.
    fn finish(&mut self, _now: Time, _outbox: &mut Outbox) {}

    /// The links, controllers and routers it is made of.
    fn layout(&self) -> &Layout;

    /// The links that transfers have to pass whichever way they take, for a lower bound on the time of a run: what they carried would
    /// have taken them as long in any order and over any path.
    fn passages(&self) -> Vec<Passage> {
        self.layout().passages()
    }

    /// What it adds to the area of a drive beside its links.
    fn addition(&self) -> Addition {
        if self.layout().routers > 0 { Addition::RoutersBeside } else { Addition::Nothing }
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
pub trait Kind: Fabric {
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

/// The interconnects, one line each.
#[enum_dispatch(Fabric)]
#[derive(Debug)]
#[allow(missing_docs, reason = "each implementation carries its documentation")]
#[allow(clippy::large_enum_variant, reason = "a drive has one")]
pub enum AnyFabric {
    SharedChannels(shared_channels::SharedChannels),
    HeldChannels(held_channels::HeldChannels),
    Pnssd(pnssd::Pnssd),
    HeldPnssd(held_paths::HeldPaths<pnssd::held::Channels>),
    HeldNossd(held_paths::HeldPaths<nossd::held::Circuits>),
    Nossd(nossd::Nossd),
    Venice(venice::Venice),
    Custom(custom::Custom),
}

impl AnyFabric {
    /// Builds the interconnect that `config` names.
    ///
    /// # Errors
    /// When the interconnect does not fit the rest of the configuration.
    pub fn new(config: &Config, geometry: &Geometry) -> Result<AnyFabric, FabricError> {
        check(config)?;
        if config.fabric.hold_path {
            return Ok(match config.fabric.kind {
                config::FabricKind::Pnssd => AnyFabric::HeldPnssd(HeldPaths::pnssd(config, geometry)),
                config::FabricKind::Nossd => AnyFabric::HeldNossd(HeldPaths::nossd(config, geometry)?),
                _ => AnyFabric::HeldChannels(held_channels::HeldChannels::new(config, geometry)),
            });
        }
        Ok(match config.fabric.kind {
            config::FabricKind::Bus => AnyFabric::SharedChannels(SharedChannels::bus(config, geometry)),
            config::FabricKind::Pssd => AnyFabric::SharedChannels(SharedChannels::packetized(config, geometry)),
            config::FabricKind::Pnssd => AnyFabric::Pnssd(Pnssd::new(config, geometry)),
            config::FabricKind::Nossd => AnyFabric::Nossd(nossd::Nossd::new(config, geometry)?),
            config::FabricKind::Ideal => AnyFabric::SharedChannels(SharedChannels::private(config, geometry)),
            config::FabricKind::Venice => AnyFabric::Venice(venice::Venice::new(config, geometry)),
        })
    }
}

/// Whether the interconnect that `config` names fits the rest of it.
///
/// # Errors
/// When it does not: why, and which keys to look at.
pub fn check(config: &Config) -> Result<(), FabricError> {
    if config.gc.r#move == config::Move::Clean && config.fabric.kind != config::FabricKind::Nossd {
        return Err(FabricError {
            keys: vec!["gc.move", "fabric.kind"],
            message: format!(
                "gc.move = `clean` needs fabric.kind = nossd, whose chips have a controller of their own, found {}",
                config.fabric.kind
            ),
            help: "choose it, or gc.move = \"through-controller\"".to_owned(),
        });
    }
    if config.gc.r#move == config::Move::ChipToChip && !links_chips(config.fabric.kind) {
        let able: Vec<&str> =
            config::FabricKind::ALL.iter().filter(|kind| links_chips(**kind)).map(|kind| kind.name()).collect();
        return Err(FabricError {
            keys: vec!["gc.move", "fabric.kind"],
            message: format!(
                "gc.move = `chip-to-chip` needs fabric.kind = {}, found {}",
                able.join(" or "),
                config.fabric.kind
            ),
            help: "choose one of them, or gc.move = \"through-controller\"".to_owned(),
        });
    }
    if config.fabric.hold_path && config.suspension() != config::Suspension::Off {
        let key = if config.ftl.policy == config::FirmwarePolicy::Mbm { "mbm.suspension" } else { "flash.suspension" };
        return Err(FabricError {
            keys: vec!["fabric.hold-path", key],
            message: format!(
                "fabric.hold-path keeps the path for as long as the array works, and {key} = {} needs it for the read that suspends the array",
                config.suspension()
            ),
            help: format!("set {key} = \"off\", or fabric.hold-path = false"),
        });
    }
    if config.fabric.hold_path && config.gc.r#move.leaves_the_chip() {
        return Err(FabricError {
            keys: vec!["fabric.hold-path", "gc.move"],
            message: format!(
                "fabric.hold-path keeps the path to a chip for its controller, and gc.move = {} needs one to another chip",
                config.gc.r#move
            ),
            help: "set gc.move to \"through-controller\", or fabric.hold-path to false".to_owned(),
        });
    }
    if config.fabric.hold_path && config.fabric.kind == config::FabricKind::Pnssd {
        held_pnssd(config)?;
    }
    if config.fabric.hold_path && matches!(config.fabric.kind, config::FabricKind::Venice | config::FabricKind::Ideal) {
        return Err(FabricError {
            keys: vec!["fabric.hold-path", "fabric.kind"],
            message: format!(
                "fabric.hold-path goes with fabric.kind = bus, pssd, pnssd or nossd, found {}",
                config.fabric.kind
            ),
            help: "choose one of them, or set fabric.hold-path to false; a circuit of Venice is held by venice.hold-circuit"
                .to_owned(),
        });
    }
    match config.fabric.kind {
        config::FabricKind::Bus | config::FabricKind::Pssd | config::FabricKind::Venice | config::FabricKind::Ideal => {
            Ok(())
        }
        config::FabricKind::Pnssd => pnssd::check(config),
        config::FabricKind::Nossd => nossd::check(config),
    }
}

/// Whether the channels of pnSSD can be held as `config` has them.
fn held_pnssd(config: &Config) -> Result<(), FabricError> {
    if config.pnssd.split_page {
        return Err(FabricError {
            keys: vec!["pnssd.split-page", "fabric.hold-path"],
            message: "fabric.hold-path keeps one channel for a die, and pnssd.split-page moves its data over two"
                .to_owned(),
            help: "set pnssd.split-page or fabric.hold-path to false".to_owned(),
        });
    }
    let arbitration = config.fabric.arbitration;
    if matches!(arbitration, config::Arbitration::RoundRobin | config::Arbitration::DataFirstRoundRobin) {
        return Err(FabricError {
            keys: vec!["fabric.arbitration", "fabric.hold-path"],
            message: format!(
                "dies wait for held channels of pnssd in the order of asking, and fabric.arbitration is `{arbitration}`"
            ),
            help: "leave fabric.arbitration away, or set fabric.hold-path to false".to_owned(),
        });
    }
    Ok(())
}

/// Whether an interconnect has channels that wait for dies by `fabric.arbitration`.
pub fn has_channels(kind: config::FabricKind) -> bool {
    match kind {
        config::FabricKind::Bus | config::FabricKind::Pssd | config::FabricKind::Pnssd | config::FabricKind::Ideal => {
            true
        }
        config::FabricKind::Nossd | config::FabricKind::Venice => false,
    }
}

/// Whether an interconnect can move data from chip to chip without a controller.
fn links_chips(kind: config::FabricKind) -> bool {
    match kind {
        config::FabricKind::Pnssd | config::FabricKind::Nossd => true,
        config::FabricKind::Bus | config::FabricKind::Pssd | config::FabricKind::Venice | config::FabricKind::Ideal => {
            false
        }
    }
}

/// What the chips need for every packet that they decode or frame, beside the array; nothing where there are no packets.
pub fn on_die_controller_time(config: &Config) -> Time {
    match config.fabric.kind {
        config::FabricKind::Pssd | config::FabricKind::Pnssd => config.packets.on_die_controller_time,
        config::FabricKind::Bus
        | config::FabricKind::Nossd
        | config::FabricKind::Venice
        | config::FabricKind::Ideal => Time::ZERO,
    }
}
