//! Checks of replicas: a logical page has at most one, which holds the newest version, and the map has the locations of original and replica.

use crate::ids::{BlockId, Lpn, Ppn};

use super::{Newest, Pages, Version};

impl Pages {
    /// Records that the data for a replica of `lpn` was read from `ppn`. Also records the version of the data, because `ppn` may be erased
    /// before the replica is programmed.
    pub(in crate::rooms::check) fn replica_source_read(&mut self, lpn: Lpn, ppn: Ppn) -> Result<(), String> {
        let version = self.read(ppn, lpn, true)?;
        self.replica_sources.insert(lpn, (ppn, version));
        Ok(())
    }

    /// Removes the recorded source of the replica of `lpn`, and checks that this source is `from`. Returns the version that was read from
    /// `from`.
    pub(super) fn take_replica_source(&mut self, lpn: Lpn, from: Ppn) -> Result<Version, String> {
        match self.replica_sources.remove(&lpn) {
            Some((ppn, version)) if ppn == from => Ok(version),
            _ => Err(format!(
                "a replica of logical page {} was programmed, but {} was not read for it",
                lpn.0,
                self.name(from)
            )),
        }
    }

    pub(in crate::rooms::check) fn replica_made(&mut self, lpn: Lpn, ppn: Ppn) -> Result<(), String> {
        let place = format!("{} was declared the second home of logical page {}", self.name(ppn), lpn.0);
        if let Some(&other) = self.replicas.get(&lpn) {
            return Err(format!("{place}, which has one at {} already", self.name(other)));
        }
        let version = self.content(ppn, lpn, "copied", true)?;
        // An unwritten page (version 0, without a location) can be read and replicated, too.
        let (newest, at) = self.newest(lpn).map_or((0, None), |newest| (newest.version, newest.at));
        if newest != version || at == Some(ppn) {
            let at = at.map_or("nowhere".to_owned(), |at| format!("at {}", self.name(at)));
            return Err(format!("{place} with version {version}, but version {newest} is the newest, {at}"));
        }
        self.replicas.insert(lpn, ppn);
        self.changed.push(lpn);
        Ok(())
    }

    pub(in crate::rooms::check) fn replica_dropped(&mut self, lpn: Lpn) -> Result<(), String> {
        self.changed.push(lpn);
        match self.replicas.remove(&lpn) {
            Some(_) => Ok(()),
            None => Err(format!("the second home of logical page {} was given up, which has none", lpn.0)),
        }
    }

    pub(in crate::rooms::check) fn replica_kept(&mut self, lpn: Lpn) -> Result<(), String> {
        let Some(ppn) = self.replicas.remove(&lpn) else {
            return Err(format!("the second home of logical page {} was kept, which has none", lpn.0));
        };
        let version = self.content(ppn, lpn, "kept", true)?;
        self.changed.push(lpn);
        let newest = self.newest.entry(lpn).or_insert(Newest { version: 0, at: None, written: false });
        newest.at = Some(ppn);
        if newest.version == version {
            return Ok(());
        }
        Err(format!("version {version} of logical page {} was kept, which is not the newest", lpn.0))
    }

    pub(super) fn replica_moved(&mut self, lpn: Lpn, from: Ppn, to: Ppn) {
        if let Some(home) = self.replicas.get_mut(&lpn).filter(|home| **home == from) {
            *home = to;
        }
    }

    /// Checks that the erase of `block` destroyed no replica. `removed` are the pages that the block held, each with its logical page.
    pub(super) fn replicas_remain(&self, block: BlockId, removed: &[(Ppn, Lpn)]) -> Result<(), String> {
        match removed.iter().find(|(ppn, lpn)| self.replicas.get(lpn) == Some(ppn)) {
            Some((_, lpn)) => {
                Err(format!("the erase of block {} lost the second home of logical page {}", block.0, lpn.0))
            }
            None => Ok(()),
        }
    }

    pub(in crate::rooms::check) fn replicated(&self) -> Vec<Lpn> {
        let mut pages: Vec<Lpn> = self.replicas.keys().copied().collect();
        pages.sort_unstable();
        pages
    }

