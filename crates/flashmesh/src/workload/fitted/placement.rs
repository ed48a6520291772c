//! Where the requests of a fitted profile go.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::classes::{distance_of, use_class};
use super::model::{Model, kind_index};
use super::places::{OpenRuns, PAGE_BYTES, PAGE_SECTORS, PageTimes, Relation, Run, STRIPE_PAGES};
use super::table::Table;
use super::urn::{Urn, Urns};
use crate::workload::RequestKind;
use crate::workload::synthetic::{Generator, below};

/// Requests that are remembered, for jumps into what they touched.
const HISTORY: usize = 1 << 16;
/// Stripes that are tried for a fresh place.
const TRIES: usize = 16;
/// Places that are passed over for one with a longer run, at most.
const PASSED_OVER_MAX: usize = 8;
/// Pages that are kept free for a run, at most.
const RUN_PAGES_MAX: u64 = 1 << 14;

/// A place that will be jumped to again.
#[derive(Clone, Copy, Debug)]
struct Place {
    sector: u64,
    left: u32,
    class: u32,
    /// Whose accesses were paid for its uses: 0 of reads, 1 of all others.
    paid: usize,
    /// Requests of the run that began here first.
    run: u32,
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
/// A place that is jumped to for the first time draws how often it will be in all; after each jump it waits in the queue of its next
/// operation until it is due. Fresh places are chosen so that the pages of every place in a stripe are read and written as often
/// as in the original.
#[derive(Clone, Debug)]
pub(super) struct Placement {
    span_sectors: u64,
    relations: Urns<2>,
    ranks: Urns<1>,
    /// For each operation how often a place is used.
    uses: Vec<Urn>,
    run_lengths: Urns<2>,
    returns: Urns<1>,
    next: Urns<1>,
    overlaps: Urns<1>,
    alignments: Urns<1>,
    regions: Urn,
    region_count: u64,
    /// Accesses still owed to each place in a stripe: of reads, and of all others.
    owed: [Owed; 2],
    kinds: Vec<RequestKind>,
    before: [Relation; 3],
    runs: [OpenRuns; 3],
    pages: PageTimes,
    history: Vec<(u64, u32, u32)>,
    now: u32,
    places: Vec<Place>,
    unused: Vec<u32>,
    due: Vec<BinaryHeap<Reverse<(u32, u32)>>>,
    /// First uses that took the place of uses of what was not there yet.
    early: u64,
    generator: Generator,
}

#[derive(Clone, Debug)]
struct Owed {
    shares: Vec<i64>,
    left: Vec<i64>,
    total: i64,
}

impl Owed {
    fn new(counts: &[u64]) -> Owed {
        let shares: Vec<i64> = counts.iter().map(|&count| count.min(1 << 40) as i64).collect();
        let mut owed = Owed { left: shares.clone(), shares, total: 0 };
        owed.total = owed.left.iter().sum();
        owed
    }

    #[inline]
    fn pay(&mut self, first: u64, pages: u64, times: i64) {
        for page in first..first + pages.min(STRIPE_PAGES) {
            let left = &mut self.left[(page % STRIPE_PAGES) as usize];
            *left = left.saturating_sub(times);
        }
        self.total -= pages.min(STRIPE_PAGES) as i64 * times;
        if self.total <= 0 {
            self.left.iter_mut().zip(&self.shares).for_each(|(left, share)| *left += share);
            self.total += self.shares.iter().sum::<i64>().max(1);
        }
    }

    /// A page of a stripe that two divides so often, from which `pages` pages are owed as many as `times` accesses each, if there
    /// is one; the likelier the more.
    fn choose(owed: &[Owed; 2], kind: usize, divided: u32, pages: u64, times: i64, generator: &mut Generator) -> u64 {
        let (first, step) = match 1 << divided {
            STRIPE_PAGES.. => return 0,
            odd => (odd, 2 * odd),
        };
        let pages = pages.min(STRIPE_PAGES);
        let candidates = || (first..STRIPE_PAGES).step_by(step as usize);
        let owed_from = |page: u64| -> i64 {
            let left = |page: u64| {
                let page = (page % STRIPE_PAGES) as usize;
                // What is written first is read later, but not the other way round.
                owed[kind].left[page].saturating_add(if kind == 0 { 0 } else { owed[0].left[page] })
            };
            (page..page + pages).map(left).fold(0, i64::saturating_add) / pages as i64
        };
        for least in [times, 1] {
            let weight = |page: u64| {
                let left = owed_from(page);
                if left >= least { left as u64 } else { 0 }
            };
            let total: u64 = candidates().map(weight).sum();
            if total == 0 {
                continue;
            }
            let mut at = below(generator, total);
            for page in candidates() {
                if at < weight(page) {
                    return page;
                }
                at -= weight(page);
            }
        }
        first + below(generator, STRIPE_PAGES / step) * step
    }
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
            uses: (0..operations).map(|operation| uses(&places.uses, operation as u32)).collect(),
            run_lengths: Urns::new(&places.run_lengths),
            returns: Urns::new(&places.returns),
            next: Urns::new(&places.next),
            overlaps: Urns::new(&places.overlaps),
            alignments: Urns::new(&places.alignments),
            regions: Urn::new((0..).zip(places.regions.iter().copied())),
            region_count: places.regions.len().max(1) as u64,
            owed: [Owed::new(&places.pages_read), Owed::new(&places.pages_written)],
            kinds: model.operations.list.iter().map(|operation| operation.kind).collect(),
            before: [Relation::Fresh; 3],
            runs: Default::default(),
            pages: PageTimes::default(),
            history: vec![(0, 0, 0); HISTORY],
            now: 0,
            places: Vec::new(),
            unused: Vec::new(),
            due: vec![BinaryHeap::new(); operations],
            early: 0,
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
        if matches!(relation, Relation::Forward | Relation::ForwardOther | Relation::Backward) {
            self.owed[kind.min(1)].pay(first, last - first + 1, 1);
        }
        self.pages.touch(first, last, self.now);
        self.history[self.now as usize % HISTORY] = (first, (last - first + 1) as u32, kind as u32);
        sector
    }

