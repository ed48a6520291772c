//! Oracle `durability`: after a power cut, recovery finds every programmed page, at a location that holds its newest version; a page deallocated
//! before a confirmed flush stays empty; and a replica that is found has the newest version, too. The oracle compares the recovered map with the
//! model in `pages`.
//!
//! The oracles `requests` and `cache` check that acknowledged data was on flash: a write completes with its program, or is counted as lost.

use std::ops::Range;

use rustc_hash::FxHashMap;

use crate::check::array::pages::Pages;
use crate::ids::{Lpn, Ppn, RequestId};

#[derive(Clone, Debug, Default)]
pub(in super::super) struct Durability {
    order: u64,
    deallocated: FxHashMap<Lpn, u64>,
    /// Flushes in flight, each with the range of its logical pages and the sequence number of the last deallocation before the flush.
    flushes: FxHashMap<RequestId, (Range<u32>, u64)>,
    confirmed: Vec<(Range<u32>, u64)>,
}

impl Durability {
    pub(in super::super) const NAME: &'static str = "durability";

    pub(in super::super) fn deallocated(&mut self, lpn: Lpn) {
        self.order += 1;
        self.deallocated.insert(lpn, self.order);
    }

    pub(in super::super) fn flush_began(&mut self, request: RequestId, pages: Range<u32>) {
        self.flushes.insert(request, (pages, self.order));
    }

    pub(in super::super) fn completed(&mut self, request: RequestId) {
        if let Some((pages, order)) = self.flushes.remove(&request) {
            self.confirmed.retain(|(other, _)| *other != pages);
            self.confirmed.push((pages, order));
        }
    }

    /// Returns whether a flush that began after the last deallocation of `lpn` has completed; false if `lpn` was never deallocated.
    fn is_confirmed(&self, lpn: Lpn) -> bool {
        let holds = |&order: &u64| {
            self.confirmed.iter().any(|(pages, confirmed)| pages.contains(&lpn.0) && order <= *confirmed)
        };
        self.deallocated.get(&lpn).is_some_and(holds)
    }

