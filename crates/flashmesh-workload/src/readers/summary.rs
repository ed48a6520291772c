//! The summary of a trace before its run.

use std::fmt;

use super::{Compression, FORMATS, Framing, Tally};
use crate::config::TraceFormat;
use crate::quantities;
use crate::units::Time;

quantities! {
    /// The contents of a trace; all figures are exact for the requests that will run. Every line read has one outcome: `lines =
    /// requests + rejected + ignored + skipped`, except that a trace cut by `workload.requests` was read a little further than its
    /// last request.
    TraceSummary as "TraceContents" {
        /// Path of the trace file.
        file: String;
        /// Format of the trace (`workload.format`).
        format: &'static str as TraceFormat;
        /// Title of the format.
        format_title: &'static str;
        /// Compression of the file.
        compression: Compression;
        /// Lines read. In a binary trace, lines are records, here and below.
        lines: u64, in "lines";
        /// Requests that will run.
        requests: u64, in "requests";
        /// Requests that read.
        reads: u64, in "requests";
        /// Requests that write.
        writes: u64, in "requests";
        /// Requests that deallocate.
        deallocates: u64, in "requests";
        /// Requests that flush (`workload.flushes`).
        flushes: u64, in "requests";
        /// Share of the requests that read.
        read_share: f64, in "share";
        /// Share of the requests that write.
        write_share: f64, in "share";
        /// Share of the requests that deallocate.
        deallocate_share: f64, in "share";
        /// Time from the first arrival to the last.
        span_ps: u64, in "ps";
        /// Mean time between arrivals; 0 with a single request.
        interarrival_mean_ps: f64, in "ps";
        /// Bytes read.
        read_bytes: u64, in "B";
        /// Bytes written.
        write_bytes: u64, in "B";
        /// Bytes deallocated.
        deallocate_bytes: u64, in "B";
        /// Mean size of a read; 0 without reads.
        read_size_mean_bytes: f64, in "B";
        /// Mean size of a write; 0 without writes.
        write_size_mean_bytes: f64, in "B";
        /// Distinct pages of 4 KiB read or written.
        footprint_bytes: u64, in "B";
        /// Largest end of a request: one more than the highest byte address.
        address_end_bytes: u64, in "B";
        /// Devices that the trace names, counted up to 65,536; they share one address space.
        devices: u64, in "devices";
        /// Unit of the time stamps (`workload.time-unit`).
        time_unit: Option<String>, null "where the format fixes it";
        /// Requests that share their time stamp with another request.
        tied: u64, in "requests";
        /// Maximum number of requests with the same time stamp.
        tied_max: u64, in "requests";
        /// Whether offsets and sizes that were read as sectors are more likely bytes (`workload.address-unit`).
        may_be_bytes: bool;
        /// Requests whose address was wrapped to the drive (`workload.beyond`).
        wrapped: u64, in "requests";
        /// Requests that were out of order and were sorted.
        reordered: Option<Tally>, null "when none was";
        /// Lines that cannot be used, by reason.
        rejected: Vec<Tally>;
        /// Lines with an action without work for the drive (such as flushes, unless `workload.flushes`) or with unknown work, by action.
        ignored: Vec<Tally>;
        /// Lines without requests: blank lines, comments, headers and bookkeeping.
        skipped: u64, in "lines";
    }
}

/// The minimum share of tied requests (requests with the time stamp of another one) at which the summary has a remark.
const TIED_SHARE_MIN: f64 = 0.1;

impl TraceSummary {
    /// The maximum number of devices counted.
    pub const DEVICES_MAX: u64 = 65_536;

    /// Returns the number of rejected lines: lines that cannot be used.
    pub fn rejected_lines(&self) -> u64 {
        self.rejected.iter().map(|tally| tally.lines).sum()
    }

