//! Where the requests of a fitted profile go.

use std::collections::BTreeMap;

use rustc_hash::FxHashMap;

use super::classes::{distance_class, distance_of, use_class};
use super::model::{Model, kind_index};
use super::places::{
    NEAR_PAGES, OpenRuns, PAGE_BYTES, PAGE_SECTORS, PageTimes, RECENT, Recent, Relation, Run, STRIPE_PAGES,
};
use super::urn::{Urn, Urns};
use crate::workload::RequestKind;
use crate::workload::synthetic::{Generator, below};

/// Requests that are remembered, for jumps into what they touched.
const HISTORY: usize = 1 << 16;
/// Stripes that are tried for a fresh place.
const TRIES: usize = 16;
/// Pages that are kept free for a run, at most.
const RUN_PAGES_MAX: u64 = 1 << 14;
/// Returns that were owed and are tried at a time.
const OWED_TRIES: usize = 4;
/// A place is taken for a return when its last use is up to so many times as long ago as was drawn, or as short.
const SLACK: u32 = 4;
/// Places before and behind the time drawn from which a return chooses by the load of their dies.
const CANDIDATES: usize = 4;
/// Classes of how often a place is used.
const USE_CLASSES: usize = 8;

/// A place that will be jumped to again.
#[derive(Clone, Copy, Debug)]
struct Place {
    sector: u64,
    left: u32,
    class: u32,
}

/// What a request asks, as placement sees it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Asked {
    pub(super) operation: u32,
    pub(super) kind: RequestKind,
    pub(super) sectors: u64,
    /// Whether the distance from the request before is short (0), middling (1) or long (2).
    pub(super) level: u32,
}

/// The run that a request belongs to.
enum GoingOn {
    /// The one of this rank, with so many requests to come, this one among them.
    Run(usize, u32),
    /// A new one, of so many requests.
    Begins(u32),
}

/// Chooses places.
///
/// A place that is used for the first time draws how often it will be in all; after each use it waits in the queue of its next
/// operation and of the class of its uses. A return draws such a class and how long ago the last use was, and takes a place of that
/// queue, used at about that time. Of several that would do, one is taken on whose die as many of the latest requests lie as in the
/// original: so requests of a burst meet on dies as often as they did.
#[derive(Clone, Debug)]
pub(super) struct Placement {
    span_sectors: u64,
    relations: Urns<2>,
    ranks: Urns<1>,
    /// For each operation and relation how often a place is used.
    uses: FxHashMap<[u32; 2], Urn>,
    run_lengths: Urns<2>,
    returns: Urns<2>,
    next: Urns<1>,
    overlaps: Urns<1>,
    near: Urns<2>,
    near_ranks: Urns<2>,
    near_ages: Urns<1>,
    loads: Urns<2>,
    sectors: Urns<1>,
    phases: Urns<2>,
    regions: Urn,
    region_count: u64,
    kinds: Vec<RequestKind>,
    before: [Relation; 3],
    runs: [OpenRuns; 3],
    pages: PageTimes,
    recent: Recent,
    /// The queue that a place joined last.
    latest_queue: usize,
    last_near: [u32; 3],
    history: Vec<(u64, u32, u32)>,
    now: u32,
    places: Vec<Place>,
    unused: Vec<u32>,
    /// For each operation and class of uses the places that wait, by the request that used them last.
    waiting: Vec<BTreeMap<u32, u32>>,
    /// For each operation returns that were drawn before there was a place for them.
    owed: Vec<Vec<u32>>,
    generator: Generator,
}

