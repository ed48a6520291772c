//! Arrays of NumPy that show the state of a drive.

use pyo3::buffer::{Element, PyBuffer};
use pyo3::exceptions::{PyIndexError, PyRuntimeError};
use pyo3::prelude::*;

/// One array, filled anew whenever it is asked for: users see a view that they cannot write to.
pub struct Shown<T: Element> {
    view: Py<PyAny>,
    buffer: PyBuffer<T>,
}

impl<T: Element + Copy> Shown<T> {
    /// An array of `length` numbers of the type that NumPy calls `dtype`, shown as `shown`.
    pub fn new(py: Python<'_>, length: u32, dtype: &str, shown: &str) -> PyResult<Shown<T>> {
        let array = py.import("numpy")?.call_method1("zeros", (length, dtype))?;
        let view = array.call_method1("view", (shown,))?;
        view.call_method1("setflags", (false,))?;
        Ok(Shown { view: view.unbind(), buffer: PyBuffer::get(&array)? })
    }

    /// Fills it with `values`, as many as it has places.
    pub fn copied(&self, py: Python<'_>, values: &[T]) -> PyResult<Py<PyAny>> {
        self.buffer.copy_from_slice(py, values)?;
        Ok(self.view.clone_ref(py))
    }

    /// Fills it with what `value` gives for each of its places.
    pub fn filled(&self, py: Python<'_>, value: impl Fn(u32) -> T) -> PyResult<Py<PyAny>> {
        let values: Vec<T> = (0..self.buffer.item_count() as u32).map(value).collect();
        self.copied(py, &values)
    }
}

/// Why the state of a drive cannot be seen now.
#[cold]
pub fn gone() -> PyErr {
    PyRuntimeError::new_err("the state of a drive is seen only while it asks the policy, in the thread that asks")
}

/// Refuses what is not below `count`.
pub fn below(what: &str, number: u32, count: u32) -> PyResult<u32> {
    if number < count {
        return Ok(number);
    }
    Err(PyIndexError::new_err(format!("there is no {what} {number}: they are 0 to {}", count - 1)))
}
