//! Runs: consecutive logical pages that one host write covers, and that stay together in one physical page.

use crate::config::{ExpectedWrites, WriteSizes};
use crate::engine::random::SimRng;
use crate::flash::geometry::Geometry;
use crate::ids::Lpn;

/// Fixed-point scale of the cumulative shares in `lengths`: this value means all writes.
const WEIGHT: u32 = 1 << 24;

/// Generator of random writes of one or more consecutive logical pages (mapping units). A run never crosses the boundary of a physical
/// page, because static allocation places the units of a write in one physical page.
#[derive(Clone, Debug)]
pub(super) struct WriteRuns {
    /// Cumulative distribution of the run lengths: each length in mapping units, ascending, with the share of writes up to this length, in units of 1
    /// / [`WEIGHT`].
    lengths: Vec<(u32, u32)>,
    /// Alignment of the first page of a run, in mapping units.
    alignment: u32,
    /// Number of mapping units in a physical page; 1 if all writes are single units.
    together: u32,
    /// Next logical page of the current run. The run ends before page `end`.
    next: u32,
    end: u32,
}

impl WriteRuns {
    /// Creates the generator for `writes`. Runs are single pages if the sizes of writes are unknown, if every write is smaller than two mapping
    /// units, or if a physical page has one mapping unit.
    pub(super) fn new(geometry: &Geometry, writes: &ExpectedWrites) -> WriteRuns {
        let single = WriteRuns { lengths: vec![(1, WEIGHT)], alignment: 1, together: 1, next: 0, end: 0 };
        let Some(WriteSizes { weighted, alignment }) = &writes.sizes else { return single };
        let page = geometry.page_size.as_u64();
        let together = geometry.units_per_page;
        let in_pages = |bytes: u64| u32::try_from(bytes / page).unwrap_or(u32::MAX).clamp(1, together);
        let mut weighted: Vec<(u64, f64)> = weighted.iter().map(|&(size, weight)| (size.as_u64(), weight)).collect();
        weighted.retain(|&(_, weight)| weight > 0.0);
        weighted.sort_by_key(|&(size, _)| size);
        let total: f64 = weighted.iter().map(|&(_, weight)| weight).sum();
        if together == 1 || weighted.iter().all(|&(size, _)| in_pages(size) == 1) {
            return single;
        }
        let mut sum = 0.0;
        let lengths = weighted.into_iter().map(|(size, weight)| {
            sum += weight;
            (in_pages(size.next_multiple_of(page)), (sum / total * f64::from(WEIGHT)) as u32)
        });
        WriteRuns { lengths: lengths.collect(), alignment: in_pages(alignment.as_u64()), together, next: 0, end: 0 }
    }

    /// Returns the number of consecutive pages that stay together: the mapping units of a physical page, or 1 if all writes are single pages.
    pub(super) fn pages_together(&self) -> u32 {
        self.together
    }

    /// Returns the length of the longest run, in logical pages, if no run crosses a multiple of it; otherwise the number of logical pages in a
    /// physical page.
    pub(super) fn pages_of_longest(&self) -> u32 {
        let longest = self.lengths.last().map_or(1, |&(length, _)| length);
        let fits = self.together.is_multiple_of(longest) && self.alignment.is_multiple_of(longest);
        if fits { longest } else { self.together }
    }

    /// Ends the current run, so that the next page begins a new one.
    pub(super) fn restart(&mut self) {
        (self.next, self.end) = (0, 0);
    }

    /// Returns the next logical page to write, below `pages`. Draws a new run after the end of the current run.
    pub(super) fn next(&mut self, pages: u32, random: &mut SimRng) -> Lpn {
        if self.next == self.end {
            self.next = random.below(pages.div_ceil(self.alignment)) * self.alignment;
            let left = (self.together - self.next % self.together).min(pages - self.next);
            self.end = self.next + self.length(random).min(left);
        }
        self.next += 1;
        Lpn(self.next - 1)
    }

    fn length(&self, random: &mut SimRng) -> u32 {
        let (longest, shorter) = self.lengths.split_last().expect("writes have a size");
        if shorter.is_empty() {
            return longest.0;
        }
        let drawn = random.below(WEIGHT);
        shorter.iter().find(|&&(_, share)| drawn < share).unwrap_or(longest).0
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ftl::testing::{DRIVE, config_of};

    fn runs(overrides: &[&str]) -> WriteRuns {
        let overrides: Vec<&str> = overrides.iter().copied().chain(["workload.read-share=50%"]).collect();
        let config = config_of(DRIVE, &overrides);
        WriteRuns::new(&Geometry::from_config(&config).expect("the geometry is valid"), &config.expected_writes())
    }

    fn drawn(runs: &mut WriteRuns, count: usize) -> Vec<u32> {
        let mut random = SimRng::new(4);
        (0..count).map(|_| runs.next(1_000, &mut random).0).collect()
    }

    #[test]
    fn writes_of_a_page_of_the_array_cover_its_units_in_order() {
        let mut runs = runs(&["ftl.mapping-unit=4KiB", "workload.request-size=16KiB"]);
        assert_eq!(runs.pages_together(), 4);
        for pages in drawn(&mut runs, 4_000).chunks(4) {
            assert!(pages[0] % 4 == 0 && pages.windows(2).all(|pair| pair[1] == pair[0] + 1), "{pages:?}");
        }
    }

    #[test]
    fn longer_writes_end_with_a_page_of_the_array_and_shorter_ones_are_single() {
        let long = drawn(&mut runs(&["ftl.mapping-unit=4KiB", "workload.request-size=64KiB"]), 400);
        assert!(long.chunks(4).all(|pages| pages[0] % 4 == 0 && pages[3] == pages[0] + 3));
        for overrides in
            [&["workload.request-size=64KiB"][..], &["ftl.mapping-unit=4KiB", "workload.request-size=4KiB"]]
        {
            assert_eq!(runs(overrides).pages_together(), 1);
        }
    }

    #[test]
    fn units_of_the_longest_write_stay_together_if_no_write_crosses_them() {
        let longest = |size: &str, alignment: &str| {
            runs(&[
                "ftl.mapping-unit=4KiB",
                &format!("workload.request-size={size}"),
                &format!("workload.alignment={alignment}"),
            ])
            .pages_of_longest()
        };
        assert_eq!(longest("4KiB", "4KiB"), 1);
        assert_eq!(longest("8KiB", "8KiB"), 2);
        assert_eq!(longest("[['4KiB', 3], ['8KiB', 1]]", "8KiB"), 2);
        assert_eq!(longest("64KiB", "64KiB"), 4);
        // Some of these writes cross a multiple of the longest length, so runs are whole flash pages.
        assert_eq!(longest("8KiB", "4KiB"), 4);
        assert_eq!(longest("12KiB", "12KiB"), 4);
    }

    #[test]
    fn lengths_have_the_weights_of_the_sizes() {
        let mut runs = runs(&[
            "ftl.mapping-unit=4KiB",
            "workload.request-size=[['4KiB', 3], ['8KiB', 1]]",
            "workload.alignment=8KiB",
        ]);
        let pages = drawn(&mut runs, 10_000);
        let second = pages.iter().filter(|&&page| page % 2 == 1).count();
        // Writes start at even units, so the only odd units are second units of 8 KiB writes: one in five units.
        assert!((1_900..2_100).contains(&second), "{second}");
    }
}
