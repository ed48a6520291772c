//! Confidence intervals of the figures of a run, and whether the run is in steady state.

use std::ops::Range;

use crate::config::{Config, FirmwarePolicy, Pattern, PreconditionKind, Workload, WorkloadKind};
use crate::measure::confidence::{
    ConfidenceReport, PreciseFigures, PrecisionReport, RequestMetrics, WindowMetrics, tally,
};
use crate::measure::steadiness::{DriveScale, SteadinessReport, WindowSummary};
use crate::measure::stream::{MeasuredKind, StreamMeasures};
use crate::measure::timeline::{MeasuredBreakdownReport, MeasuredReport, MeasuredWindow, WarmUpReport};
use crate::units::{Bytes, Time};

use super::Snapshot;

/// Figures of the whole run, for the verdict on its steady state if there is no measured window.
pub(super) struct WholeRun<'a> {
    pub measures: &'a StreamMeasures,
    pub iops: f64,
    pub bandwidth_bytes_per_s: f64,
    pub write_amplification: Option<f64>,
    pub dies_gc_mean: f64,
}

impl Snapshot<'_> {
    /// Returns the confidence intervals of the figures of the measured window, and the verdict on its steady state. Both cover the whole run if
    /// `measured` is `None`.
    pub(super) fn confidence_and_steadiness(
        &self,
        run: &WholeRun<'_>,
        warm_up: Option<&WarmUpReport>,
        measured: Option<&MeasuredWindow>,
    ) -> (ConfidenceReport, SteadinessReport) {
        let batches = &self.frontend.counters.batches.merged(None);
        let dies = self.datapath.dies.len();
        let (start, requests, confidence) = match measured {
            Some(MeasuredWindow { report, latencies, .. }) => {
                let window = &report.window;
                let start = Time::from_ps(window.start_ps);
                let figures = WindowMetrics {
                    requests: RequestMetrics::from_latencies(window.iops, window.bandwidth_bytes_per_s, latencies),
                    write_amplification: window.write_amplification,
                    dies_gc_mean: window.utilisation.dies_gc_mean,
                    dies,
                };
                (start, window.requests, ConfidenceReport::new(batches, start, &figures))
            }
            None => {
                let latencies = &run.measures.latencies();
                let figures = WindowMetrics {
                    requests: RequestMetrics::from_latencies(run.iops, run.bandwidth_bytes_per_s, latencies),
                    write_amplification: run.write_amplification,
                    dies_gc_mean: run.dies_gc_mean,
                    dies,
                };
                (Time::ZERO, run.measures.completed(), ConfidenceReport::new(batches, Time::ZERO, &figures))
            }
        };
        let window = WindowSummary {
            start,
            requests,
            requests_of_run: run.measures.completed(),
            warm_up_ended: warm_up.map(|warm_up| warm_up.converged),
        };
        (confidence, SteadinessReport::new(batches, &self.drive_scale(), &window))
    }

    /// Returns `window` with the mean latency by parts of all its requests, of its reads, and of its writes.
    pub(super) fn with_breakdown(&self, window: MeasuredReport) -> MeasuredReport {
        let start = Time::from_ps(window.window.start_ps);
        let mean = |kinds: &[MeasuredKind]| tally(&self.frontend.counters.batches, start, kinds).mean();
        let (mean, read, write) = (mean(&MeasuredKind::ALL), mean(&[MeasuredKind::Read]), mean(&[MeasuredKind::Write]));
        MeasuredReport { breakdown_ps: MeasuredBreakdownReport { mean, read, write }, ..window }
    }

    /// Returns the required and the reached precision of the figure that `measure.precision-of` names; `None` if `measure.precision` is 0.
    pub(super) fn precision(
        &self,
        confidence: &ConfidenceReport,
        figures: &PreciseFigures<'_>,
    ) -> Option<PrecisionReport> {
        let wanted = self.config.measure.precision;
        (wanted > 0.0).then(|| PrecisionReport::new(self.config.measure.precision_of, wanted, confidence, figures))
    }

    fn drive_scale(&self) -> DriveScale {
        let ftl = self.controller.ftl();
        let planes = ftl.planes_collected_together();
        let mapped_pages = ftl.blocks().valid_pages_of_drive();
        let written_share = self.controller.counters().flash.pages_written as f64 / mapped_pages.max(1) as f64;
        DriveScale {
            sets: u64::from(self.geometry.planes() / planes),
            planes_of_set: u64::from(planes),
            block_pages: u64::from(self.geometry.pages_per_block),
            slc_pages: ftl.blocks().slc_pages(),
            mapped_pages,
            starts_steady: ftl.is_stationary() && writes_match(self.config, self.geometry.capacity(), written_share),
        }
    }
}

