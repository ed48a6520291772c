//! Oracles: what must always hold, checked apart from the code that makes it so.
//!
//! The simulation tells the oracles what it does, as it does it; they keep their own picture of the drive and compare.
//! They are always on in tests, and in any run with `--check`. One oracle is one file:
//!
//! - `clock`: time never runs back;
//! - `links`: a link is used for one die at a time, and none is kept for nothing;
//! - `paths`: a path carries one transfer at a time, and every byte sent arrives once;
//! - `data`: the data of a program comes with its command, or from another chip before;
//! - `dies`: a die does one operation at a time, for as long as its kind takes, suspended or not;
//! - `planes`: planes join in one operation as the multi-plane rule allows, each with one page;
//! - `pages`: a page is programmed once between erases, in order, and no erase loses a page;
//! - `cache`: the device cache hides no data and loses none;
//! - `freshness`: every read returns the newest version, and no write is lost;
//! - `mapping`: the map of the translation layer is a bijection and agrees with the array;
//! - `entries`: entries of the map are read before they are used, and written back before they are forgotten;
//! - `namespaces`: the pages of a namespace lie on the planes it is bound to;
//! - `queues`: queues between host and drive hold what they may, and commands are fetched once and in order;
//! - `requests`: every request completes once, with all of its pages, and a flush after the writes before it;
//! - `energy`: the energy in the report adds up from what was seen.

mod cache;
mod clock;
mod data;
mod dies;
mod energy;
mod entries;
mod freshness;
mod links;
mod mapping;
mod namespaces;
mod page_times;
mod pages;
mod paths;
mod planes;
#[cfg(test)]
mod planted;
mod queues;
mod requests;

pub use energy::LinksAtEnd;

use std::ops::Range;

use crate::cache::Sectors;
use crate::config::{Config, FirstTouch};
use crate::error::RunError;
use crate::fabric::{self, Grant, Leg, LinkUse, Payload, Sent};
use crate::flash::die::OperationKind;
use crate::flash::geometry::Geometry;
use crate::ftl::Ftl;
use crate::ftl::mapping_cache::EntryEvent;
use crate::host::interface::Seen;
use crate::ids::{BlockId, DieId, LinkId, Lpn, PlaneId, Ppn, RequestId, StreamId};
use crate::measure::cache::PowerCutReport;
use crate::power::energy::PowerReport;
use crate::units::Time;
use crate::workload::IoRequest;

use cache::Cache;
use clock::Clock;
use data::Data;
use dies::Dies;
use energy::Energy;
use entries::Entries;
use freshness::Freshness;
use links::Links;
use mapping::Mapping;
use namespaces::Namespaces;
use pages::Pages;
use paths::Paths;
use planes::Planes;
pub(crate) use queues::Queues;
use requests::Requests;

/// Something that must always hold did not.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("at {at}: {oracle}: {message}")]
pub struct Violation {
    /// When, in simulated time.
    pub at: Time,
    /// The oracle that speaks.
    pub oracle: &'static str,
    /// What it saw and what it expected.
    pub message: String,
}

/// Where the content of a programmed page comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origin {
    /// A request wrote it.
    User(RequestId),
    /// The device cache sent it, whoever wrote it.
    Destaged,
    /// Garbage collection or wear levelling moved it from there.
    Moved(Ppn),
    /// The translation page is written back.
    Map,
}

/// All oracles of one run.
///
/// The hooks are called in the order in which things happen. [`Oracles::verdict`] tells of the first violation; what the
/// oracles say after it means nothing.
#[derive(Debug)]
pub struct Oracles {
    geometry: Geometry,
    clock: Clock,
    links: Links,
    paths: Paths,
    data: Data,
    dies: Dies,
    planes: Planes,
    pages: Pages,
    freshness: Freshness,
    cache: Option<Cache>,
    mapping: Mapping,
    namespaces: Namespaces,
    entries: Entries,
    /// Whether a page placed for a read changes its entry.
    placement_changes_map: bool,
    queues: Queues,
    requests: Requests,
    energy: Energy,
    violation: Option<Violation>,
}

