//! Consistency check of the tables of blocks and planes.

use super::BlockAccounts;
use crate::ftl::audit::check;
use crate::ftl::blocks::BlockState;
use crate::ftl::blocks::plane::open_blocks::OpenBlock;
use crate::ids::{BlockId, PlaneId};

impl BlockAccounts {
    /// Checks that counters agree with the bitmaps, and that every block is in exactly one state and counted by its plane. Returns a description of
    /// the first fault. `reads_bitmaps` is false for a drive that was never written: the bitmaps of unused blocks are skipped, because a read would
    /// allocate their memory.
    pub(in super::super) fn audit(&self, reads_bitmaps: bool) -> Result<(), String> {
        for plane in (0..self.planes.len() as u32).map(PlaneId) {
            self.audit_plane(plane, reads_bitmaps)?;
        }
        Ok(())
    }

    fn audit_plane(&self, plane: PlaneId, reads_bitmaps: bool) -> Result<(), String> {
        let account = &self.planes[plane.index()];
        let opened: Vec<OpenBlock> = account.open.opened().map(|(_, open)| open).collect();
        let at = |what: &str, told: u32, counted: u32| {
            check(told == counted, || format!("{plane:?}: {what}: told {told}, counted {counted}"))
        };
        let mut free: Vec<BlockId> = account.free.iter().collect();
        free.sort_unstable();
        let listed = free.len();
        free.dedup();
        at("blocks in the free list, each once", listed as u32, free.len() as u32)?;
        at("length of the free list", account.free.len(), listed as u32)?;

        let (mut valid, mut invalid_pages, mut collecting, mut erase_count_max) = (0, 0, 0, 0);
        let mut free_pages = 0;
        let mut next_free = free.iter().peekable();
        for block in self.table.blocks_of_plane(plane) {
            if self.geometry.is_slc(block) {
                valid += self.table.valid_pages(block);
                collecting += u32::from(self.table.state(block) == BlockState::Collecting);
                continue;
            }
            let is_listed = next_free.next_if_eq(&&block).is_some();
            if is_listed
                && self.table.is_untouched(block, reads_bitmaps)
                && opened.iter().all(|open| open.block != block)
            {
                free_pages += self.geometry.pages_per_block;
                continue;
            }
            self.audit_block(block, &opened)?;
            valid += self.table.valid_pages(block);
            invalid_pages += self.table.invalid_pages(block);
            let erase_count = self.table.erase_count(block);
            erase_count_max = erase_count_max.max(erase_count);
            let state = self.table.state(block);
            collecting += u32::from(state == BlockState::Collecting);
            free_pages += if state == BlockState::Free { self.geometry.pages_per_block } else { 0 };
            check((state == BlockState::Free) == is_listed, || {
                format!("{block:?} is {state:?} and in the free list: {is_listed}")
            })?;
            check(state != BlockState::Full || erase_count >= account.wear.min_erases(), || {
                format!("{block:?} is less erased than the least erased full block of its plane")
            })?;
        }
        check(next_free.next().is_none(), || format!("{plane:?}: the free list holds a block of another plane"))?;
        let outside = opened.iter().filter(|open| !self.geometry.is_slc(open.block));
        free_pages += outside.map(|open| self.geometry.pages_per_block - open.next_page).sum::<u32>();
        self.audit_slc(plane, &opened)?;
        at("valid pages", account.valid_pages, valid)?;
        at("invalid pages in full blocks", account.invalid_pages, invalid_pages)?;
        at("blocks being collected", account.collecting, collecting)?;
        at("free pages", account.free_pages, free_pages)?;
        at("highest erase count", account.wear.max_erases(), erase_count_max)
    }

