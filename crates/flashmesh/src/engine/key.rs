//! The key of an event: when it is due, its turn among those of that time, what it is, and where it waits, in one word.
//!
//! From the top: the time as an offset from a base that moves on, the order of scheduling, the kind, the place. So the smaller of two keys
//! is that of the event that comes first.

pub const LANES: usize = 6;

pub(super) const ALARM: usize = LANES;

/// For events that do not follow their cause after a constant delay.
pub const NO_LANE: usize = LANES + 1;

/// Lanes, alarm and heap.
pub(super) const PLACES: usize = LANES + 2;

/// Lowest bits of a key: the place.
pub(super) const PLACE_BITS: u32 = PLACES.ilog2();

/// Next bits: the kind of the event.
pub(super) const KIND_BITS: u32 = 5;

pub const KINDS: usize = 1 << KIND_BITS;

/// Next bits: sequence number since the last renumbering.
pub(super) const ORDER_BITS: u32 = 24;

const ORDER_SHIFT: u32 = KIND_BITS + PLACE_BITS;

pub(super) const OFFSET_SHIFT: u32 = ORDER_BITS + ORDER_SHIFT;

/// Highest bits of a key: time after the base, at most 4 ms.
pub(super) const OFFSET_BITS: u32 = u64::BITS - OFFSET_SHIFT;

pub(super) const NEXT_ORDER: u64 = 1 << ORDER_SHIFT;

/// The key of no event, after all others; the event that would have it waits in `far`.
pub(super) const NEVER: u64 = u64::MAX;

/// Larger offsets wait in `far`.
pub(super) const OFFSET_END: u64 = (1 << OFFSET_BITS) - 1;
