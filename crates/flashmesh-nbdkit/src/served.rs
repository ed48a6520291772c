//! The drive shared by all connections, and how their threads wait for completions.

use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use flashmesh::config::Config;
use flashmesh::requests::RequestKind;
use flashmesh::stepping::Drive;
use flashmesh::units::Bytes;
use flashmesh::{PreparedDrives, StateFolder};

use crate::clock::Clock;
use crate::engine::{DriveSession, LiveStats, answer};
use crate::log::Log;
use crate::settings::{Settings, TimeScale};
use crate::store::Store;

/// Time limit for requests in flight to complete when the drive is closed.
const CLOSE_TIMEOUT: Duration = Duration::from_secs(3);

/// Longest sleep of a parked thread before it checks again whether a leader advances the drive.
const PARK_TIMEOUT: Duration = Duration::from_millis(100);

/// Error for the client of a request that never completes.
const LOST: &str = "the drive lost the request: its power was cut";

/// A drive with its data and its clock.
pub struct ServedDrive {
    size: u64,
    store: Store,
    engine: Mutex<DriveSession>,
    /// Virtual time: number of threads that are about to submit. Simulated time does not advance while there are any.
    entering: AtomicUsize,
    /// Real time: number of submitted requests.
    arrivals: AtomicU64,
    /// Relation of wall time to simulated time; `None` in virtual time.
    clock: Option<Clock>,
    live: Option<PathBuf>,
    control: Option<PathBuf>,
}

impl ServedDrive {
    /// Builds the drive and opens its data.
    ///
    /// # Errors
    /// If a setting is invalid, or the drive or its data cannot be opened.
    pub fn open(settings: &Settings) -> Result<ServedDrive, String> {
        let path = settings.config.as_ref().ok_or("config=FILE is missing: flashmesh serve starts nbdkit with it")?;
        let config = Config::from_file(path, &[]).map_err(|error| error.to_string())?;
        let drives = PreparedDrives::default().without_sharing();
        let drives = match &settings.states {
            Some(folder) => drives.with_folder(StateFolder::new(folder, Bytes::new(settings.states_limit))),
            None => drives,
        };
        let drive = Drive::prepared(&config, false, Some(&drives)).map_err(|error| error.to_string())?;
        drives.take_warnings().iter().for_each(|note| eprintln!("flashmesh: {note}"));
        let (capacity, sector) = (drive.capacity(0).map_or(0, Bytes::as_u64), drive.sector_size().as_u64());
        let size = settings.size.unwrap_or(capacity);
        if size > capacity {
            return Err(format!(
                "--size {size} is more than the {capacity} bytes that the drive has: lower it, or raise geometry.*"
            ));
        }
        if size == 0 || !size.is_multiple_of(sector) {
            return Err(format!("--size {size} is no positive multiple of the sector size, {sector} bytes"));
        }
        let store = Store::open(settings.data.as_deref(), size)?;
        let log = settings.log.as_deref().map(Log::create).transpose()?;
        // Reduces the timer slack of Linux from 50 us to 1 ns, so that sleeps end on time. Threads inherit it from the
        // thread that starts them.
        let _ = rustix::thread::set_current_timer_slack(std::num::NonZeroU64::new(1));
        Ok(ServedDrive {
            size,
            store,
            engine: Mutex::new(DriveSession::new(drive, log)),
            entering: AtomicUsize::new(0),
            arrivals: AtomicU64::new(0),
            clock: match settings.time_scale {
                TimeScale::Virtual => None,
                TimeScale::Real(scale) => Some(Clock::new(scale, settings.ahead)),
            },
            live: settings.live.clone(),
            control: settings.control.clone(),
        })
    }

    pub fn size(&self) -> u64 {
        self.size
    }

    pub fn store(&self) -> &Store {
        &self.store
    }

    /// Returns the pipe or file to which live figures are written; `None` if they are written nowhere.
    pub fn live(&self) -> Option<&PathBuf> {
        self.live.as_ref()
    }

