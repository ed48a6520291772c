//! Requests between host and drive: issue, admission, division into pages, completion, measurement.
//!
//! The host *issues* a request: its command crosses the link. The drive *admits* or refuses it, and requests its pages from the
//! [controller](crate::controller), which returns finished pages as [`CompletedWork`](crate::controller::CompletedWork). After the last page the drive *responds*; the
//! request *completes* when the completion reaches the host.

mod complete;
mod cores;
mod counters;
mod early_completion;
mod flush;
mod held_commands;
mod issue;
mod link_in_flight;
mod phases;
mod power_cut;
mod request;
mod streams;
mod submit;

use std::marker::PhantomData;

use crate::config::{Config, InterfaceKind, Priority, ReadData};
use crate::engine::pool::Pool;
use crate::error::RunError;
use crate::fabric::StaticFabric;
use crate::flash::geometry::Geometry;
use crate::host::interface::{AnyInterface, EventSink, HostEvent, InterfaceNotice, WakeReason};
use crate::host::link::Direction;
use crate::host::namespace::Namespaces;
use crate::host::source::RequestSource;
use crate::ids::RequestId;
use crate::kernel::Kernel;
use crate::kernel::event::{Event, host_lane};
use crate::kernel::model::{Model, Probed};
use crate::kernel::probe::Notice;
use crate::measure::cache::PowerCutReport;
use crate::measure::completions::{Completions, RecordDestination};
use crate::measure::request_budget::RequestBudget;
use crate::measure::request_log::RequestSink;
use crate::units::{Bytes, Time};
use crate::workload::WorkloadSummary;

pub use counters::Counters;
pub use streams::{HostStream, open};

use flush::Flushes;
use held_commands::HeldCommands;
use link_in_flight::LinkInFlight;
use power_cut::{Ending, PowerCut};
use request::Request;

/// Prefetch distance on the link, in arrivals: few enough to stay in the first-level CPU cache, enough to hide the memory latency.
const UPCOMING: usize = 3;

/// Settings of the configuration that affect requests.
#[derive(Clone, Debug)]
struct Rules {
    is_sata: bool,
    transfer_max: Option<Bytes>,
    /// Whether each page of read data crosses the link as soon as the page is in the controller.
    sends_pages: bool,
    flushes_at_end: bool,
    power_cut: Option<Time>,
    capacitors: bool,
}

#[derive(Clone)]
pub struct Frontend<M: Model> {
    config: Box<Config>,
    geometry: Geometry,
    rules: Rules,
    streams: Vec<HostStream>,
    /// Numbers (`replay.phase`) of the phases that have not started, in descending order: the next phase is last.
    phases_left: Vec<u32>,
    interface: AnyInterface,
    crossing: LinkInFlight,
    /// Whether completions are handled when they are sent; see `early_completion.rs`.
    completes_ahead: bool,
    namespaces: Namespaces,
    requests: Pool<RequestId, Request>,
    flushes: Flushes,
    held: HeldCommands,
    ending: Ending,
    power_cut: Option<Box<PowerCut>>,
    counters: Counters,
    records: RecordDestination,
    model: PhantomData<fn() -> M>,
}

/// A view of a [`Frontend`] without its model (compiled variant of the run), so that the code of reports is compiled only once.
#[derive(Clone, Copy)]
pub struct FrontendStats<'a> {
    pub counters: &'a Counters,
    pub streams: &'a [HostStream],
    /// Interface between host and drive.
    pub interface: &'a AnyInterface,
    /// Report of the power cut; `None` if there was none.
    pub power_cut: Option<&'a PowerCutReport>,
}

impl<'a> FrontendStats<'a> {
    /// Returns the workload summary of the only stream; `None` if there are several, or the configuration names no workload.
    pub fn summary(self) -> Option<&'a WorkloadSummary> {
        match self.streams {
            [stream] => stream.summary.as_ref(),
            _ => None,
        }
    }
}

/// The receiver of events from the host interface.
struct Sink<'a, M> {
    kernel: &'a mut Kernel<M>,
    crossing: &'a mut LinkInFlight,
}

impl<M: Model> EventSink for Sink<'_, M> {
    #[inline(always)]
    fn schedule(&mut self, at: Time, event: HostEvent) {
        self.crossing.sent(event);
        self.kernel.schedule(host_lane(event), at, event.into());
    }

    #[inline(always)]
    fn schedule_arrival(&mut self, at: Time) {
        self.kernel.set_alarm(at, Event::InDrive);
    }

    #[inline(always)]
    fn notify(&mut self, seen: InterfaceNotice) {
        self.kernel.notify(|| Notice::Interface(seen));
    }
}

impl Frontend<Probed> {
    /// Builds the host side of the drive in `config`, with one of `sources` for each stream.
    ///
    /// # Errors
    /// If the numbers of sources and streams differ, or the namespaces do not fit the drive.
    pub fn new(
        config: &Config,
        geometry: &Geometry,
        sources: Vec<RequestSource>,
    ) -> Result<Frontend<Probed>, RunError> {
        let streams = streams::connect(config, sources)?;
        let namespaces = streams::attach(config, &streams, &config.namespaces(geometry)?)?;
        let phases = phases::of(&streams);
        let priorities: Vec<Priority> = streams.iter().map(|stream| stream.config.queue.priority).collect();
        Ok(Frontend {
            config: Box::new(config.clone()),
            rules: Rules {
                is_sata: config.host.interface == InterfaceKind::Sata,
                transfer_max: config.host.transfer_max,
                sends_pages: config.host.read_data == ReadData::Page,
                flushes_at_end: config.cache.flush_at_end,
                power_cut: config.power.cut,
                capacitors: config.power.capacitors,
            },
            interface: AnyInterface::new(config, &priorities),
            crossing: LinkInFlight::default(),
            completes_ahead: false,
            requests: Pool::default(),
            flushes: Flushes::new(namespaces.count()),
            held: HeldCommands::new(config),
            namespaces,
            ending: Ending::default(),
            power_cut: None,
            counters: Counters::new(streams.len(), config, None),
            records: RecordDestination::Dropped,
            model: PhantomData,
            streams,
            phases_left: phases,
            geometry: geometry.clone(),
        })
    }

