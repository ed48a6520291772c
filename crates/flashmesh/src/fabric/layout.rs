//! What an interconnect is made of, for counting wires, power and area.

use serde::Serialize;

/// What a link connects.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum LinkKind {
    /// A controller and several chips that share it.
    Channel,
    /// A controller and one chip, or one router.
    Controller,
    /// Two neighbouring routers.
    Mesh,
    /// A router and the pins of its chip.
    Chip,
}

/// One link.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Link {
    /// What it connects.
    pub kind: LinkKind,
    /// Its name for a person: `channel 3`, `router (1, 2) to (1, 3)`.
    pub name: String,
}

/// The parts of an interconnect.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Layout {
    /// The links, in the order of their numbers.
    pub links: Vec<Link>,
    /// Wires that carry data, over all links.
    pub wires: u32,
    /// Flash controllers.
    pub controllers: u32,
    /// Routers, in the chips or beside them.
    pub routers: u32,
}

impl Layout {
    /// The number of links of `kind`.
    pub fn count(&self, kind: LinkKind) -> usize {
        self.links.iter().filter(|link| link.kind == kind).count()
    }
}
