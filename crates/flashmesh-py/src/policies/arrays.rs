//! NumPy arrays with the state of a drive, for policies.

use pyo3::buffer::{Element, PyBuffer};
use pyo3::exceptions::{PyIndexError, PyRuntimeError};
use pyo3::prelude::*;

/// An array that is filled again at each access. Policies get a read-only view of it.
pub struct Shown<T: Element> {
    view: Py<PyAny>,
    buffer: PyBuffer<T>,
}

impl<T: Element + Copy> Shown<T> {
    /// Creates an array of `length` elements of the NumPy type `dtype`. Its view has the type `shown`.
    pub fn new(py: Python<'_>, length: u32, dtype: &str, shown: &str) -> PyResult<Shown<T>> {
        let array = py.import("numpy")?.call_method1("zeros", (length, dtype))?;
        let view = array.call_method1("view", (shown,))?;
        view.call_method1("setflags", (false,))?;
        Ok(Shown { view: view.unbind(), buffer: PyBuffer::get(&array)? })
    }

    /// Fills the array with `values`, one for each element. Returns the view.
    pub fn copied(&self, py: Python<'_>, values: &[T]) -> PyResult<Py<PyAny>> {
        self.buffer.copy_from_slice(py, values)?;
        Ok(self.view.clone_ref(py))
    }

    /// Fills each element with the result of `value` for its index. Returns the view.
    pub fn filled(&self, py: Python<'_>, value: impl Fn(u32) -> T) -> PyResult<Py<PyAny>> {
        let values: Vec<T> = (0..self.buffer.item_count() as u32).map(value).collect();
        self.copied(py, &values)
    }
}

/// Returns the error for an access to the state of a drive after the call of the policy.
#[cold]
pub fn gone() -> PyErr {
    PyRuntimeError::new_err("the state of a drive is seen only while it asks the policy, in the thread that asks")
}

/// Returns `number` if it is below `count`, and otherwise an IndexError about `what`.
pub fn below(what: &str, number: u32, count: u32) -> PyResult<u32> {
    if number < count {
        return Ok(number);
    }
    Err(PyIndexError::new_err(format!("there is no {what} {number}: they are 0 to {}", count - 1)))
}
