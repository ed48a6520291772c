//! Generation: a workload source that draws requests from a fitted profile.

use std::collections::VecDeque;

use super::addresses::{AddressChooser, AddressConstraints};
use super::classes::KINDS;
use super::fitted_profile::{FittedProfile, PAIRS, Segment, TargetModel};
use super::shuffle_bag::{Affinity, ShuffleBag, draw_joint};
use crate::error::WorkloadError;
use crate::request::IoRequest;
use crate::source::WorkloadSource;
use crate::synthetic::{Generator, Seed, below, generator_of};
use crate::units::{Bytes, Time};

/// The workload source of `[workload] kind = "fitted"`.
///
/// All threads share one stream. Memory grows with the footprint and with the length of a segment, which is at most 2^22 requests, but not with the
/// number of generated requests.
pub struct FittedSource {
    model: FittedProfile,
    /// The affinities (observed over expected frequencies) of the pairs of descriptors, one for each table of [`PAIRS`].
    affinities: [Affinity; PAIRS.len()],
    sizes: Vec<ShuffleBag>,
    gap_parts: Vec<ShuffleBag>,
    addresses: AddressChooser,
    generator: Generator,
    /// The indices of the operation (kind and size octave), gap (class of interarrival times) and target (locality class) drawn for the previous
    /// request; 0 before the first request.
    before: [usize; 3],
    /// The index of the next segment (stretch of consecutive requests of the trace) to draw; `now_ps` is the arrival of the last request.
    segment: usize,
    now_ps: u64,
    /// The requests of the current segment that were drawn but not yet returned: interarrival time in picoseconds, index of the operation, index
    /// of the target.
    drawn: VecDeque<(u64, usize, usize)>,
    /// The mean number of fresh (untouched) pages that each request of the segment should touch.
    fresh_pages_mean: f64,
    sector_size: u64,
    requests: u64,
    left: u64,
}

impl FittedSource {
    /// Creates a source of `requests` requests (by default, the number of requests of the original trace) for a drive of `capacity` with sectors of
    /// `sector_size`. With `wrap`, addresses are compressed onto a drive that is smaller than the address range of the original trace.
    ///
    /// # Errors
    /// If the address range of the original trace exceeds the drive, unless `wrap` is set and the drive has at least 1 GiB.
    pub fn new(
        model: &FittedProfile,
        requests: Option<u64>,
        capacity: Bytes,
        sector_size: Bytes,
        wrap: bool,
        seed: u64,
    ) -> Result<FittedSource, WorkloadError> {
        let span = Bytes::new(model.address_span);
        if span > capacity && (!wrap || capacity < Bytes::from_kib(1 << 20)) {
            return Err(WorkloadError::Unusable(format!(
                "workload.fitted: the profile spans {span}, and the drive has {capacity}: take a larger drive, or set \
                 workload.beyond = \"wrap\", for which it needs 1 GiB at least"
            )));
        }
        let mut generator = generator_of(Seed::from(seed));
        let own = generator.clone();
        generator.jump();
        let requests = requests.unwrap_or(model.requests);
        let lengths = [model.operations.len(), model.gaps.len(), model.targets.len()];
        let affinity = |table: usize| {
            let (context, outcome) = PAIRS[table];
            Affinity::new(&model.pairs[table], lengths[context as usize], lengths[outcome as usize])
        };
        Ok(FittedSource {
            affinities: std::array::from_fn(affinity),
            sizes: model.operations.iter().map(|operation| ShuffleBag::new(vec![1; operation.sectors.len()])).collect(),
            gap_parts: vec![ShuffleBag::new(vec![1; 8]); model.gaps.len()],
            addresses: AddressChooser::new(model, capacity.as_u64(), own),
            model: model.clone(),
            generator,
            before: [0; 3],
            segment: 0,
            now_ps: 0,
            drawn: VecDeque::new(),
            fresh_pages_mean: 0.0,
            sector_size: sector_size.as_u64().max(1),
            requests,
            left: requests,
        })
    }