impl Placement {
    /// Places on a drive of `capacity` bytes, at least a stripe.
    pub(super) fn new(model: &Model, capacity: u64, generator: Generator) -> Placement {
        let (places, operations) = (&model.places, model.operations.list.len());
        let stripe = STRIPE_PAGES * PAGE_BYTES;
        let span = model.address_span.min(capacity / stripe * stripe);
        Placement {
            span_sectors: span / 512,
            relations: Urns::new(&places.relations),
            ranks: Urns::new(&places.ranks),
            uses: (places.uses.rows.iter())
                .map(|(context, counts)| {
                    let counts = counts.iter().map(|(&uses, &count)| (uses, count));
                    (*context, Urn::weighted(counts, u64::from))
                })
                .collect(),
            run_lengths: Urns::new(&places.run_lengths),
            returns: Urns::new(&places.returns),
            next: Urns::new(&places.next),
            overlaps: Urns::new(&places.overlaps),
            near: Urns::new(&places.near),
            near_ranks: Urns::new(&places.near_ranks),
            near_ages: Urns::new(&places.near_ages),
            loads: Urns::new(&places.loads),
            sectors: Urns::new(&places.sectors),
            phases: Urns::new(&places.phases),
            regions: Urn::new((0..).zip(places.regions.iter().copied())),
            region_count: places.regions.len().max(1) as u64,
            kinds: model.operations.list.iter().map(|operation| operation.kind).collect(),
            before: [Relation::Fresh; 3],
            runs: Default::default(),
            pages: PageTimes::default(),
            recent: Recent::default(),
            latest_queue: 0,
            last_near: [0; 3],
            history: vec![(0, 0, 0); HISTORY],
            now: 0,
            places: Vec::new(),
            unused: Vec::new(),
            waiting: vec![BTreeMap::new(); operations * USE_CLASSES],
            owed: vec![Vec::new(); operations],
            generator,
        }
    }

    /// The first sector of the next request.
    #[inline]
    pub(super) fn choose(&mut self, asked: Asked) -> u64 {
        self.now = self.now.saturating_add(1);
        let kind = kind_index(asked.kind);
        let number =
            self.relations.draw([asked.operation, self.before[kind].number() * 3 + asked.level], &mut self.generator);
        let relation = number.and_then(|number| Relation::ALL.get(number as usize)).copied().unwrap_or(Relation::Fresh);
        let (relation, sector, going_on) = self.place(relation, asked);
        let (rank, requests) = match going_on {
            GoingOn::Run(rank, left) => (Some(rank), left),
            GoingOn::Begins(requests) => (None, requests),
        };
        self.before[kind] = relation;
        let run =
            Run { first: sector, end: sector + asked.sectors, requests: requests.saturating_sub(1), operation: 0 };
        self.runs[kind].advance(rank, run);
        let (first, last) = (sector / PAGE_SECTORS, (sector + asked.sectors - 1) / PAGE_SECTORS);
        self.recent.push(first, last - first + 1);
        self.pages.touch(first, last, self.now);
        self.history[self.now as usize % HISTORY] = (first, (last - first + 1) as u32, kind as u32);
        sector
    }

    /// The relation that came about, the first sector, and the run that goes on or begins.
    fn place(&mut self, relation: Relation, asked: Asked) -> (Relation, u64, GoingOn) {
        if relation.goes_on()
            && let Some((sector, run)) = self.go_on(relation, asked)
        {
            let uses = self.uses(relation, asked);
            self.register(sector, uses, asked);
            return (relation, sector, run);
        }
        let reused = match relation {
            Relation::Reuse | Relation::Again => {
                let drawn = self.returns.draw([asked.operation, relation.number()], &mut self.generator);
                drawn.and_then(|drawn| self.reuse_or_owe(drawn, asked))
            }
            Relation::Fresh | Relation::NearFresh => (0..OWED_TRIES).find_map(|_| {
                let owed = &mut self.owed[asked.operation as usize];
                let at = below(&mut self.generator, (owed.len() as u64).max(1)) as usize;
                let drawn = (at < owed.len()).then(|| owed.swap_remove(at))?;
                self.reuse_or_owe(drawn, asked)
            }),
            _ => None,
        };
        match reused {
            Some((sector, requests)) => {
                let relation = if relation == Relation::Again { relation } else { Relation::Reuse };
                (relation, sector, GoingOn::Begins(requests))
            }
            None => {
                let relation = if matches!(relation, Relation::Reuse | Relation::Again) || relation.goes_on() {
                    Relation::Fresh
                } else {
                    relation
                };
                let requests = self.requests_of_run(relation, asked);
                (relation, self.first_use(relation, asked, requests), GoingOn::Begins(requests))
            }
        }
    }

