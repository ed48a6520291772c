//! Garbage collection: when a plane needs it, and the steps of one collection.
//!
//! The caller of [`Ftl`] moves the valid pages of the victim. For each page of [`Ftl::next_valid_page`] it reads the page, allocates a page of
//! [`Ftl::move_block_kind`], programs it, and calls [`Ftl::commit_move`]. When no valid page is left and all programs have ended, it erases the
//! victim and calls [`Ftl::finish_erase`].

use super::VictimSelector;
use crate::ftl::{Ftl, Mapping};
use crate::ids::{BlockId, Lpn, PlaneId, Ppn};

impl Ftl {
    /// Replaces the configured victim selector by one supplied by the caller.
    pub(crate) fn set_victim_selector(&mut self, selector: Box<dyn VictimSelector + Send>) {
        self.collector.set_victim_selector(selector);
    }

    /// Sets whether moved pages go to the open block of host writes (true), or to an open block of their own.
    pub(crate) fn set_moves_shared(&mut self, shared: bool) {
        self.blocks.set_moves_shared(shared);
    }

    /// Returns whether to collect `plane`, and the planes that share superblocks with `plane`, even if their dies are busy: one of them
    /// [is short](Ftl::is_short) of free pages, and a collection would gain pages. False while a collection or wear-levelling move of these planes is
    /// in progress.
    #[inline]
    pub fn needs_collection(&self, plane: PlaneId) -> bool {
        self.collector.needs_collection(&self.blocks, plane)
    }

    /// Returns whether `plane` is short of free pages, even if no collection can help. Its free pages are below the threshold, or writes of the host
    /// or of translation pages cannot allocate a page there.
    #[inline]
    pub(crate) fn is_short(&self, plane: PlaneId) -> bool {
        self.collector.is_short(&self.blocks, plane)
    }

    /// Like [`Ftl::needs_collection`], but while the dies are idle: the free pages of one of the planes are below the background threshold.
    #[inline]
    pub fn needs_background_collection(&self, plane: PlaneId) -> bool {
        self.collector.needs_background_collection(&self.blocks, plane)
    }

    /// Returns whether collection of `plane` has priority over user requests even if it is preemptible: free pages are below the hard threshold, or
    /// writes cannot allocate a page there.
    #[inline]
    pub fn is_urgent(&self, plane: PlaneId) -> bool {
        self.collector.is_urgent(&self.blocks, plane)
    }

    /// Begins a collection of `plane`: marks one of its full blocks as victim and returns it. With superblocks, the victims are all blocks of one
    /// superblock. The caller then moves their valid pages and erases them.
    ///
    /// Returns `None` if a collection or wear-levelling move is in progress in these planes, or if no block (superblock) qualifies. A block qualifies
    /// if it has enough invalid pages, and if there are free pages for its valid pages.
    pub fn begin_collection(&mut self, plane: PlaneId) -> Option<Vec<BlockId>> {
        let victims = self.collector.begin(&mut self.blocks, plane)?;
        self.store_entries(&victims);
        Some(victims)
    }

    /// Stores the computed map entries of the valid pages of victims in the tables of the map, because each entry is looked up several
    /// times while its page moves.
    fn store_entries(&mut self, victims: &[BlockId]) {
        if !self.mapping.is_computed() {
            return;
        }
        for &victim in victims {
            let pages = self.blocks.accounts.table().valid_offsets(victim).into_iter();
            self.mapping.materialize(pages.map(|page| self.geometry.ppn(victim, page)));
        }
    }

    /// Begins static wear levelling of `plane` if the erase counts of its most erased block and of its least erased full block differ by more than
    /// the threshold. Marks the least erased full block as victim, with superblocks all blocks of its superblock. Returns the victims, whose pages
    /// the caller moves as in a collection.
    ///
    /// Returns `None` if the difference is smaller or the valid pages do not fit, while the plane is being collected, and always if static wear
    /// levelling is off.
    pub fn begin_wear_move(&mut self, plane: PlaneId) -> Option<Vec<BlockId>> {
        let victims = self.collector.begin_wear_move(&mut self.blocks, plane)?;
        self.store_entries(&victims);
        Some(victims)
    }

    /// Returns the offset in `block` of the next valid page at or after `from_page`, and its logical page; `None` if there is none.
    ///
    /// On entering each group of 64 pages, prefetches the map entries of all its valid pages, because their moves will soon be committed.
    #[inline]
    pub fn next_valid_page(&self, block: BlockId, from_page: u32) -> Option<(u32, Lpn)> {
        let table = self.blocks.accounts.table();
        let first_word = (from_page / u64::BITS) as usize;
        for word in first_word..table.words_per_block() {
            let page_of_word = word as u32 * u64::BITS;
            let mut bits = table.valid_word(block, word);
            if page_of_word < from_page {
                bits &= u64::MAX << (from_page - page_of_word);
            } else {
                let first = self.geometry.ppn(block, page_of_word);
                prefetch_valid(&self.mapping, first, bits);
            }
            if bits != 0 {
                let page = page_of_word + bits.trailing_zeros();
                return Some((page, self.mapping.lpn_at(self.geometry.ppn(block, page))));
            }
        }
        None
    }

    /// Records that `block`, a victim without valid pages, was erased, and frees `block`; with superblocks, frees the blocks of a victim only once
    /// all of them are erased.
    ///
    /// # Panics
    /// If `block` is not a victim, or still holds valid pages, whose data would be lost.
    pub fn finish_erase(&mut self, block: BlockId) {
        self.blocks.finish_erase(block);
    }
}

/// Prefetches the map entries of valid pages: those of `bits`, counted from page `first`.
fn prefetch_valid(map: &Mapping, first: Ppn, mut bits: u64) {
    while bits != 0 {
        map.prefetch(map.lpn_at(Ppn(first.0 + bits.trailing_zeros())));
        bits &= bits - 1;
    }
}
