//! Student's t distribution, for confidence intervals of repeated runs.

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use statrs::distribution::{ContinuousCDF, StudentsT};

/// The value that a variable of Student's t distribution with so many `degrees` of freedom does not exceed with this
/// `probability`, which lies between 0 and 1.
///
/// SciPy has it as well, and its import takes longer than all other work of a small sweep beside the simulation.
#[pyfunction]
pub fn student_quantile(degrees: u64, probability: f64) -> PyResult<f64> {
    if !(probability > 0.0 && probability < 1.0) {
        return Err(PyValueError::new_err(format!("a probability between 0 and 1 is needed, not {probability}")));
    }
    let distribution =
        StudentsT::new(0.0, 1.0, degrees as f64).map_err(|error| PyValueError::new_err(error.to_string()))?;
    Ok(distribution.inverse_cdf(probability))
}
