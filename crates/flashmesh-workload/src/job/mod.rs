//! Jobs of fio: `[workload] kind = "job"`.
//!
//! A job issues requests to one or several files of equal length. Each file has separate positions for reads, writes and deallocations. With a random
//! map, random requests cover every block once per pass before any block is covered again. The rules follow fio's manual and the requests that fio
//! 3.33 issues. The random generator is not that of fio: random offsets have the same distribution as in fio, but come in another order.

mod file;
mod job_spec;
mod random_map;

use self::file::JobFile;
use self::job_spec::JobSpec;
use super::source::WorkloadSource;
use super::synthetic::{
    AddressPattern, Arrivals, Chance, Cursor, Generator, INTERARRIVAL_DEFAULT, REQUESTS_DEFAULT, below, generator_of,
    unusable,
};
use crate::config::{self, ArrivalKind, FileOrder, ReplayMode, RunKind};
use crate::error::WorkloadError;
use crate::request::{IoRequest, RequestKind};
use crate::units::{Bytes, Time};

const READS: usize = 0;
const WRITES: usize = 1;
const DEALLOCATIONS: usize = 2;

/// The workload source of a job. All threads share one stream.
#[derive(Clone, Debug)]
pub struct JobSource {
    spec: JobSpec,
    files: Vec<JobFile>,
    generator: Generator,
    /// The generator state at the start of each pass, for `same-passes`.
    first: Generator,
    /// The arrival times; `None` except in open replay.
    arrivals: Option<Arrivals>,
    last_arrival: Time,
    requests_left: u64,
    request_count: Option<u64>,
    passes_left: u64,
    /// The bytes issued so far in the current pass.
    passed: u64,
    /// The file at which the search for the next file begins: file 0 after a rewind, and with round robin the one after the last selected file.
    /// Unused with a random order, or with one file.
    file: usize,
    /// The selected file, and the number of further requests to it before the next selection.
    selected: usize,
    selected_left: u32,
    /// The number of requests until the next random draw of an offset, counting the request with that draw.
    run_left: u32,
    /// The writes so far, and whether the last request was a flush.
    writes: u64,
    is_flushed: bool,
    /// The flushes still due at the end of a pass, with `flush-last`.
    pass_flushes_left: usize,
    /// Whether the last request has been issued. Only flushes of its pass can still follow.
    has_ended: bool,
    /// A range that was deallocated and is written next: file, offset in the file, size.
    deallocated: Option<(usize, u64, u64)>,
}

/// A drawn request: its direction, its file, and its range within the file.
#[derive(Clone, Copy)]
struct Drawn {
    direction: usize,
    file: usize,
    offset: u64,
    size: u64,
}

impl JobSource {
    /// Creates the job described by `workload` for a drive of `capacity`, replayed as `replay` says.
    ///
    /// # Errors
    /// If a parameter is out of bounds or the files do not fit the drive. The message begins with the key to change.
    pub fn new(
        workload: &config::Workload,
        replay: &config::Replay,
        capacity: Bytes,
        sector_size: Bytes,
        seed: u64,
    ) -> Result<JobSource, WorkloadError> {
        let spec = JobSpec::new(workload, capacity, sector_size)?;
        let files = spec.files(workload);
        let arrivals = Arrivals::new(
            workload.arrivals.unwrap_or(ArrivalKind::Exponential),
            workload.interarrival.unwrap_or(INTERARRIVAL_DEFAULT),
            1,
            seed,
        )?;
        let requests = match (workload.requests, spec.pass_size) {
            (Some(requests), _) => requests,
            (None, None) => REQUESTS_DEFAULT,
            (None, Some(_)) => u64::MAX,
        };
        let generator = generator_of(seed);
        Ok(JobSource {
            request_count: spec.request_count(workload, requests),
            files,
            first: generator.clone(),
            generator,
            arrivals: (replay.mode == ReplayMode::Open).then_some(arrivals),
            last_arrival: Time::ZERO,
            requests_left: requests,
            passes_left: workload.passes.max(1) - 1,
            passed: 0,
            file: 0,
            selected: 0,
            selected_left: 0,
            run_left: 1,
            writes: 0,
            is_flushed: false,
            pass_flushes_left: 0,
            has_ended: false,
            deallocated: None,
            spec,
        })
    }