    /// The relation that came about, the first sector, and the run that goes on or begins.
    fn place(&mut self, relation: Relation, asked: Asked) -> (Relation, u64, GoingOn) {
        if let Relation::Forward | Relation::ForwardOther | Relation::Backward = relation
            && let Some((sector, run)) = self.go_on(relation, asked)
        {
            return (relation, sector, run);
        }
        let is_reuse = relation == Relation::Reuse;
        let reused = if is_reuse || self.early > 0 { self.reuse(asked) } else { None };
        match reused {
            Some((sector, requests)) => {
                self.early -= u64::from(!is_reuse);
                (Relation::Reuse, sector, GoingOn::Begins(requests))
            }
            None => {
                self.early += u64::from(is_reuse);
                let relation = if relation == Relation::Overlap { relation } else { Relation::Fresh };
                let requests = self.requests_of_run(relation, asked);
                (relation, self.first_use(relation, asked, requests), GoingOn::Begins(requests))
            }
        }
    }

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

    /// The place that is due first for this operation, or for another of its kind, and the requests of the run that begins there.
    ///
    /// Of the places due next one is taken from which a run as long went before, if there is one.
    fn reuse(&mut self, asked: Asked) -> Option<(u64, u32)> {
        let operation = if self.due[asked.operation as usize].is_empty() {
            let of_kind = |&operation: &usize| self.kinds[operation] == asked.kind;
            let due = |operation: usize| self.due[operation].peek().map(|Reverse((due, _))| (*due, operation));
            (0..self.due.len()).filter(of_kind).filter_map(due).min()?.1
        } else {
            asked.operation as usize
        };
        let Reverse(mut chosen) = self.due[operation].pop()?;
        let requests = self.requests_of_run(Relation::Reuse, asked);
        let mut passed_over = [None; PASSED_OVER_MAX];
        for passed in &mut passed_over {
            let run = self.places[chosen.1 as usize].run;
            if run >= requests {
                break;
            }
            let Some(Reverse(next)) = self.due[operation].pop() else { break };
            let (longer, shorter) =
                if self.places[next.1 as usize].run > run { (next, chosen) } else { (chosen, next) };
            (chosen, *passed) = (longer, Some(shorter));
        }
        self.due[operation].extend(passed_over.into_iter().flatten().map(Reverse));
        let (_, index) = chosen;
        let place = &mut self.places[index as usize];
        place.left -= 1;
        place.run = place.run.max(requests);
        let place = *place;
        self.wait(index, place, asked.operation);
        let kind = kind_index(asked.kind).min(1);
        if place.paid != kind {
            let (first, last) = (place.sector / PAGE_SECTORS, (place.sector + asked.sectors - 1) / PAGE_SECTORS);
            self.owed[kind].pay(first, last - first + 1, 1);
            self.owed[place.paid].pay(first, last - first + 1, -1);
        }
        Some((place.sector.min(self.span_sectors.saturating_sub(asked.sectors)), requests))
    }

    /// A place was used by `operation`: it waits for its next use, if there is one.
    fn wait(&mut self, index: u32, place: Place, operation: u32) {
        if place.left == 0 {
            self.unused.push(index);
            return;
        }
        let next = self.next.draw([operation], &mut self.generator).unwrap_or(operation);
        let distance = self.returns.draw([place.class], &mut self.generator).map_or(1, |class| {
            let first = distance_of(class);
            first + below(&mut self.generator, distance_of(class + 1).saturating_sub(first).max(1))
        });
        let due = self.now.saturating_add(distance.min(u64::from(u32::MAX)) as u32);
        self.due[next as usize].push(Reverse((due, index)));
    }