impl Oracles {
    /// Oracles for a drive that has not run yet.
    pub fn new(geometry: &Geometry, config: &Config) -> Oracles {
        Oracles {
            geometry: geometry.clone(),
            clock: Clock::default(),
            links: Links::default(),
            paths: Paths::default(),
            data: Data::new(geometry, config.flash.partial_program),
            dies: Dies::new(geometry, &config.flash, fabric::on_die_controller_time(config)),
            planes: Planes::new(geometry, config.flash.multi_plane),
            pages: Pages::new(geometry, config),
            freshness: Freshness::new(geometry),
            cache: Cache::new(geometry, config),
            mapping: Mapping::new(geometry),
            namespaces: Namespaces::new(geometry, config),
            entries: Entries::new(geometry, &config.mapping),
            placement_changes_map: config.ftl.first_touch == FirstTouch::WriteBlock,
            queues: Queues::new(
                config,
                &config.streams().iter().map(|stream| stream.queue.priority).collect::<Vec<_>>(),
            ),
            requests: Requests::new(geometry, config),
            energy: Energy::new(config),
            violation: None,
        }
    }

    /// The first violation seen so far.
    pub fn violation(&self) -> Option<&Violation> {
        self.violation.as_ref()
    }

    /// Nothing, or the first violation seen so far.
    ///
    /// # Errors
    /// When there is one.
    pub fn verdict(&self) -> Result<(), RunError> {
        match &self.violation {
            Some(violation) => Err(RunError::Check(violation.clone())),
            None => Ok(()),
        }
    }

    fn judge(&mut self, oracle: &'static str, outcome: Result<(), String>, at: Time) {
        if let Err(message) = outcome
            && self.violation.is_none()
        {
            self.violation = Some(Violation { at, oracle, message });
        }
    }

    /// The clock moved to `at`.
    pub fn event(&mut self, at: Time) {
        let outcome = self.clock.moved(at);
        self.judge(Clock::NAME, outcome, at);
    }

    /// All that happens at one event has happened.
    pub fn settled(&mut self, ftl: &Ftl, now: Time) {
        let outcome = self.planes.settled();
        self.judge(Planes::NAME, outcome, now);
        let outcome = self.entries.settled();
        self.judge(Entries::NAME, outcome, now);
        let outcome = self.mapping.settled(&mut self.pages, |lpn| ftl.lookup(lpn), || ftl.audit());
        self.judge(Mapping::NAME, outcome, now);
    }

    /// The host issued a request.
    pub fn request_issued(&mut self, id: RequestId, stream: StreamId, now: Time) {
        let outcome = self.queues.issued(id, stream);
        self.judge(Queues::NAME, outcome, now);
    }

    /// The interface between host and drive did something.
    pub fn host(&mut self, seen: Seen, now: Time) {
        let outcome = self.queues.saw(seen);
        self.judge(Queues::NAME, outcome, now);
    }

    /// A request has reached the drive, which will not do it.
    pub fn request_refused(&mut self, id: RequestId, now: Time) {
        let outcome = self.requests.refused(id);
        self.judge(Requests::NAME, outcome, now);
    }

    /// A request has reached the drive.
    pub fn request_submitted(&mut self, id: RequestId, io: &IoRequest, now: Time) {
        let outcome = self.requests.submitted(id, io, now);
        self.judge(Requests::NAME, outcome, now);
        self.freshness.submitted(id, io, now, |lpn| self.pages.newest(lpn));
        if let Some(cache) = &mut self.cache {
            cache.submitted(id, io);
        }
    }

    /// A flush has reached the drive, of what was written to these pages.
    pub fn flush_began(&mut self, id: RequestId, pages: Range<u32>, now: Time) {
        let outcome = self.requests.flush_began(id);
        self.judge(Requests::NAME, outcome, now);
        if let Some(cache) = &mut self.cache {
            cache.flush_began(id, pages);
        }
    }

    /// The completion of a request has reached the host.
    pub fn request_completed(&mut self, id: RequestId, now: Time) {
        let outcome = self.requests.completed(id, now);
        self.judge(Requests::NAME, outcome, now);
        self.queues.completed(id);
        self.freshness.completed(id);
        self.entries.completed(id);
        self.cache(now, |cache| cache.completed(id));
    }

    /// Asks the oracle of the device cache, where there is one.
    fn cache(&mut self, now: Time, ask: impl FnOnce(&mut Cache) -> Result<(), String>) {
        if let Some(cache) = &mut self.cache {
            let outcome = ask(cache);
            self.judge(Cache::NAME, outcome, now);
        }
    }

    /// `sectors` of a page of a read come from the device cache.
    pub fn cache_found(&mut self, id: RequestId, lpn: Lpn, sectors: Sectors, now: Time) {
        let Some(cache) = &mut self.cache else { return };
        let outcome = cache.found(id, lpn, sectors);
        if outcome == Ok(true) {
            let outcome = self.requests.cached(id, lpn);
            self.judge(Requests::NAME, outcome, now);
        }
        self.judge(Cache::NAME, outcome.map(|_| ()), now);
    }

