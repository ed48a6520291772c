//! Reads the text file of a profile, and checks that a source can be made of it.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::Read;
use std::ops::Range;
use std::path::Path;

use serde::Deserialize;
use serde::de::IgnoredAny;
use toml::Spanned;

use super::model::{ArrivalModel, Model, Operation, OperationModel, PlaceModel};
use super::places::{NEAR_PAGES, PAGE_BYTES, PAGE_SECTORS, RECENT, Relation, STRIPE_PAGES};
use super::table::Table;
use crate::error::WorkloadError;
use crate::workload::RequestKind;

/// The version of the file that is written, and the only one that is read.
pub(super) const VERSION: u32 = 2;
/// Names of the kinds of requests, by their numbers.
pub(super) const KIND_NAMES: [&str; 3] = ["read", "write", "deallocate"];

/// No profile is longer; what is, was given by mistake.
const FILE_BYTES_MAX: u64 = 16 << 20;
const SPAN_BYTES_MAX: u64 = 1 << 50;
const REQUESTS_MAX: u64 = 1_000_000_000_000;
const SEGMENTS_MAX: usize = 1 << 16;
/// The arrivals of a segment are drawn together.
const SEGMENT_REQUESTS_MAX: u64 = 1 << 24;
const OPERATIONS_MAX: usize = 1 << 10;
const SECTORS_MAX: u64 = 1 << 21;
const TIME_PS_MAX: u64 = 1 << 62;
/// No class of distances in time is higher, and none of distances in requests.
const GAP_CLASS_MAX: u64 = 31;
const DISTANCE_CLASS_MAX: u64 = 63;
const TABLE_COUNTS_MAX: u64 = 1 << 40;

/// What every version says.
#[derive(Deserialize)]
struct FileVersion {
    version: Spanned<u32>,
}

type Row = Spanned<Vec<u64>>;
type Rows = Spanned<Vec<Row>>;

#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
struct FileModel {
    #[serde(rename = "version")]
    _version: IgnoredAny,
    requests: Spanned<u64>,
    address_span_bytes: Spanned<u64>,
    arrivals: FileArrivals,
    operations: FileOperations,
    places: FilePlaces,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
struct FileArrivals {
    segment_ps: Spanned<u64>,
    segments: Spanned<Vec<u64>>,
    mixes: Spanned<Vec<u32>>,
    long_class: u32,
    quantiles: Rows,
    gaps: Rows,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
struct FileOperations {
    list: Spanned<Vec<FileOperation>>,
    levels: [u32; 2],
    sequence: Rows,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
struct FileOperation {
    kind: Spanned<String>,
    sectors: Spanned<Vec<u64>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
struct FilePlaces {
    relations: Rows,
    ranks: Rows,
    run_lengths: Rows,
    uses: Rows,
    returns: Rows,
    next: Rows,
    overlaps: Rows,
    near: Rows,
    near_ranks: Rows,
    near_ages: Rows,
    loads: Rows,
    sectors: Rows,
    phases: Rows,
    regions: Spanned<Vec<u64>>,
}

/// What is wrong, and where in the text.
struct Wrong {
    span: Range<usize>,
    message: String,
}

impl Wrong {
    fn new(span: Range<usize>, message: impl Into<String>) -> Wrong {
        Wrong { span, message: message.into() }
    }
}

impl Model {
    /// Reads the profile in the file at `path`.
    ///
    /// # Errors
    /// When the file cannot be read, or for the first thing in it that is wrong, with its line.
    pub fn from_file(path: &Path) -> Result<Model, WorkloadError> {
        let unreadable = |source| WorkloadError::Io { path: path.to_owned(), source };
        let mut bytes = Vec::new();
        File::open(path).map_err(unreadable)?.take(FILE_BYTES_MAX + 1).read_to_end(&mut bytes).map_err(unreadable)?;
        let refuse = |line, message: &str| WorkloadError::Parse {
            path: path.to_owned(),
            line,
            column: 0,
            message: message.to_owned(),
        };
        if bytes.len() as u64 > FILE_BYTES_MAX {
            return Err(refuse(
                0,
                "longer than 16 MiB: a fitted profile has some kB; fit one with `flashmesh trace profile`",
            ));
        }
        let text = std::str::from_utf8(&bytes).map_err(|error| {
            let line = 1 + bytes[..error.valid_up_to()].iter().filter(|&&byte| byte == b'\n').count() as u64;
            refuse(line, "not UTF-8 text: is this a fitted profile? `flashmesh trace profile` makes one")
        })?;
        Model::from_toml(text, path)
    }

