//! Superblocks: planes that open, collect and erase the blocks with the same index together. A superblock spans one die for the policy TBM (twin
//! block management), and several dies for `ftl.policy = "superblock"`.
//!
//! Dies are numbered channel by channel. A superblock consists of dies at equal distances in this order, so it spans as many channels as possible.

use crate::flash::geometry::Geometry;
use crate::ids::{DieId, PlaneId};

/// Division of the planes of a drive into sets. The planes of a set share superblocks: each superblock has one block in each plane of the set.
#[derive(Clone, Copy, Debug)]
pub struct Superblocks {
    /// Number of dies that a superblock spans. All planes of these dies form a set.
    dies: u32,
    /// Number of sets of planes in the drive.
    count: u32,
    planes_per_die: u32,
}

impl Superblocks {
    /// Creates superblocks over `dies` dies each. `dies` must divide the number of dies of the drive.
    pub fn new(geometry: &Geometry, dies: u32) -> Superblocks {
        Superblocks { dies, count: geometry.dies() / dies, planes_per_die: geometry.planes_per_die }
    }

    /// Returns the number of sets of planes that share superblocks, in the whole drive.
    pub fn count(self) -> u32 {
        self.count
    }

    /// Returns the number of planes in each set, which is also the number of blocks in a superblock.
    pub fn planes(self) -> u32 {
        self.dies * self.planes_per_die
    }

    /// Returns the index of the set that contains `plane`.
    pub fn index_of(self, plane: PlaneId) -> u32 {
        plane.0 / self.planes_per_die % self.count
    }

    /// Returns the index of `die` among the dies of its set, from 0.
    pub fn index_in_superblock(self, die: DieId) -> u32 {
        die.0 / self.count
    }

    /// Returns the planes that share superblocks with `plane`, including `plane`, in ascending order.
    #[inline]
    pub fn members(self, plane: PlaneId) -> SuperblockPlanes {
        let Superblocks { dies, count, planes_per_die } = self;
        let next = self.index_of(plane) * planes_per_die;
        SuperblockPlanes {
            next,
            of_die: planes_per_die,
            dies: dies - 1,
            planes_per_die,
            gap: (count - 1) * planes_per_die,
        }
    }
}

/// Planes that share superblocks, in ascending order. Every write iterates over these planes. Chained ranges would not be inlined, so the
/// iterator is written by hand.
#[derive(Clone, Debug)]
pub struct SuperblockPlanes {
    next: u32,
    /// Number of planes not returned yet in the current die, from the plane `next` on.
    of_die: u32,
    /// Number of dies of the set after the current die.
    dies: u32,
    planes_per_die: u32,
    /// Number of planes between a die of the set and the next die of the set. These planes belong to other sets. Planes are numbered die by
    /// die.
    gap: u32,
}

impl Iterator for SuperblockPlanes {
    type Item = PlaneId;

    #[inline(always)]
    fn next(&mut self) -> Option<PlaneId> {
        if self.of_die == 0 {
            self.dies = self.dies.checked_sub(1)?;
            self.next += self.gap;
            self.of_die = self.planes_per_die;
        }
        self.of_die -= 1;
        self.next += 1;
        Some(PlaneId(self.next - 1))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config;

    #[test]
    fn each_plane_has_one_superblock_which_spans_as_many_channels_as_possible() {
        let config =
            config::Geometry { channels: 4, chips_per_channel: 3, planes_per_die: 2, ..config::Geometry::default() };
        let geometry = Geometry::new(&config).expect("the geometry is valid");
        for dies in [1, 2, 4, 12] {
            let superblocks = Superblocks::new(&geometry, dies);
            assert_eq!((superblocks.planes(), superblocks.count()), (2 * dies, 12 / dies));
            for plane in (0..24).map(PlaneId) {
                let members: Vec<PlaneId> = superblocks.members(plane).collect();
                assert_eq!(members.len() as u32, 2 * dies);
                assert!(members.contains(&plane));
                assert!(members.iter().all(|&other| superblocks.members(other).eq(members.iter().copied())));
                let mut channels: Vec<u32> = members.iter().map(|plane| plane.0 / 6).collect();
                channels.dedup();
                assert_eq!(channels.len() as u32, dies.min(4));
            }
        }
    }
}
