//! The kinds of interconnects.

use enum_dispatch::enum_dispatch;

use crate::config::{Config, FabricKind, HoldPath};
use crate::flash::geometry::Geometry;

use super::{Fabric, FabricError, Facts, bus, check, hold, ideal, nossd, pnssd, pssd, shared_channels, venice};

/// Properties of all kinds, in the order of the configuration.
pub const KINDS: [&Facts; FabricKind::ALL.len()] =
    [&bus::FACTS, &pssd::FACTS, &pnssd::FACTS, &nossd::FACTS, &venice::FACTS, &ideal::FACTS];

const _: () = {
    let mut names = [""; KINDS.len()];
    let mut at = 0;
    while at < KINDS.len() {
        names[at] = KINDS[at].name;
        at += 1;
    }
    assert!(FabricKind::are_names(&names), "the registry and the choices of `fabric.kind` name other kinds");
};

/// Returns the properties of `kind`.
pub fn facts(kind: FabricKind) -> &'static Facts {
    KINDS[kind as usize]
}

impl Clone for Box<dyn Fabric + Send> {
    /// Panics, because a drive with a custom interconnect is never cloned.
    fn clone(&self) -> Self {
        unreachable!("a drive with an interconnect of the caller's own is not copied")
    }
}

/// An interconnect of any kind. Plain drives are compiled for their kind instead.
#[enum_dispatch(Fabric)]
#[derive(Clone, Debug)]
#[allow(missing_docs, reason = "each implementation carries its documentation")]
#[allow(clippy::large_enum_variant, reason = "a drive has one")]
pub enum AnyFabric {
    SharedChannels(shared_channels::SharedChannels),
    Pnssd(pnssd::Pnssd),
    Nossd(nossd::Nossd),
    Circuits(nossd::Circuits),
    Venice(venice::Venice),
    Held(hold::HeldPaths),
    Custom(Box<dyn Fabric + Send>),
}

impl AnyFabric {
    /// Builds the interconnect that `config` names.
    ///
    /// # Errors
    /// If the interconnect does not fit the rest of the configuration.
    pub fn new(config: &Config, geometry: &Geometry) -> Result<AnyFabric, FabricError> {
        AnyFabric::of_kind(facts(config.fabric.kind), config, geometry)
    }

    /// Builds an interconnect of the kind `facts`, even if `config` names another kind.
    ///
    /// # Errors
    /// If the interconnect does not fit the rest of the configuration.
    pub fn of_kind(facts: &Facts, config: &Config, geometry: &Geometry) -> Result<AnyFabric, FabricError> {
        check(facts, config)?;
        match (config.fabric.hold_path, facts.held) {
            (HoldPath::Never, _) | (_, None) => (facts.build)(config, geometry),
            (rule, Some(build)) => Ok(hold::HeldPaths::new(build(config, geometry)?, rule, geometry.dies()).into()),
        }
    }
}
