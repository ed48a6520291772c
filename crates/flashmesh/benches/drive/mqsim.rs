//! The drive that MQSim's authors measure with, its habits included, as the importer writes it.

use flashmesh::config::{Beyond, Config, Pattern, ReplayMode, Sizes, TraceFormat, Workload, WorkloadKind};
use flashmesh::error::WorkloadError;
use flashmesh::simulation::{Control, Simulation};
use flashmesh::units::Bytes;
use flashmesh::workload::IoRequest;
use flashmesh::workload::readers::TraceStream;
use flashmesh::workload::source::WorkloadSource;

use crate::drives::{rate_of, run};
use crate::{Outcome, shared_trace};

/// A sample of what a web search engine reads, for a minute.
pub const WEB_SEARCH: &str = "wsrch-small.trace";

/// Requests of `size_kib` on the four fifths of the drive that MQSim's flows work on.
fn drive(requests: u64, size_kib: u64, outstanding: u32) -> Config {
    let mut config = Config::from_str(include_str!("mqsim.toml"), "mqsim.toml", &[]).expect("a sound configuration");
    let size = Bytes::from_kib(size_kib);
    let workload = &mut config.workload;
    workload.requests = Some(requests);
    workload.request_size = Sizes(vec![(size, 1.0)]);
    workload.alignment = Some(size);
    workload.footprint = Some(Bytes::from_kib(18_723_328));
    config.replay.outstanding = outstanding;
    config
}

pub fn random_reads() -> Outcome {
    run(&drive(5_000_000, 4, 64))
}

/// Writes to fresh blocks, nothing collected.
pub fn random_writes() -> Outcome {
    let mut config = drive(4_000_000, 4, 64);
    config.workload.read_share = 0.0;
    run(&config)
}

pub fn sequential_reads(size_kib: u64, outstanding: u32) -> Outcome {
    let mut config = drive(16_000_000 / size_kib, size_kib, outstanding);
    config.workload.pattern = Pattern::Sequential;
    run(&config)
}

/// The sample of a web search engine at its own times, forty times over.
pub fn web_search() -> Outcome {
    let mut config = drive(1, 4, 1);
    config.replay.mode = ReplayMode::Open;
    let capacity = config.geometry.capacity.expect("the file states it");
    let workload = Workload {
        kind: WorkloadKind::Trace,
        trace: Some(shared_trace(WEB_SEARCH)),
        format: TraceFormat::Ascii,
        beyond: Beyond::Wrap,
        ..Workload::default()
    };
    let mut trace = TraceStream::open(&workload, capacity, config.geometry.sector_size).expect("a trace");
    let requests: Vec<IoRequest> = std::iter::from_fn(|| trace.next_request().expect("a sound trace")).collect();
    let rounds = Rounds { requests, count: 40, round: 0, next: 0 };
    let mut simulation = Simulation::with_source(&config, Box::new(rounds)).expect("the drive can be built");
    rate_of(&simulation.run(&Control::default()).expect("the run ends"))
}

/// The same requests several times, each time from where the last arrived.
struct Rounds {
    requests: Vec<IoRequest>,
    count: u64,
    round: u64,
    next: usize,
}

impl WorkloadSource for Rounds {
    fn next_request(&mut self, _thread: u32) -> Result<Option<IoRequest>, WorkloadError> {
        if self.next == self.requests.len() {
            (self.round, self.next) = (self.round + 1, 0);
        }
        if self.round == self.count {
            return Ok(None);
        }
        let last = self.requests[self.requests.len() - 1].arrival;
        let request = self.requests[self.next];
        self.next += 1;
        Ok(Some(IoRequest { arrival: request.arrival + last * self.round, ..request }))
    }

    fn request_count(&self) -> Option<u64> {
        Some(self.requests.len() as u64 * self.count)
    }
}
