//! Requests end: what they took is measured, and the host may issue the next.

use std::borrow::Cow;
use std::time::Duration;

use crate::config::Measure;
use crate::error::RunError;
use crate::fabric::{Cause, Causes, Fabric};
use crate::host::interface::Interface;
use crate::host::link::Direction;
use crate::host::replay::Mode;
use crate::host::status::Status;
use crate::ids::{RequestId, TransactionId};
use crate::measure::bound::{Bound, Load};
use crate::measure::conflicts::Conflicts;
use crate::measure::host::{HostReport, QueueWork, StatusesReport};
use crate::measure::log::{RequestRecord, RequestSink};
use crate::measure::lower_bound::{DieWork, LowerBound, Work};
use crate::measure::peak_rss;
use crate::measure::report::{
    FlashReport, GcReport, LinksReport, MappingCacheReport, PathConflictReport, Report, StreamReport, Utilisation,
};
use crate::measure::stream::{StreamFigures, StreamMeasures};
use crate::measure::timeline::Timeline;
use crate::power::energy::{Activity, ArrayWork};
use crate::power::{area, energy};
use crate::schedule::transaction::{Spent, Transaction};
use crate::units::{Bytes, Time};
use crate::workload::RequestKind;

use super::Simulation;
use super::event::{Event, lane};
use super::streams::Stream;
use super::timeline::TimelineReports;

/// All that is counted while the drive runs.
pub(super) struct Measures {
    pub issued: u64,
    pub completed: u64,
    /// What each stream has completed.
    pub streams: Vec<StreamMeasures>,
    /// By stream.
    pub queues: Vec<QueueWork>,
    /// Requests that ended so.
    pub statuses: [u64; Status::ALL.len()],
    /// When all that was dirty at the end was on flash, if that was waited for.
    pub flushed: Time,
    pub requests_free: u64,
    pub transfers: u64,
    pub transfers_free: u64,
    pub conflicts: Conflicts,
    /// Requests that each cause was in the way of.
    pub requests_blocked: [u64; Cause::ALL.len()],
    /// What each die did.
    pub dies: Vec<DieWork>,
    /// What the arrays did.
    pub work: ArrayWork,
    pub gc: GcReport,
    pub flash: FlashReport,
    /// Stretches of the run; nothing unless asked for.
    pub timeline: Option<Box<Timeline>>,
    /// When the next of them ends, if time ends it.
    pub due: Time,
    pub sink: Option<Box<dyn RequestSink>>,
}

impl Measures {
    /// Nothing counted yet, on a drive of `dies` dies for so many streams, of which `settings` say what else to measure.
    pub(super) fn new(dies: u32, streams: usize, settings: &Measure) -> Measures {
        let timeline = Timeline::new(settings, streams);
        Measures {
            issued: 0,
            completed: 0,
            streams: (0..streams).map(|_| StreamMeasures::default()).collect(),
            queues: vec![QueueWork::default(); streams],
            statuses: [0; Status::ALL.len()],
            flushed: Time::ZERO,
            requests_free: 0,
            requests_blocked: [0; Cause::ALL.len()],
            transfers: 0,
            transfers_free: 0,
            conflicts: Conflicts::default(),
            dies: vec![DieWork::default(); dies as usize],
            work: ArrayWork::default(),
            gc: GcReport::default(),
            flash: FlashReport::default(),
            due: timeline.as_ref().map_or(Time::MAX, Timeline::due),
            timeline: timeline.map(Box::new),
            sink: None,
        }
    }
}

impl Simulation {
    /// Gives every completed request to `sink`.
    pub fn set_request_sink(&mut self, sink: Box<dyn RequestSink>) {
        self.measures.sink = Some(sink);
    }

    /// A transaction of a request has finished.
    pub(super) fn page_done(&mut self, id: TransactionId) {
        let Transaction { request, spent, conflict, .. } = self.transactions[id];
        self.transactions.remove(id);
        self.page_finished(request.expect("only transactions of requests end here"), spent, conflict);
    }

    /// A page of a request is done, for which its time was `spent`; the last one makes the request respond.
    pub(super) fn page_finished(&mut self, id: RequestId, spent: Spent, conflict: Causes) {
        let request = &mut self.requests[id];
        request.conflict.join(conflict);
        request.remaining -= 1;
        if request.remaining > 0 {
            return;
        }
        request.critical = spent;
        let programs = request.io.kind != RequestKind::Read;
        self.respond(id);
        if programs {
            self.end_write(id);
        }
    }