    /// A place to use again; when no place fits what was drawn, that is owed.
    fn reuse_or_owe(&mut self, drawn: u32, asked: Asked) -> Option<(u64, u32)> {
        let found = self.reuse(drawn, asked);
        if found.is_none() {
            self.owed[asked.operation as usize].push(drawn);
        }
        found
    }

    /// Where a run goes on.
    fn go_on(&mut self, relation: Relation, asked: Asked) -> Option<(u64, GoingOn)> {
        let rank = self.ranks.draw([relation.number()], &mut self.generator)? as usize;
        let (rank, run) = self.runs[kind_index(asked.kind)].unfinished(rank)?;
        let sector = match relation {
            Relation::Backward => run.first.checked_sub(asked.sectors)?,
            _ => run.end,
        };
        (sector + asked.sectors <= self.span_sectors).then_some((sector, GoingOn::Run(rank, run.requests)))
    }

    /// How many requests a run that begins now will have.
    fn requests_of_run(&mut self, relation: Relation, asked: Asked) -> u32 {
        self.run_lengths.draw([asked.operation, relation.number()], &mut self.generator).unwrap_or(1)
    }

    /// The place for this operation, or for another, whose last use is about as long ago as is drawn, and the requests of the run
    /// that begins there.
    fn reuse(&mut self, drawn: u32, asked: Asked) -> Option<(u64, u32)> {
        let load = self.load(Relation::Reuse, asked);
        let first = distance_of(drawn % 64);
        let distance = first + below(&mut self.generator, distance_of(drawn % 64 + 1).saturating_sub(first).max(1));
        let distance = u32::try_from(distance).ok().filter(|&distance| distance < self.now)?;
        let wanted = self.now - distance;
        let (operation, class) = (asked.operation as usize, (drawn / 64).min(USE_CLASSES as u32 - 1) as usize);
        let others = (0..self.kinds.len()).map(|other| (other, class));
        let classes = (0..USE_CLASSES).map(|class| (operation, class));
        let mut queues = std::iter::once((operation, class)).chain(others).chain(classes);
        // What returns at once stays where it is, so that a place that is asked for a hundred times in a row remains one.
        let at_once = (distance == 1 && self.waiting[self.latest_queue].contains_key(&wanted))
            .then_some((self.latest_queue, wanted));
        let (queue, time) = at_once.or_else(|| {
            queues.find_map(|(operation, class)| {
                let queue = operation * USE_CLASSES + class;
                let waiting = &self.waiting[queue];
                let before = waiting.range(..=wanted).rev().take(CANDIDATES);
                let after = waiting.range(wanted..).take(CANDIDATES);
                let cost = |(time, index): &(&u32, &u32)| {
                    let page = self.places[**index as usize].sector / PAGE_SECTORS;
                    (self.recent.load(page).abs_diff(load), time.abs_diff(wanted))
                };
                let is_fit = |(time, _): &(&u32, &u32)| {
                    let found = self.now - **time;
                    SLACK.saturating_mul(found) >= distance && found <= SLACK.saturating_mul(distance)
                };
                before.chain(after).filter(is_fit).min_by_key(cost).map(|(&time, _)| (queue, time))
            })
        })?;
        let index = self.waiting[queue].remove(&time)?;
        let requests = self.requests_of_run(Relation::Reuse, asked);
        let place = &mut self.places[index as usize];
        place.left -= 1;
        let place = *place;
        self.wait(index, place, asked.operation);
        Some((place.sector.min(self.span_sectors.saturating_sub(asked.sectors)), requests))
    }

