//! Fitting: computes a profile from one pass over a trace.

use std::collections::BTreeMap;

use rustc_hash::FxHashMap;

use super::classes::{LocalityClass, Operation, PAGE_BYTES, PAGE_SECTORS, Relation, gap_class, kind_index};
use super::fitted_profile::{
    Descriptor, FittedProfile, GapModel, OperationModel, PAIRS, PairCounts, STRIPE_PAGES, TargetModel,
};
use super::history::{History, NEAR_PAGES};
use super::segments::{Segments, position};
use crate::config::Workload;
use crate::error::WorkloadError;
use crate::readers::{ADDRESSES_MAX, TraceStream, TraceSummary, scan_each};
use crate::request::IoRequest;
use crate::units::{Bytes, Time};

const SECTOR: Bytes = Bytes::new(512);
/// The number of sizes kept per operation.
const SIZES_KEPT: usize = 16;
/// The number of distances kept between fresh pages and recent requests.
const DISTANCES_KEPT: usize = 256;

/// Fits a profile to the trace of `workload`. Also returns the summary of the trace. Flushes cover no bytes and are left out.
///
/// # Errors
/// Like [`crate::readers::scan`]; and if the trace has more requests than a profile can hold, about 10^9.
pub fn fit(workload: &Workload) -> Result<(FittedProfile, TraceSummary), WorkloadError> {
    let workload = &Workload { flushes: false, ..workload.clone() };
    let mut fitter = Fitter::default();
    let stream = TraceStream::open(workload, ADDRESSES_MAX, SECTOR)?;
    let summary = scan_each(stream, workload.tolerate, |request| {
        fitter.add(request);
        Ok::<(), WorkloadError>(())
    })?;
    let model = fitter.finish();
    if !fitter.segments.can_be_drawn() {
        let message = "the trace has more requests than a profile can hold, about a thousand million: fit its beginning, \
                       with workload.requests";
        return Err(WorkloadError::Unusable(message.to_owned()));
    }
    Ok((model, summary))
}

/// Fits a profile to `requests`. Requests without data, such as flushes, are left out.
pub fn fit_requests(requests: &[IoRequest]) -> FittedProfile {
    let mut fitter = Fitter::default();
    requests.iter().filter(|request| request.size > Bytes::ZERO).for_each(|request| fitter.add(request));
    fitter.finish()
}

/// The maximum length of a profile, in bytes.
pub const PROFILE_BYTES_MAX: usize = 160 << 10;
/// The maximum number of (context, outcome) pairs kept per table. Halved until a profile with a single segment fits in
/// [`PROFILE_BYTES_MAX`].
const PAIRS_MAX: usize = 4096;

/// The number of occurrences of each pair: (key of the context, key of the outcome).
type KeyPairs = FxHashMap<(u32, u32), u64>;

/// The counters of a fit.
#[derive(Default)]
struct Fitter {
    history: History,
    segments: Segments,
    last_arrival: Option<Time>,
    /// The keys (packed fields) of the operation (kind and size octave), gap (class of interarrival times) and target (locality class) of the
    /// previous request; `None` before the first request.
    before: Option<[u32; 3]>,
    address_end: u64,
    /// By key of the operation (kind and size octave): number of requests by size in sectors, and by first sector within its page (0 to 7).
    operations: BTreeMap<u32, (BTreeMap<u64, u64>, [u64; PAGE_SECTORS as usize])>,
    /// By class of interarrival times: number of requests by interarrival time in nanoseconds, rounded down to seven significant bits.
    gaps: BTreeMap<u32, BTreeMap<u64, u64>>,
    targets: BTreeMap<u32, TargetModel>,
    pairs: [KeyPairs; PAIRS.len()],
    near_pages: BTreeMap<u64, u64>,
    phases: Vec<u64>,
}

fn operation_key(operation: Operation) -> u32 {
    operation.kind << 8 | operation.octave
}

fn target_key(target: LocalityClass) -> u32 {
    (target.relation as u32) << 24 | target.age << 16 | target.uses << 8 | target.touched as u32
}

