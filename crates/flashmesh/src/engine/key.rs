//! The key of an event: when it is due, what it is, and where it waits, in one word.
//!
//! From the top: the time as an offset from a base that moves on, the kind, the number, the place. So the smaller of two keys is that of the event
//! that comes first.

pub const LANES: usize = 6;

pub(super) const ALARM: usize = LANES;

/// For events that do not follow their cause after a constant delay.
pub const NO_LANE: usize = LANES + 1;

/// Lanes, alarm and heap.
pub(super) const PLACES: usize = LANES + 2;

/// Lowest bits of a key: the place.
pub(super) const PLACE_BITS: u32 = PLACES.ilog2();

/// Next bits: the number of the event.
const NUMBER_BITS: u32 = 24;

/// Numbers of events are smaller.
pub const NUMBERS: u32 = 1 << NUMBER_BITS;

const KIND_SHIFT: u32 = NUMBER_BITS + PLACE_BITS;

/// Next bits: the kind of the event.
const KIND_BITS: u32 = 5;

pub const KINDS: usize = 1 << KIND_BITS;

pub(super) const OFFSET_SHIFT: u32 = KIND_BITS + KIND_SHIFT;

/// Highest bits of a key: time after the base, at most 4 ms.
pub(super) const OFFSET_BITS: u32 = u64::BITS - OFFSET_SHIFT;

/// The key of no event, after all others; the event that would have it waits in `far`.
pub(super) const NEVER: u64 = u64::MAX;

/// Larger offsets wait in `far`.
pub(super) const OFFSET_END: u64 = (1 << OFFSET_BITS) - 1;

/// What a key says but for the time.
#[inline(always)]
pub(super) fn rest(kind: u8, number: u32, place: usize) -> u64 {
    debug_assert!(
        usize::from(kind) < KINDS && number < NUMBERS,
        "a key has no room for number {number} of kind {kind}"
    );
    u64::from(kind) << KIND_SHIFT | u64::from(number) << PLACE_BITS | place as u64
}

#[inline(always)]
pub(super) fn kind_of(key: u64) -> u8 {
    (key >> KIND_SHIFT) as u8 % KINDS as u8
}

#[inline(always)]
pub(super) fn number_of(key: u64) -> u32 {
    (key >> PLACE_BITS) as u32 % NUMBERS
}

#[inline(always)]
pub(super) fn place_of(key: u64) -> usize {
    key as usize % PLACES
}
