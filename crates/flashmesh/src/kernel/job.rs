//! What the cores of the controller are asked for.

use crate::ids::{RequestId, TransactionId};
use crate::workload::RequestKind;

/// What a core of the controller works for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Job {
    /// A command that has reached the drive, of this kind, for so many units of the map.
    Command(RequestId, RequestKind, u64),
    /// A request that is done, and of which the host is told.
    Completion(RequestId),
    /// A page that collection has read, and that is programmed next.
    Move(TransactionId),
}
