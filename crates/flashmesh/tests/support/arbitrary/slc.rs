//! Random SLC caches, added to random drives without one.

use flashmesh::config::{Config, PageTypes, Slc, SlcRegion, SlcWhenFull};
use flashmesh::flash::geometry::Geometry;
use flashmesh::units::Time;
use proptest::prelude::*;
use proptest::sample::select;

use super::super::partitions;

/// Random SLC cache, and the multi-level page types of the other blocks.
#[derive(Clone, Debug)]
pub struct Cached {
    slc: Slc,
    page_types: PageTypes,
}

pub fn slc() -> impl Strategy<Value = Cached> {
    let times = (20..=300u64, 1..=60u64);
    let types = select(vec![PageTypes::Mlc, PageTypes::Tlc, PageTypes::Qlc]);
    let kinds = (select(SlcRegion::ALL), select(SlcWhenFull::ALL));
    (1..=3u32, kinds, times, select(vec![0.0, 0.0, 0.5, 0.99]), types).prop_map(
        |(blocks_per_plane, (region, when_full), times, fold_threshold, page_types)| {
            let (program_time, read_time) = (Time::from_us(times.0), Time::from_us(times.1));
            let slc = Slc { blocks_per_plane, region, program_time, read_time, fold_threshold, when_full };
            Cached { slc, page_types }
        },
    )
}

impl Cached {
    /// Adds this SLC cache to `config`, in additional blocks, or leaves `config` unchanged if the result is invalid. The capacity does not change.
    pub fn fit(&self, config: &mut Config) {
        let before = config.clone();
        if config.flash.page_types == PageTypes::One {
            config.flash.page_types = self.page_types;
        }
        config.slc = self.slc.clone();
        let pages = config.pages_per_word_line();
        config.geometry.pages_per_block = config.geometry.pages_per_block.next_multiple_of(pages);
        config.geometry.blocks_per_plane += config.slc.blocks_per_plane;
        for _ in 0..64 {
            if Geometry::from_config(config).is_err() || partitions::surplus(config) < 0 {
                config.geometry.blocks_per_plane += 1;
            }
        }
        if config.validate().is_err() {
            *config = before;
        }
    }
}
