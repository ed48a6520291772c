//! The hot-stride pattern: every n-th block is hot.

use super::{AddressPattern, Cursor};
use crate::error::WorkloadError;
use crate::synthetic::random::{self, Chance, Generator};
use crate::synthetic::sizes::{Size, SizeTable};
use crate::synthetic::unusable;

/// The hot-stride pattern. Every n-th block of the footprint is hot, beginning with the first. The hot blocks together receive a fixed share of the
/// requests, the other blocks the rest; within each group, addresses are uniform.
///
/// Static allocation in the order CWDP places consecutive pages on consecutive channels. So with a stride equal to the number of channels, in pages,
/// all hot blocks lie on one row of chips, which receives that share of the requests.
#[derive(Clone, Copy, Debug)]
pub(crate) struct HotStride {
    hot: Chance,
    stride: u64,
}

impl HotStride {
    /// Creates a pattern in which one in `stride` blocks is hot, and hot blocks receive `hot_traffic` (a share) of the requests. The error names the
    /// key to change.
    pub(crate) fn new(stride: u32, hot_traffic: f64, sizes: &SizeTable) -> Result<HotStride, WorkloadError> {
        if !(0.0..=1.0).contains(&hot_traffic) {
            return Err(unusable("workload.hot-traffic", format!("{hot_traffic} is not a share between 0 and 1")));
        }
        let (hot, stride) = (Chance::new(hot_traffic), u64::from(stride));
        if stride < 2 {
            return Err(unusable("workload.hot-stride", format!("of {stride} blocks, none would be cold")));
        }
        if !hot.is_always() && sizes.largest().starts < 2 {
            let message = format!("requests of {} leave no cold block to begin in", sizes.largest().bytes);
            return Err(unusable("workload.footprint", message));
        }
        Ok(HotStride { hot, stride })
    }
}

impl AddressPattern for HotStride {
    fn choose(&self, generator: &mut Generator, _cursor: &mut Cursor, size: &Size) -> u64 {
        let hot_starts = size.starts.div_ceil(self.stride);
        if self.hot.holds(Chance::draw(generator)) {
            random::below(generator, hot_starts) * self.stride
        } else {
            let cold = random::below(generator, size.starts - hot_starts);
            cold + cold / (self.stride - 1) + 1
        }
    }
}