    /// How many of the latest requests are to touch the die that is jumped to.
    fn load(&mut self, relation: Relation, asked: Asked) -> u32 {
        let context = [asked.operation, 3 * relation.number() + asked.level];
        self.loads.draw(context, &mut self.generator).unwrap_or(0)
    }

    /// A place was used by `operation`: it waits for its next use, if there is one.
    fn wait(&mut self, index: u32, place: Place, operation: u32) {
        if place.left == 0 {
            self.unused.push(index);
            return;
        }
        let next = self.next.draw([operation], &mut self.generator).unwrap_or(operation) as usize;
        let class = (place.class as usize).min(USE_CLASSES - 1);
        self.latest_queue = next * USE_CLASSES + class;
        self.waiting[self.latest_queue].insert(self.now, index);
    }

    /// A place that was not jumped to before.
    fn first_use(&mut self, relation: Relation, asked: Asked, requests: u32) -> u64 {
        let uses = self.uses(relation, asked);
        let sector = match relation {
            Relation::NearFresh | Relation::NearOverlap => self.near(relation, asked, uses, requests),
            Relation::Overlap => self.overlap(asked, uses),
            _ => None,
        };
        let sector = sector.unwrap_or_else(|| self.fresh(asked, uses, requests));
        let sector = sector.min(self.span_sectors.saturating_sub(asked.sectors));
        self.register(sector, uses, asked);
        sector
    }

    /// How often a place that is used for the first time will be used in all.
    fn uses(&mut self, relation: Relation, asked: Asked) -> u32 {
        let uses = self.uses.get_mut(&[asked.operation, relation.number()]);
        uses.and_then(|uses| uses.draw(&mut self.generator)).unwrap_or(1).max(1)
    }

    /// A place that is used for the first time waits for its next use, if there is one.
    fn register(&mut self, sector: u64, uses: u32, asked: Asked) {
        let place = Place { sector, left: uses - 1, class: use_class(uses) };
        if place.left > 0 {
            let index = self.unused.pop().unwrap_or(self.places.len() as u32);
            if index as usize == self.places.len() {
                self.places.push(place);
            } else {
                self.places[index as usize] = place;
            }
            self.wait(index, place, asked.operation);
        }
    }

    /// In what an earlier request touched.
    fn overlap(&mut self, asked: Asked, uses: u32) -> Option<u64> {
        let drawn = self.overlaps.draw([asked.operation], &mut self.generator)?;
        let (class, kind) = (drawn / 4, drawn % 4);
        let first = distance_of(class);
        let mut found = None;
        for _ in 0..TRIES {
            let distance = first + below(&mut self.generator, distance_of(class + 1).saturating_sub(first).max(1));
            let back = distance.min(HISTORY as u64 - 1) as u32;
            if back >= self.now {
                return None;
            }
            let (page, pages, of) = self.history[(self.now - back) as usize % HISTORY];
            if pages > 0 {
                found = Some((page, pages));
                if of == kind {
                    break;
                }
            }
        }
        let (page, pages) = found?;
        let page = page + below(&mut self.generator, u64::from(pages));
        let sector = page * PAGE_SECTORS + self.sector_in_page(asked);
        self.phases.take([asked.operation, use_class(uses)], phase_of(sector));
        Some(sector)
    }

