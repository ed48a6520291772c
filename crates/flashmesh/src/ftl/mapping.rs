//! Where each logical page is, and which logical page each physical page holds.

use std::hint::black_box;

use crate::ids::{Lpn, Ppn};

/// The page-level map in both directions.
///
/// Both tables come zeroed from the operating system and zero means "nothing here", so a fresh drive of any size
/// costs no time and no memory until it is touched.
#[derive(Debug)]
pub(super) struct Mapping {
    /// By logical page: physical page + 1, or 0 when unmapped.
    forward: Vec<u32>,
    /// By physical page: the logical page last programmed there; meaningful only while the page is valid.
    reverse: Vec<u32>,
}

impl Mapping {
    /// A map of `logical_pages`, those of the host and translation pages, over `pages` physical pages.
    pub(super) fn new(logical_pages: u32, pages: u32) -> Mapping {
        Mapping { forward: vec![0; logical_pages as usize], reverse: vec![0; pages as usize] }
    }

    #[inline]
    pub(super) fn get(&self, lpn: Lpn) -> Option<Ppn> {
        self.forward[lpn.index()].checked_sub(1).map(Ppn)
    }

    /// Maps `lpn` to `ppn` in both directions and returns where it was before.
    #[inline]
    pub(super) fn set(&mut self, lpn: Lpn, ppn: Ppn) -> Option<Ppn> {
        self.reverse[ppn.index()] = lpn.0;
        let entry = &mut self.forward[lpn.index()];
        let old = entry.checked_sub(1).map(Ppn);
        *entry = ppn.0 + 1;
        old
    }

    /// Unmaps `lpn` and returns where it was.
    #[inline]
    pub(super) fn clear(&mut self, lpn: Lpn) -> Option<Ppn> {
        let entry = &mut self.forward[lpn.index()];
        let old = entry.checked_sub(1).map(Ppn);
        *entry = 0;
        old
    }

    /// The logical page last programmed at `ppn`.
    #[inline]
    pub(super) fn lpn_at(&self, ppn: Ppn) -> Lpn {
        Lpn(self.reverse[ppn.index()])
    }

    /// Loads the entries of `lpns` into the cache. The loads do not depend on each other, so their misses overlap.
    #[inline]
    pub(super) fn touch(&self, lpns: impl Iterator<Item = Lpn>) {
        black_box(lpns.fold(0, |sum, lpn| sum ^ self.forward.get(lpn.index()).copied().unwrap_or(0)));
    }

    pub(super) fn logical_pages(&self) -> u32 {
        self.forward.len() as u32
    }
}
