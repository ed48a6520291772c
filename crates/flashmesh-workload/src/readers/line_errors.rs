//! The reasons for rejecting lines, and the number of rejected lines per reason, with the first position of each.

use serde::Serialize;

use super::records::Framing;
use crate::quantities;

/// The reason for which a line was not used, or was out of order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum LineErrorKind {
    /// Missing or extra fields.
    Fields,
    /// A field that must be a number but is not.
    Number,
    /// An unknown type or action.
    Kind,
    /// Bytes that are not text.
    Binary,
    /// A line longer than any line of a trace.
    TooLong,
    /// A missing header line with the version of the file.
    Header,
    /// A request for a file that no `add` line of the iolog has named.
    UnknownFile,
    /// An `add` line beyond the maximum number of files of an iolog.
    TooManyFiles,
    /// A request of size zero that is no flush.
    ZeroSize,
    /// A read or write larger than any host transfers in one command.
    TooLarge,
    /// A request that ends beyond the drive.
    BeyondDrive,
    /// A time stamp earlier than a request that has already left the sorting window.
    TimeRunsBack,
    /// A time stamp so far ahead of the previous or the next lines that it must be wrong.
    TimeLeapsAhead,
    /// A time stamp earlier than the previous line's. The request was sorted into its place and used.
    OutOfOrder,
}

impl LineErrorKind {
    /// Returns a description that follows a count: "3 lines ...".
    pub fn text(self) -> &'static str {
        match self {
            LineErrorKind::Fields => "with missing or extra fields",
            LineErrorKind::Number => "with a field that is not a number",
            LineErrorKind::Kind => "of an unknown type",
            LineErrorKind::Binary => "with binary data",
            LineErrorKind::TooLong => "too long",
            LineErrorKind::Header => "without a header above them",
            LineErrorKind::UnknownFile => "about a file that was never added",
            LineErrorKind::TooManyFiles => "with one file too many",
            LineErrorKind::ZeroSize => "of size zero",
            LineErrorKind::TooLarge => "of a size no host moves at once",
            LineErrorKind::BeyondDrive => "beyond the drive",
            LineErrorKind::TimeRunsBack => "with a time stamp that runs back",
            LineErrorKind::TimeLeapsAhead => "with a time stamp that leaps ahead",
            LineErrorKind::OutOfOrder => "out of order",
        }
    }

    /// Returns the remedy, as advice for users.
    pub fn remedy(self) -> &'static str {
        match self {
            LineErrorKind::Fields
            | LineErrorKind::Number
            | LineErrorKind::Binary
            | LineErrorKind::TooLong
            | LineErrorKind::Header => "name the layout with workload.format if it is another one",
            LineErrorKind::Kind => "name the layout with workload.format, and which type reads with workload.polarity",
            LineErrorKind::UnknownFile => "restore the `add` line of the file",
            LineErrorKind::TooManyFiles => "split the log, so that each part has fewer files",
            LineErrorKind::ZeroSize | LineErrorKind::TooLarge => {
                "name the layout with workload.format if the columns differ"
            }
            LineErrorKind::BeyondDrive => {
                "fold addresses onto the drive with workload.beyond = \"wrap\", or take a larger drive"
            }
            LineErrorKind::OutOfOrder => {
                "sort the trace by time, or have it sorted as far as the window reaches with --sort (workload.sort)"
            }
            LineErrorKind::TimeRunsBack => "sort the trace by time",
            LineErrorKind::TimeLeapsAhead => "check workload.time-unit, or correct the time stamps",
        }
    }
}

/// A line that cannot be used: the reason, the column, and the expected content.
///
/// Does not allocate, since a trace may have millions of bad lines; a message is only built for lines that are reported.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LineError {
    /// The reason for the rejection.
    pub reason: LineErrorKind,
    /// The column of the invalid field, from 1.
    pub column: u16,
    /// The expected content of the column: "the size in bytes".
    pub expected: &'static str,
}

