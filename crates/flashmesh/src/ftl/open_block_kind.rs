//! Kinds of data. Each kind is written to an open block of its own in each plane.

use crate::ids::StreamId;

/// Number of free blocks of each plane that only garbage collection may open. One is enough: a collection writes at most one block of pages before
/// its victim is erased, and a plane runs one collection at a time.
pub(super) const RESERVE_BLOCKS: u32 = 1;

/// Kind of data, which selects the open block of a plane for a program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OpenBlockKind {
    /// Host writes. Each host stream has its own open block, or all host streams share the open block of stream 0.
    Host(StreamId),
    /// Pages moved by garbage collection or wear levelling.
    Collection,
    /// Pages that arrive from another chip, moved by garbage collection or wear levelling.
    Incoming,
    /// Replicas of pages of other dies. Because replicas have their own block, the planes of a die keep equal write pointers for host writes, which
    /// can still join in multi-plane programs \[choice\].
    Replica,
    /// Host writes to the SLC cache.
    Slc,
    /// Folded pages: moved out of the SLC cache.
    Fold,
    /// Translation pages written back.
    Translation,
    /// Translation pages moved by garbage collection or wear levelling.
    TranslationCollection,
}

impl OpenBlockKind {
    /// Kind of all host writes if the host streams share an open block in each plane.
    pub(super) const SHARED: OpenBlockKind = OpenBlockKind::Host(StreamId(0));

    /// All kinds except host writes.
    pub(super) const NON_HOST: [OpenBlockKind; 7] = [
        OpenBlockKind::Collection,
        OpenBlockKind::Incoming,
        OpenBlockKind::Replica,
        OpenBlockKind::Translation,
        OpenBlockKind::TranslationCollection,
        OpenBlockKind::Slc,
        OpenBlockKind::Fold,
    ];

    /// Number of kinds, with the host writes of all streams counted as one kind.
    pub(super) const COUNT: usize = 8;

    /// Returns an index below [`OpenBlockKind::COUNT`] for tables by kind. All host streams have the same index.
    #[inline]
    pub(super) fn index(self) -> usize {
        match self {
            OpenBlockKind::Host(_) => 0,
            OpenBlockKind::Collection => 1,
            OpenBlockKind::Incoming => 2,
            OpenBlockKind::Translation => 3,
            OpenBlockKind::TranslationCollection => 4,
            OpenBlockKind::Replica => 5,
            OpenBlockKind::Slc => 6,
            OpenBlockKind::Fold => 7,
        }
    }

    #[inline]
    pub(crate) fn is_translation(self) -> bool {
        matches!(self, OpenBlockKind::Translation | OpenBlockKind::TranslationCollection)
    }

    /// Returns the number of free blocks that must remain in a plane after a block of this kind is opened there. Returns 0 for collection,
    /// which may open the reserve (last free block), and for the SLC cache, which has free blocks of its own.
    #[inline]
    pub(super) fn reserved_blocks(self) -> u32 {
        match self {
            OpenBlockKind::Collection | OpenBlockKind::TranslationCollection | OpenBlockKind::Slc => 0,
            OpenBlockKind::Host(_)
            | OpenBlockKind::Incoming
            | OpenBlockKind::Replica
            | OpenBlockKind::Translation
            | OpenBlockKind::Fold => RESERVE_BLOCKS,
        }
    }
}
