//! Hooks of the oracles (checks of a run) for operations of dies and planes.

use std::ops::Range;

use crate::check::arithmetic::PageAt;
use crate::check::array::array_unit::ArrayUnit;
use crate::check::array::dies::Dies;
use crate::check::array::pages::Pages;
use crate::check::array::parity::Parity;
use crate::check::array::planes::Planes;
use crate::check::array::programs::Programs;
use crate::check::cores::Cores;
use crate::check::host::freshness::Freshness;
use crate::check::host::namespaces::Namespaces;
use crate::check::host::requests::Requests;
use crate::check::map::entries::Entries;
use crate::check::transfers::data::Data;
use crate::check::{Oracles, Origin};
use crate::flash::die::OperationKind;
use crate::ids::{BlockId, DieId, Lpn, PlaneId, Ppn, RequestId};
use crate::units::{Bytes, Time};

impl Oracles {
    pub fn operation_began(&mut self, at: impl Into<ArrayUnit>, kind: OperationKind, planes: usize, now: Time) {
        let at @ ArrayUnit { die, .. } = at.into();
        let outcome = self.dies.began(at, kind, planes, now);
        self.judge(Dies::NAME, outcome, now);
        self.planes.began(at, kind, planes);
        self.commands.began(die, kind, planes);
        self.energy.began(die, kind);
    }

    /// Checks the start of array work that ends at `until`, unless it is suspended before.
    pub fn array_began(&mut self, at: impl Into<ArrayUnit>, kind: OperationKind, now: Time, until: Time) {
        let outcome = self.dies.array_began(at.into(), kind, now, until);
        self.judge(Dies::NAME, outcome, now);
    }

    pub fn suspended(&mut self, die: DieId, now: Time) {
        let outcome = self.dies.suspended(die, now);
        self.judge(Dies::NAME, outcome, now);
        self.planes.suspended(die);
    }

    pub fn resumed(&mut self, die: DieId, now: Time, until: Time) {
        let outcome = self.dies.resumed(die, now, until);
        self.judge(Dies::NAME, outcome, now);
        self.planes.resumed(die);
    }

    /// Checks the end of array work. The notices that follow report its effects: in each plane a page that was read or programmed, or a block that
    /// was erased.
    pub fn array_ended(&mut self, at: impl Into<ArrayUnit>, now: Time) {
        let at @ ArrayUnit { die, .. } = at.into();
        let outcome = self.dies.array_ended(at, now);
        self.judge(Dies::NAME, outcome, now);
        let outcome = self.planes.array_ended(at);
        self.judge(Planes::NAME, outcome, now);
        self.energy.array_ended(die);
        self.data.array_ended();
        self.programs.array_ended();
    }

    pub fn data_out_ended(&mut self, at: impl Into<ArrayUnit>, now: Time) {
        let outcome = self.dies.release_register(at.into());
        self.judge(Dies::NAME, outcome, now);
    }

    pub fn page_copied(&mut self, from: Ppn, plane: PlaneId, now: Time) {
        let outcome = self.data.copied(from, plane);
        self.judge(Data::NAME, outcome, now);
    }

    pub fn copy_dropped(&mut self, from: Ppn, plane: PlaneId, now: Time) {
        let outcome = self.data.dropped(from, plane);
        self.judge(Data::NAME, outcome, now);
    }