    /// Close to one of the latest requests; on pages that were not touched when that was asked for and there are some.
    ///
    /// Of places as far from any of them one is taken that is as old, and whose die is as loaded, as in the original.
    fn near(&mut self, relation: Relation, asked: Asked, uses: u32, requests: u32) -> Option<u64> {
        let rank = self.near_ranks.draw([relation.number(), asked.operation], &mut self.generator)? as usize;
        let kind = kind_index(asked.kind);
        let behind = self.near.draw([asked.operation, self.last_near[kind]], &mut self.generator)?;
        self.last_near[kind] = behind;
        let behind = i64::from(behind) - NEAR_PAGES as i64;
        let age = match relation {
            Relation::NearOverlap => self.near_ages.draw([asked.operation], &mut self.generator),
            _ => None,
        };
        let context = [asked.operation, use_class(uses)];
        let sector_in_page = self.sector_in_page(asked);
        let load = self.load(relation, asked);
        let pages = run_pages(asked, requests);
        let end = self.span_sectors / PAGE_SECTORS;
        let mut best: Option<(u64, u64)> = None;
        for rank in (rank..RECENT).chain(0..rank) {
            let Some(page) = self.recent.at(rank).and_then(|page| page.checked_add_signed(behind)) else { continue };
            if page + asked.sectors.div_ceil(PAGE_SECTORS) > end {
                continue;
            }
            let misfit = match (age, self.pages.of(page)) {
                (Some(age), last @ 1..) => u64::from(distance_class(u64::from(self.now - last)).abs_diff(age)),
                (Some(_), 0) => 64,
                (None, 0) => 64 - self.pages.untouched_from(page, pages) * 64 / pages,
                (None, _) => 64,
            };
            let cost = misfit + u64::from(self.recent.load(page).abs_diff(load));
            if best.is_none_or(|(least, _)| cost < least) {
                best = Some((cost, page));
            }
            if cost == 0 {
                break;
            }
        }
        let page = best?.1;
        if relation == Relation::NearFresh {
            let room = self.pages.untouched_from(page, pages);
            if room > 0 {
                self.pages.touch(page, page + room - 1, self.now);
            }
        }
        let sector = page * PAGE_SECTORS + sector_in_page;
        self.phases.take(context, phase_of(sector));
        Some(sector)
    }

    /// A page where nothing was touched, as far as there is such a place.
    fn fresh(&mut self, asked: Asked, uses: u32, requests: u32) -> u64 {
        let load = self.load(Relation::Fresh, asked);
        let recent = &self.recent;
        let cost = |phase: u32| recent.load(u64::from(phase) / PAGE_SECTORS).abs_diff(load);
        let phase =
            self.phases.draw_cheapest([asked.operation, use_class(uses)], &mut self.generator, cost).unwrap_or(0);
        let pages = run_pages(asked, requests);
        let region = u64::from(self.regions.draw(&mut self.generator).unwrap_or(0));
        let stripes = self.span_sectors / (STRIPE_PAGES * PAGE_SECTORS);
        let bound = |region: u64| stripes * region / self.region_count;
        let (from, to) = (bound(region), bound(region + 1).max(bound(region) + 1).min(stripes));
        let from = from.min(to - 1);
        let mut best: Option<(u64, u64)> = None;
        for attempt in 0..TRIES {
            // The last tries go anywhere.
            let (from, to) = if attempt < 3 * TRIES / 4 { (from, to) } else { (0, stripes) };
            let page = (from + below(&mut self.generator, to - from)) * STRIPE_PAGES + u64::from(phase) / PAGE_SECTORS;
            let room = self.pages.untouched_from(page, pages);
            if best.is_none_or(|(most, _)| room > most) {
                best = Some((room, page));
            }
            if room == pages {
                break;
            }
        }
        let (room, page) = best.unwrap_or((0, u64::from(phase) / PAGE_SECTORS));
        if room > 0 {
            self.pages.touch(page, page + room - 1, self.now);
        }
        page * PAGE_SECTORS + u64::from(phase) % PAGE_SECTORS
    }

    /// The sector in its page where a jump to a new place goes.
    fn sector_in_page(&mut self, asked: Asked) -> u64 {
        u64::from(self.sectors.draw([asked.operation], &mut self.generator).unwrap_or(0))
    }
}

/// The place of a sector in a stripe.
fn phase_of(sector: u64) -> u32 {
    (sector % (STRIPE_PAGES * PAGE_SECTORS)) as u32
}

/// Pages that a run of so many requests like this one covers.
fn run_pages(asked: Asked, requests: u32) -> u64 {
    (asked.sectors.saturating_mul(u64::from(requests))).div_ceil(PAGE_SECTORS).min(RUN_PAGES_MAX)
}