    /// A place that was not jumped to before.
    fn first_use(&mut self, relation: Relation, asked: Asked, requests: u32) -> u64 {
        let uses = self.uses[asked.operation as usize].draw(&mut self.generator).unwrap_or(1).max(1);
        let overlapped = if relation == Relation::Overlap { self.overlap(asked) } else { None };
        let sector = overlapped.unwrap_or_else(|| self.fresh(asked, uses, requests));
        let (first, last) = (sector / PAGE_SECTORS, (sector + asked.sectors - 1) / PAGE_SECTORS);
        self.owed[kind_index(asked.kind).min(1)].pay(first, last - first + 1, i64::from(uses));
        let place = Place {
            sector,
            left: uses - 1,
            class: use_class(uses),
            paid: kind_index(asked.kind).min(1),
            run: requests,
        };
        if place.left > 0 {
            let index = self.unused.pop().unwrap_or(self.places.len() as u32);
            if index as usize == self.places.len() {
                self.places.push(place);
            } else {
                self.places[index as usize] = place;
            }
            self.wait(index, place, asked.operation);
        }
        sector
    }

    /// In what an earlier request touched.
    fn overlap(&mut self, asked: Asked) -> Option<u64> {
        let drawn = self.overlaps.draw([asked.operation], &mut self.generator)?;
        let (class, kind) = (drawn / 4, drawn % 4);
        let first = distance_of(class);
        let mut found = None;
        for _ in 0..TRIES {
            let distance = first + below(&mut self.generator, distance_of(class + 1).saturating_sub(first).max(1));
            let back = distance.min(HISTORY as u64 - 1).min(u64::from(self.now) - 1) as u32;
            let (page, pages, of) = self.history[(self.now - back) as usize % HISTORY];
            if pages > 0 {
                found = Some((page, pages));
                if of == kind {
                    break;
                }
            }
        }
        let (page, pages) = found?;
        let sector = (page + below(&mut self.generator, u64::from(pages))) * PAGE_SECTORS + self.alignment(asked).0;
        (sector + asked.sectors <= self.span_sectors).then_some(sector)
    }

    /// Sector in the page, and how often two divides the page.
    fn alignment(&mut self, asked: Asked) -> (u64, u32) {
        let drawn = self.alignments.draw([asked.operation], &mut self.generator).unwrap_or(0);
        (u64::from(drawn % 128 / 16), (drawn % 16).min(STRIPE_PAGES.trailing_zeros()))
    }

    /// Where nothing was touched, as far as there is such a place.
    fn fresh(&mut self, asked: Asked, uses: u32, requests: u32) -> u64 {
        let (sector_in_page, divided) = self.alignment(asked);
        let pages = (sector_in_page + asked.sectors).div_ceil(PAGE_SECTORS);
        let run_pages = (asked.sectors.saturating_mul(u64::from(requests)) / PAGE_SECTORS).clamp(pages, RUN_PAGES_MAX);
        let kind = kind_index(asked.kind).min(1);
        let in_stripe = Owed::choose(&self.owed, kind, divided, pages, i64::from(uses), &mut self.generator);
        let region = u64::from(self.regions.draw(&mut self.generator).unwrap_or(0));
        let stripes = self.span_sectors / (STRIPE_PAGES * PAGE_SECTORS);
        let bound = |region: u64| stripes * region / self.region_count;
        let (from, to) = (bound(region), bound(region + 1).max(bound(region) + 1).min(stripes));
        let from = from.min(to - 1);
        // The place with the most room for the run.
        let mut best = (0, (from + below(&mut self.generator, to - from)) * STRIPE_PAGES + in_stripe);
        for attempt in 0..TRIES {
            // The last tries go anywhere.
            let (from, to) = if attempt < 3 * TRIES / 4 { (from, to) } else { (0, stripes) };
            let page = (from + below(&mut self.generator, to - from)) * STRIPE_PAGES + in_stripe;
            let room =
                self.pages.untouched_from(page, run_pages.min((self.span_sectors / PAGE_SECTORS).saturating_sub(page)));
            if room > best.0 {
                best = (room, page);
            }
            if room == run_pages {
                break;
            }
        }
        let (room, page) = best;
        if room > 0 {
            // Nothing else is placed where the run will go.
            self.pages.touch(page, page + room - 1, self.now);
        }
        (page * PAGE_SECTORS + sector_in_page).min(self.span_sectors.saturating_sub(asked.sectors))
    }
}

/// How often places of `operation` are used, much used ones first.
fn uses(table: &Table<1>, operation: u32) -> Urn {
    let counts = table.rows.get(&[operation]).into_iter().flatten();
    Urn::weighted(counts.map(|(&uses, &count)| (uses, count)), u64::from)
}
