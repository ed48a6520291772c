//! The file format of a profile (TOML), with its validation.

use std::fs::File;
use std::io::Read;
use std::path::Path;

use serde::{Deserialize, Serialize};

use super::classes::{
    AGE_MAX, KINDS, LocalityClass, Operation, PAGE_BYTES, PAGE_SECTORS, PageOverlap, Relation, USES_MAX,
};
use super::fitted_profile::{
    Counts, FittedProfile, GapModel, OperationModel, PAIRS, PairCounts, STRIPE_PAGES, Segment, TargetModel,
};
use super::history::NEAR_PAGES;
use super::segments::{SEGMENT_REQUESTS_MAX, SEGMENTS_MAX};
use crate::error::WorkloadError;

/// The version that is written, and the only one that is read.
const VERSION: u32 = 3;
const HEAD: &str = "# What a trace is like, fitted by `flashmesh trace profile`: counts and quantiles only. `flashmesh trace generate`\n\
                    # makes traces from it, and `workload.fitted` runs it. docs/fitting.md explains each part.\n";
/// The maximum length of a file that is parsed. A longer file is no profile.
const FILE_BYTES_MAX: u64 = 1 << 20;
const SPAN_BYTES_MAX: u64 = 1 << 50;
const REQUESTS_MAX: u64 = 1_000_000_000_000;
const SECTORS_MAX: u64 = 1 << 21;
const GAP_CLASS_MAX: u32 = 31;
const TIME_NS_MAX: u64 = 1 << 54;
const COUNT_MAX: u64 = 1 << 40;

#[derive(Deserialize)]
struct FileVersion {
    version: u32,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
struct FileModel {
    version: u32,
    requests: u64,
    address_span_bytes: u64,
    /// For each operation: index of the kind in [`KINDS`], size octave, number of requests that begin at each sector of a page, sizes in sectors.
    operations: Vec<(u32, u32, [u64; PAGE_SECTORS as usize], Vec<u64>)>,
    /// For each class of interarrival times: the class, and its nine quantiles in nanoseconds.
    gaps: Vec<(u32, [u64; 9])>,
    /// For each target (locality class of requests): the four fields of its [`LocalityClass`], with the relation and the overlap as indices;
    /// the number of pages of its requests; and the number of these pages that are fresh.
    targets: Vec<(usize, u32, u32, usize, u64, u64)>,
    near_pages: Vec<i64>,
    phases: Vec<u64>,
    /// For each segment: duration in nanoseconds; number of fresh (untouched) pages; and for operations, gaps (classes of interarrival times)
    /// and targets (locality classes), alternating indices and counts.
    segments: Vec<(u64, u64, [Vec<u64>; 3])>,
    /// For each table of [`PAIRS`], the pairs of descriptors that occurred: index of the context, index of the outcome and count, in one
    /// flat list.
    pairs: [Vec<u64>; PAIRS.len()],
}

impl FittedProfile {
    /// Reads a profile from the file at `path`.
    ///
    /// # Errors
    /// If the file cannot be read or contains an error. Only the first error is reported.
    pub fn from_file(path: &Path) -> Result<FittedProfile, WorkloadError> {
        let unreadable = |source| WorkloadError::Io { path: path.to_owned(), source };
        let mut text = String::new();
        let file = File::open(path).map_err(unreadable)?;
        match file.take(FILE_BYTES_MAX + 1).read_to_string(&mut text) {
            Err(error) if error.kind() != std::io::ErrorKind::InvalidData => Err(unreadable(error)),
            Ok(length) if length as u64 <= FILE_BYTES_MAX => FittedProfile::from_toml(&text, path),
            _ => Err(refused(path, 0, 0, format!("a profile is a text of {} KiB at most", FILE_BYTES_MAX >> 10))),
        }
    }

