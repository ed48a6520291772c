//! Sequential runs: requests that begin where an earlier one ended.

use super::Distribution;

/// The number of runs tracked at a time. Older runs are considered ended.
pub(super) const REMEMBERED: usize = 32;

/// Sequential runs. A request that begins at the end of one of the last [`REMEMBERED`] runs continues that run.
#[derive(Clone, Debug, Default)]
pub(super) struct Runs {
    /// The tracked runs, the latest first: end offset in bytes, number of requests.
    open: Vec<(u64, u64)>,
    lengths: Distribution,
    requests: u64,
    closed: u64,
}

impl Runs {
    pub(super) fn add(&mut self, offset: u64, size: u64) {
        self.requests += 1;
        let length = match self.open.iter().position(|(end, _)| *end == offset) {
            Some(place) => self.open.remove(place).1 + 1,
            None => {
                if self.open.len() == REMEMBERED
                    && let Some((_, length)) = self.open.pop()
                {
                    self.lengths.add(length);
                    self.closed += 1;
                }
                1
            }
        };
        self.open.insert(0, (offset + size, length));
    }

    /// Returns the lengths of all runs in requests, including the runs still tracked.
    pub(super) fn lengths(&self) -> Distribution {
        let mut lengths = self.lengths.clone();
        self.open.iter().for_each(|&(_, length)| lengths.add(length));
        lengths
    }

    /// Returns the mean number of requests in a run; 0 without runs.
    pub(super) fn mean(&self) -> f64 {
        match self.closed + self.open.len() as u64 {
            0 => 0.0,
            runs => self.requests as f64 / runs as f64,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn distribution(lengths: &[u64]) -> Distribution {
        let mut distribution = Distribution::default();
        lengths.iter().for_each(|&length| distribution.add(length));
        distribution
    }

    #[test]
    fn interleaved_runs_are_told_apart() {
        let mut runs = Runs::default();
        for (offset, size) in [(0, 8), (1000, 4), (8, 8), (1004, 4), (16, 2), (5000, 1)] {
            runs.add(offset, size);
        }
        assert_eq!(runs.lengths(), distribution(&[3, 2, 1]));
        assert_eq!(runs.mean(), 2.0);
    }

    #[test]
    fn a_run_is_over_once_as_many_others_came_as_are_remembered() {
        for (others, expected) in [(REMEMBERED - 1, 2), (REMEMBERED, 1)] {
            let mut runs = Runs::default();
            runs.add(0, 8);
            (1..=others as u64).for_each(|other| runs.add(other * 1000, 8));
            runs.add(8, 8);
            assert_eq!(runs.lengths().distance(&distribution(&[1])) > 0.0, expected == 2, "{others} others");
        }
    }
}
