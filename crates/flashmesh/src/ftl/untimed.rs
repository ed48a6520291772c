//! Writes that take no time, for preconditioning and for studies of write amplification. They must not be mixed with operations
//! in flight.

use super::{Ftl, IdleDies};
use crate::ids::{BlockId, Lpn, PlaneId, StreamId};

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
        let mut moved = 0;
        for &victim in victims {
            // The destination, and the pages that it takes before another twin may be further behind.
            let (mut to_plane, mut left) = (self.geometry.plane_of_block(victim), 0);
            let mut from_page = 0;
            while let Some((page, lpn)) = self.next_valid_page(victim, from_page) {
                let from = self.geometry.ppn(victim, page);
                let stream = self.stream_of_move(from);
                if self.has_twins() && left == 0 {
                    (to_plane, left) = self.blocks.twin_behind(to_plane, stream);
                }
                let to = self.allocate_move(to_plane, stream).expect("the reserve has room for a victim");
                // A block was opened: all twins begin anew.
                left = if self.geometry.page_in_block(to) == 0 { 0 } else { left.saturating_sub(1) };
                self.commit_move(lpn, from, to);
                moved += 1;
                from_page = page + 1;
            }
        }
        victims.iter().for_each(|&victim| self.finish_erase(victim));
        moved
    }
}
