//! Writes without simulated time, for preconditioning and for studies of write amplification. Untimed writes must not be mixed with operations in
//! flight.

use crate::ftl::{Ftl, IdleDies, OpenBlockKind};
use crate::ids::{BlockId, Lpn, PlaneId, Ppn, StreamId};

/// Access to the translation layer that writes pages, and collects garbage for them, without simulated time.
#[derive(Debug)]
pub struct UntimedWrites<'a>(pub(in super::super) &'a mut Ftl);

impl UntimedWrites<'_> {
    /// Writes `lpn` immediately. Before that, collects the plane of `lpn` if needed, moves pages for static wear levelling, and collects again while
    /// host writes find no free page. Returns the number of valid pages moved.
    pub fn write(&mut self, lpn: Lpn, idle: &IdleDies) -> u64 {
        self.write_by(StreamId(0), lpn, idle)
    }

    /// Like [`write`](Self::write), but for a write of host stream `stream`.
    pub fn write_by(&mut self, stream: StreamId, lpn: Lpn, idle: &IdleDies) -> u64 {
        let mut plane = self.0.place_write(lpn, idle);
        if self.0.blocks.has_twins() {
            let (behind, _) = self.0.blocks.twin_behind(plane, self.0.blocks.host_block_kind(plane, Some(stream)));
            self.0.withdraw_write(lpn, plane);
            self.0.record_placement(lpn, behind);
            plane = behind;
        }
        let mut moved = 0;
        if self.0.needs_collection(plane) {
            moved += self.collect(plane).unwrap_or(0);
        }
        if let Some(victims) = self.0.begin_wear_move(plane) {
            moved += self.empty(&victims);
        }
        let ppn = loop {
            match self.0.allocate(plane, self.0.blocks.host_block_kind(plane, Some(stream))) {
                Some(ppn) => break ppn,
                None => moved += self.collect(plane).expect("a plane out of space has something to gain"),
            }
        };
        self.0.commit_write(lpn, ppn);
        moved
    }

    /// Writes `lpns` in order, with the same effect as [`write`](Self::write) for each. On a drive of one plane, or whose planes all share
    /// superblocks, writes runs of pages together, which is faster. Returns the number of valid pages moved.
    pub(in super::super) fn write_all(&mut self, lpns: &[Lpn], idle: &IdleDies) -> u64 {
        if !self.can_write_runs() {
            return lpns.iter().map(|&lpn| self.write(lpn, idle)).sum();
        }
        let mut moved = 0;
        let mut rest = lpns;
        while let Some(&next) = rest.first() {
            let (plane, stream, room) = self.room_for_run();
            let (run, left) = rest.split_at(rest.len().min(room.max(1) as usize));
            if room == 0 {
                moved += self.write(next, idle);
            } else {
                self.write_run(run, plane, stream);
            }
            rest = left;
        }
        moved
    }

    /// Returns whether the plane and the side effects of a write do not depend on its logical page, so that consecutive writes can be joined in runs.
    fn can_write_runs(&self) -> bool {
        let ftl = &*self.0;
        let is_one_set = ftl.blocks.superblock_planes(PlaneId(0)).count() == ftl.geometry.planes() as usize;
        let does_more = ftl.replicas.is_some() || ftl.collector.wear().static_levelling;
        is_one_set && ftl.allocation.is_static() && !does_more
    }

    /// Returns how many host writes can be made together (a run), with their destination plane and their kind of open block. A run ends before free
    /// pages become short, a block must be opened, or another plane of the superblock becomes the least filled. The number is 0 if the next page
    /// needs [`write`](Self::write).
    fn room_for_run(&self) -> (PlaneId, OpenBlockKind, u32) {
        let (blocks, collector) = (&self.0.blocks, &self.0.collector);
        let first = PlaneId(0);
        let stream = blocks.host_block_kind(first, Some(StreamId(0)));
        let (plane, lacks) = if blocks.has_twins() { blocks.twin_behind(first, stream) } else { (first, u32::MAX) };
        if blocks.superblock_planes(first).any(|twin| collector.is_short(blocks, twin)) {
            return (plane, stream, 0);
        }
        let left = blocks.accounts.plane(plane).open.pages_left(stream);
        (plane, stream, lacks.min(left).min(collector.pages_until_short(blocks, plane)))
    }

    /// Writes `lpns` to consecutive pages of the open block of kind `stream` in `plane`, which must have room for them.
    fn write_run(&mut self, lpns: &[Lpn], plane: PlaneId, stream: OpenBlockKind) {
        let (first, count) =
            self.0.blocks.allocate_run(plane, stream, lpns.len() as u32).expect("the open block has room");
        debug_assert_eq!(count as usize, lpns.len(), "a run ends before the block does");
        self.0.blocks.accounts.program_run(first, count);
        for (&lpn, ppn) in lpns.iter().zip(first.0..) {
            if let Some(old) = self.0.mapping.set(lpn, Ppn(ppn)) {
                self.0.blocks.accounts.invalidate(old);
            }
        }
    }

    fn collect(&mut self, plane: PlaneId) -> Option<u64> {
        let victims = self.0.begin_collection(plane)?;
        Some(self.empty(&victims))
    }

    /// Moves the valid pages of `victims`, and erases all of them. Returns the number of pages moved.
    pub(in super::super) fn empty(&mut self, victims: &[BlockId]) -> u64 {
        let moved = victims.iter().map(|&victim| self.move_pages(victim)).sum();
        victims.iter().for_each(|&victim| self.0.finish_erase(victim));
        moved
    }

    /// Moves one valid page: the first one of the victim with the most valid pages left. Does nothing if no victim has a valid page.
    pub(in super::super) fn move_next(&mut self, victims: &[BlockId]) {
        let ftl = &mut *self.0;
        let Some(&victim) = victims.iter().max_by_key(|&&victim| ftl.blocks.valid_pages(victim)) else { return };
        let Some((page, lpn)) = ftl.next_valid_page(victim, 0) else { return };
        let from = ftl.geometry.ppn(victim, page);
        let stream = ftl.move_block_kind(from);
        let plane = ftl.geometry.plane_of_block(victim);
        let plane = if ftl.blocks.has_twins() { ftl.blocks.twin_behind(plane, stream).0 } else { plane };
        let to = ftl.allocate_move(plane, stream).expect("the reserve has room for a victim");
        ftl.commit_move(lpn, from, to);
    }

    /// Returns whether a host write would find a free page in the planes that collect together with `plane`, before their victims are erased.
    pub(in super::super) fn can_write(&self, plane: PlaneId) -> bool {
        let blocks = &self.0.blocks;
        let stream = blocks.host_block_kind(plane, Some(StreamId(0)));
        let plane = if blocks.has_twins() { blocks.twin_behind(plane, stream).0 } else { plane };
        blocks.accounts.has_page(plane, stream)
    }

    /// Moves the valid pages of a victim, in runs of consecutive destination pages. Returns the number of pages moved. The victim is not erased.
    fn move_pages(&mut self, victim: BlockId) -> u64 {
        let ftl = &mut *self.0;
        let first = ftl.geometry.ppn(victim, 0);
        let mut from = ftl.blocks.accounts.table().valid_offsets(victim);
        from.iter_mut().for_each(|page| *page += first.0);
        let stream = ftl.move_block_kind(first);
        // Destination plane, and the number of pages to write there before another plane of the superblock may be the least filled.
        let (mut to_plane, mut lacks) = (ftl.geometry.plane_of_block(victim), 0);
        let mut moves: Vec<(Lpn, Ppn)> = Vec::with_capacity(from.len());
        while moves.len() < from.len() {
            let rest = &from[moves.len()..];
            let mut most = rest.len() as u32;
            if ftl.blocks.has_twins() {
                if lacks == 0 {
                    (to_plane, lacks) = ftl.blocks.twin_behind(to_plane, stream);
                }
                // Opening a block changes the write pointers of all planes of the superblock, so compare the planes again after one page.
                let is_opened = ftl.blocks.next_move_offset(to_plane, stream).is_some_and(|(_, page)| page == 0);
                lacks = if is_opened { 1 } else { lacks };
                most = most.min(lacks);
            }
            let (to, count) =
                ftl.blocks.allocate_moves(to_plane, stream, most).expect("the reserve has room for a victim");
            lacks = lacks.saturating_sub(count);
            ftl.blocks.accounts.program_run(to, count);
            let moved = rest.iter().zip(to.0..to.0 + count);
            moves.extend(moved.map(|(&from, to)| (ftl.mapping.lpn_at(Ppn(from)), Ppn(to))));
        }
        ftl.mapping.set_all(&moves);
        ftl.blocks.accounts.invalidate_victim(victim);
        for (&from, &(lpn, to)) in from.iter().zip(&moves) {
            ftl.notify_move(lpn, Some(Ppn(from)), Some(to));
        }
        moves.len() as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::random::SimRng;
    use crate::flash::geometry::Geometry;
    use crate::ftl::FtlRules;
    use crate::ftl::testing::{DRIVE, config_of};

    fn drive(superblock_dies: Option<u32>, moves_share_write_block: bool, overrides: &[&str]) -> Ftl {
        let overrides: Vec<&str> = overrides.iter().copied().chain(["ftl.mapping-unit=4KiB"]).collect();
        let config = config_of(DRIVE, &overrides);
        let rules = FtlRules { superblock_dies, moves_share_write_block, ..FtlRules::new(&config) };
        Ftl::new(&Geometry::from_config(&config).expect("the geometry is valid"), &config, rules)
    }

    /// Moves valid pages of the victims one by one, as a reference for moves in runs, and erases the victims. Returns the number of moves.
    fn empty_one_by_one(ftl: &mut Ftl, victims: &[BlockId]) -> u64 {
        let mut moved = 0;
        for &victim in victims {
            let (mut plane, mut next) = (ftl.geometry.plane_of_block(victim), 0);
            while let Some((page, lpn)) = ftl.next_valid_page(victim, next) {
                let from = ftl.geometry.ppn(victim, page);
                let stream = ftl.move_block_kind(from);
                if ftl.blocks.has_twins() {
                    (plane, _) = ftl.blocks.twin_behind(plane, stream);
                }
                let to = ftl.allocate_move(plane, stream).expect("the GC reserve has a free page");
                assert!(ftl.commit_move(lpn, from, to));
                (moved, next) = (moved + 1, page + 1);
            }
        }
        victims.iter().for_each(|&victim| ftl.finish_erase(victim));
        moved
    }

    #[test]
    fn moves_in_runs_equal_moves_one_by_one() {
        let drives =
            [(None, false), (None, true), (Some(1), true), (Some(4), true), (Some(1), false), (Some(4), false)];
        for (superblock_dies, shares) in drives {
            let mut ftl = drive(superblock_dies, shares, &[]);
            let (idle, mut random) = (IdleDies::new(ftl.geometry.dies()), SimRng::new(11));
            let (pages, mut compared) = (ftl.geometry.logical_pages, 0);
            for write in 0..5 * pages {
                let lpn = if write < pages { write } else { random.below(pages) };
                ftl.untimed().write(Lpn(lpn), &idle);
                if write < 2 * pages || write % 100 != 0 {
                    continue;
                }
                let plane = PlaneId(random.below(ftl.geometry.planes()));
                if let Some(victims) = ftl.begin_collection(plane) {
                    let mut one_by_one = ftl.clone();
                    assert_eq!(ftl.untimed().empty(&victims), empty_one_by_one(&mut one_by_one, &victims));
                    assert_eq!(format!("{:?}", ftl.blocks), format!("{:?}", one_by_one.blocks));
                    assert!((0..pages).map(Lpn).all(|lpn| ftl.lookup(lpn) == one_by_one.lookup(lpn)));
                    compared += 1;
                }
            }
            ftl.audit().expect("the tables agree");
            assert!(compared > 50, "{superblock_dies:?}: {compared}");
        }
    }

    #[test]
    fn writes_in_runs_equal_writes_one_by_one() {
        const DIE: [&str; 2] = ["geometry.channels=1", "geometry.chips-per-channel=1"];
        const PLANE: [&str; 3] = [DIE[0], DIE[1], "geometry.planes-per-die=1"];
        let drives = [
            (&DIE[..], Some(1), true),
            (&PLANE, None, false),
            (&PLANE, None, true),
            // Several planes without superblocks: the plane depends on the page, so pages are written one by one.
            (&DIE, None, false),
            (&[], Some(4), true),
            (&DIE, Some(1), false),
            (&[], Some(4), false),
        ];
        for (overrides, superblock_dies, shares) in drives {
            for threshold in ["gc.threshold=0.02", "gc.threshold=0.2"] {
                let overrides: Vec<&str> = overrides.iter().copied().chain([threshold]).collect();
                let mut together = drive(superblock_dies, shares, &overrides);
                let mut one_by_one = together.clone();
                let (idle, mut random) = (IdleDies::new(together.geometry.dies()), SimRng::new(6));
                let pages = together.geometry.logical_pages;
                let mut moved = 0;
                for _ in 0..50 {
                    let lpns: Vec<Lpn> = (0..random.below(pages / 5)).map(|_| Lpn(random.below(pages))).collect();
                    let of_each = lpns.iter().map(|&lpn| one_by_one.untimed().write(lpn, &idle)).sum::<u64>();
                    assert_eq!(together.untimed().write_all(&lpns, &idle), of_each);
                    assert_eq!(format!("{:?}", together.blocks), format!("{:?}", one_by_one.blocks));
                    assert!((0..pages).map(Lpn).all(|lpn| together.lookup(lpn) == one_by_one.lookup(lpn)));
                    moved += of_each;
                }
                together.audit().expect("the tables agree");
                assert!(moved > 100, "{overrides:?}: {moved}");
            }
        }
    }
}
