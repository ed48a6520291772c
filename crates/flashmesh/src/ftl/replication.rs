//! Replicas of pages on other dies: choice of the plane, commit, drop, and promotion to the original.

use std::cmp::Reverse;

use super::{Ftl, OpenBlockKind};
use crate::ids::{DieId, Lpn, PlaneId, Ppn};

/// Access to the translation layer for changes of replicas.
#[derive(Debug)]
pub struct ReplicaPages<'a>(&'a mut Ftl);

impl Ftl {
    /// Returns access for changes of replicas.
    pub(crate) fn replica_pages(&mut self) -> ReplicaPages<'_> {
        ReplicaPages(self)
    }

    #[inline]
    pub(crate) fn replica_of(&self, lpn: Lpn) -> Option<Ppn> {
        self.replicas.as_ref()?.get(lpn)
    }

    /// Returns whether the newest version of `lpn` is at `ppn`, as original or replica.
    #[inline]
    pub(crate) fn is_at(&self, lpn: Lpn, ppn: Ppn) -> bool {
        self.mapping.get(lpn) == Some(ppn) || (self.replicas.is_some() && self.replica_of(lpn) == Some(ppn))
    }

    /// Returns whether a read of `lpn` may be served from `ppn`: the location of the original (its home if `lpn` is unmapped) or of the replica.
    #[inline]
    pub(crate) fn may_read(&self, lpn: Lpn, ppn: Ppn) -> bool {
        self.location(lpn) == ppn || (self.replicas.is_some() && self.replica_of(lpn) == Some(ppn))
    }

    /// Returns whether `lpn` is stored on flash: at its mapped location, or if unmapped, at least as a replica.
    pub(crate) fn has_data(&self, lpn: Lpn) -> bool {
        self.mapping.get(lpn).is_some() || self.replica_of(lpn).is_some()
    }

    pub(crate) fn replica_count(&self) -> u64 {
        self.replicas.as_ref().map_or(0, |replicas| replicas.len() as u64)
    }

    /// Returns the plane of `die` for a replica of `lpn`; `None` if no plane of the die qualifies. The plane must belong to the namespace of `lpn`,
    /// not be short of free pages, and have room for a guest (page put there by replication). Chooses the plane with the most free pages, on a tie
    /// the first; with superblocks, the plane whose open block for replicas has the fewest pages.
    pub(crate) fn plane_for_replica(&self, lpn: Lpn, die: DieId) -> Option<PlaneId> {
        let replicas = self.replicas.as_ref()?;
        let first = self.geometry.first_plane(die).0;
        let order = self.allocation.static_order();
        let members = order.members(order.part_of(lpn));
        (first..first + self.geometry.planes_per_die)
            .map(PlaneId)
            .filter(|plane| members.binary_search(plane).is_ok() && replicas.has_room(*plane))
            .filter(|&plane| !self.collector.is_short(&self.blocks, plane))
            .max_by_key(|&plane| {
                // With superblocks, prefer the plane with the fewest pages in its open block, because planes of a superblock are filled evenly.
                let behind = if self.blocks.has_twins() {
                    self.blocks.open_block_pages(plane, OpenBlockKind::Replica)
                } else {
                    0
                };
                (Reverse(behind), self.blocks.accounts.plane(plane).free_pages, Reverse(plane))
            })
    }
}