    /// The data of a page of a write went to the device cache; with `stays` that completes it.
    pub fn cache_took(&mut self, id: RequestId, lpn: Lpn, sectors: Sectors, stays: bool, now: Time) {
        if stays {
            let outcome = self.requests.cached(id, lpn);
            self.judge(Requests::NAME, outcome, now);
        }
        self.cache(now, |cache| cache.took(id, lpn, sectors, stays));
    }

    /// `sectors` of the page that a request read from flash went to the device cache.
    pub fn cache_filled(&mut self, id: RequestId, lpn: Lpn, sectors: Sectors, now: Time) {
        self.cache(now, |cache| cache.filled(id, lpn, sectors));
    }

    /// The device cache holds a page no more.
    pub fn cache_removed(&mut self, lpn: Lpn, now: Time) {
        self.cache(now, |cache| cache.removed(lpn));
    }

    /// The device cache sends `sectors` of a page to flash.
    pub fn destage_began(&mut self, lpn: Lpn, sectors: Sectors, now: Time) {
        self.cache(now, |cache| cache.destage_began(lpn, sectors));
    }

    /// A page that the device cache had sent to flash was deallocated on its way, and is so again.
    pub fn destage_forgotten(&mut self, lpn: Lpn, _now: Time) {
        self.pages.deallocated(lpn);
        if let Some(cache) = &mut self.cache {
            cache.destage_forgotten(lpn);
        }
    }

    /// The run is over, and the device cache is as it is.
    pub fn cache_finished(&mut self, power_cut: Option<&PowerCutReport>, now: Time) {
        self.cache(now, |cache| cache.finish(power_cut));
    }

    /// A die asked for a path.
    pub fn path_asked(&mut self, die: DieId, _leg: Leg, _now: Time) {
        self.links.asked(die);
    }

    /// A path was granted.
    pub fn path_granted(&mut self, grant: Grant, now: Time) {
        let outcome = self.paths.granted(grant, now);
        self.judge(Paths::NAME, outcome, now);
    }

    /// A payload was sent over a granted path, to or from `die`: not the one that asked where dies of a chip take turns.
    pub fn sent(&mut self, grant: Grant, die: DieId, payload: Payload, sent: Sent, now: Time) {
        self.energy.sent();
        let outcome = self.paths.sent(grant, payload, sent, now);
        self.judge(Paths::NAME, outcome, now);
        let outcome = self.data.sent(die, payload);
        self.judge(Data::NAME, outcome, now);
    }

    /// What was sent has arrived.
    pub fn delivered(&mut self, grant: Grant, now: Time) {
        let outcome = self.paths.delivered(grant, now);
        self.judge(Paths::NAME, outcome, now);
    }

    /// A path was given back.
    pub fn path_released(&mut self, grant: Grant, now: Time) {
        let outcome = self.paths.released(grant);
        self.judge(Paths::NAME, outcome, now);
        let outcome = self.links.done(grant.die);
        self.judge(Links::NAME, outcome, now);
    }

    /// A die began to tell the end of an operation.
    pub fn acknowledgement_sent(&mut self, die: DieId, _now: Time) {
        self.links.asked(die);
    }

    /// A controller has heard of the end of an operation.
    pub fn acknowledged(&mut self, die: DieId, now: Time) {
        let outcome = self.links.done(die);
        self.judge(Links::NAME, outcome, now);
    }

    /// The use of a link ended.
    pub fn link_used(&mut self, link_use: LinkUse, now: Time) {
        self.energy.used(link_use);
        let outcome = self.links.used(link_use, now);
        self.judge(Links::NAME, outcome, now);
    }

    /// A die took an operation over `planes` of its planes.
    pub fn operation_began(&mut self, die: DieId, kind: OperationKind, planes: usize, now: Time) {
        let outcome = self.dies.began(die, kind, planes);
        self.judge(Dies::NAME, outcome, now);
        self.planes.began(die, kind, planes);
        self.energy.began(die, kind);
    }

    /// The array of a die began to work, until `until` unless it is suspended.
    pub fn array_began(&mut self, die: DieId, kind: OperationKind, now: Time, until: Time) {
        let outcome = self.dies.array_began(die, kind, now, until);
        self.judge(Dies::NAME, outcome, now);
    }

    /// The operation in the array of a die was set aside.
    pub fn suspended(&mut self, die: DieId, now: Time) {
        let outcome = self.dies.suspended(die, now);
        self.judge(Dies::NAME, outcome, now);
        self.planes.suspended(die);
    }

