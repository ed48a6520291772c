//! A distribution of sizes from a mean alone.

use crate::config::Sizes;
use crate::units::Bytes;

/// The longest list of sizes.
const SIZES_MAX: u64 = 65_536;

/// The geometric distribution over the multiples of `granule` up to `size_max` whose mean is `mean_bytes`.
///
/// Of all distributions over these sizes with this mean it has the largest entropy (Jaynes, "Information theory and
/// statistical mechanics", 1957): it assumes nothing beyond the mean. `None` when no such distribution exists: a mean
/// below one granule or above the middle of the range, or more than
/// [`SIZES_MAX`] multiples.
pub(super) fn geometric(mean_bytes: f64, granule: Bytes, size_max: Bytes) -> Option<Sizes> {
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
    // What comes up less than once in 1e15 requests would only make the table longer.
    Some(Sizes(weights.take_while(|&(_, weight)| weight > 1e-15).collect()))
}

/// The mean multiple when each one of 1..=`count` is `ratio` times as likely as the one before.
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
    fn means_out_of_range_have_no_distribution() {
        for mean in [1000.0, 600.0 * 1024.0, f64::NAN] {
            assert!(geometric(mean, Bytes::from_kib(4), Bytes::from_kib(1024)).is_none(), "{mean}");
        }
        assert!(geometric(4096.0, Bytes::new(512), Bytes::new(u64::MAX)).is_none());
        assert!(geometric(4096.0, Bytes::ZERO, Bytes::from_kib(1024)).is_none());
    }
}
