//! Entries in DRAM of each translation page: their number, and the dirty ones.

use super::entries::DirtyChain;
use crate::ftl::TranslationPages;
use crate::ids::Lpn;

/// For each translation page of the map: the number of its entries in DRAM, and the chain of its dirty entries.
#[derive(Clone, Debug)]
pub(super) struct TranslationPageStates {
    pages: TranslationPages,
    entries: Vec<u32>,
    /// Head of the chain of dirty entries of each translation page, as a number; see [`DirtyChain`].
    dirty: Vec<u32>,
}

impl TranslationPageStates {
    /// Creates the table for the translation pages `pages`, without entries in DRAM.
    pub(super) fn new(pages: TranslationPages) -> TranslationPageStates {
        let none = || vec![0; pages.count() as usize];
        TranslationPageStates { pages, entries: none(), dirty: none() }
    }

    #[inline]
    pub(super) fn pages(&self) -> TranslationPages {
        self.pages
    }

    /// Returns the translation page that contains the map entry of host page `lpn`.
    #[inline]
    pub(super) fn page_of(&self, lpn: Lpn) -> Lpn {
        self.pages.page_of(lpn)
    }

    fn number_of(&self, page: Lpn) -> usize {
        (page.0 - self.pages.all().start) as usize
    }

    /// Counts the entry of host page `lpn` as added to DRAM.
    pub(super) fn add_entry(&mut self, lpn: Lpn) {
        let number = self.number_of(self.page_of(lpn));
        self.entries[number] += 1;
    }

    /// Counts the entry of host page `lpn` as removed from DRAM.
    pub(super) fn remove_entry(&mut self, lpn: Lpn) {
        let number = self.number_of(self.page_of(lpn));
        self.entries[number] -= 1;
    }

    /// Returns whether all entries of the translation page `page` are in DRAM.
    pub(super) fn has_all_entries(&self, page: Lpn) -> bool {
        self.entries[self.number_of(page)] as usize == self.pages.entries_of(page).len()
    }

    /// Returns the chain of dirty entries of the translation page `page`. Entries whose program is in flight are not in the chain.
    pub(super) fn dirty(&self, page: Lpn) -> DirtyChain {
        DirtyChain::from(self.dirty[self.number_of(page)])
    }

    pub(super) fn set_dirty(&mut self, page: Lpn, chain: DirtyChain) {
        let number = self.number_of(page);
        self.dirty[number] = chain.into();
    }
}

#[cfg(test)]
impl TranslationPageStates {
    /// Returns the number of entries in DRAM, over all translation pages.
    pub(super) fn entries(&self) -> u32 {
        self.entries.iter().sum()
    }
}
