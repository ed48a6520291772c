//! From a trace to a profile, in two walks over its requests.

use std::collections::BTreeMap;

use rustc_hash::FxHashMap;

use super::classes::{distance_class, gap_class, rate_class, use_class};
use super::model::{ArrivalModel, Model, Operation, OperationModel, PlaceModel, kind_index};
use super::places::{NEAR_PAGES, OpenRuns, PAGE_BYTES, PAGE_SECTORS, PageTimes, Recent, Relation, Run, STRIPE_PAGES};
use super::segments::Segments;
use crate::config::Workload;
use crate::error::WorkloadError;
use crate::units::{Bytes, Time};
use crate::workload::readers::{ADDRESSES_MAX, TraceStream, TraceSummary, scan_each};
use crate::workload::{IoRequest, RequestKind};

const SECTOR: Bytes = Bytes::new(512);
/// Sizes of a kind that are operations of their own.
const SIZES_EXACT_MAX: usize = 12;
/// Share of the requests that a size needs for that.
const SIZES_EXACT_SHARE: f64 = 0.005;
/// Sizes kept of an operation that stands for many.
const SIZES_KEPT: usize = 8;
/// The most used places, whose numbers of uses are kept as they are; and all numbers up to the second.
const USES_EXACT_PLACES: u64 = 64;
const USES_EXACT_MAX: u32 = 6;
/// Requests are told apart up to this number; it leaves room for their kind.
const REQUESTS_NUMBERED: u32 = u32::MAX / 4 - 1;
/// A request that begins where one of so many before it began returns there, even when a run ends there as well.
const RETURN_REQUESTS: u32 = 256;
/// One that returns after no more requests than these does so at once.
const AGAIN_REQUESTS: u32 = 1;
/// Parts of the address span in which first uses are counted.
const REGIONS: u64 = 64;

/// Fits a profile to the trace of `workload`, and says what is in the trace. Flushes, which cover no bytes, are left out.
///
/// # Errors
/// As [`crate::workload::readers::scan`].
pub fn fit(workload: &Workload) -> Result<(Model, TraceSummary), WorkloadError> {
    let workload = &Workload { flushes: false, ..workload.clone() };
    let mut survey = Survey::default();
    let stream = TraceStream::open(workload, ADDRESSES_MAX, SECTOR)?;
    let summary = scan_each(stream, workload.tolerate, |request| {
        survey.add(request);
        Ok::<(), WorkloadError>(())
    })?;
    let mut fitter = survey.finish();
    let mut stream = TraceStream::open(workload, ADDRESSES_MAX, SECTOR)?;
    while let Some(request) = stream.next_request()? {
        fitter.add(&request);
    }
    Ok((fitter.finish(), summary))
}

/// Fits a profile to requests other than flushes.
pub fn fit_requests(requests: &[IoRequest]) -> Model {
    let mut survey = Survey::default();
    let requests = || requests.iter().filter(|request| request.kind != RequestKind::Flush);
    requests().for_each(|request| survey.add(request));
    let mut fitter = survey.finish();
    requests().for_each(|request| fitter.add(request));
    fitter.finish()
}

/// Follows the runs of each kind, and tells how each request lies to them.
#[derive(Default)]
struct Tracker {
    runs: [OpenRuns; 3],
    /// The request that began at each sector last.
    begun: FxHashMap<u64, u32>,
    now: u32,
}

impl Tracker {
    /// What `request` does to the runs of its kind.
    #[inline]
    fn take(&mut self, request: &IoRequest, operation: u32) -> Taken {
        let (first, end) = sectors_of(request);
        self.now = self.now.saturating_add(1);
        let before = self.begun.insert(first, self.now);
        let is_return = before.is_some_and(|before| self.now - before <= RETURN_REQUESTS);
        let runs = &mut self.runs[kind_index(request.kind)];
        let (relation, rank) = if is_return {
            (None, None)
        } else if let Some(rank) = runs.ending_at(first) {
            (Some(if rank == 0 { Relation::Forward } else { Relation::ForwardOther }), Some(rank))
        } else if let Some(rank) = runs.beginning_at(end) {
            (Some(Relation::Backward), Some(rank))
        } else {
            (None, None)
        };
        let before = rank.and_then(|rank| runs.at(rank)).map(|(_, run)| run);
        let requests = before.map_or(0, |run| run.requests) + 1;
        let operation = before.map_or(operation, |run| run.operation);
        let forgotten = runs.advance(rank, Run { first, end, requests, operation });
        Taken { goes_on: relation.zip(rank), forgotten }
    }
}

