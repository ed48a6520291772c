//! What an interconnect is made of, for counting wires, power and area, and for what bounds a run.

use super::shared_channels::CHANNEL_WIRES;
use crate::fabric::LinkUsage;
use crate::ids::LinkId;
use crate::names;
use crate::units::Bytes;

names! {
    /// What a link connects.
    LinkKind {
        /// A controller and several chips that share it.
        Channel = "channel",
        /// A controller and one chip, or one router.
        Controller = "controller",
        /// Two neighbouring routers.
        Mesh = "mesh",
        /// A router and the pins of its chip.
        Chip = "chip",
    }
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

/// Links that transfers have to pass, whichever way they take: what a lower bound on the time of a run rests on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SharedResource {
    /// What they lead to.
    pub part: Part,
    /// The links.
    pub links: Vec<LinkId>,
    /// How many of them can carry something at once.
    pub at_once: u32,
}

/// What the links of a shared resource lead to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// The chips of one row: their channel, or all links that lead there.
    Row,
    /// One chip.
    Chip,
    /// Where routing has it so: one link between routers.
    Mesh,
    /// All chips, by way of the controllers.
    Controllers,
}

impl LinkKind {
    /// What a person calls several of them.
    pub const fn plural(self) -> &'static str {
        match self {
            LinkKind::Channel => "channels",
            LinkKind::Controller => "controller links",
            LinkKind::Mesh => "mesh links",
            LinkKind::Chip => "chip links",
        }
    }

    /// Whether it leads to a controller: a transfer between a controller and a chip crosses one such link.
    pub const fn leads_to_controller(self) -> bool {
        matches!(self, LinkKind::Channel | LinkKind::Controller)
    }
}

impl Layout {
    /// The number of links of `kind`.
    pub fn count(&self, kind: LinkKind) -> usize {
        self.links.iter().filter(|link| link.kind == kind).count()
    }

    /// The links of `kind`, by their numbers.
    pub fn of_kind(&self, kind: LinkKind) -> impl Iterator<Item = LinkId> {
        let numbered = self.links.iter().zip(0..).filter(move |(link, _)| link.kind == kind);
        numbered.map(|(_, number)| LinkId(number))
    }

    /// What crossed the pins of the chips: links that lead to one chip, or else all links there are, carry each transfer once. What went
    /// from chip to chip crossed the pins of both.
    pub fn bytes_of_chips(&self, usage: &[LinkUsage]) -> Bytes {
        let has_chip_links = self.count(LinkKind::Chip) > 0;
        let links = self.links.iter().zip(usage).filter(|(link, _)| !has_chip_links || link.kind == LinkKind::Chip);
        let across = if has_chip_links { 1 } else { 2 };
        links.map(|(_, usage)| usage).map(|link| link.bytes_in + link.bytes_out + link.bytes_across * across).sum()
    }

    /// How wide the links are, 1 being the 8 wires of a channel of the bus.
    pub fn width(&self) -> f64 {
        if self.links.is_empty() {
            1.0
        } else {
            f64::from(self.wires) / (f64::from(CHANNEL_WIRES) * self.links.len() as f64)
        }
    }

    /// The shared resources of an interconnect in which a chip link leads to one chip, and the controller links share all transfers.
    pub fn shared_resources(&self) -> Vec<SharedResource> {
        let alone = |link: LinkId| SharedResource { part: Part::Chip, links: vec![link], at_once: 1 };
        let mut shared_resources: Vec<SharedResource> = self.of_kind(LinkKind::Chip).map(alone).collect();
        let links: Vec<LinkId> = self.of_kind(LinkKind::Controller).collect();
        if !links.is_empty() {
            shared_resources.push(SharedResource { part: Part::Controllers, at_once: links.len() as u32, links });
        }
        shared_resources
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two rows of one chip: a link at each controller, one between the routers, one at each chip.
    fn mesh() -> Layout {
        use LinkKind::{Chip, Controller, Mesh};
        let links = [Controller, Controller, Mesh, Chip, Chip].map(|kind| Link { kind, name: String::new() });
        Layout { links: links.into(), wires: 40, controllers: 2, routers: 2 }
    }

    #[test]
    fn chips_are_passed_each_by_its_own_link_and_controllers_by_any() {
        let shared_resources = mesh().shared_resources();
        let expected = [(Part::Chip, vec![3], 1), (Part::Chip, vec![4], 1), (Part::Controllers, vec![0, 1], 2)];
        let found: Vec<_> = shared_resources
            .iter()
            .map(|SharedResource { part, links, at_once }| (*part, links.iter().map(|link| link.0).collect(), *at_once))
            .collect();
        assert_eq!(found, expected);
    }

    #[test]
    fn width_is_relative_to_a_channel_of_the_bus() {
        assert_eq!(mesh().width(), 1.0);
        assert_eq!(Layout { wires: 80, ..mesh() }.width(), 2.0);
    }
}
