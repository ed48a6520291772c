//! The scan of a trace before the run: its summary, and the check that enough of it is usable.

use rustc_hash::FxHashSet;

use super::fields::SECTOR_BYTES;
use super::footprint::Footprint;
use super::line_errors::{LineErrorKind, Tally};
use super::read_ahead::RequestsAhead;
use super::records::Framing;
use super::stream::{LineCounts, TraceStream};
use super::summary::TraceSummary;
use crate::config::{TraceAddressUnit, Workload};
use crate::error::WorkloadError;
use crate::request::{IoRequest, RequestKind};
use crate::units::{Bytes, Time, printable_path};

/// Scans the trace of `workload` once, up to `workload.requests`.
///
/// # Errors
/// - If the file cannot be read (see [`TraceStream::open`]).
/// - If no request is usable.
/// - If the share of rejected and out-of-order lines among the lines with requests or actions exceeds `workload.tolerate`. Out-of-order lines do not
///   count if the format merges several logs or `workload.sort` is set. The message names each reason with its first line, and the remedies.
pub fn scan(workload: &Workload, capacity: Bytes, sector_size: Bytes) -> Result<TraceSummary, WorkloadError> {
    scan_stream(TraceStream::open(workload, capacity, sector_size)?, workload.tolerate)
}

/// Scans an open stream from its start, like [`scan`]. `tolerate` is the accepted share of bad lines.
///
/// # Errors
/// Like [`scan`].
pub fn scan_stream(stream: TraceStream, tolerate: f64) -> Result<TraceSummary, WorkloadError> {
    scan_each(stream, tolerate, |_| Ok(()))
}

/// Scans a stream like [`scan_stream`], and calls `each` for every request. An error of `each` ends the scan.
///
/// # Errors
/// Like [`scan`], and any error of `each`. Too many bad lines are only reported at the end.
pub fn scan_each<E: From<WorkloadError>>(
    stream: TraceStream,
    tolerate: f64,
    mut each: impl FnMut(&IoRequest) -> Result<(), E>,
) -> Result<TraceSummary, E> {
    let mut sums = Sums::default();
    let mut requests = RequestsAhead::new(stream);
    while let Some(request) = requests.next()? {
        sums.add(&request);
        each(&request)?;
    }
    let stream = requests.stream().expect("a stream that was read to its end is given back");
    judge(stream, tolerate)?;
    Ok(sums.summary(stream))
}

/// The sums over all requests of a trace, for its summary.
#[derive(Default)]
struct Sums {
    counts: [u64; RequestKind::ALL.len()],
    bytes: [u64; RequestKind::ALL.len()],
    last_arrival: Time,
    ties: Ties,
    alignment: Alignment,
    address_end: u64,
    footprint: Footprint,
    devices: Devices,
}

impl Sums {
    fn add(&mut self, request: &IoRequest) {
        let kind = request.kind.index();
        self.counts[kind] += 1;
        // Billions of requests of a gigabyte would overflow: the sum then saturates, and the scan continues.
        self.bytes[kind] = self.bytes[kind].saturating_add(request.size.as_u64());
        self.ties.add(request.arrival);
        self.alignment.add(request);
        self.last_arrival = request.arrival;
        self.address_end = self.address_end.max(request.offset.as_u64().saturating_add(request.size.as_u64()));
        self.devices.add(request.stream);
        if request.kind.moves_data() {
            self.footprint.touch(request.offset, request.size);
        }
    }

    /// Returns the number of requests of `kind`, and their bytes.
    fn of(&self, kind: RequestKind) -> (u64, u64) {
        (self.counts[kind.index()], self.bytes[kind.index()])
    }

