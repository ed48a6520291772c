//! A request in flight.

use crate::fabric::Causes;
use crate::host::replay::Arrived;
use crate::host::status::Status;
use crate::ids::StreamId;
use crate::measure::log::RequestRecord;
use crate::schedule::account::LatencyBreakdown;
use crate::schedule::transaction::Priority;
use crate::units::{Bytes, Time};
use crate::workload::{IoRequest, RequestKind};

/// A request in flight, in two cache lines. The second one, with the latency breakdown, is touched only where the completion is an event or cores take
/// time: more requests may be outstanding than a cache holds.
#[derive(Clone, Copy, Debug)]
#[repr(C, align(64))]
pub(super) struct Request {
    pub offset: Bytes,
    pub size: Bytes,
    pub arrival: Time,
    /// When the drive fetched it.
    pub submitted: Time,
    /// Sequence number of issue.
    pub number: u64,
    pub stream: StreamId,
    /// The stream that its workload says it is of.
    pub of_stream: u32,
    pub thread: u32,
    pub remaining: u32,
    pub kind: RequestKind,
    pub priority: Priority,
    pub status: Status,
    pub conflict: Causes,
    /// How long it waited for cores of the controller, and these worked for it. Zero in drives without such times.
    pub firmware: Time,
    /// Breakdown of the transaction that finished last; set when the request is done.
    pub critical: LatencyBreakdown,
}

const _: () = assert!(size_of::<Request>() == 128 && std::mem::offset_of!(Request, firmware) == 64);

impl Request {
    /// Sets the fields of the first line; those of the second keep the values of an earlier request.
    #[inline(always)]
    pub fn begin(&mut self, arrived: &Arrived, submitted: Time, number: u64, stream: StreamId, priority: Priority) {
        let &Arrived { io, thread, arrival } = arrived;
        (self.offset, self.size, self.kind, self.of_stream) = (io.offset, io.size, io.kind, io.stream);
        (self.arrival, self.submitted, self.number) = (arrival, submitted, number);
        (self.stream, self.priority, self.thread) = (stream, priority, thread);
        (self.remaining, self.status, self.conflict) = (0, Status::Success, Causes::default());
    }

    /// What was asked for.
    #[inline(always)]
    pub fn io(&self) -> IoRequest {
        let Request { arrival, kind, offset, size, of_stream, .. } = *self;
        IoRequest { arrival, kind, offset, size, stream: of_stream }
    }

    /// What the log says of it, completed now.
    pub fn record(&self, now: Time) -> RequestRecord {
        RequestRecord {
            id: self.number,
            kind: self.kind,
            offset: self.offset,
            size: self.size,
            issuer: self.stream,
            stream: self.of_stream,
            status: self.status,
            arrival: self.arrival,
            submitted: self.submitted,
            completed: now,
            firmware: self.firmware,
            spent: self.critical,
            path_conflict: self.conflict,
        }
    }
}

impl Default for Request {
    fn default() -> Request {
        Request {
            offset: Bytes::ZERO,
            size: Bytes::ZERO,
            arrival: Time::ZERO,
            submitted: Time::ZERO,
            number: 0,
            stream: StreamId(0),
            of_stream: 0,
            thread: 0,
            remaining: 0,
            kind: RequestKind::Read,
            priority: Priority::Medium,
            status: Status::Success,
            conflict: Causes::default(),
            firmware: Time::ZERO,
            critical: LatencyBreakdown::default(),
        }
    }
}
