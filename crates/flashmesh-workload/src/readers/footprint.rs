//! Exact count of the distinct pages that a trace touches.

use rustc_hash::FxHashMap;

use crate::units::Bytes;

/// The size of a counted page, independent of the page size of the drive.
const PAGE_BYTES: u64 = 4096;
/// The number of words in a chunk. A chunk is one cache line, so an isolated page needs little more memory than its key in the table.
const WORDS_PER_CHUNK: usize = 8;
const PAGES_PER_CHUNK: u64 = WORDS_PER_CHUNK as u64 * 64;

/// The 4 KiB pages touched so far: a bitmap in chunks, each allocated when it is first touched.
///
/// Uses at most 170 bytes per page touched and 90 MiB per TiB of the drive, independent of the length of the trace.
#[derive(Default)]
pub(crate) struct Footprint {
    chunks: FxHashMap<u64, [u64; WORDS_PER_CHUNK]>,
    pages: u64,
}

impl Footprint {
    /// Marks the pages of `size` bytes from `offset` as touched. `size` must not be zero.
    pub fn touch(&mut self, offset: Bytes, size: Bytes) {
        let last = (offset.as_u64() + size.as_u64() - 1) / PAGE_BYTES;
        let mut page = offset.as_u64() / PAGE_BYTES;
        while page <= last {
            let index = page / PAGES_PER_CHUNK;
            let words = self.chunks.entry(index).or_insert([0; WORDS_PER_CHUNK]);
            let chunk_last = last.min(index * PAGES_PER_CHUNK + (PAGES_PER_CHUNK - 1));
            while page <= chunk_last {
                // One word of the bitmap per step.
                let word_last = chunk_last.min(page | 63);
                let mask = (u64::MAX >> (63 - (word_last - page))) << (page % 64);
                let word = &mut words[(page % PAGES_PER_CHUNK / 64) as usize];
                self.pages += u64::from((mask & !*word).count_ones());
                *word |= mask;
                page = word_last + 1;
            }
        }
    }

    pub fn bytes(&self) -> Bytes {
        Bytes::new(self.pages * PAGE_BYTES)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use rand_core::{Rng, SeedableRng};

    use super::*;

    #[test]
    fn pages_far_from_each_other_take_little_memory() {
        let mut footprint = Footprint::default();
        let mut random = rand_xoshiro::Xoshiro256PlusPlus::seed_from_u64(1);
        for _ in 0..10_000 {
            footprint.touch(Bytes::new(random.next_u64() >> 8), Bytes::new(1));
        }
        // The table doubles when it is seven eighths full; each slot has one extra byte.
        let slots = footprint.chunks.capacity() * 8 / 7;
        let bytes = slots * (size_of::<(u64, [u64; WORDS_PER_CHUNK])>() + 1);
        assert!(bytes < 170 * 10_000, "{bytes} bytes");
    }

    #[test]
    fn it_agrees_with_a_set_of_pages() {
        let capacity = PAGES_PER_CHUNK * PAGE_BYTES * 3 + 1;
        let mut footprint = Footprint::default();
        let mut pages = HashSet::new();
        let mut random = rand_xoshiro::Xoshiro256PlusPlus::seed_from_u64(1);
        for round in 0..3_000 {
            let offset = random.next_u64() % capacity;
            // One request in 1,000 spans several chunks; all others have at most 20,000 B.
            let size_max = if round % 1_000 == 999 { capacity - offset } else { (capacity - offset).min(20_000) };
            let size = 1 + random.next_u64() % size_max;
            footprint.touch(Bytes::new(offset), Bytes::new(size));
            pages.extend(offset / PAGE_BYTES..=(offset + size - 1) / PAGE_BYTES);
            assert_eq!(footprint.bytes().as_u64(), pages.len() as u64 * PAGE_BYTES, "round {round}");
        }
        footprint.touch(Bytes::ZERO, Bytes::new(capacity));
        assert_eq!(footprint.bytes().as_u64(), (PAGES_PER_CHUNK * 3 + 1) * PAGE_BYTES);
    }
}
