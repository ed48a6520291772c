//! The hot-cold pattern: a hot region and a cold region.

use super::{AddressPattern, Cursor};
use crate::error::WorkloadError;
use crate::synthetic::random::{self, Chance, Generator};
use crate::synthetic::sizes::{Size, SizeTable};
use crate::synthetic::unusable;

/// The hot-cold pattern. The first blocks of the footprint are hot and receive a fixed share of the requests. Within each region,
/// addresses are uniform. Each request lies entirely in one region (Rosenblum and Ousterhout, "The design and implementation of a
/// log-structured file system", 1992, section 3.5).
#[derive(Clone, Copy, Debug)]
pub(crate) struct HotCold {
    hot: Chance,
    hot_blocks: u64,
}

impl HotCold {
    /// Creates a pattern in which the first `hot_footprint` of `blocks` receive `hot_traffic` of the requests. Both are shares. The error names the
    /// key to change.
    pub(crate) fn new(
        hot_footprint: f64,
        hot_traffic: f64,
        blocks: u64,
        sizes: &SizeTable,
    ) -> Result<HotCold, WorkloadError> {
        for (key, share) in [("workload.hot-footprint", hot_footprint), ("workload.hot-traffic", hot_traffic)] {
            if !(0.0..=1.0).contains(&share) {
                return Err(unusable(key, format!("{share} is not a share between 0 and 1")));
            }
        }
        let hot_blocks = ((hot_footprint * blocks as f64 + 0.5) as u64).min(blocks);
        let hot = Chance::new(hot_traffic);
        let largest = sizes.largest();
        let refuse = |region: &str| {
            let message = format!("the {region} region is too small for requests of {}", largest.bytes);
            Err(unusable("workload.hot-footprint", message))
        };
        if !hot.is_never() && hot_blocks.min(largest.starts + largest.blocks - 1) < largest.blocks {
            return refuse("hot");
        }
        if !hot.is_always() && hot_blocks >= largest.starts {
            return refuse("cold");
        }
        Ok(HotCold { hot, hot_blocks })
    }
}

impl AddressPattern for HotCold {
    fn choose(&self, generator: &mut Generator, _cursor: &mut Cursor, size: &Size) -> u64 {
        if self.hot.holds(Chance::draw(generator)) {
            // If the whole footprint is hot, a shorter last block can reduce the possible starts by one.
            let starts = (self.hot_blocks + 1 - size.blocks).min(size.starts);
            random::below(generator, starts)
        } else {
            self.hot_blocks + random::below(generator, size.starts - self.hot_blocks)
        }
    }
}
