//! Oracle `freshness`: a read returns at least the version that was newest when its request reached the drive. Writes of a page take effect
//! in the order in which they reached the drive. A partial write keeps the newest content of the sectors that it does not write. The
//! versions come from the oracle `pages`.

use rustc_hash::FxHashMap;

use crate::check::arithmetic::{Extent, PageSplit};
use crate::check::array::pages::{Newest, Version};
use crate::check::id_vec::IdVec;
use crate::config::Config;
use crate::ids::{Lpn, RequestId};
use crate::units::Time;
use crate::workload::{IoRequest, RequestKind};

use super::per_page::PerPage;

/// Versions of one page of a request, against which the access of the request to this page is checked.
#[derive(Clone, Copy, Debug, Default)]
struct PageVersions {
    /// Newest version when the request arrived at the drive. A read must not return an older one.
    newest: Version,
    /// Version that was read for the request, from which a partial write takes the sectors that it does not write. `None` before the read.
    base: Option<Version>,
}

#[derive(Clone, Debug)]
struct RequestVersions {
    extent: Extent,
    submitted: Time,
    /// Sequence number of the request, in order of arrival at the drive.
    order: u64,
    pages: PerPage<PageVersions>,
}

/// Requirements on the versions that all requests in flight read or overwrite.
#[derive(Clone, Debug)]
pub(in super::super) struct Freshness {
    cuts: PageSplit,
    wants: IdVec<RequestId, Option<RequestVersions>>,
    submitted: u64,
    /// For each written page, the sequence number of the request whose data it holds.
    writer: FxHashMap<Lpn, u64>,
}

impl Freshness {
    pub(in super::super) const NAME: &'static str = "freshness";

    pub(in super::super) fn new(config: &Config) -> Freshness {
        Freshness { cuts: PageSplit::new(config), wants: IdVec::default(), submitted: 0, writer: FxHashMap::default() }
    }

    pub(in super::super) fn submitted(
        &mut self,
        id: RequestId,
        io: &IoRequest,
        now: Time,
        newest: impl Fn(Lpn) -> Option<Newest>,
    ) {
        self.submitted += 1;
        if matches!(io.kind, RequestKind::Deallocate | RequestKind::Flush) {
            return;
        }
        let extent = self.cuts.extent(io);
        let wants = RequestVersions {
            submitted: now,
            order: self.submitted,
            pages: PerPage::new(
                extent
                    .pages()
                    .map(|lpn| PageVersions { newest: newest(lpn).map_or(0, |newest| newest.version), base: None }),
            ),
            extent,
        };
        self.wants.insert(id, wants);
    }

    pub(in super::super) fn read(&mut self, id: RequestId, lpn: Lpn, version: Version) -> Result<(), String> {
        let Some(wants) = self.wants.find_mut(id) else { return Ok(()) };
        let Some(at) = wants.extent.position(lpn) else { return Ok(()) };
        let page = &mut wants.pages[at];
        page.base = Some(version);
        if version < page.newest {
            return Err(format!(
                "request {} read version {version} of logical page {}, but version {} was newest when it reached the \
                 drive at {}",
                id.0, lpn.0, page.newest, wants.submitted
            ));
        }
        Ok(())
    }

    pub(in super::super) fn programmed(
        &mut self,
        id: RequestId,
        lpn: Lpn,
        newest: Option<Newest>,
    ) -> Result<(), String> {
        let Some(wants) = self.wants.find(id) else { return Ok(()) };
        let Some(at) = wants.extent.position(lpn) else { return Ok(()) };
        if let Some(later) = self.writer.insert(lpn, wants.order).filter(|&writer| writer > wants.order) {
            return Err(format!(
                "request {}, number {} to reach the drive, overwrote logical page {}, which holds the data of number \
                 {later}",
                id.0, wants.order, lpn.0
            ));
        }
        match newest {
            Some(Newest { version, written: true, .. })
                if wants.extent.is_partial(lpn) && wants.pages[at].base != Some(version) =>
            {
                let base = wants.pages[at].base.map_or("none".to_owned(), |base| format!("version {base}"));
                Err(format!(
                    "request {} wrote a part of logical page {} over {base}, but version {version} is the newest",
                    id.0, lpn.0
                ))
            }
            _ => Ok(()),
        }
    }

    pub(in super::super) fn completed(&mut self, id: RequestId) {
        self.wants.remove(id);
    }
}

#[cfg(test)]
mod tests {
    use crate::check::histories::{
        assert_fails, assert_silent, oracles, oracles_of_a_full_drive, program, read, submit, us, write,
    };
    use crate::check::{Oracles, Origin};
    use crate::ids::{Lpn, RequestId};
    use crate::units::Time;
    use crate::workload::RequestKind::{Read, Write};