    /// Parses a profile. `path` is the file name for messages.
    ///
    /// # Errors
    /// For the first error in `text`, with its line and column or its key.
    pub fn from_toml(text: &str, path: &Path) -> Result<FittedProfile, WorkloadError> {
        let unreadable = |error: toml::de::Error| {
            let before = text.get(..error.span().map_or(0, |span| span.start)).unwrap_or(text);
            let line_start = before.rfind('\n').map_or(0, |newline| newline + 1);
            let (line, column) = (before.matches('\n').count() + 1, before[line_start..].chars().count() + 1);
            refused(path, line as u64, column as u32, error.message().to_owned())
        };
        let FileVersion { version } = toml::from_str(text).map_err(unreadable)?;
        if version != VERSION {
            let message =
                format!("version {version} is not known, only {VERSION}: fit the trace again with this flashmesh");
            return Err(refused(path, 0, 0, message));
        }
        let file: FileModel = toml::from_str(text).map_err(unreadable)?;
        file.check().map_err(|message| refused(path, 0, 0, message))
    }

    /// Returns the profile as TOML, which [`FittedProfile::from_toml`] can parse.
    pub fn to_toml(&self) -> String {
        let flat = |counts: &Counts| counts.iter().flat_map(|&(position, count)| [position.into(), count]).collect();
        let triples = |&(context, outcome, count): &(u32, u32, u64)| [context.into(), outcome.into(), count];
        let file = FileModel {
            version: VERSION,
            requests: self.requests,
            address_span_bytes: self.address_span,
            operations: (self.operations.iter())
                .map(|model| (model.operation.kind, model.operation.octave, model.offsets, model.sectors.clone()))
                .collect(),
            gaps: self.gaps.iter().map(|gap| (gap.class, gap.quantiles_ns)).collect(),
            targets: (self.targets.iter())
                .map(|&TargetModel { target, pages, fresh_pages }| {
                    let LocalityClass { relation, age, uses, touched } = target;
                    (relation as usize, age, uses, touched as usize, pages, fresh_pages)
                })
                .collect(),
            near_pages: self.near_pages.clone(),
            phases: self.phases.clone(),
            segments: (self.segments.iter())
                .map(|segment| (segment.duration_ns, segment.fresh_pages, segment.counts.each_ref().map(flat)))
                .collect(),
            pairs: self.pairs.each_ref().map(|pairs| pairs.iter().flat_map(triples).collect()),
        };
        // Cannot fail, because TOML supports all types of the model.
        let text = toml::to_string(&file).unwrap_or_default();
        HEAD.to_owned() + &text.replace(", ", ",").replace("],[", "],\n[")
    }
}

fn refused(path: &Path, line: u64, column: u32, message: String) -> WorkloadError {
    WorkloadError::Parse { path: path.to_owned(), line, column, message: format!("not a fitted profile: {message}") }
}

impl FileModel {
    fn check(self) -> Result<FittedProfile, String> {
        require((1..=REQUESTS_MAX).contains(&self.requests), "requests", 0, "is not from 1 to 10^12")?;
        let (span, stripe) = (self.address_span_bytes, STRIPE_PAGES * PAGE_BYTES);
        let is_span = (stripe..=SPAN_BYTES_MAX).contains(&span) && span.is_multiple_of(stripe);
        require(is_span, "address-span-bytes", 0, "is no multiple of 1 MiB up to 1 PiB")?;
        let lengths = [self.operations.len(), self.gaps.len(), self.targets.len()];
        require(!lengths.contains(&0), "operations, gaps and targets", 0, "need a row each")?;
        let sectors_max = SECTORS_MAX.min(span / 512);
        let mut operations = Vec::new();
        for (row, (kind, octave, offsets, sectors)) in self.operations.into_iter().enumerate() {
            let is_kind = (kind as usize) < KINDS.len() && octave <= SECTORS_MAX.ilog2();
            let is_counted = offsets.iter().all(|&count| count <= COUNT_MAX);
            require(is_kind && is_counted, "operations", row, "has no such kind or size, or counts above 2^40")?;
            let are_sizes = !sectors.is_empty() && sectors.iter().all(|sectors| (1..=sectors_max).contains(sectors));
            require(are_sizes, "operations", row, "needs sizes from a sector to 1 GiB and the address span")?;
            operations.push(OperationModel { operation: Operation { kind, octave }, sectors, offsets });
        }
        let mut gaps = Vec::new();
        for (row, (class, quantiles_ns)) in self.gaps.into_iter().enumerate() {
            let is_gap = class <= GAP_CLASS_MAX && quantiles_ns.is_sorted() && quantiles_ns[8] <= TIME_NS_MAX;
            require(is_gap, "gaps", row, "needs a class up to 31 and nine rising times up to 2^54 ns")?;
            gaps.push(GapModel { class, quantiles_ns });
        }
        let mut targets = Vec::new();
        for (row, (relation, age, uses, touched, pages, fresh_pages)) in self.targets.into_iter().enumerate() {
            let (of_relation, of_touched) = (Relation::ALL.get(relation), PageOverlap::ALL.get(touched));
            let (Some(&relation), Some(&touched)) = (of_relation, of_touched) else {
                return Err(format!("targets, row {}: has no such relation or touch", row + 1));
            };
            let is_target =
                age <= AGE_MAX && uses <= USES_MAX && fresh_pages <= pages && (1..=COUNT_MAX).contains(&pages);
            require(is_target, "targets", row, "has an age, uses or pages that cannot be")?;
            targets.push(TargetModel { target: LocalityClass { relation, age, uses, touched }, pages, fresh_pages });
        }
        require((1..=SEGMENTS_MAX).contains(&self.segments.len()), "segments", 0, "are none, or more than 512")?;
        let mut segments = Vec::new();
        for (row, (duration_ns, fresh_pages, flat)) in self.segments.into_iter().enumerate() {
            let mut segment = Segment { duration_ns, fresh_pages, counts: Default::default() };
            let mut totals = [0_u64; 3];
            for part in 0..3 {
                let (pairs, rest) = flat[part].as_chunks::<2>();
                let is_pair = |&[position, count]: &[u64; 2]| {
                    position < lengths[part] as u64 && (1..=SEGMENT_REQUESTS_MAX).contains(&count)
                };
                require(
                    rest.is_empty() && pairs.iter().all(is_pair),
                    "segments",
                    row,
                    "has a count of what is not listed",
                )?;
                segment.counts[part] = pairs.iter().map(|&[position, count]| (position as u32, count)).collect();
                totals[part] = pairs.iter().fold(0, |sum, [_, count]| sum.saturating_add(*count));
            }
            let is_segment = duration_ns <= TIME_NS_MAX
                && (1..=SEGMENT_REQUESTS_MAX).contains(&totals[0])
                && totals == [totals[0]; 3];
            require(is_segment, "segments", row, "needs as many operations as gaps and targets, 2^22 at most")?;
            segments.push(segment);
        }
        let mut pairs: [PairCounts; PAIRS.len()] = Default::default();
        for (table, (flat, (context, outcome))) in self.pairs.iter().zip(PAIRS).enumerate() {
            let (triples, rest) = flat.as_chunks::<3>();
            let limits = [lengths[context as usize] as u64, lengths[outcome as usize] as u64];
            let is_triple = |&[context, outcome, count]: &[u64; 3]| {
                context < limits[0] && outcome < limits[1] && (1..=COUNT_MAX).contains(&count)
            };
            require(rest.is_empty() && triples.iter().all(is_triple), "pairs", table, "counts what is not listed")?;
            pairs[table] =
                triples.iter().map(|&[context, outcome, count]| (context as u32, outcome as u32, count)).collect();
        }
        let is_near = |distance: &i64| distance.unsigned_abs() <= NEAR_PAGES;
        require(self.near_pages.len() <= 1024 && self.near_pages.iter().all(is_near), "near-pages", 0, "are not near")?;
        let are_phases =
            self.phases.len() as u64 == STRIPE_PAGES && self.phases.iter().all(|&count| count <= COUNT_MAX);
        require(are_phases, "phases", 0, "need 256 counts up to 2^40")?;
        let FileModel { requests, near_pages, phases, .. } = self;
        Ok(FittedProfile {
            requests,
            address_span: span,
            operations,
            gaps,
            targets,
            segments,
            pairs,
            near_pages,
            phases,
        })
    }
}

/// Returns an error that names row `row` (from 0) of `key`, unless `holds` is true.
fn require(holds: bool, key: &str, row: usize, what: &str) -> Result<(), String> {
    if holds { Ok(()) } else { Err(format!("{key}, row {}: {what}", row + 1)) }
}
