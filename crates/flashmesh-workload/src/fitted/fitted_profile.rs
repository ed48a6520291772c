//! The data of a fitted profile.

use super::classes::{LocalityClass, Operation, PAGE_SECTORS};

/// The number of pages in a stripe: an aligned range of consecutive pages. A fresh page (untouched by earlier requests) is generated near a recent
/// request, or at a random position in a stripe, distributed like the first pages of the trace's requests.
pub(super) const STRIPE_PAGES: u64 = 256;

/// A fitted profile: counts and quantiles of a trace, without any part of the trace itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FittedProfile {
    /// The number of requests of the original trace.
    pub requests: u64,
    /// An upper bound of the addresses of the original trace, in bytes; a multiple of 1 MiB.
    pub address_span: u64,
    /// The operations: requests of one kind with sizes in one octave. Segments and pairs refer to operations by index.
    pub(super) operations: Vec<OperationModel>,
    /// The classes of interarrival times. Segments and pairs refer to classes by index.
    pub(super) gaps: Vec<GapModel>,
    /// The statistics for each target, a class of request locality. Segments and pairs refer to targets by index.
    pub(super) targets: Vec<TargetModel>,
    /// The segments of consecutive requests. All have the same number of requests, except the last.
    pub(super) segments: Vec<Segment>,
    /// The counts of (context, outcome) pairs, one list for each table of [`PAIRS`].
    pub(super) pairs: [PairCounts; PAIRS.len()],
    /// The distances of fresh (untouched) pages from the nearest recent request, in pages: quantiles, which are equally likely.
    pub(super) near_pages: Vec<i64>,
    /// The number of requests, indexed by the position (0 to 255) of their first page within its stripe.
    pub(super) phases: Vec<u64>,
}

/// The statistics of the requests of one kind whose sizes lie in one octave (a factor of two).
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct OperationModel {
    pub(super) operation: Operation,
    /// The sizes in sectors of 512 B: quantiles, which are equally likely.
    pub(super) sectors: Vec<u64>,
    /// The number of requests that begin at each sector (0 to 7) of a page.
    pub(super) offsets: [u64; PAGE_SECTORS as usize],
}

/// The statistics of the requests with one target (locality class).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct TargetModel {
    pub(super) target: LocalityClass,
    /// The number of pages of requests with this target, and the number of these pages that no earlier request had touched.
    pub(super) pages: u64,
    pub(super) fresh_pages: u64,
}

/// The interarrival times of one class.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct GapModel {
    pub(super) class: u32,
    /// The minimum, the seven octiles and the maximum, in nanoseconds.
    pub(super) quantiles_ns: [u64; 9],
}

/// The number of requests with each operation (kind and size octave), gap (class of interarrival times) or target (locality class): (index,
/// count).
pub(super) type Counts = Vec<(u32, u64)>;

/// The counts of a segment of consecutive requests.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Segment {
    /// The time from the last arrival before the segment to the last arrival of the segment.
    pub(super) duration_ns: u64,
    /// The number of pages of the segment that no earlier request had touched.
    pub(super) fresh_pages: u64,
    /// The counts of operations, gaps and targets, in the order of [`Descriptor`].
    pub(super) counts: [Counts; 3],
}

/// The number of occurrences of each pair of descriptors: (index of the context, index of the outcome, count).
pub(super) type PairCounts = Vec<(u32, u32, u64)>;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Descriptor {
    Operation,
    Gap,
    Target,
}

/// The pairs of descriptors whose joint frequency is counted: (context, outcome). The gap (class of interarrival times) of a request is drawn
/// first, then its operation (kind and size octave), then its target (locality class). A context that is drawn before its outcome belongs to the
/// same request, any other to the previous request.
pub(super) const PAIRS: [(Descriptor, Descriptor); 6] = [
    (Descriptor::Gap, Descriptor::Gap),
    (Descriptor::Operation, Descriptor::Gap),
    (Descriptor::Operation, Descriptor::Operation),
    (Descriptor::Gap, Descriptor::Operation),
    (Descriptor::Operation, Descriptor::Target),
    (Descriptor::Target, Descriptor::Target),
];
