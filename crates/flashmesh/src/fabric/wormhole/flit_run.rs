//! Cycles of many flits at once, as runs of evenly spaced cycles: of moves, of crossings, or of slots becoming free.

/// Evenly spaced cycles of successive flits: `count` cycles from `start` on, `stride` cycles apart. With `stride` 0 all are the same cycle.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct FlitRun {
    pub(super) start: u64,
    pub(super) count: u32,
    pub(super) stride: u32,
}

impl FlitRun {
    /// The empty run.
    pub(super) const NONE: FlitRun = FlitRun { start: 0, count: 0, stride: 0 };

    /// A run that delays no flit: any number of flits, all free to move from cycle 0 on.
    pub(super) const UNLIMITED: FlitRun = FlitRun { start: 0, count: u32::MAX, stride: 0 };

    /// Returns the cycle of flit `index`, counted from 0 at the start of the run.
    #[inline]
    pub(super) fn at(self, index: u32) -> u64 {
        self.start + u64::from(index) * u64::from(self.stride)
    }

    /// Returns the cycle of the last flit. The run must not be empty.
    #[inline]
    pub(super) fn last(self) -> u64 {
        self.at(self.count - 1)
    }

    /// Returns the run with every cycle later by `cycles`.
    #[inline]
    pub(super) fn delayed_by(self, cycles: u32) -> FlitRun {
        FlitRun { start: self.start + u64::from(cycles), ..self }
    }

    /// Returns the run without its first `count` flits. The run must have at least `count` flits.
    #[inline]
    pub(super) fn skip(self, count: u32) -> FlitRun {
        FlitRun { start: self.at(count), count: self.count - count, ..self }
    }

    /// Appends the flits of `next`, if both runs together are evenly spaced. Returns whether they are; otherwise `self` is unchanged. Neither run may
    /// be empty.
    #[inline(always)]
    fn join(&mut self, next: FlitRun) -> bool {
        let stride = if self.count > 1 { u64::from(self.stride) } else { next.start - self.start };
        let is_even = next.start == self.last() + stride && (next.count == 1 || u64::from(next.stride) == stride);
        if is_even {
            (self.stride, self.count) = (stride as u32, self.count + next.count);
        }
        is_even
    }

    /// Returns the cycles in which flits cross a link, as the longest evenly spaced run of at most `limit` flits. The link is free from cycle `free`
    /// on, and each flit occupies it for `stride` cycles. A flit crosses at or after its cycle in `first` (usually of its arrival) and its cycle in
    /// `second` (usually of its free slot).
    ///
    /// The cycle of flit j is x(j) = max(first(j), second(j), x(j - 1) + `stride`), a maximum of three linear functions of j. The run follows the one
    /// that is largest at j = 0, and ends where a steeper one exceeds it.
    #[inline]
    pub(super) fn crossing(first: FlitRun, second: FlitRun, free: u64, stride: u32, limit: u32) -> FlitRun {
        let limit = limit.min(first.count).min(second.count);
        if first.stride.max(second.stride) <= stride {
            // Usual case: arrivals and slots are at most `stride` apart, so each flit waits only for the one ahead of it.
            return FlitRun { start: free.max(first.start).max(second.start), count: limit, stride };
        }
        FlitRun::crossing_of_uneven(first, second, free, stride, limit)
    }

    #[inline(never)]
    fn crossing_of_uneven(first: FlitRun, second: FlitRun, free: u64, stride: u32, limit: u32) -> FlitRun {
        let lines =
            [(free, stride), (first.start, first.stride.max(stride)), (second.start, second.stride.max(stride))];
        let (start, steepness) = lines[0].max(lines[1]).max(lines[2]);
        let mut count = limit;
        for (other, steeper) in lines {
            if steeper > steepness {
                // A steeper function starts below the chosen one, the largest at j = 0. The run ends where it exceeds the chosen one.
                let overtakes = (start - other) / u64::from(steeper - steepness) + 1;
                count = u64::from(count).min(overtakes) as u32;
            }
        }
        FlitRun { start, count, stride: steepness }
    }
}

/// Pool index for no run: the end of a queue or of the free list.
const NO_NODE: u32 = u32::MAX;

/// A run (evenly spaced cycles of flits) in the pool, and the pool index of the next run of its queue.
#[derive(Clone, Copy, Debug)]
struct PooledRun {
    run: FlitRun,
    next: u32,
}

/// Pool of runs (evenly spaced cycles of flits) for all queues of a network. A queue stores its first two runs itself, and the rest in the pool.
/// Unused entries form a free list.
#[derive(Clone, Debug)]
pub(super) struct RunPool {
    nodes: Vec<PooledRun>,
    free: u32,
}

impl RunPool {
    pub(super) fn new() -> RunPool {
        RunPool { nodes: Vec::new(), free: NO_NODE }
    }

    #[inline]
    fn insert(&mut self, run: FlitRun) -> u32 {
        let node = PooledRun { run, next: NO_NODE };
        let at = self.free;
        match self.nodes.get_mut(at as usize) {
            Some(slot) => {
                self.free = slot.next;
                *slot = node;
                at
            }
            None => {
                self.nodes.push(node);
                (self.nodes.len() - 1) as u32
            }
        }
    }