impl LineError {
    /// Creates an error for `reason`: the content at `column` is not `expected`.
    pub fn new(reason: LineErrorKind, column: u16, expected: &'static str) -> LineError {
        LineError { reason, column, expected }
    }

    /// Returns the message: what was expected at the column of `record`, and what was found there.
    pub fn message(&self, record: &[u8], framing: Framing) -> String {
        let rest = record.get(usize::from(self.column).saturating_sub(1)..).unwrap_or_default();
        if let Framing::Fixed(bytes) = framing {
            return match rest.first_chunk::<2>() {
                Some([low, high]) => format!("expected {}, found the bytes {low:02x} {high:02x}", self.expected),
                None => format!("expected {} of {bytes} bytes, found the end of the file", self.expected),
            };
        }
        let end = rest.iter().position(|byte| b" \t,".contains(byte)).unwrap_or(rest.len());
        if rest.is_empty() {
            return format!("expected {}, found the end of the line", self.expected);
        }
        const FOUND_BYTES_MAX: usize = 40;
        let found = &rest[..end.clamp(1, FOUND_BYTES_MAX).min(rest.len())];
        let dots = if end > FOUND_BYTES_MAX { "..." } else { "" };
        format!("expected {}, found \"{}{dots}\"", self.expected, found.escape_ascii())
    }
}

quantities! {
    /// The number of lines with one outcome, and the first of these lines.
    #[derive(Eq)]
    Tally as "TraceTally" {
        /// The reason for rejecting the lines, or the action that was ignored.
        reason: String;
        /// Number of lines.
        lines: u64, in "lines";
        /// The number of the first of these lines, or of the first record of a binary trace, from 1.
        first_line: u64, in "line number";
        /// The column in the first line, or the byte within the first record, from 1; 0 for the whole line.
        first_column: u32, in "column number";
        /// The error message for the first line.
        message: String;
    }
}

/// The counts of lines, per key: the reason for a rejection, or the name of an ignored action.
#[derive(Clone, Debug)]
pub(super) struct Tallies<K> {
    entries: Vec<(K, Tally)>,
}

impl<K> Default for Tallies<K> {
    fn default() -> Self {
        Tallies { entries: Vec::new() }
    }
}

impl<K: Copy + PartialEq> Tallies<K> {
    /// Counts a line at `place` (line number, column) under `key`. `name` (of the key, for reports) and `message` are only called for the first line
    /// of the key.
    pub fn count(
        &mut self,
        key: K,
        name: impl FnOnce() -> String,
        place: (u64, u16),
        message: impl FnOnce() -> String,
    ) {
        let (line, column) = place;
        match self.entries.iter_mut().find(|(entry, _)| *entry == key) {
            Some((_, tally)) => tally.lines += 1,
            None => {
                let tally = Tally {
                    reason: name(),
                    lines: 1,
                    first_line: line,
                    first_column: u32::from(column),
                    message: message(),
                };
                self.entries.push((key, tally));
            }
        }
    }

    /// Returns the number of lines counted under all keys.
    pub fn lines(&self) -> u64 {
        self.entries.iter().map(|(_, tally)| tally.lines).sum()
    }

    /// Returns the tallies with their keys, in the order of first occurrence.
    pub fn entries(&self) -> &[(K, Tally)] {
        &self.entries
    }

    /// Returns the tallies without their keys, in the order of first occurrence.
    pub fn tallies(&self) -> Vec<Tally> {
        self.entries.iter().map(|(_, tally)| tally.clone()).collect()
    }
}

impl Tallies<LineErrorKind> {
    /// Counts a line, at `place` (line number, column), that cannot be used.
    pub fn reject(&mut self, reason: LineErrorKind, place: (u64, u16), message: impl FnOnce() -> String) {
        self.count(reason, || reason.key(), place, message);
    }
}

impl LineErrorKind {
    /// Returns the name of the reason in reports, in kebab case.
    fn key(self) -> String {
        match serde_json::to_value(self) {
            Ok(serde_json::Value::String(name)) => name,
            _ => format!("{self:?}"),
        }
    }
}
