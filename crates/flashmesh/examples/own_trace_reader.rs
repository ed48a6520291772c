//! Example of a user-defined trace format: a reader for lines such as `0.000125 R 4096 8`, replayed on a drive.
//!
//! The interface is [`TraceReader`], which parses one record. Decompression, order, limits of the drive and the accepted share of bad lines are
//! the same for all formats. To let `workload.format` name the format, give it a file in `crates/flashmesh-workload/src/readers/`, a line in its
//! registry and a line in `TraceFormat`.

use std::error::Error;
use std::fs;

use flashmesh::config::{Config, TraceFormat};
use flashmesh::placement::Geometry;
use flashmesh::requests::RequestKind;
use flashmesh::requests::traces::{
    Fields, Format, Framing, Line, LineError, LineErrorKind, RawRequest, Sample, TraceReader, TraceSource, TraceStream,
    scan_stream,
};
use flashmesh::simulation::{Control, Simulation};

/// Reader of lines with time stamp in seconds, R or W, first sector, number of sectors.
struct Letters;

static LETTERS: Format = Format {
    kind: None,
    name: "letters",
    title: "seconds, R or W, sector, sectors",
    framing: Framing::Lines,
    is_merged: false,
    remedy: None,
    detect: |sample: &Sample<'_>, _| sample.share_understood(&mut Letters),
    open: |_| Box::new(Letters),
};

const PS_PER_SECOND: u64 = 1_000_000_000_000;

impl TraceReader for Letters {
    fn parse(&mut self, record: &[u8]) -> Result<Line, LineError> {
        let mut fields = Fields::new(record);
        let time_column = fields.column();
        let time_ps = fields.decimal(PS_PER_SECOND, "the time stamp in seconds")?;
        fields.next_blank_separated("a blank and the type")?;
        let kind = match (fields.column(), fields.blank_separated_word()) {
            (_, b"R") => RequestKind::Read,
            (_, b"W") => RequestKind::Write,
            (column, _) => return Err(LineError::new(LineErrorKind::Kind, column, "the type, R or W")),
        };
        fields.next_blank_separated("a blank and the first sector")?;
        let offset_column = fields.column();
        let offset = fields.sectors("the first sector")?;
        fields.next_blank_separated("a blank and the sectors")?;
        let size_column = fields.column();
        let size = fields.sectors("the sectors")?;
        fields.end()?;
        Ok(Line::Request(RawRequest {
            time_ps,
            offset,
            size,
            device: 0,
            kind,
            time_column,
            offset_column,
            size_column,
        }))
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    // Every fourth request is a write. One line is truncated.
    let line = |number: u64| {
        let kind = if number.is_multiple_of(4) { 'W' } else { 'R' };
        format!("{:.6} {kind} {} 8\n", number as f64 * 20e-6, number * 7919 % 100_000 * 8)
    };
    let mut text: String = (0..2_000).map(line).collect();
    text.push_str("0.050000 R 40\n");
    let path = std::env::temp_dir().join(format!("own_trace_reader-{}.txt", std::process::id()));
    fs::write(&path, text)?;

    let mut config = Config::default();
    config.workload.trace = Some(path.clone());
    let geometry = Geometry::new(&config.geometry)?;
    let open = || TraceStream::open_as(&LETTERS, &config.workload, geometry.capacity(), geometry.sector_size);

    // The scan counts every line, and refuses a trace with too many bad lines.
    let summary = scan_stream(open()?, config.workload.tolerate)?;
    println!("{summary}");
    assert_eq!((summary.requests, summary.reads, summary.rejected.len()), (2_000, 1_500, 1));

    let source = TraceSource::from_stream(open()?).with_summary(&summary);
    let mut simulation = Simulation::with_source(&config, Box::new(source))?;
    simulation.enable_checks();
    let report = simulation.run(&Control::default())?;
    println!("{} requests, {:.0} IOPS", report.requests, report.iops);
    assert_eq!(report.requests, 2_000);

    // No registered format recognises lines with a letter after the time stamp.
    config.workload.format = TraceFormat::Auto;
    let unknown = TraceStream::open(&config.workload, geometry.capacity(), geometry.sector_size);
    assert!(unknown.is_err_and(|error| error.to_string().contains("no known trace format")));
    fs::remove_file(path)?;
    Ok(())
}
