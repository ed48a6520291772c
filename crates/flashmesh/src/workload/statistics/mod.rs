//! What two traces are compared by: figures of requests, their arrivals, their places and their reuse.
//!
//! All figures are exact over the requests that are added, except that large sizes, distances in time and stack distances are
//! counted in steps of 1/32 at most. Memory grows with the distinct pages, not with the requests.

mod arrivals;
mod comparison;
mod dies;
mod distribution;
mod runs;
mod stack;

pub use comparison::{Figure, Measure, REPLAY_BOUNDS, compare};
pub use distribution::Distribution;

use super::{IoRequest, RequestKind};
use crate::units::Time;
use crate::workload::readers::Footprint;
use arrivals::ArrivalCounts;
use dies::DieCounts;
use runs::Runs;
use stack::StackDistances;

/// The windows in which arrivals are counted, in mean interarrival times of the original.
pub const WINDOWS: [u64; 3] = [10, 100, 1000];
/// A window is left out when the original has fewer of it.
const WINDOWS_MIN: u64 = 20;
/// Sizes are counted in these.
const SECTOR_BYTES: u64 = 512;

/// Figures of the requests added so far.
pub struct Statistics {
    windows: Vec<u64>,
    arrivals: ArrivalCounts,
    requests: u64,
    reads: u64,
    read_sizes: Distribution,
    read_bytes: u64,
    write_sizes: Distribution,
    write_bytes: u64,
    touched: Footprint,
    read: Footprint,
    written: Footprint,
    runs: Runs,
    stack: StackDistances,
    distances: Distribution,
    dies: DieCounts,
}

impl Statistics {
    /// For a comparison with an original of so many requests, the last of which arrives after `span`.
    pub fn new(requests: u64, span: Time) -> Statistics {
        let mean_ps = span.as_ps() as f64 / requests.saturating_sub(1).max(1) as f64;
        let is_told = |&window: &u64| requests / window >= WINDOWS_MIN && mean_ps >= 1.0;
        let windows: Vec<u64> = WINDOWS.into_iter().filter(is_told).collect();
        let lengths: Vec<Time> =
            windows.iter().map(|&window| Time::from_ps((mean_ps * window as f64) as u64)).collect();
        Statistics {
            arrivals: ArrivalCounts::new(&lengths, span),
            windows,
            requests: 0,
            reads: 0,
            read_sizes: Distribution::default(),
            read_bytes: 0,
            write_sizes: Distribution::default(),
            write_bytes: 0,
            touched: Footprint::default(),
            read: Footprint::default(),
            written: Footprint::default(),
            runs: Runs::default(),
            stack: StackDistances::default(),
            distances: Distribution::default(),
            dies: DieCounts::default(),
        }
    }

    /// Adds a request; requests come by their arrivals.
    pub fn add(&mut self, request: &IoRequest) {
        let (offset, size) = (request.offset.as_u64(), request.size.as_u64());
        self.requests += 1;
        self.arrivals.add(request.arrival);
        self.runs.add(offset, size);
        match request.kind {
            RequestKind::Read => {
                self.reads += 1;
                self.read_sizes.add(size / SECTOR_BYTES);
                self.read_bytes = self.read_bytes.saturating_add(size);
                self.read.touch(request.offset, request.size);
            }
            RequestKind::Write => {
                self.write_sizes.add(size / SECTOR_BYTES);
                self.write_bytes = self.write_bytes.saturating_add(size);
                self.written.touch(request.offset, request.size);
            }
            RequestKind::Deallocate | RequestKind::WriteZeroes | RequestKind::Flush => return,
        }
        self.touched.touch(request.offset, request.size);
        for page in offset / dies::PAGE_BYTES..=(offset + size - 1) / dies::PAGE_BYTES {
            match self.stack.access(page) {
                Some(distance) => self.distances.add(distance),
                None => self.distances.add_beyond(),
            }
            if request.kind == RequestKind::Read {
                self.dies.add(page);
            }
        }
    }
}
