//! The document of a run, as the command line and the Python package hand it out.

use serde::Serialize;

use super::fairness::Fairness;
use super::report::Report;
use crate::quantities;
use crate::results::{Reported, Shape};

quantities! {
    /// The measures of one run. Where a meaning names no other interval, it covers the whole run, warm-up included.
    Document as "Report" {
        /// Report of the run.
        report: Report => flatten;
        /// How much the streams slow one another down.
        fairness: Option<Fairness>, null "unless the streams were run alone as well (`--fairness`)";
        /// Every parameter of the run: tables with the keys of [parameters.md](parameters.md).
        configuration: Configuration;
        /// How the result was made.
        provenance: Provenance;
    }
}

quantities! {
    /// Inputs, beside the configuration, that reproduce the result.
    Provenance as "Provenance" {
        /// The command line.
        command: Option<Vec<String>>, null "when no command line has made it";
        /// Traces and fitted profiles that requests come from, and files of policies in Python.
        files: Vec<WorkloadFile>;
    }
}

quantities! {
    /// A file that requests come from, or of a policy.
    WorkloadFile as "WorkloadFile" {
        /// Name of the stream; of a policy its key.
        stream: String;
        /// Where the file was.
        path: String;
        /// Size of the file.
        size_bytes: u64, in "B";
        /// SHA-256 of its content, in hexadecimal.
        sha256: String;
    }
}

/// Every parameter of a run, as tables.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Configuration(pub serde_json::Value);

impl Reported for Configuration {
    fn shape() -> Shape {
        Shape::Configuration
    }
}
