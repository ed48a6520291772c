//! Python bindings of the `flashmesh` crate, without logic of their own.

mod build;
mod config;
mod drive;
mod errors;
mod memory;
mod policies;
mod quantities;
mod request_log;
mod simulation;
mod states;
mod student;
mod toml_places;
mod trace;

use pyo3::prelude::*;

/// Compiled part of flashmesh. It is private: use the `flashmesh` package.
#[pymodule(gil_used = false)]
mod _native {
    #[pymodule_export]
    use crate::build::build_facts;
    #[pymodule_export]
    use crate::config::{Config, describe_profile, former_presets, parameters, presets, profiles_by_paper, sections};
    #[pymodule_export]
    use crate::drive::{Drive, Snapshot, request_codes};
    #[pymodule_export]
    use crate::errors::{
        CheckError, ConfigError, FlashmeshError, InternalError, OutputError, PolicyError, WorkloadError,
    };
    #[pymodule_export]
    use crate::policies::{
        Blocks, Contender, DispatchState, DriveState, Home, Planes, Router, Transaction, Waiting, Write,
    };
    #[pymodule_export]
    use crate::quantities::quantities;
    #[pymodule_export]
    use crate::simulation::{Control, PreparedDrives, Simulation, fairness};
    #[pymodule_export]
    use crate::states::{clear_states, kept_states};
    #[pymodule_export]
    use crate::student::student_quantile;
    #[pymodule_export]
    use crate::toml_places::toml_places;
    #[pymodule_export]
    use crate::trace::{compare_traces, convert_trace, fit_trace, generate_trace, scan_trace, trace_output_formats};

    use super::*;

    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        crate::errors::remember_panics();
        module.add("__version__", env!("CARGO_PKG_VERSION"))
    }
}
