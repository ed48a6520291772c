//! The pattern of profiles: sequential runs that start at Zipf-distributed blocks.

use super::{AddressPattern, Cursor, Zipf};
use crate::error::WorkloadError;
use crate::synthetic::random::{Chance, Generator};
use crate::synthetic::sizes::{Size, SizeTable};
use crate::synthetic::unusable;

/// The run pattern: a request continues at the end of the previous one of its stream, or starts a new run at a block drawn from
/// [`Zipf`]. The lengths of runs are geometric.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Runs {
    goes_on: Chance,
    jumps: Zipf,
}

impl Runs {
    /// Creates runs with a mean length of `mean_requests` (1: every request is a new run), which start with Zipf skew `theta`. The error names the
    /// value out of bounds.
    pub(crate) fn new(theta: f64, mean_requests: f64, sizes: &SizeTable) -> Result<Runs, WorkloadError> {
        if !(1.0..=1e9).contains(&mean_requests) {
            return Err(unusable(
                "profile",
                format!("a mean run of {mean_requests} requests is not between 1 and 1e9"),
            ));
        }
        Ok(Runs { goes_on: Chance::new(1.0 - 1.0 / mean_requests), jumps: Zipf::new(theta, sizes)? })
    }
}

impl AddressPattern for Runs {
    fn choose(&self, generator: &mut Generator, cursor: &mut Cursor, size: &Size) -> u64 {
        let goes_on = !self.goes_on.is_never() && self.goes_on.holds(Chance::draw(generator));
        let block =
            if goes_on && cursor.next < size.starts { cursor.next } else { self.jumps.choose(generator, cursor, size) };
        cursor.next = block + size.blocks;
        block
    }
}
