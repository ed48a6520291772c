//! Distributions of request sizes, derived from the few published figures.

use super::{Assumed, SizeFigures};
use crate::config::Sizes;
use crate::units::Bytes;

const SIZES_MAX: u64 = 65_536;

#[derive(Clone, Debug, PartialEq)]
pub(super) enum SizeDistributions {
    /// The same distribution for reads and writes.
    All(Sizes),
    Kinds {
        reads: Sizes,
        writes: Sizes,
    },
}

/// Returns the maximum-entropy distribution with the given figures, which assumes nothing beyond the figures.
///
/// `None` if no distribution over the multiples of the granule up to the largest size has these figures.
pub(super) fn distribution(figures: &SizeFigures, assumed: &Assumed) -> Option<SizeDistributions> {
    let Assumed { granule, size_max, mode_share, .. } = *assumed;
    let around = |mean_kb: f64| geometric(mean_kb * 1024.0, granule, size_max);
    Some(match *figures {
        SizeFigures::Mean { kb } => SizeDistributions::All(around(kb)?),
        SizeFigures::MeanAndMode { mean_kb, mode_kb } => {
            SizeDistributions::All(with_mode(mean_kb * 1024.0, mode_kb * 1024.0, mode_share, granule, size_max)?)
        }
        SizeFigures::MeansByKind { read_kb, write_kb } => {
            SizeDistributions::Kinds { reads: around(read_kb)?, writes: around(write_kb)? }
        }
        SizeFigures::Range { smallest_kb, largest_kb } => SizeDistributions::All(uniform(
            bytes_of(smallest_kb * 1024.0, granule)?,
            bytes_of(largest_kb * 1024.0, granule)?,
            granule,
        )?),
    })
}

/// Returns a size of `bytes`; `None` if it is not a positive multiple of `granule`.
fn bytes_of(bytes: f64, granule: Bytes) -> Option<Bytes> {
    let whole = bytes as u64;
    (whole as f64 == bytes && whole > 0 && whole.is_multiple_of(granule.as_u64())).then_some(Bytes::new(whole))
}

/// Returns the uniform distribution over the multiples of `granule` from `smallest` to `largest`: the maximum-entropy distribution over a range.
/// `None` if the range is empty.
fn uniform(smallest: Bytes, largest: Bytes, granule: Bytes) -> Option<Sizes> {
    let multiples = smallest.as_u64() / granule.as_u64()..=largest.as_u64() / granule.as_u64();
    let sizes: Vec<(Bytes, f64)> =
        multiples.take(SIZES_MAX as usize).map(|multiple| (granule * multiple, 1.0)).collect();
    (!sizes.is_empty()).then_some(Sizes(sizes))
}

/// Returns a distribution in which `share` of the requests have the size `mode_bytes` and the others are [`geometric`], with a total mean of
/// `mean_bytes`. `None` if the mode is no multiple of `granule`, or no distribution of the other requests yields this mean.
fn with_mode(mean_bytes: f64, mode_bytes: f64, share: f64, granule: Bytes, size_max: Bytes) -> Option<Sizes> {
    let mode = bytes_of(mode_bytes, granule)?;
    let Sizes(mut sizes) = geometric((mean_bytes - share * mode_bytes) / (1.0 - share), granule, size_max)?;
    let of_mode = share / (1.0 - share) * sizes.iter().map(|&(_, weight)| weight).sum::<f64>();
    match sizes.iter_mut().find(|(size, _)| *size == mode) {
        Some((_, weight)) => *weight += of_mode,
        None => sizes.push((mode, of_mode)),
    }
    Some(Sizes(sizes))
}

/// Returns the geometric distribution over the multiples of `granule` up to `size_max` with the mean `mean_bytes`.
///
/// This is the maximum-entropy distribution over these sizes with this mean (Jaynes, "Information theory and statistical mechanics", 1957), which
/// assumes nothing beyond the mean. `None` if no such distribution exists: for a mean below one granule or above the middle of the range, or for more
/// than [`SIZES_MAX`] multiples.
fn geometric(mean_bytes: f64, granule: Bytes, size_max: Bytes) -> Option<Sizes> {
    let count = size_max.as_u64().checked_div(granule.as_u64())?;
    let mean = mean_bytes / granule.as_u64() as f64;
    if count > SIZES_MAX || !(1.0..=(count + 1) as f64 / 2.0).contains(&mean) {
        return None;
    }
    // The mean grows with the ratio, from 1 at ratio 0 to the middle of the range at ratio 1.
    let (mut low, mut high) = (0.0, 1.0);
    for _ in 0..64 {
        let middle = (low + high) / 2.0;
        if mean_of(middle, count) < mean {
            low = middle;
        } else {
            high = middle;
        }
    }
    let mut weight = 1.0;
    let weights = (1..=count).map(|multiple| {
        let size = granule * multiple;
        let of_size = weight;
        weight *= low;
        (size, of_size)
    });
    // Sizes that occur less than once in 1e15 requests are dropped.
    Some(Sizes(weights.take_while(|&(_, weight)| weight > 1e-15).collect()))
}