    /// The operation set aside goes on, until `until`.
    pub fn resumed(&mut self, die: DieId, now: Time, until: Time) {
        let outcome = self.dies.resumed(die, now, until);
        self.judge(Dies::NAME, outcome, now);
        self.planes.resumed(die);
    }

    /// The array of a die is done. What its planes did follows at once: a page read, programmed or a block erased each.
    pub fn array_ended(&mut self, die: DieId, now: Time) {
        let outcome = self.dies.array_ended(die, now);
        self.judge(Dies::NAME, outcome, now);
        let outcome = self.planes.array_ended(die);
        self.judge(Planes::NAME, outcome, now);
        self.energy.array_ended(die);
    }

    /// The data of one plane has left the register of a die.
    pub fn data_left(&mut self, die: DieId, now: Time) {
        let outcome = self.dies.data_left(die);
        self.judge(Dies::NAME, outcome, now);
    }

    /// The page read from `from` has reached the page buffer of another chip.
    pub fn page_copied(&mut self, from: Ppn, plane: PlaneId, now: Time) {
        let outcome = self.data.copied(from, plane);
        self.judge(Data::NAME, outcome, now);
    }

    /// A page in the page buffer of a chip is not needed any more.
    pub fn copy_dropped(&mut self, plane: PlaneId, now: Time) {
        let outcome = self.data.dropped(plane);
        self.judge(Data::NAME, outcome, now);
    }

    /// Checks how long the operation took that read a page, programmed one, or did both; what is not told was in the same plane.
    fn judge_time(&mut self, read: Option<Ppn>, programmed: Option<Ppn>, now: Time) {
        let Some(ppn) = programmed.or(read) else { return };
        let geometry = &self.geometry;
        let offset = |ppn: Option<Ppn>| ppn.map(|ppn| geometry.page_in_block(ppn));
        let die = geometry.die_of_plane(geometry.plane_of(ppn));
        let (read, programmed) = (offset(read), offset(programmed));
        self.energy.told(read, programmed);
        let outcome = self.dies.told(die, read.unwrap_or(0), programmed.unwrap_or(0));
        self.judge(Dies::NAME, outcome, now);
    }

    /// The array read a page, for a request or to move it.
    pub fn page_read(&mut self, ppn: Ppn, lpn: Lpn, request: Option<RequestId>, now: Time) {
        let outcome = self.planes.read(ppn);
        self.judge(Planes::NAME, outcome, now);
        self.judge_time(Some(ppn), None, now);
        self.cache(now, |cache| cache.read(request, lpn));
        let version = self.pages.read(ppn, lpn);
        if let Some(id) = request {
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

    /// The array programmed a page.
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
            Origin::Moved(from) => Some(from),
            Origin::Map => None,
        };
        let written = match origin {
            Origin::User(id) => self.requests.bytes(id, lpn),
            Origin::Destaged => self.cache.as_ref().and_then(|cache| cache.destaged_bytes(lpn)),
            Origin::Moved(_) | Origin::Map => None,
        };
        self.cache(now, |cache| cache.programmed(lpn, origin));
        let outcome = self.planes.programmed(ppn, from);
        self.judge(Planes::NAME, outcome, now);
        self.judge_time(from, Some(ppn), now);
        let outcome = self.data.programmed(ppn, from, written);
        self.judge(Data::NAME, outcome, now);
        let outcome = self.pages.programmed(ppn, lpn, origin);
        self.judge(Pages::NAME, outcome, now);
        let outcome = self.namespaces.lies(lpn, ppn);
        self.judge(Namespaces::NAME, outcome, now);
        if origin == Origin::Map {
            self.entries.programmed(lpn);
        } else if self.pages.place(lpn) == Some(ppn) {
            self.entries.moved(lpn);
        }
    }

    /// A page that was never written, or deallocated, was placed so that it can be read.
    pub fn page_placed(&mut self, ppn: Ppn, lpn: Lpn, ftl: &Ftl, now: Time) {
        let block = self.geometry.block_of(ppn);
        // Erases that the array was not told to do are compactions, see `Ftl::translate_read`.
        if ftl.erase_count(block) > self.pages.erases(block) {
            let mut survivors = Vec::new();
            let mut page = 0;
            while let Some((at, survivor)) = ftl.next_valid_page(block, page) {
                if self.geometry.ppn(block, at) != ppn {
                    survivors.push((self.geometry.ppn(block, at), survivor));
                }
                page = at + 1;
            }
            let outcome = self.pages.compacted(block, &survivors);
            self.judge(Pages::NAME, outcome, now);
        }
        if self.placement_changes_map {
            self.entries.moved(lpn);
        }
        let outcome = self.pages.placed(ppn, lpn);
        self.judge(Pages::NAME, outcome, now);
        let outcome = self.namespaces.lies(lpn, ppn);
        self.judge(Namespaces::NAME, outcome, now);
    }