    fn summary(&self, stream: &TraceStream) -> TraceSummary {
        let requests: u64 = self.counts.iter().sum();
        let ratio = |part: u64, whole: u64| if whole == 0 { 0.0 } else { part as f64 / whole as f64 };
        let lines = stream.line_counts();
        TraceSummary {
            file: stream.path().display().to_string(),
            format: stream.format().name,
            format_title: stream.format().title,
            compression: stream.compression(),
            lines: lines.lines,
            requests,
            reads: self.of(RequestKind::Read).0,
            writes: self.of(RequestKind::Write).0,
            deallocates: self.of(RequestKind::Deallocate).0,
            flushes: self.of(RequestKind::Flush).0,
            read_share: ratio(self.of(RequestKind::Read).0, requests),
            write_share: ratio(self.of(RequestKind::Write).0, requests),
            deallocate_share: ratio(self.of(RequestKind::Deallocate).0, requests),
            span_ps: self.last_arrival.as_ps(),
            interarrival_mean_ps: ratio(self.last_arrival.as_ps(), requests.saturating_sub(1)),
            read_bytes: self.of(RequestKind::Read).1,
            write_bytes: self.of(RequestKind::Write).1,
            deallocate_bytes: self.of(RequestKind::Deallocate).1,
            read_size_mean_bytes: ratio(self.of(RequestKind::Read).1, self.of(RequestKind::Read).0),
            write_size_mean_bytes: ratio(self.of(RequestKind::Write).1, self.of(RequestKind::Write).0),
            footprint_bytes: self.footprint.bytes().as_u64(),
            address_end_bytes: self.address_end,
            devices: self.devices.count(),
            time_unit: stream.time_unit().map(|unit| unit.name().to_owned()),
            tied: self.ties.requests,
            tied_max: self.ties.most,
            may_be_bytes: stream.address_unit() == Some(TraceAddressUnit::Sectors) && self.alignment.is_of_bytes(),
            wrapped: stream.wrapped(),
            reordered: stream.reordered().cloned(),
            rejected: stream.rejected().iter().map(|(_, tally)| tally.clone()).collect(),
            ignored: stream.ignored(),
            skipped: lines.skipped,
        }
    }
}

/// The counts of tied requests, which share their time stamp with another request. Requests are added in the order of arrival.
#[derive(Default)]
struct Ties {
    stamp: Option<Time>,
    /// The number of requests so far with the time stamp `stamp`.
    run: u64,
    /// The number of requests that share their time stamp.
    requests: u64,
    /// The largest number of requests with one time stamp.
    most: u64,
}

impl Ties {
    fn add(&mut self, arrival: Time) {
        if self.stamp == Some(arrival) {
            self.run += 1;
            // The second request with a time stamp also makes the first one tied.
            self.requests += if self.run == 2 { 2 } else { 1 };
        } else {
            self.stamp = Some(arrival);
            self.run = 1;
        }
        self.most = self.most.max(self.run);
    }
}

/// Counts from which to detect offsets and sizes in bytes that were parsed as sectors. Signs are that all values, taken as bytes, are multiples of a
/// sector, or that the sizes are implausibly large.
#[derive(Default)]
struct Alignment {
    requests: u64,
    bytes: u64,
    /// The requests whose offset and size, counted in sectors, are multiples of 512, and so would be whole sectors as bytes.
    whole: u64,
}

impl Alignment {
    /// The mean size, in bytes, that is too large to be plausible.
    const MEAN_MAX: u64 = 4 << 20;
    /// The minimum number of requests from which values can be detected as bytes.
    const REQUESTS_MIN: u64 = 3;

    fn add(&mut self, request: &IoRequest) {
        let (offset, size) = (request.offset.as_u64(), request.size.as_u64());
        self.requests += 1;
        self.bytes = self.bytes.saturating_add(size);
        self.whole += u64::from((offset | size).is_multiple_of(SECTOR_BYTES * SECTOR_BYTES));
    }

    fn is_of_bytes(&self) -> bool {
        self.requests >= Self::REQUESTS_MIN
            && (self.whole == self.requests || self.bytes / self.requests >= Self::MEAN_MAX)
    }
}

/// The devices seen, up to [`TraceSummary::DEVICES_MAX`].
#[derive(Default)]
struct Devices {
    last: Option<u32>,
    seen: FxHashSet<u32>,
}

