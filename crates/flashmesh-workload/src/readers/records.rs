//! Splitting of the bytes of a trace into records: lines, or blocks of a fixed size.

use std::ops::Range;

use super::input::{Compression, FileIdentity, Input};
use super::sample::has_content;
use crate::error::WorkloadError;

/// The separation of records.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Framing {
    /// Text with one record per line, ended by LF or CRLF. Blank lines and lines that begin with `#` are no records.
    Lines,
    /// Binary records of this many bytes, from 1 to [`RECORD_BYTES_MAX`].
    Fixed(usize),
}

impl Framing {
    /// Returns the noun for `count` records in messages: "line", "lines", "record" or "records".
    pub fn noun(self, count: u64) -> &'static str {
        match (self, count) {
            (Framing::Lines, 1) => "line",
            (Framing::Lines, _) => "lines",
            (Framing::Fixed(_), 1) => "record",
            (Framing::Fixed(_), _) => "records",
        }
    }

    /// Returns a position for messages: "line 7, column 3", "record 7 (byte 194)". Bytes count from 0, from the start of the
    /// decompressed file.
    pub fn place(self, number: u64, column: u32) -> String {
        match (self, column) {
            (Framing::Lines, 0) => format!("line {number}"),
            (Framing::Lines, _) => format!("line {number}, column {column}"),
            (Framing::Fixed(bytes), _) => {
                let start = number.saturating_sub(1).saturating_mul(bytes as u64);
                format!("record {number} (byte {})", start.saturating_add(u64::from(column.saturating_sub(1))))
            }
        }
    }
}

/// The maximum length of a record, in bytes. A longer line is rejected without parsing.
pub const RECORD_BYTES_MAX: usize = 4096;

const BUFFER_BYTES: usize = 256 << 10;
/// The initial size of the buffer, which grows with the file up to [`BUFFER_BYTES`].
const FIRST_BUFFER_BYTES: usize = 1 << 10;

/// One record, borrowed from the buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Record<'a> {
    /// A record without its line end. A truncated last block is returned as it is.
    Whole(&'a [u8]),
    /// A line longer than [`RECORD_BYTES_MAX`].
    TooLong,
    /// A comment longer than [`RECORD_BYTES_MAX`].
    LongComment,
}

/// A record as a range of the buffer, before its bytes are borrowed.
enum RecordSpan {
    At(Range<usize>),
    TooLong,
    LongComment,
}

/// The records of one file, in order, read through a buffer of at most [`BUFFER_BYTES`].
pub struct Records {
    input: Input,
    framing: Framing,
    /// The buffer: [`BUFFER_BYTES`] long, or shorter for a short file.
    buffer: Vec<u8>,
    start: usize,
    end: usize,
    is_last_read: bool,
    number: u64,
}

impl Records {
    /// Fills the first buffer, for [`Records::sample`].
    ///
    /// # Errors
    /// Like [`Input::read`].
    pub fn new(input: Input) -> Result<Records, WorkloadError> {
        let buffer = vec![0; FIRST_BUFFER_BYTES];
        let mut records =
            Records { input, framing: Framing::Lines, buffer, start: 0, end: 0, is_last_read: false, number: 0 };
        while records.end < BUFFER_BYTES && !records.is_last_read {
            if records.end == records.buffer.len() {
                records.buffer.resize(BUFFER_BYTES.min(4 * records.end), 0);
            }
            records.fill()?;
        }
        // A UTF-8 byte order mark. In a binary file, which contains zeros, the same bytes are part of the first number.
        let sample = &records.buffer[..records.end];
        if sample.starts_with(b"\xef\xbb\xbf") && !sample.contains(&0) {
            records.start = 3;
        }
        Ok(records)
    }

    /// Returns the decompressed start of the file, or all of a short file. Call this before the first record is taken.
    pub fn sample(&self) -> &[u8] {
        &self.buffer[self.start..self.end]
    }

