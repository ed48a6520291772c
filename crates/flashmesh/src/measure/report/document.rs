//! The document of a run, which the command line and the Python package return.

use serde::Serialize;

use super::Report;
use super::fairness::Fairness;
use crate::quantities;
use crate::results::{Reported, Shape};

quantities! {
    /// Results of one run. A result covers the whole run, warm-up included, unless its meaning names another interval.
    Document as "Report" {
        /// Report of the run.
        report: Report => flatten;
        /// Effect of the streams on one another.
        fairness: Option<Fairness>, null "unless the streams were run alone as well (`--fairness`)";
        /// All parameters of the run, as tables with the keys of [parameters.md](parameters.md).
        configuration: Configuration;
        /// Origin of the result.
        provenance: Provenance;
    }
}

quantities! {
    /// Inputs that, together with the configuration, reproduce the result.
    Provenance as "Provenance" {
        /// Command line that made the result.
        command: Option<Vec<String>>, null "when no command line has made it";
        /// Traces and fitted profiles from which requests come, and files with policies in Python.
        files: Vec<WorkloadFile>;
    }
}

quantities! {
    /// A file with requests, or with a policy.
    WorkloadFile as "WorkloadFile" {
        /// Name of the stream; for a policy, its key.
        stream: String;
        /// Path of the file at the time of the run.
        path: String;
        /// Size of the file.
        size_bytes: u64, in "B";
        /// SHA-256 of the file, in hexadecimal.
        sha256: String;
    }
}

/// All parameters of a run as JSON, with one object for each table of the configuration.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Configuration(pub serde_json::Value);

impl Reported for Configuration {
    fn shape() -> Shape {
        Shape::Configuration
    }
}
