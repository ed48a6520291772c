//! What is compiled into a run: the same code and the same layout, instantiated for what a drive uses.
//!
//! [`Probed`] tests every feature at run time: probes, device and mapping cache, suspension, priorities, any interface. [`Unprobed`] is the same
//! without probes. [`Equipped`] is a drive whose firmware and dies do nothing beyond those of a plain one, with caches, any interface, and what is
//! measured beside the whole run; [`Scheduled`] is one with any scheduling policy. [`Lean`] is the same drive without what a plain run does not use, and with the direct interface resolved
//! when it is compiled; [`Queued`] is a plain drive behind NVMe queues, with what drives like those of MQSim use. All of them
//! have their interconnect resolved, but for the seldom used, which [`AnyFabric`] tells apart at run time. Which of them runs
//! never changes a result: random drives run as both in the tests.

use std::marker::PhantomData;

use crate::fabric::{AnyFabric, Kind};
use crate::host::interface::{AnyInterface, Direct, Interface, Nvme};

/// What is resolved when a run is compiled.
pub trait Model: 'static {
    /// The interconnect.
    type Fabric: Kind;
    /// The interface to the host.
    type Interface: Interface;
    /// Whether features beyond those of a plain drive are tested for at run time: firmware policies, suspension, priorities, dies that depend on
    /// each other, copies of pages, journals, cuts of the power.
    const FULL: bool = false;
    /// Whether the scheduling policy may be another one than out-of-order, reads first.
    const SCHEDULES: bool = Self::FULL;
    /// Whether probes may look on.
    const PROBED: bool = false;
    /// Whether there may be a device cache, or a cache of the map.
    const CACHES: bool = Self::FULL;
    /// Whether anything may be measured beside the whole run: intervals of it, and what analyses of reads are told.
    const MEASURES: bool = Self::FULL;
    /// Whether writes may get their pages before their turn (`ftl.write-binding = "early"`).
    const PREALLOCATES: bool = Self::FULL;
    /// Whether data that leaves the dies may have an order beside that of asking (`fabric.arbitration`).
    const RANKS_DATA: bool = Self::FULL;
}

/// Everything a configuration can ask for, over the interconnect `F`, and probes.
#[derive(Debug)]
pub struct Probed<F>(PhantomData<F>);

impl<F: Kind + 'static> Model for Probed<F> {
    type Fabric = F;
    type Interface = AnyInterface;
    const FULL: bool = true;
    const PROBED: bool = true;
}

/// Everything a configuration can ask for, and probes: what every drive is built as.
pub type Full = Probed<AnyFabric>;

/// Everything a configuration can ask for, over the interconnect `F`.
#[derive(Debug)]
pub struct Unprobed<F>(PhantomData<F>);

impl<F: Kind + 'static> Model for Unprobed<F> {
    type Fabric = F;
    type Interface = AnyInterface;
    const FULL: bool = true;
}

/// A drive with caches over the interconnect `F`, which is plain in all else but its scheduling policy, if it `SCHEDULES`.
#[derive(Debug)]
pub struct Equipped<F, const SCHEDULES: bool = false>(PhantomData<F>);

/// A drive with caches and any scheduling policy over the interconnect `F`, which is plain in all else.
pub type Scheduled<F> = Equipped<F, true>;

impl<F: Kind + 'static, const SCHEDULES: bool> Model for Equipped<F, SCHEDULES> {
    type Fabric = F;
    type Interface = AnyInterface;
    const SCHEDULES: bool = SCHEDULES;
    const CACHES: bool = true;
    const MEASURES: bool = true;
    const PREALLOCATES: bool = true;
    const RANKS_DATA: bool = true;
}

/// A plain drive over the interconnect `F`, behind NVMe queues.
#[derive(Debug)]
pub struct Queued<F>(PhantomData<F>);

impl<F: Kind + 'static> Model for Queued<F> {
    type Fabric = F;
    type Interface = Nvme;
    const PREALLOCATES: bool = true;
    const RANKS_DATA: bool = true;
}

/// A plain drive over the interconnect `F`.
#[derive(Debug)]
pub struct Lean<F>(PhantomData<F>);

impl<F: Kind + 'static> Model for Lean<F> {
    type Fabric = F;
    type Interface = Direct;
}
