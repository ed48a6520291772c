//! Links, wires, controllers and routers of an interconnect, from which power, area and lower bounds on run time are computed.

use super::channels::shared_channels::CHANNEL_WIRES;
use crate::fabric::LinkUsage;
use crate::ids::LinkId;
use crate::names;
use crate::units::Bytes;

names! {
    /// Kind of a link, by its end points.
    LinkKind {
        /// Link between a controller and several chips, which share it.
        Channel = "channel",
        /// Link between a controller and one chip or router.
        Controller = "controller",
        /// Link between two neighbouring routers.
        Mesh = "mesh",
        /// Link between a router and the pins of its chip.
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

/// The links of an interconnect, and the numbers of its wires, controllers and routers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Layout {
    /// Links, indexed by [`LinkId`]. Usage and hold times of links have the same order.
    pub links: Vec<Link>,
    /// Number of data wires, over all links.
    pub wires: u32,
    /// Number of flash controllers.
    pub controllers: u32,
    /// Number of routers, inside the chips or beside them.
    pub routers: u32,
}

/// A set of links that limits throughput: every transfer from or to certain chips crosses exactly one of them, on any route. The total busy time of
/// the links, divided by [`at_once`](Self::at_once), is a lower bound on run time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SharedResource {
    /// Kind of the chips whose transfers cross [`links`](Self::links), such as those of one row. Does not name the row.
    pub part: TransferDestination,
    /// Links of the set. Each transfer crosses one of them.
    pub links: Vec<LinkId>,
    /// Maximum number of links of the set that carry data at the same time.
    pub at_once: u32,
}

/// Chips whose transfers share a set of links.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TransferDestination {
    /// The chips of one row, reached by their channel or by all links into the row.
    Row,
    /// A single chip.
    Chip,
    /// The chips beyond one link between routers, if no route avoids the link.
    Mesh,
    /// All chips, reached through the controllers.
    Controllers,
}

impl LinkKind {
    /// Returns the display name of links of this kind, in the plural, such as "mesh links".
    pub const fn plural(self) -> &'static str {
        match self {
            LinkKind::Channel => "channels",
            LinkKind::Controller => "controller links",
            LinkKind::Mesh => "mesh links",
            LinkKind::Chip => "chip links",
        }
    }

    /// Returns whether links of this kind end at a controller. A transfer between a controller and a chip crosses exactly one such link.
    pub const fn leads_to_controller(self) -> bool {
        matches!(self, LinkKind::Channel | LinkKind::Controller)
    }
}

impl Layout {
    /// Returns the number of links of `kind`.
    pub fn count(&self, kind: LinkKind) -> usize {
        self.links.iter().filter(|link| link.kind == kind).count()
    }

    /// Returns the ids of the links of `kind`, in ascending order.
    pub fn links_of_kind(&self, kind: LinkKind) -> impl Iterator<Item = LinkId> {
        let numbered = self.links.iter().zip(0..).filter(move |(link, _)| link.kind == kind);
        numbered.map(|(_, number)| LinkId(number))
    }

    /// Returns the number of bytes that crossed chip pins, over all chips. `usage` has an entry per link. With chip links, only these count: each
    /// transfer crosses one at each of its chips. Otherwise all links count, and chip-to-chip bytes count twice, once per chip.
    pub fn bytes_of_chips(&self, usage: &[LinkUsage]) -> Bytes {
        let has_chip_links = self.count(LinkKind::Chip) > 0;
        let links = self.links.iter().zip(usage).filter(|(link, _)| !has_chip_links || link.kind == LinkKind::Chip);
        let across = if has_chip_links { 1 } else { 2 };
        links.map(|(_, usage)| usage).map(|link| link.bytes_in + link.bytes_out + link.bytes_across * across).sum()
    }

    /// Returns the mean width of a link, relative to a bus channel of 8 data wires; 1 if there are no links.
    pub fn width(&self) -> f64 {
        if self.links.is_empty() {
            1.0
        } else {
            f64::from(self.wires) / (f64::from(CHANNEL_WIRES) * self.links.len() as f64)
        }
    }

    /// Returns the sets of links that limit throughput in any interconnect: each chip link, for the transfers of its chip; and all links between
    /// controllers and single chips or routers, as one set.
    pub fn shared_resources(&self) -> Vec<SharedResource> {
        let alone = |link: LinkId| SharedResource { part: TransferDestination::Chip, links: vec![link], at_once: 1 };
        let mut shared_resources: Vec<SharedResource> = self.links_of_kind(LinkKind::Chip).map(alone).collect();
        let links: Vec<LinkId> = self.links_of_kind(LinkKind::Controller).collect();
        if !links.is_empty() {
            shared_resources.push(SharedResource {
                part: TransferDestination::Controllers,
                at_once: links.len() as u32,
                links,
            });
        }
        shared_resources
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the layout of two rows of one chip each. Links 0 and 1 are at the controllers, 2 between the two routers, 3 and 4 at the chips. Each
    /// link has 8 wires.
    fn mesh() -> Layout {
        use LinkKind::{Chip, Controller, Mesh};
        let links = [Controller, Controller, Mesh, Chip, Chip].map(|kind| Link { kind, name: String::new() });
        Layout { links: links.into(), wires: 40, controllers: 2, routers: 2 }
    }

    #[test]
    fn chips_are_passed_each_by_its_own_link_and_controllers_by_any() {
        let shared_resources = mesh().shared_resources();
        let expected = [
            (TransferDestination::Chip, vec![3], 1),
            (TransferDestination::Chip, vec![4], 1),
            (TransferDestination::Controllers, vec![0, 1], 2),
        ];
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
