//! Arrival times of a fitted profile.

use rustc_hash::FxHashMap;

use super::classes::rate_class;
use super::model::ArrivalModel;
use super::urn::{Urn, Urns};
use crate::workload::synthetic::{Generator, below};

/// Arrivals that keep the number of requests of every segment, and between them the order of long and short distances.
///
/// The distances of a segment are drawn together, so memory grows with the requests of the largest one, never with the trace that
/// is made. After the last segment the first follows.
#[derive(Clone, Debug)]
pub(super) struct FittedArrivals {
    segment_ps: u64,
    segments: Vec<u64>,
    mixes: Vec<u32>,
    quantiles: FxHashMap<u32, ([u64; 9], Urn)>,
    gaps: Urns<2>,
    generator: Generator,
    /// The segment that comes next, and where it begins.
    segment: usize,
    segment_start: u64,
    class: u32,
    long: u32,
    since_long: u32,
    rate_class: u32,
    mix: u32,
    now: u64,
    /// Arrivals of the segment under way, the last first, with the classes of their distances.
    waiting: Vec<(u64, u32)>,
}

impl FittedArrivals {
    pub(super) fn new(model: &ArrivalModel, generator: Generator) -> FittedArrivals {
        let quantiles =
            model.quantiles.iter().map(|(class, values)| (*class, (*values, Urn::new((0..8).map(|part| (part, 1))))));
        FittedArrivals {
            segment_ps: model.segment_ps,
            segments: model.segments.clone(),
            mixes: model.mixes.clone(),
            mix: 0,
            quantiles: quantiles.collect(),
            gaps: Urns::new(&model.gaps),
            generator,
            segment: 0,
            segment_start: 0,
            class: 0,
            long: model.long,
            since_long: 0,
            rate_class: 0,
            now: 0,
            waiting: Vec::new(),
        }
    }

    /// The next arrival in picoseconds, the class of its distance and the mix of its segment; nothing at the end of time.
    #[inline]
    pub(super) fn next(&mut self) -> Option<(u64, u32, u32)> {
        loop {
            if let Some((arrival, class)) = self.waiting.pop() {
                self.now = arrival;
                return Some((arrival, class, self.mix));
            }
            self.fill()?;
        }
    }

    /// Draws the arrivals of the next segment.
    fn fill(&mut self) -> Option<()> {
        let count = self.segments[self.segment];
        let start = self.segment_start;
        self.segment_start = start.checked_add(self.segment_ps)?;
        self.mix = self.mixes.get(self.segment).copied().unwrap_or(0);
        self.segment = (self.segment + 1) % self.segments.len();
        if count == 0 {
            return Some(());
        }
        self.rate_class = rate_class(count);
        let mut gaps: Vec<(u64, u32)> = (0..count).map(|_| self.draw()).collect();
        // The last arrival lies as far before the end as an even spread would put it.
        let room = self.segment_ps - self.segment_ps / (count + 1);
        let (lead, inner) = gaps.split_first_mut()?;
        squeeze(inner, self.segment_ps / count, room);
        let length: u64 = inner.iter().map(|(gap, _)| gap).sum();
        let latest = start + self.segment_ps.saturating_sub(length + 1);
        let mut at = self.now.saturating_add(lead.0).clamp(start.min(latest), latest).max(self.now);
        self.waiting.push((at, lead.1));
        for (gap, class) in inner {
            at += *gap;
            self.waiting.push((at, *class));
        }
        self.waiting.reverse();
        Some(())
    }

    /// A distance and its class.
    fn draw(&mut self) -> (u64, u32) {
        let context = ArrivalModel::context(self.rate_class, self.class, self.since_long);
        let class = self.gaps.draw(context, &mut self.generator).unwrap_or(0);
        self.since_long = ArrivalModel::since_long(self.long, self.since_long, class);
        self.class = class;
        let Some((values, parts)) = self.quantiles.get_mut(&class) else { return (0, class) };
        let part = parts.draw(&mut self.generator).unwrap_or(0) as usize;
        (values[part] + below(&mut self.generator, values[part + 1].saturating_sub(values[part]) + 1), class)
    }
}

/// Changes the distances above `long` so that all together come to `room`, or at least not above it; short ones stay as they are as
/// long as that is possible.
fn squeeze(gaps: &mut [(u64, u32)], long: u64, room: u64) {
    let total: u128 = gaps.iter().map(|(gap, _)| u128::from(*gap)).sum();
    let long_total: u128 = gaps.iter().filter(|(gap, _)| *gap > long).map(|(gap, _)| u128::from(*gap)).sum();
    let (room, short_total) = (u128::from(room), total - long_total);
    let scale = |gaps: &mut [(u64, u32)], above: u64, numerator: u128, denominator: u128| {
        for (gap, _) in gaps.iter_mut().filter(|(gap, _)| *gap > above) {
            *gap = (u128::from(*gap) * numerator / denominator.max(1)) as u64;
        }
    };
    if (2 * room..4 * room).contains(&(3 * total)) || long_total == 0 && total > room {
        scale(gaps, 0, room, total);
    } else if total <= room {
        let stretched = (room - short_total).min(2 * long_total);
        scale(gaps, long, stretched, long_total);
    } else if short_total < room / 2 {
        scale(gaps, long, room - short_total, long_total);
    } else {
        scale(gaps, 0, room, total);
    }
}
