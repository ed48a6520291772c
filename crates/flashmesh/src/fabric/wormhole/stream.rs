//! Times of many flits at once: runs at equal distances, in the order in which the flits move.

use std::collections::VecDeque;

/// `count` cycles, `stride` apart, from `start` on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Run {
    pub(super) start: u64,
    pub(super) count: u32,
    pub(super) stride: u32,
}

impl Run {
    /// No flits.
    pub(super) const NONE: Run = Run { start: 0, count: 0, stride: 0 };

    /// What constrains nothing: any number of flits, each of them free to move from the start.
    pub(super) const UNLIMITED: Run = Run { start: 0, count: u32::MAX, stride: 0 };

    /// The cycle of flit `index`.
    #[inline]
    pub(super) fn at(self, index: u32) -> u64 {
        self.start + u64::from(index) * u64::from(self.stride)
    }

    /// The cycle of the last flit.
    #[inline]
    pub(super) fn last(self) -> u64 {
        self.at(self.count - 1)
    }

    /// The run `cycles` later.
    #[inline]
    pub(super) fn after(self, cycles: u32) -> Run {
        Run { start: self.start + u64::from(cycles), ..self }
    }

    /// The run without its first `count` flits.
    #[inline]
    pub(super) fn skip(self, count: u32) -> Run {
        Run { start: self.at(count), count: self.count - count, ..self }
    }

    /// Takes the flits of `next` in behind its own, if all are evenly spaced then.
    #[inline]
    fn join(&mut self, next: Run) -> bool {
        let stride = if self.count > 1 { u64::from(self.stride) } else { next.start - self.start };
        let is_even = next.start == self.last() + stride && (next.count == 1 || u64::from(next.stride) == stride);
        if is_even {
            (self.stride, self.count) = (stride as u32, self.count + next.count);
        }
        is_even
    }

    /// The longest run of flits, at most `limit`, that cross a link free from `free`, one every `stride` cycles, each
    /// not before its own times in `first` and `second`.
    ///
    /// Flit j crosses at the maximum of three lines in j: none of them is steeper than the recurrence
    /// x(j) = max(first(j), second(j), x(j - 1) + stride) allows, and the run ends where a steeper line takes over.
    #[inline]
    pub(super) fn crossing(first: Run, second: Run, free: u64, stride: u32, limit: u32) -> Run {
        let lines =
            [(free, stride), (first.start, first.stride.max(stride)), (second.start, second.stride.max(stride))];
        let (start, steepness) = lines[0].max(lines[1]).max(lines[2]);
        let mut count = limit.min(first.count).min(second.count);
        for (other, steeper) in lines {
            if steeper > steepness {
                // The other line starts below, or it would have been chosen.
                let overtakes = (start - other) / u64::from(steeper - steepness) + 1;
                count = u64::from(count).min(overtakes) as u32;
            }
        }
        Run { start, count, stride: steepness }
    }
}

/// A queue of flits, each with its cycle, kept as runs.
#[derive(Clone, Debug)]
pub(super) struct Stream {
    /// The first run, beside its owner: mostly there is no other. Of no flits when the queue is empty.
    first: Run,
    rest: VecDeque<Run>,
    flits: u32,
}

impl Stream {
    /// A queue of the flits of `run`.
    pub(super) fn new(run: Run) -> Stream {
        Stream { first: run, rest: VecDeque::new(), flits: run.count }
    }

    /// How many flits there are.
    #[inline]
    pub(super) fn len(&self) -> u32 {
        self.flits
    }

    /// The run at `place`.
    #[inline]
    pub(super) fn run(&self, place: usize) -> Option<Run> {
        if place == 0 { self.front() } else { self.rest.get(place - 1).copied() }
    }

    /// The first run.
    #[inline]
    pub(super) fn front(&self) -> Option<Run> {
        (self.flits > 0).then_some(self.first)
    }

    /// Appends the flits of `run`, which are not before those that are there.
    #[inline]
    pub(super) fn push(&mut self, run: Run) {
        let is_empty = self.flits == 0;
        self.flits += run.count;
        if is_empty {
            self.first = run;
        } else if !self.rest.back_mut().unwrap_or(&mut self.first).join(run) {
            self.rest.push_back(run);
        }
    }

    /// Takes `count` flits away, not more than the first run has.
    #[inline]
    pub(super) fn consume(&mut self, count: u32) {
        self.flits -= count;
        self.first = self.first.skip(count);
        if self.first.count == 0
            && let Some(next) = self.rest.pop_front()
        {
            self.first = next;
        }
    }

    /// The cycle of flit `index`.
    #[inline]
    pub(super) fn nth(&self, mut index: u32) -> Option<u64> {
        if index < self.first.count {
            return Some(self.first.at(index));
        }
        index -= self.first.count;
        for run in &self.rest {
            if index < run.count {
                return Some(run.at(index));
            }
            index -= run.count;
        }
        None
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
                || Run { start: random.below(40).into(), count: 1 + random.below(20), stride: random.below(6) };
            let (first, second) = (run(), run());
            let (mut free, stride) = (random.below(40).into(), 1 + random.below(3));
            let crossing = Run::crossing(first, second, free, stride, 15);
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
        let mut random = SimRng::new(6);
        for _ in 0..2_000 {
            let (mut stream, mut expected, mut at) = (Stream::new(Run::NONE), Vec::new(), 0);
            for _ in 0..10 {
                let run =
                    Run { start: at + u64::from(random.below(3)), count: 1 + random.below(3), stride: random.below(3) };
                stream.push(run);
                expected.extend((0..run.count).map(|flit| run.at(flit)));
                at = run.last();
            }
            assert_eq!(stream.len() as usize, expected.len());
            for (index, &cycle) in expected.iter().enumerate() {
                assert_eq!(stream.nth(index as u32), Some(cycle));
            }
            assert_eq!(stream.nth(stream.len()), None);
            for cycle in expected {
                assert_eq!(stream.front().map(|run| run.start), Some(cycle));
                stream.consume(1);
            }
            assert_eq!((stream.len(), stream.front()), (0, None));
        }
        let mut even = Stream::new(Run::NONE);
        for start in [3, 5, 7] {
            even.push(Run { start, count: 1, stride: 1 });
        }
        even.push(Run { start: 9, count: 4, stride: 2 });
        assert_eq!((even.run(0), even.run(1)), (Some(Run { start: 3, count: 7, stride: 2 }), None));
    }
}