    /// Skips comments and blank lines at the start if they fill `sample_bytes` or more, because the format cannot be detected from a sample without
    /// records. Returns the number of skipped lines. Call this before the first record is taken.
    ///
    /// # Errors
    /// Like [`Input::read`].
    pub fn skip_comments(&mut self, sample_bytes: usize) -> Result<u64, WorkloadError> {
        loop {
            let sample = &self.buffer[self.start..self.end];
            let sample = &sample[..sample.len().min(sample_bytes)];
            let lines = sample.split_inclusive(|&byte| byte == b'\n');
            let silent = lines.take_while(|line| !has_content(line.trim_ascii_end()));
            let (mut bytes, mut whole, mut rest) = (0, 0, 0);
            for line in silent {
                if line.ends_with(b"\n") {
                    (bytes, whole) = (bytes + line.len(), whole + 1);
                } else {
                    rest = line.len();
                }
            }
            if bytes + rest < sample_bytes {
                return Ok(self.number);
            }
            if whole == 0 {
                // The sample is a part of one long comment.
                self.next_line()?;
            } else {
                self.start += bytes;
                self.number += whole;
            }
            while self.end - self.start < sample_bytes && !self.is_last_read {
                self.make_room();
                self.fill()?;
            }
        }
    }

    /// Returns the identity of the file when it was opened, to detect changes; `None` if the input is not a file.
    pub fn identity(&self) -> Option<FileIdentity> {
        self.input.identity()
    }

    /// Sets the separation of records; the default is lines. Call this before the first record is taken.
    pub fn set_framing(&mut self, framing: Framing) {
        self.framing = framing;
        if framing != Framing::Lines && self.number == 0 {
            self.start = 0;
        }
    }

    /// Returns the number of the record taken last, from 1; 0 before the first record.
    pub fn number(&self) -> u64 {
        self.number
    }

    pub fn compression(&self) -> Compression {
        self.input.compression()
    }

    pub fn path(&self) -> &std::path::Path {
        self.input.path()
    }

    /// Returns the next record; `None` at the end of the file.
    ///
    /// # Errors
    /// Like [`Input::read`].
    pub fn next(&mut self) -> Result<Option<Record<'_>>, WorkloadError> {
        let taken = match self.framing {
            Framing::Lines => self.next_line()?,
            Framing::Fixed(bytes) => self.next_block(bytes)?,
        };
        Ok(taken.map(|taken| match taken {
            RecordSpan::At(range) => Record::Whole(&self.buffer[range]),
            RecordSpan::TooLong => Record::TooLong,
            RecordSpan::LongComment => Record::LongComment,
        }))
    }

    fn next_line(&mut self) -> Result<Option<RecordSpan>, WorkloadError> {
        let mut searched = self.start;
        // The classification, from its first bytes, of a line longer than [`RECORD_BYTES_MAX`]; `None` as long as the line is shorter.
        let mut long = None;
        loop {
            if let Some(found) = memchr::memchr(b'\n', &self.buffer[searched..self.end]) {
                let line_end = searched + found;
                let line = self.start..without_carriage_return(&self.buffer, self.start, line_end);
                self.start = line_end + 1;
                return Ok(Some(self.take_line(line, long)));
            }
            if self.is_last_read {
                let line = self.start..without_carriage_return(&self.buffer, self.start, self.end);
                let has_line = self.start < self.end || long.is_some();
                self.start = self.end;
                return Ok(if has_line { Some(self.take_line(line, long)) } else { None });
            }
            if self.end - self.start > RECORD_BYTES_MAX {
                long.get_or_insert_with(|| without_its_bytes(&self.buffer[self.start..self.end]));
                self.start = self.end;
            }
            self.make_room();
            searched = self.end;
            self.fill()?;
        }
    }

    fn take_line(&mut self, line: Range<usize>, long: Option<RecordSpan>) -> RecordSpan {
        self.number += 1;
        match long {
            Some(long) => long,
            None if line.len() > RECORD_BYTES_MAX => without_its_bytes(&self.buffer[line]),
            None => RecordSpan::At(line),
        }
    }

    fn next_block(&mut self, bytes: usize) -> Result<Option<RecordSpan>, WorkloadError> {
        let bytes = bytes.clamp(1, RECORD_BYTES_MAX);
        while self.end - self.start < bytes && !self.is_last_read {
            self.make_room();
            self.fill()?;
        }
        if self.start == self.end {
            return Ok(None);
        }
        let block = self.start..self.end.min(self.start + bytes);
        self.start = block.end;
        self.number += 1;
        Ok(Some(RecordSpan::At(block)))
    }

    /// Moves the unread bytes to the front of the buffer, to make room for [`Records::fill`]. At most one record may be unread.
    fn make_room(&mut self) {
        self.buffer.copy_within(self.start..self.end, 0);
        self.end -= self.start;
        self.start = 0;
    }

    fn fill(&mut self) -> Result<(), WorkloadError> {
        let count = self.input.read(&mut self.buffer[self.end..], self.number)?;
        self.end += count;
        self.is_last_read = count == 0;
        Ok(())
    }
}