    /// Reads a profile from `text`, called `path` in messages.
    ///
    /// # Errors
    /// For the first thing that is wrong, with its line and column.
    pub fn from_toml(text: &str, path: &Path) -> Result<Model, WorkloadError> {
        let unreadable = |error: toml::de::Error| Wrong::new(error.span().unwrap_or(0..0), error.message().to_owned());
        let parsed = toml::from_str::<FileVersion>(text)
            .map_err(unreadable)
            .and_then(FileVersion::check)
            .and_then(|()| toml::from_str::<FileModel>(text).map_err(unreadable))
            .and_then(FileModel::check);
        parsed.map_err(|wrong| {
            let before = text.get(..wrong.span.start).unwrap_or(text);
            let line_start = before.rfind('\n').map_or(0, |newline| newline + 1);
            WorkloadError::Parse {
                path: path.to_owned(),
                line: before.matches('\n').count() as u64 + 1,
                column: before[line_start..].chars().count() as u32 + 1,
                message: format!("not a fitted profile: {}", wrong.message),
            }
        })
    }
}

impl FileVersion {
    fn check(self) -> Result<(), Wrong> {
        let version = *self.version.get_ref();
        if version == VERSION {
            return Ok(());
        }
        let message =
            format!("version {version} is not known, only {VERSION}: fit the trace again with this flashmesh");
        Err(Wrong::new(self.version.span(), message))
    }
}

impl FileModel {
    fn check(self) -> Result<Model, Wrong> {
        let FileModel { requests, address_span_bytes, arrivals, operations, places, .. } = self;
        let requests = within(&requests, "requests", 1, REQUESTS_MAX)?;
        let stripe = STRIPE_PAGES * PAGE_BYTES;
        let address_span = within(&address_span_bytes, "address-span-bytes", stripe, SPAN_BYTES_MAX)?;
        if !address_span.is_multiple_of(stripe) {
            return Err(Wrong::new(address_span_bytes.span(), "address-span-bytes is not a multiple of 1 MiB"));
        }
        let operations = operations.check(address_span)?;
        let count = operations.list.len() as u64;
        Ok(Model { requests, address_span, arrivals: arrivals.check()?, operations, places: places.check(count)? })
    }
}

impl FileArrivals {
    fn check(self) -> Result<ArrivalModel, Wrong> {
        let segment_ps = within(&self.segment_ps, "segment-ps", 1, TIME_PS_MAX)?;
        let segments = counts(self.segments, "segments", 1..=SEGMENTS_MAX, SEGMENT_REQUESTS_MAX)?;
        if self.mixes.get_ref().len() != segments.len() {
            let message =
                format!("{} mixes for {} segments: there is one for each", self.mixes.get_ref().len(), segments.len());
            return Err(Wrong::new(self.mixes.span(), message));
        }
        let mut quantiles = BTreeMap::new();
        for row in self.quantiles.get_ref() {
            let wrong = |message: &str| Wrong::new(row.span(), message);
            let [class, values @ ..] = row.get_ref().as_slice() else {
                return Err(wrong("a row of quantiles needs a class and nine times"));
            };
            let values: [u64; 9] =
                values.try_into().map_err(|_| wrong("a row of quantiles needs a class and nine times"))?;
            if *class > GAP_CLASS_MAX || !values.is_sorted() || values[8] > TIME_PS_MAX {
                return Err(wrong("quantiles rise, up to 2^62, in a class up to 31"));
            }
            if quantiles.insert(*class as u32, values).is_some() {
                return Err(wrong("quantiles of this class are given twice"));
            }
        }
        Ok(ArrivalModel {
            segment_ps,
            segments,
            mixes: self.mixes.into_inner(),
            long: self.long_class,
            quantiles: quantiles.into_iter().collect(),
            gaps: table(self.gaps, "gaps", &|class| class <= GAP_CLASS_MAX)?,
        })
    }
}

impl FileOperations {
    fn check(self, address_span: u64) -> Result<OperationModel, Wrong> {
        let span = self.list.span();
        let mut list = Vec::new();
        for FileOperation { kind, sectors } in self.list.into_inner() {
            let kinds = [RequestKind::Read, RequestKind::Write, RequestKind::Deallocate];
            let Some(index) = KIND_NAMES.iter().position(|name| name == kind.get_ref()) else {
                let message = format!("kind is \"read\", \"write\" or \"deallocate\", not {:?}", kind.get_ref());
                return Err(Wrong::new(kind.span(), message));
            };
            let most = SECTORS_MAX.min(address_span / 512);
            if sectors.get_ref().is_empty() || !sectors.get_ref().iter().all(|sectors| (1..=most).contains(sectors)) {
                let message = format!("sectors need sizes from 1 to {most}: the largest request, and the address span");
                return Err(Wrong::new(sectors.span(), message));
            }
            list.push(Operation { kind: kinds[index], sectors: sectors.into_inner() });
        }
        if !(1..=OPERATIONS_MAX).contains(&list.len()) {
            return Err(Wrong::new(span, format!("list needs 1 to {OPERATIONS_MAX} operations")));
        }
        let count = list.len() as u64;
        let sequence = table(self.sequence, "sequence", &|operation| operation < count)?;
        Ok(OperationModel { list, levels: self.levels, sequence })
    }
}

impl FilePlaces {
    fn check(self, operations: u64) -> Result<PlaceModel, Wrong> {
        let (is_operation, is_class) = (|number| number < operations, |class| class <= DISTANCE_CLASS_MAX);
        let is_relation = |number| number < Relation::ALL.len() as u64;
        let (any, at_least_one) = (|_| true, |number| number >= 1);
        Ok(PlaceModel {
            relations: table(self.relations, "relations", &is_relation)?,
            ranks: table(self.ranks, "ranks", &any)?,
            run_lengths: table(self.run_lengths, "run-lengths", &at_least_one)?,
            uses: table(self.uses, "uses", &at_least_one)?,
            returns: table(self.returns, "returns", &any)?,
            next: table(self.next, "next", &is_operation)?,
            overlaps: table(self.overlaps, "overlaps", &|outcome| is_class(outcome / 4))?,
            near: table(self.near, "near", &|behind| behind < 2 * NEAR_PAGES)?,
            near_ranks: table(self.near_ranks, "near-ranks", &|rank| rank < RECENT as u64)?,
            near_ages: table(self.near_ages, "near-ages", &is_class)?,
            loads: table(self.loads, "loads", &|load| load <= RECENT as u64)?,
            sectors: table(self.sectors, "sectors", &|sector| sector < PAGE_SECTORS)?,
            phases: table(self.phases, "phases", &|page| page < STRIPE_PAGES * PAGE_SECTORS)?,
            regions: counts(self.regions, "regions", 1..=SEGMENTS_MAX, TABLE_COUNTS_MAX)?,
        })
    }
}

fn within(value: &Spanned<u64>, key: &str, least: u64, most: u64) -> Result<u64, Wrong> {
    match *value.get_ref() {
        number if (least..=most).contains(&number) => Ok(number),
        number => Err(Wrong::new(value.span(), format!("{key} is {number}, not from {least} to {most}"))),
    }
}

fn counts(
    list: Spanned<Vec<u64>>,
    key: &str,
    lengths: std::ops::RangeInclusive<usize>,
    most: u64,
) -> Result<Vec<u64>, Wrong> {
    let span = list.span();
    let numbers = list.into_inner();
    if !lengths.contains(&numbers.len()) {
        let message = format!("{key} has {} numbers, not from {} to {}", numbers.len(), lengths.start(), lengths.end());
        return Err(Wrong::new(span, message));
    }
    if let Some(number) = numbers.iter().find(|&&number| number > most) {
        return Err(Wrong::new(span, format!("{key} has {number}, which is above {most}")));
    }
    // Only what was never asked for may be nothing at all.
    if key == "segments" && numbers.iter().all(|&number| number == 0) {
        return Err(Wrong::new(span, "segments are without a request"));
    }
    Ok(numbers)
}

fn table<const WIDTH: usize>(rows: Rows, key: &str, is_outcome: &dyn Fn(u64) -> bool) -> Result<Table<WIDTH>, Wrong> {
    let mut table = Table::default();
    let mut total = 0_u64;
    for row in rows.get_ref() {
        let wrong = |message: String| Wrong::new(row.span(), message);
        let numbers = row.get_ref().as_slice();
        let Some((context, pairs)) = numbers.split_first_chunk::<WIDTH>() else {
            return Err(wrong(format!(
                "a row of {key} needs {WIDTH} numbers of context, then pairs of outcome and count"
            )));
        };
        let (pairs, rest) = pairs.as_chunks::<2>();
        if pairs.is_empty() || !rest.is_empty() {
            return Err(wrong(format!(
                "a row of {key} needs {WIDTH} numbers of context, then pairs of outcome and count"
            )));
        }
        let mut context_32 = [0; WIDTH];
        for (kept, &number) in context_32.iter_mut().zip(context) {
            *kept = u32::try_from(number).map_err(|_| wrong(format!("{number} is no context of {key}")))?;
        }
        if table.rows.contains_key(&context_32) {
            return Err(wrong(format!("{context:?} of {key} is given twice")));
        }
        for &[outcome, count] in pairs {
            let outcome = u32::try_from(outcome).ok().filter(|&outcome| is_outcome(u64::from(outcome)));
            let outcome = outcome.ok_or_else(|| wrong(format!("{key} has an outcome that cannot be")))?;
            total = total.saturating_add(count);
            if count == 0 || total > TABLE_COUNTS_MAX {
                return Err(wrong(format!("{key} has a count of 0, or more than 2^40 in all")));
            }
            table.add(context_32, outcome, count);
        }
    }
    Ok(table)
}