    /// Checks the array time of an operation in one plane. `read` and `programmed` are the pages that it read and programmed there; `None`
    /// if there is none. `sensed` is the part of a mapping unit of several pages that a read covers; `None` if unknown.
    fn judge_time(&mut self, read: Option<Ppn>, programmed: Option<Ppn>, sensed: Option<Range<Bytes>>, now: Time) {
        let Some(ppn) = programmed.or(read) else { return };
        let homes = &self.homes;
        let page_at = |ppn: Ppn| match self.slc.holds(ppn) {
            true => PageAt::Slc,
            false => PageAt::Native(homes.page_in_block(ppn) / self.units_per_page * self.pages_per_unit),
        };
        let die = homes.die_of(ppn);
        let (read, programmed) = (read.map(page_at), programmed.map(page_at));
        if self.pages_per_unit > 1 {
            let outcome = self.dies.check_unit_time(die, read, programmed, sensed);
            self.energy.charge_unit(read, self.dies.worked(die));
            return self.judge(Dies::NAME, outcome, now);
        }
        self.energy.charge_pages(read, programmed);
        let outcome =
            self.dies.check_page_time(die, read.unwrap_or(PageAt::Native(0)), programmed.unwrap_or(PageAt::Native(0)));
        self.judge(Dies::NAME, outcome, now);
    }

    /// Returns the bytes of `lpn` that must leave the chip after a read. `None` for translation pages, and if the drive has a device cache,
    /// because the cache may already hold a part of the page.
    fn wanted(&self, lpn: Lpn, request: Option<RequestId>) -> Option<Bytes> {
        match request {
            _ if self.cache.is_some() => None,
            Some(id) if self.whole.contains(&(id, lpn)) => Some(self.requests.page_size()),
            Some(id) => self.requests.wanted(id, lpn),
            None => self.entries.is_of_host(lpn).then(|| self.requests.page_size()),
        }
    }

    /// Returns the range of bytes of the mapping unit `lpn` that a read covers. `None` if the range is unknown: for translation pages, and
    /// if the drive has a device cache.
    fn sensed(&self, lpn: Lpn, request: Option<RequestId>) -> Option<Range<Bytes>> {
        let whole = || Bytes::ZERO..self.requests.page_size();
        match request {
            _ if self.cache.is_some() => None,
            Some(id) if self.whole.contains(&(id, lpn)) => Some(whole()),
            Some(id) => self.requests.sensed(id, lpn),
            None => self.entries.is_of_host(lpn).then(whole),
        }
    }

    pub fn page_read(&mut self, ppn: Ppn, lpn: Lpn, request: Option<RequestId>, now: Time) {
        let outcome = self.planes.read(ppn);
        self.judge(Planes::NAME, outcome, now);
        self.judge_time(Some(ppn), None, self.sensed(lpn, request), now);
        self.data.read(ppn, self.wanted(lpn, request));
        self.cache(now, |cache| cache.read(request, lpn));
        let version = self.pages.read(ppn, lpn, request.is_some());
        if let Some(id) = request {
            let untouched = self.pages.is_untouched(lpn).then_some(ppn);
            let outcome = self.cores.read(id, lpn, untouched);
            self.judge(Cores::NAME, outcome, now);
            if let Ok(version) = version {
                let outcome = self.freshness.read(id, lpn, version);
                self.judge(Freshness::NAME, outcome, now);
            }
            let outcome = self.requests.read(id, lpn);
            self.judge(Requests::NAME, outcome, now);
            let outcome = self.entries.page_done(Some(id), lpn);
            self.judge(Entries::NAME, outcome, now);
        }
        self.judge(Pages::NAME, version.map(|_| ()), now);
    }

