//! The requests that MQSim's flows issue, one by one as it does.

use flashmesh::error::WorkloadError;
use flashmesh::units::{Bytes, Time};
use flashmesh::workload::source::WorkloadSource;
use flashmesh::workload::{IoRequest, RequestKind};

use crate::random::Mrg;
use crate::xml::number;

const SECTOR: u64 = 512;

fn request(arrival: u64, read: bool, sector: u64, sectors: u64) -> IoRequest {
    let kind = if read { RequestKind::Read } else { RequestKind::Write };
    let (offset, size) = (Bytes::new(sector * SECTOR), Bytes::new(sectors * SECTOR));
    IoRequest { arrival: Time::from_ns(arrival), kind, offset, size, stream: 0 }
}

/// A flow that is generated.
pub struct Synthetic {
    kinds: Mrg,
    addresses: Mrg,
    gaps: Option<(Mrg, f64)>,
    read_share: f64,
    /// First and last sector.
    start: u64,
    end: u64,
    /// Sectors of a request, and what addresses are multiples of.
    size: u64,
    alignment: u64,
    /// Where the next request of a sequential flow begins.
    next: Option<u64>,
    arrival: u64,
    left: u64,
}

impl Synthetic {
    /// The flow that `tags` describe, on the `sectors` sectors from `start` on.
    pub fn new(tags: &str, start: u64, sectors: u64) -> Synthetic {
        let seed = number(tags, "Seed") as u32;
        let size = number(tags, "Average_Request_Size");
        let share = |percentage: u64| percentage as f64 / 100.0;
        let end = start + ((sectors - 1) as f64 * share(number(tags, "Working_Set_Percentage"))) as u64;
        let mean_gap = 1_000_000_000 / (number(tags, "Bandwidth") / SECTOR / size);
        let mut flow = Synthetic {
            kinds: Mrg::new(seed),
            addresses: Mrg::new(seed + 1),
            gaps: tags.contains("BANDWIDTH").then(|| (Mrg::new(seed + 2), mean_gap as f64)),
            read_share: share(number(tags, "Read_Percentage")),
            start,
            end,
            size,
            alignment: number(tags, "Address_Alignment_Unit"),
            next: None,
            arrival: 0,
            left: number(tags, "Total_Requests_To_Generate"),
        };
        if tags.contains("STREAMING") {
            let first = flow.uniform();
            flow.next = Some(first - first % flow.alignment);
        }
        flow.advance();
        flow
    }

    fn uniform(&mut self) -> u64 {
        self.start + ((self.end - self.start + 1) as f64 * self.addresses.next()) as u64
    }

    fn within(&self, sector: u64) -> u64 {
        if sector + self.size > self.end { self.start } else { sector }
    }

    /// Moves on to the arrival of the next request.
    fn advance(&mut self) {
        if let Some((gaps, mean)) = &mut self.gaps {
            self.arrival += (-*mean * gaps.next().ln()) as u64;
        }
    }

    fn sector(&mut self) -> u64 {
        let sector = match self.next {
            Some(next) => {
                let after = if next + self.size > self.end { self.start } else { next + self.size };
                self.next = Some(after.next_multiple_of(self.alignment));
                self.within(next)
            }
            None => {
                let sector = self.uniform();
                self.within(sector)
            }
        };
        sector - sector % self.alignment
    }
}

impl WorkloadSource for Synthetic {
    fn next_request(&mut self, _thread: u32) -> Result<Option<IoRequest>, WorkloadError> {
        if self.left == 0 {
            return Ok(None);
        }
        self.left -= 1;
        let read = self.kinds.next() <= self.read_share;
        let sector = self.sector() - self.start;
        let request = request(self.arrival, read, sector, self.size);
        self.advance();
        Ok(Some(request))
    }

    fn request_count(&self) -> Option<u64> {
        Some(self.left)
    }
}

/// A flow that replays a trace.
pub struct Trace(std::vec::IntoIter<IoRequest>);

impl Trace {
    /// The lines of `text`, on the `sectors` sectors of the flow.
    pub fn new(text: &str, sectors: u64) -> Trace {
        let line = |line: &str| {
            let columns: Vec<&str> = line.trim_end().split(' ').collect();
            let &[arrival, _, sector, size, kind] = columns.as_slice() else { return None };
            let column = |column: &str| column.parse().expect("a number");
            let sector: u64 = column(sector);
            let sector = if sector < sectors { sector } else { sector % (sectors - 1) };
            Some(request(column(arrival), kind != "0", sector, column(size)))
        };
        let requests: Vec<IoRequest> = text.lines().map_while(line).collect();
        Trace(requests.into_iter())
    }
}

impl WorkloadSource for Trace {
    fn next_request(&mut self, _thread: u32) -> Result<Option<IoRequest>, WorkloadError> {
        Ok(self.0.next())
    }

    fn request_count(&self) -> Option<u64> {
        Some(self.0.len() as u64)
    }
}