    /// Removes the entry at index `at`. Returns its run, and the index of the next run of its queue ([`NO_NODE`] after the last).
    #[inline]
    fn remove(&mut self, at: u32) -> PooledRun {
        let node = self.nodes[at as usize];
        self.nodes[at as usize].next = self.free;
        self.free = at;
        node
    }
}

/// Queue of flits or of buffer slots in order of their cycles, stored as runs.
#[derive(Clone, Debug)]
pub(super) struct FlitQueue {
    /// First two runs (evenly spaced cycles of flits), stored here because more are rare. A missing run is empty.
    first: FlitRun,
    second: FlitRun,
    flits: u32,
    /// Pool index of the third run (`third`) and of the last run (`last`). With at most two runs, `third` is [`NO_NODE`], and `last` is
    /// meaningless.
    third: u32,
    last: u32,
}

impl FlitQueue {
    /// Creates a queue with the flits of `run`, which may be empty.
    pub(super) fn new(run: FlitRun) -> FlitQueue {
        FlitQueue { first: run, second: FlitRun::NONE, flits: run.count, third: NO_NODE, last: NO_NODE }
    }

    #[inline]
    pub(super) fn len(&self) -> u32 {
        self.flits
    }

    /// Returns the first run (evenly spaced cycles of flits); empty if the queue is empty.
    #[inline]
    pub(super) fn front(&self) -> FlitRun {
        self.first
    }

    /// Returns the runs (evenly spaced cycles of flits) as an array, padded with empty runs; `None` if there are more than two, or if flits of a run
    /// are more than `stride` cycles apart.
    #[inline(always)]
    pub(super) fn as_two(&self, stride: u32) -> Option<[FlitRun; 2]> {
        let is_simple = self.third == NO_NODE && self.first.stride.max(self.second.stride) <= stride;
        is_simple.then_some([self.first, self.second])
    }

    /// Replaces the content with the flits of `run`. The queue must have at most two runs.
    #[inline(always)]
    pub(super) fn reset(&mut self, run: FlitRun) {
        debug_assert!(self.third == NO_NODE, "the nodes of a stream are given back");
        (self.first, self.second, self.flits) = (run, FlitRun::NONE, run.count);
    }

    /// Returns a cursor at the first run. It does not borrow the queue, which must not change while the cursor is used.
    #[inline]
    pub(super) fn cursor(&self) -> RunCursor {
        RunCursor { run: self.first, second: self.second, next: self.third }
    }

    /// Appends the flits of `run`, whose cycles must not be before the last cycle of the queue.
    ///
    /// Always inlined, which keeps `run` in CPU registers. In memory, it would be stored field by field and loaded as a whole, which stalls the CPU
    /// (failed store-to-load forwarding).
    #[inline(always)]
    pub(super) fn push(&mut self, run: FlitRun, pool: &mut RunPool) {
        let FlitRun { start, count, stride } = run;
        let is_empty = self.flits == 0;
        self.flits += count;
        if is_empty {
            self.first = FlitRun { start, count, stride };
        } else if self.second.count == 0 {
            if !self.first.join(run) {
                self.second = FlitRun { start, count, stride };
            }
        } else if self.third != NO_NODE || !self.second.join(run) {
            self.push_far(start, count, stride, pool);
        }
    }

    #[inline(never)]
    fn push_far(&mut self, start: u64, count: u32, stride: u32, pool: &mut RunPool) {
        let run = FlitRun { start, count, stride };
        if self.third == NO_NODE {
            self.third = pool.insert(run);
            self.last = self.third;
        } else if !pool.nodes[self.last as usize].run.join(run) {
            let node = pool.insert(run);
            pool.nodes[self.last as usize].next = node;
            self.last = node;
        }
    }

    /// Removes the first `count` flits, which must all be in the first run.
    #[inline]
    pub(super) fn consume(&mut self, count: u32, pool: &mut RunPool) {
        self.flits -= count;
        if count < self.first.count {
            self.first = self.first.skip(count);
        } else {
            self.first = self.second;
            self.close_up(pool);
        }
    }

    /// Makes the third run the second one; if there is no third run, empties the second.
    #[inline]
    fn close_up(&mut self, pool: &mut RunPool) {
        self.second = FlitRun::NONE;
        if self.third != NO_NODE {
            PooledRun { run: self.second, next: self.third } = pool.remove(self.third);
        }
    }

    /// Merges the runs that end at `now` or earlier into one, all in a single cycle, so that queues stay short. The exact cycles are lost, but
    /// callers only compare them with `now` or later cycles.
    #[inline]
    pub(super) fn merge_until(&mut self, now: u64, pool: &mut RunPool) {
        while self.second.count > 0 {
            let end = self.second.last();
            if end > now {
                return;
            }
            self.first = FlitRun { start: end, count: self.first.count + self.second.count, stride: 0 };
            self.close_up(pool);
        }
    }

