//! How bytes get from a controller to a chip: the seam, and the registry of interconnects.

pub mod bus;
mod channels;
pub mod ideal;
mod usage;

use enum_dispatch::enum_dispatch;

use crate::config;
use crate::flash::geometry::Geometry;
use crate::ids::{DieId, PathId};
use crate::units::{Bytes, Time};

pub use usage::LinkUsage;

/// What a die wants a path for; as wide as the ids beside it, so that a grant has no padding to be copied around.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum Leg {
    /// To receive its next command, with the data of a program.
    Command,
    /// To send the data of a read.
    DataOut,
}

/// A path was granted to a die.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Grant {
    /// The die that asked.
    pub die: DieId,
    /// What it asked for.
    pub leg: Leg,
    /// The path it holds until it is released.
    pub path: PathId,
}

/// What moves over a path.
#[derive(Clone, Copy, Debug)]
pub struct Payload {
    /// Time of command and address; nothing when data leaves.
    pub command: Time,
    /// User data and the metadata that travels with it.
    pub bytes: Bytes,
}

/// An event a fabric asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FabricEvent {
    /// What was sent over the path has arrived.
    Delivered(Grant),
}

/// What a fabric answers.
#[derive(Debug, Default)]
pub struct Outbox {
    /// Paths granted now, in order.
    pub grants: Vec<Grant>,
}

/// An interconnect between controllers and chips.
///
/// # Contract
/// - A die asks with [`acquire`](Fabric::acquire), at most once for each leg at a time. The fabric answers through the
///   outbox with exactly one [`Grant`], in the same call when a path is free, in a later call when not.
/// - What moves is decided after the grant (late binding): the holder calls [`send`](Fabric::send) once, or releases the
///   path unused. The answer to `send` is when the last byte arrives; [`FabricEvent::Delivered`] happens then.
/// - The holder calls [`release`](Fabric::release) exactly once. A path is held only while bytes move (models: one flash
///   operation), never during tR, tPROG or tBERS.
/// - A path carries one transfer at a time; the fabric is deterministic.
#[enum_dispatch]
pub trait Fabric {
    /// A die asks for a path for `leg` at `now`.
    fn acquire(&mut self, die: DieId, leg: Leg, now: Time, outbox: &mut Outbox);

    /// Moves `payload` over the path of `grant`; gives when the last byte arrives.
    fn send(&mut self, grant: Grant, payload: Payload, now: Time) -> Time;

    /// Gives the path of `grant` back; whoever waits for it may be granted it.
    fn release(&mut self, grant: Grant, now: Time, outbox: &mut Outbox);

    /// What each link carried so far, one entry a link, in the order of their numbers.
    fn usage(&self) -> &[LinkUsage];
}

/// The interconnects, one line each.
#[enum_dispatch(Fabric)]
#[derive(Debug)]
#[allow(missing_docs, reason = "each implementation carries its documentation")]
pub enum AnyFabric {
    Bus(bus::Bus),
    Ideal(ideal::Ideal),
}

impl AnyFabric {
    /// Builds the interconnect that `config` names.
    pub fn new(config: &config::Fabric, geometry: &Geometry) -> AnyFabric {
        match config.kind {
            config::FabricKind::Bus => AnyFabric::Bus(bus::Bus::new(config, geometry)),
            config::FabricKind::Ideal => AnyFabric::Ideal(ideal::Ideal::new(config, geometry)),
        }
    }
}
