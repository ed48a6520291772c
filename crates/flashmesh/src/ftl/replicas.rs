//! Second homes of pages: copies on other dies, which replication makes (Patterned Read Collisions, IEEE Access 2023, section III.B).
//!
//! A page has its original, which the map names or, while it holds nothing, its number, and at most one replica. Both hold the newest version: a write or a deallocation of the
//! page ends its replica at once. Collection moves either of them like any valid page.
//!
//! # Why a plane still never gets stuck
//!
//! A replica is one more valid page of its plane; and when the replica is kept and the original given up, a page lies on another
//! plane than the allocator chose. Both are guests of their plane. The guests of a plane, and those on their way, are at most half of what
//! its spare blocks leave beyond the least that it needs, [`Partition::guests_max`](super::Partition::guests_max); where allocators count the pages of a
//! plane, the other half is theirs, and guests do not count. So the valid pages of a plane stay below what collection can handle.

use rustc_hash::{FxHashMap, FxHashSet};

use super::{Ftl, Partition};
use crate::flash::geometry::Geometry;
use crate::ids::{DieId, Lpn, PlaneId, Ppn};

/// The second homes of pages.
#[derive(Clone, Debug)]
pub(super) struct Replicas {
    homes: FxHashMap<Lpn, Ppn>,
    /// Valid pages that are guests of their plane.
    guests: FxHashSet<Ppn>,
    /// By plane: guests on their way.
    awaited: Vec<u32>,
    /// By plane: the most guests.
    guests_max: Vec<u32>,
    /// Pages whose replica ended with a write, a deallocation or a compaction, since the last look.
    ended: Vec<Lpn>,
}

impl Replicas {
    pub(super) fn new(geometry: &Geometry, partition: &Partition) -> Replicas {
        let planes = || (0..geometry.planes()).map(PlaneId);
        Replicas {
            homes: FxHashMap::default(),
            guests: FxHashSet::default(),
            awaited: vec![0; geometry.planes() as usize],
            guests_max: planes().map(|plane| partition.guests_max(plane)).collect(),
            ended: Vec::new(),
        }
    }

    /// The second homes, in no order.
    pub(super) fn homes(&self) -> impl Iterator<Item = (Lpn, Ppn)> + '_ {
        self.homes.iter().map(|(&lpn, &ppn)| (lpn, ppn))
    }

    /// Whether a valid page is a guest of its plane.
    pub(super) fn is_guest(&self, ppn: Ppn) -> bool {
        self.guests.contains(&ppn)
    }
}

impl Ftl {
    /// The replica of `lpn`, when it has one.
    #[inline]
    pub fn replica_of(&self, lpn: Lpn) -> Option<Ppn> {
        self.replicas.as_ref()?.homes.get(&lpn).copied()
    }

    /// Whether the newest version of `lpn` is valid at `ppn`: as the original, or as its replica.
    #[inline]
    pub fn is_at(&self, lpn: Lpn, ppn: Ppn) -> bool {
        self.lookup(lpn) == Some(ppn) || (self.replicas.is_some() && self.replica_of(lpn) == Some(ppn))
    }

    /// Whether a read of `lpn` may be served from `ppn`, also while it holds nothing.
    #[inline]
    pub fn may_read(&self, lpn: Lpn, ppn: Ppn) -> bool {
        self.location(lpn) == ppn || (self.replicas.is_some() && self.replica_of(lpn) == Some(ppn))
    }

