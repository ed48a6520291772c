//! Custom arbitration of channels and controllers.

use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use crate::ids::DieId;

use super::{DataOwner, TransferPhase};

/// A queued request of a die for a channel or a controller.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Contender {
    /// The requesting die.
    pub die: DieId,
    /// The phase for which the die requests the resource.
    pub phase: TransferPhase,
    /// Owner class of the data to send; ignored for commands.
    pub data_owner: DataOwner,
    /// Whether the die is sending data and requests the path for the next page of the same operation.
    pub continues_operation: bool,
    /// Position of the die among the dies that share the resource.
    pub position: u32,
    /// Sequence number of the request, in order of arrival.
    pub order: u64,
}

/// A policy that chooses the next request to grant of a channel or a controller.
///
/// # Contract
/// - `choose` is called when a resource is released while two or more requests are queued. A request that finds the resource free, or is alone in the
///   queue, is granted without a call.
/// - `waiting` is in order of arrival, and the returned value is an index into it. An index out of range selects the first request.
/// - The policy is deterministic: equal calls in equal order return equal indices.
pub trait ArbitrationPolicy {
    /// Returns the index in `waiting` of the request to which the channel or controller `resource` is granted. `last` is the position of the last
    /// grant.
    fn choose(&mut self, resource: u32, last: u32, waiting: &[Contender]) -> usize;
}

/// A policy that the arbiters of all resources of an interconnect share.
#[derive(Clone)]
pub(super) struct SharedPolicy(Arc<Mutex<Box<dyn ArbitrationPolicy + Send>>>);

impl SharedPolicy {
    pub(super) fn new(policy: Box<dyn ArbitrationPolicy + Send>) -> SharedPolicy {
        SharedPolicy(Arc::new(Mutex::new(policy)))
    }

    /// Returns the request that the policy chooses. `waiting` must not be empty.
    pub(super) fn choose(&self, resource: u32, last: u32, waiting: &[Contender]) -> Contender {
        let at = if waiting.len() > 1 {
            self.0.lock().unwrap_or_else(PoisonError::into_inner).choose(resource, last, waiting)
        } else {
            0
        };
        *waiting.get(at).unwrap_or(&waiting[0])
    }
}

impl fmt::Debug for SharedPolicy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("SharedPolicy").finish_non_exhaustive()
    }
}
