//! The figures of a workload, each with where it comes from.

use std::fmt;

use crate::units::Time;

/// A figure of a workload.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Figure<Value> {
    /// The figure.
    pub value: Value,
    /// Where it comes from.
    pub origin: Origin,
}

/// Where a figure comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origin {
    /// From the paper that the profile is named after.
    Published,
    /// From another source, or a guess: [`Profile::elsewhere`](super::Profile::elsewhere) says which.
    Elsewhere,
}

/// Known figures of request sizes, in kB.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum SizeFigures {
    /// One mean for all requests.
    Mean {
        /// The mean.
        kb: f64,
    },
    /// The mean of all requests, and the size that most of them have.
    MeanAndMode {
        /// The mean.
        mean_kb: f64,
        /// The most frequent size.
        mode_kb: f64,
    },
    /// A mean for reads and one for writes.
    MeansByKind {
        /// The mean of reads.
        read_kb: f64,
        /// The mean of writes.
        write_kb: f64,
    },
    /// The smallest and the largest size; the two are equal when all requests have one size.
    Range {
        /// The smallest size.
        smallest_kb: f64,
        /// The largest size.
        largest_kb: f64,
    },
}

/// How often pages that are read together are read together again.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Repetition {
    /// How often a pair of pages collides on average, as published.
    pub mean: f64,
    /// The share of returns that go to bursts in proportion to how often they have come; the others go to all alike.
    pub skew: f64,
}

impl Repetition {
    /// The share of returns in proportion to how often bursts have come, where none is known: few pairs have most collisions then, as in most of the
    /// volumes of *Patterned read collisions* (section II-C).
    pub(super) const SKEW_DEFAULT: f64 = 1.0;

    /// Of the pairs of a burst that comes again, those that collide again: its requests have other sizes, and so other pages beyond
    /// their first. Measured over the eight profiles, whose values lie between 0.35 and 0.43.
    const PAIRS_AGAIN: f64 = 0.385;

    /// How often a burst has to come for its pairs to collide as often as published.
    pub(super) fn bursts_mean(&self) -> f64 {
        1.0 + (self.mean - 1.0) / Self::PAIRS_AGAIN
    }
}

/// The figures that one source gives of a workload.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Figures {
    pub(super) read_percent: Option<f64>,
    pub(super) sizes: Option<SizeFigures>,
    pub(super) mean_interarrival: Option<Time>,
    pub(super) requests: Option<u64>,
}

/// `published`, or the figure of another source.
pub(super) fn first_of<Value>(published: Option<Value>, elsewhere: Option<Value>) -> Option<Figure<Value>> {
    let figure = |origin| move |value| Figure { value, origin };
    published.map(figure(Origin::Published)).or(elsewhere.map(figure(Origin::Elsewhere)))
}

impl SizeFigures {
    /// The mean size of a request in bytes, when `read_share` of the requests read: kB is taken as 1024 B, as the sizes
    /// of block requests are.
    pub fn mean_bytes(&self, read_share: f64) -> f64 {
        let mean_kb = match *self {
            SizeFigures::Mean { kb } => kb,
            SizeFigures::MeanAndMode { mean_kb, .. } => mean_kb,
            SizeFigures::MeansByKind { read_kb, write_kb } => read_share * read_kb + (1.0 - read_share) * write_kb,
            SizeFigures::Range { smallest_kb, largest_kb } => f64::midpoint(smallest_kb, largest_kb),
        };
        mean_kb * 1024.0
    }

    /// Whether all sizes can be multiples of 4 KiB.
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