    pub fn describe(&mut self, summaries: Vec<Option<WorkloadSummary>>) {
        for (stream, summary) in self.streams.iter_mut().zip(summaries) {
            stream.summary = summary;
        }
    }

    /// Makes the run end when the requests of `goal` have completed.
    pub fn set_goal(&mut self, goal: RequestBudget) {
        self.counters = Counters::new(self.streams.len(), &self.config, Some(goal));
    }

    pub fn set_request_sink(&mut self, sink: Box<dyn RequestSink>) {
        self.records = RecordDestination::Sink(sink);
    }

    /// Prepares the frontend for a stepped drive: stores completions, and defers the flush at the end of the run until [`close`](Self::close).
    pub fn open_for_submissions(&mut self) {
        self.records = RecordDestination::Completions(Completions::default());
        self.rules.flushes_at_end = false;
    }

    /// Converts the frontend to model `N` (a variant of the simulation, compiled for one set of features).
    pub fn into_model<N: Model>(self) -> Frontend<N> {
        let mut frontend = Frontend::<N> {
            config: self.config,
            geometry: self.geometry,
            rules: self.rules,
            streams: self.streams,
            phases_left: self.phases_left,
            interface: self.interface,
            crossing: self.crossing,
            completes_ahead: false,
            namespaces: self.namespaces,
            requests: self.requests,
            flushes: self.flushes,
            held: self.held,
            ending: self.ending,
            power_cut: self.power_cut,
            counters: self.counters,
            records: self.records,
            model: PhantomData,
        };
        // A host interface that runs ahead needs the only alarm of the event queue (an event that can be moved), and so does a fabric that schedules
        // its own events.
        if !N::ALL_FEATURES && !N::Fabric::SCHEDULES_EVENTS && frontend.counters.issued == 0 {
            frontend.interface.run_ahead();
        }
        frontend.completes_ahead =
            frontend.may_complete_ahead() && frontend.interface.begin_reactive(frontend.config.host.queue_depth);
        frontend
    }
}

impl<M: Model> Frontend<M> {
    #[inline(always)]
    pub fn counters(&self) -> &Counters {
        &self.counters
    }

    pub fn counters_mut(&mut self) -> &mut Counters {
        &mut self.counters
    }

    /// Returns a view of counters, streams and interface, for reports.
    pub fn figures(&self) -> FrontendStats<'_> {
        FrontendStats {
            counters: &self.counters,
            streams: &self.streams,
            interface: &self.interface,
            power_cut: self.power_cut.as_ref().map(|cut| &cut.report),
        }
    }

    /// Returns the completions of a stepped drive.
    pub fn completions(&mut self) -> &mut Completions {
        match &mut self.records {
            RecordDestination::Completions(completions) => completions,
            _ => unreachable!("only a drive that was opened for submissions is stepped"),
        }
    }

    /// Ends the records of requests, because no more requests complete.
    ///
    /// # Errors
    /// If the sink could not store its records; the error is the reason.
    pub fn end_records(&mut self) -> Result<(), String> {
        self.records.end()
    }

    /// Allows the flush at the end of the run, because no more requests are submitted.
    pub fn close(&mut self) {
        self.rules.flushes_at_end = self.config.cache.flush_at_end;
    }

    /// Returns the number of requests of all streams in the whole run; `None` if it is unknown for any stream.
    pub fn request_count(&self) -> Option<u64> {
        self.streams.iter().map(|stream| stream.replay.request_count()).sum()
    }

    /// Returns the number of requests in flight: issued and not completed. Requests in submission queues on the host count.
    pub fn in_flight(&self) -> usize {
        self.streams.iter().map(|stream| stream.replay.in_flight()).sum()
    }

    /// Removes and returns the request whose command arrives in the drive now; `None` if the arrival event came too early, which is possible if the
    /// interface runs ahead.
    #[inline(always)]
    pub fn take_arrived(&mut self, kernel: &mut Kernel<M>) -> Option<RequestId> {
        match &mut self.interface {
            AnyInterface::Nvme(nvme) if !M::ALL_FEATURES && nvme.is_ahead() => {
                let now = kernel.now();
                let arrived = nvme.arrived(now, &mut Sink { kernel, crossing: &mut self.crossing });
                let upcoming = nvme.upcoming();
                self.prefetch_request(|| upcoming);
                arrived
            }
            _ => Some(self.crossed(Direction::ToDrive)),
        }
    }

    /// Processes deferred messages of the host interface that arrive before `at`, so that its counts are up to date.
    pub fn catch_up(&mut self, at: Time) {
        self.interface.catch_up(at);
    }

    /// Removes and returns the request whose command or completion has just crossed the link in `direction`.
    #[inline(always)]
    pub fn crossed(&mut self, direction: Direction) -> RequestId {
        self.prefetch_request(|| self.crossing.upcoming(direction, UPCOMING));
        self.crossing.arrived(direction)
    }

    #[inline(always)]
    pub fn wake(&mut self, token: WakeReason, kernel: &mut Kernel<M>) {
        let now = kernel.now();
        self.interface.wake(token, now, &mut Sink { kernel, crossing: &mut self.crossing });
    }
}
