//! Synthetic traces for benchmarks. They are generated while being read, so even the longest needs no file.

use std::io::{Read, Write};
use std::path::PathBuf;

use flashmesh_workload::config::{TraceFormat, Workload};
use flashmesh_workload::readers::TraceStream;
use flashmesh_workload::units::Bytes;
use rand_core::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

/// Capacity of the drive in these benchmarks, larger than all addresses of the traces.
pub const CAPACITY: Bytes = Bytes::from_kib(400 << 20);
/// Sector size of the drive that replays these traces.
pub const SECTOR: Bytes = Bytes::new(512);

/// Number of lines generated at once.
const CHUNK_LINES: u64 = 4096;

/// Trace of requests of 4 KiB to 64 KiB at random offsets in 16 GiB, sorted by time.
pub struct Lines {
    format: TraceFormat,
    next: u64,
    end: u64,
    random: Xoshiro256PlusPlus,
    chunk: Vec<u8>,
    read: usize,
}

impl Lines {
    /// Creates a trace of `lines` lines.
    pub fn new(format: TraceFormat, lines: u64) -> Lines {
        let random = Xoshiro256PlusPlus::seed_from_u64(1);
        Lines { format, next: 0, end: lines, random, chunk: Vec::new(), read: 0 }
    }

    /// Returns the text of a trace of `lines` lines.
    pub fn to_bytes(format: TraceFormat, lines: u64) -> Vec<u8> {
        let mut bytes = Vec::new();
        Lines::new(format, lines).read_to_end(&mut bytes).expect("a trace in memory can be read");
        bytes
    }

    fn write_line(&mut self) {
        let (line, a, b) = (self.next, self.random.next_u64(), self.random.next_u64());
        self.next += 1;
        // All formats have the same requests: 4 KiB pages in 16 GiB, mostly 10 us apart.
        let (page, pages, device, is_read) = (a % (4 << 20), 1 + b % 16, b >> 60, b >> 59 & 1 == 0);
        let (offset, size, sector, sectors) = (page * 4096, pages * 4096, page * 8, pages * 8);
        let letter = if is_read { 'R' } else { 'W' };
        let (seconds, us) = (line / 100_000, line % 100_000 * 10);
        let out = &mut self.chunk;
        let written = match self.format {
            TraceFormat::Msr => {
                let (ticks, kind) = (128_166_372_003_061_629 + line * 107, if is_read { "Read" } else { "Write" });
                writeln!(out, "{ticks},hm,{device},{kind},{offset},{size},{}", a >> 50)
            }
            TraceFormat::Spc => writeln!(out, "{device},{sector},{size},{letter},{seconds}.{us:06}"),
            TraceFormat::Systor => {
                writeln!(out, "{}.{us:06}000,0.001325000,{letter},{device},{offset},{size}", 1_455_592_411 + seconds)
            }
            TraceFormat::Blkparse => writeln!(
                out,
                "  8,{device:<3} {device:2} {line:8} {seconds:5}.{us:06}421 {:5}  D {letter:>3} {sector} + {sectors} [java]",
                3645
            ),
            TraceFormat::Vscsi2 => {
                let code: u16 = if is_read { 0x28 } else { 0x2a };
                out.extend([code, 0x0207].map(u16::to_le_bytes).as_flattened());
                out.extend([line as u32, size as u32, 1].map(u32::to_le_bytes).as_flattened());
                out.extend([sector, line * 10, 345].map(u64::to_le_bytes).as_flattened());
                Ok(())
            }
            TraceFormat::Diskmon => {
                let kind = if is_read { "Read" } else { "Write" };
                writeln!(out, "{line}\t{seconds}.{us:06}\t0.00012207\t{device}\t{kind}\t{sector}\t{sectors}")
            }
            TraceFormat::Alibaba => {
                writeln!(out, "{device},{letter},{offset},{size},{}", 1_577_808_000_000_626 + line * 10)
            }
            TraceFormat::Tencent => {
                writeln!(out, "{},{sector},{sectors},{},{device}", 1_538_323_200 + seconds, u8::from(!is_read))
            }
            _ => {
                let time_ns = 938_513_000 + line * 10_007;
                writeln!(out, "{time_ns} {device} {sector} {sectors} {}", b >> 59 & 1)
            }
        };
        written.expect("a write to memory succeeds");
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

/// Returns a stream that parses the requests of the trace text in `reader`.
pub fn stream(format: TraceFormat, reader: impl Read + Send + 'static) -> TraceStream {
    let workload = Workload { format, ..Workload::default() };
    TraceStream::from_reader(PathBuf::from("benchmark"), reader, &workload, CAPACITY, SECTOR)
        .expect("the trace is valid")
}

/// Reads all requests of `stream`. Returns their number, and a hash (FNV-1a, by 64-bit words) over their fields.
pub fn read_all(mut stream: TraceStream) -> (u64, u64) {
    let (mut count, mut hash) = (0, 0xcbf2_9ce4_8422_2325_u64);
    while let Some(request) = stream.next_request().expect("the trace is valid") {
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
