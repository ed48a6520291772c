//! Garbage collection: when a plane wants it, and the steps of one collection.
//!
//! The user of [`Ftl`] moves the pages: for each page of [`Ftl::next_valid_page`] it reads it, allocates a page from
//! [`Ftl::stream_of_move`], programs that, and calls [`Ftl::commit_move`]; when none is left and all programs have
//! finished it erases the victim and calls [`Ftl::finish_erase`].

use super::plane::{Frontier, Plane};
use super::{Ftl, IdleDies};
use crate::ids::{BlockId, Lpn, PlaneId, StreamId};

impl Ftl {
    /// Whether `plane` should be collected: its share of free pages is below the threshold, or the host or the map is out
    /// of space there; and something can be gained, and no collection or wear move of the plane is under way.
    #[inline]
    pub fn wants_collection(&self, plane: PlaneId) -> bool {
        can_begin(&self.planes[plane.index()]) && self.is_short(plane)
    }

    /// Whether the share of free pages of `plane` is below the threshold, or the host or the map is out of space there,
    /// whether or not something can be done about it.
    #[inline]
    pub fn is_short(&self, plane: PlaneId) -> bool {
        let account = &self.planes[plane.index()];
        account.free_pages < self.collection.limits().collection || account.is_out_of_space()
    }

    /// Whether `plane` should be collected when its die has nothing else to do.
    #[inline]
    pub fn wants_background_collection(&self, plane: PlaneId) -> bool {
        let account = &self.planes[plane.index()];
        can_begin(account) && account.free_pages < self.collection.limits().background
    }

    /// Whether collection of `plane` goes before user requests even when it is preemptible.
    #[inline]
    pub fn is_urgent(&self, plane: PlaneId) -> bool {
        let account = &self.planes[plane.index()];
        account.free_pages < self.collection.limits().urgent || account.is_out_of_space()
    }

    /// Begins a collection of `plane`: picks a victim among its full blocks and returns it.
    ///
    /// `None` when no full block has an invalid page, or a collection or wear move of the plane is under way.
    pub fn begin_collection(&mut self, plane: PlaneId) -> Option<BlockId> {
        let account = &self.planes[plane.index()];
        if !can_begin(account) {
            return None;
        }
        let first = self.geometry.first_block(plane);
        let candidates = self.blocks.candidates(plane);
        let chosen = self.collection.choose_victim(&candidates);
        // A policy that is blind to invalid pages may choose a block that is not worthwhile.
        let victim = [chosen, candidates.most_invalid()]
            .into_iter()
            .flatten()
            .map(|position| BlockId(first.0 + position))
            .find(|&block| self.is_worthwhile(block) && self.fits(block))?;
        self.mark_victim(victim);
        Some(victim)
    }

    /// The next valid page of `block` at or after `from_page`, and the logical page it holds.
    ///
    /// Each time it comes to another 64 pages it also prefetches the map entries of all of them, since their moves will be
    /// committed soon.
    #[inline]
    pub fn next_valid_page(&self, block: BlockId, from_page: u32) -> Option<(u32, Lpn)> {
        let first_word = (from_page / u64::BITS) as usize;
        for word in first_word..self.blocks.words_per_block() {
            let page_of_word = word as u32 * u64::BITS;
            let mut bits = self.blocks.valid_word(block, word);
            if page_of_word < from_page {
                bits &= u64::MAX << (from_page - page_of_word);
            } else {
                self.prefetch_valid(block, page_of_word, bits);
            }
            if bits != 0 {
                let page = page_of_word + bits.trailing_zeros();
                return Some((page, self.mapping.lpn_at(self.geometry.ppn(block, page))));
            }
        }
        None
    }

    fn prefetch_valid(&self, block: BlockId, page_of_word: u32, mut bits: u64) {
        while bits != 0 {
            let page = page_of_word + bits.trailing_zeros();
            bits &= bits - 1;
            self.mapping.prefetch(self.mapping.lpn_at(self.geometry.ppn(block, page)));
        }
    }

