//! Jobs of the controller cores.

use crate::ids::{Lpn, RequestId, TransactionId};
use crate::workload::RequestKind;

/// A job of a controller core.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Job {
    /// Processing of an arrived command: its request, kind, and number of mapping units.
    Command(RequestId, RequestKind, u64),
    /// Processing of a part of a read command before its flash read: the request, and the first logical page and number of logical pages of the part,
    /// which share one page of flash.
    ReadPart(RequestId, Lpn, u32),
    /// Sending of the completion of a request.
    Completion(RequestId),
    /// Handling of a page that garbage collection has read, before it is programmed.
    Move(TransactionId),
}