    /// Returns the next request; `None` at the end of the job. An error if the request arrives after the longest time that can be simulated.
    fn next(&mut self) -> Result<Option<IoRequest>, WorkloadError> {
        let is_between = self.pass_flushes_left == 0 && !self.has_ended;
        if is_between && (self.requests_left == 0 || (self.is_pass_over() && !self.begin_pass())) {
            self.end();
        }
        if self.pass_flushes_left > 0 {
            self.pass_flushes_left -= 1;
            return Ok(Some(self.flush()));
        }
        if self.has_ended {
            return Ok(None);
        }
        if self.is_flush_due() {
            return Ok(Some(self.flush_in_turn()));
        }
        // `draw` returns `None` if the job has ended, or if flushes at the end of a pass are due. The next call handles both.
        let Some(drawn) = self.draw() else { return self.next() };
        self.is_flushed = false;
        self.requests_left -= 1;
        let kind = match drawn.direction {
            READS => RequestKind::Read,
            WRITES => RequestKind::Write,
            _ => RequestKind::Deallocate,
        };
        self.writes += u64::from(kind == RequestKind::Write);
        // With `deallocate-first`, only the writes count towards the size of a pass, as in fio.
        if !(self.spec.deallocates_first && kind == RequestKind::Deallocate) {
            self.passed += drawn.size;
        }
        if let Some(arrivals) = &mut self.arrivals {
            self.last_arrival = arrivals.next()?;
        }
        let offset = Bytes::new(self.files[drawn.file].start + drawn.offset);
        let (arrival, size) = (self.last_arrival, Bytes::new(drawn.size));
        Ok(Some(IoRequest { arrival, kind, offset, size, stream: 0 }))
    }

    /// Returns whether a flush is due: the number of writes is a multiple of `flush-every`, and the last request was no flush.
    fn is_flush_due(&self) -> bool {
        let every = |every: u32| self.writes > 0 && self.writes.is_multiple_of(u64::from(every));
        !self.is_flushed && self.spec.flush_every.is_some_and(every)
    }

    /// Returns a flush with the arrival time of the last request.
    fn flush(&mut self) -> IoRequest {
        self.is_flushed = true;
        let kind = RequestKind::Flush;
        IoRequest { arrival: self.last_arrival, kind, offset: Bytes::ZERO, size: Bytes::ZERO, stream: 0 }
    }

    /// Returns a flush in place of a request to the next file. In fio, a flush also advances the order of the files.
    fn flush_in_turn(&mut self) -> IoRequest {
        self.next_file();
        self.flush()
    }

    /// Ends the job, except for the flushes of its last pass.
    fn end(&mut self) {
        self.has_ended = true;
        self.end_pass();
    }

    /// Schedules a flush of each file if `flush-last` is set, unless the last request was a flush.
    fn end_pass(&mut self) {
        if self.spec.flushes_last && !self.is_flushed {
            self.pass_flushes_left = self.files.len();
        }
    }

    /// Returns whether all bytes of this pass have been issued.
    fn is_pass_over(&self) -> bool {
        self.spec.pass_size.is_some_and(|size| self.passed >= size)
    }

    /// Starts the next pass. Returns false after the last pass.
    fn begin_pass(&mut self) -> bool {
        if self.passes_left == 0 {
            return false;
        }
        self.passes_left -= 1;
        self.passed = 0;
        self.rewind();
        true
    }

    /// Schedules the flushes of `flush-last`, and resets all files to their start.
    fn rewind(&mut self) {
        self.end_pass();
        self.files.iter_mut().for_each(JobFile::rewind);
        self.file = 0;
        self.selected_left = 0;
        self.deallocated = None;
        if self.spec.same_passes {
            self.generator = self.first.clone();
        }
    }

    /// Draws the next request; `None` after the last pass, and if the flushes of a pass are due first.
    fn draw(&mut self) -> Option<Drawn> {
        loop {
            if let Some(drawn) = self.draw_in_files() {
                return Some(drawn);
            }
            // Every file is at its end. A pass with more bytes than the files continues at their start, unless fewer bytes remain in the
            // pass than the largest request has.
            let left = self.spec.pass_size.map(|size| size - self.passed);
            if !self.spec.continues || left.is_some_and(|left| left < self.spec.largest) {
                if !self.begin_pass() {
                    self.end();
                    return None;
                }
            } else {
                self.rewind();
            }
            if self.pass_flushes_left > 0 {
                return None;
            }
        }
    }

    /// Draws the next request, in the next file in which a request fits; `None` if no file has space for a request in this pass.
    fn draw_in_files(&mut self) -> Option<Drawn> {
        if let Some((file, offset, size)) = self.deallocated.take() {
            self.files[file].record(WRITES, offset, offset + size);
            return Some(Drawn { direction: WRITES, file, offset, size });
        }
        let direction = match self.spec.kinds.choose(&mut self.generator) {
            _ if self.spec.deallocates_first => DEALLOCATIONS,
            RequestKind::Read => READS,
            RequestKind::Deallocate => DEALLOCATIONS,
            _ => WRITES,
        };
        loop {
            let file = self.next_file()?;
            let Some((offset, size)) = self.next_range(file, direction) else {
                self.files[file].is_done = true;
                continue;
            };
            self.files[file].record(direction, offset, offset + size);
            if self.spec.deallocates_first {
                self.deallocated = Some((file, offset, size));
            }
            return Some(Drawn { direction, file, offset, size });
        }
    }