impl ReplicaPages<'_> {
    /// Counts a replica as in flight to `plane`. [`commit`](Self::commit) or [`abandon`](Self::abandon) must follow.
    pub(crate) fn begin(&mut self, plane: PlaneId) {
        if let Some(replicas) = &mut self.0.replicas {
            replicas.add_incoming(plane);
        }
    }

    /// Abandons a replica in flight to `plane`. `programmed` is the physical page of the replica if it was programmed nevertheless,
    /// otherwise `None`.
    pub(crate) fn abandon(&mut self, plane: PlaneId, programmed: Option<Ppn>) {
        if let Some(replicas) = &mut self.0.replicas {
            replicas.end_incoming(plane);
        }
        if let Some(ppn) = programmed {
            self.0.blocks.accounts.program_invalid(ppn);
        }
    }

    /// Commits the replica of `lpn`, which was in flight and has been programmed at `ppn`.
    pub(crate) fn commit(&mut self, lpn: Lpn, ppn: Ppn) {
        self.0.mapping.set_reverse(ppn, lpn);
        let plane = self.0.blocks.accounts.program_valid(ppn);
        if let Some(replicas) = &mut self.0.replicas {
            replicas.add(lpn, ppn, plane);
        }
    }

    /// Drops the replica of `lpn`. Returns the location of the dropped replica; `None` if `lpn` has no replica.
    pub(crate) fn drop(&mut self, lpn: Lpn) -> Option<Ppn> {
        let ppn = self.0.replicas.as_mut()?.remove(lpn)?;
        self.0.invalidate(ppn);
        Some(ppn)
    }

    /// Drops the original of `lpn`, so that its replica becomes the original. Returns the location of the new original; `None` if `lpn` has no
    /// replica.
    pub(crate) fn promote(&mut self, lpn: Lpn) -> Option<Ppn> {
        let ppn = self.0.replicas.as_mut()?.remove(lpn)?;
        let original = self.0.mapping.set(lpn, ppn);
        if let Some(original) = original {
            self.0.invalidate(original);
        }
        self.0.notify_move(lpn, original, Some(ppn));
        Some(ppn)
    }

    /// Removes and returns a logical page whose replica was dropped by a write, a deallocation, or a read that mapped the page; `None` if none is
    /// left.
    #[inline]
    pub(crate) fn next_dropped(&mut self) -> Option<Lpn> {
        self.0.replicas.as_mut()?.next_dropped()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::{self, Config};
    use crate::flash::geometry::Geometry;
    use crate::ftl::FtlRules;
    use crate::ftl::replicas::Replicas;

    const HOST: OpenBlockKind = OpenBlockKind::SHARED;

    /// Creates a drive of two dies with one plane each. All pages are written once, even pages to plane 0 and odd pages to plane 1.
    fn drive() -> Ftl {
        let mut config = Config::default();
        config.geometry = config::Geometry {
            channels: 2,
            chips_per_channel: 1,
            planes_per_die: 1,
            blocks_per_plane: 16,
            pages_per_block: 8,
            over_provisioning: 0.5,
            ..config::Geometry::default()
        };
        config.replication.enabled = true;
        let geometry = Geometry::new(&config.geometry).expect("the geometry is valid");
        let mut ftl = Ftl::new(&geometry, &config, FtlRules::new(&config));
        for lpn in (0..geometry.logical_pages).map(Lpn) {
            let ppn = ftl.allocate(PlaneId(lpn.0 % 2), HOST).expect("the plane has space");
            ftl.commit_write(lpn, ppn);
        }
        ftl.audit().expect("the tables agree");
        ftl
    }

    fn replicate(ftl: &mut Ftl, lpn: u32, die: u32) -> Ppn {
        let plane = ftl.plane_for_replica(Lpn(lpn), DieId(die)).expect("the plane has space");
        ftl.replica_pages().begin(plane);
        let ppn = ftl.allocate(plane, HOST).expect("the plane has space");
        ftl.replica_pages().commit(Lpn(lpn), ppn);
        ftl.audit().expect("the tables agree");
        ppn
    }

    #[test]
    fn figure_6_a_page_with_a_replica_is_at_two_locations_until_it_is_written() {
        let mut ftl = drive();
        let original = ftl.lookup(Lpn(4)).expect("the page was written");
        let replica = replicate(&mut ftl, 4, 1);
        assert!(ftl.is_at(Lpn(4), original) && ftl.is_at(Lpn(4), replica));
        let ppn = ftl.allocate(PlaneId(0), HOST).expect("the plane has space");
        ftl.commit_write(Lpn(4), ppn);
        assert!(ftl.is_at(Lpn(4), ppn) && !ftl.is_at(Lpn(4), original) && !ftl.is_at(Lpn(4), replica));
        assert_eq!((ftl.replica_pages().next_dropped(), ftl.replica_pages().next_dropped()), (Some(Lpn(4)), None));
        ftl.audit().expect("the tables agree");
    }

    #[test]
    fn a_deallocation_ends_the_replica_as_well() {
        let mut ftl = drive();
        let replica = replicate(&mut ftl, 4, 1);
        assert!(ftl.deallocate(Lpn(4)) && !ftl.is_at(Lpn(4), replica));
        assert_eq!(ftl.replica_count(), 0);
        ftl.audit().expect("the tables agree");
    }

    #[test]
    fn the_original_or_the_replica_can_be_kept() {
        let mut ftl = drive();
        let original = ftl.lookup(Lpn(4)).expect("the page was written");
        let replica = replicate(&mut ftl, 4, 1);
        assert_eq!(ftl.replica_pages().drop(Lpn(4)), Some(replica));
        assert_eq!((ftl.lookup(Lpn(4)), ftl.replica_of(Lpn(4))), (Some(original), None));
        ftl.audit().expect("the tables agree");
        let replica = replicate(&mut ftl, 4, 1);
        assert_eq!(ftl.replica_pages().promote(Lpn(4)), Some(replica));
        assert_eq!((ftl.lookup(Lpn(4)), ftl.replica_of(Lpn(4))), (Some(replica), None));
        ftl.audit().expect("the tables agree");
    }

    #[test]
    fn collection_moves_originals_and_replicas() {
        let mut ftl = drive();
        let replica = replicate(&mut ftl, 4, 1);
        let to = ftl.allocate(PlaneId(1), OpenBlockKind::Collection).expect("the plane has space");
        assert!(ftl.commit_move(Lpn(4), replica, to));
        assert_eq!(ftl.replica_of(Lpn(4)), Some(to));
        ftl.audit().expect("the tables agree");
        let original = ftl.lookup(Lpn(4)).expect("the page was written");
        let to = ftl.allocate(PlaneId(0), OpenBlockKind::Collection).expect("the plane has space");
        assert!(ftl.commit_move(Lpn(4), original, to) && ftl.lookup(Lpn(4)) == Some(to));
        ftl.audit().expect("the tables agree");
    }

    #[test]
    fn a_plane_takes_guests_up_to_its_limit() {
        let mut ftl = drive();
        let most = ftl.replicas.as_ref().expect("replication is enabled").guests_max(PlaneId(1));
        assert!(most > 0);
        let mut lpn = 0;
        while let Some(plane) = ftl.plane_for_replica(Lpn(lpn), DieId(1)) {
            ftl.replica_pages().begin(plane);
            let ppn = ftl.allocate(plane, HOST).expect("the plane has space");
            ftl.replica_pages().commit(Lpn(lpn), ppn);
            // Promoted replicas still count as guests, dropped ones do not.
            match lpn % 3 {
                0 => drop(ftl.replica_pages().promote(Lpn(lpn))),
                1 => drop(ftl.replica_pages().drop(Lpn(lpn))),
                _ => {}
            }
            lpn += 2;
        }
        assert!(ftl.replicas.as_ref().expect("replication is enabled").guests(PlaneId(1)) <= most);
        ftl.audit().expect("the tables agree");
    }

    #[test]
    fn the_audit_detects_faults_of_replicas() {
        let finds = |expected: &str, fault: &dyn Fn(&mut Ftl)| {
            let mut ftl = drive();
            replicate(&mut ftl, 4, 1);
            fault(&mut ftl);
            let found = ftl.audit().expect_err("the fault is found");
            assert!(found.contains(expected), "{found}");
        };
        finds("is valid for", &|ftl| {
            ftl.replicas.as_mut().expect("replication is enabled").locations_mut().clear();
        });
        finds("which is not valid", &|ftl| {
            let ppn = ftl.replica_of(Lpn(4)).expect("the page has a replica");
            ftl.invalidate(ppn);
        });
        finds("guests", &|ftl| ftl.replicas.as_mut().expect("replication is enabled").counts_mut()[1] += 1);
    }

    #[test]
    fn the_audit_detects_misplaced_replicas() {
        let finds = |expected: &str, fault: &dyn Fn(&mut Replicas, [Ppn; 3])| {
            let mut ftl = drive();
            let replica = replicate(&mut ftl, 4, 1);
            let [four, six] = [4, 6].map(|lpn| ftl.lookup(Lpn(lpn)).expect("the page was written"));
            fault(ftl.replicas.as_mut().expect("replication is enabled"), [four, six, replica]);
            let found = ftl.audit().expect_err("the fault is found");
            assert!(found.contains(expected), "{found}");
        };
        finds("which holds Lpn(4)", &|replicas, [four, ..]| {
            replicas.locations_mut().insert(Lpn(6), four);
        });
        finds("is its original too", &|replicas, [_, six, _]| {
            replicas.locations_mut().insert(Lpn(6), six);
        });
        finds("is no guest", &|replicas, [.., replica]| {
            replicas.guests_mut().remove(&replica);
        });
    }
}
