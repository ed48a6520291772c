//! A request in flight.

use crate::fabric::Causes;
use crate::host::status::Status;
use crate::ids::StreamId;
use crate::schedule::account::LatencyBreakdown;
use crate::schedule::transaction::Priority;
use crate::units::{Bytes, Time};
use crate::workload::{IoRequest, RequestKind};

/// A request in flight.
#[derive(Clone, Copy, Debug)]
pub(super) struct Request {
    /// Its number in the order of issue.
    pub number: u64,
    /// The stream that issued it, whose queue pair it went through.
    pub stream: StreamId,
    pub io: IoRequest,
    pub thread: u32,
    /// What its transactions have beside those of other requests.
    pub priority: Priority,
    pub arrival: Time,
    /// When the drive took it from the host's queue.
    pub submitted: Time,
    /// Of one that programs pages, its place in the order in which such reached the drive in its namespace, from 1.
    pub order: u64,
    /// Transactions that have yet to finish.
    pub remaining: u32,
    /// How it ends.
    pub status: Status,
    /// What was in the way of its transfers.
    pub conflict: Causes,
    /// Where the time of the transaction that finished last went.
    pub critical: LatencyBreakdown,
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
            critical: LatencyBreakdown::default(),
        }
    }
}
