//! Random namespaces on random sets of planes.
#![allow(missing_docs)]

use flashmesh::config::{Config, Indices, Namespace, StreamConfig, WriteStreams};
use flashmesh::flash::geometry::Geometry;
use flashmesh::ftl::Partition;
use flashmesh::ids::PlaneId;
use flashmesh::units::Bytes;
use proptest::option;
use proptest::prelude::*;
use proptest::sample::select;

#[derive(Clone, Debug)]
struct Sketch {
    /// Channels, chips, dies and planes of the namespace, each as a bit mask; `None` for all.
    units: [Option<u8>; 4],
    /// Capacity in percent of an even share of the drive.
    percent: u64,
}

/// Random division of a drive into namespaces, not yet fitted to a drive.
#[derive(Clone, Debug)]
pub struct Division {
    namespaces: Vec<Sketch>,
    /// Whether the fullest plane has no spare block more than it needs.
    is_tight: bool,
    write_streams: WriteStreams,
}

pub fn division() -> impl Strategy<Value = Division> {
    let units = [option::of(1u8..), option::of(1u8..), option::of(1u8..), option::of(1u8..)];
    let namespace = (units, 30..=100u64).prop_map(|(units, percent)| Sketch { units, percent });
    let namespaces = prop_oneof![1 => Just(Vec::new()), 1 => prop::collection::vec(namespace, 1..=3)];
    (namespaces, any::<bool>(), select(WriteStreams::ALL)).prop_map(|(namespaces, is_tight, write_streams)| Division {
        namespaces,
        is_tight,
        write_streams,
    })
}

impl Division {
    /// Adds the namespaces to `config`, sets the capacity of the drive to their total, and adds the spare blocks that their planes need.
    pub fn fit(&self, config: &mut Config) {
        config.ftl.write_streams = self.write_streams;
        let geometry = &config.geometry;
        let page = geometry.page_size;
        let logical = geometry.capacity.expect("the capacity is set").as_u64() / page.as_u64();
        let counts = [geometry.channels, geometry.chips_per_channel, geometry.dies_per_chip, geometry.planes_per_die];
        let planes: u32 = counts.iter().product();
        let mut total = 0;
        for (index, sketch) in self.namespaces.iter().enumerate() {
            let set = |level: usize| {
                let chosen = |unit: &u32| sketch.units[level].is_none_or(|units| units >> (unit % 8) & 1 != 0);
                let set = Indices::new((0..counts[level]).filter(chosen));
                if set.as_slice().is_empty() { Indices::new(0..counts[level]) } else { set }
            };
            let sets = [0, 1, 2, 3].map(set);
            let width: usize = sets.iter().map(|set| set.as_slice().len()).product();
            let even = logical * width as u64 / u64::from(planes) / self.namespaces.len() as u64;
            let pages = (even * sketch.percent / 100).max(8);
            total += pages;
            let [channels, ways, dies, planes] = sets.map(Some);
            let namespace = Namespace { capacity: Some(page * pages), channels, ways, dies, planes };
            config.namespace.push((format!("n{index}"), namespace));
        }
        if total > 0 {
            config.geometry.capacity = Some(page * total.max(u64::from(planes)));
            if self.is_tight {
                let surplus = surplus(config).max(0) as u32;
                config.geometry.blocks_per_plane -= surplus;
            }
        }
        spare(config);
    }
}

/// Returns the smallest surplus of spare blocks over all planes; negative if some plane has too few.
pub fn surplus(config: &Config) -> i64 {
    // The geometry is invalid if the drive as a whole has too few spare blocks.
    let Ok(geometry) = Geometry::from_config(config) else { return -1 };
    let partition = Partition::new(&geometry, config).expect("the namespaces fit the drive");
    let of_plane = |plane| i64::from(partition.spare_blocks(plane)) - i64::from(partition.spare_blocks_needed(plane));
    (0..geometry.planes()).map(PlaneId).map(of_plane).min().unwrap_or(0)
}

fn spare(config: &mut Config) {
    // `surplus` does not tell how many blocks an overfull plane lacks, so blocks are added one by one.
    while surplus(config) < 0 {
        config.geometry.blocks_per_plane += 1;
    }
}

/// Enlarges the map cache and the device cache so that `streams` streams can share them, and adds the spare blocks that the streams need.
pub fn share_out(config: &mut Config, streams: u64) {
    config.mapping.cache_capacity = config.mapping.cache_capacity.map(|capacity| capacity * streams);
    if config.cache.capacity > Bytes::ZERO {
        config.cache.capacity = config.cache.capacity.max(config.geometry.page_size * streams);
    }
    spare(config);
}

pub fn stream_by_stream(config: &mut Config, count: usize) {
    let template = config.streams().remove(0);
    config.stream = (0..count)
        .map(|index| {
            let mut stream = StreamConfig { name: format!("s{index}"), ..template.clone() };
            let names: Vec<&String> = config.namespace.iter().map(|(name, _)| name).collect();
            stream.queue.namespace = names.get(index % names.len().max(1)).map(|&name| name.clone());
            stream
        })
        .collect();
    share_out(config, count as u64);
}

pub fn first_capacity(config: &Config) -> Bytes {
    let geometry = Geometry::from_config(config).expect("the geometry is valid");
    config.namespaces(&geometry).expect("the namespaces fit the drive")[0].capacity
}