    /// Checks, for the logical pages `pages`, that the map has the same replicas as the model, each with the newest version.
    pub(in crate::rooms::check) fn replicas_agree(
        &self,
        pages: &[Lpn],
        replica_of: impl Fn(Lpn) -> Option<Ppn>,
    ) -> Result<(), String> {
        for &lpn in pages {
            let (declared, told) = (self.replicas.get(&lpn).copied(), replica_of(lpn));
            if declared != told {
                return Err(format!(
                    "logical page {} has its second home at {told:?}, declared is {declared:?}",
                    lpn.0
                ));
            }
            let Some(ppn) = told else { continue };
            let held = self.pages.get(&ppn).filter(|content| content.lpn == lpn).map(|content| content.version);
            let newest = self.newest(lpn).map_or(0, |newest| newest.version);
            if held != Some(newest) {
                return Err(format!(
                    "the second home of logical page {} holds version {held:?}, but {newest} is the newest",
                    lpn.0
                ));
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use crate::check::histories::{assert_fails, assert_silent, erase, oracles, program, read, submit, us, write};
    use crate::check::{Oracles, Origin};
    use crate::ftl::{Ftl, FtlRules};
    use crate::ids::{Lpn, Ppn, RequestId};
    use crate::units::Time;
    use crate::workload::RequestKind::Read;

    /// Programs a replica of logical page 7 to `ppn` with the data of page 0. Returns the end time.
    fn program_replica(oracles: &mut Oracles, ppn: u32, start: Time) -> Time {
        oracles.replica_source_read(Lpn(7), Ppn(0), start);
        program(oracles, ppn, 7, Origin::Replica(Ppn(0)), start)
    }

    /// Writes logical page 7 to page 0 and replicates it to page 64. Returns the oracles, and the time at which the last program ended.
    fn replicated() -> (Oracles, Time) {
        let mut oracles = oracles();
        let now = write(&mut oracles, 0, 0, 7, us(0));
        let now = program_replica(&mut oracles, 64, now);
        oracles.replica_made(Lpn(7), Ppn(64), now);
        (oracles, now)
    }

    #[test]
    fn a_read_from_either_home_is_right_and_either_may_be_kept() {
        for home in [0, 64] {
            let (mut oracles, now) = replicated();
            submit(&mut oracles, 5, Read, 7 * 4096, 4096, now);
            let now = read(&mut oracles, home, 7, Some(5), now);
            oracles.request_completed(RequestId(5), now);
            if home == 64 {
                oracles.replica_kept(Lpn(7), now)
            } else {
                oracles.replica_dropped(Lpn(7), now)
            }
            let other = if home == 64 { 0 } else { 16 };
            erase(&mut oracles, other, now);
            assert_silent(&oracles);
        }
    }

    #[test]
    fn a_replica_whose_original_was_moved_and_erased_during_the_program_is_right() {
        let mut oracles = oracles();
        let now = write(&mut oracles, 0, 0, 7, us(0));
        oracles.replica_source_read(Lpn(7), Ppn(0), now);
        let now = read(&mut oracles, 0, 7, None, now);
        let now = program(&mut oracles, 4, 7, Origin::Moved(Ppn(0)), now);
        let now = erase(&mut oracles, 0, now);
        program(&mut oracles, 64, 7, Origin::Replica(Ppn(0)), now);
        assert_silent(&oracles);
    }

    #[test]
    fn a_replica_whose_data_was_not_read_is_caught() {
        let mut none = oracles();
        let now = write(&mut none, 0, 0, 7, us(0));
        program(&mut none, 64, 7, Origin::Replica(Ppn(0)), now);
        let message = "a replica of logical page 7 was programmed, but page 0 (page 0 of block 0) was not read for it";
        assert_fails(&none, "pages", message);
        let (mut once, now) = replicated();
        program(&mut once, 65, 7, Origin::Replica(Ppn(0)), now);
        assert_fails(&once, "pages", message);
        let mut elsewhere = oracles();
        let now = write(&mut elsewhere, 0, 0, 7, us(0));
        elsewhere.replica_source_read(Lpn(7), Ppn(1), now);
        assert_fails(&elsewhere, "pages", "page 1 (page 1 of block 0) was read for logical page 7");
    }

    #[test]
    fn a_read_of_the_copy_of_an_older_version_is_caught() {
        let (mut oracles, now) = replicated();
        let now = write(&mut oracles, 1, 1, 7, now);
        submit(&mut oracles, 5, Read, 7 * 4096, 4096, now);
        read(&mut oracles, 64, 7, Some(5), now);
        assert_fails(&oracles, "freshness", "request 5 read version 1 of logical page 7, but version 2 was newest");
    }

    #[test]
    fn a_copy_of_an_older_version_is_no_home() {
        let mut oracles = oracles();
        let now = write(&mut oracles, 0, 0, 7, us(0));
        let now = program_replica(&mut oracles, 64, now);
        let now = write(&mut oracles, 1, 1, 7, now);
        oracles.replica_made(Lpn(7), Ppn(64), now);
        assert_fails(&oracles, "pages", "with version 1, but version 2 is the newest, at page 1");
    }

    #[test]
    fn a_third_home_is_caught() {
        let (mut oracles, now) = replicated();
        let now = program_replica(&mut oracles, 65, now);
        oracles.replica_made(Lpn(7), Ppn(65), now);
        assert_fails(&oracles, "pages", "which has one at page 64");
    }

    #[test]
    fn an_erase_of_a_declared_home_is_caught() {
        let (mut oracles, now) = replicated();
        erase(&mut oracles, 16, now);
        assert_fails(&oracles, "pages", "the erase of block 16 lost the second home of logical page 7");
    }

    #[test]
    fn a_home_that_the_drive_does_not_know_or_keeps_for_too_long_is_caught() {
        let (mut forgotten, now) = replicated();
        let config = crate::check::histories::config();
        let ftl = Ftl::new(&crate::check::histories::geometry(), &config, FtlRules::new(&config));
        let outcome = forgotten.pages.replicas_agree(&[Lpn(7)], |lpn| ftl.replica_of(lpn));
        assert!(outcome.is_err_and(|error| error.contains("declared is Some(Ppn(64))")));
        write(&mut forgotten, 1, 1, 7, now);
        let outcome = forgotten.pages.replicas_agree(&[Lpn(7)], |_| Some(Ppn(64)));
        assert!(outcome.is_err_and(|error| error.contains("holds version Some(1), but 2 is the newest")));
    }

    #[test]
    fn homes_that_are_given_up_were_declared() {
        let mut none = oracles();
        none.replica_dropped(Lpn(7), us(0));
        assert_fails(&none, "pages", "was given up, which has none");
        let mut none = oracles();
        none.replica_kept(Lpn(7), us(0));
        assert_fails(&none, "pages", "was kept, which has none");
    }

    #[test]
    fn a_home_of_an_older_version_that_is_kept_is_caught() {
        let (mut oracles, now) = replicated();
        let now = write(&mut oracles, 1, 1, 7, now);
        oracles.replica_kept(Lpn(7), now);
        assert_fails(&oracles, "pages", "version 1 of logical page 7 was kept, which is not the newest");
    }
}
