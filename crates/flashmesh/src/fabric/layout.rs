//! Parts of an interconnect: the basis of wire counts, power, area and bottleneck bounds.

use super::shared_channels::CHANNEL_WIRES;
use crate::fabric::LinkUsage;
use crate::ids::LinkId;
use crate::names;
use crate::units::Bytes;

names! {
    /// Kind of a link, by its end points.
    LinkKind {
        /// A controller and several chips that share the link.
        Channel = "channel",
        /// A controller and one chip or router.
        Controller = "controller",
        /// Two neighbouring routers.
        Mesh = "mesh",
        /// A router and the pins of its chip.
        Chip = "chip",
    }
}

/// A link of an interconnect.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Link {
    /// Kind of the link.
    pub kind: LinkKind,
    /// Display name, such as `channel 3` or `router (1, 2) to (1, 3)`.
    pub name: String,
}

/// The parts of an interconnect.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Layout {
    /// Links, indexed by [`LinkId`].
    pub links: Vec<Link>,
    /// Data wires, summed over all links.
    pub wires: u32,
    /// Number of flash controllers.
    pub controllers: u32,
    /// Number of routers, inside the chips or next to them.
    pub routers: u32,
}

/// Links that transfers must cross on every route: the basis of a lower bound on run time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SharedResource {
    /// Destination of the transfers that cross the links.
    pub part: Part,
    /// Links that share the transfers.
    pub links: Vec<LinkId>,
    /// Number of the links that can carry data at the same time.
    pub at_once: u32,
}

/// Destination that a shared resource leads to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// The chips of one row: their channel, or all links into the row.
    Row,
    /// A single chip.
    Chip,
    /// One link between routers that the routing algorithm makes unavoidable.
    Mesh,
    /// All chips, through the controllers.
    Controllers,
}

impl LinkKind {
    /// Returns the display name in the plural.
    pub const fn plural(self) -> &'static str {
        match self {
            LinkKind::Channel => "channels",
            LinkKind::Controller => "controller links",
            LinkKind::Mesh => "mesh links",
            LinkKind::Chip => "chip links",
        }
    }

    /// Returns whether the link ends at a controller. A transfer between a controller and a chip crosses exactly one such link.
    pub const fn leads_to_controller(self) -> bool {
        matches!(self, LinkKind::Channel | LinkKind::Controller)
    }
}

impl Layout {
    /// Returns the number of links of `kind`.
    pub fn count(&self, kind: LinkKind) -> usize {
        self.links.iter().filter(|link| link.kind == kind).count()
    }

    /// Returns the links of `kind`, in ascending order.
    pub fn of_kind(&self, kind: LinkKind) -> impl Iterator<Item = LinkId> {
        let numbered = self.links.iter().zip(0..).filter(move |(link, _)| link.kind == kind);
        numbered.map(|(_, number)| LinkId(number))
    }

    /// Returns the bytes that crossed the pins of the chips. If there are chip links, only those count, and carry each transfer once; otherwise all
    /// links count. A chip-to-chip transfer crosses the pins of both chips.
    pub fn bytes_of_chips(&self, usage: &[LinkUsage]) -> Bytes {
        let has_chip_links = self.count(LinkKind::Chip) > 0;
        let links = self.links.iter().zip(usage).filter(|(link, _)| !has_chip_links || link.kind == LinkKind::Chip);
        let across = if has_chip_links { 1 } else { 2 };
        links.map(|(_, usage)| usage).map(|link| link.bytes_in + link.bytes_out + link.bytes_across * across).sum()
    }

    /// Returns the mean width of a link, relative to the 8 wires of a bus channel.
    pub fn width(&self) -> f64 {
        if self.links.is_empty() {
            1.0
        } else {
            f64::from(self.wires) / (f64::from(CHANNEL_WIRES) * self.links.len() as f64)
        }
    }

    /// Returns the shared resources of an interconnect whose chip links lead to one chip each and whose controller links share all transfers.
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

    /// Returns two rows of one chip: a link at each controller, one between the routers, one at each chip.
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