/// Returns the measured window of the stream at `index`, which began at `begun`, up to its last completion, and the rates and latencies of the stream
/// in this window.
pub(super) fn stream_window(measured: &MeasuredWindow, index: usize, begun: Time) -> (Range<Time>, RequestMetrics<'_>) {
    let (stream, (latencies, end)) = (&measured.report.streams[index], &measured.streams[index]);
    let start = Time::from_ps(measured.report.window.start_ps).later(begun);
    (start..*end, RequestMetrics::from_latencies(stream.iops, stream.bandwidth_bytes_per_s, latencies))
}

/// Maximum written share of the drive at which the writes of a job with `workload.random-map` (no block is written twice before all are written)
/// count as uniform. \[choice\]
const MAPPED_WRITES_MAX: f64 = 0.05;

/// Returns whether a run continues the steady state in which random preconditioning left the drive. This requires writes that are uniform over all
/// preconditioned pages, and policies that place and collect pages as preconditioning does. `capacity` is the capacity of the drive, `written_share`
/// the number of pages written in this run divided by the number of pages that hold data.
fn writes_match(config: &Config, capacity: Bytes, written_share: f64) -> bool {
    let is_placed_alike = config.ftl.policy != FirmwarePolicy::Mbm && !config.gc.r#move.crosses_chips();
    is_placed_alike
        && config.precondition.kind == PreconditionKind::Random
        && config.precondition.fill >= 1.0
        && config.streams().iter().all(|stream| {
            let workload = &stream.workload;
            let is_whole =
                workload.footprint_start == Bytes::ZERO && workload.footprint.is_none_or(|size| size >= capacity);
            let is_uniform = workload.pattern == Pattern::Random && is_whole;
            match workload.kind {
                WorkloadKind::Synthetic => is_uniform || workload.read_share >= 1.0,
                WorkloadKind::Job => job_writes_match(workload, is_uniform, written_share),
                _ => false,
            }
        })
}

/// Returns whether a job writes nothing, or its writes are uniform over the whole drive. With `is_uniform`, its pattern is random and its footprint
/// is the whole drive.
fn job_writes_match(job: &Workload, is_uniform: bool, written_share: f64) -> bool {
    let deallocates = job.deallocate_share > 0.0 || job.deallocate_first;
    if job.read_share >= 1.0 && !job.deallocate_first {
        return true;
    }
    let is_drawn_alone =
        job.run_length == 1 && job.random_share >= 1.0 && job.write_random_share.is_none_or(|share| share >= 1.0);
    let is_spread = !job.random_map || written_share <= MAPPED_WRITES_MAX;
    is_uniform && is_drawn_alone && is_spread && !deallocates && !job.same_passes && job.files == 1
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Checks a job of reads alone, which changes nothing in whatever order it reads, unless it deallocates its footprint before the first read.
    #[test]
    fn a_job_that_only_reads_keeps_the_steady_state_of_other_writes_unless_it_deallocates_first() {
        let keeps = |deallocate_first| {
            let job =
                Workload { read_share: 1.0, deallocate_first, pattern: Pattern::Sequential, ..Workload::default() };
            job_writes_match(&job, false, 0.0)
        };
        assert!(keeps(false) && !keeps(true));
    }

    #[test]
    fn a_job_of_uniform_writes_keeps_the_steady_state_unless_it_deallocates() {
        let keeps = |deallocate_share| {
            let job = Workload { read_share: 0.0, deallocate_share, ..Workload::default() };
            job_writes_match(&job, true, 0.0)
        };
        assert!(keeps(0.0) && !keeps(0.01));
    }
}