    /// Draws the requests of the next segment.
    fn draw_segment(&mut self) {
        let Segment { duration_ns, fresh_pages, counts: [mut operations, mut gaps, mut targets] } =
            self.model.segments[self.segment].clone();
        self.segment = (self.segment + 1) % self.model.segments.len();
        let [gap_gap, operation_gap, operation_operation, gap_operation, operation_target, target_target] =
            &self.affinities;
        let generator = &mut self.generator;
        let mut classes = Vec::new();
        loop {
            let [operation_before, gap_before, target_before] = self.before;
            let factors = [gap_gap.factors(gap_before), operation_gap.factors(operation_before)];
            let Some(gap) = draw_joint(&mut gaps, factors, generator) else { break };
            let factors = [operation_operation.factors(operation_before), gap_operation.factors(gap)];
            let Some(operation) = draw_joint(&mut operations, factors, generator) else { break };
            let factors = [operation_target.factors(operation), target_target.factors(target_before)];
            let Some(target) = draw_joint(&mut targets, factors, generator) else { break };
            self.before = [operation, gap, target];
            classes.push(gap);
            let quantiles = &self.model.gaps[gap].quantiles_ns;
            let part = self.gap_parts[gap].draw(generator);
            let (low, high) = (quantiles[part], quantiles[part + 1]);
            let gap_ps = 1000 * (low + below(generator, high - low + 1));
            self.drawn.push_back((gap_ps, operation, target));
        }
        self.fresh_pages_mean = fresh_pages as f64 / self.drawn.len().max(1) as f64;
        let mut drawn: Vec<(&mut u64, usize)> = self.drawn.iter_mut().map(|(gap, ..)| gap).zip(classes).collect();
        scale(&mut drawn, duration_ns * 1000);
    }
}

/// The maximum number of rounds in which the interarrival times of a segment are scaled to its duration. Two are enough for nearly all segments.
const ROUNDS: usize = 16;

/// Scales `gaps`, pairs of interarrival time and class, until their sum is `total_ps` up to 1 ps per gap, in at most [`ROUNDS`] rounds. In each
/// round, classes of longer times are scaled first, and no class is scaled by more than a factor of two.
fn scale(gaps: &mut [(&mut u64, usize)], total_ps: u64) {
    let total = u128::from(total_ps);
    let mut sums = vec![0_u128; gaps.iter().map(|(_, class)| class + 1).max().unwrap_or(0)];
    for _ in 0..ROUNDS {
        sums.fill(0);
        gaps.iter().for_each(|(gap, class)| sums[*class] += u128::from(**gap));
        let (mut all, before) = (sums.iter().sum::<u128>(), sums.clone());
        if all.abs_diff(total) <= gaps.len() as u128 {
            return;
        }
        for sum in sums.iter_mut().rev() {
            let wanted = (*sum + total).saturating_sub(all).clamp(*sum / 2, *sum * 2);
            all = all - *sum + wanted;
            *sum = wanted;
        }
        for (gap, class) in gaps.iter_mut() {
            **gap = (u128::from(**gap) * sums[*class] / before[*class].max(1)) as u64;
        }
    }
}

impl WorkloadSource for FittedSource {
    fn next_request(&mut self, _thread: u32) -> Result<Option<IoRequest>, WorkloadError> {
        if self.left == 0 {
            return Ok(None);
        }
        self.left -= 1;
        if self.drawn.is_empty() {
            self.draw_segment();
        }
        let out_of_time =
            || WorkloadError::Unusable("workload.requests: the arrivals reach beyond the end of time".to_owned());
        let (gap_ps, operation, target) = self.drawn.pop_front().ok_or_else(out_of_time)?;
        self.now_ps = self.now_ps.checked_add(gap_ps).ok_or_else(out_of_time)?;
        let model = &self.model.operations[operation];
        let sectors = model.sectors[self.sizes[operation].draw(&mut self.generator)];
        let kind = model.operation.kind as usize;
        let TargetModel { target, pages, fresh_pages } = self.model.targets[target];
        let fresh_share = fresh_pages as f64 / pages as f64;
        let sector = self.addresses.choose(AddressConstraints {
            target,
            fresh_share,
            fresh_pages_mean: self.fresh_pages_mean,
            operation,
            kind,
            sectors,
        });
        let (start, end) = (sector * 512, (sector + sectors) * 512);
        let offset = start / self.sector_size * self.sector_size;
        Ok(Some(IoRequest {
            arrival: Time::from_ps(self.now_ps),
            kind: KINDS[kind],
            offset: Bytes::new(offset),
            size: Bytes::new(end.next_multiple_of(self.sector_size) - offset),
            stream: 0,
        }))
    }

    fn request_count(&self) -> Option<u64> {
        Some(self.requests)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gaps_are_brought_to_the_duration_of_their_segment() {
        for total in [0_u64, 5_000, 50_000, 120_000, 10_000_000] {
            let mut gaps = [10_u64, 20, 3_000, 4_000, 50_000, 60_000];
            let mut with_classes: Vec<(&mut u64, usize)> = gaps.iter_mut().zip([0, 0, 1, 1, 2, 2]).collect();
            scale(&mut with_classes, total);
            assert!(gaps.iter().sum::<u64>().abs_diff(total) <= 6, "{gaps:?} for {total}");
        }
    }
}
