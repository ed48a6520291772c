//! Sequential runs that begin at popular places: the pattern of profiles.

use super::{AddressPattern, Cursor, Zipf};
use crate::error::WorkloadError;
use crate::synthetic::random::{Chance, Generator};
use crate::synthetic::sizes::{Size, SizeTable};
use crate::synthetic::unusable;

/// A request goes on where the last one of its stream ended, or begins a new run at a place chosen by [`Zipf`]. The
/// lengths of runs are geometric.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Runs {
    goes_on: Chance,
    jumps: Zipf,
}

impl Runs {
    /// Runs of `mean_requests` requests (1 is no runs at all) over places of Zipf skew `theta`.
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
    #[inline]
    fn choose(&self, generator: &mut Generator, cursor: &mut Cursor, size: &Size) -> u64 {
        let goes_on = !self.goes_on.is_never() && self.goes_on.holds(Chance::draw(generator));
        let block =
            if goes_on && cursor.next < size.starts { cursor.next } else { self.jumps.choose(generator, cursor, size) };
        cursor.next = block + size.blocks;
        block
    }
}