/// Classifies a line that is too long, by its first bytes.
#[cold]
fn without_its_bytes(beginning: &[u8]) -> RecordSpan {
    if has_content(beginning) { RecordSpan::TooLong } else { RecordSpan::LongComment }
}

fn without_carriage_return(buffer: &[u8], start: usize, end: usize) -> usize {
    if end > start && buffer[end - 1] == b'\r' { end - 1 } else { end }
}

#[cfg(test)]
mod tests {
    use std::io::{self, Read};
    use std::path::Path;

    use super::*;

    /// Reader that returns `step` bytes per call, so that records cross every kind of boundary.
    struct Drip {
        bytes: Vec<u8>,
        at: usize,
        step: usize,
    }

    impl Read for Drip {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            let count = self.step.min(buffer.len()).min(self.bytes.len() - self.at);
            buffer[..count].copy_from_slice(&self.bytes[self.at..self.at + count]);
            self.at += count;
            Ok(count)
        }
    }

    fn records(bytes: &[u8], step: usize, framing: Framing) -> Vec<Option<Vec<u8>>> {
        let drip = Drip { bytes: bytes.to_vec(), at: 0, step };
        let mut records = Records::new(Input::from_reader(Path::new("drip"), drip).unwrap()).unwrap();
        records.set_framing(framing);
        let mut all = Vec::new();
        while let Some(record) = records.next().unwrap() {
            all.push(match record {
                Record::Whole(bytes) => Some(bytes.to_vec()),
                Record::TooLong | Record::LongComment => None,
            });
            assert_eq!(records.number(), all.len() as u64);
        }
        assert!(records.next().unwrap().is_none());
        all
    }

    #[test]
    fn a_byte_order_mark_is_skipped_in_a_text_and_kept_in_binary_records() {
        let taken =
            |bytes: &[u8], framing| records(bytes, 64, framing).into_iter().flatten().flatten().collect::<Vec<u8>>();
        assert_eq!(taken(b"\xef\xbb\xbfab", Framing::Lines), b"ab");
        for number in [b"\xef\xbb\xbfab\0", b"\xef\xbb\xbfabc"] {
            assert_eq!(taken(number, Framing::Fixed(3)), number);
        }
    }

    #[test]
    fn lines_end_with_lf_crlf_or_the_file() {
        for (text, lines) in [
            ("", vec![]),
            ("a", vec!["a"]),
            ("a\n", vec!["a"]),
            ("a\r\n\r\nb\r", vec!["a", "", "b"]),
            ("\n\nab\n", vec!["", "", "ab"]),
        ] {
            let expected: Vec<_> = lines.iter().map(|line| Some(line.as_bytes().to_vec())).collect();
            for step in [1, 2, 1000] {
                assert_eq!(records(text.as_bytes(), step, Framing::Lines), expected, "{text:?} by {step}");
            }
        }
    }

    #[test]
    fn every_line_survives_the_boundaries_of_the_buffer() {
        let text: String = (0..200_000).map(|i| format!("{i}\n")).collect();
        let lines = records(text.as_bytes(), 65_537, Framing::Lines);
        assert_eq!(lines.len(), 200_000);
        for (i, line) in lines.iter().enumerate() {
            assert_eq!(line.as_deref(), Some(i.to_string().as_bytes()));
        }
    }

    #[test]
    fn a_line_beyond_the_limit_is_named_and_costs_no_memory() {
        for long in [RECORD_BYTES_MAX + 1, BUFFER_BYTES * 3] {
            let text = format!("a\n{}\nb\n{}", "x".repeat(long), "y".repeat(long));
            let expected = [Some(b"a".to_vec()), None, Some(b"b".to_vec()), None];
            assert_eq!(records(text.as_bytes(), 100_000, Framing::Lines), expected);
        }
        let fits = "x".repeat(RECORD_BYTES_MAX);
        assert_eq!(records(fits.as_bytes(), 7, Framing::Lines), [Some(fits.into_bytes())]);
    }

    #[test]
    fn blocks_are_cut_by_size_and_a_short_one_is_handed_out() {
        let expected = [Some(b"abc".to_vec()), Some(b"def".to_vec()), Some(b"g".to_vec())];
        for step in [1, 2, 5] {
            assert_eq!(records(b"abcdefg", step, Framing::Fixed(3)), expected);
        }
    }
}
