//! Configurations, presets and profiles.

use std::path::PathBuf;

use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::errors::{ConfigError, InternalError, exception, guarded, shown};
use flashmesh::config::{self, ParameterType, StreamConfig};
use flashmesh::requests::profiles as library;
use flashmesh::units::{Bytes, Current, Quantity, Rate, Time, Voltage, Wattage};

/// A complete and valid configuration, with notes for its author.
#[pyclass(frozen, module = "flashmesh._native")]
pub struct Config {
    pub config: config::Config,
    notes: Vec<String>,
    unused: Vec<String>,
}

impl From<config::Loaded> for Config {
    fn from(read: config::Loaded) -> Config {
        Config { config: read.config, notes: read.notes, unused: read.unused }
    }
}

#[pymethods]
impl Config {
    /// Reads a configuration file. `jobs` take precedence over the file, and `overrides` over both. Both are lists of texts "table.key=value". Raises
    /// ConfigError with all problems.
    #[staticmethod]
    #[pyo3(signature = (path, overrides, jobs=Vec::new()))]
    fn from_file(py: Python<'_>, path: PathBuf, overrides: Vec<String>, jobs: Vec<String>) -> PyResult<Self> {
        let config = py.detach(|| guarded(|| config::Config::from_file_with_jobs(&path, &jobs, &overrides)))?;
        config.map(Config::from).map_err(|error| ConfigError::new_err(shown(&error)))
    }

    /// Reads a configuration from a text. Error messages call the text `name`. `jobs` take precedence over the text, and `overrides` over
    /// both. Raises ConfigError with all problems.
    #[staticmethod]
    #[pyo3(signature = (text, name, overrides, jobs=Vec::new()))]
    fn from_str(py: Python<'_>, text: &str, name: &str, overrides: Vec<String>, jobs: Vec<String>) -> PyResult<Self> {
        let config = py.detach(|| guarded(|| config::Config::from_str_with_jobs(text, name, &jobs, &overrides)))?;
        config.map(Config::from).map_err(|error| ConfigError::new_err(shown(&error)))
    }

    /// Returns the notes for the author of the configuration, one sentence each, such as keys that were renamed.
    fn notes(&self) -> Vec<String> {
        self.notes.clone()
    }

    /// Returns notes about keys that have no effect because the file selects another mode, one sentence each.
    fn unused(&self) -> Vec<String> {
        self.unused.clone()
    }

    /// Returns the configuration as TOML, with the value of every parameter.
    fn to_toml(&self) -> String {
        self.config.to_toml()
    }

    fn to_json(&self) -> String {
        self.config.to_json()
    }

    /// Returns the event that ends the warm-up: the value of `measure.warm-up`, or what the configuration determines if the key is unset.
    fn warm_up(&self) -> String {
        self.config.warm_up().to_string()
    }

    /// Returns the names of the streams, in the order of their numbers.
    fn stream_names(&self) -> Vec<String> {
        self.config.streams().into_iter().map(|stream| stream.name).collect()
    }

    /// Returns the paths of the traces that streams replay.
    fn traces(&self) -> Vec<PathBuf> {
        self.config.streams().into_iter().filter_map(|stream| stream.workload.trace).collect()
    }

    /// Returns the key and the name of each Python policy in the configuration.
    fn policies(&self) -> Vec<(String, String)> {
        self.config.policy.named().map(|(key, name)| (key.to_owned(), name.to_owned())).collect()
    }

    /// Returns the traces and fitted profiles as (stream that reads the file, path), sorted by stream.
    fn workload_files(&self) -> Vec<(String, String)> {
        let files = |stream: StreamConfig| {
            let paths = [stream.workload.trace, stream.workload.fitted].into_iter().flatten();
            paths.map(move |path| (stream.name.clone(), path.to_string_lossy().into_owned()))
        };
        let mut streams = self.config.streams();
        streams.sort_by(|one, other| one.name.cmp(&other.name));
        streams.into_iter().flat_map(files).collect()
    }

    /// Returns three sizes in bytes: the address space of a run, its peak memory, and the part of the peak memory that preconditioning
    /// accesses. With `checks`, includes the memory of the oracles.
    fn memory(&self, checks: bool) -> PyResult<(u64, u64, u64)> {
        let memory = self.config.memory_estimate(checks).map_err(|error| exception(&error))?;
        Ok((memory.reserved, memory.used, memory.preconditioned))
    }

