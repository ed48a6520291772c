//! Writes that take no time, for preconditioning and for studies of write amplification. They must not be mixed with operations
//! in flight.

use super::{Ftl, IdleDies};
use crate::ids::{BlockId, Lpn, PlaneId, Ppn, StreamId};

/// Pages that are moved at a time: what they touch of the map fits into the first-level cache.
const RUN_MAX: u32 = 128;

impl Ftl {
    /// Writes `lpn` at once and returns how many pages were moved for it: by a collection when the plane wants one, by
    /// more when the host is out of space there, and by a wear move.
    pub fn write_untimed(&mut self, lpn: Lpn, idle: &IdleDies) -> u64 {
        self.write_untimed_by(StreamId(0), lpn, idle)
    }

    /// [`Ftl::write_untimed`] by one stream of several.
    pub fn write_untimed_by(&mut self, stream: StreamId, lpn: Lpn, idle: &IdleDies) -> u64 {
        let mut plane = self.place_write(lpn, idle);
        if self.has_twins() {
            let (behind, _) = self.blocks.twin_behind(plane, self.host_stream(plane, Some(stream)));
            self.unplace_write(lpn, plane);
            self.place_write_on(lpn, behind);
            plane = behind;
        }
        let mut moved = 0;
        let is_wanted = if self.has_twins() { self.wants_twin_collection(plane) } else { self.wants_collection(plane) };
        if is_wanted {
            moved += self.collect_untimed(plane).unwrap_or(0);
        }
        if let Some(victim) = self.wants_wear_move(plane) {
            let twins = if self.has_twins() { self.twins_of_victim(victim) } else { vec![victim] };
            moved += self.empty_untimed(&twins);
        }
        let ppn = loop {
            match self.allocate(plane, self.host_stream(plane, Some(stream))) {
                Some(ppn) => break ppn,
                None => moved += self.collect_untimed(plane).expect("a plane out of space has something to gain"),
            }
        };
        self.commit_write(lpn, ppn);
        moved
    }

    fn collect_untimed(&mut self, plane: PlaneId) -> Option<u64> {
        if self.has_twins() {
            let victims = self.begin_twin_collection(plane)?;
            return Some(self.empty_untimed(&victims));
        }
        let victim = self.begin_collection(plane)?;
        Some(self.empty_untimed(&[victim]))
    }

    /// Moves the valid pages of victims away and erases them. Returns how many pages it moved.
    fn empty_untimed(&mut self, victims: &[BlockId]) -> u64 {
        let moved = victims.iter().map(|&victim| self.move_untimed(victim)).sum();
        victims.iter().for_each(|&victim| self.finish_erase(victim));
        moved
    }

    /// Moves the valid pages of a victim, as many at a time as follow each other where they go to.
    fn move_untimed(&mut self, victim: BlockId) -> u64 {
        let table = self.blocks.table();
        let mut from = Vec::with_capacity(table.valid_pages(victim) as usize);
        table.valid_offsets(victim).for_each(|page| from.push(self.geometry.ppn(victim, page)));
        let stream = self.stream_of_move(self.geometry.ppn(victim, 0));
        // The destination, and the pages that it takes before another twin may be further behind.
        let (mut to_plane, mut lacks) = (self.geometry.plane_of_block(victim), 0);
        let mut rest = from.as_slice();
        while !rest.is_empty() {
            let mut most = (rest.len() as u32).min(RUN_MAX);
            if self.has_twins() {
                if lacks == 0 {
                    (to_plane, lacks) = self.blocks.twin_behind(to_plane, stream);
                }
                // When a block is opened, all twins begin anew.
                let is_opened = self.blocks.next_move_offset(to_plane, stream).is_some_and(|(_, page)| page == 0);
                lacks = if is_opened { 1 } else { lacks };
                most = most.min(lacks);
            }
            let (to, count) =
                self.blocks.allocate_moves(to_plane, stream, most).expect("the reserve has room for a victim");
            lacks = lacks.saturating_sub(count);
            let (run, left) = rest.split_at(count as usize);
            self.commit_moves(run, to);
            rest = left;
        }
        self.blocks.invalidate_victim(victim);
        from.len() as u64
    }

