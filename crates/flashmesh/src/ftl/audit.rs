//! A full check of the tables against each other.

use super::Ftl;
use super::blocks::BlockState;
use super::open_blocks::OpenBlock;
use crate::ids::{BlockId, PlaneId, Ppn};
use crate::units::Bytes;

impl Ftl {
    /// Checks everything the tables say about each other, in time that grows with the pages that are mapped and the blocks of the
    /// drive: the map is a bijection between mapped logical pages and valid physical ones, counts agree with the bitmap, every
    /// block is in one state that its plane knows of. Pages may be in flight.
    ///
    /// # Errors
    /// The first disagreement found.
    pub fn audit(&self) -> Result<(), String> {
        let order = self.allocation.static_order();
        let mut mapped = 0;
        for (lpn, ppn) in self.mapping.mapped() {
            mapped += 1;
            check(ppn.0 < self.geometry.pages(), || format!("{lpn:?} is mapped beyond the drive, to {ppn:?}"))?;
            check(self.blocks.is_valid(ppn), || format!("{lpn:?} is mapped to {ppn:?}, which is not valid"))?;
            let back = self.mapping.lpn_at(ppn);
            check(back == lpn, || format!("{lpn:?} is mapped to {ppn:?}, which holds {back:?}"))?;
            let plane = self.geometry.plane_of(ppn);
            let members = order.members(order.part_of(lpn));
            check(members.binary_search(&plane).is_ok(), || {
                format!("{lpn:?} is mapped to {plane:?}, which is not a plane of its namespace")
            })?;
        }
        for plane in (0..self.planes.len() as u32).map(PlaneId) {
            self.audit_plane(plane)?;
        }
        self.audit_twins()?;
        if self.rules.counts_parts {
            self.audit_parts()?;
        }
        let replicas = self.audit_replicas()?;
        // Each mapped page has a valid page of its own (they map back to different pages), so equal counts make it a bijection.
        let valid = self.mapped_pages();
        check(mapped + replicas == valid, || {
            format!("{mapped} logical pages are mapped, {replicas} have replicas, and {valid} physical pages are valid")
        })
    }

    /// The second homes: each is valid, of a page that is mapped elsewhere, and the guests of each plane are counted. Gives how many
    /// there are.
    fn audit_replicas(&self) -> Result<u64, String> {
        let Some(replicas) = &self.replicas else { return Ok(0) };
        for (lpn, ppn) in replicas.homes() {
            check(self.blocks.is_valid(ppn), || format!("the replica of {lpn:?} is at {ppn:?}, which is not valid"))?;
            let back = self.mapping.lpn_at(ppn);
            check(back == lpn, || format!("the replica of {lpn:?} is at {ppn:?}, which holds {back:?}"))?;
            check(self.lookup(lpn) != Some(ppn), || format!("the replica of {lpn:?} at {ppn:?} is its original too"))?;
            check(replicas.is_guest(ppn), || format!("the replica of {lpn:?} at {ppn:?} is no guest"))?;
        }
        for plane in (0..self.planes.len() as u32).map(PlaneId) {
            let pages = self.geometry.pages_per_plane();
            let is_guest = |ppn: &u32| replicas.is_guest(Ppn(*ppn)) && self.blocks.is_valid(Ppn(*ppn));
            let counted = (plane.0 * pages..(plane.0 + 1) * pages).filter(is_guest).count();
            let told = self.planes[plane.index()].guests;
            check(told as usize == counted, || format!("{plane:?}: guests: told {told}, counted {counted}"))?;
        }
        Ok(self.replica_count())
    }

    /// What the allocator was told of the pages of each part on each plane.
    fn audit_parts(&self) -> Result<(), String> {
        let order = self.allocation.static_order();
        let planes = self.planes.len();
        let mut counted = vec![0; self.partition.parts.len() * planes];
        for (lpn, ppn) in self.mapping.mapped() {
            counted[order.part_of(lpn) * planes + self.geometry.plane_of(ppn).index()] += 1;
        }
        for (at, &counted) in counted.iter().enumerate() {
            let (part, plane) = (at / planes, PlaneId((at % planes) as u32));
            let told = self.allocation.counted(part, plane);
            check(told == Some(counted), || format!("part {part} on {plane:?}: told {told:?}, counted {counted}"))?;
        }
        Ok(())
    }