impl Devices {
    fn add(&mut self, device: u32) {
        if self.last != Some(device) {
            self.last = Some(device);
            if (self.seen.len() as u64) < TraceSummary::DEVICES_MAX {
                self.seen.insert(device);
            }
        }
    }

    fn count(&self) -> u64 {
        self.seen.len() as u64
    }
}

/// Returns an error if no line of the trace is usable, or the share of bad lines exceeds `tolerate`.
fn judge(stream: &TraceStream, tolerate: f64) -> Result<(), WorkloadError> {
    let counts = stream.line_counts();
    let reordered = stream.reordered().filter(|_| !stream.may_be_unsorted());
    let bad = counts.rejected + reordered.map_or(0, |tally| tally.lines);
    let judged = counts.lines - counts.skipped;
    // The quotient is correctly rounded, so that 29 of 2900 lines are exactly 0.01.
    let is_tolerated = bad as f64 / judged.max(1) as f64 <= tolerate;
    if counts.usable > 0 && is_tolerated {
        return Ok(());
    }
    let mut reasons: Vec<(LineErrorKind, &Tally)> =
        stream.rejected().iter().map(|(reason, tally)| (*reason, tally)).collect();
    reasons.extend(reordered.map(|tally| (LineErrorKind::OutOfOrder, tally)));
    reasons.sort_by_key(|(_, tally)| tally.first_line);
    let mut message = refusal(&reasons, &counts, bad, judged, tolerate, stream);
    let mut place = reasons.first().map_or((0, 0), |(_, tally)| (tally.first_line, tally.first_column));
    // Lines and columns mean nothing in a binary file.
    let framing = stream.format().framing;
    if framing != Framing::Lines && place != (0, 0) {
        message = format!("{}: {message}", framing.place(place.0, place.1));
        place = (0, 0);
    }
    Err(WorkloadError::Parse { path: stream.path().to_owned(), line: place.0, column: place.1, message })
}

fn refusal(
    reasons: &[(LineErrorKind, &Tally)],
    counts: &LineCounts,
    bad: u64,
    judged: u64,
    tolerate: f64,
    stream: &TraceStream,
) -> String {
    use std::fmt::Write;

    let mut message = String::new();
    let framing = stream.format().framing;
    if counts.usable == 0 {
        let (line, title) = (framing.noun(1), stream.format().title);
        let _ = write!(message, "no {line} of {} can be used as a request (read as {title})", counts.lines);
    } else {
        let share = bad as f64 * 100.0 / judged as f64;
        let limit = tolerate * 100.0;
        let _ = write!(
            message,
            "{bad} of {judged} {} ({share:.2} %) cannot be used as they are, more than the {limit} % that is let pass \
             (read as {})",
            framing.noun(judged),
            stream.format().title
        );
    }
    let mut remedies: Vec<&str> = Vec::new();
    if reasons.is_empty() {
        remedies.extend(stream.format().remedy);
    }
    for (reason, tally) in reasons {
        let _ = write!(
            message,
            "\n  {} {} {}, first {}: {}",
            tally.lines,
            framing.noun(tally.lines),
            reason.text(),
            match framing {
                Framing::Lines =>
                    format!("{}:{}:{}", printable_path(stream.path()), tally.first_line, tally.first_column),
                Framing::Fixed(_) => framing.place(tally.first_line, tally.first_column),
            },
            tally.message
        );
        if !remedies.contains(&reason.remedy()) {
            remedies.push(reason.remedy());
        }
    }
    let is_too_far = |reason: &LineErrorKind| matches!(reason, LineErrorKind::BeyondDrive | LineErrorKind::TooLarge);
    if stream.address_unit() == Some(TraceAddressUnit::Sectors) && reasons.iter().any(|(reason, _)| is_too_far(reason))
    {
        remedies.push("set workload.address-unit = \"bytes\" if offsets and sizes are bytes");
    }
    for remedy in remedies {
        let _ = write!(message, "\n  help: {remedy}");
    }
    if counts.usable > 0 {
        message
            .push_str("\n  help: run with what can be used by --tolerate, or set workload.tolerate to a higher share");
    }
    message
}