    /// Pages were moved, in their order, to those of a block from `to` on.
    fn commit_moves(&mut self, from: &[Ppn], to: Ppn) {
        let moved = from.iter().zip(to.0..).map(|(&from, to)| (self.mapping.lpn_at(from), Ppn(to)));
        let moves: Vec<(Lpn, Ppn)> = moved.collect();
        self.mapping.set_all(&moves);
        self.blocks.program_all_valid(to, from.len() as u32);
        for (&from, &(lpn, to)) in from.iter().zip(&moves) {
            self.tell_move(lpn, Some(from), Some(to));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Config;
    use crate::engine::random::SimRng;
    use crate::flash::geometry::Geometry;
    use crate::ftl::FtlRules;

    const DRIVE: &str = "
        [geometry]
        channels = 2
        chips-per-channel = 2
        planes-per-die = 2
        blocks-per-plane = 24
        pages-per-block = 32
        page-size = '16KiB'
        over-provisioning = 0.45
        [ftl]
        mapping-unit = '4KiB'
    ";

    fn drive(superblock_dies: Option<u32>, moves_share_write_block: bool) -> Ftl {
        let config = Config::from_str(DRIVE, "drive.toml", &[]).unwrap_or_else(|error| panic!("{error}"));
        let rules = FtlRules { superblock_dies, moves_share_write_block, ..FtlRules::new(&config) };
        Ftl::new(&Geometry::of(&config).expect("the geometry is possible"), &config, rules)
    }

    fn victims(ftl: &mut Ftl, plane: PlaneId) -> Option<Vec<BlockId>> {
        if ftl.has_twins() {
            return ftl.begin_twin_collection(plane);
        }
        Some(vec![ftl.begin_collection(plane)?])
    }

    /// Moves one page after the other, as a run does.
    fn empty_one_by_one(ftl: &mut Ftl, victims: &[BlockId]) -> u64 {
        let mut moved = 0;
        for &victim in victims {
            let (mut plane, mut next) = (ftl.geometry.plane_of_block(victim), 0);
            while let Some((page, lpn)) = ftl.next_valid_page(victim, next) {
                let from = ftl.geometry.ppn(victim, page);
                let stream = ftl.stream_of_move(from);
                if ftl.has_twins() {
                    (plane, _) = ftl.blocks.twin_behind(plane, stream);
                }
                let to = ftl.allocate_move(plane, stream).expect("the reserve has room for a victim");
                assert!(ftl.commit_move(lpn, from, to));
                (moved, next) = (moved + 1, page + 1);
            }
        }
        victims.iter().for_each(|&victim| ftl.finish_erase(victim));
        moved
    }

    #[test]
    fn pages_moved_together_go_where_those_moved_one_by_one_do() {
        for (superblock_dies, shares) in [(None, false), (None, true), (Some(1), true), (Some(4), true)] {
            let mut ftl = drive(superblock_dies, shares);
            let (idle, mut random) = (IdleDies::new(ftl.geometry.dies()), SimRng::new(11));
            let (pages, mut compared) = (ftl.geometry.logical_pages, 0);
            for write in 0..5 * pages {
                let lpn = if write < pages { write } else { random.below(pages) };
                ftl.write_untimed(Lpn(lpn), &idle);
                if write < 2 * pages || write % 100 != 0 {
                    continue;
                }
                let plane = PlaneId(random.below(ftl.geometry.planes()));
                if let Some(victims) = victims(&mut ftl, plane) {
                    let mut one_by_one = ftl.clone();
                    assert_eq!(ftl.empty_untimed(&victims), empty_one_by_one(&mut one_by_one, &victims));
                    assert_eq!(format!("{:?}", ftl.blocks), format!("{:?}", one_by_one.blocks));
                    assert!((0..pages).map(Lpn).all(|lpn| ftl.lookup(lpn) == one_by_one.lookup(lpn)));
                    compared += 1;
                }
            }
            ftl.audit().expect("the tables agree");
            assert!(compared > 50, "{superblock_dies:?}: {compared}");
        }
    }
}
