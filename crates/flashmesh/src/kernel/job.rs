//! Jobs of the controller cores.

use crate::ids::{Lpn, RequestId, TransactionId};
use crate::workload::RequestKind;

/// A job of a controller core.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Job {
    /// Processing of an arrived command: its request, kind, first logical page, and number of mapping units. The first page is `None` unless
    /// the command reads or writes valid addresses.
    Command(RequestId, RequestKind, Option<Lpn>, u64),
    /// Processing of a part of a read command before its flash read: the request, and the first logical page and number of logical pages of the part,
    /// which share one page of flash.
    ReadPart(RequestId, Lpn, u32),
    /// Sending of the completion of a request.
    Completion(RequestId),
    /// Handling of a page that garbage collection has read, before it is programmed.
    Move(TransactionId),
}

impl Job {
    /// Returns the first logical page of a command or of a part of a read command; `None` for other jobs.
    pub fn address(self) -> Option<Lpn> {
        match self {
            Job::Command(_, _, first, _) => first,
            Job::ReadPart(_, first, _) => Some(first),
            Job::Completion(_) | Job::Move(_) => None,
        }
    }
}
