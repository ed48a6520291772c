//! What is in a trace, and traces in another format.

use std::fs::OpenOptions;
use std::path::PathBuf;

use pyo3::prelude::*;
use serde::Serialize;

use crate::config::Config;
use crate::errors::{InternalError, OutputError, WorkloadError, guarded};
use flashmesh::units::Bytes;
use flashmesh::workload::readers::{ADDRESSES_MAX, Compression, scan};
use flashmesh::workload::writers::{Conversion, ConvertError, OUTPUT_FORMATS, OutputFormat, Packed, convert};

/// The unit in which a trace is looked at without a drive.
const SECTOR_SIZE: Bytes = Bytes::new(512);

/// Reads the trace of a configuration and says what is in it: its summary as JSON, and remarks on lines that are no requests.
#[pyfunction]
pub fn scan_trace(py: Python<'_>, config: &Config) -> PyResult<(String, Vec<String>)> {
    let workload = &config.0.workload;
    let scanned = py.detach(|| guarded(|| scan(workload, ADDRESSES_MAX, SECTOR_SIZE)))?;
    let summary = scanned.map_err(|error| WorkloadError::new_err(error.to_string()))?;
    Ok((json(&summary)?, summary.remarks()))
}

/// Writes the trace of a configuration into the file at `path`, in a format and packed as the end of `name` says.
///
/// Gives what became of it as JSON, and remarks on lines that are no requests.
#[pyfunction]
pub fn convert_trace(
    py: Python<'_>,
    config: &Config,
    path: PathBuf,
    name: PathBuf,
    format: &str,
    drop_deallocates: bool,
) -> PyResult<(String, Vec<String>)> {
    let work = || -> Result<Conversion, ConvertError> {
        let (workload, format) = (&config.0.workload, OutputFormat::find(format)?);
        let stream = format.open(workload)?;
        let file = OpenOptions::new().write(true).truncate(true).open(&path)?;
        let mut packed = Packed::new(Compression::of_name(&name), file)?;
        let conversion = convert(stream, workload.tolerate, format, drop_deallocates, &mut packed)?;
        packed.finish()?;
        Ok(conversion)
    };
    match py.detach(|| guarded(work))? {
        Ok(conversion) => Ok((json(&conversion)?, conversion.read.remarks())),
        Err(ConvertError::Workload(error)) => Err(WorkloadError::new_err(error.to_string())),
        Err(ConvertError::Write(error)) => {
            Err(OutputError::new_err(format!("{}: cannot be written: {error}", name.display())))
        }
    }
}

/// The names of the formats that traces can be written in.
#[pyfunction]
pub fn trace_output_formats() -> Vec<&'static str> {
    OUTPUT_FORMATS.iter().map(|format| format.name).collect()
}

fn json(value: &impl Serialize) -> PyResult<String> {
    serde_json::to_string(value).map_err(|error| InternalError::new_err(error.to_string()))
}
