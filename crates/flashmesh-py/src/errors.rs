//! Conversion of errors and panics of the library to Python exceptions.

use std::any::Any;
use std::cell::RefCell;
use std::fmt::Display;
use std::panic::{AssertUnwindSafe, catch_unwind};

use pyo3::create_exception;
use pyo3::exceptions::PyException;
use pyo3::prelude::*;

use crate::policies::Raised;
use flashmesh::error::{RunError, StepError};
use flashmesh::units::printable;

create_exception!(flashmesh, FlashmeshError, PyException, "Base class of the errors of flashmesh.");
create_exception!(
    flashmesh,
    ConfigError,
    FlashmeshError,
    "Invalid configuration; the message shows the place of the error."
);
create_exception!(flashmesh, WorkloadError, FlashmeshError, "Workload that cannot be read or replayed.");
create_exception!(flashmesh, OutputError, FlashmeshError, "Result that cannot be written.");
create_exception!(flashmesh, CheckError, FlashmeshError, "Contradiction in the simulation, found by a check.");
create_exception!(
    flashmesh,
    PolicyError,
    FlashmeshError,
    "Failure of a Python policy: an exception, which is the cause of this error, or an invalid result."
);
create_exception!(flashmesh, InternalError, FlashmeshError, "Fault of flashmesh itself, not of its input.");

/// Returns the message of an error. Control characters in foreign text are escaped.
pub fn shown(error: &impl Display) -> String {
    printable(&error.to_string())
}

/// Converts an error of the library to a Python exception.
pub fn exception(error: &RunError) -> PyErr {
    let text = shown(error);
    match error {
        RunError::Policy { reason, .. } => {
            let raised = PolicyError::new_err(text);
            if let Some(Raised { error, .. }) = reason.downcast_ref::<Raised>() {
                Python::attach(|py| raised.set_cause(py, Some(error.clone_ref(py))));
            }
            raised
        }
        RunError::NoPolicy { .. } => ConfigError::new_err(text),
        RunError::Geometry(_) | RunError::Fabric(_) | RunError::Namespace(_) => ConfigError::new_err(text),
        RunError::Step(StepError::Key { .. } | StepError::OtherDrive { .. }) => ConfigError::new_err(text),
        RunError::Workload(_) | RunError::TooLong | RunError::Step(_) => WorkloadError::new_err(text),
        RunError::Check(_) => CheckError::new_err(text),
        RunError::Sink(_) => OutputError::new_err(text),
        RunError::Stalled { .. } => InternalError::new_err(text),
    }
}

thread_local! {
    /// Message and location of the last panic of this thread.
    static PANIC: RefCell<Option<String>> = const { RefCell::new(None) };
}

/// Installs a panic hook that stores the message for [`guarded`] instead of printing it. With `FLASHMESH_DEBUG`, the hook also prints it.
pub fn remember_panics() {
    let print = std::panic::take_hook();
    let debug = std::env::var_os("FLASHMESH_DEBUG").is_some_and(|value| !value.is_empty());
    std::panic::set_hook(Box::new(move |info| {
        PANIC.with(|panic| *panic.borrow_mut() = Some(info.to_string()));
        if debug {
            print(info);
        }
    }));
}

/// Runs `work`. Converts a panic to an [`InternalError`].
pub fn guarded<T>(work: impl FnOnce() -> T) -> PyResult<T> {
    catch_unwind(AssertUnwindSafe(work)).map_err(|payload| {
        let remembered = PANIC.with(|panic| panic.borrow_mut().take());
        InternalError::new_err(remembered.unwrap_or_else(|| message(&*payload)))
    })
}

fn message(payload: &(dyn Any + Send)) -> String {
    let text = payload.downcast_ref::<&str>().copied().or_else(|| payload.downcast_ref::<String>().map(String::as_str));
    text.unwrap_or("a panic without a message").to_owned()
}