/// What a request did to the runs of its kind.
struct Taken {
    /// How it goes on, and with the run of which rank; nothing when it jumps.
    goes_on: Option<(Relation, usize)>,
    /// The run that is over.
    forgotten: Option<Run>,
}

fn sectors_of(request: &IoRequest) -> (u64, u64) {
    let first = request.offset.as_u64() / SECTOR.as_u64();
    (first, first + request.size.as_u64() / SECTOR.as_u64())
}

/// The first walk: what the second needs to know beforehand.
#[derive(Default)]
struct Survey {
    requests: u64,
    address_end: u64,
    segments: Segments,
    last_arrival: Option<Time>,
    gaps: BTreeMap<u32, u64>,
    sizes: FxHashMap<(usize, u64), u64>,
    tracker: Tracker,
    /// How often a jump went to each page.
    uses: FxHashMap<u64, u32>,
}

impl Survey {
    #[inline]
    fn add(&mut self, request: &IoRequest) {
        let (first, end) = sectors_of(request);
        self.requests += 1;
        self.address_end = self.address_end.max(end * SECTOR.as_u64());
        self.segments.add(request);
        if let Some(last) = self.last_arrival.replace(request.arrival) {
            *self.gaps.entry(gap_class((request.arrival - last).as_ps())).or_default() += 1;
        }
        *self.sizes.entry((kind_index(request.kind), end - first)).or_default() += 1;
        let jumps = self.tracker.take(request, 0).goes_on.is_none();
        let uses = self.uses.entry(first / PAGE_SECTORS).or_default();
        if jumps || *uses == 0 {
            *uses = uses.saturating_add(1);
        }
    }

    fn finish(self) -> Fitter {
        let Survey { requests, address_end, mut segments, gaps, sizes, uses, .. } = self;
        segments.coarsen(requests);
        let stripe_bytes = STRIPE_PAGES * PAGE_BYTES;
        let (list, operation_of) = operations(&sizes, requests);
        let kept_uses = kept_uses(&uses);
        let levels = thirds(&gaps);
        let places =
            uses.into_iter().map(|(page, uses)| (page, Place { uses: kept_uses[&uses], last: None })).collect();
        let model = Model {
            requests,
            address_span: address_end.div_ceil(stripe_bytes).max(1) * stripe_bytes,
            arrivals: ArrivalModel {
                segment_ps: segments.width_ps,
                segments: segments.parts.iter().map(|part| part.requests).collect(),
                mixes: segments.parts.iter().map(|part| part.mix()).collect(),
                long: levels[1],
                ..ArrivalModel::default()
            },
            operations: OperationModel { list, levels, ..OperationModel::default() },
            places: PlaceModel { regions: vec![0; REGIONS as usize], ..PlaceModel::default() },
        };
        Fitter {
            model,
            operation_of,
            places,
            now: 0,
            before: None,
            quantiles: BTreeMap::new(),
            relations: [Relation::Fresh; 3],
            since_long: 0,
            tracker: Tracker::default(),
            pages: PageTimes::default(),
            recent: Recent::default(),
            last_near: [0; 3],
        }
    }
}

/// The classes up to which a third, and two thirds, of what was counted lie.
fn thirds(counts: &BTreeMap<u32, u64>) -> [u32; 2] {
    let total: u64 = counts.values().sum();
    let at = |part: u64| {
        let mut below = 0;
        counts
            .iter()
            .find(|(_, count)| {
                below += **count;
                below * 3 >= total * part
            })
            .map_or(0, |(class, _)| *class)
    };
    [at(1), at(2)]
}

/// Frequent sizes as operations of their own, all others of a kind in one for each factor of two.
fn operations(sizes: &FxHashMap<(usize, u64), u64>, requests: u64) -> (Vec<Operation>, FxHashMap<(usize, u64), u32>) {
    let (mut list, mut operation_of) = (Vec::new(), FxHashMap::default());
    for (index, kind) in [RequestKind::Read, RequestKind::Write, RequestKind::Deallocate].into_iter().enumerate() {
        let mut counted: Vec<(u64, u64)> =
            sizes.iter().filter(|((of, _), _)| *of == index).map(|((_, sectors), count)| (*count, *sectors)).collect();
        counted.sort_unstable_by(|a, b| b.cmp(a));
        let exact = (counted.iter().take(SIZES_EXACT_MAX))
            .take_while(|(count, _)| *count as f64 >= SIZES_EXACT_SHARE * requests as f64)
            .count();
        let rest = counted.split_off(exact);
        for (_, sectors) in counted {
            operation_of.insert((index, sectors), list.len() as u32);
            list.push(Operation { kind, sectors: vec![sectors] });
        }
        let mut octaves: BTreeMap<u32, BTreeMap<u64, u64>> = BTreeMap::new();
        for (count, sectors) in rest {
            octaves.entry(sectors.ilog2()).or_default().insert(sectors, count);
        }
        for octave in octaves.values() {
            octave.keys().for_each(|&sectors| {
                operation_of.insert((index, sectors), list.len() as u32);
            });
            list.push(Operation { kind, sectors: quantiles_inside(octave, SIZES_KEPT) });
        }
    }
    (list, operation_of)
}

