//! Cost of stepping: processor time of the same requests in an ordinary run, stepped in batches of 1,000, and stepped one by one through the C
//! interface.
//!
//! `overhead WAY REQUESTS` runs one way (`run`, `batches` or `one-by-one`) once, for instruction counts. Without arguments, all three are measured
//! alternately.

use std::ptr;

use flashmesh::config::{Config, ReplayMode};
use flashmesh::error::WorkloadError;
use flashmesh::requests::{IoRequest, RequestKind, WorkloadSource};
use flashmesh::simulation::{Control, Simulation};
use flashmesh::stepping::{Drive, Submission};
use flashmesh::units::{Bytes, Time};
use flashmesh_c::{
    FlashmeshOp, flashmesh_advance, flashmesh_drain, flashmesh_drive_free, flashmesh_drive_from_text, flashmesh_submit,
};

const BATCH: u64 = 1_000;
const ROUNDS: usize = 7;
const PAGE: u64 = 4096;
/// Time between two arrivals, in picoseconds.
const GAP: u64 = 1_500_000;

/// Returns request `number`: a read, or with a probability of 1/8 a write, of one of the first 200,000 pages.
fn request(number: u64) -> IoRequest {
    let random = number.wrapping_mul(0x9E37_79B9_7F4A_7C15).rotate_left(31).wrapping_mul(0xD6E8_FEB8_6659_FD93) >> 40;
    let kind = if random.is_multiple_of(8) { RequestKind::Write } else { RequestKind::Read };
    let offset = Bytes::new(random % 200_000 * PAGE);
    IoRequest { arrival: Time::from_ps(number * GAP), kind, offset, size: Bytes::new(PAGE), stream: 0 }
}

struct Requests(std::ops::Range<u64>);

impl WorkloadSource for Requests {
    fn next_request(&mut self, _thread: u32) -> Result<Option<IoRequest>, WorkloadError> {
        Ok(self.0.next().map(request))
    }

    fn request_count(&self) -> Option<u64> {
        None
    }
}

fn config() -> Config {
    let mut config = Config::default();
    config.replay.mode = ReplayMode::Open;
    config.geometry.blocks_per_plane = 64;
    config
}

fn run(count: u64) -> Box<dyn FnOnce()> {
    let simulation = Simulation::with_source(&config(), Box::new(Requests(0..count)));
    let mut simulation = simulation.expect("the drive can be built");
    Box::new(move || {
        let report = simulation.run(&Control::default()).expect("nothing fails");
        assert_eq!(report.requests, count);
    })
}

fn batches(count: u64) -> Box<dyn FnOnce()> {
    let mut drive = Drive::new(&config()).expect("the drive can be built");
    Box::new(move || {
        let mut done = 0;
        for first in (0..count).step_by(BATCH as usize) {
            let submission = |number| {
                let IoRequest { arrival: time, kind, offset, size, .. } = request(number);
                Submission { time, kind, offset, size, stream: 0 }
            };
            let batch = (first..count.min(first + BATCH)).map(submission);
            drive.submit_all(batch).expect("the requests are accepted");
            done += drive.advance(Time::from_ps((first + BATCH) * GAP - 1)).expect("nothing fails").len() as u64;
        }
        done += drive.drain().expect("nothing fails").len() as u64;
        assert_eq!(done, count);
        assert_eq!(drive.finish().expect("nothing fails").requests, count);
    })
}

#[allow(unsafe_code, reason = "it measures the interface for C")]
fn one_by_one(count: u64) -> Box<dyn FnOnce()> {
    let text = std::ffi::CString::new(config().to_toml()).expect("a configuration has no byte 0");
    // SAFETY: the text ends with a byte 0, and there are no overrides.
    let drive = unsafe { flashmesh_drive_from_text(text.as_ptr(), ptr::null(), 0) };
    assert!(!drive.is_null());
    Box::new(move || {
        let mut all = 0;
        let (mut done, mut completed) = (ptr::null(), 0);
        for number in 0..count {
            let IoRequest { arrival, kind, offset, size, .. } = request(number);
            let op = if kind == RequestKind::Read { FlashmeshOp::Read } else { FlashmeshOp::Write } as u8;
            let (time, offset, size) = (arrival.as_ps(), offset.as_u64(), size.as_u64());
            // SAFETY: only this thread uses the drive, and the pointers refer to live variables.
            unsafe {
                assert_eq!(flashmesh_submit(drive, time, op, offset, size, 0, ptr::null_mut()), 0);
                assert_eq!(flashmesh_advance(drive, time, &raw mut done, &raw mut completed), 0);
            }
            all += completed as u64;
        }
        // SAFETY: only this thread uses the drive, and the pointers refer to live variables.
        assert_eq!(unsafe { flashmesh_drain(drive, &raw mut done, &raw mut completed) }, 0);
        assert_eq!(all + completed as u64, count);
        // SAFETY: `drive` is not used afterwards.
        unsafe { flashmesh_drive_free(drive) };
    })
}

type Way = fn(u64) -> Box<dyn FnOnce()>;

const WAYS: [(&str, Way); 3] = [("run", run), ("batches", batches), ("one-by-one", one_by_one)];

/// Returns the processor time of this process so far, in seconds.
fn processor_s() -> f64 {
    let stat = std::fs::read_to_string("/proc/self/schedstat").expect("Linux reports the processor time of a process");
    stat.split(' ').next().and_then(|ns| ns.parse::<f64>().ok()).expect("the first field is a number of nanoseconds")
        / 1e9
}

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    if let [way, count] = &arguments[..] {
        let (_, way) =
            WAYS.into_iter().find(|(name, _)| name == way).expect("the first argument is run, batches or one-by-one");
        way(count.parse().expect("the second argument is a number of requests"))();
        return;
    }
    let count = 1_000_000;
    let mut best = [f64::INFINITY; WAYS.len()];
    for _ in 0..ROUNDS {
        for (best, (_, way)) in best.iter_mut().zip(WAYS) {
            let goes = way(count);
            let begun = processor_s();
            goes();
            *best = best.min(processor_s() - begun);
        }
    }
    for (time, (name, _)) in best.iter().zip(WAYS) {
        println!("{name:<12} {:>8.1} ns a request  {:>6.3} of a run", time * 1e9 / count as f64, time / best[0]);
    }
}
