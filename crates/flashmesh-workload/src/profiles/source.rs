//! The workload source of a profile.

use super::sizes::{SizeDistributions, distribution};
use super::{Assumed, Profile, Repetition};
use crate::config::{self, ArrivalKind, BurstKinds};
use crate::error::WorkloadError;
use crate::request::IoRequest;
use crate::source::WorkloadSource;
use crate::synthetic::{
    AnyPattern, Arrivals, Bursts, FootprintLayout, KindMix, Recurrence, RequestSpec, Runs, Seed, Shares, SizeTable,
    SizesByKind, Streams, Unaligned,
};
use crate::units::{Bytes, Time};

/// The workload source of a [`Profile`]: `[workload] profile = "NAME"`.
///
/// Streams, threads and arrivals work as in [`SyntheticSource`](crate::synthetic::SyntheticSource). Only these keys of `[workload]` override the
/// profile: `requests`, `footprint-start`, `footprint`, `alignment`, `unaligned-share`, `arrivals`, `burst-length`, `interarrival`, `pair-repetition`
/// and `burst-kinds`.
#[derive(Clone, Debug)]
pub struct ProfileSource {
    streams: Streams,
}

/// The settings of a run of one profile: the profile's own, overridden by the keys of the configuration.
pub(super) struct RunSettings<'config> {
    /// The configuration. Its remaining keys (alignment, arrivals, bursts) override the profile.
    pub(super) workload: &'config config::Workload,
    pub(super) footprint_start: Bytes,
    pub(super) footprint: Bytes,
    pub(super) mean_interarrival: Time,
    pub(super) requests: u64,
    pub(super) replay: &'config config::Replay,
    pub(super) capacity: Bytes,
    pub(super) sector_size: Bytes,
    pub(super) seed: Seed,
}

impl ProfileSource {
    /// Creates the workload of `profile` for a drive of `capacity`, replayed as `replay` says.
    ///
    /// # Errors
    /// If the footprint does not fit the drive, or closed replay has no threads. The message begins with the name of the profile and the key to
    /// change.
    pub fn new(
        profile: &Profile,
        workload: &config::Workload,
        replay: &config::Replay,
        capacity: Bytes,
        sector_size: Bytes,
        seed: u64,
    ) -> Result<ProfileSource, WorkloadError> {
        let setting = RunSettings {
            workload,
            footprint_start: workload.footprint_start,
            footprint: workload.footprint.unwrap_or(profile.assumptions.footprint),
            mean_interarrival: workload.interarrival.unwrap_or(profile.mean_interarrival.value),
            requests: workload.requests.unwrap_or_else(|| profile.requests_default()),
            replay,
            capacity,
            sector_size,
            seed: seed.into(),
        };
        ProfileSource::build(profile, setting)
    }

    /// Creates the source like [`ProfileSource::new`], but with all settings of the run given.
    pub(super) fn build(profile: &Profile, setting: RunSettings<'_>) -> Result<ProfileSource, WorkloadError> {
        streams_of(profile, setting)
            .map(|streams| ProfileSource { streams })
            .map_err(|error| WorkloadError::Unusable(format!("profile \"{}\": {error}", profile.name)))
    }
}

fn streams_of(profile: &Profile, setting: RunSettings<'_>) -> Result<Streams, WorkloadError> {
    let RunSettings { workload, footprint_start, footprint, requests, replay, capacity, sector_size, seed, .. } =
        setting;
    let assumed = &profile.assumptions;
    let alignment = workload.alignment.unwrap_or(assumed.alignment);
    let layout = FootprintLayout::new(footprint_start, Some(footprint), alignment, capacity, sector_size)?;
    let table = |weighted| SizeTable::new(weighted, &layout, sector_size);
    let sizes = match distribution(&profile.sizes.value, assumed) {
        Some(SizeDistributions::All(sizes)) => table(&sizes)?.into(),
        Some(SizeDistributions::Kinds { reads, writes }) => SizesByKind::new(table(&reads)?, table(&writes)?),
        None => {
            let (Assumed { granule, size_max, .. }, figures) = (assumed, &profile.sizes.value);
            return Err(WorkloadError::Unusable(format!("no sizes from {granule} to {size_max} are {figures}")));
        }
    };
    let addresses = AnyPattern::Runs(Runs::new(assumed.zipf_theta, assumed.run_requests, sizes.with_smallest())?);
    let kinds = KindMix::new(Shares { read: profile.read_share(), ..Shares::default() })?;
    let burst_length = workload.burst_length.unwrap_or(assumed.burst_requests);
    let arrivals =
        Arrivals::new(workload.arrivals.unwrap_or(ArrivalKind::Burst), setting.mean_interarrival, burst_length, seed)?;
    let recurs = |own: Repetition| Recurrence::new(own.bursts_mean(), own.skew);
    let recurrence = profile.repetition(workload).map(recurs).transpose()?;
    // The published recurrence (reuse of addresses) was derived with the burst length that the profile assumes, so `burst-length` changes only
    // arrivals. It also changes addresses if the configuration sets the recurrence itself, or asks for bursts of one kind.
    let mut length = assumed.burst_requests;
    for (key, is_set) in [
        ("workload.pair-repetition", workload.pair_repetition.is_some_and(|mean| mean > 1.0)),
        ("workload.burst-kinds", workload.burst_kinds == BurstKinds::Alike),
    ] {
        if is_set {
            length = burst_length;
        }
        if is_set && length < 2 {
            let message =
                format!("{key}: needs bursts, and these requests come one at a time: set workload.burst-length");
            return Err(WorkloadError::Unusable(message));
        }
    }
    let bursts = Bursts::new(length, recurrence, workload.burst_kinds);
    let unaligned = Unaligned::new(workload.unaligned_share, &layout, sector_size);
    Streams::new(RequestSpec { layout, kinds, sizes, addresses, bursts, unaligned }, arrivals, requests, replay, seed)
}

impl WorkloadSource for ProfileSource {
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
