//! Conversion of the counts of the parts of a drive to a [`Report`].

mod host;
mod intervals;
mod limits;
mod slc;
mod steadiness;

use std::time::Duration;

use crate::config::Config;
use crate::controller::Controller;
use crate::controller::replica::Replication;
use crate::datapath;
use crate::flash::geometry::Geometry;
use crate::frontend::{self, HostStream};
use crate::measure::confidence::{PreciseFigures, RequestMetrics, StreamConfidence};
use crate::measure::part_times::PartTimes;
use crate::measure::peak_rss;
use crate::measure::report::{
    FlashReport, LinksReport, MappingCacheReport, PathConflictReport, PerRequestReport, Report, StreamReport,
};
use crate::measure::stream::{StreamMeasures, StreamMetrics};
use crate::measure::timeline::{MeasuredReport, MeasuredWindow};
use crate::measure::user_quantities::UserQuantities;
use crate::persistence::PersistenceCounts;
use crate::power::{area, energy};
use crate::results::counters::PersistenceReport;
use crate::units::{Bytes, Time};

use steadiness::WholeRun;

/// State of a drive at one simulated time, from which its report is made.
pub struct Snapshot<'a> {
    pub config: &'a Config,
    pub geometry: &'a Geometry,
    pub frontend: frontend::FrontendStats<'a>,
    /// FTL, caches and garbage collection: the source of all page counts.
    pub controller: &'a Controller,
    /// Counts and busy times of the dies and the interconnect.
    pub datapath: datapath::DatapathStats<'a>,
    /// Busy times at the start of the measured window; `None` before that time. Always `None` with the warm-up `auto`, because MSER chooses the start
    /// after the run.
    pub window_begin: Option<&'a PartTimes>,
    pub now: Time,
}

