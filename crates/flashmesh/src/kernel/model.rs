//! What is compiled into a run: the same code and the same layout of state, instantiated for what a drive uses.
//!
//! A [`Plain`] drive has one of the usual interconnects, known at compile time, and any interface, caches and what is measured of intervals.
//! [`Any`] drive has every feature over channels, [`Probed`] every feature over every interconnect, and probes. The smallest sufficient instance runs;
//! which one it is never changes a result. What a key of the configuration needs is part of its declaration.

use std::marker::PhantomData;

use crate::fabric::{AnyFabric, Kind, SharedChannels};

/// What is resolved when a run is compiled.
pub trait Model: 'static {
    /// The interconnect.
    type Fabric: Kind;
    /// Whether the features are tested for that a plain drive lacks: other scheduling and firmware policies, suspension, priorities,
    /// dies that depend on each other, copies of pages, journals, cuts of the power.
    const ALL_FEATURES: bool;
    /// Whether probes may look on.
    const PROBES: bool;
}

/// A drive whose keys need nothing more, over the interconnect `F`.
#[derive(Clone, Debug)]
pub struct Plain<F>(PhantomData<F>);

impl<F: Kind + 'static> Model for Plain<F> {
    type Fabric = F;
    const ALL_FEATURES: bool = false;
    const PROBES: bool = false;
}

/// Everything a configuration can ask for over a bus, pSSD or the ideal interconnect, where transfers take so little that calls would show.
#[derive(Clone, Debug)]
pub struct Any;

impl Model for Any {
    type Fabric = SharedChannels;
    const ALL_FEATURES: bool = true;
    const PROBES: bool = false;
}

/// Everything a configuration can ask for over any interconnect, and probes: what every drive is built as.
#[derive(Clone, Debug)]
pub struct Probed;

impl Model for Probed {
    type Fabric = AnyFabric;
    const ALL_FEATURES: bool = true;
    const PROBES: bool = true;
}
