//! The document of a run, as the command line and the Python package hand it out.

use super::fairness::Fairness;
use super::report::Report;
use crate::quantities;

quantities! {
    /// The measures of one run. Where a meaning names no other interval, it covers the whole run, warm-up included.
    Document as "Report" {
        /// What the run reports.
        report: Report => flatten;
        /// How much the streams slow one another down.
        fairness: Option<Fairness>, null "unless the streams were run alone as well (`--fairness`)";
    }
}
