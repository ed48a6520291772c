//! Why a line cannot be used, and how many could not, each reason with the place it was first met.

use serde::Serialize;

use super::records::Framing;
use crate::quantities;

/// Why a line of a trace was not used.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Reason {
    /// Fields are missing or there are too many.
    Fields,
    /// A field that must be a number is none.
    Number,
    /// The type or action is unknown.
    Kind,
    /// Bytes that are no text.
    Binary,
    /// The line is longer than any of a trace.
    TooLong,
    /// The line that says which version the file has is missing.
    Header,
    /// The file of the request was never added.
    UnknownFile,
    /// The request covers no bytes.
    ZeroSize,
    /// The request covers more than any host moves at once.
    TooLarge,
    /// The request ends beyond the drive.
    BeyondDrive,
    /// The time stamp lies before those already passed on.
    TimeRunsBack,
    /// The time stamp lies far ahead of its neighbours.
    TimeLeapsAhead,
    /// The time stamp lies before that of the line before; the request was sorted in and used.
    OutOfOrder,
}

impl Reason {
    /// What such lines are, behind a count: "3 lines ...".
    pub fn text(self) -> &'static str {
        match self {
            Reason::Fields => "with missing or extra fields",
            Reason::Number => "with a field that is not a number",
            Reason::Kind => "of an unknown type",
            Reason::Binary => "with binary data",
            Reason::TooLong => "too long",
            Reason::Header => "without a header above them",
            Reason::UnknownFile => "about a file that was never added",
            Reason::ZeroSize => "of size zero",
            Reason::TooLarge => "of a size no host moves at once",
            Reason::BeyondDrive => "beyond the drive",
            Reason::TimeRunsBack => "with a time stamp that runs back",
            Reason::TimeLeapsAhead => "with a time stamp that leaps ahead",
            Reason::OutOfOrder => "out of order",
        }
    }

    /// What a person can do about it.
    pub fn remedy(self) -> &'static str {
        match self {
            Reason::Fields | Reason::Number | Reason::Binary | Reason::TooLong | Reason::Header => {
                "name the layout with workload.format if it is another one"
            }
            Reason::Kind => "name the layout with workload.format, and which type reads with workload.polarity",
            Reason::UnknownFile => "restore the `add` line of the file",
            Reason::ZeroSize | Reason::TooLarge => "name the layout with workload.format if the columns differ",
            Reason::BeyondDrive => {
                "fold addresses onto the drive with workload.beyond = \"wrap\", or take a larger drive"
            }
            Reason::OutOfOrder => {
                "sort the trace by time, or have it sorted as far as the window reaches with --sort (workload.sort)"
            }
            Reason::TimeRunsBack => "sort the trace by time",
            Reason::TimeLeapsAhead => "check workload.time-unit, or correct the time stamps",
        }
    }
}

/// A line that cannot be used: why, where in it, and what was expected there.
///
/// It allocates nothing, since a trace may hold millions; the message is made when one is reported.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BadLine {
    /// Why.
    pub reason: Reason,
    /// The column, from 1.
    pub column: u16,
    /// What should stand there: "the size in bytes".
    pub expected: &'static str,
}

impl BadLine {
    /// A line that cannot be used for `reason`: at `column` something else than `expected` stands.
    pub fn new(reason: Reason, column: u16, expected: &'static str) -> BadLine {
        BadLine { reason, column, expected }
    }

    /// Message: what was expected, and what was found.
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
    /// Lines that met one fate, and the first of them.
    #[derive(Eq)]
    Tally as "TraceTally" {
        /// The fate: why lines were rejected, or the action that was ignored.
        reason: String;
        /// Lines that met it.
        lines: u64, in "lines";
        /// The first of them, from 1; of a binary trace the record.
        first_line: u64, in "line number";
        /// The column in it, or the byte of the record, from 1; 0 when the whole line is meant.
        first_column: u32, in "column number";
        /// What is wrong with it.
        message: String;
    }
}

/// Counts of lines with one outcome, by a key.
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
    /// Counts a line; `message` is asked for only when this is the first of its key.
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

    /// All lines counted.
    pub fn lines(&self) -> u64 {
        self.entries.iter().map(|(_, tally)| tally.lines).sum()
    }

    /// The entries, in the order in which they were first met.
    pub fn entries(&self) -> &[(K, Tally)] {
        &self.entries
    }

    /// The tallies alone.
    pub fn tallies(&self) -> Vec<Tally> {
        self.entries.iter().map(|(_, tally)| tally.clone()).collect()
    }
}

impl Tallies<Reason> {
    /// Counts a line that cannot be used.
    pub fn reject(&mut self, reason: Reason, place: (u64, u16), message: impl FnOnce() -> String) {
        self.count(reason, || reason.key(), place, message);
    }
}

impl Reason {
    /// The name in reports, in kebab case.
    fn key(self) -> String {
        match serde_json::to_value(self) {
            Ok(serde_json::Value::String(name)) => name,
            _ => format!("{self:?}"),
        }
    }
}
