//! Compile-time choices of a run. The same code, with the same layout of the state, is compiled once for each set of features.
//!
//! A [`Plain`] drive has one interconnect, known at compile time, any host interface and caches, and interval measurements. An [`Any`] drive has
//! every feature over shared channels. A [`Probed`] drive has every feature over any interconnect, and probes. A run uses the smallest of these
//! compiled variants (instances) that supports its configuration; the choice never changes a result. Each configuration key declares the instance
//! that it needs.

use std::marker::PhantomData;

use crate::fabric::{AnyFabric, SharedChannels, StaticFabric};

/// Features of a run that are fixed at compile time.
pub trait Model: 'static {
    /// Type of the interconnect.
    type Fabric: StaticFabric;
    /// Whether the run supports features that a plain drive lacks: other scheduling and firmware policies, suspension, priorities, dies that depend
    /// on each other, replicas, journals and power cuts.
    const ALL_FEATURES: bool;
    /// Whether probes that receive all notices can be attached. Probes of reads only can be attached to every model.
    const PROBES: bool;
}

/// A drive over the interconnect `F`, without the features of [`Model::ALL_FEATURES`].
#[derive(Clone, Debug)]
pub struct Plain<F>(PhantomData<F>);

impl<F: StaticFabric + 'static> Model for Plain<F> {
    type Fabric = F;
    const ALL_FEATURES: bool = false;
    const PROBES: bool = false;
}

/// A drive with every feature over a bus, pSSD or the ideal interconnect. These are dispatched at compile time, because a run-time dispatch would be
/// noticeable in their cheap transfers.
#[derive(Clone, Debug)]
pub struct Any;

impl Model for Any {
    type Fabric = SharedChannels;
    const ALL_FEATURES: bool = true;
    const PROBES: bool = false;
}

/// A drive with every feature over any interconnect, and with probes. Every drive is first built as this model.
#[derive(Clone, Debug)]
pub struct Probed;

impl Model for Probed {
    type Fabric = AnyFabric;
    const ALL_FEATURES: bool = true;
    const PROBES: bool = true;
}