    /// Checks the SLC blocks of a plane, if the drive has an SLC cache. `opened` are the open blocks of the plane.
    fn audit_slc(&self, plane: PlaneId, opened: &[OpenBlock]) -> Result<(), String> {
        let account = &self.planes[plane.index()];
        let Some(slc) = &account.slc else { return Ok(()) };
        let free: Vec<BlockId> = slc.free.iter().collect();
        for block in self.table.blocks_of_plane(plane).filter(|&block| self.geometry.is_slc(block)) {
            self.audit_block(block, opened)?;
            let state = self.table.state(block);
            let (is_free, is_full) = (free.contains(&block), slc.full.contains(&block));
            check((state == BlockState::Free) == is_free && (state == BlockState::SlcFull) == is_full, || {
                format!("{block:?} of the SLC cache is {state:?}; listed as free: {is_free}, as full: {is_full}")
            })?;
        }
        let Some(lent) = &slc.lent else {
            return check(account.kept_for_fold <= account.collecting, || {
                format!("{plane:?} keeps a block for no fold")
            });
        };
        for block in self.table.blocks_of_plane(plane).filter(|&block| self.geometry.is_slc(block)) {
            let count = lent.blocks.iter().filter(|&&(of_cache, _)| of_cache == block).count();
            let expected = usize::from(self.table.state(block) != BlockState::Free);
            check(count == expected, || format!("{block:?} stands for {count} blocks, not {expected}"))?;
        }
        for &(_, native) in &lent.blocks {
            let is_open = opened.iter().any(|open| open.block == native);
            let is_unused = self.table.state(native) == BlockState::Open && self.table.programmed_pages(native) == 0;
            check(is_unused && !is_open, || format!("{native:?} is lent and used"))?;
        }
        // While native blocks are lent to the SLC cache, one free block is kept for the next fold. A fold in progress may have opened this
        // block.
        let kept = u32::from(!lent.blocks.is_empty());
        let is_kept = account.kept_for_fold == kept || (account.collecting > 0 && account.kept_for_fold == 0);
        check(is_kept, || format!("{plane:?} keeps {} blocks for folds, not {kept}", account.kept_for_fold))
    }

    fn audit_block(&self, block: BlockId, opened: &[OpenBlock]) -> Result<(), String> {
        let pages = self.geometry.pages_of(block);
        let state = self.table.state(block);
        let (valid, programmed) = (self.table.valid_pages(block), self.table.programmed_pages(block));
        let say = |what: String| format!("{block:?} ({state:?}): {what}");
        let at = |what: &str, holds: bool| check(holds, || say(what.to_owned()));

        let words = 0..self.table.words_per_block();
        let bits: u32 = words.map(|word| self.table.valid_word(block, word).count_ones()).sum();
        check(valid == bits, || say(format!("{valid} valid pages, {bits} in the bitmap")))?;
        check(valid <= programmed && programmed <= pages, || {
            say(format!("{valid} valid pages, {programmed} programmed"))
        })?;
        at("bits are set beyond the last page", self.table.valid_offsets(block).iter().all(|&page| page < pages))?;

        let open = opened.iter().find(|open| open.block == block);
        let candidate = self.table.filled(block) != 0;
        at("only a full block is a candidate", candidate == (state == BlockState::Full))?;
        at("only a candidate counts invalid pages", candidate || self.table.invalid_pages(block) == 0)?;
        match state {
            BlockState::Free => at("it holds programmed pages", programmed == 0)?,
            BlockState::Open => {
                let allocated = open.map_or(pages, |open| open.next_page);
                check(programmed <= allocated, || {
                    say(format!("{programmed} of {allocated} allocated pages programmed"))
                })?;
                at("every page is programmed", programmed < pages)?;
            }
            BlockState::Full => {
                at("its invalid pages are not those that it counts", self.table.invalid_pages(block) == pages - valid)?
            }
            BlockState::Collecting | BlockState::SlcFull => {}
        }
        at("only blocks of the SLC cache are cached", state != BlockState::SlcFull || self.geometry.is_slc(block))?;
        at("only an open block has pages left to allocate", open.is_none() || state == BlockState::Open)?;
        at("it is not full", state == BlockState::Free || state == BlockState::Open || programmed == pages)
    }
}
