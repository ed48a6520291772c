//! Assignment of namespaces to planes: planes of each namespace, host streams of each plane, and limits of pages.

use std::ops::Range;

use super::spare_blocks::spare_blocks_min;
use crate::config::{ArrayLevel, Config};
use crate::error::NamespaceError;
use crate::flash::geometry::Geometry;
use crate::flash::namespace::ResolvedNamespace;
use crate::ftl::map::translation::TranslationPages;
use crate::ids::PlaneId;

/// Set of planes: all combinations of some channels, ways, dies in a chip, and planes in a die.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in super::super) struct PlaneSet {
    /// Indices at each array level, ascending: channels, ways in a channel, dies in a chip, planes in a die.
    levels: [Vec<u32>; 4],
}

impl PlaneSet {
    pub(in super::super) fn whole(geometry: &Geometry) -> PlaneSet {
        let all = |count: u32| (0..count).collect();
        let Geometry { channels, chips_per_channel, dies_per_chip, planes_per_die, .. } = *geometry;
        PlaneSet { levels: [all(channels), all(chips_per_channel), all(dies_per_chip), all(planes_per_die)] }
    }

    fn of(namespace: &ResolvedNamespace) -> PlaneSet {
        let ResolvedNamespace { channels, ways, dies, planes, .. } = namespace;
        PlaneSet { levels: [channels, ways, dies, planes].map(|set| set.as_slice().to_vec()) }
    }

    pub(in super::super) fn len(&self) -> u32 {
        self.levels.iter().map(|level| level.len() as u32).product()
    }

    #[inline]
    pub(in super::super) fn level(&self, level: ArrayLevel) -> &[u32] {
        &self.levels[level as usize]
    }

    /// Returns the planes of the set, sorted so that the first level of `order` varies fastest.
    pub(in super::super) fn in_order(&self, geometry: &Geometry, order: [ArrayLevel; 4]) -> Vec<PlaneId> {
        let plane = |residue: u32| {
            let mut rest = residue;
            // Indices of the channel, way, die and plane, in the order of [`ArrayLevel`].
            let mut unit = [0; 4];
            for level in order {
                let set = self.level(level);
                unit[level as usize] = set[(rest % set.len() as u32) as usize];
                rest /= set.len() as u32;
            }
            let [channel, way, die, plane] = unit;
            let chip = channel * geometry.chips_per_channel + way;
            PlaneId((chip * geometry.dies_per_chip + die) * geometry.planes_per_die + plane)
        };
        (0..self.len()).map(plane).collect()
    }
}

/// Range of logical pages that are stored on the same set of planes.
#[derive(Clone, Debug)]
pub(in super::super) struct Part {
    pub(in super::super) pages: Range<u32>,
    /// Index of the set of planes in `Partition::sets`.
    pub(in super::super) set: usize,
}

/// Partition of the logical pages among sets of planes.
///
/// If no namespace is bound to planes of its own, there is one set and one part (range of logical pages), which holds host pages and
/// translation pages. Otherwise each namespace has a set of planes and a part for its pages. If the map is stored on flash, each namespace
/// has a second part, at higher page numbers: the translation pages whose first entry is for one of these pages. So the maps of namespaces
/// bound to different planes are isolated as well \[choice\].
#[derive(Clone, Debug)]
pub struct Partition {
    pub(in super::super) sets: Vec<PlaneSet>,
    /// Parts in ascending order of their pages. Between the host pages of the last namespace and the first translation page there may be a gap.
    pub(in super::super) parts: Vec<Part>,
    /// Logical pages of each namespace, whether it is bound to planes or not.
    namespaces: Vec<Range<u32>>,
    order: [ArrayLevel; 4],
    /// For each plane, the host streams with an open block of their own there, as a bit set by stream number. Empty if all streams share one open
    /// block.
    writers: Vec<u64>,
    /// Number of spare blocks that each plane needs, without the open blocks of host streams beyond the first.
    spare_blocks: u32,
    /// Blocks of each plane outside the SLC cache.
    blocks_per_plane: u32,
    pages_per_block: u32,
    /// Number of mapping units in a physical page of the flash array. All units of a page are on the same plane.
    units_per_page: u32,
    /// Load of each plane: its number of pages if every part is full and spread evenly over its planes.
    loads: Vec<u32>,
}

