//! Streams of a run: each has a workload, a replay and a namespace.

use crate::config::{Config, StreamConfig};
use crate::engine::random::SimRng;
use crate::error::{RunError, WorkloadError};
use crate::flash::geometry::Geometry;
use crate::flash::namespace::ResolvedNamespace;
use crate::host::namespace::{Namespace, NamespaceId, Namespaces};
use crate::host::replay::Replay;
use crate::host::source::RequestSource;
use crate::ids::StreamId;
use crate::kernel::model::Model;
use crate::measure::request_budget::RequestBudget;
use crate::units::Bytes;
use crate::workload::source::{EmptySource, WorkloadSource};
use crate::workload::{self, WorkloadSummary};

use super::HostSide;

#[derive(Clone)]
pub struct HostStream {
    pub config: StreamConfig,
    pub replay: Replay,
    pub summary: Option<WorkloadSummary>,
}

/// The workload of each stream, and its summary. The summary is `None` for a stream that issues no requests.
pub struct OpenedWorkloads {
    pub sources: Vec<Box<dyn WorkloadSource>>,
    pub summaries: Vec<Option<WorkloadSummary>>,
}

/// Returns the seed of a stream. The first stream has the seed of the run, so that a single stream draws the same numbers with or without a name. The
/// seeds of other streams are drawn from the seed of the run.
fn seed_of(seed: u64, index: usize) -> u64 {
    let mut generator = SimRng::new(seed);
    (0..index).fold(seed, |_, _| generator.next_u64())
}

/// Opens the workload of every stream. With `only`, the index of a stream, all other streams issue no requests.
pub fn open(config: &Config, geometry: &Geometry, only: Option<usize>) -> Result<OpenedWorkloads, RunError> {
    let namespaces = config.namespaces(geometry)?;
    let goal = RequestBudget::from_config(config, only);
    let mut opened = OpenedWorkloads { sources: Vec::new(), summaries: Vec::new() };
    for (index, stream) in config.streams().iter().enumerate() {
        if only.is_some_and(|only| only != index) {
            opened.sources.push(Box::new(EmptySource));
            opened.summaries.push(None);
            continue;
        }
        let mut workload = stream.workload.clone();
        workload.requests = goal.map(RequestBudget::requests_max).or(workload.requests);
        let capacity = namespaces[config.namespace_of(&stream.queue, &namespaces, "queue.namespace")?].capacity;
        let found =
            workload::open(&workload, &stream.replay, seed_of(config.seed, index), capacity, geometry.sector_size);
        let (source, summary) = found.map_err(|error| match error {
            WorkloadError::Unusable(message) if !config.stream.is_empty() => {
                WorkloadError::Unusable(format!("stream \"{}\": {message}", stream.name))
            }
            other => other,
        })?;
        opened.sources.push(source);
        opened.summaries.push(Some(summary));
    }
    Ok(opened)
}

pub(super) fn connect(config: &Config, sources: Vec<RequestSource>) -> Result<Vec<HostStream>, RunError> {
    let streams = config.streams();
    if streams.len() != sources.len() {
        let (sources, streams) = (sources.len(), streams.len());
        let message = format!("{sources} workloads for {streams} streams: each stream needs one");
        return Err(WorkloadError::Unusable(message).into());
    }
    let connect = |(stream, source): (StreamConfig, RequestSource)| {
        let replay = Replay::new(&stream.replay, config.host.queue_depth, source);
        HostStream { config: stream, replay, summary: None }
    };
    Ok(streams.into_iter().zip(sources).map(connect).collect())
}

pub(super) fn attach(
    config: &Config,
    streams: &[HostStream],
    namespaces: &[ResolvedNamespace],
) -> Result<Namespaces, RunError> {
    let attached = |stream: &HostStream| {
        let at = config.namespace_of(&stream.config.queue, namespaces, "queue.namespace")?;
        Ok(NamespaceId(at as u32))
    };
    let of_stream = streams.iter().map(attached).collect::<Result<_, RunError>>()?;
    let ranges =
        namespaces.iter().map(|&ResolvedNamespace { start, capacity, .. }| Namespace { first: start, capacity });
    Ok(Namespaces::new(ranges.collect(), of_stream))
}

impl<M: Model> HostSide<M> {
    /// Returns the capacity that a stream addresses: the size of its namespace; zero if it is attached to none.
    pub fn capacity(&self, stream: StreamId) -> Bytes {
        self.namespaces.namespace_of(stream).map_or(Bytes::ZERO, |namespace| self.namespaces.range(namespace).capacity)
    }

    /// Returns the name and the workload summary of each stream; `None` for the summary if the configuration names no workload.
    pub fn summaries(&self) -> impl Iterator<Item = (&str, Option<&WorkloadSummary>)> {
        self.streams.iter().map(|stream| (stream.config.name.as_str(), stream.summary.as_ref()))
    }
}
