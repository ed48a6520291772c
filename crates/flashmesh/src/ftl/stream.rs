//! What an open block of a plane takes.

use crate::ids::StreamId;

/// Free blocks that only garbage collection may open. One is enough: a collection writes at most one block of pages before its
/// victim is erased, and a plane runs one collection at a time.
pub(super) const RESERVE_BLOCKS: u32 = 1;

/// Which open block of a plane a program goes to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stream {
    /// Pages the host writes. Each stream of the host has an open block of its own, or all share that of the first.
    Host(StreamId),
    /// Pages moved by garbage collection or wear levelling.
    Collection,
    /// Pages that they moved here from another chip.
    Arrival,
    /// Replicas of pages of other dies. A block of their own takes them, so that the planes of a die keep equal write pointers
    /// and host writes go on to join \[choice\].
    Replica,
    /// Pages the host writes to the SLC cache.
    Slc,
    /// Pages folded: moved out of the SLC cache.
    Fold,
    /// Translation pages written back.
    Translation,
    /// Translation pages moved by garbage collection or wear levelling.
    TranslationCollection,
}

impl Stream {
    /// The stream of all host writes, where they share an open block.
    pub(super) const SHARED: Stream = Stream::Host(StreamId(0));

    /// All but those of the host.
    pub(super) const OF_DRIVE: [Stream; 7] = [
        Stream::Collection,
        Stream::Arrival,
        Stream::Replica,
        Stream::Translation,
        Stream::TranslationCollection,
        Stream::Slc,
        Stream::Fold,
    ];

    /// How many streams a plane has, those of the host counted as one.
    pub(super) const COUNT: usize = 8;

    /// From 0 to [`Stream::COUNT`] - 1; all streams of the host have the same.
    #[inline]
    pub(super) fn index(self) -> usize {
        match self {
            Stream::Host(_) => 0,
            Stream::Collection => 1,
            Stream::Arrival => 2,
            Stream::Translation => 3,
            Stream::TranslationCollection => 4,
            Stream::Replica => 5,
            Stream::Slc => 6,
            Stream::Fold => 7,
        }
    }

    #[inline]
    pub(crate) fn is_translation(self) -> bool {
        matches!(self, Stream::Translation | Stream::TranslationCollection)
    }

    /// Free blocks that it must not open; the SLC cache has free blocks of its own.
    #[inline]
    pub(super) fn reserved_blocks(self) -> u32 {
        match self {
            Stream::Collection | Stream::TranslationCollection | Stream::Slc => 0,
            Stream::Host(_) | Stream::Arrival | Stream::Replica | Stream::Translation | Stream::Fold => RESERVE_BLOCKS,
        }
    }
}