    /// The array erased a block.
    pub fn block_erased(&mut self, block: BlockId, now: Time) {
        let outcome = self.planes.erased(block);
        self.judge(Planes::NAME, outcome, now);
        let outcome = self.pages.erased(block);
        self.judge(Pages::NAME, outcome, now);
        self.mapping.erased();
    }

    /// The host no longer needs a page.
    pub fn deallocated(&mut self, lpn: Lpn, _now: Time) {
        if self.pages.newest(lpn).is_some_and(|newest| newest.written || newest.at.is_some()) {
            self.entries.moved(lpn);
        }
        self.pages.deallocated(lpn);
        if let Some(cache) = &mut self.cache {
            cache.deallocated(lpn);
        }
    }

    /// A transaction of a request, or of the device cache, waits for its entry of the map.
    pub fn entry_wanted(&mut self, request: Option<RequestId>, lpn: Lpn, _now: Time) {
        self.entries.wanted(request, lpn);
    }

    /// A transaction of a request, or of the device cache, goes on with its entry of the map.
    pub fn entry_used(&mut self, request: Option<RequestId>, lpn: Lpn, now: Time) {
        let outcome = self.entries.used(request, lpn, now);
        self.judge(Entries::NAME, outcome, now);
    }

    /// Something became of an entry of the map.
    pub fn entry_changed(&mut self, event: EntryEvent, now: Time) {
        let outcome = self.entries.changed(event, now);
        self.judge(Entries::NAME, outcome, now);
    }

    /// A translation page is to be read.
    pub fn translation_read_issued(&mut self, page: Lpn, now: Time) {
        let outcome = self.entries.read_issued(page);
        self.judge(Entries::NAME, outcome, now);
    }

    /// A translation page has reached the controller.
    pub fn translation_read_ended(&mut self, page: Lpn, now: Time) {
        let outcome = self.entries.read_ended(page);
        self.judge(Entries::NAME, outcome, now);
    }

    /// A translation page is to be programmed.
    pub fn translation_program_issued(&mut self, page: Lpn, now: Time) {
        let outcome = self.entries.program_issued(page);
        self.judge(Entries::NAME, outcome, now);
    }

    /// The program of a translation page begins, with what its entries say now.
    pub fn translation_program_began(&mut self, page: Lpn, _now: Time) {
        self.entries.program_began(page);
    }

    /// The controller knows that a translation page was programmed.
    pub fn translation_program_ended(&mut self, page: Lpn, now: Time) {
        let outcome = self.entries.program_ended(page);
        self.judge(Entries::NAME, outcome, now);
    }

    /// The run is over, with these links held; `complete` unless it was cancelled.
    pub fn finish(&mut self, ftl: &Ftl, held: &[(LinkId, DieId)], complete: bool, now: Time) {
        let outcome = self.links.finish(held, |die| self.dies.chip_works(die));
        self.judge(Links::NAME, outcome, now);
        self.finish_with(|lpn| ftl.lookup(lpn), || ftl.audit(), complete, now);
    }

    /// The report of the run says this of its energy.
    pub fn reported(&mut self, power: &PowerReport, links: LinksAtEnd<'_>, now: Time) {
        let outcome = self.energy.finish(power, links, now);
        self.judge(Energy::NAME, outcome, now);
    }

    fn finish_with(
        &mut self,
        lookup: impl Fn(Lpn) -> Option<Ppn>,
        audit: impl FnOnce() -> Result<(), String>,
        complete: bool,
        now: Time,
    ) {
        if complete {
            let outcome = self.requests.finish();
            self.judge(Requests::NAME, outcome, now);
            let outcome = self.paths.finish();
            self.judge(Paths::NAME, outcome, now);
        }
        let outcome = self.planes.settled();
        self.judge(Planes::NAME, outcome, now);
        let outcome = self.namespaces.finish(&lookup);
        self.judge(Namespaces::NAME, outcome, now);
        let outcome = self.mapping.finish(&self.pages, lookup, audit);
        self.judge(Mapping::NAME, outcome, now);
    }
}
