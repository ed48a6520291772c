//! The default text output of blkparse ("DEFAULT OUTPUT" in its manual): the events of Linux's block layer.
//!
//! Format: `major,minor processor sequence time process action RWBS sector + sectors [name]`, separated by blanks. The time is in
//! seconds from the start of the trace, with nine decimals; sectors have 512 B.
//!
//! - A request causes several events. Only the event selected by `workload.blkparse-event` counts (by default D, issued to the drive); the others are
//!   skipped. A request that the driver requeues (R) and issues again has two D events; only the first counts.
//! - RWBS is the kind of the request: `R` is a read, `W` a write, `D` (with `E`: secure) a discard, which is a deallocation.
//!   Flags such as `S`, `M`, `A` or a last `F` are ignored. A first `F` requests a flush before the request.
//! - A flush without data is a request with `workload.flushes`; otherwise it is ignored and counted. Also ignored and counted are
//!   commands without data (`N`) and SCSI commands passed through, whose sector is unknown.
//! - A line that begins with a letter is not an event but a message or part of the final summary, and is skipped.
//! - The device is the stream. Its number combines the major and the minor number as in Linux: `major * 2^20 + minor`.
//!
//! blkparse merges the logs of the processors in batches, so events can be slightly out of order. Such events are sorted and counted, and do not
//! cause a rejection of the log.

use std::collections::VecDeque;

use super::fields::Fields;
use super::line_errors::{LineError, LineErrorKind};
use super::{Format, Framing, Line, RawRequest, Sample, TraceReader};
use crate::config::{BlkparseEvent, TraceFormat, Workload};
use crate::request::RequestKind;
use crate::units::Time;

pub static FORMAT: Format = Format {
    kind: Some(TraceFormat::Blkparse),
    name: "blkparse",
    title: "blkparse text",
    framing: Framing::Lines,
    is_merged: true,
    remedy: Some(
        "choose an event that the log holds with workload.blkparse-event: queue (Q), issue (D) or complete (C)",
    ),
    // A log may begin with many events of other kinds, which also identify the format.
    detect: |sample: &Sample<'_>, _| sample.share_understood(&mut Blkparse::of_any_event()),
    open: |workload| Box::new(Blkparse::new(workload)),
};

/// The bits of the minor number in a Linux device number.
const MINOR_BITS: u32 = 20;

/// All actions of blkparse. An event whose action does not count as the request is skipped; an unknown action is an error.
const OTHER_ACTIONS: &[&[u8]] =
    &[b"I", b"G", b"Q", b"C", b"D", b"M", b"F", b"U", b"P", b"UT", b"T", b"S", b"X", b"A", b"B", b"W", b"R", b"m"];

struct Blkparse {
    /// The action that counts as the request; `None` if Q, I, D and C all do, for format detection.
    action: Option<u8>,
    /// Whether a flush without data is a request.
    flushes: bool,
    /// Requeued requests that have not been issued again: device and first byte, the latest last.
    requeued: VecDeque<(u32, u64)>,
    /// Whether an earlier line with sectors ended with the process or the error in brackets. Later lines must then do so too.
    has_process: bool,
}

/// The maximum number of requeued requests that are tracked.
const REQUEUED_MAX: usize = 4096;

impl Blkparse {
    fn new(workload: &Workload) -> Blkparse {
        let action = match workload.blkparse_event {
            BlkparseEvent::Queue => b'Q',
            BlkparseEvent::Issue => b'D',
            BlkparseEvent::Complete => b'C',
        };
        Blkparse { action: Some(action), flushes: workload.flushes, ..Blkparse::of_any_event() }
    }

    /// Returns a reader for format detection, for which each of the events Q, I, D and C is a request.
    fn of_any_event() -> Blkparse {
        Blkparse { action: None, flushes: false, requeued: VecDeque::new(), has_process: false }
    }

    /// Records a request that the driver requeued, if issue events (D) count as requests; does nothing otherwise.
    fn requeue(&mut self, device: u32, fields: &mut Fields<'_>) {
        let sector = |fields: &mut Fields<'_>| -> Result<u64, LineError> {
            fields.next_blank_separated("what is asked (RWBS)")?;
            fields.blank_separated_word();
            fields.next_blank_separated("the first sector")?;
            fields.sectors("the first sector")
        };
        if self.action == Some(b'D')
            && let Ok(offset) = sector(fields)
        {
            if self.requeued.len() == REQUEUED_MAX {
                self.requeued.pop_front();
            }
            self.requeued.push_back((device, offset));
        }
    }

    /// Removes a request from the requeued requests. Returns whether the request had been requeued, so that its second issue is not counted.
    fn is_reissue(&mut self, device: u32, offset: u64) -> bool {
        let place = self.requeued.iter().position(|&put_back| put_back == (device, offset));
        place.and_then(|place| self.requeued.remove(place)).is_some()
    }

    fn counts_as_request(&self, action: &[u8]) -> bool {
        match self.action {
            Some(chosen) => *action == [chosen],
            None => matches!(action, b"Q" | b"I" | b"D" | b"C"),
        }
    }
}

/// The meaning of the RWBS field: a request that transfers or deallocates data, or a command without data.
#[derive(Clone, Copy)]
enum RwbsMeaning {
    Data(RequestKind),
    Nothing,
}

