//! The last access to each page, and the kinds of requests that touched the page.

use rustc_hash::FxHashMap;

const CHUNK_PAGES: u64 = 16;
const KIND_BITS: u32 = 3;

/// The number of the last request that touched each page, and the kinds of all requests that touched the page. Memory grows with the footprint.
#[derive(Clone, Debug, Default)]
pub(super) struct PageHistory {
    chunks: FxHashMap<u64, [u64; CHUNK_PAGES as usize]>,
}

impl PageHistory {
    /// Records that request `now`, counted from 1, touches the pages from `first` to `last`.
    pub(super) fn touch(&mut self, first: u64, last: u64, now: u64, kind: usize) {
        let mut page = first;
        while page <= last {
            let chunk = self.chunks.entry(page / CHUNK_PAGES).or_insert([0; CHUNK_PAGES as usize]);
            let end = last.min(page | (CHUNK_PAGES - 1));
            for touched in &mut chunk[(page % CHUNK_PAGES) as usize..=(end % CHUNK_PAGES) as usize] {
                *touched = now << KIND_BITS | *touched & ((1 << KIND_BITS) - 1) | 1 << kind;
            }
            page = end + 1;
        }
    }

    fn entry(&self, page: u64) -> u64 {
        self.chunks.get(&(page / CHUNK_PAGES)).map_or(0, |chunk| chunk[(page % CHUNK_PAGES) as usize])
    }

    /// Returns the number of the last request that touched `page`; 0 if the page is untouched.
    pub(super) fn last_request(&self, page: u64) -> u64 {
        self.entry(page) >> KIND_BITS
    }

    /// Returns whether a request of `kind`, an index in the kinds of a profile, touched `page`.
    pub(super) fn is_known_to(&self, page: u64, kind: usize) -> bool {
        self.entry(page) & 1 << kind != 0
    }

    /// Returns the number of untouched pages among `count` pages from `first`.
    pub(super) fn fresh_in(&self, first: u64, count: u64) -> u64 {
        let (mut page, end, mut fresh) = (first, first + count, 0);
        while page < end {
            let chunk_end = end.min((page | (CHUNK_PAGES - 1)) + 1);
            fresh += match self.chunks.get(&(page / CHUNK_PAGES)) {
                Some(chunk) => {
                    let within = (page % CHUNK_PAGES) as usize..=((chunk_end - 1) % CHUNK_PAGES) as usize;
                    chunk[within].iter().filter(|&&touched| touched == 0).count() as u64
                }
                None => chunk_end - page,
            };
            page = chunk_end;
        }
        fresh
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_know_who_touched_them_last() {
        let mut pages = PageHistory::default();
        pages.touch(14, 40, 1, 0);
        pages.touch(30, 30, 2, 1);
        assert_eq!([13, 14, 29, 30, 31, 40, 41].map(|page| pages.last_request(page)), [0, 1, 1, 2, 1, 1, 0]);
        assert_eq!([13, 14, 30].map(|page| pages.is_known_to(page, 0)), [false, true, true]);
        assert_eq!([14, 30].map(|page| pages.is_known_to(page, 1)), [false, true]);
    }

    #[test]
    fn pages_that_were_not_touched_are_counted() {
        let mut pages = PageHistory::default();
        pages.touch(14, 40, 1, 0);
        let fresh = [(41, 1000), (0, 100), (10, 5), (40, 2), (13, 2), (13, 0)];
        assert_eq!(fresh.map(|(first, count)| pages.fresh_in(first, count)), [1000, 73, 4, 1, 1, 0]);
    }
}
