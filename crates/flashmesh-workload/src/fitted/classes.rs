//! The classes in which a profile counts.

use crate::request::RequestKind;

/// Sectors of 512 B in a page of 4 KiB.
pub(super) const PAGE_SECTORS: u64 = 8;
pub(super) const PAGE_BYTES: u64 = 4096;
/// Kinds of requests that a profile tells apart.
pub(super) const KINDS: [RequestKind; 3] = [RequestKind::Read, RequestKind::Write, RequestKind::Deallocate];

/// The number of a kind; kinds that move no data count as deallocations.
#[inline]
pub(super) fn kind_index(kind: RequestKind) -> usize {
    match kind {
        RequestKind::Read => 0,
        RequestKind::Write => 1,
        RequestKind::Deallocate | RequestKind::WriteZeroes | RequestKind::Flush => 2,
    }
}

/// The class of an interarrival time: one for each factor of four, from 1 ns.
#[inline]
pub(super) fn gap_class(gap_ps: u64) -> u32 {
    (gap_ps / 1000 + 1).ilog2() / 2
}

/// The class of a count from 1: one for each factor of two, up to `most`.
#[inline]
pub(super) fn octave(count: u64, most: u32) -> u32 {
    count.max(1).ilog2().min(most)
}

/// Kind of a request, and its size to a factor of two.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct Operation {
    /// The index of its kind.
    pub(super) kind: u32,
    pub(super) octave: u32,
}

/// How the first page of a request lies to the requests before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum Relation {
    /// At the end of one of the latest runs.
    Next,
    /// On a page where a request began before.
    Return,
    /// On another page that was touched before.
    Inside,
    /// On a page that was never touched.
    Fresh,
}

impl Relation {
    pub(super) const ALL: [Relation; 4] = [Relation::Next, Relation::Return, Relation::Inside, Relation::Fresh];
}

/// Earlier accesses to the pages of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum Touched {
    /// The first page was never touched.
    Never,
    /// The first page was touched, the last was not.
    Partly,
    /// The first page was touched by other kinds of requests only.
    Otherwise,
    /// The first page was touched by a request of the same kind.
    Alike,
}

impl Touched {
    pub(super) const ALL: [Touched; 4] = [Touched::Never, Touched::Partly, Touched::Otherwise, Touched::Alike];
}

/// Address of a request relative to the requests before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct Target {
    pub(super) relation: Relation,
    /// Octave of the requests since its first page was touched; of a run 0 for the latest and 1 for another; of a fresh page 1 when
    /// it lies close to a recent request.
    pub(super) age: u32,
    /// Octave of the requests that began on its first page; of a run that of its requests.
    pub(super) uses: u32,
    pub(super) touched: Touched,
}

pub(super) const AGE_MAX: u32 = 20;
pub(super) const USES_MAX: u32 = 7;
