//! The list of all kinds of interconnects, and an enum over their implementations.

use enum_dispatch::enum_dispatch;

use crate::config::{Config, FabricKind, HoldPath};
use crate::flash::geometry::Geometry;

use super::{
    Fabric, FabricError, FabricInfo, SharedChannels, bus, check, held_paths, ideal, nossd, pnssd, pssd, venice,
};

/// Properties of all kinds of interconnects, in the order of [`FabricKind`].
pub const KINDS: [&FabricInfo; FabricKind::ALL.len()] =
    [&bus::INFO, &pssd::INFO, &pnssd::INFO, &nossd::INFO, &venice::INFO, &ideal::INFO];

const _: () = {
    let mut names = [""; KINDS.len()];
    let mut at = 0;
    while at < KINDS.len() {
        names[at] = KINDS[at].name;
        at += 1;
    }
    assert!(FabricKind::are_names(&names), "the registry and the choices of `fabric.kind` name other kinds");
};

/// Returns the properties of an interconnect of `kind`.
pub fn info_of(kind: FabricKind) -> &'static FabricInfo {
    KINDS[kind as usize]
}

impl Clone for Box<dyn Fabric + Send> {
    /// Panics. Needed for the derived clone of [`AnyFabric`], but a drive with a custom interconnect is never cloned.
    fn clone(&self) -> Self {
        unreachable!("a drive with an interconnect of the caller's own is not copied")
    }
}

/// An interconnect of any kind, dispatched at run time. Most drives run in a simulation compiled for the concrete type instead.
#[enum_dispatch(Fabric)]
#[derive(Clone, Debug)]
#[allow(missing_docs, reason = "each implementation carries its documentation")]
#[allow(clippy::large_enum_variant, reason = "a drive has one")]
pub enum AnyFabric {
    SharedChannels(SharedChannels),
    Pnssd(pnssd::Pnssd),
    Nossd(nossd::Nossd),
    Circuits(nossd::CircuitSwitchedNossd),
    Venice(venice::Venice),
    Held(held_paths::HeldPaths),
    Custom(Box<dyn Fabric + Send>),
}

impl AnyFabric {
    /// Builds the interconnect of the kind that `fabric.kind` of `config` names.
    ///
    /// # Errors
    /// If the interconnect does not fit the rest of the configuration. The error has the reason and the keys to change.
    pub fn new(config: &Config, geometry: &Geometry) -> Result<AnyFabric, FabricError> {
        AnyFabric::build_kind(info_of(config.fabric.kind), config, geometry)
    }

    /// Builds an interconnect of the kind `info`, even if `fabric.kind` of `config` names another kind. If the kind supports held paths, the
    /// transactions that `fabric.hold-path` selects hold their path until they end.
    ///
    /// # Errors
    /// If the interconnect does not fit the rest of the configuration. The error has the reason and the keys to change.
    pub fn build_kind(info: &FabricInfo, config: &Config, geometry: &Geometry) -> Result<AnyFabric, FabricError> {
        check(info, config)?;
        match (config.fabric.hold_path, info.build_held) {
            (HoldPath::Never, _) | (_, None) => (info.build)(config, geometry),
            (rule, Some(build)) => {
                Ok(held_paths::HeldPaths::new(build(config, geometry)?, rule, geometry.dies()).into())
            }
        }
    }
}