    /// Returns the control pipe; `None` without one. The drive is closed when all writers have closed the pipe.
    pub fn control(&self) -> Option<&PathBuf> {
        self.control.as_ref()
    }

    pub fn take_stats(&self) -> LiveStats {
        self.lock().take_stats()
    }

    /// Flushes the buffered part of the log.
    ///
    /// # Errors
    /// If the log cannot be written.
    pub fn write_log(&self) -> Result<(), String> {
        self.lock().write_log()
    }

    fn lock(&self) -> MutexGuard<'_, DriveSession> {
        self.engine.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Simulates a request and blocks until it completes.
    ///
    /// # Errors
    /// If the drive refuses the request, or it never completes.
    pub fn request(&self, kind: RequestKind, offset: u64, size: u64) -> Result<(), String> {
        match &self.clock {
            None => self.request_in_virtual_time(kind, offset, size),
            Some(clock) => self.request_in_real_time(clock, kind, offset, size),
        }
    }

    /// Simulates a request in virtual time. Time advances only while no thread is about to submit, so requests submitted together have the same
    /// arrival time. Fails like [`request`](Self::request).
    fn request_in_virtual_time(&self, kind: RequestKind, offset: u64, size: u64) -> Result<(), String> {
        self.entering.fetch_add(1, Ordering::AcqRel);
        let mut engine = self.lock();
        let now = engine.now();
        let submitted = engine.submit(now, kind, offset, size);
        self.entering.fetch_sub(1, Ordering::AcqRel);
        let id = submitted?;
        loop {
            if let Some(completion) = engine.completed(id) {
                return answer(&completion);
            }
            if self.entering.load(Ordering::Acquire) > 0 {
                drop(engine);
                thread::yield_now();
                engine = self.lock();
                continue;
            }
            if !engine.advance_to_completion()? {
                return Err(LOST.to_owned());
            }
        }
    }

    /// Simulates a request in real time. The first waiting thread becomes the leader: it advances the drive with the wall clock until its own request
    /// completes, then makes another waiting thread the leader. Fails like [`request`](Self::request).
    fn request_in_real_time(&self, clock: &Clock, kind: RequestKind, offset: u64, size: u64) -> Result<(), String> {
        let mut engine = self.lock();
        let id = engine.submit(clock.arrival(), kind, offset, size)?;
        self.arrivals.fetch_add(1, Ordering::AcqRel);
        loop {
            if let Some(completion) = engine.completed(id) {
                engine.count_late(clock.lateness(completion.time), clock.wall(completion.latency));
                return answer(&completion);
            }
            if engine.is_led() {
                engine.park(id);
                drop(engine);
                thread::park_timeout(PARK_TIMEOUT);
                engine = self.lock();
            } else {
                engine.lead();
                let led = self.lead(engine, clock, id);
                engine = self.lock();
                engine.hand_over();
                led?;
            }
        }
    }

    /// Advances the drive with the wall clock until request `id` completes. An error if no event is pending, so that the request never completes.
    fn lead<'a>(&'a self, mut engine: MutexGuard<'a, DriveSession>, clock: &Clock, id: u64) -> Result<(), String> {
        loop {
            let seen = self.arrivals.load(Ordering::Acquire);
            let next = engine.advance(clock.due())?;
            if engine.is_done(id) {
                return Ok(());
            }
            drop(engine);
            match next {
                Some(next) => clock.wait_until(next, &self.arrivals, seen),
                None => return Err(LOST.to_owned()),
            }
            engine = self.lock();
        }
    }

    /// Closes the drive and returns its report, as JSON.
    ///
    /// # Errors
    /// If the drive failed, or the data or the log cannot be written.
    pub fn close(&self) -> Result<String, String> {
        let end = Instant::now() + CLOSE_TIMEOUT;
        self.lock().close();
        while self.lock().is_busy() && Instant::now() < end {
            thread::sleep(Duration::from_millis(1));
        }
        let mut engine = self.lock();
        // Flush the data first: unlike log and report, it cannot be reproduced.
        self.store.flush()?;
        engine.write_log()?;
        engine.report()
    }
}
