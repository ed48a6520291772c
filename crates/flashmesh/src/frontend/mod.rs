//! Requests on their way between host and drive: issued, admitted, cut into pages, completed, measured.
//!
//! State: the streams with their workloads, the interface, and the requests in flight. Pages go to the [firmware](crate::firmware);
//! what is done for them comes back as [`Done`](crate::firmware::Done).

mod complete;
mod counters;
mod flush;
mod issue;
mod power_cut;
mod request;
mod streams;
mod submit;

use crate::config::{Config, InterfaceKind, Priority, ReadData};
use crate::engine::arena::Arena;
use crate::error::RunError;
use crate::flash::geometry::Geometry;
use crate::host::interface::{AnyInterface, EventSink, HostEvent, Interface, Seen, Token};
use crate::host::namespace::Namespaces;
use crate::ids::RequestId;
use crate::kernel::Kernel;
use crate::kernel::event::host_lane;
use crate::kernel::model::{Full, Model};
use crate::kernel::probe::Notice;
use crate::measure::log::RequestSink;
use crate::units::{Bytes, Time};
use crate::workload::WorkloadSummary;
use crate::workload::source::WorkloadSource;

pub use counters::Counters;
pub use streams::{Opened, Stream, open};

use flush::Flushes;
use power_cut::{Ending, PowerCut};
use request::Request;

/// What of the configuration decides how requests are handled.
#[derive(Clone, Debug)]
struct Rules {
    is_sata: bool,
    transfer_max: Option<Bytes>,
    /// Whether the data of a read crosses the link a page at a time.
    sends_pages: bool,
    /// Whether dirty pages are written to flash once all requests are done.
    flushes_at_end: bool,
    power_cut: Option<Time>,
    capacitors: bool,
}

/// The host's side of a drive.
pub struct Frontend<M: Model> {
    config: Box<Config>,
    geometry: Geometry,
    rules: Rules,
    streams: Vec<Stream>,
    interface: M::Interface,
    namespaces: Namespaces,
    requests: Arena<RequestId, Request>,
    flushes: Flushes,
    ending: Ending,
    power_cut: Option<Box<PowerCut>>,
    counters: Counters,
    sink: Option<Box<dyn RequestSink>>,
}

/// Where an interface schedules its events.
struct Sink<'a, M>(&'a mut Kernel<M>);

impl<M: Model> EventSink for Sink<'_, M> {
    #[inline(always)]
    fn schedule(&mut self, at: Time, event: HostEvent) {
        self.0.schedule(host_lane(event), at, event.into());
    }

    #[inline(always)]
    fn saw(&mut self, seen: Seen) {
        self.0.tell(|| Notice::Interface(seen));
    }
}

impl Frontend<Full> {
    /// The host's side of the drive that `config` describes, with one of `sources` connected to each stream.
    ///
    /// # Errors
    /// When there are not as many sources as streams, or the namespaces do not fit the drive.
    pub fn new(
        config: &Config,
        geometry: &Geometry,
        sources: Vec<Box<dyn WorkloadSource>>,
    ) -> Result<Frontend<Full>, RunError> {
        let streams = streams::connect(config, sources)?;
        let namespaces = streams::attach(config, &streams, &config.namespaces(geometry)?)?;
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
            requests: Arena::default(),
            flushes: Flushes::new(namespaces.len()),
            namespaces,
            ending: Ending::default(),
            power_cut: None,
            counters: Counters::new(streams.len(), &config.measure),
            sink: None,
            streams,
            geometry: geometry.clone(),
        })
    }

    /// Says what the workload of each stream is.
    pub fn describe(&mut self, summaries: Vec<Option<WorkloadSummary>>) {
        for (stream, summary) in self.streams.iter_mut().zip(summaries) {
            stream.summary = summary;
        }
    }

    /// Gives every completed request to `sink`.
    pub fn set_request_sink(&mut self, sink: Box<dyn RequestSink>) {
        self.sink = Some(sink);
    }

    /// The same frontend for a run of another model: with the interface that `resolve` finds in this one.
    pub fn into_model<N: Model>(self, resolve: impl FnOnce(AnyInterface) -> N::Interface) -> Frontend<N> {
        Frontend {
            config: self.config,
            geometry: self.geometry,
            rules: self.rules,
            streams: self.streams,
            interface: resolve(self.interface),
            namespaces: self.namespaces,
            requests: self.requests,
            flushes: self.flushes,
            ending: self.ending,
            power_cut: self.power_cut,
            counters: self.counters,
            sink: self.sink,
        }
    }
}

impl<M: Model> Frontend<M> {
    /// The streams.
    pub fn streams(&self) -> &[Stream] {
        &self.streams
    }

    /// What it has counted.
    #[inline(always)]
    pub fn counters(&self) -> &Counters {
        &self.counters
    }

    /// The same, to cut the run into intervals.
    pub fn counters_mut(&mut self) -> &mut Counters {
        &mut self.counters
    }

    /// The interface between host and drive.
    pub fn interface(&self) -> &M::Interface {
        &self.interface
    }

    /// How many requests there will be, when known of every stream.
    pub fn request_count(&self) -> Option<u64> {
        self.streams.iter().map(|stream| stream.replay.request_count()).sum()
    }

    /// Requests in flight, those that wait on the host among them.
    pub fn in_flight(&self) -> usize {
        self.streams.iter().map(|stream| stream.replay.in_flight()).sum()
    }

    /// An event that the interface asked for.
    #[inline(always)]
    pub fn wake(&mut self, token: Token, kernel: &mut Kernel<M>) {
        self.interface.wake(token, kernel.now(), &mut Sink(kernel));
    }
}