    pub fn page_programmed(&mut self, ppn: Ppn, lpn: Lpn, origin: Origin, now: Time) {
        let from = match origin {
            Origin::User(id) => {
                let outcome = self.requests.programmed(id, lpn);
                self.judge(Requests::NAME, outcome, now);
                let outcome = self.freshness.programmed(id, lpn, self.pages.newest(lpn));
                self.judge(Freshness::NAME, outcome, now);
                let outcome = self.entries.page_done(Some(id), lpn);
                self.judge(Entries::NAME, outcome, now);
                None
            }
            Origin::Destaged => {
                let outcome = self.entries.page_done(None, lpn);
                self.judge(Entries::NAME, outcome, now);
                None
            }
            Origin::Moved(from) => {
                let outcome = self.cores.programmed();
                self.judge(Cores::NAME, outcome, now);
                Some(from)
            }
            Origin::Map | Origin::Replica(_) => None,
        };
        let written = match origin {
            Origin::User(id) => self.requests.bytes(id, lpn),
            Origin::Destaged => self.cache.as_ref().and_then(|cache| cache.destaged_bytes(lpn)),
            Origin::Moved(_) | Origin::Map | Origin::Replica(_) => None,
        };
        self.cache(now, |cache| cache.programmed(lpn, origin));
        let outcome = self.parity.programmed(ppn);
        self.judge(Parity::NAME, outcome, now);
        let outcome = self.planes.programmed(ppn, from);
        self.judge(Planes::NAME, outcome, now);
        let outcome = self.programs.programmed(ppn);
        self.judge(Programs::NAME, outcome, now);
        self.judge_time(from, Some(ppn), None, now);
        let outcome = self.data.programmed(ppn, from, written);
        self.judge(Data::NAME, outcome, now);
        let outcome = self.pages.programmed(ppn, lpn, origin);
        self.judge(Pages::NAME, outcome, now);
        let outcome = self.namespaces.lies(lpn, ppn);
        self.judge(Namespaces::NAME, outcome, now);
        if origin == Origin::Map {
            self.entries.programmed(lpn);
        } else if self.pages.location(lpn) == Some(ppn) {
            self.entries.moved(lpn);
        }
    }

    /// Checks a parity program in a plane. `ppn` is the last data page before the parity program, which parity covers.
    pub fn parity_programmed(&mut self, ppn: Ppn, now: Time) {
        let outcome = self.parity.parity(ppn);
        self.judge(Parity::NAME, outcome, now);
        let outcome = self.planes.programmed(ppn, None);
        self.judge(Planes::NAME, outcome, now);
        self.judge_time(None, Some(ppn), None, now);
        let outcome = self.data.programmed(ppn, None, None);
        self.judge(Data::NAME, outcome, now);
    }

    /// Records that the drive assigned the location `ppn` to the unwritten page `lpn`, to read it there.
    pub fn page_placed(&mut self, ppn: Ppn, lpn: Lpn, now: Time) {
        self.entries.moved(lpn);
        let outcome = self.pages.placed(ppn, lpn);
        self.judge(Pages::NAME, outcome, now);
        let outcome = self.namespaces.lies(lpn, ppn);
        self.judge(Namespaces::NAME, outcome, now);
    }

    pub fn whole_page_wanted(&mut self, request: Option<RequestId>, lpn: Lpn) {
        self.whole.extend(request.map(|id| (id, lpn)));
    }

    /// Records that the data for a replica of `lpn` was read from `ppn`.
    pub fn replica_source_read(&mut self, lpn: Lpn, ppn: Ppn, now: Time) {
        let outcome = self.pages.replica_source_read(lpn, ppn);
        self.judge(Pages::NAME, outcome, now);
    }

    pub fn replica_made(&mut self, lpn: Lpn, ppn: Ppn, now: Time) {
        let outcome = self.pages.replica_made(lpn, ppn);
        self.judge(Pages::NAME, outcome, now);
    }

    pub fn replica_dropped(&mut self, lpn: Lpn, now: Time) {
        let outcome = self.pages.replica_dropped(lpn);
        self.judge(Pages::NAME, outcome, now);
    }

    /// Records that the original copy of `lpn` became invalid, so that the replica is the only copy.
    pub fn replica_kept(&mut self, lpn: Lpn, now: Time) {
        let outcome = self.pages.replica_kept(lpn);
        self.judge(Pages::NAME, outcome, now);
        self.entries.moved(lpn);
    }

    pub fn block_erased(&mut self, block: BlockId, now: Time) {
        self.parity.erased(block);
        self.programs.erased(block);
        let outcome = self.planes.erased(block);
        self.judge(Planes::NAME, outcome, now);
        let outcome = self.pages.erased(block);
        self.judge(Pages::NAME, outcome, now);
        self.mapping.erased();
    }
}