/// Returns the mean of the numbers 1..=`count`, each of which is `ratio` times as likely as its predecessor.
fn mean_of(ratio: f64, count: u64) -> f64 {
    let (mut weight, mut total, mut sum) = (1.0, 0.0, 0.0);
    for multiple in 1..=count {
        total += weight;
        sum += weight * multiple as f64;
        weight *= ratio;
    }
    sum / total
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mean_bytes(sizes: &Sizes) -> f64 {
        let total: f64 = sizes.0.iter().map(|&(_, weight)| weight).sum();
        sizes.0.iter().map(|&(size, weight)| size.as_u64() as f64 * weight).sum::<f64>() / total
    }

    #[test]
    fn the_mean_of_the_distribution_is_the_one_asked_for() {
        for mean_kib in [4.0, 4.1, 7.2, 65.7, 90.0, 500.0] {
            let sizes = geometric(mean_kib * 1024.0, Bytes::from_kib(4), Bytes::from_kib(1024)).unwrap();
            assert!((mean_bytes(&sizes) / (mean_kib * 1024.0) - 1.0).abs() < 1e-9, "{mean_kib}");
        }
        let sectors = geometric(2400.0, Bytes::new(512), Bytes::from_kib(1024)).unwrap();
        assert!((mean_bytes(&sectors) / 2400.0 - 1.0).abs() < 1e-9);
    }

    #[test]
    fn a_mean_of_one_granule_is_that_size_alone() {
        let sizes = geometric(4096.0, Bytes::from_kib(4), Bytes::from_kib(1024)).unwrap();
        assert_eq!(sizes.0, [(Bytes::from_kib(4), 1.0)]);
    }

    #[test]
    fn most_requests_have_the_mode_and_the_mean_is_kept() {
        let kib = |size: f64| size * 1024.0;
        for (mean, mode, share, granule) in
            [(8.2, 8.0, 0.96, 4096), (40.8, 64.0, 0.6, 4096), (2.4, 0.5, 0.3, 512), (4.8, 1.0, 0.6, 512)]
        {
            let sizes = with_mode(kib(mean), kib(mode), share, Bytes::new(granule), Bytes::from_kib(1024)).unwrap();
            assert!((mean_bytes(&sizes) / kib(mean) - 1.0).abs() < 1e-9, "{mean}");
            let largest = sizes.0.iter().max_by(|left, right| left.1.total_cmp(&right.1)).unwrap();
            assert_eq!(largest.0, Bytes::new(kib(mode) as u64));
            let total: f64 = sizes.0.iter().map(|&(_, weight)| weight).sum();
            assert!(largest.1 / total >= share - 1e-12, "{mean}: a share of {}", largest.1 / total);
        }
    }

    #[test]
    fn a_mode_that_leaves_no_mean_for_the_others_has_no_distribution() {
        assert!(with_mode(8192.0, 65536.0, 0.6, Bytes::from_kib(4), Bytes::from_kib(1024)).is_none());
        assert!(with_mode(8192.0, 6000.0, 0.6, Bytes::from_kib(4), Bytes::from_kib(1024)).is_none());
    }

    #[test]
    fn a_range_is_uniform_over_its_multiples() {
        let kib = Bytes::from_kib;
        let sizes = uniform(kib(64), kib(256), kib(4)).unwrap();
        assert_eq!((sizes.0.len(), sizes.0[0], sizes.0[48]), (49, (kib(64), 1.0), (kib(256), 1.0)));
        assert_eq!(uniform(kib(8), kib(8), kib(4)).unwrap().0, [(kib(8), 1.0)]);
        assert!(uniform(kib(8), kib(4), kib(4)).is_none());
    }

    #[test]
    fn means_out_of_range_have_no_distribution() {
        for mean in [1000.0, 600.0 * 1024.0, f64::NAN] {
            assert!(geometric(mean, Bytes::from_kib(4), Bytes::from_kib(1024)).is_none(), "{mean}");
        }
        assert!(geometric(4096.0, Bytes::new(512), Bytes::new(u64::MAX)).is_none());
        assert!(geometric(4096.0, Bytes::ZERO, Bytes::from_kib(1024)).is_none());
    }
}
