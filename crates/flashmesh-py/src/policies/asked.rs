//! Calls of the methods of a policy. A failure of a policy ends the run.

use std::error::Error;
use std::fmt;

use pyo3::call::PyCallArgs;
use pyo3::prelude::*;

use flashmesh::simulation::Fault;

/// Exception that a policy raised, attached to the exception of the run.
#[derive(Debug)]
pub struct Raised {
    who: String,
    /// The exception of the policy, with its traceback.
    pub error: PyErr,
}

impl fmt::Display for Raised {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} raised {}", self.who, self.error)
    }
}

impl Error for Raised {}

/// A method of a Python policy, which the simulation calls for decisions. Its failure ends the run.
pub struct Policy {
    method: Py<PyAny>,
    /// Name of the policy and the method, for messages.
    who: String,
    fault: Fault,
}

impl Policy {
    /// Looks up `method` of the policy `object`. Messages call the policy `name`. Raises AttributeError if there is no such method.
    pub fn new(object: &Bound<'_, PyAny>, method: &str, name: &str, fault: Fault) -> PyResult<Policy> {
        Ok(Policy { method: object.getattr(method)?.unbind(), who: format!("{name}.{method}"), fault })
    }

    /// Looks up `method`, another method of the same policy; `None` if the policy does not have it.
    pub fn beside(&self, object: &Bound<'_, PyAny>, method: &str) -> PyResult<Option<Policy>> {
        let Some(found) = object.getattr_opt(method)? else { return Ok(None) };
        let name = self.who.rsplit_once('.').map_or(self.who.as_str(), |(name, _)| name);
        let who = format!("{name}.{method}");
        Ok(Some(Policy { method: found.unbind(), who, fault: self.fault.clone() }))
    }

    /// Returns whether a policy has failed. From then on no policy is called, and the run ends soon.
    pub fn has_failed(&self) -> bool {
        self.fault.is_raised()
    }

    /// Calls the method. Returns its result. On an exception, ends the run and returns `None`.
    pub fn ask<'py>(&self, py: Python<'py>, arguments: impl PyCallArgs<'py>) -> Option<Bound<'py, PyAny>> {
        match self.method.bind(py).call1(arguments) {
            Ok(answer) => Some(answer),
            Err(error) => {
                self.raised(error);
                None
            }
        }
    }

    /// Ends the run because of an exception in the policy.
    #[cold]
    pub fn raised(&self, error: PyErr) {
        self.fault.raise(Raised { who: self.who.clone(), error });
    }

    /// Ends the run because of an invalid result `answer`. `why` explains what is wrong.
    #[cold]
    pub fn refuse(&self, answer: &Bound<'_, PyAny>, why: &str) {
        let shown = answer.repr().map_or_else(|_| "something without a text".to_owned(), |text| text.to_string());
        self.fault.raise(format!("{} answered {shown}: {why}", self.who));
    }
}
