//! Synthetic workloads: generated addresses, sizes, kinds and arrivals.
//!
//! All random draws come from xoshiro256++, and all arithmetic is in integers or in floating point through `libm`. So a
//! configuration and a seed give the same requests on every machine. Addresses, sizes, kinds and arrivals each have their own
//! file; `stream.rs` combines them.

mod alias;
mod arrivals;
mod bursts;
mod kinds;
mod layout;
mod pattern;
mod random;
mod recurrence;
mod sizes;
mod stream;
mod unaligned;

pub(crate) use alias::AliasTable;
pub(crate) use arrivals::Arrivals;
pub(crate) use bursts::Bursts;
pub(crate) use kinds::{KindMix, Shares};
pub(crate) use layout::FootprintLayout;
pub(crate) use pattern::{AnyPattern, Runs};
pub(crate) use random::{Chance, Generator, Seed, below, stream_of as generator_of};
pub(crate) use recurrence::Recurrence;
pub(crate) use sizes::{SizeTable, SizesByKind, smallest_of};
pub(crate) use stream::{RequestSpec, Streams};
pub(crate) use unaligned::Unaligned;

use super::source::WorkloadSource;
use crate::config::{self, ArrivalKind, Pattern};
use crate::error::WorkloadError;
use crate::request::IoRequest;
use crate::units::{Bytes, Time};
pub(crate) use pattern::{AddressPattern, Cursor, Sequential};
use pattern::{HotCold, HotStride, Normal, Pareto, Uniform, Zipf, Zoned};

/// The default number of requests of a synthetic workload or a profile.
pub const REQUESTS_DEFAULT: u64 = 100_000;

/// The default mean time between arrivals of a synthetic workload.
pub(crate) const INTERARRIVAL_DEFAULT: Time = Time::from_us(10);

/// A synthetic workload: `[workload] kind = "synthetic"`.
///
/// In open and stress replay, all threads share one stream. In closed replay, each thread has its own stream of random numbers, an even share of the
/// requests, and for the sequential pattern its own part of the footprint. In open replay, arrivals follow the arrival process and begin at zero;
/// otherwise all arrivals are zero.
///
/// ```
/// use flashmesh_workload::config::{Replay, Workload};
/// use flashmesh_workload::units::Bytes;
/// use flashmesh_workload::source::WorkloadSource;
/// use flashmesh_workload::synthetic::SyntheticSource;
///
/// let workload = Workload { requests: Some(2), ..Workload::default() };
/// let mut source =
///     SyntheticSource::new(&workload, &Replay::default(), Bytes::from_kib(1 << 20), Bytes::new(512), 1).unwrap();
/// assert_eq!(source.request_count(), Some(2));
/// assert_eq!(source.next_request(0).unwrap().unwrap().size, Bytes::from_kib(4));
/// assert!(source.next_request(0).unwrap().is_some());
/// assert!(source.next_request(0).unwrap().is_none());
/// ```
#[derive(Clone, Debug)]
pub struct SyntheticSource {
    streams: Streams,
}

impl SyntheticSource {
    /// Creates the workload described by `workload` for a drive of `capacity`, replayed as `replay` says.
    ///
    /// # Errors
    /// If a parameter is out of bounds, or the requests do not fit the footprint or the drive. The message begins with the key to
    /// change.
    pub fn new(
        workload: &config::Workload,
        replay: &config::Replay,
        capacity: Bytes,
        sector_size: Bytes,
        seed: u64,
    ) -> Result<SyntheticSource, WorkloadError> {
        let alignment = workload
            .alignment
            .or_else(|| sizes::smallest_of(&workload.request_size))
            .ok_or_else(|| unusable("workload.request-size", "no size has a weight"))?;
        let layout =
            FootprintLayout::new(workload.footprint_start, workload.footprint, alignment, capacity, sector_size)?;
        let sizes = SizeTable::new(&workload.request_size, &layout, sector_size)?;
        let addresses = addresses_of(workload, stream::streams_of(replay)?, layout.blocks(), &sizes)?;
        let kinds = KindMix::new(Shares {
            read: workload.read_share,
            deallocate: workload.deallocate_share,
            flush: workload.flush_share,
            write_zeroes: workload.write_zeroes_share,
        })?;
        let arrivals = Arrivals::new(
            workload.arrivals.unwrap_or(ArrivalKind::Exponential),
            workload.interarrival.unwrap_or(INTERARRIVAL_DEFAULT),
            workload.burst_length.unwrap_or(1),
            seed,
        )?;
        let recipe = RequestSpec { layout, kinds, sizes: sizes.into(), addresses, bursts: None, unaligned: None };
        let requests = workload.requests.unwrap_or(REQUESTS_DEFAULT);
        Ok(SyntheticSource { streams: Streams::new(recipe, arrivals, requests, replay, seed)? })
    }
}

impl WorkloadSource for SyntheticSource {
    fn next_request(&mut self, thread: u32) -> Result<Option<IoRequest>, WorkloadError> {
        self.streams.next_request(thread)
    }

    fn fill(&mut self, batch: &mut Vec<IoRequest>, count: usize) -> Result<(), WorkloadError> {
        self.streams.fill(batch, count)
    }

    fn request_count(&self) -> Option<u64> {
        Some(self.streams.request_count())
    }
}

/// Returns the address pattern of `workload` over `blocks` blocks. A sequential pattern is divided into `parts` parts. The error names the key to
/// change.
pub(crate) fn addresses_of(
    workload: &config::Workload,
    parts: u32,
    blocks: u64,
    sizes: &SizeTable,
) -> Result<AnyPattern, WorkloadError> {
    let (footprint, traffic) = (workload.hot_footprint, workload.hot_traffic);
    Ok(match workload.pattern {
        Pattern::Sequential => AnyPattern::Sequential(Sequential::new(parts, blocks, sizes)?),
        Pattern::Random => AnyPattern::Uniform(Uniform),
        Pattern::Zipf => AnyPattern::Zipf(Zipf::new(workload.zipf_theta, sizes)?),
        Pattern::HotCold => AnyPattern::HotCold(HotCold::new(footprint, traffic, blocks, sizes)?),
        Pattern::HotStride => AnyPattern::HotStride(HotStride::new(workload.hot_stride, traffic, sizes)?),
        Pattern::Zoned => AnyPattern::Zoned(Zoned::new(workload.zones.as_deref().unwrap_or_default(), sizes)?),
        Pattern::Pareto => AnyPattern::Pareto(Pareto::new(workload.pareto_share, sizes)?),
        Pattern::Normal => AnyPattern::Normal(Normal::new(workload.normal_deviation, sizes)?),
    })
}

/// Returns the error for an unusable value of `key`.
pub(crate) fn unusable(key: &str, message: impl std::fmt::Display) -> WorkloadError {
    WorkloadError::Unusable(format!("{key}: {message}"))
}
