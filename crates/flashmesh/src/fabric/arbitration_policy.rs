//! Arbitration of the caller's own.

use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use crate::ids::DieId;

use super::{DataOf, TransferPhase};

/// A die that waits for a channel, or for a controller.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Contender {
    /// The die.
    pub die: DieId,
    /// What it wants to send.
    pub phase: TransferPhase,
    /// Whose data it wants to send, when it is data.
    pub data: DataOf,
    /// Whether it sends data now, and wants to send the next page of the same operation.
    pub goes_on: bool,
    /// Its place among the dies that may want the resource.
    pub position: u32,
    /// Grows with every request for a path.
    pub order: u64,
}

/// Chooses who is served next of those that wait for a channel, or for a controller.
///
/// # Contract
/// - Asked when a resource gets free and more than one waits for it; whoever finds it free, or waits alone, is served at once.
/// - The answer is a position in `waiting`, which is in the order of asking. Any other answer stands for the first.
/// - It is deterministic: the same calls in the same order give the same answers.
pub trait ArbitrationPolicy {
    /// Who of `waiting` is served next by the channel or controller `resource`; `last` is the position of the die that it served last.
    fn choose(&mut self, resource: u32, last: u32, waiting: &[Contender]) -> usize;
}

/// One policy for the arbiters of all resources of an interconnect.
#[derive(Clone)]
pub(super) struct SharedPolicy(Arc<Mutex<Box<dyn ArbitrationPolicy + Send>>>);

impl SharedPolicy {
    pub(super) fn new(policy: Box<dyn ArbitrationPolicy + Send>) -> SharedPolicy {
        SharedPolicy(Arc::new(Mutex::new(policy)))
    }

    /// The one of `waiting`, which are not none, that is served next.
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
