//! Random map caches.

use flashmesh::config::{Config, MapFill, MapSharing, Mapping, WriteBackRead};
use flashmesh::units::Bytes;
use proptest::prelude::*;
use proptest::sample::select;

/// Random map cache, not yet fitted to a drive.
#[derive(Clone, Copy, Debug)]
pub struct MapSketch {
    /// Entries in the cache; `None` if the whole map is in DRAM.
    entries: Option<u64>,
    entries_per_page: u64,
    sharing: MapSharing,
    fill: MapFill,
    reads_a_part: bool,
    write_backs: u32,
    buffer_pages: u64,
    write_back_read: WriteBackRead,
    write_back_is_use: bool,
}

pub fn mapping() -> impl Strategy<Value = MapSketch> {
    let entries = prop_oneof![2 => Just(None), 1 => (1..=4u64).prop_map(Some), 2 => (1..=60u64).prop_map(Some)];
    let pages = (select(vec![4u64, 16, 64]), any::<bool>());
    let written = (1..=4u32, select(vec![0u64, 1, 5]), select(WriteBackRead::ALL), any::<bool>());
    (entries, pages, select(MapSharing::ALL), select(MapFill::ALL), written).prop_map(
        |(entries, (entries_per_page, reads_a_part), sharing, fill, written)| {
            let (write_backs, buffer_pages, write_back_read, write_back_is_use) = written;
            MapSketch {
                entries,
                entries_per_page,
                sharing,
                fill,
                reads_a_part,
                write_backs,
                buffer_pages,
                write_back_read,
                write_back_is_use,
            }
        },
    )
}

impl MapSketch {
    /// Sets this map cache in `config`, and adds the blocks for translation pages and their spare blocks.
    pub fn fit(self, config: &mut Config) {
        let Some(entries) = self.entries else { return };
        let page_size = config.geometry.page_size;
        config.mapping = Mapping {
            cache_capacity: Some(Bytes::new(8 * entries)),
            sharing: self.sharing,
            entry_size: Bytes::new(8),
            stored_entry_size: Bytes::new(page_size.as_u64() / self.entries_per_page),
            read_size: (self.reads_a_part && self.fill == MapFill::Entry).then_some(Bytes::new(512)),
            fill: self.fill,
            write_back_read: self.write_back_read,
            write_back_read_size: self.reads_a_part.then_some(Bytes::new(512)),
            write_back_is_use: self.write_back_is_use,
            write_back_buffer: page_size * self.buffer_pages,
            write_backs: self.write_backs,
        };
        let geometry = &mut config.geometry;
        let planes = geometry.channels * geometry.chips_per_channel * geometry.dies_per_chip * geometry.planes_per_die;
        let logical = geometry.capacity.expect("the capacity is set").as_u64() / page_size.as_u64();
        let blocks = |pages: u64| {
            let on_a_plane = pages.div_ceil(u64::from(planes));
            on_a_plane.div_ceil(u64::from(geometry.pages_per_block)) as u32
        };
        let more = blocks(logical + logical.div_ceil(self.entries_per_page)) - blocks(logical);
        geometry.blocks_per_plane += more + 2;
    }
}
