//! Division by a number fixed for the whole run, computed by a multiplication. A hardware division would be the slowest part of locating the die of a
//! page.

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Divisor {
    /// ceil(2^64 / divisor). For the divisor 1 this would be 2^64, which does not fit; 0 is stored instead.
    reciprocal: u64,
}

impl Divisor {
    pub fn new(number: u32) -> Divisor {
        assert!(number > 0, "the divisor must not be zero");
        Divisor { reciprocal: (u64::MAX / u64::from(number)).wrapping_add(1) }
    }

    /// Returns `dividend` divided by the divisor, rounded down.
    ///
    /// The result is exact. With dividend n, divisor d and m = ceil(2^64 / d), the product n m exceeds n 2^64 / d by less than n < 2^32. That is too
    /// little to reach the next multiple of 2^64, because n / d lies at least 1 / d > 2^-32 below the next integer.
    #[inline(always)]
    pub fn divide(self, dividend: u32) -> u32 {
        if self.reciprocal == 0 {
            return dividend;
        }
        ((u128::from(dividend) * u128::from(self.reciprocal)) >> u64::BITS) as u32
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn quotients_equal_those_of_division(dividend: u32, number in 1..=u32::MAX) {
            prop_assert_eq!(Divisor::new(number).divide(dividend), dividend / number);
        }

        #[test]
        fn quotients_are_exact_next_to_multiples(quotient: u32, number in 1..=u32::MAX, off in 0..3u32) {
            let dividend = quotient.wrapping_mul(number).wrapping_add(off).wrapping_sub(1);
            prop_assert_eq!(Divisor::new(number).divide(dividend), dividend / number);
        }
    }

    #[test]
    fn quotients_are_exact_at_the_ends_of_the_range() {
        for number in [1, 2, 3, 5, 1 << 16, (1 << 16) + 1, u32::MAX - 1, u32::MAX] {
            for dividend in [0, 1, number - 1, number, number.wrapping_add(1), u32::MAX - 1, u32::MAX] {
                assert_eq!(Divisor::new(number).divide(dividend), dividend / number, "{dividend} / {number}");
            }
        }
    }
}
