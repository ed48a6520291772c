//! A request in flight.

use crate::fabric::Causes;
use crate::host::replay::ReplayRequest;
use crate::host::status::Status;
use crate::ids::StreamId;
use crate::measure::request_log::RequestRecord;
use crate::schedule::latency_account::LatencyBreakdown;
use crate::schedule::transaction::Priority;
use crate::units::{Bytes, Time};
use crate::workload::{IoRequest, RequestKind};

/// A request in flight, in two cache lines. The second cache line holds the core time and the latency breakdown. To save cache misses, it is accessed
/// only if completions are events or cores take time.
#[derive(Clone, Copy, Debug)]
#[repr(C, align(64))]
pub struct Request {
    pub offset: Bytes,
    pub size: Bytes,
    pub arrival: Time,
    /// Time at which the host issued the request to the drive.
    pub submitted: Time,
    /// Sequence number in order of issue.
    pub number: u64,
    pub stream: StreamId,
    /// Stream number that the workload gives to the request.
    pub workload_stream: u32,
    pub thread: u32,
    pub remaining: u32,
    pub kind: RequestKind,
    pub priority: Priority,
    pub status: Status,
    pub conflict: Causes,
    /// Time in the cores of the controller, including queueing; zero in drives where cores take no time.
    pub firmware: Time,
    /// Latency breakdown of the transaction that finished last; set when all pages of the request are done.
    pub last_breakdown: LatencyBreakdown,
}

const _: () = assert!(size_of::<Request>() == 128 && std::mem::offset_of!(Request, firmware) == 64);

impl Request {
    /// Initializes the fields of the first cache line. The second cache line keeps the values of an earlier request.
    #[inline(always)]
    pub fn begin(
        &mut self,
        arrived: &ReplayRequest,
        submitted: Time,
        number: u64,
        stream: StreamId,
        priority: Priority,
    ) {
        let &ReplayRequest { io, thread, arrival } = arrived;
        (self.offset, self.size, self.kind, self.workload_stream) = (io.offset, io.size, io.kind, io.stream);
        (self.arrival, self.submitted, self.number) = (arrival, submitted, number);
        (self.stream, self.priority, self.thread) = (stream, priority, thread);
        (self.remaining, self.status, self.conflict) = (0, Status::Success, Causes::default());
    }

    /// Returns the request as the workload described it, with its arrival time.
    #[inline(always)]
    pub fn io(&self) -> IoRequest {
        let Request { arrival, kind, offset, size, workload_stream: of_stream, .. } = *self;
        IoRequest { arrival, kind, offset, size, stream: of_stream }
    }

    /// Returns the log record of the request, completed at `now`.
    pub fn record(&self, now: Time) -> RequestRecord {
        RequestRecord {
            id: self.number,
            kind: self.kind,
            offset: self.offset,
            size: self.size,
            issuer: self.stream,
            stream: self.workload_stream,
            status: self.status,
            arrival: self.arrival,
            submitted: self.submitted,
            completed: now,
            firmware: self.firmware,
            breakdown: self.last_breakdown,
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
            workload_stream: 0,
            thread: 0,
            remaining: 0,
            kind: RequestKind::Read,
            priority: Priority::Medium,
            status: Status::Success,
            conflict: Causes::default(),
            firmware: Time::ZERO,
            last_breakdown: LatencyBreakdown::default(),
        }
    }
}
