//! Comparison of two traces.

use serde::Serialize;

use super::{Distribution, Statistics, WINDOWS};
use crate::readers::Footprint;

/// The way in which a figure of the copy is compared with that of the original.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum DifferenceMeasure {
    /// The difference of the figures, divided by the figure of the original.
    Relative,
    /// The Kolmogorov distance of the distributions of the original and the copy.
    Distance,
    /// The plain difference of the figures, for figures that may be close to 0.
    Absolute,
}

/// The minimum number of pages read for a comparison of the distribution of reads over dies.
const DIE_PAGES_MIN: u64 = 1000;
/// The minimum divisor of the relative difference of a footprint, as a share of the total footprint of the original. Avoids large relative
/// differences of few pages.
const FOOTPRINT_SHARE_MIN: f64 = 0.05;

/// The bounds on simulated latencies and IOPS of a fitted copy: (replay mode, figure, bound). The bound has the meaning of [`Figure::bound`] for a
/// relative figure.
pub const REPLAY_BOUNDS: [(&str, &str, f64); 5] = [
    ("open", "mean", 0.25),
    ("open", "p99", 1.0),
    ("stress", "mean", 1.0),
    ("stress", "p99", 2.0),
    ("stress", "iops", 1.0),
];

/// One figure of the original trace and of the copy (the trace that is compared with the original).
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Figure {
    /// The identifier, which does not change between versions.
    pub key: String,
    /// The title for users.
    pub title: String,
    /// The unit: "share", "bytes", "1/s", "pages", "requests" or "" for a plain number.
    pub unit: &'static str,
    /// The measure of the difference.
    pub measure: DifferenceMeasure,
    /// The figure of the original; `None` for a distribution.
    pub original: Option<f64>,
    /// The figure of the copy; `None` for a distribution.
    pub copy: Option<f64>,
    /// The difference as defined by `measure`, positive if the copy is larger or the measure is a distance. `None` for a relative difference from an
    /// original of 0, unless the copy is 0 too.
    pub difference: Option<f64>,
    /// The bound for a copy generated from a fitted profile. A relative figure must be between `original / (1 + bound)` and `original
    /// * (1 + bound)`.
    pub bound: f64,
}

impl Figure {
    /// Returns whether the difference is within the bound; false if there is no difference (`None`).
    pub fn is_within(&self) -> bool {
        let least =
            if self.measure == DifferenceMeasure::Relative { -self.bound / (1.0 + self.bound) } else { -self.bound };
        self.difference.is_some_and(|difference| (least..=self.bound).contains(&difference))
    }
}