    /// Returns the cycle of flit `index`, counted from 0; `None` if the queue has `index` flits or fewer.
    #[inline]
    pub(super) fn nth(&self, mut index: u32, pool: &RunPool) -> Option<u64> {
        let mut cursor = self.cursor();
        while index >= cursor.run.count {
            index -= cursor.run.count;
            if !cursor.advance(pool) {
                return None;
            }
        }
        Some(cursor.run.at(index))
    }
}

/// A cursor over the runs (evenly spaced cycles of flits) of a queue.
#[derive(Clone, Copy, Debug)]
pub(super) struct RunCursor {
    pub(super) run: FlitRun,
    second: FlitRun,
    next: u32,
}

impl RunCursor {
    /// Moves to the next run. Returns `false` if there is none; the cursor then stays at the last run.
    #[inline]
    pub(super) fn advance(&mut self, pool: &RunPool) -> bool {
        let (run, next) = match pool.nodes.get(self.next as usize) {
            _ if self.second.count > 0 => (self.second, self.next),
            Some(&PooledRun { run, next }) => (run, next),
            None => return false,
        };
        *self = RunCursor { run, second: FlitRun::NONE, next };
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::random::SimRng;

    #[test]
    fn a_crossing_is_what_the_recurrence_gives_flit_by_flit() {
        let mut random = SimRng::new(5);
        for _ in 0..20_000 {
            let mut run =
                || FlitRun { start: random.below(40).into(), count: 1 + random.below(20), stride: random.below(6) };
            let (first, second) = (run(), run());
            let (mut free, stride) = (random.below(40).into(), 1 + random.below(3));
            let crossing = FlitRun::crossing(first, second, free, stride, 15);
            assert!(crossing.count > 0 && crossing.count <= 15.min(first.count).min(second.count));
            for flit in 0..crossing.count {
                let expected = first.at(flit).max(second.at(flit)).max(free);
                assert_eq!(crossing.at(flit), expected, "{first:?} {second:?} flit {flit}");
                free = expected + u64::from(stride);
            }
        }
    }

    #[test]
    fn a_stream_gives_back_every_flit_in_order_and_joins_what_is_evenly_spaced() {
        let (mut random, mut pool) = (SimRng::new(6), RunPool::new());
        for _ in 0..2_000 {
            let (mut stream, mut expected, mut at) = (FlitQueue::new(FlitRun::NONE), Vec::new(), 0);
            assert_eq!(stream.nth(0, &pool), None);
            for _ in 0..10 {
                let run = FlitRun {
                    start: at + u64::from(random.below(3)),
                    count: 1 + random.below(3),
                    stride: random.below(3),
                };
                stream.push(run, &mut pool);
                expected.extend((0..run.count).map(|flit| run.at(flit)));
                at = run.last();
            }
            assert_eq!(stream.len() as usize, expected.len());
            for (index, &cycle) in expected.iter().enumerate() {
                assert_eq!(stream.nth(index as u32, &pool), Some(cycle));
            }
            assert_eq!(stream.nth(stream.len(), &pool), None);
            for cycle in expected {
                assert_eq!((stream.front().start, stream.front().count > 0), (cycle, true));
                stream.consume(1, &mut pool);
            }
            assert_eq!((stream.len(), stream.front().count), (0, 0));
        }
        let mut even = FlitQueue::new(FlitRun::NONE);
        for start in [3, 5, 7] {
            even.push(FlitRun { start, count: 1, stride: 1 }, &mut pool);
        }
        even.push(FlitRun { start: 9, count: 4, stride: 2 }, &mut pool);
        assert_eq!(even.front(), FlitRun { start: 3, count: 7, stride: 2 });
        assert!(!even.cursor().advance(&pool));
    }

    #[test]
    fn what_is_past_becomes_one_run_and_the_rest_stays() {
        let (mut random, mut pool) = (SimRng::new(7), RunPool::new());
        for _ in 0..2_000 {
            let (mut stream, mut at) = (FlitQueue::new(FlitRun::NONE), 0);
            for _ in 0..6 {
                let run = FlitRun {
                    start: at + u64::from(random.below(4)),
                    count: 1 + random.below(3),
                    stride: random.below(3),
                };
                stream.push(run, &mut pool);
                at = run.last();
            }
            let (before, now) = (stream.clone(), u64::from(random.below(at as u32 + 2)));
            let expected: Vec<u64> =
                (0..before.len()).filter_map(|index| before.nth(index, &pool)).map(|cycle| cycle.max(now)).collect();
            stream.merge_until(now, &mut pool);
            assert_eq!(stream.len() as usize, expected.len());
            for (index, &cycle) in expected.iter().enumerate() {
                assert_eq!(stream.nth(index as u32, &pool).map(|cycle| cycle.max(now)), Some(cycle));
            }
            let mut second = stream.cursor();
            assert!(!second.advance(&pool) || second.run.last() > now);
            (0..stream.len()).for_each(|_| stream.consume(1, &mut pool));
        }
        assert!(pool.nodes.len() <= 6, "the nodes of a stream are used again");
    }
}
