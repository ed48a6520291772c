//! What is known of each translation page.

use super::entries::Chain;
use crate::ftl::TranslationPages;
use crate::ids::Lpn;

/// How many entries of each translation page are in DRAM, and which of them are dirty.
#[derive(Clone, Debug)]
pub(super) struct PageTable {
    pages: TranslationPages,
    entries: Vec<u32>,
    /// The chain of the dirty ones.
    dirty: Vec<u32>,
}

impl PageTable {
    /// No entry of `pages` is in DRAM.
    pub(super) fn new(pages: TranslationPages) -> PageTable {
        let none = || vec![0; pages.count() as usize];
        PageTable { pages, entries: none(), dirty: none() }
    }

    /// The translation pages.
    #[inline]
    pub(super) fn pages(&self) -> TranslationPages {
        self.pages
    }

    /// The translation page that has the entry of `lpn`.
    #[inline]
    pub(super) fn page_of(&self, lpn: Lpn) -> Lpn {
        self.pages.page_of(lpn)
    }

    fn number_of(&self, page: Lpn) -> usize {
        (page.0 - self.pages.all().start) as usize
    }

    /// The entry of `lpn` comes into DRAM.
    pub(super) fn add_entry(&mut self, lpn: Lpn) {
        let number = self.number_of(self.page_of(lpn));
        self.entries[number] += 1;
    }

    /// The entry of `lpn` leaves DRAM.
    pub(super) fn remove_entry(&mut self, lpn: Lpn) {
        let number = self.number_of(self.page_of(lpn));
        self.entries[number] -= 1;
    }

    /// Whether all entries of `page` are in DRAM.
    pub(super) fn has_all_entries(&self, page: Lpn) -> bool {
        self.entries[self.number_of(page)] as usize == self.pages.entries_of(page).len()
    }

    /// The dirty entries of `page`.
    pub(super) fn dirty(&self, page: Lpn) -> Chain {
        Chain::from(self.dirty[self.number_of(page)])
    }

    /// `chain` are the dirty entries of `page` now.
    pub(super) fn set_dirty(&mut self, page: Lpn, chain: Chain) {
        let number = self.number_of(page);
        self.dirty[number] = chain.into();
    }
}

#[cfg(test)]
impl PageTable {
    /// How many entries are in DRAM.
    pub(super) fn entries(&self) -> u32 {
        self.entries.iter().sum()
    }
}
