//! A request in flight.

use crate::fabric::Causes;
use crate::host::status::Status;
use crate::ids::StreamId;
use crate::measure::log::RequestRecord;
use crate::schedule::account::LatencyBreakdown;
use crate::schedule::transaction::Priority;
use crate::units::{Bytes, Time};
use crate::workload::{IoRequest, RequestKind};

#[derive(Clone, Copy, Debug)]
pub(super) struct Request {
    /// Sequence number of issue.
    pub number: u64,
    pub stream: StreamId,
    pub io: IoRequest,
    pub thread: u32,
    pub priority: Priority,
    pub arrival: Time,
    /// When the drive fetched it.
    pub submitted: Time,
    /// Writes only: sequence number of arrival in the namespace, from 1.
    pub order: u64,
    pub remaining: u32,
    pub status: Status,
    pub conflict: Causes,
    /// How long it waited for cores of the controller, and these worked for it.
    pub firmware: Time,
    /// Breakdown of the transaction that finished last.
    pub critical: LatencyBreakdown,
}

impl Request {
    /// What the log says of it, completed now.
    pub fn record(&self, now: Time) -> RequestRecord {
        RequestRecord {
            id: self.number,
            kind: self.io.kind,
            offset: self.io.offset,
            size: self.io.size,
            issuer: self.stream,
            stream: self.io.stream,
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
            number: 0,
            stream: StreamId(0),
            io: IoRequest {
                arrival: Time::ZERO,
                kind: RequestKind::Read,
                offset: Bytes::ZERO,
                size: Bytes::ZERO,
                stream: 0,
            },
            thread: 0,
            priority: Priority::Medium,
            arrival: Time::ZERO,
            submitted: Time::ZERO,
            order: 0,
            remaining: 0,
            status: Status::Success,
            conflict: Causes::default(),
            firmware: Time::ZERO,
            critical: LatencyBreakdown::default(),
        }
    }
}