    /// Returns the index of the file of the next request; `None` if all files are at their end.
    fn next_file(&mut self) -> Option<usize> {
        let count = self.files.len();
        if count == 1 {
            return (!self.files[0].is_done).then_some(0);
        }
        if self.selected_left > 0 && !self.files[self.selected].is_done {
            self.selected_left -= 1;
            return Some(self.selected);
        }
        let first = match self.spec.file_order {
            FileOrder::Sequential | FileOrder::RoundRobin => self.file,
            FileOrder::Random => self.random_file(),
        };
        let found = (first..count).chain(0..first).find(|&file| !self.files[file].is_done)?;
        (self.selected, self.selected_left) = (found, self.spec.file_run - 1);
        self.file = if self.spec.file_order == FileOrder::RoundRobin { (found + 1) % count } else { found };
        Some(found)
    }

    /// Returns the index of a file drawn by the weights of the files.
    fn random_file(&mut self) -> usize {
        match &self.spec.file_weights {
            None => below(&mut self.generator, self.files.len() as u64) as usize,
            Some(weights) => weights.choose(&mut self.generator),
        }
    }

    /// Returns the offset in `file` and the size, in bytes, of the next request of `direction`; `None` if no further request fits in this pass.
    fn next_range(&mut self, file: usize, direction: usize) -> Option<(u64, u64)> {
        let (offset, is_drawn) = self.offset(file, direction)?;
        let (sizes, length) = (&self.spec.sizes[direction], self.spec.length);
        if offset + sizes.smallest().bytes.as_u64() > length {
            return None;
        }
        let size = loop {
            let size = sizes.choose(&mut self.generator).bytes.as_u64();
            if offset + size <= length {
                break size;
            }
        };
        let Some(map) = self.files[file].map.as_mut().filter(|_| is_drawn) else { return Some((offset, size)) };
        // A request is cut short before the next block that this pass has already covered.
        let unit = self.spec.map_unit;
        let free = map.cover_run(offset / unit, size.div_ceil(unit));
        Some((offset, size.min(free * unit)))
    }

    /// Returns the offset of the next request of `direction` in `file`, and whether it was drawn at random. `None` if this pass has no further offset
    /// in the file.
    fn offset(&mut self, file: usize, direction: usize) -> Option<(u64, bool)> {
        let state = &mut self.files[file];
        let (stride, length) = (&self.spec.stride, self.spec.length);
        let Some(addresses) = &self.spec.addresses else {
            return state.next_offset(direction, stride, length).map(|offset| (offset, false));
        };
        self.run_left -= 1;
        if self.run_left > 0 {
            if self.spec.run_kind == RunKind::Identical {
                return Some((state.last[direction], false));
            }
            if let Some(offset) = state.next_offset(direction, stride, length) {
                return Some((offset, false));
            }
        } else {
            self.run_left = self.spec.run_length;
            let chance = self.spec.random_chances[direction];
            if !chance.is_always() {
                let draw = Chance::draw(&mut self.generator);
                if !chance.holds(draw)
                    && let Some(offset) = state.next_offset(direction, stride, length)
                {
                    return Some((offset, false));
                }
            }
        }
        let mut cursor = Cursor::of_part(0, 1, 1);
        let block = addresses.choose(&mut self.generator, &mut cursor, self.spec.sizes[direction].smallest());
        let block = match &mut state.map {
            None => block,
            Some(map) => {
                let unit = self.spec.map_unit;
                let at = block * self.spec.alignment / unit;
                if map.is_full() && self.spec.pass_size.is_none() {
                    map.reset();
                }
                map.next_free(at)? * unit / self.spec.alignment
            }
        };
        let mut offset = block * self.spec.alignment;
        if self.spec.aligns_each {
            let smallest = self.spec.sizes[direction].smallest().bytes.as_u64();
            offset -= offset % smallest;
        }
        Some((offset, true))
    }
}

impl WorkloadSource for JobSource {
    fn next_request(&mut self, _thread: u32) -> Result<Option<IoRequest>, WorkloadError> {
        self.next()
    }

    fn request_count(&self) -> Option<u64> {
        self.request_count
    }
}

/// Returns the error for a request that does not fit a file.
fn does_not_fit(size: Bytes, length: Bytes) -> WorkloadError {
    unusable("workload.request-size", format!("{size} is larger than a file of the job, which has {length:#}"))
}

#[cfg(test)]
mod tests;
