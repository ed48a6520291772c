//! Statistics for the comparison of two traces: requests, arrivals, addresses and reuse.
//!
//! All figures are exact for the requests added, except that large sizes, interarrival times and stack distances are rounded to steps of at most
//! 1/64. Memory grows with the number of distinct pages, not with the number of requests.

mod arrivals;
mod comparison;
mod dies;
mod distribution;
mod runs;
mod stack;

pub use comparison::{DifferenceMeasure, Figure, REPLAY_BOUNDS, compare};
use distribution::Distribution;

use crate::readers::Footprint;
use crate::request::{IoRequest, RequestKind};
use crate::units::Time;
use arrivals::ArrivalCounts;
use dies::DieCounts;
use runs::Runs;
use stack::StackDistances;

/// The lengths of the windows in which arrivals are counted, in mean interarrival times of the original.
pub const WINDOWS: [u64; 3] = [10, 100, 1000];
/// The minimum number of windows in the original trace. Window lengths with fewer windows are left out.
const WINDOWS_MIN: u64 = 20;
const SECTOR_BYTES: u64 = 512;

/// The statistics of the requests added so far.
pub struct Statistics {
    windows: Vec<u64>,
    arrivals: ArrivalCounts,
    requests: u64,
    reads: Transfers,
    writes: Transfers,
    touched: Footprint,
    runs: Runs,
    stack: StackDistances,
    distances: Distribution,
    dies: DieCounts,
}

/// The statistics of the reads of a trace, or of its writes.
#[derive(Default)]
struct Transfers {
    requests: u64,
    /// The distribution of sizes in sectors.
    sizes: Distribution,
    bytes: u64,
    pages: Footprint,
}

impl Transfers {
    fn add(&mut self, request: &IoRequest) {
        let size = request.size.as_u64();
        self.requests += 1;
        self.sizes.add(size / SECTOR_BYTES);
        self.bytes = self.bytes.saturating_add(size);
        self.pages.touch(request.offset, request.size);
    }

    /// Returns the mean size of a request in bytes; 0 without requests.
    fn mean_bytes(&self) -> f64 {
        if self.requests == 0 { 0.0 } else { self.bytes as f64 / self.requests as f64 }
    }
}

impl Statistics {
    /// Creates empty statistics for a comparison with an original of `requests` requests, the last of which arrives at `span`.
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
            reads: Transfers::default(),
            writes: Transfers::default(),
            touched: Footprint::default(),
            runs: Runs::default(),
            stack: StackDistances::default(),
            distances: Distribution::default(),
            dies: DieCounts::default(),
        }
    }

    /// Adds a request. Requests must be added in the order of arrival.
    pub fn add(&mut self, request: &IoRequest) {
        let (offset, size) = (request.offset.as_u64(), request.size.as_u64());
        self.requests += 1;
        self.arrivals.add(request.arrival);
        self.runs.add(offset, size);
        match request.kind {
            RequestKind::Read => self.reads.add(request),
            RequestKind::Write => self.writes.add(request),
            RequestKind::Deallocate | RequestKind::WriteZeroes | RequestKind::Flush => return,
        }
        self.touched.touch(request.offset, request.size);
        for page in offset / dies::PAGE_BYTES..=(offset + size - 1) / dies::PAGE_BYTES {
            match self.stack.access(page) {
                Some(distance) => self.distances.add(distance),
                None => self.distances.add_infinite(),
            }
            if request.kind == RequestKind::Read {
                self.dies.add(page);
            }
        }
    }
}