    /// All replicas, in no order.
    pub fn replicas(&self) -> impl Iterator<Item = (Lpn, Ppn)> + '_ {
        self.replicas.iter().flat_map(|replicas| replicas.homes())
    }

    /// Pages with a replica.
    pub fn replica_count(&self) -> u64 {
        self.replicas.as_ref().map_or(0, |replicas| replicas.homes.len() as u64)
    }

    /// The plane of `die` that can take a replica of `lpn`: one of its namespace, which is not short of free pages and has room for a
    /// guest; of several that with the most free pages, of equals the first.
    pub fn plane_for_replica(&self, lpn: Lpn, die: DieId) -> Option<PlaneId> {
        let replicas = self.replicas.as_ref()?;
        let first = self.geometry.first_plane(die).0;
        let order = self.allocation.static_order();
        let members = order.members(order.part_of(lpn));
        let has_room = |plane: &PlaneId| {
            let guests = self.planes[plane.index()].guests + replicas.awaited[plane.index()];
            guests < replicas.guests_max[plane.index()]
        };
        (first..first + self.geometry.planes_per_die)
            .map(PlaneId)
            .filter(|plane| members.binary_search(plane).is_ok() && has_room(plane) && !self.is_short(*plane))
            .max_by_key(|&plane| (self.free_pages(plane), std::cmp::Reverse(plane)))
    }

    /// A replica is on its way to `plane`: a guest more, until [`Ftl::commit_replica`] or [`Ftl::abandon_replica`].
    pub fn expect_replica(&mut self, plane: PlaneId) {
        if let Some(replicas) = &mut self.replicas {
            replicas.awaited[plane.index()] += 1;
        }
    }

    /// The replica that was on its way to `plane` will not come. `programmed` is the page that holds it all the same.
    pub fn abandon_replica(&mut self, plane: PlaneId, programmed: Option<Ppn>) {
        if let Some(replicas) = &mut self.replicas {
            replicas.awaited[plane.index()] -= 1;
        }
        if let Some(ppn) = programmed {
            self.count_program(self.blocks.block_of(ppn));
        }
    }

    /// The replica of `lpn` has been programmed at `ppn`: it is its second home from now on.
    pub fn commit_replica(&mut self, lpn: Lpn, ppn: Ppn) {
        let plane = self.geometry.plane_of(ppn);
        if let Some(replicas) = &mut self.replicas {
            replicas.awaited[plane.index()] -= 1;
            let before = replicas.homes.insert(lpn, ppn);
            debug_assert_eq!(before, None, "{lpn:?} has a replica already");
        }
        self.mapping.note(ppn, lpn);
        self.program_valid(ppn);
        self.admit_guest(ppn);
    }

    /// Gives the replica of `lpn` up.
    pub fn drop_replica(&mut self, lpn: Lpn) -> Option<Ppn> {
        let ppn = self.replicas.as_mut()?.homes.remove(&lpn)?;
        self.invalidate(ppn);
        Some(ppn)
    }

    /// Gives the original of `lpn` up: its replica is the original from now on.
    pub fn keep_replica(&mut self, lpn: Lpn) -> Option<Ppn> {
        let ppn = self.replicas.as_mut()?.homes.remove(&lpn)?;
        let original = self.mapping.set(lpn, ppn);
        if let Some(original) = original {
            self.invalidate(original);
        }
        if self.rules.counts_parts {
            self.tell_move(lpn, original, Some(ppn));
        }
        Some(ppn)
    }

    /// The next page whose replica ended with a write, a deallocation or a compaction.
    #[inline]
    pub fn next_ended_replica(&mut self) -> Option<Lpn> {
        self.replicas.as_mut()?.ended.pop()
    }

    /// The original of `lpn` is not the newest version any more, so its replica is not.
    #[inline]
    pub(super) fn end_replica(&mut self, lpn: Lpn) {
        if self.replicas.is_some() && self.drop_replica(lpn).is_some() {
            self.replicas.iter_mut().for_each(|replicas| replicas.ended.push(lpn));
        }
    }

    /// The replica of `lpn` moved, within its plane.
    pub(super) fn move_replica(&mut self, lpn: Lpn, from: Ppn, to: Ppn) -> bool {
        let Some(home) = self.replicas.as_mut().and_then(|replicas| replicas.homes.get_mut(&lpn)) else { return false };
        if *home != from {
            return false;
        }
        *home = to;
        self.mapping.note(to, lpn);
        self.invalidate(from);
        self.program_valid(to);
        self.admit_guest(to);
        true
    }

    /// `ppn`, which is valid, is a guest of its plane.
    pub(super) fn admit_guest(&mut self, ppn: Ppn) {
        let plane = self.geometry.plane_of(ppn);
        if let Some(replicas) = &mut self.replicas
            && replicas.guests.insert(ppn)
        {
            self.planes[plane.index()].guests += 1;
        }
    }

    /// `ppn` is not valid any more; gives whether it was a guest.
    #[inline]
    pub(super) fn dismiss_guest(&mut self, ppn: Ppn) -> bool {
        let Some(replicas) = &mut self.replicas else { return false };
        let was_guest = !replicas.guests.is_empty() && replicas.guests.remove(&ppn);
        if was_guest {
            let plane = self.geometry.plane_of(ppn);
            self.planes[plane.index()].guests -= 1;
        }
        was_guest
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::{self, Config};
    use crate::ftl::Stream;
    use crate::ids::StreamId;

    const HOST: Stream = Stream::Host(StreamId(0));

    /// A drive of two dies with one plane each, written as a whole in a sequence.
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
        let geometry = Geometry::new(&config.geometry).expect("the geometry is possible");
        let mut ftl = Ftl::new(&geometry, &config);
        for lpn in (0..geometry.logical_pages).map(Lpn) {
            let ppn = ftl.allocate(PlaneId(lpn.0 % 2), HOST).expect("there is room");
            ftl.commit_write(lpn, ppn);
        }
        ftl.audit().expect("the tables agree");
        ftl
    }

    fn replicate(ftl: &mut Ftl, lpn: u32, die: u32) -> Ppn {
        let plane = ftl.plane_for_replica(Lpn(lpn), DieId(die)).expect("there is room");
        ftl.expect_replica(plane);
        let ppn = ftl.allocate(plane, HOST).expect("there is room");
        ftl.commit_replica(Lpn(lpn), ppn);
        ftl.audit().expect("the tables agree");
        ppn
    }

    #[test]
    fn figure_6_a_page_with_a_replica_is_at_two_places_until_it_is_written() {
        let mut ftl = drive();
        let original = ftl.lookup(Lpn(4)).expect("it was written");
        let replica = replicate(&mut ftl, 4, 1);
        assert!(ftl.is_at(Lpn(4), original) && ftl.is_at(Lpn(4), replica));
        let ppn = ftl.allocate(PlaneId(0), HOST).expect("there is room");
        ftl.commit_write(Lpn(4), ppn);
        assert!(ftl.is_at(Lpn(4), ppn) && !ftl.is_at(Lpn(4), original) && !ftl.is_at(Lpn(4), replica));
        assert_eq!((ftl.next_ended_replica(), ftl.next_ended_replica()), (Some(Lpn(4)), None));
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
    fn either_copy_can_be_kept() {
        let mut ftl = drive();
        let original = ftl.lookup(Lpn(4)).expect("it was written");
        let replica = replicate(&mut ftl, 4, 1);
        assert_eq!(ftl.drop_replica(Lpn(4)), Some(replica));
        assert_eq!((ftl.lookup(Lpn(4)), ftl.replica_of(Lpn(4))), (Some(original), None));
        ftl.audit().expect("the tables agree");
        let replica = replicate(&mut ftl, 4, 1);
        assert_eq!(ftl.keep_replica(Lpn(4)), Some(replica));
        assert_eq!((ftl.lookup(Lpn(4)), ftl.replica_of(Lpn(4))), (Some(replica), None));
        ftl.audit().expect("the tables agree");
    }

    #[test]
    fn collection_moves_originals_and_replicas() {
        let mut ftl = drive();
        let replica = replicate(&mut ftl, 4, 1);
        let to = ftl.allocate(PlaneId(1), Stream::Collection).expect("there is room");
        assert!(ftl.commit_move(Lpn(4), replica, to));
        assert_eq!(ftl.replica_of(Lpn(4)), Some(to));
        ftl.audit().expect("the tables agree");
        let original = ftl.lookup(Lpn(4)).expect("it was written");
        let to = ftl.allocate(PlaneId(0), Stream::Collection).expect("there is room");
        assert!(ftl.commit_move(Lpn(4), original, to) && ftl.lookup(Lpn(4)) == Some(to));
        ftl.audit().expect("the tables agree");
    }

    #[test]
    fn a_plane_takes_as_many_guests_as_it_has_room_for() {
        let mut ftl = drive();
        let most = ftl.replicas.as_ref().expect("it is enabled").guests_max[1];
        assert!(most > 0);
        let mut lpn = 0;
        while let Some(plane) = ftl.plane_for_replica(Lpn(lpn), DieId(1)) {
            ftl.expect_replica(plane);
            let ppn = ftl.allocate(plane, HOST).expect("there is room");
            ftl.commit_replica(Lpn(lpn), ppn);
            // One that is kept is a guest as well; one that is dropped is none.
            match lpn % 3 {
                0 => drop(ftl.keep_replica(Lpn(lpn))),
                1 => drop(ftl.drop_replica(Lpn(lpn))),
                _ => {}
            }
            lpn += 2;
        }
        assert!(ftl.planes[1].guests <= most);
        ftl.audit().expect("the tables agree");
    }

    #[test]
    fn faults_are_found_by_the_audit() {
        let finds = |expected: &str, fault: &dyn Fn(&mut Ftl)| {
            let mut ftl = drive();
            replicate(&mut ftl, 4, 1);
            fault(&mut ftl);
            let found = ftl.audit().expect_err("the fault is found");
            assert!(found.contains(expected), "{found}");
        };
        finds("is valid for", &|ftl| {
            ftl.replicas.as_mut().expect("it is enabled").homes.clear();
        });
        finds("which is not valid", &|ftl| {
            let ppn = ftl.replica_of(Lpn(4)).expect("it has one");
            ftl.invalidate(ppn);
        });
        finds("guests", &|ftl| ftl.planes[1].guests += 1);
    }

    #[test]
    fn replicas_that_are_no_second_homes_are_found_by_the_audit() {
        let finds = |expected: &str, fault: &dyn Fn(&mut Replicas, [Ppn; 3])| {
            let mut ftl = drive();
            let replica = replicate(&mut ftl, 4, 1);
            let [four, six] = [4, 6].map(|lpn| ftl.lookup(Lpn(lpn)).expect("it was written"));
            fault(ftl.replicas.as_mut().expect("it is enabled"), [four, six, replica]);
            let found = ftl.audit().expect_err("the fault is found");
            assert!(found.contains(expected), "{found}");
        };
        finds("which holds Lpn(4)", &|replicas, [four, ..]| {
            replicas.homes.insert(Lpn(6), four);
        });
        finds("is its original too", &|replicas, [_, six, _]| {
            replicas.homes.insert(Lpn(6), six);
        });
        finds("is no guest", &|replicas, [.., replica]| {
            replicas.guests.remove(&replica);
        });
    }
}
