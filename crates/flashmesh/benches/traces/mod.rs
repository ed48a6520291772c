//! Synthetic traces for the benchmarks, made while they are read: no file, however long they are.

use std::io::{Read, Write};
use std::path::PathBuf;

use flashmesh::config::{TraceFormat, Workload};
use flashmesh::units::Bytes;
use flashmesh::workload::readers::TraceStream;
use rand_core::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

/// A drive on which every request of these traces lies.
pub const CAPACITY: Bytes = Bytes::from_kib(400 << 20);
/// Its addressing unit.
pub const SECTOR: Bytes = Bytes::new(512);

/// Lines made at once.
const CHUNK_LINES: u64 = 4096;

/// A trace of 4 KiB to 64 KiB requests at random places of 16 GiB, sorted by time.
pub struct Lines {
    format: TraceFormat,
    next: u64,
    end: u64,
    random: Xoshiro256PlusPlus,
    chunk: Vec<u8>,
    read: usize,
}

impl Lines {
    /// A trace of `lines` lines.
    pub fn new(format: TraceFormat, lines: u64) -> Lines {
        let random = Xoshiro256PlusPlus::seed_from_u64(1);
        Lines { format, next: 0, end: lines, random, chunk: Vec::new(), read: 0 }
    }

    /// The whole trace.
    pub fn to_bytes(format: TraceFormat, lines: u64) -> Vec<u8> {
        let mut bytes = Vec::new();
        Lines::new(format, lines).read_to_end(&mut bytes).expect("a trace made in memory can be read");
        bytes
    }

    fn write_line(&mut self) {
        let (line, a, b) = (self.next, self.random.next_u64(), self.random.next_u64());
        self.next += 1;
        let written = if self.format == TraceFormat::Msr {
            let (ticks, offset, size) =
                (128_166_372_003_061_629 + line * 107, a % (4 << 20) * 4096, (1 + b % 16) * 4096);
            let kind = if b >> 59 & 1 == 0 { "Read" } else { "Write" };
            writeln!(self.chunk, "{ticks},hm,{},{kind},{offset},{size},{}", b >> 60, a >> 50)
        } else {
            let (time_ns, sector, sectors) = (938_513_000 + line * 10_007, a % (4 << 20) * 8, (1 + b % 16) * 8);
            writeln!(self.chunk, "{time_ns} {} {sector} {sectors} {}", b >> 60, b >> 59 & 1)
        };
        written.expect("memory takes every line");
    }
}

impl Read for Lines {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        if self.read == self.chunk.len() {
            self.chunk.clear();
            self.read = 0;
            for _ in 0..CHUNK_LINES.min(self.end - self.next) {
                self.write_line();
            }
        }
        let count = buffer.len().min(self.chunk.len() - self.read);
        buffer[..count].copy_from_slice(&self.chunk[self.read..self.read + count]);
        self.read += count;
        Ok(count)
    }
}

/// A stream of the requests that `reader` gives.
pub fn stream(format: TraceFormat, reader: impl Read + Send + 'static) -> TraceStream {
    let workload = Workload { format, ..Workload::default() };
    TraceStream::from_reader(PathBuf::from("benchmark"), reader, &workload, CAPACITY, SECTOR).expect("a sound trace")
}

/// Reads all requests; gives how many, and FNV-1a over the words of each.
pub fn read_all(mut stream: TraceStream) -> (u64, u64) {
    let (mut count, mut hash) = (0, 0xcbf2_9ce4_8422_2325_u64);
    while let Some(request) = stream.next_request().expect("a sound trace") {
        count += 1;
        let words = [
            request.arrival.as_ps(),
            request.offset.as_u64(),
            request.size.as_u64(),
            u64::from(request.stream) << 8 | request.kind as u64,
        ];
        for word in words {
            hash = (hash ^ word).wrapping_mul(0x0000_0100_0000_01b3);
        }
    }
    (count, hash)
}
