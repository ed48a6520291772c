//! Counts of outcomes in contexts: what a fit counts, what a profile keeps, what a source draws from.

use std::collections::BTreeMap;

/// How often each outcome was seen in each context of `WIDTH` numbers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Table<const WIDTH: usize> {
    pub(super) rows: BTreeMap<[u32; WIDTH], BTreeMap<u32, u64>>,
}

impl<const WIDTH: usize> Default for Table<WIDTH> {
    fn default() -> Table<WIDTH> {
        Table { rows: BTreeMap::new() }
    }
}

impl<const WIDTH: usize> Table<WIDTH> {
    /// Counts an outcome.
    #[inline]
    pub fn count(&mut self, context: [u32; WIDTH], outcome: u32) {
        self.add(context, outcome, 1);
    }

    /// Counts an outcome so many times.
    #[inline]
    pub fn add(&mut self, context: [u32; WIDTH], outcome: u32, times: u64) {
        *self.rows.entry(context).or_default().entry(outcome).or_default() += times;
    }

    /// How often each outcome was seen, whatever the context.
    pub fn outcomes(&self) -> BTreeMap<u32, u64> {
        let mut outcomes = BTreeMap::new();
        for (&outcome, &times) in self.rows.values().flatten() {
            let sum: &mut u64 = outcomes.entry(outcome).or_default();
            *sum = sum.saturating_add(times);
        }
        outcomes
    }
}
