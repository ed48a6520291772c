//! Replicas of pages on other dies (Patterned Read Collisions, IEEE Access 2023, section III.B).
//!
//! A page has an original, at its mapped location or at its home (the address at which an unmapped page is read), and at most one replica. Both hold
//! the newest version: a write or a deallocation of the page drops the replica. Garbage collection moves the original and the replica like any valid
//! page.
//!
//! # Why a plane still never runs out of space
//!
//! A replica is one more valid page of its plane. If the replica is kept and the original dropped, the page is on another plane than the allocator
//! chose. In both cases the page is a guest of its plane. The guests of a plane, including those in flight, take at most half of its slack: the pages
//! that are neither filled on a full drive nor part of the spare blocks that it needs ([`Partition::guests_max`]). Allocators that count the pages of
//! a plane use the other half, and do not count guests. So the valid pages of a plane stay within what garbage collection can handle.

use rustc_hash::{FxHashMap, FxHashSet};

use super::Partition;
use crate::flash::geometry::Geometry;
use crate::ids::{Lpn, PlaneId, Ppn};

#[derive(Clone, Debug)]
pub(super) struct Replicas {
    locations: FxHashMap<Lpn, Ppn>,
    /// Valid pages that are guests, put on their plane by replication: replicas, and replicas that became the original.
    guests: FxHashSet<Ppn>,
    /// Number of guests (pages put there by replication) of each plane. `incoming` is the number of replicas in flight to each plane, and
    /// `guests_max` limits the sum of both numbers.
    counts: Vec<u32>,
    incoming: Vec<u32>,
    guests_max: Vec<u32>,
    /// Logical pages whose replica was dropped by a write, a deallocation, or a read that mapped the page, and that
    /// [`next_dropped`](Self::next_dropped) has not returned yet.
    dropped: Vec<Lpn>,
}

impl Replicas {
    pub(super) fn new(geometry: &Geometry, partition: &Partition) -> Replicas {
        let planes = geometry.planes();
        Replicas {
            locations: FxHashMap::default(),
            guests: FxHashSet::default(),
            counts: vec![0; planes as usize],
            incoming: vec![0; planes as usize],
            guests_max: (0..planes).map(|plane| partition.guests_max(PlaneId(plane))).collect(),
            dropped: Vec::new(),
        }
    }

    #[inline]
    pub(super) fn get(&self, lpn: Lpn) -> Option<Ppn> {
        self.locations.get(&lpn).copied()
    }

    /// Returns the replicated logical pages with the locations of their replicas, in no particular order.
    pub(super) fn iter(&self) -> impl Iterator<Item = (Lpn, Ppn)> + '_ {
        self.locations.iter().map(|(&lpn, &ppn)| (lpn, ppn))
    }

    pub(super) fn len(&self) -> usize {
        self.locations.len()
    }

    #[inline]
    pub(super) fn guests(&self, plane: PlaneId) -> u32 {
        self.counts[plane.index()]
    }

    pub(super) fn has_room(&self, plane: PlaneId) -> bool {
        self.counts[plane.index()] + self.incoming[plane.index()] < self.guests_max[plane.index()]
    }

    /// Counts one more replica in flight to `plane`.
    pub(super) fn add_incoming(&mut self, plane: PlaneId) {
        self.incoming[plane.index()] += 1;
    }

    /// Removes one replica, which was committed or abandoned, from the count of replicas in flight to `plane`.
    pub(super) fn end_incoming(&mut self, plane: PlaneId) {
        self.incoming[plane.index()] -= 1;
    }

    /// Adds the replica of `lpn` at `ppn`, which must have been counted as in flight to `plane`. The replica then counts as a guest of `plane` (page
    /// put there by replication).
    pub(super) fn add(&mut self, lpn: Lpn, ppn: Ppn, plane: PlaneId) {
        self.end_incoming(plane);
        let before = self.locations.insert(lpn, ppn);
        debug_assert_eq!(before, None, "{lpn:?} has a replica already");
        self.admit_guest(ppn, plane);
    }

    pub(super) fn remove(&mut self, lpn: Lpn) -> Option<Ppn> {
        self.locations.remove(&lpn)
    }

    /// Drops the replica of `lpn`, because `lpn` was written or deallocated. Returns the location of the replica, which the caller invalidates;
    /// `None` if `lpn` has no replica.
    #[inline]
    pub(super) fn drop_stale(&mut self, lpn: Lpn) -> Option<Ppn> {
        let replica = self.locations.remove(&lpn)?;
        self.dropped.push(lpn);
        Some(replica)
    }

    #[inline]
    pub(super) fn next_dropped(&mut self) -> Option<Lpn> {
        self.dropped.pop()
    }

    /// Records that the replica of `lpn` moved from `from` to `to`. Returns false, without a change, if the replica is not at `from`.
    pub(super) fn relocate(&mut self, lpn: Lpn, from: Ppn, to: Ppn) -> bool {
        match self.locations.get_mut(&lpn) {
            Some(home) if *home == from => {
                *home = to;
                true
            }
            _ => false,
        }
    }

    /// Counts the valid page `ppn` as a guest of `plane` (page put there by replication), unless `ppn` is a guest already.
    pub(super) fn admit_guest(&mut self, ppn: Ppn, plane: PlaneId) {
        self.counts[plane.index()] += u32::from(self.guests.insert(ppn));
    }

    /// Removes `ppn`, which was invalidated, from the guests of `plane` (pages put there by replication), if `ppn` is one of them. Returns whether
    /// `ppn` was a guest.
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

/// Access to the tables of replicas and guests, for tests that inject faults.
#[cfg(test)]
impl Replicas {
    pub(super) fn locations_mut(&mut self) -> &mut FxHashMap<Lpn, Ppn> {
        &mut self.locations
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
