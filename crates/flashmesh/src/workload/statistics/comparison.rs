//! Two traces side by side.

use serde::Serialize;

use super::{Distribution, Statistics};

/// How far a figure of the copy is from that of the original.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Measure {
    /// The difference over the figure of the original.
    Relative,
    /// The Kolmogorov distance of two distributions.
    Distance,
    /// The plain difference: of variations over dies that are less than [`VARIATION_NOISE`] apart, which says nothing in relation to a
    /// variation near 0.
    Absolute,
}

/// Variations of reads over dies that are closer than this are compared as they are, not in relation to one another.
pub const VARIATION_NOISE: f64 = 0.02;

/// One figure of an original and of its copy.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Figure {
    /// What it tells, the same from version to version.
    pub key: String,
    /// What a person calls it.
    pub title: String,
    /// Its unit: "share", "bytes", "1/s", "pages", "requests" or "" for a plain number.
    pub unit: &'static str,
    /// How the difference is taken.
    pub measure: Measure,
    /// The figure of the original; nothing of a distribution.
    pub original: Option<f64>,
    /// The figure of the copy; nothing of a distribution.
    pub copy: Option<f64>,
    /// How far apart they are, of a relative difference with its sign; nothing when the original is 0 and the copy is not.
    pub difference: Option<f64>,
}

/// All figures of two traces.
pub fn compare(original: &Statistics, copy: &Statistics) -> Vec<Figure> {
    let mut figures = Vec::new();
    let pair = |figure: fn(&Statistics) -> f64| (figure(original), figure(copy));
    let mut relative = |key: &str, title: &str, unit, (original, copy): (f64, f64)| {
        figures.push(Figure {
            key: key.to_owned(),
            title: title.to_owned(),
            unit,
            measure: Measure::Relative,
            original: Some(original),
            copy: Some(copy),
            difference: relative_difference(original, copy),
        });
    };
    let ratio = |part: u64, whole: u64| if whole == 0 { 0.0 } else { part as f64 / whole as f64 };
    let pages = |bytes: u64| (bytes / super::dies::PAGE_BYTES) as f64;

    relative(
        "read_share",
        "reads",
        "share",
        (ratio(original.reads, original.requests), ratio(copy.reads, copy.requests)),
    );
    let means = |of: &Statistics| (ratio(of.read_bytes, of.reads), ratio(of.write_bytes, of.write_sizes.total()));
    let ((read, write), (copy_read, copy_write)) = (means(original), means(copy));
    relative("read_size_mean_bytes", "mean read", "bytes", (read, copy_read));
    relative("write_size_mean_bytes", "mean write", "bytes", (write, copy_write));
    relative("arrivals_per_s", "arrivals", "1/s", pair(|of| of.arrivals.rate_per_s()));
    relative("interarrival_variation", "variation of interarrivals", "", pair(|of| of.arrivals.variation()));
    let (dispersions, copy_dispersions) = (original.arrivals.dispersions(), copy.arrivals.dispersions());
    for (window, dispersions) in original.windows.iter().zip(dispersions.into_iter().zip(copy_dispersions)) {
        let title = format!("dispersion over {window} interarrivals");
        relative(&format!("dispersion_{window}"), &title, "", dispersions);
    }
    relative(
        "footprint_pages",
        "pages touched",
        "pages",
        (pages(original.touched.bytes().as_u64()), pages(copy.touched.bytes().as_u64())),
    );
    relative(
        "footprint_read_pages",
        "pages read",
        "pages",
        (pages(original.read.bytes().as_u64()), pages(copy.read.bytes().as_u64())),
    );
    relative(
        "footprint_written_pages",
        "pages written",
        "pages",
        (pages(original.written.bytes().as_u64()), pages(copy.written.bytes().as_u64())),
    );
    relative("run_mean_requests", "mean run", "requests", pair(|of| of.runs.mean()));
    relative("reuse_share", "accesses to pages seen before", "share", pair(|of| of.distances.share_within()));
    relative("hottest_die_share", "reads of the hottest die", "share", pair(|of| of.dies.hottest_die()));
    relative("hottest_row_share", "reads of the hottest row", "share", pair(|of| of.dies.hottest_row()));
    relative("die_variation", "variation of reads over dies", "", pair(|of| of.dies.variation()));

    if let Some(figure) = figures.last_mut()
        && let (Some(original), Some(copy)) = (figure.original, figure.copy)
        && (copy - original).abs() < VARIATION_NOISE
    {
        (figure.measure, figure.difference) = (Measure::Absolute, Some(copy - original));
    }

    let (runs, copy_runs) = (original.runs.lengths(), copy.runs.lengths());
    let distributions: [(&str, &str, &Distribution, &Distribution); 5] = [
        ("read_sizes", "sizes of reads", &original.read_sizes, &copy.read_sizes),
        ("write_sizes", "sizes of writes", &original.write_sizes, &copy.write_sizes),
        ("interarrivals", "interarrivals", &original.arrivals.distances_ns, &copy.arrivals.distances_ns),
        ("runs", "run lengths", &runs, &copy_runs),
        ("stack_distances", "stack distances", &original.distances, &copy.distances),
    ];
    for (key, title, distribution, copy) in distributions {
        figures.push(Figure {
            key: key.to_owned(),
            title: title.to_owned(),
            unit: "",
            measure: Measure::Distance,
            original: None,
            copy: None,
            difference: Some(distribution.distance(copy)),
        });
    }
    figures
}

/// The difference over the original; of two zeros none, of one nothing can be said.
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
    use crate::units::{Bytes, Time};
    use crate::workload::{IoRequest, RequestKind};

    /// Reads of one page of every die, and `more` of the first.
    fn reads(more: u64) -> Statistics {
        let mut statistics = Statistics::new(1000, Time::from_ps(1000));
        for page in (0..6400).chain((0..more).map(|_| 0)) {
            let (kind, offset, size) = (RequestKind::Read, Bytes::new(page * 4096), Bytes::new(4096));
            statistics.add(&IoRequest { arrival: Time::ZERO, kind, offset, size, stream: 0 });
        }
        statistics
    }

    #[test]
    fn variations_over_dies_near_zero_are_compared_as_they_are() {
        let variation = |original, copy| {
            let figures = compare(&reads(original), &reads(copy));
            let figure = figures.into_iter().find(|figure| figure.key == "die_variation").unwrap();
            (figure.measure, figure.difference.unwrap())
        };
        let (measure, difference) = variation(2, 10);
        assert!(measure == Measure::Absolute && difference > 0.0 && difference < VARIATION_NOISE, "{difference}");
        let (measure, difference) = variation(2, 40);
        assert!(measure == Measure::Relative && difference > 1.0, "{difference}");
    }
}
