//! Pages that were there before the run: the room that is made for them, and what has become of them at its end.

use rustc_hash::FxHashMap;

use crate::check::arithmetic::MapPages;
use crate::ids::{BlockId, Lpn, Ppn};

use super::{Content, Newest, Pages};

impl Pages {
    /// The drive rewrote a block in place, untimed, to have room for pages that were there before; it holds `survivors`
    /// now.
    pub(in crate::check) fn compacted(&mut self, block: BlockId, survivors: &[(Ppn, Lpn)]) -> Result<(), String> {
        let before = self.remove(block);
        for &(ppn, lpn) in &before {
            if self.place(lpn) == Some(ppn) && !survivors.iter().any(|&(_, survivor)| survivor == lpn) {
                return Err(format!("the compaction of block {} lost logical page {}", block.0, lpn.0));
            }
        }
        let mut compacted = FxHashMap::default();
        for &(_, lpn) in &before {
            compacted.insert(lpn, self.newest(lpn).map_or(0, |newest| newest.version));
        }
        let state = self.blocks.entry(block).or_default();
        state.erases += 1;
        state.last = None;
        for &(ppn, lpn) in survivors {
            let newest = self.newest.entry(lpn).or_insert(Newest { version: 0, at: Some(ppn), written: true });
            let came_from = newest.at.filter(|&at| self.homes.block_of(at) == block);
            let version = newest.version;
            if came_from.is_none() {
                let at = newest.at;
                return Err(format!(
                    "the compaction of block {} put logical page {} into it, which is at {at:?}",
                    block.0, lpn.0
                ));
            }
            newest.at = Some(ppn);
            compacted.insert(lpn, version);
            self.fill(ppn, Content { lpn, version }, "compacted")?;
        }
        let state = self.blocks.entry(block).or_default();
        (state.compacted, state.was_compacted) = (compacted, true);
        Ok(())
    }

    /// Whether everything that was written before the run, and not touched since, is where nothing else has been.
    pub(in crate::check) fn preconditioned_pages_remain(
        &self,
        lookup: impl Fn(Lpn) -> Option<Ppn>,
    ) -> Result<(), String> {
        let translation = self.translation.as_ref().map_or(0..0, MapPages::all);
        let were_there = self.preconditioned.iter().cloned().flatten().chain(translation).map(Lpn);
        for lpn in were_there.filter(|lpn| !self.newest.contains_key(lpn)) {
            let Some(ppn) = lookup(lpn) else {
                return Err(format!("logical page {}, written before the run, is lost", lpn.0));
            };
            let erased = self.erases(self.homes.block_of(ppn)) > 0;
            if erased || self.pages.contains_key(&ppn) {
                return Err(format!(
                    "logical page {}, written before the run and not since, is mapped to {}, which was {}",
                    lpn.0,
                    self.name(ppn),
                    if erased { "erased" } else { "used for another" }
                ));
            }
        }
        Ok(())
    }
}
