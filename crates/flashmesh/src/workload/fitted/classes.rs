//! Classes of numbers in which a profile counts.

/// The class of a distance in time: one for each factor of four, of nanoseconds.
#[inline]
pub(super) fn gap_class(gap_ps: u64) -> u32 {
    (gap_ps / 1000 + 1).ilog2() / 2
}

/// The class of how many requests arrive in a segment: one for each factor of two.
#[inline]
pub(super) fn rate_class(requests: u64) -> u32 {
    u64::BITS - requests.leading_zeros()
}

/// The class of a distance in requests, from 1: two for each factor of two.
#[inline]
pub(super) fn distance_class(distance: u64) -> u32 {
    let distance = distance.max(1);
    let octave = distance.ilog2();
    let is_upper = u128::from(distance) * u128::from(distance) >= 1 << (2 * octave + 1);
    2 * octave + u32::from(is_upper)
}

/// The first distance of a class.
pub(super) fn distance_of(class: u32) -> u64 {
    let octave = (class / 2).min(62);
    match class % 2 {
        0 => 1 << octave,
        // The first whole number at or above 2^(octave + 1/2).
        _ => {
            let root = (1_u128 << (2 * octave + 1)).isqrt() as u64;
            if class < 2 { 2 } else { root + 1 }
        }
    }
}

/// The class of how often a place is asked for.
#[inline]
pub(super) fn use_class(uses: u32) -> u32 {
    uses.max(1).ilog2()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn distances_lie_in_the_class_that_begins_at_or_below_them() {
        for distance in (1..5000).chain((10..40).map(|power| (1_u64 << power) + 7)) {
            let class = distance_class(distance);
            assert!(distance_of(class) <= distance, "{distance}: class {class} from {}", distance_of(class));
            assert!(distance < distance_of(class + 1), "{distance}: next class from {}", distance_of(class + 1));
        }
    }

    #[test]
    fn times_fall_into_a_class_for_each_factor_of_four() {
        assert_eq!([0, 999, 2_999, 3_000, 14_999, 15_000].map(gap_class), [0, 0, 0, 1, 1, 2]);
        assert_eq!(gap_class(u64::MAX), 27);
    }
}
