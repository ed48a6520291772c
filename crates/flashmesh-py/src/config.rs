//! Configurations, presets and profiles.

use std::path::PathBuf;

use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::errors::{ConfigError, InternalError, exception, guarded, shown};
use flashmesh::config::{self, ParameterType, StreamConfig};
use flashmesh::requests::profiles as library;
use flashmesh::units::{Bytes, Current, Quantity, Rate, Time, Voltage, Wattage};

/// A whole configuration, checked.
#[pyclass(frozen, module = "flashmesh._native")]
pub struct Config(pub config::Config, Vec<String>);

#[pymethods]
impl Config {
    /// Reads a file; `overrides` are texts "table.key=value", and so are `jobs`, which come between.
    #[staticmethod]
    #[pyo3(signature = (path, overrides, jobs=Vec::new()))]
    fn from_file(py: Python<'_>, path: PathBuf, overrides: Vec<String>, jobs: Vec<String>) -> PyResult<Self> {
        let config = py.detach(|| guarded(|| config::Config::from_file_with_jobs(&path, &jobs, &overrides)))?;
        config.map(|read| Config(read.config, read.notes)).map_err(|error| ConfigError::new_err(shown(&error)))
    }

    /// Reads a text; errors call it `name`.
    #[staticmethod]
    #[pyo3(signature = (text, name, overrides, jobs=Vec::new()))]
    fn from_str(py: Python<'_>, text: &str, name: &str, overrides: Vec<String>, jobs: Vec<String>) -> PyResult<Self> {
        let config = py.detach(|| guarded(|| config::Config::from_str_with_jobs(text, name, &jobs, &overrides)))?;
        config.map(|read| Config(read.config, read.notes)).map_err(|error| ConfigError::new_err(shown(&error)))
    }

    /// What whoever wrote it should know, a sentence each: names that have changed.
    fn notes(&self) -> Vec<String> {
        self.1.clone()
    }

    /// Every parameter with its value.
    fn to_toml(&self) -> String {
        self.0.to_toml()
    }

    fn to_json(&self) -> String {
        self.0.to_json()
    }

    /// The names of the streams, in the order in which they are numbered.
    fn stream_names(&self) -> Vec<String> {
        self.0.streams().into_iter().map(|stream| stream.name).collect()
    }

    /// The traces that streams replay.
    fn traces(&self) -> Vec<PathBuf> {
        self.0.streams().into_iter().filter_map(|stream| stream.workload.trace).collect()
    }

    /// The policies in Python that it names: the key of each, and its name.
    fn policies(&self) -> Vec<(String, String)> {
        self.0.policy.named().map(|(key, name)| (key.to_owned(), name.to_owned())).collect()
    }

    /// The files that requests come from, traces and fitted profiles, each behind the stream that reads it; by the names of the streams.
    fn workload_files(&self) -> Vec<(String, String)> {
        let files = |stream: StreamConfig| {
            let paths = [stream.workload.trace, stream.workload.fitted].into_iter().flatten();
            paths.map(move |path| (stream.name.clone(), path.to_string_lossy().into_owned()))
        };
        let mut streams = self.0.streams();
        streams.sort_by(|one, other| one.name.cmp(&other.name));
        streams.into_iter().flat_map(files).collect()
    }

    /// The memory of a run, in bytes: address space, what is used at most, and what of it preconditioning takes.
    fn memory(&self, checks: bool) -> PyResult<(u64, u64, u64)> {
        let memory = self.0.memory(checks).map_err(|error| exception(&error))?;
        Ok((memory.reserved, memory.used, memory.preconditioned))
    }

    /// Why no part of a run reads a key; None when one does.
    fn unread(&self, key: &str) -> Option<String> {
        self.0.unread(key)
    }

    /// Equal for configurations that decide the same run.
    fn hash(&self) -> String {
        self.0.hash()
    }
}

/// Every declared parameter, as JSON: its key, what it is and means, its units, its default, its bounds, its choices, the step by
/// which it is varied, and the settings without which it is not read.
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

/// The units that a value of this type may have, the largest first; none where it has none.
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

/// The sections of a configuration by name, each with what it is about; `NAME` stands for the name of a table that has one.
#[pyfunction]
pub fn sections() -> Vec<(&'static str, String)> {
    config::Config::sections().iter().map(|section| (section.name, section.doc.clone())).collect()
}

/// The presets by name, each with what it is in one line.
#[pyfunction]
pub fn presets(py: Python<'_>) -> PyResult<Bound<'_, PyDict>> {
    let summaries = PyDict::new(py);
    for preset in config::Config::presets() {
        summaries.set_item(preset.name, preset.summary)?;
    }
    Ok(summaries)
}

/// What presets were called before, and are found by as well; each with its name.
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

/// The profiles and mixes by name, each with its figures in one line, by the paper and table that publish them.
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

/// What a profile or a mix says of itself: what is published, what is known from elsewhere and what is assumed.
#[pyfunction]
pub fn describe_profile(name: &str) -> PyResult<String> {
    let named = library::find(name).map_err(|error| crate::errors::WorkloadError::new_err(shown(&error)))?;
    Ok(named.describe())
}
