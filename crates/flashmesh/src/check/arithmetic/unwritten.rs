//! Locations at which the drive reads logical pages that were never written.

use std::ops::Range;

use crate::config::{Allocation, ArrayLevel, Config};
use crate::ids::{Lpn, PlaneId, Ppn};

use super::{ArrayTree, NamespaceSpan, in_units, spaces, units_per_page};

/// Logical pages of a namespace, and the planes to which the pages are dealt in round-robin order.
#[derive(Clone, Debug)]
struct Dealt {
    pages: Range<u32>,
    /// Planes of the namespace in round-robin order, each with the number of its pages that earlier namespaces occupy.
    planes: Vec<(PlaneId, u32)>,
}

/// Locations at which the drive reads logical pages that were never written. Logical pages are dealt round robin to the planes of their namespace.
/// They fill each plane from its first page on, one namespace after another.
#[derive(Clone, Debug)]
pub(in super::super) struct Unwritten {
    homes: ArrayTree,
    /// Number of mapping units in an array page.
    units: usize,
    dealt: Vec<Dealt>,
}

impl Unwritten {
    pub(in super::super) fn new(config: &Config) -> Unwritten {
        let homes = ArrayTree::new(&in_units(config));
        let units = units_per_page(config);
        let mut spaces = spaces(config);
        if spaces.iter().all(|space| space.planes.iter().all(|&has| has)) {
            // No namespace is restricted to a part of the planes, so all namespaces are dealt like a single one.
            let pages = 0..spaces.iter().map(|space| space.pages.end).max().unwrap_or(0);
            spaces = vec![NamespaceSpan { name: String::new(), pages, planes: vec![true; homes.planes()] }];
        }
        let levels = match config.ftl.allocation {
            Allocation::Static(order) => order,
            _ => config.ftl.home_order.0,
        };
        // Sort key of a plane: its index at each level, from the slowest-varying level to the fastest.
        let key = |&plane: &PlaneId| {
            let position = homes.position(plane);
            let mut key = levels.map(|level| match level {
                ArrayLevel::Channel => position[0],
                ArrayLevel::Way => position[1],
                ArrayLevel::Die => position[2],
                ArrayLevel::Plane => position[3],
            });
            key.reverse();
            key
        };
        let mut before = vec![0; homes.planes()];
        let deal = |space: NamespaceSpan| {
            let all = (0..space.planes.len() as u32).map(PlaneId);
            let mut planes: Vec<PlaneId> = all.filter(|plane| space.planes[plane.index()]).collect();
            planes.sort_by_key(key);
            let pagefuls = (space.pages.len() as u32).div_ceil(units);
            let most = pagefuls.div_ceil(planes.len().max(1) as u32) * units;
            let take = |plane: PlaneId| {
                let taken = before[plane.index()];
                before[plane.index()] += most;
                (plane, taken)
            };
            Dealt { pages: space.pages, planes: planes.into_iter().map(take).collect() }
        };
        let dealt = spaces.into_iter().map(deal).collect();
        Unwritten { homes, units: units as usize, dealt }
    }

    pub(in super::super) fn default_location(&self, lpn: Lpn) -> Option<Ppn> {
        let Dealt { pages, planes } = self.dealt.iter().find(|dealt| dealt.pages.contains(&lpn.0))?;
        let number = (lpn.0 - pages.start) as usize;
        // The mapping units of an array page are dealt together, to the same plane.
        let (pageful, unit) = (number / self.units, number % self.units);
        let (plane, before) = planes[pageful % planes.len()];
        let page = before + (pageful / planes.len() * self.units + unit) as u32;
        let in_block = self.homes.pages_per_block();
        Some(self.homes.ppn(self.homes.block(plane, page / in_block), page % in_block))
    }
}
