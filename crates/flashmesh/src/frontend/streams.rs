//! The streams of a run: each has its workload, its replay and its part of the drive.

use crate::config::{Config, StreamConfig};
use crate::engine::random::SimRng;
use crate::error::{RunError, WorkloadError};
use crate::flash::geometry::Geometry;
use crate::flash::namespace::NamespaceConfig;
use crate::host::namespace::{Namespace, NamespaceId, Namespaces};
use crate::host::replay::Replay;
use crate::kernel::model::Model;
use crate::workload::source::{Silent, WorkloadSource};
use crate::workload::{self, WorkloadSummary};

use super::Frontend;

/// A stream of requests under way.
pub struct Stream {
    /// What the configuration says of it.
    pub config: StreamConfig,
    /// When its requests are issued.
    pub replay: Replay,
    /// What the workload is, when the configuration names it.
    pub summary: Option<WorkloadSummary>,
}

/// The workload of each stream, with what it is; nothing of a stream that is silent.
pub struct Opened {
    /// By stream.
    pub sources: Vec<Box<dyn WorkloadSource>>,
    /// By stream.
    pub summaries: Vec<Option<WorkloadSummary>>,
}

/// The seed of the stream at `index`: that of the run for the first one, so that a single stream draws what it would draw
/// without a name, and for the others the numbers that the generator of that seed gives.
fn seed_of(seed: u64, index: usize) -> u64 {
    let mut generator = SimRng::new(seed);
    (0..index).fold(seed, |_, _| generator.next_u64())
}

/// Opens the workload of every stream of `config`, or of the one at `only` with the others silent.
pub fn open(config: &Config, geometry: &Geometry, only: Option<usize>) -> Result<Opened, RunError> {
    let namespaces = config.namespaces(geometry)?;
    let mut opened = Opened { sources: Vec::new(), summaries: Vec::new() };
    for (index, stream) in config.streams().iter().enumerate() {
        if only.is_some_and(|only| only != index) {
            opened.sources.push(Box::new(Silent));
            opened.summaries.push(None);
            continue;
        }
        let capacity = namespaces[config.namespace_of(&stream.queue, &namespaces, "queue.namespace")?].capacity;
        let found = workload::open(stream, seed_of(config.seed, index), capacity, geometry.sector_size);
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

/// Connects each of `sources` to the stream at its place.
pub(super) fn connect(config: &Config, sources: Vec<Box<dyn WorkloadSource>>) -> Result<Vec<Stream>, RunError> {
    let streams = config.streams();
    if streams.len() != sources.len() {
        let (sources, streams) = (sources.len(), streams.len());
        let message = format!("{sources} workloads for {streams} streams: each stream needs one");
        return Err(WorkloadError::Unusable(message).into());
    }
    let connect = |(stream, source): (StreamConfig, Box<dyn WorkloadSource>)| {
        let replay = Replay::new(&stream.replay, config.host.queue_depth, source);
        Stream { config: stream, replay, summary: None }
    };
    Ok(streams.into_iter().zip(sources).map(connect).collect())
}

/// The namespaces of the drive, and which of them the queue of each stream is attached to.
pub(super) fn attach(
    config: &Config,
    streams: &[Stream],
    namespaces: &[NamespaceConfig],
) -> Result<Namespaces, RunError> {
    let attached = |stream: &Stream| {
        let at = config.namespace_of(&stream.config.queue, namespaces, "queue.namespace")?;
        Ok(NamespaceId(at as u32))
    };
    let of_stream = streams.iter().map(attached).collect::<Result<_, RunError>>()?;
    let ranges = namespaces.iter().map(|&NamespaceConfig { start, capacity, .. }| Namespace { first: start, capacity });
    Ok(Namespaces::new(ranges.collect(), of_stream))
}

impl<M: Model> Frontend<M> {
    /// What the workload of each stream is, with the name of the stream; nothing where the configuration does not name it.
    pub fn summaries(&self) -> impl Iterator<Item = (&str, Option<&WorkloadSummary>)> {
        self.streams.iter().map(|stream| (stream.config.name.as_str(), stream.summary.as_ref()))
    }

    /// What the workload is, when there is only one and the configuration names it.
    pub fn summary(&self) -> Option<&WorkloadSummary> {
        match self.streams.as_slice() {
            [stream] => stream.summary.as_ref(),
            _ => None,
        }
    }
}
