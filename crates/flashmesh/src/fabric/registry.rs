//! The kinds of interconnects, one line each.

use enum_dispatch::enum_dispatch;

use crate::config::{Config, FabricKind};
use crate::flash::geometry::Geometry;

use super::{
    Fabric, FabricError, Facts, bus, check, held_channels, held_paths, ideal, nossd, pnssd, pssd, shared_channels,
    venice,
};

/// The kinds, in the order in which the configuration lists them.
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

/// What is known of a kind.
pub fn facts(kind: FabricKind) -> &'static Facts {
    KINDS[kind as usize]
}

/// An interconnect; what a plain drive runs over is known when that is compiled.
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
    Custom(Box<dyn Fabric + Send>),
}

impl AnyFabric {
    /// Builds the interconnect that `config` names.
    ///
    /// # Errors
    /// When the interconnect does not fit the rest of the configuration.
    pub fn new(config: &Config, geometry: &Geometry) -> Result<AnyFabric, FabricError> {
        AnyFabric::of_kind(facts(config.fabric.kind), config, geometry)
    }

    /// Builds an interconnect of the kind `facts`, whatever `config` names.
    ///
    /// # Errors
    /// When the interconnect does not fit the rest of the configuration.
    pub fn of_kind(facts: &Facts, config: &Config, geometry: &Geometry) -> Result<AnyFabric, FabricError> {
        check(facts, config)?;
        let build = facts.held.filter(|_| config.fabric.hold_path).unwrap_or(facts.build);
        build(config, geometry)
    }
}
