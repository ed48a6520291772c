//! The figures of a workload (share of reads, request sizes, time between arrivals, repetition), each with its origin.

use std::fmt;

use crate::units::Time;

/// A figure of a workload, such as its share of reads or its request sizes, with its origin.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SourcedValue<Value> {
    /// The value, in the unit of the field that holds the figure.
    pub value: Value,
    /// The origin: the paper of the profile, or another source.
    pub origin: Origin,
}

/// The origin of a figure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origin {
    /// The paper that publishes the profile.
    Published,
    /// Another source, or a guess: see [`Profile::other_sources`](super::Profile::other_sources).
    Elsewhere,
}

/// The known figures of request sizes, in kB of 1024 B.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum SizeFigures {
    /// A mean size over all requests.
    Mean {
        /// The mean size.
        kb: f64,
    },
    /// A mean over all requests, and the most frequent size.
    MeanAndMode {
        /// The mean size.
        mean_kb: f64,
        /// The most frequent size.
        mode_kb: f64,
    },
    /// Separate mean sizes for reads and writes.
    MeansByKind {
        /// The mean size of reads.
        read_kb: f64,
        /// The mean size of writes.
        write_kb: f64,
    },
    /// The smallest and the largest size. They are equal if all requests have the same size.
    Range {
        /// The smallest size.
        smallest_kb: f64,
        /// The largest size.
        largest_kb: f64,
    },
}

/// The repetition of collisions: the number of times that the same pair of pages is read together.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Repetition {
    /// The mean number of collisions per pair of pages, including the first, as published.
    pub mean: f64,
    /// The share of repeated bursts that are drawn in proportion to their earlier occurrences, so that frequent bursts recur more often. The
    /// other repeated bursts are drawn uniformly from the distinct earlier bursts.
    pub skew: f64,
}

impl Repetition {
    /// The default skew: all recurrences select a burst in proportion to its earlier occurrences. Few pairs then have most collisions, as in most
    /// volumes of *Patterned read collisions* (section II-C).
    pub(super) const SKEW_DEFAULT: f64 = 1.0;

    /// The share of the page pairs of a burst that collide again when the burst recurs. The share is below 1, because a recurring burst
    /// draws new sizes, and so covers other pages beyond the first of each request. Measured over profiles without runs: 0.35 to 0.43.
    const PAIRS_AGAIN: f64 = 0.385;

    /// Returns how often a burst must occur on average so that a pair of its pages collides `mean` times on average.
    pub(super) fn bursts_mean(&self) -> f64 {
        1.0 + (self.mean - 1.0) / Self::PAIRS_AGAIN
    }
}

/// The figures that one table (of a paper or of another source) states of a workload. A figure is `None` if the table does not state it.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Figures {
    pub(super) read_percent: Option<f64>,
    pub(super) sizes: Option<SizeFigures>,
    pub(super) mean_interarrival: Option<Time>,
    pub(super) requests: Option<u64>,
}

/// Returns the published figure, or else the figure from elsewhere; `None` if neither table states the figure.
pub(super) fn prefer_published<Value>(
    published: Option<Value>,
    elsewhere: Option<Value>,
) -> Option<SourcedValue<Value>> {
    let figure = |origin| move |value| SourcedValue { value, origin };
    published.map(figure(Origin::Published)).or(elsewhere.map(figure(Origin::Elsewhere)))
}

impl SizeFigures {
    /// Returns the mean size of a request in bytes, if `read_share` of the requests are reads. A kB is taken as 1024 B, because block requests have
    /// such sizes.
    pub fn mean_bytes(&self, read_share: f64) -> f64 {
        let mean_kb = match *self {
            SizeFigures::Mean { kb } => kb,
            SizeFigures::MeanAndMode { mean_kb, .. } => mean_kb,
            SizeFigures::MeansByKind { read_kb, write_kb } => read_share * read_kb + (1.0 - read_share) * write_kb,
            SizeFigures::Range { smallest_kb, largest_kb } => f64::midpoint(smallest_kb, largest_kb),
        };
        mean_kb * 1024.0
    }

    /// Returns whether all sizes can be multiples of 4 KiB.
    pub(super) fn fit_pages(&self) -> bool {
        let is_multiple = |kb: f64| kb % 4.0 == 0.0;
        match *self {
            SizeFigures::Mean { kb } => kb >= 4.0,
            SizeFigures::MeanAndMode { mean_kb, mode_kb } => mean_kb >= 4.0 && is_multiple(mode_kb),
            SizeFigures::MeansByKind { read_kb, write_kb } => read_kb >= 4.0 && write_kb >= 4.0,
            SizeFigures::Range { smallest_kb, largest_kb } => is_multiple(smallest_kb) && is_multiple(largest_kb),
        }
    }
}

impl fmt::Display for Repetition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (mean, skew) = (self.bursts_mean(), self.skew);
        write!(
            f,
            "a burst comes {mean:.1} times on average, to the same places; {} % of returns go to ",
            skew * 100.0
        )?;
        write!(f, "bursts in proportion to how often they have come, the others to all alike")
    }
}

impl fmt::Display for SizeFigures {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            SizeFigures::Mean { kb } => write!(f, "{kb} kB on average"),
            SizeFigures::MeanAndMode { mean_kb, mode_kb } => write!(f, "{mean_kb} kB on average, mostly {mode_kb} kB"),
            SizeFigures::MeansByKind { read_kb, write_kb } => {
                write!(f, "reads {read_kb} kB on average, writes {write_kb} kB")
            }
            SizeFigures::Range { smallest_kb, largest_kb } if smallest_kb == largest_kb => {
                write!(f, "{smallest_kb} kB each")
            }
            SizeFigures::Range { smallest_kb, largest_kb } => write!(f, "{smallest_kb} to {largest_kb} kB"),
        }
    }
}