    /// Returns remarks, a sentence each: on rejected, sorted and ignored lines, with the position of the first such line, and on equal time
    /// stamps and offsets that may be misread.
    pub fn remarks(&self) -> Vec<String> {
        let framing = self.framing();
        let counted = |tally: &Tally| format!("{} {}", tally.lines, framing.noun(tally.lines));
        let place = |tally: &Tally| framing.place(tally.first_line, tally.first_column);
        let rejected = (self.rejected.iter())
            .map(|tally| format!("{} rejected ({}), first at {}.", counted(tally), tally.reason, place(tally)));
        let reordered =
            self.reordered.iter().map(|tally| format!("{} sorted in, first at {}.", counted(tally), place(tally)));
        let ignored = self.ignored.iter().map(|tally| {
            let lines = framing.noun(tally.lines);
            format!("{} {} {lines} ignored, first at {}.", tally.lines, tally.reason, place(tally))
        });
        let tied = self.has_many_ties().then(|| {
            let (tied, all, most) = (self.tied, self.requests, self.tied_max);
            format!("{tied} of {all} requests share a time stamp, up to {most} the same one; replay.spread-ties spreads them.")
        });
        let bytes = self.may_be_bytes.then(|| {
            "Offsets and sizes can hardly be sectors: set workload.address-unit = \"bytes\" if they are bytes."
                .to_owned()
        });
        rejected.chain(reordered).chain(ignored).chain(tied).chain(bytes).collect()
    }

    /// Returns whether the share of tied requests shows a coarse clock.
    ///
    /// False for a trace with a single time stamp: such a trace has no clock, and is rejected or replayed without arrival times.
    fn has_many_ties(&self) -> bool {
        self.span_ps > 0 && self.tied as f64 >= TIED_SHARE_MIN * self.requests as f64
    }

    /// Returns the separation of records in the file.
    fn framing(&self) -> Framing {
        FORMATS.iter().find(|format| format.name == self.format).map_or(Framing::Lines, |format| format.framing)
    }

    /// Returns the number of lines that were out of order and sorted.
    pub fn reordered_lines(&self) -> u64 {
        self.reordered.as_ref().map_or(0, |tally| tally.lines)
    }
}

impl fmt::Display for TraceSummary {
    /// Writes one paragraph for users.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.file, self.format_title)?;
        if self.compression != Compression::Plain {
            write!(f, " ({})", self.compression.name())?;
        }
        if let Some(unit) = &self.time_unit {
            write!(f, ", time stamps taken as {unit}")?;
        }
        let percent = |share: f64| share * 100.0;
        let kib = |bytes: f64| bytes / 1024.0;
        let span = match Time::from_ps(self.span_ps).as_secs_f64() {
            span_s if span_s < 1.0 => format!("{:.3} ms", span_s * 1e3),
            span_s => format!("{span_s:.3} s"),
        };
        write!(f, ", {} requests in {}: {:.1} % reads", self.requests, span, percent(self.read_share))?;
        if self.reads > 0 {
            write!(f, " of {:.1} KiB", kib(self.read_size_mean_bytes))?;
        }
        write!(f, ", {:.1} % writes", percent(self.write_share))?;
        if self.writes > 0 {
            write!(f, " of {:.1} KiB", kib(self.write_size_mean_bytes))?;
        }
        if self.deallocates > 0 {
            write!(f, ", {:.1} % deallocates", percent(self.deallocate_share))?;
        }
        if self.flushes > 0 {
            write!(f, ", {} flushes", self.flushes)?;
        }
        write!(f, "; touches {}", rounded(self.footprint_bytes))?;
        write!(f, " below {}", rounded(self.address_end_bytes))?;
        if self.devices > 1 {
            write!(f, "; {} devices share these addresses", self.devices)?;
        }
        if self.wrapped > 0 {
            write!(f, "; {} addresses wrapped onto the drive", self.wrapped)?;
        }
        f.write_str(".")?;
        match self.remarks() {
            remarks if remarks.is_empty() => Ok(()),
            remarks => write!(f, " {}", remarks.join(" ")),
        }
    }
}

/// Returns a size with one decimal, in KiB below 1 MiB, otherwise in MiB.
fn rounded(bytes: u64) -> String {
    match bytes {
        0..0x10_0000 => format!("{:.1} KiB", bytes as f64 / 1024.0),
        _ => format!("{:.1} MiB", bytes as f64 / f64::from(1 << 20)),
    }
}
