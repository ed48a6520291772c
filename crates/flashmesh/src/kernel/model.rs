//! Compile-time choices of a run: the same code over the same state layout, instantiated for the features that a drive uses.
//!
//! A [`Plain`] drive has one interconnect, known at compile time; any host interface and caches; and interval measurements. An [`Any`] drive has
//! every feature over shared channels. A [`Probed`] drive has every feature over any interconnect, and probes. The smallest sufficient instance runs;
//! the choice never changes a result. The declaration of each key of the configuration names the instance that the key needs.

use std::marker::PhantomData;

use crate::fabric::{AnyFabric, Kind, SharedChannels};

/// The choices made when a run is compiled.
pub trait Model: 'static {
    /// Type of the interconnect.
    type Fabric: Kind;
    /// Whether the run checks for features that a plain drive lacks: other scheduling and firmware policies, suspension, priorities, dies that depend
    /// on each other, replicas, journals, power cuts.
    const ALL_FEATURES: bool;
    /// Whether probes can be attached.
    const PROBES: bool;
}

/// A drive without any of [`Model::ALL_FEATURES`], over the interconnect `F`.
#[derive(Clone, Debug)]
pub struct Plain<F>(PhantomData<F>);

impl<F: Kind + 'static> Model for Plain<F> {
    type Fabric = F;
    const ALL_FEATURES: bool = false;
    const PROBES: bool = false;
}

/// A drive with every feature over a bus, pSSD or the ideal interconnect. Transfers over these are so cheap to simulate that dispatch by interconnect
/// would be measurable.
#[derive(Clone, Debug)]
pub struct Any;

impl Model for Any {
    type Fabric = SharedChannels;
    const ALL_FEATURES: bool = true;
    const PROBES: bool = false;
}

/// A drive with every feature over any interconnect, and probes. Every drive is built as this model.
#[derive(Clone, Debug)]
pub struct Probed;

impl Model for Probed {
    type Fabric = AnyFabric;
    const ALL_FEATURES: bool = true;
    const PROBES: bool = true;
}
