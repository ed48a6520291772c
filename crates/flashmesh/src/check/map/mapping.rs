//! Oracle `mapping`: the map of the translation layer is a bijection, and agrees with the model of the array in the oracle `pages`.

use crate::check::arithmetic::ArrayTree;
use crate::check::array::pages::Pages;
use crate::config;
use crate::ids::{Lpn, Ppn};

#[derive(Clone, Debug)]
pub(in super::super) struct Mapping {
    erases_between_audits: u64,
    erases: u64,
}

impl Mapping {
    pub(in super::super) const NAME: &'static str = "mapping";

    /// Creates the oracle. An audit of the whole map takes time proportional to the capacity, so an audit is due each time a quarter of the blocks
    /// has been erased.
    pub(in super::super) fn new(geometry: &config::Geometry) -> Mapping {
        Mapping { erases_between_audits: ArrayTree::new(geometry).blocks().div_ceil(4), erases: 0 }
    }

    pub(in super::super) fn erased(&mut self) {
        self.erases += 1;
    }

    /// Compares the locations of the pages that an event changed with the map. Also audits the whole map if an audit is due. Runs after all
    /// effects of the event.
    pub(in super::super) fn settled(
        &mut self,
        pages: &mut Pages,
        lookup: impl Fn(Lpn) -> Option<Ppn>,
        replica_of: impl Fn(Lpn) -> Option<Ppn>,
        audit: impl FnOnce() -> Result<(), String>,
    ) -> Result<(), String> {
        for &lpn in pages.changed() {
            agree(lpn, lookup(lpn), pages.location(lpn))?;
        }
        pages.replicas_agree(pages.changed(), replica_of)?;
        pages.forget_changed();
        if self.erases >= self.erases_between_audits {
            self.erases = 0;
            audit()?;
        }
        Ok(())
    }

    pub(in super::super) fn finish(
        &mut self,
        pages: &Pages,
        lookup: impl Fn(Lpn) -> Option<Ppn>,
        audit: impl FnOnce() -> Result<(), String>,
    ) -> Result<(), String> {
        for lpn in pages.touched() {
            agree(lpn, lookup(lpn), pages.location(lpn))?;
        }
        pages.preconditioned_pages_remain(lookup)?;
        audit()
    }
}

fn agree(lpn: Lpn, mapped: Option<Ppn>, expected: Option<Ppn>) -> Result<(), String> {
    let name = |place: Option<Ppn>| place.map_or("nowhere".to_owned(), |ppn| format!("at page {}", ppn.0));
    if mapped == expected {
        return Ok(());
    }
    Err(format!("logical page {} is mapped {}, but its newest version is {}", lpn.0, name(mapped), name(expected)))
}

#[cfg(test)]
mod tests {
    use super::Mapping;
    use crate::check::histories::{
        assert_fails, assert_silent, config, end, erase, geometry, oracles, oracles_of_a_full_drive, read, submit, us,
        write,
    };
    use crate::ftl::{Ftl, FtlRules};
    use crate::ids::{Lpn, Ppn, RequestId};
    use crate::workload::RequestKind;

    #[test]
    fn a_map_that_agrees_is_right() {
        let mut ftl = Ftl::new(&geometry(), &config(), FtlRules::new(&config()));
        let mut oracles = oracles();
        let ppn = ftl.map_on_read(Lpn(7), None).expect("the plane has space");
        oracles.page_placed(ppn, Lpn(7), us(0));
        let home = ftl.location(Lpn(8)).0;
        submit(&mut oracles, 1, RequestKind::Read, 8 * 4096, 4096, us(0));
        let now = read(&mut oracles, home, 8, Some(1), us(0));
        oracles.request_completed(RequestId(1), now);
        oracles.settled(&ftl, now);
        oracles.finish(&ftl, &[], true, now);
        assert_silent(&oracles);
    }

    #[test]
    fn a_write_that_the_map_does_not_know_of_is_caught_at_once() {
        let ftl = Ftl::new(&geometry(), &config(), FtlRules::new(&config()));
        let mut oracles = oracles();
        let now = write(&mut oracles, 0, 4, 7, us(0));
        oracles.settled(&ftl, now);
        assert_fails(&oracles, "mapping", "logical page 7 is mapped nowhere, but its newest version is at page 4");
    }

    #[test]
    fn a_map_that_keeps_a_deallocated_page_is_caught() {
        let mut ftl = Ftl::new(&geometry(), &config(), FtlRules::new(&config()));
        let mut oracles = oracles();
        let ppn = ftl.map_on_read(Lpn(7), None).expect("the plane has space");
        oracles.page_placed(ppn, Lpn(7), us(0));
        oracles.deallocated(Lpn(7), us(1));
        oracles.settled(&ftl, us(1));
        let message = format!("logical page 7 is mapped at page {}, but its newest version is nowhere", ppn.0);
        assert_fails(&oracles, "mapping", &message);
    }

    #[test]
    fn a_map_that_has_an_entry_for_a_page_read_at_its_home_is_caught() {
        let mut ftl = Ftl::new(&geometry(), &config(), FtlRules::new(&config()));
        let mut oracles = oracles();
        let home = ftl.location(Lpn(7)).0;
        ftl.map_on_read(Lpn(7), None).expect("the plane has space");
        submit(&mut oracles, 1, RequestKind::Read, 7 * 4096, 4096, us(0));
        let now = read(&mut oracles, home, 7, Some(1), us(0));
        oracles.settled(&ftl, now);
        assert_fails(&oracles, "mapping", "but its newest version is nowhere");
    }

    #[test]
    fn a_disagreement_that_nothing_touched_is_caught_at_the_end() {
        let mut oracles = oracles();
        let now = write(&mut oracles, 0, 4, 7, us(0));
        oracles.finish_with(|_| Some(Ppn(5)), || Ok(()), true, now);
        assert_fails(&oracles, "mapping", "logical page 7 is mapped at page 5, but its newest version is at page 4");
    }

    #[test]
    fn pages_of_before_the_run_that_are_lost_or_erased_are_caught_at_the_end() {
        let mut lost = oracles_of_a_full_drive();
        end(&mut lost, us(1));
        assert_fails(&lost, "mapping", "logical page 0, written before the run, is lost");

        let mut erased = oracles_of_a_full_drive();
        let now = erase(&mut erased, 0, us(0));
        erased.finish_with(|lpn| Some(Ppn(lpn.0)), || Ok(()), true, now);
        let message = "logical page 0, written before the run and not since, is mapped to page 0 (page 0 of block 0), which was erased";
        assert_fails(&erased, "mapping", message);
    }

    #[test]
    fn a_failed_audit_is_told_at_the_end() {
        let mut oracles = oracles();
        oracles.finish_with(|_| None, || Err("two pages at one place".to_owned()), true, us(0));
        assert_fails(&oracles, "mapping", "two pages at one place");
    }

    #[test]
    fn the_map_is_audited_once_a_quarter_of_the_blocks_were_erased() {
        let mut mapping = Mapping::new(&config().geometry);
        let mut pages = oracles().pages;
        let fails = || Err("audited".to_owned());
        for _ in 0..15 {
            mapping.erased();
        }
        assert_eq!(mapping.settled(&mut pages, |_| None, |_| None, fails), Ok(()));
        mapping.erased();
        assert_eq!(mapping.settled(&mut pages, |_| None, |_| None, fails), Err("audited".to_owned()));
        assert_eq!(mapping.settled(&mut pages, |_| None, |_| None, fails), Ok(()));
    }
}
