//! Data that was there before: pages that are read before the run has written them.

use std::cmp::Reverse;

use super::allocation::Allocator;
use super::collection::VictimSelector;
use super::plane::{Frontier, OpenBlock};
use super::{Ftl, Occupancy};
use crate::config::FirstTouch;
use crate::ids::{BlockId, Lpn, PlaneId, Ppn};

impl Ftl {
    /// Where `lpn` is. A page never written is placed when it is first read, by the static order, at once and without
    /// any flash operation: the run did not write it, so it was there before.
    ///
    /// Such data has an open block of its own, or that of writes (`ftl.first-touch`): where streams write apart, that of the first
    /// which writes to the plane, as for all data that was there before \[choice\]. When the plane has no block left for it, some
    /// block is compacted in place, untimed too: with data there before, it would never have held so many invalid pages.
    #[inline]
    pub fn translate_read(&mut self, lpn: Lpn) -> Ppn {
        match self.mapping.get(lpn) {
            Some(ppn) => ppn,
            None => self.place_unwritten(lpn),
        }
    }

    #[cold]
    fn place_unwritten(&mut self, lpn: Lpn) -> Ppn {
        let occupancy = Occupancy::new(&self.planes, &self.mapping, &self.geometry);
        let plane = self.allocation.place_unwritten(lpn, &occupancy);
        let writes = Frontier::Host(self.planes[plane.index()].writer(None));
        let first_choice = match self.first_touch {
            FirstTouch::OwnBlock => Frontier::Placement,
            FirstTouch::WriteBlock => writes,
        };
        let ppn = self
            .allocate_from(plane, first_choice)
            .or_else(|| self.allocate_from(plane, Frontier::Placement))
            .or_else(|| {
                self.compact_for_placement(plane)?;
                self.allocate_from(plane, Frontier::Placement)
            })
            // With one program in flight at a time this is not reached: see "Why a plane never gets stuck", with one
            // more block being collected and one page fewer valid, since `lpn` itself is not mapped.
            .or_else(|| self.allocate_from(plane, writes))
            .or_else(|| self.allocate_from(plane, Frontier::Collection))
            .expect("every page of the plane is valid or in flight");
        self.commit(lpn, ppn);
        ppn
    }

    /// Rewrites a full block that has invalid pages in place, its valid pages first, and leaves it open for placement.
    /// Needs no free block, so it cannot get in the way of a collection under way. A block of translation pages comes last, since
    /// those that are valid then lie among data.
    fn compact_for_placement(&mut self, plane: PlaneId) -> Option<()> {
        let candidates = self.blocks.candidates(plane);
        let greatest = candidates.greatest_gain()?;
        let chosen =
            self.victim.select(&candidates, &mut self.random).filter(|&position| candidates.gain(position) > 0);
        let first = self.geometry.first_block(plane).0;
        let mut block = BlockId(first + chosen.unwrap_or(greatest));
        if self.blocks.holds_translation(block) {
            let holds_data = |other: &BlockId| !self.blocks.holds_translation(*other);
            let of_data = self.blocks.of_plane(plane).filter(holds_data);
            let fullest_of_invalid = of_data.max_by_key(|&other| (self.blocks.gain(other), Reverse(other)));
            block = fullest_of_invalid.filter(|&other| self.blocks.gain(other) > 0).unwrap_or(block);
        }

        let mut survivors = Vec::new();
        let mut from_page = 0;
        while let Some((page, lpn)) = self.next_valid_page(block, from_page) {
            survivors.push(lpn);
            from_page = page + 1;
        }
        self.mark_victim(block);
        for &lpn in &survivors {
            self.deallocate(lpn);
        }
        let erase_count = self.blocks.erase(block);
        self.blocks.open(block, false);
        let account = &mut self.planes[plane.index()];
        account.collecting -= 1;
        account.free_pages += self.geometry.pages_per_block;
        account.erase_count_max = account.erase_count_max.max(erase_count);
        account.wear_changed = true;
        *account.open_block_mut(Frontier::Placement) = OpenBlock { block, next_page: 0 };
        for lpn in survivors {
            let ppn = self.allocate_from(plane, Frontier::Placement)?;
            self.commit(lpn, ppn);
        }
        Some(())
    }
}
