//! What a request asks: shares of reads, writes and deallocations.

use super::random::{Chance, Generator};
use super::unusable;
use crate::error::WorkloadError;
use crate::workload::RequestKind;

/// The mix of kinds; a workload of one kind draws nothing.
#[derive(Clone, Copy, Debug)]
pub(crate) enum KindMix {
    /// Every request is of this kind.
    Only(RequestKind),
    /// A draw below `read` reads, one below `read_or_deallocate` deallocates, any other writes.
    Mixed {
        /// Reads.
        read: Chance,
        /// Reads and deallocations together.
        read_or_deallocate: Chance,
    },
}

impl KindMix {
    /// `read_share` of the requests read, `deallocate_share` deallocate, the rest write.
    pub(crate) fn new(read_share: f64, deallocate_share: f64) -> Result<KindMix, WorkloadError> {
        for (key, share) in [("workload.read-share", read_share), ("workload.deallocate-share", deallocate_share)] {
            if !(0.0..=1.0).contains(&share) {
                return Err(unusable(key, format!("{share} is not a share between 0 and 1")));
            }
        }
        // Shares such as 0.7 and 0.3 are not exact in binary: allow for their rounding.
        if read_share + deallocate_share > 1.0 + 1e-9 {
            return Err(unusable(
                "workload.deallocate-share",
                format!("{deallocate_share} is taken from the writes, but a read share of {read_share} leaves fewer"),
            ));
        }
        let read = Chance::new(read_share);
        let read_or_deallocate = Chance::new(read_share + deallocate_share);
        Ok(if read.is_always() {
            KindMix::Only(RequestKind::Read)
        } else if read_or_deallocate.is_never() {
            KindMix::Only(RequestKind::Write)
        } else if read.is_never() && read_or_deallocate.is_always() {
            KindMix::Only(RequestKind::Deallocate)
        } else {
            KindMix::Mixed { read, read_or_deallocate }
        })
    }

    /// The kind of the next request.
    #[inline]
    pub(crate) fn choose(&self, generator: &mut Generator) -> RequestKind {
        match *self {
            KindMix::Only(kind) => kind,
            KindMix::Mixed { read, read_or_deallocate } => {
                let draw = Chance::draw(generator);
                if read.holds(draw) {
                    RequestKind::Read
                } else if read_or_deallocate.holds(draw) {
                    RequestKind::Deallocate
                } else {
                    RequestKind::Write
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::random::stream_of;
    use super::*;

    #[test]
    fn shares_are_met_within_a_tenth_of_a_percent() {
        let mix = KindMix::new(0.6, 0.1).unwrap();
        let mut generator = stream_of(11);
        let draws = 1_000_000;
        let (mut reads, mut deallocations) = (0, 0);
        for _ in 0..draws {
            match mix.choose(&mut generator) {
                RequestKind::Read => reads += 1,
                RequestKind::Deallocate => deallocations += 1,
                RequestKind::Write => {}
            }
        }
        // The standard deviation of the larger share is 0.05 %.
        assert!((f64::from(reads) / f64::from(draws) - 0.6).abs() < 0.002);
        assert!((f64::from(deallocations) / f64::from(draws) - 0.1).abs() < 0.001);
    }

    #[test]
    fn workloads_of_one_kind_draw_nothing() {
        for (read, deallocate, kind) in
            [(1.0, 0.0, RequestKind::Read), (0.0, 0.0, RequestKind::Write), (0.0, 1.0, RequestKind::Deallocate)]
        {
            let (mut generator, untouched) = (stream_of(1), stream_of(1));
            assert_eq!(KindMix::new(read, deallocate).unwrap().choose(&mut generator), kind);
            assert_eq!(generator, untouched);
        }
    }

    #[test]
    fn shares_that_add_up_to_one_in_decimal_leave_no_writes() {
        let mix = KindMix::new(0.7, 0.3).unwrap();
        let mut generator = stream_of(5);
        assert!((0..100_000).all(|_| mix.choose(&mut generator) != RequestKind::Write));
    }

    #[test]
    fn refuses_shares_beyond_one_and_not_a_number() {
        assert!(KindMix::new(1.1, 0.0).is_err());
        assert!(KindMix::new(f64::NAN, 0.0).is_err());
        assert!(KindMix::new(0.5, -0.1).is_err());
        assert!(KindMix::new(0.7, 0.4).is_err());
    }
}
