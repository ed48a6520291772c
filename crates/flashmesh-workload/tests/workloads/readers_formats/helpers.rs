//! Helpers that read texts and bytes as traces, and check the errors of bad lines.

use std::path::PathBuf;

use flashmesh_workload::config::{TraceFormat, Workload};
use flashmesh_workload::error::WorkloadError;
use flashmesh_workload::readers::{TraceStream, TraceSummary, scan_stream};
use flashmesh_workload::units::{Bytes, Time};
use flashmesh_workload::{IoRequest, RequestKind};

pub const CAPACITY: Bytes = Bytes::from_kib(1 << 20);
pub const SECTOR: Bytes = Bytes::new(512);

pub fn workload(format: TraceFormat) -> Workload {
    Workload { format, ..Workload::default() }
}

pub fn stream(text: impl AsRef<[u8]>, workload: &Workload) -> Result<TraceStream, WorkloadError> {
    let bytes = std::io::Cursor::new(text.as_ref().to_vec());
    TraceStream::from_reader(PathBuf::from("t"), bytes, workload, CAPACITY, SECTOR)
}

pub fn requests(text: impl AsRef<[u8]>, workload: &Workload) -> Vec<IoRequest> {
    let mut stream = stream(text, workload).unwrap();
    std::iter::from_fn(|| stream.next_request().unwrap()).collect()
}

pub fn summary(text: impl AsRef<[u8]>, workload: &Workload) -> Result<TraceSummary, WorkloadError> {
    scan_stream(stream(text, workload)?, workload.tolerate)
}

pub fn request(arrival: Time, kind: RequestKind, offset: u64, size: u64, stream: u32) -> IoRequest {
    IoRequest { arrival, kind, offset: Bytes::new(offset), size: Bytes::new(size), stream }
}

/// Reads each bad line between two good ones, and checks its reason, column and message.
pub fn assert_each_is_rejected(format: TraceFormat, before: &str, good: [&str; 2], bad: &[(&str, &str, u32, &str)]) {
    for (line, reason, column, message) in bad {
        let text = format!("{before}{}\n{line}\n{}\n", good[0], good[1]);
        let workload = Workload { tolerate: 1.0, ..workload(format) };
        let summary = summary(&text, &workload).unwrap();
        assert_eq!(summary.requests, 2, "{line:?}");
        assert_eq!(summary.rejected.len(), 1, "{line:?}: {:?}", summary.rejected);
        let tally = &summary.rejected[0];
        let line_number = before.lines().count() as u64 + 2;
        assert_eq!(
            (tally.reason.as_str(), tally.first_line, tally.first_column),
            (*reason, line_number, *column),
            "{line:?}"
        );
        assert!(tally.message.contains(message), "{line:?}: {}", tally.message);
        let refused = self::summary(&text, &self::workload(format)).unwrap_err().to_string();
        assert!(refused.starts_with(&format!("t:{line_number}:{column}: 1 of 3 lines (33.33 %)")), "{refused}");
        assert!(refused.contains(message) && refused.contains("--tolerate"), "{refused}");
    }
}