    /// `block`, a victim none of whose pages is valid any more, is erased and free again.
    ///
    /// # Panics
    /// When `block` is no victim, or still holds valid pages: data would be lost.
    pub fn finish_erase(&mut self, block: BlockId) {
        if self.has_twins() {
            return self.twin_erased(block);
        }
        self.free_erased(block);
        if self.rules.shares_moves {
            self.take_over_reserve(self.blocks.plane_of(block));
        }
    }

    /// Gives an erased block back to its plane.
    pub(super) fn free_erased(&mut self, block: BlockId) {
        let erase_count = self.blocks.erase(block);
        let account = &mut self.planes[self.blocks.plane_of(block).index()];
        account.collecting -= 1;
        account.free_pages += self.geometry.pages_per_block;
        account.free.push(block, erase_count);
        account.wear.erased(erase_count);
    }

    /// Whether a policy that is blind to it may choose `block`. Where moved pages make translation pages invalid, a block without an
    /// invalid page must stay: its collection would gain nothing and ask for the next one, round and round \[choice\].
    fn is_worthwhile(&self, block: BlockId) -> bool {
        self.translation.is_none() || self.blocks.invalid_pages(block) > 0
    }

    /// Whether a collection finds room for all valid pages of `block`.
    pub(super) fn fits(&self, block: BlockId) -> bool {
        let account = &self.planes[self.blocks.plane_of(block).index()];
        u64::from(self.blocks.valid_pages(block)) <= account.collection_pages(self.moved_to(block))
    }

    /// Which open block takes the valid pages of `block`, where they do not go to the one that is written.
    pub(super) fn moved_to(&self, block: BlockId) -> Frontier {
        if self.blocks.holds_translation(block) { Frontier::TranslationCollection } else { Frontier::Collection }
    }

    pub(super) fn mark_victim(&mut self, block: BlockId) {
        let account = &mut self.planes[self.blocks.plane_of(block).index()];
        account.invalid_pages -= self.blocks.collect(block);
        account.collecting += 1;
    }

    /// Writes `lpn` at once and returns how many pages were moved for it: by a collection when the plane wants one, by
    /// more when the host is out of space there, and by a wear move. For preconditioning, and for studies of write
    /// amplification that need no time.
    ///
    /// It must not be mixed with operations in flight.
    pub fn write_untimed(&mut self, lpn: Lpn, idle: &IdleDies) -> u64 {
        self.write_untimed_by(StreamId(0), lpn, idle)
    }

    /// [`Ftl::write_untimed`] by one stream of several.
    pub fn write_untimed_by(&mut self, stream: StreamId, lpn: Lpn, idle: &IdleDies) -> u64 {
        let mut plane = self.place_write(lpn, idle);
        if self.has_twins() {
            let behind = self.twin_behind(plane, self.host_stream(plane, Some(stream)), |_| 0);
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
            moved += self.empty_untimed(plane, victim);
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
            return Some(self.empty_twins_untimed(&victims));
        }
        let victim = self.begin_collection(plane)?;
        Some(self.empty_untimed(plane, victim))
    }

    /// Moves the valid pages of a victim away and erases it, at once. Returns how many pages it moved.
    fn empty_untimed(&mut self, plane: PlaneId, victim: BlockId) -> u64 {
        if self.has_twins() {
            let victims = self.twins_of_victim(victim);
            return self.empty_twins_untimed(&victims);
        }
        let mut moved = 0;
        let mut from_page = 0;
        while let Some((page, lpn)) = self.next_valid_page(victim, from_page) {
            let from = self.geometry.ppn(victim, page);
            let to = self.allocate_move(plane, self.stream_of_move(from)).expect("the reserve has room for a victim");
            self.commit_move(lpn, from, to);
            moved += 1;
            from_page = page + 1;
        }
        self.finish_erase(victim);
        moved
    }
}

#[inline]
fn can_begin(account: &Plane) -> bool {
    account.collecting == 0 && account.invalid_pages > 0
}
