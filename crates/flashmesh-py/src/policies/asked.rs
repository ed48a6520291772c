//! Calls of a policy's methods. A failure ends the run.

use std::error::Error;
use std::fmt;

use pyo3::call::PyCallArgs;
use pyo3::prelude::*;

use flashmesh::simulation::Fault;

/// Exception raised by a policy, attached to the exception of the run.
#[derive(Debug)]
pub struct Raised {
    who: String,
    /// Exception of the policy, with its traceback.
    pub error: PyErr,
}

impl fmt::Display for Raised {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} raised {}", self.who, self.error)
    }
}

impl Error for Raised {}

/// A method of a policy.
pub struct Policy {
    method: Py<PyAny>,
    /// Policy and method in messages.
    who: String,
    fault: Fault,
}

impl Policy {
    /// Binds `method` of `object`. Messages call the policy `name`.
    pub fn new(object: &Bound<'_, PyAny>, method: &str, name: &str, fault: Fault) -> PyResult<Policy> {
        Ok(Policy { method: object.getattr(method)?.unbind(), who: format!("{name}.{method}"), fault })
    }

    /// Binds another method of the same policy; `None` if it has none.
    pub fn beside(&self, object: &Bound<'_, PyAny>, method: &str) -> PyResult<Option<Policy>> {
        let Some(found) = object.getattr_opt(method)? else { return Ok(None) };
        let name = self.who.rsplit_once('.').map_or(self.who.as_str(), |(name, _)| name);
        let who = format!("{name}.{method}");
        Ok(Some(Policy { method: found.unbind(), who, fault: self.fault.clone() }))
    }

    /// Returns whether a policy has failed. No policy is called from then on, and the run ends soon.
    #[inline]
    pub fn has_failed(&self) -> bool {
        self.fault.is_raised()
    }

    /// Calls the method and returns its answer. On an exception, ends the run and returns `None`.
    #[inline]
    pub fn ask<'py>(&self, py: Python<'py>, arguments: impl PyCallArgs<'py>) -> Option<Bound<'py, PyAny>> {
        match self.method.bind(py).call1(arguments) {
            Ok(answer) => Some(answer),
            Err(error) => {
                self.raised(error);
                None
            }
        }
    }

    /// Ends the run because of an exception.
    #[cold]
    pub fn raised(&self, error: PyErr) {
        self.fault.raise(Raised { who: self.who.clone(), error });
    }

    /// Ends the run because of an invalid answer. `why` says what is wrong with it.
    #[cold]
    pub fn refuse(&self, answer: &Bound<'_, PyAny>, why: &str) {
        let shown = answer.repr().map_or_else(|_| "something without a text".to_owned(), |text| text.to_string());
        self.fault.raise(format!("{} answered {shown}: {why}", self.who));
    }
}
