//! Distribution of the number of occurrences over page pairs (Patterned Read Collisions, IEEE Access 2023, Figure 4).

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::counting::share;
use super::pair_counts::PairCounts;
use super::report::{CollisionPair, RepetitionBin};
use crate::collisions::PagePair;

const TOP_PAIRS: usize = 20;

/// Minimum occurrences of a frequent pair. Frequent pairs are listed one by one; rarer ones are counted by occurrences.
const RARE_OCCURRENCES: usize = 1 << 10;

/// Distribution of the number of occurrences over the pairs that [`PairCounts`] has kept.
#[derive(Debug)]
pub(super) struct Repetitions {
    /// Page pairs grouped by their number of occurrences: a bin for each power of two that is not empty, the largest first.
    pub bins: Vec<RepetitionBin>,
    pub top: Vec<CollisionPair>,
    /// Share of all occurrences that belong to the 5 % of pairs with the most occurrences; `None` without pairs.
    pub top_5_percent_share: Option<f64>,
    pub mean: Option<f64>,
}

pub(super) fn repetitions(pairs: &PairCounts) -> Repetitions {
    // Entry k of `pairs_of` is the number of pairs with k occurrences, because most pairs have few. `often` lists the frequent pairs.
    let (mut pairs_of, mut often) = ([0_u64; RARE_OCCURRENCES], Vec::new());
    let mut top = BinaryHeap::with_capacity(TOP_PAIRS + 1);
    for (pair, times) in pairs.kept() {
        match pairs_of.get_mut(times as usize) {
            Some(pairs) => *pairs += 1,
            None => often.push(times),
        }
        let entry = (Reverse(times), pair);
        if top.len() < TOP_PAIRS {
            top.push(entry);
        } else if let Some(mut last) = top.peek_mut().filter(|last| entry < **last) {
            *last = entry;
        }
    }
    often.sort_unstable_by_key(|&times| Reverse(times));
    let seldom = pairs_of.iter().enumerate().rev().map(|(times, &pairs)| (times as u32, pairs));
    let by_times = || often.iter().map(|&times| (times, 1)).chain(seldom.clone().filter(|&(_, pairs)| pairs > 0));
    let kept: u64 = by_times().map(|(_, pairs)| pairs).sum();
    let total: u64 = by_times().map(|(times, pairs)| u64::from(times) * pairs).sum();
    let mut bins: Vec<RepetitionBin> = Vec::new();
    let (mut first_twentieth, mut left) = (0, kept.div_ceil(20));
    for (times, pairs) in by_times() {
        let times_min = 1 << times.ilog2();
        if bins.last().is_none_or(|bin| bin.times_min != times_min) {
            bins.push(RepetitionBin { times_min, pairs: 0, occurrences: 0 });
        }
        if let Some(bin) = bins.last_mut() {
            bin.pairs += pairs;
            bin.occurrences += u64::from(times) * pairs;
        }
        first_twentieth += u64::from(times) * pairs.min(left);
        left -= pairs.min(left);
    }
    let pair = |(Reverse(times), pair): (Reverse<u32>, PagePair)| CollisionPair {
        first: pair.first.0,
        second: pair.second.0,
        occurrences: u64::from(times),
    };
    let top = top.into_sorted_vec().into_iter().map(pair).collect();
    Repetitions { bins, top, top_5_percent_share: share(first_twentieth, total), mean: share(total, kept) }
}
