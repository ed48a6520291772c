//! Programs that have finished, and pages that are forgotten: what is valid where from then on.

use std::ops::Range;

use super::Ftl;
use super::allocation::Allocator;
use crate::ids::{BlockId, Lpn, PlaneId, Ppn};

impl Ftl {
    /// The program of a page that the host wrote has finished: `lpn` is at `ppn` from now on.
    #[inline]
    pub fn commit_write(&mut self, lpn: Lpn, ppn: Ppn) {
        let plane = self.commit(lpn, ppn);
        self.allocation.committed(lpn, plane);
    }

    /// Maps `lpn` to `ppn`, which has been programmed, and invalidates its older version. Returns the plane of `ppn`.
    #[inline]
    pub(super) fn commit(&mut self, lpn: Lpn, ppn: Ppn) -> PlaneId {
        let old = self.mapping.set(lpn, ppn);
        if let Some(old) = old {
            self.invalidate(old);
        }
        self.end_replica(lpn);
        if self.rules.counts_parts {
            self.tell_move(lpn, old, Some(ppn));
        }
        self.program_valid(ppn)
    }

    /// Tells the allocator that `lpn` has come to another place, or to none.
    pub(super) fn tell_move(&mut self, lpn: Lpn, from: Option<Ppn>, to: Option<Ppn>) {
        let plane_of = |ppn: Option<Ppn>| ppn.map(|ppn| self.geometry.plane_of(ppn));
        self.allocation.moved(lpn, plane_of(from), plane_of(to));
    }

    /// Tells the allocator of `pages`, which came to their planes by other ways than a write.
    pub(super) fn count_parts(&mut self, pages: Range<u32>) {
        if !self.rules.counts_parts {
            return;
        }
        for lpn in pages.map(Lpn) {
            if let Some(ppn) = self.lookup(lpn) {
                self.tell_move(lpn, None, Some(ppn));
            }
        }
    }

    /// The program of a page moved by collection or wear levelling has finished. When the host has not changed `lpn`
    /// meanwhile, it is at `to` from now on (true); otherwise the copy is dead on arrival (false).
    #[inline]
    pub fn commit_move(&mut self, lpn: Lpn, from: Ppn, to: Ppn) -> bool {
        let moved = self.mapping.get(lpn) == Some(from);
        if moved {
            self.mapping.set(lpn, to);
            let was_guest = self.invalidate(from);
            if self.rules.counts_parts {
                self.tell_move(lpn, Some(from), Some(to));
            }
            let plane = self.program_valid(to);
            if was_guest && plane == self.geometry.plane_of(from) {
                self.admit_guest(to);
            }
            return true;
        }
        if self.replicas.is_some() && self.move_replica(lpn, from, to) {
            return true;
        }
        self.count_program(self.blocks.block_of(to));
        false
    }

    /// Forgets `lpn` (TRIM of a whole page); true when it was mapped.
    pub fn deallocate(&mut self, lpn: Lpn) -> bool {
        let old = self.mapping.clear(lpn);
        self.end_replica(lpn);
        if let Some(old) = old {
            self.invalidate(old);
            if self.rules.counts_parts {
                self.tell_move(lpn, Some(old), None);
            }
        }
        old.is_some()
    }

    #[inline]
    pub(super) fn program_valid(&mut self, ppn: Ppn) -> PlaneId {
        let block = self.blocks.block_of(ppn);
        self.blocks.set_valid(block, ppn);
        let plane = self.blocks.plane_of(block);
        self.planes[plane.index()].valid_pages += 1;
        self.count_program(block);
        plane
    }

    #[inline]
    pub(super) fn count_program(&mut self, block: BlockId) {
        if self.blocks.count_program(block) {
            self.fill(block);
        }
    }

    pub(super) fn fill(&mut self, block: BlockId) {
        let account = &mut self.planes[self.blocks.plane_of(block).index()];
        account.filled += 1;
        account.invalid_pages += self.blocks.fill(block, account.filled);
        let erase_count = self.blocks.erase_count(block);
        account.wear.filled(erase_count);
    }

    /// A page is not valid any more; gives whether it was a guest of its plane.
    #[inline]
    pub(super) fn invalidate(&mut self, ppn: Ppn) -> bool {
        let block = self.blocks.block_of(ppn);
        let account = &mut self.planes[self.blocks.plane_of(block).index()];
        account.valid_pages -= 1;
        account.invalid_pages += u32::from(self.blocks.clear_valid(block, ppn));
        self.dismiss_guest(ppn)
    }
}