    fn audit_plane(&self, plane: PlaneId) -> Result<(), String> {
        let account = &self.planes[plane.index()];
        let opened: Vec<_> =
            account.open.iter().filter(|open| open.next_page < self.geometry.pages_per_block).collect();
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
        // To read the bitmap of a drive that was never written would only bring its memory into the process.
        let was_written = self.mapping.written() > Bytes::ZERO;
        for block in self.blocks.of_plane(plane) {
            let is_listed = next_free.next_if_eq(&&block).is_some();
            if is_listed
                && self.blocks.is_untouched(block, was_written)
                && opened.iter().all(|open| open.block != block)
            {
                free_pages += self.geometry.pages_per_block;
                continue;
            }
            self.audit_block(block, &opened)?;
            valid += self.valid_pages(block);
            invalid_pages += self.blocks.invalid_pages(block);
            erase_count_max = erase_count_max.max(self.erase_count(block));
            let state = self.block_state(block);
            collecting += u32::from(state == BlockState::Collecting);
            free_pages += if state == BlockState::Free { self.geometry.pages_per_block } else { 0 };
            check((state == BlockState::Free) == is_listed, || {
                format!("{block:?} is {state:?} and in the free list: {is_listed}")
            })?;
            check(state != BlockState::Full || self.erase_count(block) >= account.wear.least(), || {
                format!("{block:?} is less erased than the least erased full block of its plane")
            })?;
        }
        check(next_free.next().is_none(), || format!("{plane:?}: the free list holds a block of another plane"))?;
        free_pages += opened.iter().map(|open| self.geometry.pages_per_block - open.next_page).sum::<u32>();
        at("valid pages", account.valid_pages, valid)?;
        at("invalid pages in full blocks", account.invalid_pages, invalid_pages)?;
        at("blocks being collected", account.collecting, collecting)?;
        at("free pages", account.free_pages, free_pages)?;
        at("highest erase count", account.wear.most(), erase_count_max)
    }

    fn audit_block(&self, block: BlockId, opened: &[&OpenBlock]) -> Result<(), String> {
        let pages = self.geometry.pages_per_block;
        let state = self.block_state(block);
        let (valid, programmed) = (self.valid_pages(block), self.blocks.programmed_pages(block));
        let say = |what: String| format!("{block:?} ({state:?}): {what}");
        let at = |what: &str, holds: bool| check(holds, || say(what.to_owned()));

        let words = 0..self.blocks.words_per_block();
        let bits: u32 = words.map(|word| self.blocks.valid_word(block, word).count_ones()).sum();
        check(valid == bits, || say(format!("{valid} valid pages, {bits} in the bitmap")))?;
        check(valid <= programmed && programmed <= pages, || {
            say(format!("{valid} valid pages, {programmed} programmed"))
        })?;
        for page in self.blocks.valid_offsets(block) {
            at("bits are set beyond the last page", page < pages)?;
            let ppn = self.geometry.ppn(block, page);
            let lpn = self.mapping.lpn_at(ppn);
            check(self.is_at(lpn, ppn), || say(format!("page {page} is valid for {lpn:?}, which is elsewhere")))?;
            let is_data = self.translation.is_none_or(|translation| !translation.contains(lpn));
            at("data lies among translation pages", !is_data || !self.blocks.holds_translation(block))?;
        }

        let open = opened.iter().find(|open| open.block == block);
        let candidate = self.blocks.filled(block) != 0;
        at("only a full block is a candidate", candidate == (state == BlockState::Full))?;
        at("only a candidate counts invalid pages", candidate || self.blocks.invalid_pages(block) == 0)?;
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
                at("its invalid pages are not those that it counts", self.blocks.invalid_pages(block) == pages - valid)?
            }
            BlockState::Collecting => {}
        }
        at("only an open block has pages left to allocate", open.is_none() || state == BlockState::Open)?;
        at("it is not full", state == BlockState::Free || state == BlockState::Open || programmed == pages)
    }
}

fn check(holds: bool, message: impl FnOnce() -> String) -> Result<(), String> {
    if holds { Ok(()) } else { Err(message()) }
}

#[cfg(test)]
mod tests;
