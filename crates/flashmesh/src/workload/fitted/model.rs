//! A fitted profile as plain data.

use super::table::Table;
use crate::workload::RequestKind;

/// What a trace is like: counts and quantiles, nothing of the trace itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Model {
    /// Requests of the original.
    pub requests: u64,
    /// The addresses of the original end here at the latest, in bytes.
    pub address_span: u64,
    /// When requests arrive.
    pub arrivals: ArrivalModel,
    /// What requests ask and how much they cover, and what follows what.
    pub operations: OperationModel,
    /// Where requests go.
    pub places: PlaceModel,
}

/// When requests arrive.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ArrivalModel {
    /// The length of a segment, in picoseconds.
    pub segment_ps: u64,
    /// Requests that arrive in each segment.
    pub segments: Vec<u64>,
    /// What they are like: segments of one number have like shares of reads and mean sizes.
    pub mixes: Vec<u32>,
    /// For each class of distances between arrivals its class and nine quantiles, from the smallest to the largest, in picoseconds.
    pub quantiles: Vec<(u32, [u64; 9])>,
    /// A distance above this class is long.
    pub long: u32,
    /// \[class of the segment's requests, 16 times the class of the distance before plus the class of the requests since the
    /// last long distance\] to the class of the distance.
    pub gaps: Table<2>,
}

/// One kind of request and its sizes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Operation {
    /// What it asks.
    pub kind: RequestKind,
    /// Sizes, equally likely, in sectors of 512 B.
    pub sectors: Vec<u64>,
}

/// What requests ask.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct OperationModel {
    /// The operations; other tables name them by their number.
    pub list: Vec<Operation>,
    /// Distances between arrivals up to the first class are short, those up to the second middling, all others long.
    pub levels: [u32; 2],
    /// \[mix of the segment, three times the operation before plus the level of the distance\] to the operation.
    pub sequence: Table<2>,
}

/// Where requests go.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PlaceModel {
    /// \[operation, three times the relation of the last request of its kind plus the level of the distance\] to how the request lies to those before it.
    pub relations: Table<2>,
    /// \[relation\] to the rank of the run it goes on with, counted from the latest.
    pub ranks: Table<1>,
    /// \[operation, relation\] of its first request to how many requests a run has.
    pub run_lengths: Table<2>,
    /// \[operation, relation\] of the first jump to a place to how often it is jumped to in all.
    pub uses: Table<2>,
    /// \[operation, relation\] to 64 times the class of uses of a place that is used again plus the class of the requests since the
    /// last time.
    pub returns: Table<2>,
    /// \[operation\] to the operation that uses a place next.
    pub next: Table<1>,
    /// \[operation\] to four times the class of the distance in requests to the last use of a page, at a place that was not jumped
    /// to before, plus the kind of that use.
    pub overlaps: Table<1>,
    /// \[operation, what was drawn before for its kind\] to how many pages behind another request one close to it begins, plus 1024.
    pub near: Table<2>,
    /// \[relation, operation\] to the rank of the request it is close to, counted from the latest.
    pub near_ranks: Table<2>,
    /// \[operation\] to the class of the requests since the page of a near overlap was touched.
    pub near_ages: Table<1>,
    /// \[operation, three times the relation plus the level of the distance\] to how many of the latest requests touch the die that is
    /// jumped to.
    pub loads: Table<2>,
    /// \[operation\] to the sector in the page where a jump goes.
    pub sectors: Table<1>,
    /// \[operation, class of uses\] to the sector in a stripe of 256 pages where a new place begins.
    pub phases: Table<2>,
    /// First uses of places in equal parts of the address span.
    pub regions: Vec<u64>,
}

/// The number of a kind in a profile's tables; what moves no data counts as a deallocation.
pub(super) fn kind_index(kind: RequestKind) -> usize {
    match kind {
        RequestKind::Read => 0,
        RequestKind::Write => 1,
        RequestKind::Deallocate | RequestKind::WriteZeroes | RequestKind::Flush => 2,
    }
}

fn third(class: u32, bounds: [u32; 2]) -> u32 {
    u32::from(class > bounds[0]) + u32::from(class > bounds[1])
}

impl OperationModel {
    /// The context of the operation that follows `before` after a distance of `gap_class`, in a segment of this `mix`.
    #[inline]
    pub(super) fn context(&self, before: u32, gap_class: u32, mix: u32) -> [u32; 2] {
        [mix, before * 3 + self.level(gap_class)]
    }

    /// Whether a distance of this class is short (0), middling (1) or long (2).
    #[inline]
    pub(super) fn level(&self, gap_class: u32) -> u32 {
        third(gap_class, self.levels)
    }
}

impl ArrivalModel {
    /// The context of the distance that follows one of class `before`.
    #[inline]
    pub(super) fn context(rate_class: u32, before: u32, since_long: u32) -> [u32; 2] {
        [rate_class, before * 16 + (u32::BITS - since_long.leading_zeros()).min(15)]
    }

    /// Requests since the last long distance, after a further one of `class`.
    #[inline]
    pub(super) fn since_long(long: u32, since_long: u32, class: u32) -> u32 {
        if class > long { 0 } else { since_long.saturating_add(1) }
    }
}
