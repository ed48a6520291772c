//! Jobs of the controller cores.

use crate::ids::{Lpn, RequestId, TransactionId};
use crate::workload::RequestKind;

/// A job of a controller core.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Job {
    /// Processing of an arrived command: request, kind, and number of mapping units that the command covers.
    Command(RequestId, RequestKind, u64),
    /// Processing of a part of a read command, before the part is read: request, first logical page of the part, and number of its logical
    /// pages, which one page of flash holds.
    ReadPart(RequestId, Lpn, u32),
    /// Sending of the completion of a request.
    Completion(RequestId),
    /// Handling of a page that garbage collection has read, before it is programmed.
    Move(TransactionId),
}
