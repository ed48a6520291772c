//! A fitted profile as plain data.

use super::classes::{Operation, PAGE_SECTORS, Target};

/// Pages of a stripe; addresses of fresh pages keep their position in it.
pub(super) const STRIPE_PAGES: u64 = 256;

/// What a trace is like: counts and quantiles, nothing of the trace itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Model {
    /// Requests of the original.
    pub requests: u64,
    /// The addresses of the original end here at the latest, in bytes.
    pub address_span: u64,
    /// Operations, which segments and pairs name by their position in this list.
    pub(super) operations: Vec<OperationModel>,
    /// Classes of interarrival times, likewise.
    pub(super) gaps: Vec<GapModel>,
    /// Targets, likewise.
    pub(super) targets: Vec<TargetModel>,
    /// Consecutive requests, as many in each segment but the last.
    pub(super) segments: Vec<Segment>,
    /// In the order of [`PAIRS`].
    pub(super) pairs: [PairCounts; PAIRS.len()],
    /// Distances of fresh pages from a recent request, in pages, equally likely.
    pub(super) near_pages: Vec<i64>,
    /// Requests by the position of their first page in a stripe, those left out that go on with a run.
    pub(super) phases: Vec<u64>,
}

/// Requests of one kind whose sizes lie in one octave.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct OperationModel {
    pub(super) operation: Operation,
    /// Sizes, equally likely, in sectors of 512 B.
    pub(super) sectors: Vec<u64>,
    /// How often they begin at each sector of a page.
    pub(super) offsets: [u64; PAGE_SECTORS as usize],
}

/// Requests with one target.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct TargetModel {
    pub(super) target: Target,
    /// Pages of all of them, and how many of these were never touched before.
    pub(super) pages: u64,
    pub(super) fresh_pages: u64,
}

/// Interarrival times of one class.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct GapModel {
    pub(super) class: u32,
    /// The smallest, the seven that cut them into eight, and the largest, in nanoseconds.
    pub(super) quantiles_ns: [u64; 9],
}

/// Counts of outcomes by their positions in a list.
pub(super) type Counts = Vec<(u32, u64)>;

/// Consecutive requests.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Segment {
    /// From the arrival of the request before the first one to that of the last.
    pub(super) duration_ns: u64,
    /// Pages that were never touched before.
    pub(super) fresh_pages: u64,
    /// Of operations, gaps and targets: in the order of [`Descriptor`].
    pub(super) counts: [Counts; 3],
}

/// Counts of (context, outcome), both by their positions in a list.
pub(super) type PairCounts = Vec<(u32, u32, u64)>;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Descriptor {
    Operation,
    Gap,
    Target,
}

/// The tables of pairs, context and outcome. A gap comes before the operation of its request, and an operation before its target;
/// otherwise the context is that of the request before.
pub(super) const PAIRS: [(Descriptor, Descriptor); 6] = [
    (Descriptor::Gap, Descriptor::Gap),
    (Descriptor::Operation, Descriptor::Gap),
    (Descriptor::Operation, Descriptor::Operation),
    (Descriptor::Gap, Descriptor::Operation),
    (Descriptor::Operation, Descriptor::Target),
    (Descriptor::Target, Descriptor::Target),
];
