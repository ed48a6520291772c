//! Final checks of pages that were written before the run.

use crate::check::arithmetic::MapPages;
use crate::ids::{Lpn, Ppn};

use super::Pages;

impl Pages {
    /// Checks the pages and translation pages that were written before the run and not in the run. Each must be mapped to a location that
    /// the run neither erased nor programmed.
    pub(in crate::rooms::check) fn preconditioned_pages_remain(
        &self,
        lookup: impl Fn(Lpn) -> Option<Ppn>,
    ) -> Result<(), String> {
        let translation = self.translation.as_ref().map_or(0..0, MapPages::all);
        self.pages_remain(self.preconditioned.iter().cloned().flatten().chain(translation).map(Lpn), lookup)
    }

    /// Checks that recovery found each page that was written before the run and not in the run.
    pub(in crate::rooms::check) fn preconditioned_pages_are_found(
        &self,
        lookup: impl Fn(Lpn) -> Option<Ppn>,
    ) -> Result<(), String> {
        self.pages_remain(self.preconditioned.iter().cloned().flatten().map(Lpn), lookup)
    }

    fn pages_remain(
        &self,
        were_there: impl Iterator<Item = Lpn>,
        lookup: impl Fn(Lpn) -> Option<Ppn>,
    ) -> Result<(), String> {
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
