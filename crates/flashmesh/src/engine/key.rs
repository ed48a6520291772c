//! The key of an event: when it is due, its turn among those of that time, what it is, and where it waits, in one word.
//!
//! From the top: the time as an offset from a base that moves on, the order of scheduling, the kind, the place. So the smaller of two keys
//! is that of the event that comes first.

/// The number of lanes of an [`EventQueue`](super::queue::EventQueue).
pub const LANES: usize = 6;

/// Where the alarm waits.
pub(super) const ALARM: usize = LANES;

/// In place of a lane: for events that do not come a constant delay after their cause.
pub const NO_LANE: usize = LANES + 1;

/// Where events wait: the lanes, the alarm and the heap.
pub(super) const PLACES: usize = LANES + 2;

/// The lowest bits of a key: where the event waits.
pub(super) const PLACE_BITS: u32 = PLACES.ilog2();

/// The bits above: what kind of event it is.
pub(super) const KIND_BITS: u32 = 5;

/// So many kinds of events there may be.
pub const KINDS: usize = 1 << KIND_BITS;

/// The bits above: how many were scheduled before it since keys were last numbered.
pub(super) const ORDER_BITS: u32 = 24;

/// Where the order begins in a key.
const ORDER_SHIFT: u32 = KIND_BITS + PLACE_BITS;

/// Where the offset begins in a key.
pub(super) const OFFSET_SHIFT: u32 = ORDER_BITS + ORDER_SHIFT;

/// The highest bits of a key: how long after the base it is due, at most 4 ms.
pub(super) const OFFSET_BITS: u32 = u64::BITS - OFFSET_SHIFT;

/// From one order to the next.
pub(super) const NEXT_ORDER: u64 = 1 << ORDER_SHIFT;

/// The key of no event, behind those of all. It would be that of the last event a key can say; that one waits apart.
pub(super) const NEVER: u64 = u64::MAX;

/// Offsets from here on wait apart.
pub(super) const OFFSET_END: u64 = (1 << OFFSET_BITS) - 1;
