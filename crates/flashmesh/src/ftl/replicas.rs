//! Second homes of pages: replicas on other dies (Patterned Read Collisions, IEEE Access 2023, section III.B).
//!
//! A page has its original, which the map names or, while it holds nothing, its number, and at most one replica. Both hold the
//! newest version: a write or a deallocation of the page ends its replica. Collection moves either of them like any valid page.
//!
//! # Why a plane still never gets stuck
//!
//! A replica is one more valid page of its plane. When the replica is kept and the original given up, a page lies on another plane
//! than the allocator chose. Both are guests of their plane. The guests of a plane, and those on their way, are at most half of what
//! its spare blocks leave beyond the least that it needs ([`Partition::guests_max`]). Where allocators count the pages of a
//! plane, the other half is theirs, and guests do not count. So the valid pages of a plane stay below what collection can handle.

use rustc_hash::{FxHashMap, FxHashSet};

use super::Partition;
use crate::flash::geometry::Geometry;
use crate::ids::{Lpn, PlaneId, Ppn};

#[derive(Clone, Debug)]
pub(super) struct Replicas {
    homes: FxHashMap<Lpn, Ppn>,
    /// Valid pages that are guests of their plane.
    guests: FxHashSet<Ppn>,
    /// By plane: guests, guests on their way, and the most of both.
    counts: Vec<u32>,
    awaited: Vec<u32>,
    guests_max: Vec<u32>,
    /// Pages whose replica ended with a write, a deallocation or a compaction, since the last look.
    ended: Vec<Lpn>,
}

impl Replicas {
    pub(super) fn new(geometry: &Geometry, partition: &Partition) -> Replicas {
        let planes = geometry.planes();
        Replicas {
            homes: FxHashMap::default(),
            guests: FxHashSet::default(),
            counts: vec![0; planes as usize],
            awaited: vec![0; planes as usize],
            guests_max: (0..planes).map(|plane| partition.guests_max(PlaneId(plane))).collect(),
            ended: Vec::new(),
        }
    }

    #[inline]
    pub(super) fn get(&self, lpn: Lpn) -> Option<Ppn> {
        self.homes.get(&lpn).copied()
    }

    /// In no order.
    pub(super) fn iter(&self) -> impl Iterator<Item = (Lpn, Ppn)> + '_ {
        self.homes.iter().map(|(&lpn, &ppn)| (lpn, ppn))
    }

    pub(super) fn len(&self) -> usize {
        self.homes.len()
    }

    #[inline]
    pub(super) fn guests(&self, plane: PlaneId) -> u32 {
        self.counts[plane.index()]
    }

    pub(super) fn has_room(&self, plane: PlaneId) -> bool {
        self.counts[plane.index()] + self.awaited[plane.index()] < self.guests_max[plane.index()]
    }

    /// A replica is on its way to `plane`.
    pub(super) fn expect(&mut self, plane: PlaneId) {
        self.awaited[plane.index()] += 1;
    }

    /// A replica that was on its way to `plane` has come, or will not.
    pub(super) fn end_wait(&mut self, plane: PlaneId) {
        self.awaited[plane.index()] -= 1;
    }

    /// The replica of `lpn` has come to `ppn` on `plane`.
    pub(super) fn add(&mut self, lpn: Lpn, ppn: Ppn, plane: PlaneId) {
        self.end_wait(plane);
        let before = self.homes.insert(lpn, ppn);
        debug_assert_eq!(before, None, "{lpn:?} has a replica already");
        self.admit_guest(ppn, plane);
    }

    pub(super) fn remove(&mut self, lpn: Lpn) -> Option<Ppn> {
        self.homes.remove(&lpn)
    }

    /// The original of `lpn` is not the newest version any more. Returns the replica, which ends with it.
    #[inline]
    pub(super) fn end(&mut self, lpn: Lpn) -> Option<Ppn> {
        let replica = self.homes.remove(&lpn)?;
        self.ended.push(lpn);
        Some(replica)
    }

    #[inline]
    pub(super) fn next_ended(&mut self) -> Option<Lpn> {
        self.ended.pop()
    }

    /// Moves the replica of `lpn` within its plane, if it is at `from`. Returns whether it was.
    pub(super) fn relocate(&mut self, lpn: Lpn, from: Ppn, to: Ppn) -> bool {
        match self.homes.get_mut(&lpn) {
            Some(home) if *home == from => {
                *home = to;
                true
            }
            _ => false,
        }
    }

    /// `ppn`, which is valid, is a guest of `plane`.
    pub(super) fn admit_guest(&mut self, ppn: Ppn, plane: PlaneId) {
        self.counts[plane.index()] += u32::from(self.guests.insert(ppn));
    }

    /// `ppn` is not valid any more. Returns whether it was a guest.
    #[inline]
    pub(super) fn dismiss_guest(&mut self, ppn: Ppn, plane: PlaneId) -> bool {
        let was_guest = !self.guests.is_empty() && self.guests.remove(&ppn);
        self.counts[plane.index()] -= u32::from(was_guest);
        was_guest
    }

    pub(super) fn is_guest(&self, ppn: Ppn) -> bool {
        self.guests.contains(&ppn)
    }
}

/// Faults that tests inject.
#[cfg(test)]
impl Replicas {
    pub(super) fn homes_mut(&mut self) -> &mut FxHashMap<Lpn, Ppn> {
        &mut self.homes
    }

    pub(super) fn guests_mut(&mut self) -> &mut FxHashSet<Ppn> {
        &mut self.guests
    }

    pub(super) fn counts_mut(&mut self) -> &mut [u32] {
        &mut self.counts
    }

    pub(super) fn guests_max(&self, plane: PlaneId) -> u32 {
        self.guests_max[plane.index()]
    }
}
