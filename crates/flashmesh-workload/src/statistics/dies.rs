//! The balance of reads over the dies of a reference drive.

/// The page size of the reference drive, in bytes.
pub(super) const PAGE_BYTES: u64 = 4096;
/// The number of rows of chips of the reference drive. A row consists of the chips of one channel.
pub(super) const ROWS: usize = 8;
/// The number of dies of the reference drive. Consecutive pages lie on consecutive dies in the order CWDP, as in the preset `venice-z-nand`.
pub(super) const DIES: usize = 64;

#[derive(Clone, Debug)]
pub(super) struct DieCounts {
    pages: [u64; DIES],
}

impl Default for DieCounts {
    fn default() -> DieCounts {
        DieCounts { pages: [0; DIES] }
    }
}

impl DieCounts {
    pub(super) fn add(&mut self, page: u64) {
        self.pages[(page % DIES as u64) as usize] += 1;
    }

    pub(super) fn pages(&self) -> u64 {
        self.pages.iter().sum()
    }

    /// Returns the share of all page reads that go to the die with the most reads; 0 without reads.
    pub(super) fn hottest_die(&self) -> f64 {
        self.share(self.pages.iter().copied().max().unwrap_or(0))
    }

    /// Returns the share of all page reads that go to the row with the most reads; 0 without reads.
    pub(super) fn hottest_row(&self) -> f64 {
        let row = |row: usize| self.pages.iter().skip(row).step_by(ROWS).sum();
        self.share((0..ROWS).map(row).max().unwrap_or(0))
    }

    /// Returns the coefficient of variation of the reads per die; 0 without reads.
    pub(super) fn variation(&self) -> f64 {
        let mean = self.pages.iter().sum::<u64>() as f64 / DIES as f64;
        if mean == 0.0 {
            return 0.0;
        }
        let variance = self.pages.iter().map(|&pages| (pages as f64 - mean).powi(2)).sum::<f64>() / DIES as f64;
        variance.sqrt() / mean
    }

    fn share(&self, pages: u64) -> f64 {
        match self.pages.iter().sum() {
            0_u64 => 0.0,
            all => pages as f64 / all as f64,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn even_reads_have_no_hot_die_and_one_page_has_one() {
        let mut even = DieCounts::default();
        (0..640).for_each(|page| even.add(page));
        assert_eq!((even.hottest_die(), even.hottest_row(), even.variation()), (1.0 / 64.0, 1.0 / 8.0, 0.0));
        let mut single = DieCounts::default();
        (0..10).for_each(|_| single.add(64 + 3));
        assert_eq!((single.hottest_die(), single.hottest_row()), (1.0, 1.0));
        // With n reads on one of 64 dies, the mean is n/64 and the standard deviation sqrt(63) n/64.
        assert!((single.variation() - 63.0_f64.sqrt()).abs() < 1e-12);
    }

    #[test]
    fn dies_of_a_row_are_a_row_apart() {
        let mut row = DieCounts::default();
        (0..8).for_each(|way| row.add(5 + way * 8));
        assert_eq!((row.hottest_die(), row.hottest_row()), (0.125, 1.0));
    }

    #[test]
    fn without_reads_all_is_zero() {
        let none = DieCounts::default();
        assert_eq!((none.hottest_die(), none.hottest_row(), none.variation()), (0.0, 0.0, 0.0));
    }
}