    /// The completion has reached the host.
    pub(super) fn complete(&mut self, id: RequestId) -> Result<(), RunError> {
        let now = self.now();
        self.witness(|oracles, now| oracles.request_completed(id, now));
        let stream = self.requests[id].stream;
        self.completion_taken(stream);
        self.acknowledge_cached(id);
        let request = &self.requests[id];
        let thread = request.thread;
        let latency = now - request.arrival;
        let measures = &mut self.measures;
        measures.completed += 1;
        if request.conflict.is_empty() {
            measures.requests_free += 1;
        } else {
            for cause in Cause::ALL {
                measures.requests_blocked[cause.index()] += u64::from(request.conflict.contains(cause));
            }
        }
        measures.statuses[request.status.index()] += 1;
        measures.queues[stream.index()].count(now - request.submitted);
        measures.streams[stream.index()].record(&request.io, request.status, now, latency, &request.critical);
        if let Some(sink) = &mut measures.sink {
            let record = RequestRecord {
                id: request.number,
                kind: request.io.kind,
                offset: request.io.offset,
                size: request.io.size,
                issuer: stream,
                stream: request.io.stream,
                status: request.status,
                arrival: request.arrival,
                submitted: request.submitted,
                completed: now,
                spent: request.critical,
                path_conflict: request.conflict,
            };
            sink.record(&record).map_err(RunError::Sink)?;
        }
        if let Some(timeline) = &mut measures.timeline
            && timeline.completed(stream, &request.io, request.status, now, latency)
        {
            self.cut_timeline_at(now);
        }
        self.requests.remove(id);
        let replay = &mut self.streams[stream.index()].replay;
        let mode = replay.mode();
        if let Some(waiting) = replay.completed() {
            self.issue(stream, waiting);
        }
        match mode {
            Mode::Open => self.issue_open(stream),
            Mode::Stress { .. } => self.issue_for(stream, thread),
            Mode::Closed { .. } => {
                if let Some(thinks) = self.streams[stream.index()].replay.think(thread, now)? {
                    self.queue.schedule(lane::ARRIVAL, now + thinks, Event::ThreadReady(stream, thread));
                }
                Ok(())
            }
        }
    }

    /// The result so far.
    pub(super) fn report(&self, wall: Duration, interrupted: bool) -> Report {
        let measures = &self.measures;
        let mut all = StreamMeasures::default();
        measures.streams.iter().for_each(|stream| all.add(stream));
        let power_cut = self.power_cut_report();
        // A run stopped in its middle is measured up to where it came.
        let end = match &power_cut {
            Some(cut) => Time::from_ps(cut.at_ps),
            None if interrupted => self.now(),
            None => all.last_completion().later(measures.flushed),
        };
        let share = |part: u64, of: u64| (of > 0).then(|| part as f64 / of as f64);
        let flash = measures.flash.clone();
        // Threads that think, and collections beside them, may have gone on after the last completion.
        let utilisation = self.utilisation(self.now());
        let StreamFigures { iops, bandwidth_bytes_per_s, latency_ps, breakdown_ps } = all.figures(end);
        let load = self.load(end);
        let now = self.now().as_secs_f64();
        let share_of_run = |time: Time| if now > 0.0 { (time.as_secs_f64() / now).min(1.0) } else { 0.0 };
        let works = |die: &DieWork| share_of_run(die.least(self.rules.read_cache));
        let at_work: Vec<f64> = self.work().iter().map(works).collect();
        let unit = if self.dies_take_turns { "chip" } else { "die" };
        let breakdown = breakdown_ps.mean.as_ref();
        let dram = self.cache.as_ref().map(|device| share_of_run(device.dram_busy(self.now())));
        let bound = Bound::find(&utilisation, (unit, &at_work), dram, self.fabric.layout(), breakdown, load);
        let wall_s = wall.as_secs_f64();
        let TimelineReports { warm_up, measured, epochs } = self.timeline_reports(end);
        Report {
            requests: measures.completed,
            makespan_ps: end.as_ps(),
            iops,
            bandwidth_bytes_per_s,
            latency_ps,
            breakdown_ps,
            write_amplification: flash.write_amplification(&measures.gc),
            gc: measures.gc.clone(),
            flash,
            mapping_cache: self.map.as_ref().map(|map| MappingCacheReport {
                entries: map.capacity(),
                hit_share: map.counters().hit_share(),
                counters: map.counters().clone(),
            }),
            path_conflict: PathConflictReport {
                requests_free_share: share(measures.requests_free, measures.completed),
                transfers_free_share: share(measures.transfers_free, measures.transfers),
                transfers: measures.transfers,
                wait_ps: measures.conflicts.wait().as_ps(),
                causes: measures.conflicts.report(measures.requests_blocked),
            },
            scouts: self.fabric.scouts().cloned(),
            host: self.host_report(end),
            links: LinksReport::new(
                self.fabric.layout(),
                self.fabric.usage(),
                self.fabric.hops(),
                measures.transfers,
                self.now(),
            ),
            bound,
            lower_bound: self.lower_bound(),
            power: energy::report(&self.config, &self.activity()),
            area: area::report(
                self.fabric.layout(),
                self.fabric.addition(),
                self.geometry.channels,
                self.geometry.chips(),
            ),
            cache: self.cache.as_ref().map(|device| device.report(self.now())),
            power_cut,
            utilisation,
            streams: self.stream_reports(interrupted),
            warm_up,
            measured,
            epochs,
            workload: self.summary().cloned(),
            wall_s,
            requests_per_wall_s: if wall_s > 0.0 { measures.completed as f64 / wall_s } else { 0.0 },
            peak_rss_bytes: peak_rss().map(Bytes::as_u64),
            config_hash: self.config.hash(),
            seed: self.config.seed,
            version: env!("CARGO_PKG_VERSION"),
            interrupted,
        }
    }