impl Snapshot<'_> {
    /// Returns the report of a run up to the time of the snapshot. The run took `wall` of real time; with `interrupted`, it was stopped before its
    /// end.
    pub fn report(&self, wall: Duration, interrupted: bool) -> Report {
        let requests = self.frontend.counters;
        let mut all = StreamMeasures::default();
        requests.streams.iter().for_each(|stream| all.add_with_ramp(stream));
        let power_cut = self.frontend.power_cut.cloned();
        // A power cut ends the report. Otherwise the report of an interrupted run ends at the last event, and the report of a complete run
        // at the last completion or flush.
        let end = match &power_cut {
            Some(cut) => Time::from_ps(cut.at_ps),
            None if interrupted => self.now,
            None => all.last_completion().later(requests.flushed),
        };
        let (flash, gc) = (self.flash(), self.controller.counters().gc.clone());
        // Busy times extend to `now`, not to `end`: background collections and waiting requests may have continued after the last completion.
        let times = self.part_times();
        let utilisation = times.utilisation();
        let StreamMetrics { iops, bandwidth_bytes_per_s, latency_ps, breakdown_ps } = all.metrics(end);
        let slc = self.controller.slc().map(|slc| slc.report(self.geometry, gc.erases, self.now));
        let wall_s = wall.as_secs_f64();
        let intervals::IntervalReports { warm_up, measured, epochs } = self.interval_reports(end);
        let write_amplification = flash.write_amplification(&gc);
        let run = WholeRun {
            measures: &all,
            iops,
            bandwidth_bytes_per_s,
            write_amplification,
            dies_gc_mean: utilisation.dies_gc_mean,
        };
        let (confidence, steadiness) = self.confidence_and_steadiness(&run, warm_up.as_ref(), measured.as_ref());
        let streams = self.stream_reports(measured.as_ref());
        let measured = measured.map(|measured| self.with_breakdown(measured.report));
        let figures = match &measured {
            Some(MeasuredReport { window, .. }) => PreciseFigures {
                iops: window.iops,
                bandwidth_bytes_per_s: window.bandwidth_bytes_per_s,
                latency_ps: window.latency_ps.all.as_ref(),
                write_amplification: window.write_amplification,
            },
            None => {
                PreciseFigures { iops, bandwidth_bytes_per_s, latency_ps: latency_ps.all.as_ref(), write_amplification }
            }
        };
        let precision = self.precision(&confidence, &figures);
        let bound = match (&measured, self.window_begin) {
            (Some(measured), Some(begin)) => {
                self.bound(&times.since(begin), measured.breakdown_ps.mean.as_ref(), end.saturating_sub(begin.span))
            }
            _ => self.bound(&times, breakdown_ps.mean.as_ref(), end),
        };
        let bound = slc::explain(bound, slc.as_ref(), &gc);
        let fabric = self.datapath.fabric;
        Report {
            requests: requests.completed,
            makespan_ps: end.as_ps(),
            iops,
            bandwidth_bytes_per_s,
            latency_ps,
            distribution: all.distribution(),
            breakdown_ps,
            write_amplification,
            slc,
            gc,
            per_request: self.per_request(&flash),
            flash,
            // `ChipStatesProbe` fills in the states when the run ends.
            chip_states: None,
            mapping_cache: self.controller.mapping_cache().map(|map| MappingCacheReport {
                entries: map.capacity(),
                hit_share: map.counters().hit_share(),
                counters: map.counters().clone(),
            }),
            path_conflict: self.path_conflicts(),
            collisions: None,
            replication: self.controller.replication().map(Replication::report),
            scouts: fabric.scout_counters().cloned(),
            host: self.host_report(end),
            links: LinksReport::new(
                fabric.layout(),
                fabric.usage(),
                fabric.hops(),
                self.datapath.transfers.started,
                self.now,
            ),
            bound,
            lower_bound: self.lower_bound(interrupted),
            power: energy::report(self.config, &self.datapath.activity(self.now)),
            area: area::report(fabric.layout(), self.datapath.info, self.config),
            cache: self.controller.cache().map(|device| device.report(self.now)),
            persistence: self.persistence(),
            power_cut,
            utilisation,
            streams,
            warm_up,
            measured,
            precision,
            confidence,
            steadiness,
            epochs,
            // Added after the run: `network` by `Simulation::run`, `timeline` by its probe.
            network: None,
            timeline: None,
            workload: self.frontend.summary().cloned(),
            wall_s,
            requests_per_wall_s: if wall_s > 0.0 { requests.completed as f64 / wall_s } else { 0.0 },
            peak_rss_bytes: peak_rss().map(Bytes::as_u64),
            config_hash: self.config.hash(),
            seed: self.config.seed,
            version: env!("CARGO_PKG_VERSION"),
            interrupted,
            own: UserQuantities::default(),
        }
    }

    fn flash(&self) -> FlashReport {
        let operations = self.datapath.counters;
        FlashReport {
            suspensions: self.datapath.suspensions,
            multi_plane_operations: operations.multi_plane_operations,
            overdue_reads: operations.overdue_reads,
            overdue_programs: operations.overdue_programs,
            unwritten_reads: self.controller.ftl().map().unmapped_reads(),
            ..self.controller.counters().flash.clone()
        }
    }

    fn persistence(&self) -> Option<PersistenceReport> {
        let PersistenceCounts { journal_pages, journal_entries, checkpoints, checkpoint_pages } =
            self.controller.persistence()?.counts();
        let written = self.controller.counters().flash.pages_written;
        let programmed = journal_pages + checkpoint_pages;
        let write_amplification = (written > 0).then(|| programmed as f64 / written as f64);
        Some(PersistenceReport { journal_pages, journal_entries, checkpoints, checkpoint_pages, write_amplification })
    }

    fn per_request(&self, flash: &FlashReport) -> Option<PerRequestReport> {
        let requests = self.frontend.counters.completed;
        let (work, fabric) = (&self.datapath.counters.work, self.datapath.fabric);
        let each = |count: u64| count as f64 / requests as f64;
        let written = flash.pages_written;
        (requests > 0).then(|| PerRequestReport {
            reads: each(work.reads.iter().sum()),
            programs: each(work.programs.iter().sum()),
            transferred_bytes: each(fabric.layout().bytes_of_chips(fabric.usage()).as_u64()),
            partial_update_share: (written > 0).then(|| flash.partial_write_reads as f64 / written as f64),
        })
    }

    fn path_conflicts(&self) -> PathConflictReport {
        let share = |part: u64, of: u64| (of > 0).then(|| part as f64 / of as f64);
        let (requests, transfers) = (self.frontend.counters, self.datapath.transfers);
        PathConflictReport {
            requests_free_share: share(requests.requests_free, requests.completed),
            requests_free_of_others_share: share(requests.requests_free_of_others, requests.completed),
            transfers_free_share: share(transfers.unblocked, transfers.started),
            transfers: transfers.started,
            wait_ps: transfers.conflicts.wait().as_ps(),
            causes: transfers.conflicts.report(requests.requests_blocked),
        }
    }

    /// Returns the results of each stream from its start to its last completion. The confidence intervals are those of the window `measured`; `None`
    /// selects the whole run.
    fn stream_reports(&self, measured: Option<&MeasuredWindow>) -> Vec<StreamReport> {
        let streams = self.frontend.streams.iter().zip(&self.frontend.counters.streams).enumerate();
        let report = |(index, (stream, measures)): (usize, (&HostStream, &StreamMeasures))| {
            let end = measures.last_completion();
            let begun = stream.replay.begun();
            let counted_from = measures.counts_from(begun);
            let ran = end.saturating_sub(counted_from);
            let StreamMetrics { iops, bandwidth_bytes_per_s, latency_ps, breakdown_ps } = measures.metrics(ran);
            let latencies = &measures.latencies();
            let whole_run =
                || (counted_from..end, RequestMetrics::from_latencies(iops, bandwidth_bytes_per_s, latencies));
            let (window, figures) =
                measured.map_or_else(whole_run, |measured| steadiness::stream_window(measured, index, begun));
            StreamReport {
                name: stream.config.name.clone(),
                confidence: StreamConfidence::new(&self.frontend.counters.batches, window, index, &figures),
                start_ps: begun.as_ps(),
                read_bytes: measures.read_bytes().as_u64(),
                written_bytes: measures.written_bytes().as_u64(),
                requests: measures.completed(),
                makespan_ps: end.as_ps(),
                iops,
                bandwidth_bytes_per_s,
                latency_ps,
                breakdown_ps,
                workload: stream.summary.clone(),
            }
        };
        streams.map(report).collect()
    }
}
