//! Detection of the format of a trace from its first lines.

use super::records::{Framing, RECORD_BYTES_MAX};
use super::{FORMATS, Format, Line, LineError, TraceReader};
use crate::config::{TraceFormat, Workload};
use crate::error::WorkloadError;

const SAMPLE_LINES_MAX: usize = 100;

/// The start of a trace, from which its format is detected.
pub struct Sample<'a> {
    /// The first bytes of the trace, decompressed.
    pub bytes: &'a [u8],
    /// The first complete lines that are neither blank nor comments: line number, and line without its end.
    pub lines: Vec<(u64, &'a [u8])>,
}

/// How well a sample matches a format.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FormatMatch {
    /// The degree of the match in percent: 0 for no match, 100 for certainty.
    pub percent: u8,
    /// The first line that does not match: line number, column and message. `None` if no line contradicts the format.
    pub first_failure: Option<(u64, u16, String)>,
}

impl FormatMatch {
    /// A match that excludes all other formats.
    pub const CERTAIN: FormatMatch = FormatMatch { percent: 100, first_failure: None };
    /// No match: the sample has another format.
    pub const NONE: FormatMatch = FormatMatch { percent: 0, first_failure: None };

    /// Returns a failed match, with the error in `line` as its reason.
    pub fn none_at(number: u64, bad: LineError, line: &[u8]) -> FormatMatch {
        FormatMatch { percent: 0, first_failure: Some((number, bad.column, bad.message(line, Framing::Lines))) }
    }
}

impl<'a> Sample<'a> {
    /// Splits `bytes`, the start of a file or all of it, into lines.
    pub fn new(bytes: &'a [u8]) -> Sample<'a> {
        let mut lines = Vec::new();
        let mut rest = bytes;
        let mut number = 0;
        while !rest.is_empty() && lines.len() < SAMPLE_LINES_MAX {
            let end = memchr::memchr(b'\n', rest);
            // A line without a line end may be truncated, and would then count against its own format. So it is left out, unless it is the only line.
            let is_cut = end.is_none() && !lines.is_empty();
            let line = &rest[..end.unwrap_or(rest.len())];
            rest = end.map_or(&[][..], |end| &rest[end + 1..]);
            number += 1;
            let line = line.strip_suffix(b"\r").unwrap_or(line);
            if !is_cut && has_content(line) {
                lines.push((number, &line[..line.len().min(RECORD_BYTES_MAX)]));
            }
        }
        Sample { bytes, lines }
    }

    /// Returns the share of the lines that `reader` parses, as a match. Skipped lines, such as headers, do not count.
    pub fn share_understood(&self, reader: &mut dyn TraceReader) -> FormatMatch {
        let (mut understood, mut judged, mut first_failure) = (0, 0, None);
        for &(number, line) in &self.lines {
            match reader.parse(line) {
                Ok(Line::Skipped) => continue,
                Ok(_) => understood += 1,
                Err(bad) => {
                    first_failure.get_or_insert_with(|| (number, bad.column, bad.message(line, Framing::Lines)));
                }
            }
            judged += 1;
        }
        let percent = (understood * 100_usize).checked_div(judged).unwrap_or(0);
        FormatMatch { percent: u8::try_from(percent).unwrap_or(100), first_failure }
    }
}

/// Returns whether a line is neither blank nor a comment.
pub(super) fn has_content(line: &[u8]) -> bool {
    match line.first() {
        Some(byte) if byte.is_ascii_alphanumeric() => true,
        _ => !matches!(line.trim_ascii_start().first(), None | Some(b'#')),
    }
}

/// The minimum [`FormatMatch::percent`] of a format that counts as detected. For text formats, this is the share of the lines of the sample that the
/// format parses.
const PERCENT_MIN: u8 = 50;

/// Returns whether the sample matches a binary format.
pub(super) fn looks_like_records(sample: &Sample<'_>, workload: &Workload) -> bool {
    (FORMATS.iter())
        .any(|format| format.framing != Framing::Lines && (format.detect)(sample, workload).percent >= PERCENT_MIN)
}

/// Returns the registered format of this name; `None` for `Auto`.
pub(super) fn named(format: TraceFormat) -> Option<&'static Format> {
    FORMATS.iter().find(|registered| registered.kind == Some(format)).copied()
}

/// Returns the format of the file at `path`: the configured one, or the one that matches its start.
///
/// # Errors
/// If no format or several formats match. The message says why each does not match.
pub(super) fn format_of(
    sample: &Sample<'_>,
    workload: &Workload,
    path: &std::path::Path,
) -> Result<&'static Format, WorkloadError> {
    let error = |line, column, message| WorkloadError::Parse { path: path.to_owned(), line, column, message };
    if workload.format != TraceFormat::Auto {
        return named(workload.format).ok_or_else(|| {
            WorkloadError::Unusable(format!("no reader is registered for workload.format {:?}", workload.format))
        });
    }
    let matches: Vec<(&Format, FormatMatch)> =
        FORMATS.iter().map(|&format| (format, (format.detect)(sample, workload))).collect();
    let best_percent = matches.iter().map(|(_, found)| found.percent).max().unwrap_or(0);
    let names = |chosen: &[&(&Format, FormatMatch)]| -> String {
        chosen.iter().map(|(format, _)| format!("\"{}\"", format.name)).collect::<Vec<_>>().join(", ")
    };
    let best: Vec<_> = matches.iter().filter(|(_, found)| found.percent == best_percent).collect();
    match best[..] {
        [(format, _)] if best_percent >= PERCENT_MIN => Ok(format),
        _ if best_percent >= PERCENT_MIN => Err(error(
            0,
            0,
            format!("the first lines fit several formats: name the right one with workload.format: {}", names(&best)),
        )),
        _ => {
            let against: String = (matches.iter())
                .filter_map(|(format, found)| {
                    let (line, column, message) = found.first_failure.as_ref()?;
                    Some(format!("\n  not {} ({}): line {line}, column {column}: {message}", format.title, format.name))
                })
                .collect();
            let place = (best.iter()).find_map(|(_, found)| found.first_failure.as_ref());
            let (line, column) = place.map_or((0, 0), |(line, column, _)| (*line, u32::from(*column)));
            let all = names(&matches.iter().collect::<Vec<_>>());
            Err(error(
                line,
                column,
                format!("no known trace format: name it with workload.format if it is one of {all}{against}"),
            ))
        }
    }
}
