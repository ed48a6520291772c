//! The workload source of a mix.

use super::source::RunSettings;
use super::{Mix, ProfileSource};
use crate::config::{self, MixPlacement, ReplayMode};
use crate::error::WorkloadError;
use crate::request::IoRequest;
use crate::source::WorkloadSource;
use crate::synthetic::{FootprintLayout, REQUESTS_DEFAULT, Seed};
use crate::units::{Bytes, Time};

/// The workload source of a [`Mix`]: `[workload] profile = "mix1"`.
///
/// Every member has its own stream (numbered from 0 in [`IoRequest::stream`]), its own random draws, and its own part of the drive. The parts follow
/// one another from `footprint-start`. By default, each part has the footprint that the profile assumes; with `footprint`, all parts are scaled to
/// that total. With `mix-placement = "shared"`, all parts begin at `footprint-start` and overlap; each has the footprint that its profile assumes, or
/// `footprint`. `interarrival` overrides the rate of the mix; `arrivals` and `alignment` override the arrival process and the alignment of every
/// member.
///
/// All members start at time zero. In open and stress replay, one common stream contains the requests of all members in the order of arrival, and
/// `requests` counts all of them; stress replay keeps the order but ignores the times. In closed replay, the threads are dealt to the members in
/// turn, so the threads of a member bound its outstanding requests.
#[derive(Clone, Debug)]
pub struct MixSource {
    members: Vec<MemberSource>,
    mode: ReplayMode,
    /// The remaining requests of the common stream.
    left: u64,
    requests: u64,
}

#[derive(Clone, Debug)]
struct MemberSource {
    source: ProfileSource,
    /// The next request of the member; `None` until it is drawn.
    next: Option<IoRequest>,
}

impl MixSource {
    /// Creates the workload of `mix` for a drive of `capacity`, replayed as `replay` says.
    ///
    /// # Errors
    /// If the address ranges of the members do not fit the drive, or closed replay has fewer threads than the mix has members. The message begins
    /// with the name of the mix and the key to change.
    pub fn new(
        mix: &Mix,
        workload: &config::Workload,
        replay: &config::Replay,
        capacity: Bytes,
        sector_size: Bytes,
        seed: u64,
    ) -> Result<MixSource, WorkloadError> {
        build(mix, workload, replay, capacity, sector_size, seed)
            .map_err(|error| WorkloadError::Unusable(format!("profile \"{}\": {error}", mix.name)))
    }
}

fn build(
    mix: &Mix,
    workload: &config::Workload,
    replay: &config::Replay,
    capacity: Bytes,
    sector_size: Bytes,
    seed: u64,
) -> Result<MixSource, WorkloadError> {
    let requests = workload.requests.unwrap_or(REQUESTS_DEFAULT);
    let mix = &Mix { mean_interarrival: workload.interarrival.unwrap_or(mix.mean_interarrival), ..mix.clone() };
    if mix.mean_interarrival == Time::ZERO {
        return Err(WorkloadError::Unusable(
            "workload.interarrival: 0s leaves no order to the requests of a mix; take 1ps".to_owned(),
        ));
    }
    let footprints = footprints(mix, workload, capacity, sector_size)?;
    let count = mix.members.len() as u32;
    if replay.mode == ReplayMode::Closed && replay.threads < count {
        return Err(WorkloadError::Unusable(format!(
            "replay.threads: {} in closed replay; a mix of {count} needs one for each member at least",
            replay.threads
        )));
    }
    let mut members = Vec::new();
    let mut footprint_start = workload.footprint_start;
    for (index, (member, footprint)) in (0..).zip(mix.members.iter().zip(footprints)) {
        let (replay, requests) = match replay.mode {
            ReplayMode::Closed => {
                let threads = round_robin_share(replay.threads.into(), count.into(), index.into()) as u32;
                let own = (0..threads).map(|thread| index + thread * count);
                let share = own.map(|thread| round_robin_share(requests, replay.threads.into(), thread.into())).sum();
                (config::Replay { threads, ..replay.clone() }, share)
            }
            // The order of arrivals determines which member provides a request, so a single member may have to provide all requests.
            ReplayMode::Open | ReplayMode::Stress => {
                (config::Replay { mode: ReplayMode::Open, ..replay.clone() }, requests)
            }
        };
        let setting = RunSettings {
            workload,
            footprint_start,
            footprint,
            mean_interarrival: mix.interarrival_of(member),
            requests,
            replay: &replay,
            capacity,
            sector_size,
            seed: Seed::of_member(seed, index),
        };
        members.push(MemberSource { source: ProfileSource::build(member.profile, setting)?, next: None });
        if workload.mix_placement == MixPlacement::Apart {
            footprint_start += footprint;
        }
    }
    Ok(MixSource { members, mode: replay.mode, left: requests, requests })
}

/// Returns the number of items that `place` receives if `count` items are dealt round-robin to `places` places.
fn round_robin_share(count: u64, places: u64, place: u64) -> u64 {
    count / places + u64::from(place < count % places)
}

/// Returns the length of each member's part of the drive, in the order of the members. With `mix-placement = "shared"`, these parts overlap. An error
/// if the parts do not fit the drive.
fn footprints(
    mix: &Mix,
    workload: &config::Workload,
    capacity: Bytes,
    sector_size: Bytes,
) -> Result<Vec<Bytes>, WorkloadError> {
    let alignments = mix.members.iter().map(|member| member.profile.assumptions.alignment);
    let alignment = workload.alignment.or(alignments.max()).unwrap_or(sector_size);
    let assumed: Vec<Bytes> = mix.members.iter().map(|member| member.profile.assumptions.footprint).collect();
    let is_shared = workload.mix_placement == MixPlacement::Shared;
    let assumed_total =
        if is_shared { assumed.iter().copied().max().unwrap_or_default() } else { assumed.iter().copied().sum() };
    let total = workload.footprint.unwrap_or(assumed_total);
    // The total is checked first, so that an error names the total and not a part.
    FootprintLayout::new(workload.footprint_start, Some(total), alignment, capacity, sector_size)?;
    let part = |own: Bytes| {
        if is_shared {
            return workload.footprint.unwrap_or(own);
        }
        let exact = u128::from(total.as_u64()) * u128::from(own.as_u64()) / u128::from(assumed_total.as_u64());
        let units = exact as u64 / alignment.as_u64();
        alignment * units
    };
    Ok(assumed.into_iter().map(part).collect())
}

impl WorkloadSource for MixSource {
    fn next_request(&mut self, thread: u32) -> Result<Option<IoRequest>, WorkloadError> {
        if self.mode == ReplayMode::Closed {
            let count = self.members.len() as u32;
            let (member, own_thread) = (thread % count, thread / count);
            let request = self.members[member as usize].source.next_request(own_thread)?;
            return Ok(request.map(|request| IoRequest { stream: member, ..request }));
        }
        if self.left == 0 {
            return Ok(None);
        }
        let mut first: Option<(usize, IoRequest)> = None;
        for (index, member) in self.members.iter_mut().enumerate() {
            if member.next.is_none() {
                member.next = member.source.next_request(0)?;
            }
            if let Some(next) = member.next
                && first.is_none_or(|(_, first)| next.arrival < first.arrival)
            {
                first = Some((index, next));
            }
        }
        let Some((index, request)) = first else { return Ok(None) };
        self.members[index].next = None;
        self.left -= 1;
        let arrival = if self.mode == ReplayMode::Open { request.arrival } else { Time::ZERO };
        Ok(Some(IoRequest { arrival, stream: index as u32, ..request }))
    }

    fn request_count(&self) -> Option<u64> {
        Some(self.requests)
    }
}