impl Fitter {
    fn add(&mut self, request: &IoRequest) {
        let (sector, sectors) = (request.offset.as_u64() / 512, request.size.as_u64() / 512);
        let kind = kind_index(request.kind);
        let gap_ps = self.last_arrival.map_or(0, |last| request.arrival.as_ps().saturating_sub(last.as_ps()));
        self.last_arrival = Some(request.arrival);
        self.address_end = self.address_end.max((sector + sectors) * 512);

        let operation = operation_key(Operation { kind: kind as u32, octave: sectors.ilog2() });
        let (sizes, offsets) = self.operations.entry(operation).or_default();
        *sizes.entry(sectors).or_default() += 1;
        offsets[(sector % PAGE_SECTORS) as usize] += 1;

        let (gap, gap_ns) = (gap_class(gap_ps), gap_ps / 1000);
        let coarse = gap_ns.checked_ilog2().unwrap_or(0).saturating_sub(6);
        *self.gaps.entry(gap).or_default().entry(gap_ns >> coarse << coarse).or_default() += 1;

        let target = self.history.classify(sector, sectors, kind);
        let page = sector / PAGE_SECTORS;
        self.phases.resize(STRIPE_PAGES as usize, 0);
        self.phases[(page % STRIPE_PAGES) as usize] += 1;
        if target.relation == Relation::Fresh
            && let Some(distance) = self.history.closest(page)
        {
            *self.near_pages.entry((distance + NEAR_PAGES as i64) as u64).or_default() += 1;
        }
        let pages = (sector + sectors).div_ceil(PAGE_SECTORS) - page;
        let fresh_pages = self.history.pages.fresh_in(page, pages);
        let target_of_key = target_key(target);
        let counted = self.targets.entry(target_of_key).or_insert(TargetModel { target, pages: 0, fresh_pages: 0 });
        counted.pages += pages;
        counted.fresh_pages += fresh_pages;

        let keys = [operation, gap, target_of_key];
        self.history.record(sector, sectors, kind);
        self.segments.add(gap_ps, fresh_pages, keys);
        let before = self.before.replace(keys).unwrap_or(keys);
        for (counts, (context, outcome)) in self.pairs.iter_mut().zip(PAIRS) {
            // Generation draws gap, operation and target of a request in this order. So within one request the gap can be the context of
            // the operation, and the operation the context of the target.
            let is_of_this = matches!(
                (context, outcome),
                (Descriptor::Gap, Descriptor::Operation) | (Descriptor::Operation, Descriptor::Target)
            );
            let contexts = if is_of_this { keys } else { before };
            *counts.entry((contexts[context as usize], keys[outcome as usize])).or_default() += 1;
        }
    }

    fn finish(&mut self) -> FittedProfile {
        let mut pairs_max = PAIRS_MAX;
        loop {
            let model = self.model(pairs_max);
            if model.to_toml().len() <= PROFILE_BYTES_MAX {
                return model;
            }
            if self.segments.is_merged() {
                pairs_max /= 2;
            } else {
                self.segments.merge();
            }
        }
    }

    /// Builds the profile with at most `pairs_max` pairs per table, the most frequent ones.
    fn model(&self, pairs_max: usize) -> FittedProfile {
        let stripe_bytes = STRIPE_PAGES * PAGE_BYTES;
        let operation_keys: Vec<u32> = self.operations.keys().copied().collect();
        let gap_keys: Vec<u32> = self.gaps.keys().copied().collect();
        let target_keys: Vec<u32> = self.targets.keys().copied().collect();
        let keys = [operation_keys.as_slice(), &gap_keys, &target_keys];
        let operations = self.operations.iter().map(|(key, (sizes, offsets))| OperationModel {
            operation: Operation { kind: key >> 8, octave: key & 255 },
            sectors: quantiles(sizes, SIZES_KEPT),
            offsets: *offsets,
        });
        let gaps = self.gaps.iter().map(|(&class, times)| GapModel { class, quantiles_ns: octiles(times) });
        let pairs = |table: usize| -> PairCounts {
            let (contexts, outcomes) = (keys[PAIRS[table].0 as usize], keys[PAIRS[table].1 as usize]);
            let positions = |(&(context, outcome), &count): (&(u32, u32), &u64)| {
                (position(contexts, context), position(outcomes, outcome), count)
            };
            let mut pairs: PairCounts = self.pairs[table].iter().map(positions).collect();
            pairs.sort_unstable_by_key(|&(context, outcome, count)| (u64::MAX - count, context, outcome));
            pairs.truncate(pairs_max);
            pairs.sort_unstable();
            pairs
        };
        let near = quantiles(&self.near_pages, DISTANCES_KEPT);
        let mut phases = self.phases.clone();
        phases.resize(STRIPE_PAGES as usize, 0);
        FittedProfile {
            requests: self.history.now,
            address_span: self.address_end.div_ceil(stripe_bytes).max(1) * stripe_bytes,
            operations: operations.collect(),
            gaps: gaps.collect(),
            targets: self.targets.values().copied().collect(),
            segments: self.segments.finish(keys),
            pairs: std::array::from_fn(pairs),
            near_pages: near.into_iter().map(|distance| distance as i64 - NEAR_PAGES as i64).collect(),
            phases,
        }
    }
}

/// Returns up to `most` evenly spaced quantiles of the distribution `counts` (value, number of occurrences).
fn quantiles(counts: &BTreeMap<u64, u64>, most: usize) -> Vec<u64> {
    let total: u64 = counts.values().sum();
    let parts = u128::from(total.min(most as u64));
    (0..parts).map(|part| value_at(counts, u128::from(total) * (2 * part + 1) / (2 * parts))).collect()
}

/// Returns the minimum, the seven octiles and the maximum of the distribution `counts` (value, number of occurrences).
fn octiles(counts: &BTreeMap<u64, u64>) -> [u64; 9] {
    let last = u128::from(counts.values().sum::<u64>().saturating_sub(1));
    std::array::from_fn(|part| value_at(counts, last * part as u128 / 8))
}

/// Returns the value with `rank`, from 0, in sorted order; the largest value if `rank` is too large, and 0 if there are no values.
fn value_at(counts: &BTreeMap<u64, u64>, rank: u128) -> u64 {
    let mut below = 0;
    let found = counts.iter().find(|(_, count)| {
        below += u128::from(**count);
        below > rank
    });
    found.or(counts.iter().next_back()).map_or(0, |(&value, _)| value)
}
