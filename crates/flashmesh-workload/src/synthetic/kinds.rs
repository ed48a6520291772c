//! The mix of request kinds: shares of reads, writes and others.

use super::random::{Chance, Generator};
use super::unusable;
use crate::error::WorkloadError;
use crate::request::RequestKind;

/// The shares of the kinds, from 0 to 1. The rest of the requests are writes.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Shares {
    pub(crate) read: f64,
    pub(crate) deallocate: f64,
    pub(crate) flush: f64,
    pub(crate) write_zeroes: f64,
}

/// The request kinds whose share is configured, in the order of [`Shares`]. All other requests are writes.
const KINDS: [RequestKind; 4] =
    [RequestKind::Read, RequestKind::Deallocate, RequestKind::Flush, RequestKind::WriteZeroes];

/// The mix of kinds. A workload with requests of one kind makes no random draws.
#[derive(Clone, Copy, Debug)]
pub(crate) enum KindMix {
    Only(RequestKind),
    /// Cumulative chances in the order of [`KINDS`]. A random draw selects the first kind whose cumulative chance exceeds it, or a write if
    /// none does.
    Mixed([Chance; KINDS.len()]),
}

impl KindMix {
    pub(crate) fn new(shares: Shares) -> Result<KindMix, WorkloadError> {
        let shares = [
            ("workload.read-share", shares.read),
            ("workload.deallocate-share", shares.deallocate),
            ("workload.flush-share", shares.flush),
            ("workload.write-zeroes-share", shares.write_zeroes),
        ];
        let mut sum = 0.0;
        let mut bounds = [Chance::new(0.0); KINDS.len()];
        for ((key, share), bound) in shares.into_iter().zip(&mut bounds) {
            if !(0.0..=1.0).contains(&share) {
                return Err(unusable(key, format!("{share} is not a share between 0 and 1")));
            }
            // Shares such as 0.7 and 0.3 are not exact in binary: allow for rounding.
            if sum + share > 1.0 + 1e-9 {
                let message = format!("{share} is taken from the writes, but shares of {sum} before it leave fewer");
                return Err(unusable(key, message));
            }
            sum += share;
            *bound = Chance::new(sum);
        }
        // A kind has all requests if no earlier kind has any and its cumulative share is 1.
        let mut before = Chance::new(0.0);
        for (kind, bound) in KINDS.into_iter().zip(bounds) {
            if before.is_never() && bound.is_always() {
                return Ok(KindMix::Only(kind));
            }
            before = bound;
        }
        Ok(if before.is_never() { KindMix::Only(RequestKind::Write) } else { KindMix::Mixed(bounds) })
    }

    pub(crate) fn choose(&self, generator: &mut Generator) -> RequestKind {
        match self {
            KindMix::Only(kind) => *kind,
            KindMix::Mixed(bounds) => {
                let draw = Chance::draw(generator);
                let first = bounds.iter().zip(KINDS).find(|(bound, _)| bound.holds(draw));
                first.map_or(RequestKind::Write, |(_, kind)| kind)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::random::stream_of;
    use super::*;

    fn mix(read: f64, deallocate: f64, flush: f64, write_zeroes: f64) -> Result<KindMix, WorkloadError> {
        KindMix::new(Shares { read, deallocate, flush, write_zeroes })
    }

    #[test]
    fn shares_are_met_within_a_tenth_of_a_percent() {
        let mix = mix(0.6, 0.1, 0.05, 0.02).unwrap();
        let mut generator = stream_of(11);
        let draws = 1_000_000;
        let mut counts = [0; RequestKind::ALL.len()];
        for _ in 0..draws {
            counts[mix.choose(&mut generator).index()] += 1;
        }
        // The standard deviation of the largest share is 0.05 %.
        for (kind, share) in RequestKind::ALL.into_iter().zip([0.6, 0.23, 0.1, 0.05, 0.02]) {
            let met = f64::from(counts[kind.index()]) / f64::from(draws);
            assert!((met - share).abs() < 0.002, "{kind:?}: {met}");
        }
    }

    #[test]
    fn workloads_of_one_kind_draw_nothing() {
        for (shares, kind) in [
            ((1.0, 0.0, 0.0, 0.0), RequestKind::Read),
            ((0.0, 0.0, 0.0, 0.0), RequestKind::Write),
            ((0.0, 1.0, 0.0, 0.0), RequestKind::Deallocate),
            ((0.0, 0.0, 1.0, 0.0), RequestKind::Flush),
            ((0.0, 0.0, 0.0, 1.0), RequestKind::WriteZeroes),
        ] {
            let (read, deallocate, flush, write_zeroes) = shares;
            let (mut generator, untouched) = (stream_of(1), stream_of(1));
            assert_eq!(mix(read, deallocate, flush, write_zeroes).unwrap().choose(&mut generator), kind);
            assert_eq!(generator, untouched);
        }
    }

    #[test]
    fn shares_that_add_up_to_one_in_decimal_leave_no_writes() {
        for mix in [mix(0.7, 0.3, 0.0, 0.0), mix(0.7, 0.1, 0.1, 0.1)] {
            let mix = mix.unwrap();
            let mut generator = stream_of(5);
            assert!((0..100_000).all(|_| mix.choose(&mut generator) != RequestKind::Write));
        }
    }

    #[test]
    fn refuses_shares_beyond_one_and_not_a_number() {
        assert!(mix(1.1, 0.0, 0.0, 0.0).is_err());
        assert!(mix(f64::NAN, 0.0, 0.0, 0.0).is_err());
        assert!(mix(0.5, -0.1, 0.0, 0.0).is_err());
        assert!(mix(0.7, 0.4, 0.0, 0.0).is_err());
        assert!(mix(0.5, 0.2, 0.2, 0.2).is_err());
    }
}