/// `count` values with as many of the counted ones between any two neighbours; fewer when fewer were counted.
fn quantiles_inside(counts: &BTreeMap<u64, u64>, count: usize) -> Vec<u64> {
    let total: u64 = counts.values().sum();
    let parts = total.min(count as u64);
    (0..parts)
        .map(|part| value_at(counts, u128::from(total) * (2 * u128::from(part) + 1) / (2 * u128::from(parts))))
        .collect()
}

/// The value that the counted one number `rank` has, from 0.
fn value_at(counts: &BTreeMap<u64, u64>, rank: u128) -> u64 {
    let mut below = 0;
    counts
        .iter()
        .find(|(_, count)| {
            below += u128::from(**count);
            below > rank
        })
        .or(counts.iter().next_back())
        .map_or(0, |(value, _)| *value)
}

/// Numbers of uses as a profile keeps them: of most places as they are, of the others the mean of their half octave.
fn kept_uses(places: &FxHashMap<u64, u32>) -> FxHashMap<u32, u32> {
    let mut counts: BTreeMap<u32, u64> = BTreeMap::new();
    places.values().for_each(|&uses| *counts.entry(uses).or_default() += 1);
    let mut sums: BTreeMap<u32, (u64, u64)> = BTreeMap::new();
    for (&uses, &count) in &counts {
        let (places, sum) = sums.entry(distance_class(u64::from(uses))).or_default();
        *places += count;
        *sum += count * u64::from(uses);
    }
    let mut above = 0;
    let keep = |(&uses, &count): (&u32, &u64)| {
        above += count;
        let (places, sum) = sums[&distance_class(u64::from(uses))];
        let mean = ((2 * sum + places) / (2 * places)) as u32;
        (uses, if above <= USES_EXACT_PLACES || uses <= USES_EXACT_MAX { uses } else { mean })
    };
    counts.iter().rev().map(keep).collect()
}

/// A place that a jump goes to.
#[derive(Clone, Copy)]
struct Place {
    uses: u32,
    /// The last request that jumped there, and its operation.
    last: Option<(u32, u32)>,
}

/// The request before.
#[derive(Clone, Copy)]
struct Before {
    arrival: Time,
    gap_class: u32,
    operation: u32,
}

/// The second walk: counts all that a profile keeps.
struct Fitter {
    model: Model,
    operation_of: FxHashMap<(usize, u64), u32>,
    places: FxHashMap<u64, Place>,
    now: u32,
    before: Option<Before>,
    quantiles: BTreeMap<u32, BTreeMap<u64, u64>>,
    relations: [Relation; 3],
    since_long: u32,
    tracker: Tracker,
    pages: PageTimes,
    recent: Recent,
    last_near: [u32; 3],
}

impl Fitter {
    #[inline]
    fn add(&mut self, request: &IoRequest) {
        let (first, end) = sectors_of(request);
        let kind = kind_index(request.kind);
        // A file that grows between the walks is cut where it ended before.
        let Some(&operation) = self.operation_of.get(&(kind, end - first)) else { return };
        self.now = (self.now + 1).min(REQUESTS_NUMBERED);
        let (gap_class, mix) = self.count_arrival(request.arrival);
        let context = self.model.operations.context(self.before.map_or(0, |before| before.operation), gap_class, mix);
        self.model.operations.sequence.count(context, operation);
        self.before = Some(Before { arrival: request.arrival, gap_class, operation });
        let level = self.model.operations.level(gap_class);
        let relation = self.count_place(request, operation);
        if !relation.goes_on() {
            let load = self.recent.load(first / PAGE_SECTORS);
            self.model.places.loads.count([operation, 3 * relation.number() + level], load);
        }
        self.tracker.runs[kind].name_latest(operation * 8 + relation.number(), relation);
        self.model.places.relations.count([operation, self.relations[kind].number() * 3 + level], relation.number());
        self.relations[kind] = relation;
        let (first, last) = (first / PAGE_SECTORS, (end - 1) / PAGE_SECTORS);
        self.recent.push(first, last - first + 1);
        self.pages.touch(first, last, self.now * 4 + kind as u32);
    }

