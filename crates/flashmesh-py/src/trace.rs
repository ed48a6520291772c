//! Analysis and conversion of traces.

use std::fs::OpenOptions;
use std::path::PathBuf;

use pyo3::prelude::*;
use serde::Serialize;

use crate::config::Config;
use crate::errors::{InternalError, OutputError, WorkloadError, guarded, shown};
use flashmesh::error::system_message;
use flashmesh::requests::fitted::{FittedProfile, FittedSource, fit};
use flashmesh::requests::statistics::{Figure, REPLAY_BOUNDS, Statistics, compare};
use flashmesh::requests::traces::{ADDRESSES_MAX, Compression, TraceStream, scan};
use flashmesh::requests::traces::{
    CompressedWriter, Conversion, ConvertError, OUTPUT_FORMATS, OutputFormat, WriteSummary, convert, write_source,
};
use flashmesh::units::{Bytes, Time, printable_path};

/// Sector size for reading a trace if there is no drive.
const SECTOR_SIZE: Bytes = Bytes::new(512);

/// Reads the trace of a configuration. Returns its summary as JSON, and remarks on lines that are not requests.
#[pyfunction]
pub fn scan_trace(py: Python<'_>, config: &Config) -> PyResult<(String, Vec<String>)> {
    let workload = &config.config.workload;
    let scanned = py.detach(|| guarded(|| scan(workload, ADDRESSES_MAX, SECTOR_SIZE)))?;
    let summary = scanned.map_err(|error| WorkloadError::new_err(shown(&error)))?;
    Ok((json(&summary)?, summary.remarks()))
}

/// Writes the trace of a configuration to the file at `path`, in the given format. The extension of `name` determines the compression.
///
/// Returns as JSON the summary of the trace and the numbers of requests written and left out, and remarks on lines that are not requests.
#[pyfunction]
pub fn convert_trace(
    py: Python<'_>,
    config: &Config,
    path: PathBuf,
    name: PathBuf,
    format: &str,
    drop_unwritable: bool,
) -> PyResult<(String, Vec<String>)> {
    let work = || -> Result<Conversion, ConvertError> {
        let (workload, format) = (&config.config.workload, OutputFormat::find(format)?);
        let stream = format.open(workload)?;
        let file = OpenOptions::new().write(true).truncate(true).open(&path)?;
        let mut packed = CompressedWriter::new(Compression::of_name(&name), file)?;
        let conversion = convert(stream, workload.tolerate, format, drop_unwritable, &mut packed)?;
        packed.finish()?;
        Ok(conversion)
    };
    match py.detach(|| guarded(work))? {
        Ok(conversion) => Ok((json(&conversion)?, conversion.read.remarks())),
        Err(ConvertError::Workload(error)) => Err(WorkloadError::new_err(shown(&error))),
        Err(ConvertError::Write(error)) => Err(OutputError::new_err(format!(
            "{}: cannot be written: {}",
            printable_path(&name),
            system_message(&error)
        ))),
    }
}

/// Fits a profile to the trace of a configuration. Returns the profile as text, the summary of the trace as JSON, and remarks on lines that are not
/// requests.
#[pyfunction]
pub fn fit_trace(py: Python<'_>, config: &Config) -> PyResult<(String, String, Vec<String>)> {
    let fitted = py.detach(|| guarded(|| fit(&config.config.workload)))?;
    let (model, summary) = fitted.map_err(|error| WorkloadError::new_err(shown(&error)))?;
    Ok((model.to_toml(), json(&summary)?, summary.remarks()))
}

/// Generates `requests` requests (by default as many as the original trace) from the fitted profile in the file `profile`. Writes them to the file at
/// `path`, in the given format. The extension of `name` determines the compression. Returns the counts of what was written as JSON.
#[pyfunction]
#[pyo3(signature = (profile, path, name, format, requests, seed, drop_unwritable))]
#[allow(clippy::too_many_arguments, reason = "what a person may choose")]
pub fn generate_trace(
    py: Python<'_>,
    profile: PathBuf,
    path: PathBuf,
    name: PathBuf,
    format: &str,
    requests: Option<u64>,
    seed: u64,
    drop_unwritable: bool,
) -> PyResult<String> {
    let work = || -> Result<WriteSummary, ConvertError> {
        let format = OutputFormat::find(format)?;
        let model = FittedProfile::from_file(&profile)?;
        let mut source = FittedSource::new(&model, requests, ADDRESSES_MAX, SECTOR_SIZE, false, seed)?;
        let file = OpenOptions::new().write(true).truncate(true).open(&path)?;
        let mut packed = CompressedWriter::new(Compression::of_name(&name), file)?;
        let written = write_source(&mut source, format, drop_unwritable, &mut packed)?;
        packed.finish()?;
        Ok(written)
    };
    match py.detach(|| guarded(work))? {
        Ok(written) => json(&written),
        Err(ConvertError::Workload(error)) => Err(WorkloadError::new_err(shown(&error))),
        Err(ConvertError::Write(error)) => Err(OutputError::new_err(format!(
            "{}: cannot be written: {}",
            printable_path(&name),
            system_message(&error)
        ))),
    }
}

/// Figures of two traces, and the bounds for a comparison of their replays.
#[derive(Serialize)]
struct Compared {
    figures: Vec<Figure>,
    replay_bounds: [(&'static str, &'static str, f64); REPLAY_BOUNDS.len()],
}

/// Compares two traces figure by figure. Returns the figures and the bounds for their replays as JSON.
#[pyfunction]
pub fn compare_traces(py: Python<'_>, original: &Config, copy: &Config) -> PyResult<String> {
    let work = || -> Result<Vec<Figure>, flashmesh::error::WorkloadError> {
        let (original, copy) = (&original.config.workload, &copy.config.workload);
        let summary = scan(original, ADDRESSES_MAX, SECTOR_SIZE)?;
        let statistics = |workload| -> Result<Statistics, flashmesh::error::WorkloadError> {
            let mut statistics = Statistics::new(summary.requests, Time::from_ps(summary.span_ps));
            let mut stream = TraceStream::open(workload, ADDRESSES_MAX, SECTOR_SIZE)?;
            while let Some(request) = stream.next_request()? {
                statistics.add(&request);
            }
            Ok(statistics)
        };
        Ok(compare(&statistics(original)?, &statistics(copy)?))
    };
    let figures = py.detach(|| guarded(work))?;
    let figures = figures.map_err(|error| WorkloadError::new_err(shown(&error)))?;
    json(&Compared { figures, replay_bounds: REPLAY_BOUNDS })
}

/// Returns the names of the formats in which traces can be written.
#[pyfunction]
pub fn trace_output_formats() -> Vec<&'static str> {
    OUTPUT_FORMATS.iter().map(|format| format.name).collect()
}

fn json(value: &impl Serialize) -> PyResult<String> {
    serde_json::to_string(value).map_err(|error| InternalError::new_err(shown(&error)))
}
