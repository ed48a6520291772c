//! What is compiled into a run: the same code and the same layout, instantiated for what a drive uses.
//!
//! [`Full`] tests every feature at run time: probes, device and mapping cache, suspension, priorities, any interface, any interconnect.
//! [`Lean`] is the same drive without what a plain run does not use, and with one interconnect and the direct interface resolved when it is
//! compiled. Which of them runs never changes a result: random drives run as both in the tests.

use std::marker::PhantomData;

use crate::fabric::{AnyFabric, Fabric};
use crate::host::interface::{AnyInterface, Direct, Interface};

/// What is resolved when a run is compiled.
pub trait Model: 'static {
    /// The interconnect.
    type Fabric: Fabric;
    /// The interface to the host.
    type Interface: Interface;
    /// Whether features beyond those of a plain drive are tested for at run time.
    const FULL: bool;
}

/// Everything a configuration can ask for.
#[derive(Debug)]
pub struct Full;

impl Model for Full {
    type Fabric = AnyFabric;
    type Interface = AnyInterface;
    const FULL: bool = true;
}

/// A plain drive over the interconnect `F`.
#[derive(Debug)]
pub struct Lean<F>(PhantomData<F>);

impl<F: Fabric + 'static> Model for Lean<F> {
    type Fabric = F;
    type Interface = Direct;
    const FULL: bool = false;
}