    fn count_arrival(&mut self, arrival: Time) -> (u32, u32) {
        let arrivals = &mut self.model.arrivals;
        let segment = (arrival.as_ps() / arrivals.segment_ps) as usize;
        let rate_class = rate_class(arrivals.segments.get(segment).copied().unwrap_or(1));
        let mix = arrivals.mixes.get(segment).copied().unwrap_or(0);
        let Some(before) = self.before else { return (0, mix) };
        let gap_ps = arrival.as_ps().saturating_sub(before.arrival.as_ps());
        let class = gap_class(gap_ps);
        arrivals.gaps.count(ArrivalModel::context(rate_class, before.gap_class, self.since_long), class);
        self.since_long = ArrivalModel::since_long(arrivals.long, self.since_long, class);
        // Eight significant bits tell enough.
        let coarse = gap_ps.checked_ilog2().unwrap_or(0).saturating_sub(7);
        *self.quantiles.entry(class).or_default().entry(gap_ps >> coarse << coarse).or_default() += 1;
        (class, mix)
    }

    fn count_place(&mut self, request: &IoRequest, operation: u32) -> Relation {
        let (first, _) = sectors_of(request);
        let places = &mut self.model.places;
        let taken = self.tracker.take(request, operation * 8);
        if let Some(run) = taken.forgotten {
            places.run_lengths.count([run.operation / 8, run.operation % 8], run.requests);
        }
        if let Some((relation, rank)) = taken.goes_on {
            places.ranks.count([relation.number()], rank as u32);
            if let Some(place) = self.places.get_mut(&(first / PAGE_SECTORS))
                && place.last.is_none()
            {
                places.uses.count([operation, relation.number()], place.uses);
                place.last = Some((self.now, operation));
            }
            return relation;
        }
        let page = first / PAGE_SECTORS;
        let Some(place) = self.places.get_mut(&page) else { return Relation::Fresh };
        let relation = match place.last {
            Some((last, of)) => {
                let distance = distance_class(u64::from(self.now - last));
                let relation = if self.now - last <= AGAIN_REQUESTS { Relation::Again } else { Relation::Reuse };
                places.returns.count([operation, relation.number()], 64 * use_class(place.uses) + distance);
                places.next.count([of], operation);
                relation
            }
            None => {
                let touched = self.pages.of(page);
                places.sectors.count([operation], (first % PAGE_SECTORS) as u32);
                let phase = first % (STRIPE_PAGES * PAGE_SECTORS);
                places.phases.count([operation, use_class(place.uses)], phase as u32);
                let relation = match (self.recent.closest(page), touched / 4) {
                    (Some((rank, pages)), last) => {
                        let relation = if last == 0 { Relation::NearFresh } else { Relation::NearOverlap };
                        let behind = (pages + NEAR_PAGES as i64) as u32;
                        let kind = kind_index(request.kind);
                        places.near.count([operation, self.last_near[kind]], behind);
                        self.last_near[kind] = behind;
                        if last > 0 {
                            let class = distance_class(u64::from(self.now - last));
                            places.near_ages.count([operation], class);
                        }
                        places.near_ranks.count([relation.number(), operation], rank as u32);
                        relation
                    }
                    (None, 0) => {
                        let region = u128::from(first * SECTOR.as_u64()) * u128::from(REGIONS)
                            / u128::from(self.model.address_span);
                        places.regions[region as usize] += 1;
                        Relation::Fresh
                    }
                    (None, last) => {
                        let class = distance_class(u64::from(self.now - last));
                        places.overlaps.count([operation], 4 * class + touched % 4);
                        Relation::Overlap
                    }
                };
                places.uses.count([operation, relation.number()], place.uses);
                relation
            }
        };
        place.last = Some((self.now, operation));
        relation
    }

    fn finish(mut self) -> Model {
        let places = &mut self.model.places;
        for run in self.tracker.runs.iter().flat_map(OpenRuns::iter) {
            places.run_lengths.count([run.operation / 8, run.operation % 8], run.requests);
        }
        let nine = |counts: &BTreeMap<u64, u64>| {
            let last = counts.values().map(|&count| u128::from(count)).sum::<u128>().saturating_sub(1);
            std::array::from_fn(|part| value_at(counts, last * part as u128 / 8))
        };
        self.model.arrivals.quantiles = self.quantiles.iter().map(|(class, counts)| (*class, nine(counts))).collect();
        self.model
    }
}
