//! Student's t distribution, for confidence intervals of repeated runs.

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use statrs::distribution::{ContinuousCDF, StudentsT};

/// Returns the quantile of Student's t distribution for `probability`, strictly between 0 and 1. `degrees` is the number of degrees of freedom.
///
/// SciPy has this function as well, but importing SciPy takes longer than all other work of a small sweep except the simulation.
#[pyfunction]
pub fn student_quantile(degrees: u64, probability: f64) -> PyResult<f64> {
    if !(probability > 0.0 && probability < 1.0) {
        return Err(PyValueError::new_err(format!("a probability between 0 and 1 is needed, not {probability}")));
    }
    let distribution =
        StudentsT::new(0.0, 1.0, degrees as f64).map_err(|error| PyValueError::new_err(error.to_string()))?;
    Ok(distribution.inverse_cdf(probability))
}