    pub(in super::super) fn judge(
        &self,
        pages: &Pages,
        found: impl Fn(Lpn) -> Option<Ppn>,
        copies: &[(Lpn, Ppn)],
    ) -> Result<(), String> {
        for lpn in pages.touched_of_host() {
            pages.is_found(lpn, found(lpn), self.is_confirmed(lpn))?;
        }
        pages.preconditioned_pages_are_found(&found)?;
        for &(lpn, copy) in copies {
            if found(lpn) == Some(copy) {
                return Err(format!("page {} is the original of logical page {} and a copy of it", copy.0, lpn.0));
            }
            pages.is_newest_copy(lpn, copy, self.is_confirmed(lpn))?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::Durability;
    use crate::check::histories::{
        assert_fails, assert_silent, config, erase, oracles, oracles_with, program, read, submit, us, write,
    };
    use crate::check::{Oracles, Origin};
    use crate::config::PreconditionKind;
    use crate::ids::{Lpn, Ppn, RequestId};
    use crate::workload::RequestKind;

    /// Returns oracles in which logical page 7 was written to page 0, then to page 1.
    fn written_twice() -> Oracles {
        let mut oracles = oracles();
        let now = write(&mut oracles, 0, 0, 7, us(0));
        write(&mut oracles, 1, 1, 7, now);
        oracles
    }

    fn recovered(mut oracles: Oracles, found: &[(u32, u32)], copies: &[(u32, u32)]) -> Oracles {
        let place = |lpn: Lpn| found.iter().find(|(other, _)| *other == lpn.0).map(|&(_, ppn)| Ppn(ppn));
        let copies = copies.iter().map(|&(lpn, ppn)| (Lpn(lpn), Ppn(ppn))).collect();
        oracles.recovered_with(place, copies, us(9_000));
        oracles
    }

    #[test]
    fn the_newest_version_at_its_page_or_where_it_was_moved_from_is_right() {
        assert_silent(&recovered(written_twice(), &[(7, 1)], &[]));
        let mut moved = written_twice();
        program(&mut moved, 32, 7, Origin::Moved(Ppn(1)), us(8_000));
        for home in [1, 32] {
            let mut oracles = written_twice();
            program(&mut oracles, 32, 7, Origin::Moved(Ppn(1)), us(8_000));
            assert_silent(&recovered(oracles, &[(7, home)], &[]));
        }
    }

    #[test]
    fn a_page_that_is_not_found_or_found_in_an_older_version_is_caught() {
        let lost = recovered(written_twice(), &[], &[]);
        assert_fails(&lost, Durability::NAME, "version 2 of logical page 7 was programmed, but the map has it nowhere");
        let stale = recovered(written_twice(), &[(7, 0)], &[]);
        assert_fails(
            &stale,
            Durability::NAME,
            "the map has it at page 0 (page 0 of block 0), which holds version 1 of",
        );
        let empty = recovered(written_twice(), &[(7, 5)], &[]);
        assert_fails(&empty, Durability::NAME, "which holds nothing");
    }

    #[test]
    fn a_page_in_a_block_that_was_erased_is_caught() {
        let mut oracles = written_twice();
        program(&mut oracles, 32, 7, Origin::Moved(Ppn(1)), us(8_000));
        erase(&mut oracles, 0, us(8_500));
        assert_fails(&recovered(oracles, &[(7, 1)], &[]), Durability::NAME, "which holds nothing");
    }

    #[test]
    fn a_deallocation_may_be_undone_until_a_flush_confirms_it() {
        for (flushes, is_right) in [(false, true), (true, false)] {
            let mut oracles = written_twice();
            oracles.deallocated(Lpn(7), us(5_000));
            if flushes {
                submit(&mut oracles, 2, RequestKind::Flush, 0, 0, us(5_000));
                oracles.flush_began(RequestId(2), 0..64, us(5_000));
                oracles.request_completed(RequestId(2), us(5_100));
            }
            let oracles = recovered(oracles, &[(7, 1)], &[]);
            if is_right {
                assert_silent(&oracles);
            } else {
                assert_fails(
                    &oracles,
                    Durability::NAME,
                    "logical page 7 was deallocated, and a flush has confirmed it",
                );
            }
        }
    }

    #[test]
    fn a_copy_of_an_older_version_is_caught() {
        let oracles = recovered(written_twice(), &[(7, 1)], &[(7, 0)]);
        assert_fails(&oracles, Durability::NAME, "a copy of logical page 7 was found at page 0");
    }

    #[test]
    fn a_copy_that_is_the_original_is_caught() {
        let oracles = recovered(written_twice(), &[(7, 1)], &[(7, 1)]);
        assert_fails(&oracles, Durability::NAME, "page 1 is the original of logical page 7 and a copy of it");
    }

    #[test]
    fn pages_that_were_there_before_the_run_are_missed() {
        let mut config = config();
        config.precondition.kind = PreconditionKind::Sequential;
        let oracles = recovered(oracles_with(&config), &[], &[]);
        assert_fails(&oracles, Durability::NAME, "logical page 0, written before the run, is lost");
        let mut oracles = oracles_with(&config);
        let now = read(&mut oracles, 64, 7, None, us(0));
        program(&mut oracles, 2, 7, Origin::Moved(Ppn(64)), now);
        assert_fails(&recovered(oracles, &[(7, 3)], &[]), Durability::NAME, "version 0 of logical page 7");
    }

    #[test]
    fn a_deallocated_page_that_is_found_where_it_never_was_is_caught() {
        let deallocated = || {
            let mut oracles = written_twice();
            let now = write(&mut oracles, 4, 32, 8, us(4_000));
            oracles.deallocated(Lpn(7), now);
            oracles
        };
        let empty = recovered(deallocated(), &[(7, 5), (8, 32)], &[]);
        assert_fails(&empty, Durability::NAME, "logical page 7 holds nothing, but the map has it at page 5");
        let other = recovered(deallocated(), &[(7, 32), (8, 32)], &[]);
        assert_fails(&other, Durability::NAME, "logical page 7 holds nothing, but the map has it at page 32");
    }
}
