//! Requests like those of a published workload.

use super::{Assumed, Profile, sizes};
use crate::config::{self, ArrivalKind};
use crate::error::WorkloadError;
use crate::units::Bytes;
use crate::workload::IoRequest;
use crate::workload::source::WorkloadSource;
use crate::workload::synthetic::{
    Addresses, Arrivals, KindMix, Layout, REQUESTS_DEFAULT, Recipe, Runs, SizeTable, Streams,
};

/// The requests of a [`Profile`]: `[workload] profile = "NAME"`.
///
/// Streams, threads and arrivals are those of [`SyntheticSource`](crate::workload::synthetic::SyntheticSource). Of
/// `[workload]` it takes `requests`, `footprint-start` and `footprint` (both in place of what the profile assumes);
/// everything else is the profile's.
#[derive(Clone, Debug)]
pub struct ProfileSource {
    streams: Streams,
}

impl ProfileSource {
    /// The workload of `profile`, on a drive of `capacity`, for `replay`.
    ///
    /// # Errors
    /// When the footprint does not fit the drive, or replay has no threads; the message begins with the name of the
    /// profile and the key to change.
    pub fn new(
        profile: &Profile,
        workload: &config::Workload,
        replay: &config::Replay,
        capacity: Bytes,
        sector_size: Bytes,
        seed: u64,
    ) -> Result<ProfileSource, WorkloadError> {
        build(profile, workload, replay, capacity, sector_size, seed)
            .map(|streams| ProfileSource { streams })
            .map_err(|error| WorkloadError::Unusable(format!("profile \"{}\": {error}", profile.name)))
    }
}

fn build(
    profile: &Profile,
    workload: &config::Workload,
    replay: &config::Replay,
    capacity: Bytes,
    sector_size: Bytes,
    seed: u64,
) -> Result<Streams, WorkloadError> {
    let assumed = &profile.assumed;
    let footprint = workload.footprint.unwrap_or(assumed.footprint);
    let layout = Layout::new(workload.footprint_start, Some(footprint), assumed.granule, capacity, sector_size)?;
    let weighted =
        sizes::geometric(profile.mean_request_bytes(), assumed.granule, assumed.size_max).ok_or_else(|| {
            let Assumed { granule, size_max, .. } = assumed;
            let mean = profile.published.mean_request_kb;
            WorkloadError::Unusable(format!("no sizes from {granule} to {size_max} have a mean of {mean} kB"))
        })?;
    let sizes = SizeTable::new(&weighted, &layout, sector_size)?;
    let addresses = Addresses::Runs(Runs::new(assumed.zipf_theta, assumed.run_requests, &sizes)?);
    let kinds = KindMix::new(profile.read_share(), 0.0)?;
    let interarrival = profile.published.mean_interarrival;
    let arrivals = Arrivals::new(ArrivalKind::Burst, interarrival, assumed.burst_requests, seed)?;
    let requests = workload.requests.unwrap_or(REQUESTS_DEFAULT);
    Streams::new(Recipe { layout, kinds, sizes: sizes.into(), addresses }, arrivals, requests, replay, seed)
}

impl WorkloadSource for ProfileSource {
    #[inline]
    fn next_request(&mut self, thread: u32) -> Result<Option<IoRequest>, WorkloadError> {
        self.streams.next_request(thread)
    }

    fn request_count(&self) -> Option<u64> {
        Some(self.streams.request_count())
    }
}