/// Compares all figures of two traces. Both statistics must have been created for the requests and the span of the original. Omits figures for which
/// the original has too few requests.
pub fn compare(original: &Statistics, copy: &Statistics) -> Vec<Figure> {
    let mut figures = Vec::new();
    let mut add = |key: &str, title: &str, unit, bound, measure, figure: &dyn Fn(&Statistics) -> f64| {
        let (original, copy) = (figure(original), figure(copy));
        let difference = match measure {
            DifferenceMeasure::Absolute => Some(copy - original),
            DifferenceMeasure::Relative | DifferenceMeasure::Distance => relative_difference(original, copy),
        };
        let (key, title) = (key.to_owned(), title.to_owned());
        figures.push(Figure {
            key,
            title,
            unit,
            measure,
            original: Some(original),
            copy: Some(copy),
            difference,
            bound,
        });
    };
    use DifferenceMeasure::{Absolute, Relative};
    let read_share =
        |of: &Statistics| if of.requests == 0 { 0.0 } else { of.reads.requests as f64 / of.requests as f64 };
    let pages = |footprint: &Footprint| (footprint.bytes().as_u64() / super::dies::PAGE_BYTES) as f64;

    add("read_share", "reads", "share", 0.01, Relative, &read_share);
    add("read_size_mean_bytes", "mean read", "bytes", 0.03, Relative, &|of| of.reads.mean_bytes());
    add("write_size_mean_bytes", "mean write", "bytes", 0.03, Relative, &|of| of.writes.mean_bytes());
    add("arrivals_per_s", "arrivals", "1/s", 0.01, Relative, &|of| of.arrivals.rate_per_s());
    let variation = |of: &Statistics| of.arrivals.variation();
    add("interarrival_variation", "variation of interarrivals", "", 0.2, Relative, &variation);
    for (index, window) in original.windows.iter().enumerate() {
        let (key, title) = (format!("dispersion_{window}"), format!("dispersion over {window} interarrivals"));
        let bound = if *window == WINDOWS[0] { 0.5 } else { 0.3 };
        add(&key, &title, "", bound, Relative, &|of| of.arrivals.dispersions()[index]);
    }
    add("footprint_pages", "pages touched", "pages", 0.05, Relative, &|of| pages(&of.touched));
    add("footprint_read_pages", "pages read", "pages", 0.15, Relative, &|of| pages(&of.reads.pages));
    add("footprint_written_pages", "pages written", "pages", 0.25, Relative, &|of| pages(&of.writes.pages));
    add("run_mean_requests", "mean run", "requests", 0.05, Relative, &|of| of.runs.mean());
    let reuse = |of: &Statistics| of.distances.finite_share();
    add("reuse_share", "accesses to pages seen before", "share", 0.05, Absolute, &reuse);
    if original.dies.pages() >= DIE_PAGES_MIN {
        add("hottest_die_share", "reads of the hottest die", "share", 0.6, Relative, &|of| of.dies.hottest_die());
        add("hottest_row_share", "reads of the hottest row", "share", 0.3, Relative, &|of| of.dies.hottest_row());
        add("die_variation", "variation of reads over dies", "", 0.25, Absolute, &|of| of.dies.variation());
    }
    let floor = FOOTPRINT_SHARE_MIN * pages(&original.touched);
    for figure in figures.iter_mut().filter(|figure| figure.unit == "pages") {
        if let (Some(original), Some(copy)) = (figure.original, figure.copy)
            && original < floor
        {
            figure.difference = Some((copy - original) / floor);
        }
    }

    let (runs, copy_runs) = (original.runs.lengths(), copy.runs.lengths());
    let distributions: [(&str, &str, f64, &Distribution, &Distribution); 5] = [
        ("read_sizes", "sizes of reads", 0.05, &original.reads.sizes, &copy.reads.sizes),
        ("write_sizes", "sizes of writes", 0.05, &original.writes.sizes, &copy.writes.sizes),
        ("interarrivals", "interarrivals", 0.1, &original.arrivals.distances_ns, &copy.arrivals.distances_ns),
        ("runs", "run lengths", 0.15, &runs, &copy_runs),
        ("stack_distances", "stack distances", 0.2, &original.distances, &copy.distances),
    ];
    for (key, title, bound, distribution, copy) in distributions {
        figures.push(Figure {
            key: key.to_owned(),
            title: title.to_owned(),
            unit: "",
            measure: DifferenceMeasure::Distance,
            original: None,
            copy: None,
            difference: Some(distribution.distance(copy)),
            bound,
        });
    }
    figures
}

/// Returns the difference divided by the original: 0 if both are 0, `None` if only the original is 0.
fn relative_difference(original: f64, copy: f64) -> Option<f64> {
    if original == copy {
        Some(0.0)
    } else if original == 0.0 {
        None
    } else {
        Some(copy / original - 1.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::request::{IoRequest, RequestKind};
    use crate::units::{Bytes, Time};

    /// Returns statistics of `reads` reads and `writes` writes of 4 KiB, each of a distinct page.
    fn of(reads: u64, writes: u64) -> Statistics {
        let mut statistics = Statistics::new(1000, Time::from_ps(1000));
        let kinds = [(RequestKind::Read, 0, reads), (RequestKind::Write, 1 << 20, writes)];
        for (kind, first, count) in kinds {
            for page in first..first + count {
                let (offset, size) = (Bytes::new(page * 4096), Bytes::new(4096));
                statistics.add(&IoRequest { arrival: Time::ZERO, kind, offset, size, stream: 0 });
            }
        }
        statistics
    }

    fn figure(key: &str, original: &Statistics, copy: &Statistics) -> Option<Figure> {
        compare(original, copy).into_iter().find(|figure| figure.key == key)
    }

    #[test]
    fn few_written_pages_are_compared_with_a_twentieth_of_all() {
        let figure = figure("footprint_written_pages", &of(9_996, 4), &of(9_992, 8)).unwrap();
        assert!((figure.difference.unwrap() - 4.0 / 500.0).abs() < 1e-9 && figure.is_within(), "{figure:?}");
    }

    #[test]
    fn a_figure_is_within_its_bound_by_its_ratio_in_both_directions() {
        for (copy, is_within) in [(1_000, true), (1_049, true), (1_051, false), (953, true), (952, false)] {
            let figure = figure("footprint_pages", &of(1_000, 0), &of(copy, 0)).unwrap();
            assert_eq!(figure.is_within(), is_within, "{figure:?}");
        }
    }

    #[test]
    fn dies_are_left_out_of_traces_that_hardly_read() {
        assert!(figure("hottest_die_share", &of(999, 5_000), &of(999, 5_000)).is_none());
        assert!(figure("hottest_die_share", &of(1_000, 0), &of(1_000, 0)).is_some_and(|figure| figure.is_within()));
    }
}
