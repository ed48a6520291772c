//! How a part of the caller's own ends a run.

use std::error::Error;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use crate::error::RunError;
use crate::units::Time;

type Reason = Box<dyn Error + Send + Sync>;

/// Where a part of the caller's own says that it cannot go on, such as a policy that calls code which may fail. Clones share it.
///
/// # Contract
/// - [`Simulation::set_fault`](super::Simulation::set_fault) lets the run look at it after every event: the run ends with
///   [`RunError::Policy`], which holds the first reason and the time.
/// - A part that has raised a reason still answers until then, with anything that its contract allows.
#[derive(Clone, Debug, Default)]
pub struct Fault(Arc<Raised>);

#[derive(Debug, Default)]
struct Raised {
    is_raised: AtomicBool,
    reason: Mutex<Option<Reason>>,
}

impl Fault {
    /// Ends the run because of `reason`. Only the first reason counts.
    pub fn raise(&self, reason: impl Into<Reason>) {
        let mut kept = self.0.reason.lock().unwrap_or_else(PoisonError::into_inner);
        if !self.0.is_raised.swap(true, Ordering::Release) {
            *kept = Some(reason.into());
        }
    }

    /// Whether there is a reason to end the run.
    #[inline]
    pub fn is_raised(&self) -> bool {
        self.0.is_raised.load(Ordering::Acquire)
    }

    /// The error of a run that has come to `now`, when there is a reason.
    #[inline]
    pub(super) fn check(&self, now: Time) -> Result<(), RunError> {
        if self.is_raised() { self.error(now) } else { Ok(()) }
    }

    #[cold]
    fn error(&self, at: Time) -> Result<(), RunError> {
        let reason = self.0.reason.lock().unwrap_or_else(PoisonError::into_inner).take();
        Err(RunError::Policy { at, reason: reason.unwrap_or_else(|| "the run has ended because of it already".into()) })
    }
}
