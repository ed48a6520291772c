//! The classes into which a profile sorts requests: by kind and size, by interarrival time, and by the relation to earlier requests.

use crate::request::RequestKind;

/// The sectors of 512 B in a page of 4 KiB.
pub(super) const PAGE_SECTORS: u64 = 8;
pub(super) const PAGE_BYTES: u64 = 4096;
/// The kinds of requests that a profile distinguishes.
pub(super) const KINDS: [RequestKind; 3] = [RequestKind::Read, RequestKind::Write, RequestKind::Deallocate];

/// Returns the index of a kind in [`KINDS`]. Kinds that move no data count as deallocations.
pub(super) fn kind_index(kind: RequestKind) -> usize {
    match kind {
        RequestKind::Read => 0,
        RequestKind::Write => 1,
        RequestKind::Deallocate | RequestKind::WriteZeroes | RequestKind::Flush => 2,
    }
}

/// Returns the class of an interarrival time in picoseconds. Class n begins at 4^n - 1 ns, so each class spans a factor of four.
pub(super) fn gap_class(gap_ps: u64) -> u32 {
    (gap_ps / 1000 + 1).ilog2() / 2
}

/// Returns the octave of `count` (its binary logarithm, rounded down), at most `most`.
pub(super) fn octave(count: u64, most: u32) -> u32 {
    count.max(1).ilog2().min(most)
}

/// The kind of a request, and the octave (binary logarithm, rounded down) of its size in sectors.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct Operation {
    /// The kind of the request, as an index in [`KINDS`].
    pub(super) kind: u32,
    pub(super) octave: u32,
}

/// The relation of the first page of a request to earlier requests.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum Relation {
    /// The end of one of the latest sequential runs, which the request continues.
    Next,
    /// A page where an earlier request began.
    Return,
    /// A page that was touched, but where no request began.
    Inside,
    /// A page that was never touched.
    Fresh,
}

impl Relation {
    pub(super) const ALL: [Relation; 4] = [Relation::Next, Relation::Return, Relation::Inside, Relation::Fresh];
}

/// The earlier accesses to the pages of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum PageOverlap {
    /// The first page was never touched.
    Never,
    /// The first page was touched, the last page was not.
    Partly,
    /// The first page was touched, but only by requests of other kinds.
    Otherwise,
    /// The first page was touched by a request of the same kind.
    Alike,
}

impl PageOverlap {
    pub(super) const ALL: [PageOverlap; 4] =
        [PageOverlap::Never, PageOverlap::Partly, PageOverlap::Otherwise, PageOverlap::Alike];
}

/// The locality class of a request: its address, described relative to earlier requests. The class that a generated request should have is
/// called its target.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct LocalityClass {
    pub(super) relation: Relation,
    /// The octave (binary logarithm, rounded down) of the number of requests since the first page was last touched. For [`Relation::Next`],
    /// 0 for the latest run and 1 for an older one. For [`Relation::Fresh`], 1 near a recent request, 2 in a region where a request began,
    /// 0 elsewhere.
    pub(super) age: u32,
    /// The octave of the number of requests that began on the first page; for [`Relation::Next`], of the requests of the run.
    pub(super) uses: u32,
    pub(super) touched: PageOverlap,
}

pub(super) const AGE_MAX: u32 = 20;
pub(super) const USES_MAX: u32 = 7;