    const PAGE: u64 = 4096;

    /// Writes logical page 7 to page 0, then to page 1. Returns the oracles, and the time at which the second write ended.
    fn written_twice() -> (Oracles, Time) {
        let mut oracles = oracles();
        let now = write(&mut oracles, 0, 0, 7, us(0));
        let now = write(&mut oracles, 1, 1, 7, now);
        (oracles, now)
    }

    #[test]
    fn a_read_may_return_what_was_newest_when_it_came_though_a_write_passed_it() {
        let mut oracles = oracles();
        let now = write(&mut oracles, 0, 0, 7, us(0));
        submit(&mut oracles, 5, Read, 7 * PAGE, PAGE, now);
        let now = write(&mut oracles, 1, 1, 7, now);
        let now = read(&mut oracles, 0, 7, Some(5), now);
        oracles.request_completed(RequestId(5), now);
        assert_silent(&oracles);
    }

    #[test]
    fn a_read_of_an_older_version_is_caught() {
        let (mut oracles, now) = written_twice();
        submit(&mut oracles, 5, Read, 7 * PAGE, PAGE, now);
        read(&mut oracles, 0, 7, Some(5), now);
        let message =
            "request 5 read version 1 of logical page 7, but version 2 was newest when it reached the drive at 200us";
        assert_fails(&oracles, "freshness", message);
    }

    #[test]
    fn a_read_of_what_was_there_before_the_run_is_caught_once_it_is_overwritten() {
        let mut oracles = oracles_of_a_full_drive();
        let now = write(&mut oracles, 0, 0, 7, us(0));
        submit(&mut oracles, 5, Read, 7 * PAGE, PAGE, now);
        read(&mut oracles, 20, 7, Some(5), now);
        assert_fails(&oracles, "freshness", "request 5 read version 0 of logical page 7, but version 1 was newest");
    }

    #[test]
    fn a_write_overtaken_by_a_later_one_is_caught() {
        let mut oracles = oracles();
        submit(&mut oracles, 5, Write, 7 * PAGE, PAGE, us(0));
        submit(&mut oracles, 6, Write, 7 * PAGE, PAGE, us(0));
        let now = program(&mut oracles, 0, 7, Origin::User(RequestId(6)), us(0));
        program(&mut oracles, 1, 7, Origin::User(RequestId(5)), now);
        let message =
            "request 5, number 1 to reach the drive, overwrote logical page 7, which holds the data of number 2";
        assert_fails(&oracles, "freshness", message);
    }

    #[test]
    fn a_write_of_a_part_of_a_page_over_the_newest_rest_is_right() {
        let (mut oracles, now) = written_twice();
        submit(&mut oracles, 5, Write, 7 * PAGE, 512, now);
        let now = read(&mut oracles, 1, 7, Some(5), now);
        program(&mut oracles, 2, 7, Origin::User(RequestId(5)), now);
        assert_silent(&oracles);
    }

    #[test]
    fn a_write_of_a_part_of_a_page_that_does_not_read_the_rest_is_caught() {
        let (mut oracles, now) = written_twice();
        submit(&mut oracles, 5, Write, 7 * PAGE + 512, PAGE - 512, now);
        program(&mut oracles, 2, 7, Origin::User(RequestId(5)), now);
        assert_fails(
            &oracles,
            "freshness",
            "request 5 wrote a part of logical page 7 over none, but version 2 is the newest",
        );
    }

    #[test]
    fn a_write_of_a_part_of_a_page_that_loses_another_write_is_caught() {
        let (mut oracles, now) = written_twice();
        submit(&mut oracles, 5, Write, 7 * PAGE, 512, now);
        submit(&mut oracles, 6, Write, 7 * PAGE + 512, 512, now);
        let now = read(&mut oracles, 1, 7, Some(5), now);
        let now = read(&mut oracles, 1, 7, Some(6), now);
        let now = program(&mut oracles, 2, 7, Origin::User(RequestId(5)), now);
        program(&mut oracles, 3, 7, Origin::User(RequestId(6)), now);
        let message = "request 6 wrote a part of logical page 7 over version 2, but version 3 is the newest";
        assert_fails(&oracles, "freshness", message);
    }

    #[test]
    fn a_write_of_a_part_of_a_deallocated_page_has_no_rest_to_keep() {
        let (mut oracles, now) = written_twice();
        oracles.deallocated(Lpn(7), now);
        submit(&mut oracles, 5, Write, 7 * PAGE, 512, now);
        program(&mut oracles, 2, 7, Origin::User(RequestId(5)), now);
        assert_silent(&oracles);
    }
}
