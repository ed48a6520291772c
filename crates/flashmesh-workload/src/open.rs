//! Opens the workload source that a configuration describes.

use std::fmt;
use std::path::Path;

use super::fitted::{FittedProfile, FittedSource};
use super::job::JobSource;
use super::profiles::{self, MixSource, NamedWorkload, ProfileSource};
use super::readers::{TraceSource, TraceStream, TraceSummary, scan_stream, time_unit};
use super::source::WorkloadSource;
use super::synthetic::SyntheticSource;
use crate::config::{Beyond, Replay, ReplayMode, Workload, WorkloadKind};
use crate::error::WorkloadError;
use crate::request::IoRequest;
use crate::units::{Bytes, Time};
use crate::{quantities, tagged};

tagged! {
    /// The kind of a workload, with the facts known before the run.
    WorkloadSummary by "kind" {
        /// A synthetic pattern, described by the configuration.
        Synthetic = "synthetic",
        /// A named profile or mix.
        Profile(ProfileSummary) = "profile",
        /// A trace file.
        Trace(Box<TraceSummary>) = "trace",
        /// A profile fitted to a trace.
        Fitted(FittedSummary) = "fitted",
    }
}

quantities! {
    /// The summary of a named profile or mix.
    ProfileSummary {
        /// Name of the profile.
        name: String;
        /// The published facts and the assumptions behind the profile.
        description: String;
    }
}

quantities! {
    /// The summary of a profile fitted to a trace.
    FittedSummary {
        /// Path of the profile file.
        file: String;
        /// Requests of the trace to which the profile was fitted.
        original_requests: u64, in "requests";
    }
}

impl fmt::Display for WorkloadSummary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            WorkloadSummary::Synthetic => f.write_str("synthetic workload"),
            WorkloadSummary::Profile(profile) => f.write_str(&profile.description),
            WorkloadSummary::Trace(summary) => summary.fmt(f),
            WorkloadSummary::Fitted(FittedSummary { file, original_requests }) => {
                write!(f, "{file}: profile fitted to a trace of {original_requests} requests")
            }
        }
    }
}

/// A source whose arrivals are all delayed by `start`.
struct DelayedSource {
    source: Box<dyn WorkloadSource>,
    start: Time,
}

impl WorkloadSource for DelayedSource {
    fn next_request(&mut self, thread: u32) -> Result<Option<IoRequest>, WorkloadError> {
        let request = self.source.next_request(thread)?;
        let Some(mut request) = request else { return Ok(None) };
        let arrival_ps = request.arrival.as_ps().checked_add(self.start.as_ps()).ok_or_else(|| {
            WorkloadError::Unusable("replay.start-time: the arrivals reach beyond the end of time".to_owned())
        })?;
        request.arrival = Time::from_ps(arrival_ps);
        Ok(Some(request))
    }

    fn request_count(&self) -> Option<u64> {
        self.source.request_count()
    }
}

/// Opens a workload for a namespace of `capacity`. All random draws follow from `seed`. A trace is read once to its end for its
/// summary.
///
/// # Errors
/// If the workload cannot be read, or cannot be used in a namespace of that size.
pub fn open(
    workload: &Workload,
    replay: &Replay,
    seed: u64,
    capacity: Bytes,
    sector_size: Bytes,
) -> Result<(Box<dyn WorkloadSource>, WorkloadSummary), WorkloadError> {
    let (source, summary) = open_at_once(workload, replay, seed, capacity, sector_size)?;
    let start = replay.start_time;
    if replay.mode != ReplayMode::Open || start == Time::ZERO {
        return Ok((source, summary));
    }
    Ok((Box::new(DelayedSource { source, start }), summary))
}

/// Opens a workload like [`open`], but ignores `start-time`.
fn open_at_once(
    workload: &Workload,
    replay: &Replay,
    seed: u64,
    capacity: Bytes,
    sector_size: Bytes,
) -> Result<(Box<dyn WorkloadSource>, WorkloadSummary), WorkloadError> {
    match workload.kind {
        WorkloadKind::Synthetic => {
            let source = SyntheticSource::new(workload, replay, capacity, sector_size, seed)?;
            Ok((Box::new(source), WorkloadSummary::Synthetic))
        }
        WorkloadKind::Job => {
            let source = JobSource::new(workload, replay, capacity, sector_size, seed)?;
            Ok((Box::new(source), WorkloadSummary::Synthetic))
        }
        WorkloadKind::Profile => {
            let name = workload.profile.as_deref().unwrap_or_default();
            let named = profiles::find(name)?;
            let mut description = named.describe();
            description.push_str(&profiles::settings(workload));
            let summary = ProfileSummary { name: named.name().to_owned(), description };
            let source: Box<dyn WorkloadSource> = match named {
                NamedWorkload::Profile(profile) => {
                    Box::new(ProfileSource::new(profile, workload, replay, capacity, sector_size, seed)?)
                }
                NamedWorkload::Mix(mix) => {
                    Box::new(MixSource::new(&mix, workload, replay, capacity, sector_size, seed)?)
                }
            };
            Ok((source, WorkloadSummary::Profile(summary)))
        }
        WorkloadKind::Fitted => {
            let file = workload.fitted.as_deref().unwrap_or(Path::new(""));
            let model = FittedProfile::from_file(file)?;
            let source = FittedSource::new(
                &model,
                workload.requests,
                capacity,
                sector_size,
                workload.beyond == Beyond::Wrap,
                seed,
            )?;
            let (file, original_requests) = (file.display().to_string(), model.requests);
            Ok((Box::new(source), WorkloadSummary::Fitted(FittedSummary { file, original_requests })))
        }
        WorkloadKind::Trace => {
            let stream = TraceStream::open(workload, capacity, sector_size)?;
            let counted = stream.identity();
            let summary = scan_stream(stream, workload.tolerate)?;
            if replay.mode == ReplayMode::Open {
                time_unit::require_time_unit(&summary, workload)?;
            }
            let source = TraceSource::open(workload, capacity, sector_size)?;
            let source = source.with_summary(&summary).expecting_file(counted);
            let source = source.with_spread_ties(replay.mode == ReplayMode::Open && replay.spread_ties);
            Ok((Box::new(source), WorkloadSummary::Trace(Box::new(summary))))
        }
    }
}
