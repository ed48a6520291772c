//! Keys of events: one word contains time, kind, number and queue of an event.
//!
//! The fields, from the highest bits down, are: time as an offset from a moving base, kind, number, queue. So the next event has the smallest key.

pub const LANES: usize = 6;

pub(super) const ALARM: usize = LANES;

/// Lane number of events without a lane (FIFO). As a queue index, this is the heap.
pub const NO_LANE: usize = LANES + 1;

/// Number of queues: the lanes, the alarm and the heap.
pub(super) const QUEUES: usize = LANES + 2;

/// Width of the queue field in bits. The field occupies the lowest bits of a key.
pub(super) const QUEUE_BITS: u32 = QUEUES.ilog2();

/// Width of the event number, in bits.
const NUMBER_BITS: u32 = 24;

/// Exclusive upper bound of event numbers.
pub const NUMBERS: u32 = 1 << NUMBER_BITS;

const KIND_SHIFT: u32 = NUMBER_BITS + QUEUE_BITS;

/// Width of the event kind, in bits.
const KIND_BITS: u32 = 5;

pub const KINDS: usize = 1 << KIND_BITS;

pub(super) const OFFSET_SHIFT: u32 = KIND_BITS + KIND_SHIFT;

/// Width of the time offset, in bits. The offset is in ps and occupies the highest bits of a key. The range of times is about 4 ms.
pub(super) const OFFSET_BITS: u32 = u64::BITS - OFFSET_SHIFT;

/// First key of an empty queue, greater than any key of an event: [`OFFSET_END`] and later times do not fit into a key.
pub(super) const NEVER: u64 = u64::MAX;

/// First time offset, in ps, that does not fit into a key. Events from there on wait in `far_lanes` or `far` of the event queue.
pub(super) const OFFSET_END: u64 = (1 << OFFSET_BITS) - 1;

/// Returns a key without its time. `place` is the index of the event's queue.
#[inline(always)]
pub(super) fn key_without_time(kind: u8, number: u32, place: usize) -> u64 {
    debug_assert!(
        usize::from(kind) < KINDS && number < NUMBERS,
        "a key has no room for number {number} of kind {kind}"
    );
    u64::from(kind) << KIND_SHIFT | u64::from(number) << QUEUE_BITS | place as u64
}

#[inline(always)]
pub(super) fn kind_of(key: u64) -> u8 {
    (key >> KIND_SHIFT) as u8 % KINDS as u8
}

#[inline(always)]
pub(super) fn number_of(key: u64) -> u32 {
    (key >> QUEUE_BITS) as u32 % NUMBERS
}

#[inline(always)]
pub(super) fn queue_of(key: u64) -> usize {
    key as usize % QUEUES
}