impl Partition {
    /// Assigns the namespaces of `config` to the planes of a drive of this geometry.
    ///
    /// # Errors
    /// If the namespaces do not fit the drive, or a stream uses a namespace that does not exist.
    pub fn new(geometry: &Geometry, config: &Config) -> Result<Partition, NamespaceError> {
        let translation = TranslationPages::new(geometry, config);
        let namespaces = config.namespaces(geometry)?;
        let page_size = geometry.page_size.as_u64();
        let ranges: Vec<Range<u32>> = namespaces
            .iter()
            .map(|namespace| {
                let first = namespace.start.as_u64() / page_size;
                first as u32..(first + namespace.capacity.as_u64() / page_size) as u32
            })
            .collect();
        let mut sets: Vec<PlaneSet> = namespaces.iter().map(PlaneSet::of).collect();
        let parts = if sets.iter().all(|set| set.len() == geometry.planes()) {
            sets.truncate(1);
            vec![Part { pages: 0..geometry.logical_pages + translation.map_or(0, |pages| pages.count()), set: 0 }]
        } else {
            let mut parts: Vec<Part> =
                ranges.iter().enumerate().map(|(set, pages)| Part { pages: pages.clone(), set }).collect();
            if let Some(translation) = translation {
                let mut end = translation.all().end;
                let first_pages = ranges.iter().map(|range| translation.first_beginning_at(range.start));
                let of_maps = first_pages.enumerate().rev().map(|(set, first)| {
                    let pages = first..end;
                    end = first;
                    Part { pages, set }
                });
                let of_maps: Vec<Part> = of_maps.collect();
                parts.extend(of_maps.into_iter().rev());
            }
            parts
        };
        let mut writers = Vec::new();
        if config.ftl.write_streams.separates_streams() {
            writers = vec![0; geometry.planes() as usize];
            for (stream, queue) in config.streams().iter().map(|stream| &stream.queue).enumerate() {
                let set = config.namespace_of(queue, &namespaces, "queue.namespace")?.min(sets.len() - 1);
                for plane in sets[set].in_order(geometry, ArrayLevel::ALL) {
                    writers[plane.index()] |= 1_u64.checked_shl(stream as u32).unwrap_or(0);
                }
            }
        }
        Ok(Partition::assembled(geometry, config, (sets, parts), ranges, writers))
    }

    /// Creates a partition with a single set of all planes, for `pages` logical pages from 0 on. All host streams share one open block in each plane.
    pub(in super::super) fn undivided(geometry: &Geometry, config: &Config, pages: u32) -> Partition {
        let all = Part { pages: 0..pages, set: 0 };
        let namespaces = vec![all.pages.clone()];
        let divided = (vec![PlaneSet::whole(geometry)], vec![all]);
        Partition::assembled(geometry, config, divided, namespaces, Vec::new())
    }

    fn assembled(
        geometry: &Geometry,
        config: &Config,
        (sets, parts): (Vec<PlaneSet>, Vec<Part>),
        namespaces: Vec<Range<u32>>,
        writers: Vec<u64>,
    ) -> Partition {
        let mut partition = Partition {
            sets,
            parts,
            namespaces,
            order: config.ftl.static_order(),
            writers,
            spare_blocks: spare_blocks_min(config),
            blocks_per_plane: geometry.native_blocks_per_plane(),
            pages_per_block: geometry.pages_per_block,
            units_per_page: geometry.units_per_page,
            loads: vec![0; geometry.planes() as usize],
        };
        for part in &partition.parts {
            let even = partition.max_even_pages(part);
            for plane in partition.sets[part.set].in_order(geometry, ArrayLevel::ALL) {
                partition.loads[plane.index()] += even;
            }
        }
        partition
    }

    /// Returns the order of array levels in which static allocation fills the planes of a set; the first level varies fastest.
    pub(in super::super) fn order(&self) -> [ArrayLevel; 4] {
        self.order
    }

    /// Returns the end of the page numbers of all parts (ranges of logical pages that are assigned to planes).
    pub(in super::super) fn end(&self) -> u32 {
        self.parts.iter().map(|part| part.pages.end).max().unwrap_or(0)
    }

