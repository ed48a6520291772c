//! Errors through which a user-supplied part ends a run.

use std::error::Error;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use crate::error::RunError;
use crate::units::Time;

type Reason = Box<dyn Error + Send + Sync>;

/// Error that a user-supplied part can raise, for example a policy that calls code that can fail. All clones share one error.
///
/// # Contract
/// - After [`Simulation::set_fault`](super::Simulation::set_fault) the run checks the fault after every event. If a reason was raised, the run ends
///   with [`RunError::Policy`], which contains the first reason and the time.
/// - Until the run ends, a part that has raised a reason may return anything that the contract of the part allows.
#[derive(Clone, Debug, Default)]
pub struct Fault(Arc<Raised>);

#[derive(Debug, Default)]
struct Raised {
    is_raised: AtomicBool,
    reason: Mutex<Option<Reason>>,
}

impl Fault {
    /// Requests the end of the run because of `reason`. The first reason of all clones is kept; later ones are dropped.
    pub fn raise(&self, reason: impl Into<Reason>) {
        let mut kept = self.0.reason.lock().unwrap_or_else(PoisonError::into_inner);
        if !self.0.is_raised.swap(true, Ordering::Release) {
            *kept = Some(reason.into());
        }
    }

    /// Returns whether any clone has raised a reason to end the run.
    pub fn is_raised(&self) -> bool {
        self.0.is_raised.load(Ordering::Acquire)
    }

    /// Returns [`RunError::Policy`] with the time `now` if a reason was raised, otherwise `Ok`.
    pub(super) fn check(&self, now: Time) -> Result<(), RunError> {
        if self.is_raised() { self.error(now) } else { Ok(()) }
    }

    #[cold]
    fn error(&self, at: Time) -> Result<(), RunError> {
        let reason = self.0.reason.lock().unwrap_or_else(PoisonError::into_inner).take();
        Err(RunError::Policy { at, reason: reason.unwrap_or_else(|| "the run has ended because of it already".into()) })
    }
}
