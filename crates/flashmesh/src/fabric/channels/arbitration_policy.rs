//! Custom arbitration of channels and controllers, by a policy of the caller.

use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use crate::fabric::{DataOwner, TransferPhase};
use crate::ids::DieId;

/// A queued request of a die for a channel or a controller, as shown to a custom policy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Contender {
    /// The requesting die.
    pub die: DieId,
    /// The phase for which the die requests the channel or controller.
    pub phase: TransferPhase,
    /// Owner class (mapping cache, host request or GC) of the data to send; ignored for commands.
    pub data_owner: DataOwner,
    /// Whether the die requests the channel while it still holds the channel for the same phase, such as for the data of its next page. Always
    /// `false` for pnSSD.
    pub continues_operation: bool,
    /// Index of the die among the dies that share the channel or controller, from 0.
    pub position: u32,
    /// Sequence number of the request: a lower number arrived earlier at this channel or controller.
    pub order: u64,
}

/// A policy that chooses which queued request is granted a channel or a controller next.
///
/// # Contract
/// - `choose` is called when a channel or controller is released and two or more of its queued requests can be granted. Other requests are granted
///   without a call.
/// - `waiting` has the queued requests in order of arrival. The result is an index into `waiting`; an index out of range selects the first request.
/// - The policy is deterministic: equal calls in equal order return equal indices.
pub trait ArbitrationPolicy {
    /// Returns the index in `waiting` of the request to which the channel or controller number `resource` is granted. `last` is the
    /// [position](Contender::position) of the die granted last.
    fn choose(&mut self, resource: u32, last: u32, waiting: &[Contender]) -> usize;
}

/// A custom policy that the arbiters of all channels or controllers of an interconnect share.
#[derive(Clone)]
pub(in super::super) struct SharedPolicy(Arc<Mutex<Box<dyn ArbitrationPolicy + Send>>>);

impl SharedPolicy {
    pub(in super::super) fn new(policy: Box<dyn ArbitrationPolicy + Send>) -> SharedPolicy {
        SharedPolicy(Arc::new(Mutex::new(policy)))
    }

    /// Returns the request of `waiting` that the policy chooses for the channel or controller number `resource`. `waiting` must not be
    /// empty. A single request is returned without a call of the policy.
    pub(in super::super) fn choose(&self, resource: u32, last: u32, waiting: &[Contender]) -> Contender {
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