    /// Returns the largest number of pages of `part` on any of its planes, with the pages spread evenly.
    pub(in super::super) fn max_even_pages(&self, part: &Part) -> u32 {
        let runs = (part.pages.len() as u32).div_ceil(self.units_per_page);
        runs.div_ceil(self.sets[part.set].len()) * self.units_per_page
    }

    /// Returns the first pages of each namespace, up to the share `fill` (0 to 1) of its pages. Empty ranges are omitted.
    pub(in super::super) fn filled_ranges(&self, fill: f64) -> Vec<Range<u32>> {
        let beginning = |pages: &Range<u32>| {
            let filled = (pages.len() as f64 * fill) as u32;
            pages.start..pages.start + filled.min(pages.len() as u32)
        };
        self.namespaces.iter().map(beginning).filter(|range| !range.is_empty()).collect()
    }

    /// Returns `pages`, split where one part (range of logical pages with the same set of planes) ends and the next begins. Pages outside
    /// all parts are omitted.
    pub(in super::super) fn split_at_parts(&self, pages: Range<u32>) -> Vec<Range<u32>> {
        let cut = |part: &Part| part.pages.start.max(pages.start)..part.pages.end.min(pages.end);
        self.parts.iter().map(cut).filter(|range| !range.is_empty()).collect()
    }

    /// Returns the host streams with an open block of their own in `plane`, as a bit set by stream number; 0 if all host streams share one
    /// open block.
    pub(in super::super) fn dedicated_streams(&self, plane: PlaneId) -> u64 {
        self.writers.get(plane.index()).copied().unwrap_or(0)
    }

    /// Returns the load of `plane`: its number of pages if all logical pages are mapped and each part is spread evenly over its planes.
    pub fn pages_when_full(&self, plane: PlaneId) -> u32 {
        self.loads[plane.index()]
    }

    /// Returns the number of blocks of `plane` that stay unused when the drive is full.
    pub fn spare_blocks(&self, plane: PlaneId) -> u32 {
        self.blocks_per_plane.saturating_sub(self.pages_when_full(plane).div_ceil(self.pages_per_block))
    }

    /// Returns the number of blocks that `plane` needs beyond those filled on a full drive, so that it never runs out of space.
    pub fn spare_blocks_needed(&self, plane: PlaneId) -> u32 {
        self.spare_blocks + self.dedicated_streams(plane).count_ones().saturating_sub(1)
    }

    /// Returns the number of pages of `plane` that are neither filled on a full drive nor part of the spare blocks that it needs.
    fn slack_pages(&self, plane: PlaneId) -> u32 {
        let blocks = self.blocks_per_plane.saturating_sub(self.spare_blocks_needed(plane));
        (blocks * self.pages_per_block).saturating_sub(self.pages_when_full(plane))
    }

    /// Returns the maximum number of guests (pages put there by replication) of `plane`: half of the pages that are neither filled on a full drive
    /// nor part of the needed spare blocks. Allocation may use the other half.
    pub fn guests_max(&self, plane: PlaneId) -> u32 {
        self.slack_pages(plane) / 2
    }

    /// Returns the page limits for allocators that do not assign fixed subsets of the pages to planes. The limit of part p on plane q is at index p x
    /// (number of planes of the drive) + q; it is 0 if the part does not use the plane.
    ///
    /// A limit is the sum of the even share of the part and a portion of the slack of the plane (pages that are neither filled on a full drive nor
    /// part of the needed spare blocks). Half of the slack is divided equally among the parts on the plane. The other half is left to guests of
    /// replication or stays free, because a plane with more valid pages than others is more costly to collect.
    pub(in super::super) fn page_limits(&self, geometry: &Geometry) -> Vec<u32> {
        let planes = geometry.planes() as usize;
        let mut sharing = vec![0; planes];
        let members: Vec<Vec<PlaneId>> =
            self.parts.iter().map(|part| self.sets[part.set].in_order(geometry, ArrayLevel::ALL)).collect();
        members.iter().flatten().for_each(|plane| sharing[plane.index()] += 1);
        let mut room = vec![0; self.parts.len() * planes];
        for (index, (part, members)) in self.parts.iter().zip(&members).enumerate() {
            for &plane in members {
                let beyond = self.slack_pages(plane);
                room[index * planes + plane.index()] = self.max_even_pages(part) + beyond / 2 / sharing[plane.index()];
            }
        }
        room
    }
}