    /// The result of each stream so far.
    fn stream_reports(&self, interrupted: bool) -> Vec<StreamReport> {
        let report = |(stream, measures): (&Stream, &StreamMeasures)| {
            let end = if interrupted { self.now() } else { measures.last_completion() };
            let StreamFigures { iops, bandwidth_bytes_per_s, latency_ps, breakdown_ps } = measures.figures(end);
            StreamReport {
                name: stream.config.name.clone(),
                requests: measures.completed(),
                makespan_ps: end.as_ps(),
                iops,
                bandwidth_bytes_per_s,
                latency_ps,
                breakdown_ps,
                workload: stream.summary.clone(),
            }
        };
        self.streams.iter().zip(&self.measures.streams).map(report).collect()
    }

    /// How the requests were issued; those of streams that all have arrivals fall behind when those of one do.
    fn load(&self, end: Time) -> Load {
        if !self.streams.iter().all(|stream| stream.replay.is_open()) {
            return Load::OnCompletion;
        }
        let overdue = self.streams.iter().map(|stream| stream.replay.overdue()).max().unwrap_or_default();
        let overdue_share = if end == Time::ZERO { 0.0 } else { overdue.as_secs_f64() / end.as_secs_f64() };
        Load::Open { overdue_share }
    }

    /// What each die did, or each chip whose dies take turns.
    fn work(&self) -> Cow<'_, [DieWork]> {
        let dies = &self.measures.dies;
        if !self.dies_take_turns {
            return Cow::Borrowed(dies);
        }
        let chips = dies.chunks(self.geometry.dies_per_chip as usize);
        Cow::Owned(chips.map(|dies| dies.iter().copied().fold(DieWork::default(), DieWork::and)).collect())
    }

    /// How fast the same work could have been done at best.
    fn lower_bound(&self) -> LowerBound {
        let end = self.now();
        let open = self.streams.iter().map(|stream| &stream.replay).filter(|replay| replay.is_open());
        let work = Work {
            dies: &self.work(),
            read_cache: self.rules.read_cache,
            passages: &self.fabric.passages(),
            usage: self.fabric.usage(),
            link_to_drive: self.interface.link().busy(Direction::ToDrive, end),
            link_to_host: self.interface.link().busy(Direction::ToHost, end),
            adapter: self.interface.adapter_busy(end),
            dram: self.cache.as_ref().map(|device| device.dram_busy(end)),
            last_arrival: open.map(|replay| replay.last_arrival()).max(),
            end,
        };
        work.lower_bound()
    }

    /// What crossed between host and drive, until `end`.
    fn host_report(&self, end: Time) -> HostReport {
        let (link, doorbells) = (self.interface.link(), self.interface.doorbells());
        HostReport {
            interface: self.config.host.interface.name(),
            queues: self.measures.queues.iter().map(|queue| queue.report(end)).collect(),
            submission_doorbells: doorbells.submission,
            completion_doorbells: doorbells.completion,
            bytes_to_drive: link.carried(Direction::ToDrive).as_u64(),
            bytes_to_host: link.carried(Direction::ToHost).as_u64(),
            statuses: StatusesReport::new(self.measures.statuses),
        }
    }

    /// What drew power.
    pub(super) fn activity(&self) -> Activity<'_> {
        Activity {
            work: self.measures.work,
            layout: self.fabric.layout(),
            usage: self.fabric.usage(),
            dies: self.geometry.dies(),
            end: self.now(),
        }
    }

    fn utilisation(&self, end: Time) -> Utilisation {
        let share =
            |busy: Time| if end == Time::ZERO { 0.0 } else { (busy.as_secs_f64() / end.as_secs_f64()).min(1.0) };
        let mean = |shares: &[f64]| shares.iter().sum::<f64>() / shares.len() as f64;
        let links: Vec<f64> = self.fabric.usage().iter().map(|link| share(link.busy_by(end))).collect();
        let controllers: Vec<f64> = self.fabric.controllers_busy(end).into_iter().map(share).collect();
        let dies: Vec<f64> = self.dies.iter().map(|die| share(die.busy(end))).collect();
        let internal: Vec<f64> = self.dies.iter().map(|die| share(die.internal_busy(end))).collect();
        Utilisation {
            link_to_drive: share(self.interface.link().busy(Direction::ToDrive, end)),
            link_to_host: share(self.interface.link().busy(Direction::ToHost, end)),
            adapter: self.interface.adapter_busy(end).map(share),
            links_mean: mean(&links),
            controllers_mean: mean(&controllers),
            dies_mean: mean(&dies),
            dies_gc_mean: mean(&internal),
            links,
            controllers,
            dies,
        }
    }
}