impl TraceReader for Blkparse {
    fn parse(&mut self, record: &[u8]) -> Result<Line, LineError> {
        let mut fields = Fields::new(record);
        fields.skip_blanks();
        if fields.peek().is_some_and(|byte| byte.is_ascii_alphabetic()) {
            return Ok(Line::Skipped);
        }
        let device = device(&mut fields)?;
        fields.next_blank_separated("the processor")?;
        fields.number("the processor")?;
        fields.next_blank_separated("the sequence number")?;
        fields.number("the sequence number")?;
        fields.next_blank_separated("the time stamp in seconds")?;
        let time_column = fields.column();
        let time_ps = fields.decimal(Time::PS_PER_SECOND, "the time stamp in seconds")?;
        fields.next_blank_separated("the process")?;
        fields.number("the number of the process")?;
        fields.next_blank_separated("the action")?;
        let action_column = fields.column();
        let action = fields.blank_separated_word();
        if action == b"R" {
            self.requeue(device, &mut fields);
        }
        if !self.counts_as_request(action) {
            return match OTHER_ACTIONS.contains(&action) {
                true => Ok(Line::Skipped),
                false => Err(LineError::new(LineErrorKind::Kind, action_column, "an action of blkparse: Q, D, C, ...")),
            };
        }
        fields.next_blank_separated("what is asked (RWBS)")?;
        let kind_column = fields.column();
        let rwbs = fields.blank_separated_word();
        let unknown =
            LineError::new(LineErrorKind::Kind, kind_column, "what is asked (RWBS): R, W, D, F or N, and flags");
        let asks = parse_rwbs(rwbs).ok_or(unknown)?;
        let without_data = Ok(match (rwbs.starts_with(b"F"), self.flushes) {
            (true, true) => Line::Request(RawRequest::flush(time_ps, device, (time_column, kind_column))),
            (true, false) => Line::Ignored("flush"),
            (false, _) => Line::Ignored("no-data"),
        });

        if matches!(asks, RwbsMeaning::Nothing) && !self.has_process && fields.is_at_end() {
            return without_data;
        }
        fields.next_blank_separated("the first sector")?;
        match fields.peek() {
            Some(b'(') => return Ok(Line::Ignored("passed-through")),
            // An event without sectors: the name of the process follows RWBS.
            Some(b'[') => return without_data,
            _ => {}
        }
        let offset_column = fields.column();
        let offset = fields.sectors("the first sector")?;
        fields.next_blank_separated("a plus sign")?;
        match fields.peek() {
            // Parentheses contain a SCSI command, or the duration of a flush.
            Some(b'(') if !rwbs.starts_with(b"F") => return Ok(Line::Ignored("passed-through")),
            Some(b'(' | b'[') => return without_data,
            _ => fields.next_after(b'+', "a plus sign")?,
        }
        fields.next_blank_separated("the number of sectors")?;
        let size_column = fields.column();
        let size = fields.sectors("the number of sectors")?;
        // A line truncated within its size would look like a smaller request. So the next field is required if earlier lines of the log ended with
        // it.
        if self.has_process || !fields.is_at_end() {
            fields.next_blank_separated("the process or the error in brackets")?;
            self.has_process |= fields.peek() == Some(b'[');
        }
        if self.is_reissue(device, offset) {
            return Ok(Line::Ignored("requeued"));
        }
        match asks {
            RwbsMeaning::Data(_) if size == 0 && rwbs.starts_with(b"F") => without_data,
            RwbsMeaning::Data(kind) => Ok(Line::Request(RawRequest {
                time_ps,
                offset,
                size,
                device,
                kind,
                time_column,
                offset_column,
                size_column,
            })),
            RwbsMeaning::Nothing => without_data,
        }
    }
}

/// Parses `major,minor` as one device number. An error if a number is missing or has too many bits.
fn device(fields: &mut Fields<'_>) -> Result<u32, LineError> {
    const EXPECTED: &str = "the device: major,minor";
    let column = fields.column();
    let major = fields.number_u32(EXPECTED)?;
    fields.next_after(b',', EXPECTED)?;
    let minor = fields.number_u32(EXPECTED)?;
    if major >> (u32::BITS - MINOR_BITS) > 0 || minor >> MINOR_BITS > 0 {
        return Err(LineError::new(LineErrorKind::Number, column, "a device: major below 2^12, minor below 2^20"));
    }
    Ok(major << MINOR_BITS | minor)
}

/// Returns the meaning of RWBS; `None` if it is invalid.
fn parse_rwbs(rwbs: &[u8]) -> Option<RwbsMeaning> {
    if !rwbs.iter().all(u8::is_ascii_uppercase) {
        return None;
    }
    match rwbs.strip_prefix(b"F").unwrap_or(rwbs).first() {
        Some(b'R') => Some(RwbsMeaning::Data(RequestKind::Read)),
        Some(b'W') => Some(RwbsMeaning::Data(RequestKind::Write)),
        Some(b'D') => Some(RwbsMeaning::Data(RequestKind::Deallocate)),
        Some(b'N') => Some(RwbsMeaning::Nothing),
        _ if rwbs.starts_with(b"F") => Some(RwbsMeaning::Nothing),
        _ => None,
    }
}
