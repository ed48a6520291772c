//! The host's side of the requests: the streams that issue them, the interface to the drive, and their measurement.
//!
//! No file here knows how the drive admits a request, or what its pages wait for.

mod complete;
mod counters;
mod early_completion;
mod issue;
mod link_in_flight;
mod phases;
mod request;
mod respond;
mod streams;

use std::collections::BTreeMap;
use std::marker::PhantomData;

use crate::config::{Config, Priority, ReadData};
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
use crate::measure::completions::{Completions, RecordDestination};
use crate::measure::request_budget::RequestBudget;
use crate::measure::request_log::RequestSink;
use crate::units::Time;
use crate::workload::WorkloadSummary;

pub use counters::Counters;
pub use streams::{HostStream, open};

pub use request::Request;

use link_in_flight::LinkInFlight;

/// Prefetch distance: when a request crosses the link, the request that arrives this many places later is prefetched. Small enough for the
/// first-level CPU cache, large enough to hide the memory latency.
const UPCOMING: usize = 3;

/// Number of requests in flight that fit into the second-level CPU cache. With more, requests are prefetched.
const CACHED_REQUESTS: usize = 1024;

/// Requests in flight, with the host model that issues them and records their completion.
#[derive(Clone)]
pub struct HostSide<M: Model> {
    geometry: Geometry,
    pub(super) namespaces: Namespaces,
    pub(super) streams: Vec<HostStream>,
    /// Numbers (`replay.phase`) of the phases that have not started, in descending order: the next phase is last.
    phases_left: Vec<u32>,
    pub(super) interface: AnyInterface,
    crossing: LinkInFlight,
    /// Whether each page of read data crosses the link as soon as the page is in the controller. Otherwise all data of a read crosses before its
    /// completion.
    sends_pages: bool,
    /// Whether completions are handled when they are sent; see `early_completion.rs`.
    completes_ahead: bool,
    pub(super) requests: Pool<RequestId, Request>,
    pub(super) counters: Counters,
    records: RecordDestination,
    model: PhantomData<fn() -> M>,
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

impl HostSide<Probed> {
    /// Builds the host in `config`, with one of `sources` for each stream.
    ///
    /// # Errors
    /// If the numbers of sources and streams differ, or the namespaces do not fit the drive.
    pub fn new(
        config: &Config,
        geometry: &Geometry,
        sources: Vec<RequestSource>,
    ) -> Result<HostSide<Probed>, RunError> {
        let streams = streams::connect(config, sources)?;
        let priorities: Vec<Priority> = streams.iter().map(|stream| stream.config.queue.priority).collect();
        Ok(HostSide {
            geometry: geometry.clone(),
            namespaces: streams::attach(config, &streams, &config.namespaces(geometry)?)?,
            phases_left: phases::of(&streams),
            interface: AnyInterface::new(config, &priorities),
            crossing: LinkInFlight::default(),
            sends_pages: config.host.read_data == ReadData::Page,
            completes_ahead: false,
            requests: Pool::default(),
            counters: Counters::new(streams.len(), config, None),
            records: RecordDestination::Dropped,
            model: PhantomData,
            streams,
        })
    }

    pub fn describe(&mut self, summaries: Vec<Option<WorkloadSummary>>) {
        for (stream, summary) in self.streams.iter_mut().zip(summaries) {
            stream.summary = summary;
        }
    }

    /// Makes the run end when the requests to measure after the warm-up (`goal`) have completed.
    pub fn set_goal(&mut self, goal: RequestBudget, config: &Config) {
        self.counters = Counters::new(self.streams.len(), config, Some(goal));
    }

    pub fn set_request_sink(&mut self, sink: Box<dyn RequestSink>) {
        self.records = RecordDestination::Sink(sink);
    }

    /// Prepares the host of a stepped drive: stores completions for the caller.
    pub fn open_for_submissions(&mut self) {
        self.records = RecordDestination::Completions(Completions::default());
    }

    /// Converts the host to model `N` (a variant of the simulation, compiled for one set of features).
    pub fn into_model<N: Model>(self, config: &Config) -> HostSide<N> {
        let mut host = HostSide::<N> {
            geometry: self.geometry,
            namespaces: self.namespaces,
            streams: self.streams,
            phases_left: self.phases_left,
            interface: self.interface,
            crossing: self.crossing,
            sends_pages: self.sends_pages,
            completes_ahead: false,
            requests: self.requests,
            counters: self.counters,
            records: self.records,
            model: PhantomData,
        };
        // The event queue has one alarm (an event that can be moved). Run-ahead mode needs it, and so does a fabric that schedules its own events.
        if !N::ALL_FEATURES && !N::Fabric::SCHEDULES_EVENTS && host.counters.issued == 0 {
            host.interface.run_ahead();
        }
        host.completes_ahead =
            host.may_complete_ahead(config) && host.interface.begin_reactive(config.host.queue_depth);
        host
    }
}

impl<M: Model> HostSide<M> {
    #[inline(always)]
    pub fn counters(&self) -> &Counters {
        &self.counters
    }

    pub fn counters_mut(&mut self) -> &mut Counters {
        &mut self.counters
    }

    /// Returns the completions of a stepped drive.
    pub fn completions(&mut self) -> &mut Completions {
        match &mut self.records {
            RecordDestination::Completions(completions) => completions,
            _ => unreachable!("only a drive that was opened for submissions is stepped"),
        }
    }

    /// Ends the recording of completed requests in the sink, if there is one. Called when no more requests complete.
    ///
    /// # Errors
    /// If the sink could not store its records; the error is the reason.
    pub fn end_records(&mut self) -> Result<(), String> {
        self.records.end()
    }

    /// Returns the number of requests of all streams in the whole run; `None` if it is unknown for any stream.
    pub fn request_count(&self) -> Option<u64> {
        self.streams.iter().map(|stream| stream.replay.request_count()).sum()
    }

    /// Returns the stop time of the last stream, on the assumption that no stream ends earlier. `None` if a stream has no stop time.
    pub fn stops_at(&self) -> Option<Time> {
        let mut of_phase: BTreeMap<u32, Time> = BTreeMap::new();
        for HostStream { config, .. } in &self.streams {
            let stop = config.replay.stop_time?.as_ps().saturating_add(config.replay.start_delay.as_ps());
            let latest = of_phase.entry(config.replay.phase).or_default();
            *latest = latest.later(Time::from_ps(stop));
        }
        Some(Time::from_ps(of_phase.values().fold(0, |sum, stop| sum.saturating_add(stop.as_ps()))))
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

    /// Prefetches a request that will be accessed soon, if more than `CACHED_REQUESTS` have been in flight.
    #[inline(always)]
    pub fn prefetch_request(&self, request: impl FnOnce() -> Option<RequestId>) {
        if self.requests.peak_len() > CACHED_REQUESTS
            && let Some(request) = request()
        {
            self.requests.prefetch(request);
        }
    }
}