    /// Returns the reason why `key` has no effect on a run; None if `key` has an effect or does not exist.
    fn unread(&self, key: &str) -> Option<String> {
        self.config.why_ineffective(key)
    }

    /// Returns a hash, which is equal for configurations that determine the same run.
    fn hash(&self) -> String {
        self.config.hash()
    }
}

/// Returns all parameters as JSON. Each has its key, type, units, default, bounds, choices, step for variation, meaning, and the conditions
/// under which it has an effect.
#[pyfunction]
pub fn parameters() -> PyResult<String> {
    let condition = |condition: &config::Condition| serde_json::json!({ "key": condition.path(), "is": condition.is, "values": condition.values });
    let declared: Vec<serde_json::Value> = config::Config::parameters()
        .map(|spec| {
            serde_json::json!({
                "key": spec.path(),
                "type": spec.type_name(),
                "units": units(spec.parameter_type),
                "default": spec.default_text,
                "unset_means": spec.unset_means,
                "bounds": spec.bounds_text,
                "min": spec.min_text,
                "max": spec.max_text,
                "choices": spec.choices.iter().map(|choice| (choice.name, choice.doc.as_str())).collect::<Vec<_>>(),
                "step": spec.step,
                "used_with": spec.used_with.iter()
                    .map(|with| with.any_of.iter().map(condition).collect::<Vec<_>>())
                    .collect::<Vec<_>>(),
                "meaning": spec.doc,
            })
        })
        .collect();
    serde_json::to_string(&declared).map_err(|error| InternalError::new_err(shown(&error)))
}

/// Returns the units of a type of parameter, the largest first; empty for a type without units.
fn units(parameter_type: ParameterType) -> Vec<&'static str> {
    fn of<Q: Quantity>() -> Vec<&'static str> {
        Q::UNITS.iter().map(|(name, _)| *name).collect()
    }
    match parameter_type {
        ParameterType::Time | ParameterType::Times => of::<Time>(),
        ParameterType::Bytes | ParameterType::Sizes => of::<Bytes>(),
        ParameterType::Rate => of::<Rate>(),
        ParameterType::Power => of::<Wattage>(),
        ParameterType::Current => of::<Current>(),
        ParameterType::Voltage => of::<Voltage>(),
        ParameterType::Share => vec!["%"],
        _ => Vec::new(),
    }
}

/// Returns the names of the sections of a configuration, each with its description. `NAME` in a name stands for a name that the user chooses.
#[pyfunction]
pub fn sections() -> Vec<(&'static str, String)> {
    config::Config::sections().iter().map(|section| (section.name, section.doc.clone())).collect()
}

/// Returns the names of the presets, each with a description in one line.
#[pyfunction]
pub fn presets(py: Python<'_>) -> PyResult<Bound<'_, PyDict>> {
    let summaries = PyDict::new(py);
    for preset in config::Config::presets() {
        summaries.set_item(preset.name, preset.summary)?;
    }
    Ok(summaries)
}

/// Returns the former names of presets, which still work, each with the current name.
#[pyfunction]
pub fn former_presets(py: Python<'_>) -> PyResult<Bound<'_, PyDict>> {
    let names = PyDict::new(py);
    for preset in config::Config::presets() {
        if let Some(former) = preset.former_name {
            names.set_item(former, preset.name)?;
        }
    }
    Ok(names)
}

/// Returns the profiles and mixes, grouped by the paper and table that published them. Each has its name and a summary in one line.
#[pyfunction]
pub fn profiles_by_paper(py: Python<'_>) -> PyResult<Bound<'_, PyDict>> {
    let papers = PyDict::new(py);
    for (paper, members) in library::groups() {
        let summaries = PyDict::new(py);
        for named in members {
            summaries.set_item(named.name(), named.summary())?;
        }
        papers.set_item(paper.source, summaries)?;
    }
    Ok(papers)
}

/// Returns the description of a profile or a mix: published values, values from other sources, and assumptions. Raises WorkloadError if there is no
/// such profile.
#[pyfunction]
pub fn describe_profile(name: &str) -> PyResult<String> {
    let named = library::find(name).map_err(|error| crate::errors::WorkloadError::new_err(shown(&error)))?;
    Ok(named.describe())
}
