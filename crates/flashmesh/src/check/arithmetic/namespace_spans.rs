//! Logical pages of each namespace, and the planes on which they may lie.

use std::ops::Range;

use crate::config::{Config, Indices};
use crate::ids::PlaneId;

use super::{ArrayTree, PageSplit, in_units};

#[derive(Clone, Debug)]
pub(in super::super) struct NamespaceSpan {
    pub name: String,
    pub pages: Range<u32>,
    /// For each plane of the drive, whether pages of the namespace may lie on it.
    pub planes: Vec<bool>,
}

/// Returns the namespaces in the order of the configuration. If none is configured, returns one that spans the drive.
pub(in super::super) fn spaces(config: &Config) -> Vec<NamespaceSpan> {
    let homes = ArrayTree::new(&in_units(config));
    let cuts = PageSplit::new(config);
    let page = cuts.page_size().as_u64();
    if config.namespace.is_empty() {
        let planes = vec![true; homes.planes()];
        return vec![NamespaceSpan { name: "drive".to_owned(), pages: 0..cuts.logical_pages(), planes }];
    }
    let given = |at: usize| config.namespace[at].1.capacity.map(|capacity| (capacity.as_u64() / page) as u32);
    let count = config.namespace.len();
    let taken: u32 = (0..count).filter_map(given).sum();
    let sharers = (0..count).filter(|&at| given(at).is_none()).count() as u32;
    let mut first = 0;
    let mut spaces = Vec::new();
    for (at, (name, namespace)) in config.namespace.iter().enumerate() {
        let pages = given(at).unwrap_or_else(|| (cuts.logical_pages() - taken) / sharers);
        let sets = [&namespace.channels, &namespace.ways, &namespace.dies, &namespace.planes];
        let is_in =
            |set: &Option<Indices>, number: u32| set.as_ref().is_none_or(|set| set.as_slice().contains(&number));
        let has = |plane: u32| {
            let position = homes.position(PlaneId(plane));
            sets.iter().zip(position).all(|(set, number)| is_in(set, number))
        };
        let planes = (0..homes.planes() as u32).map(has).collect();
        spaces.push(NamespaceSpan { name: name.clone(), pages: first..first + pages, planes });
        first += pages;
    }
    spaces
}

/// Returns for each stream the index of its namespace in [`spaces`].
pub(in super::super) fn space_of_stream(config: &Config) -> Vec<usize> {
    let place = |wanted: &Option<String>| {
        let named = |name: &String| config.namespace.iter().position(|(other, _)| other == name);
        wanted.as_ref().and_then(named).unwrap_or(0)
    };
    config.streams().iter().map(|stream| place(&stream.queue.namespace)).collect()
}
