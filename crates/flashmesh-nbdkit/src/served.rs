//! The drive that all connections share, and how their threads wait for it.

use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

use flashmesh::config::Config;
use flashmesh::requests::RequestKind;
use flashmesh::stepping::Drive;
use flashmesh::units::Bytes;

use crate::clock::Clock;
use crate::engine::{Engine, Figures};
use crate::log::Log;
use crate::settings::{Settings, TimeScale};
use crate::store::Store;

/// The longest that the leader sleeps: requests that come meanwhile may complete before the next event that it knows of.
const SLEEP_MAX: Duration = Duration::from_micros(50);

pub struct Served {
    size: u64,
    store: Store,
    engine: Mutex<Engine>,
    /// Virtual time: threads that are about to submit. Time stands still for them.
    entering: AtomicUsize,
    /// None in virtual time.
    clock: Option<Clock>,
    report: Option<PathBuf>,
    live: Option<PathBuf>,
}

impl Served {
    /// Builds the drive and opens its data.
    ///
    /// # Errors
    /// What is wrong with the settings.
    pub fn open(settings: &Settings) -> Result<Served, String> {
        let path = settings.config.as_ref().ok_or("config=FILE is missing")?;
        let config = Config::from_file(path, &[]).map_err(|error| error.to_string())?;
        let drive = Drive::new(&config).map_err(|error| error.to_string())?;
        let capacity = drive.capacity(0).map_or(0, Bytes::as_u64);
        let size = settings.size.unwrap_or(capacity);
        if size > capacity {
            return Err(format!("size={size} is more than the drive has, {capacity} bytes: raise geometry.*"));
        }
        let log = settings.log.as_deref().map(Log::create).transpose()?;
        // A sleep ends when it should, not 50 us later.
        let _ = rustix::thread::set_current_timer_slack(std::num::NonZeroU64::new(1));
        Ok(Served {
            size,
            store: Store::open(settings.data.as_deref(), size)?,
            engine: Mutex::new(Engine::new(drive, log)),
            entering: AtomicUsize::new(0),
            clock: match settings.time_scale {
                TimeScale::Virtual => None,
                TimeScale::Real(scale) => Some(Clock::new(scale)),
            },
            report: settings.report.clone(),
            live: settings.live.clone(),
        })
    }

    pub fn size(&self) -> u64 {
        self.size
    }

    pub fn store(&self) -> &Store {
        &self.store
    }

    pub fn live(&self) -> Option<&PathBuf> {
        self.live.as_ref()
    }

    pub fn figures(&self) -> Figures {
        self.lock().figures.clone()
    }

    fn lock(&self) -> MutexGuard<'_, Engine> {
        self.engine.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Simulates a request; returns when it has completed.
    ///
    /// # Errors
    /// When the drive refuses it.
    pub fn request(&self, kind: RequestKind, offset: u64, size: u64) -> Result<(), String> {
        match &self.clock {
            None => self.request_in_virtual_time(kind, offset, size),
            Some(clock) => self.request_in_real_time(clock, kind, offset, size),
        }
    }

    /// Time passes only while no thread is about to submit: what clients ask for at once arrives at one time.
    fn request_in_virtual_time(&self, kind: RequestKind, offset: u64, size: u64) -> Result<(), String> {
        self.entering.fetch_add(1, Ordering::AcqRel);
        let mut engine = self.lock();
        let now = engine.now();
        let submitted = engine.submit(now, kind, offset, size);
        self.entering.fetch_sub(1, Ordering::AcqRel);
        let id = submitted?;
        loop {
            if let Some(completed) = engine.completed(id) {
                return completed;
            }
            if self.entering.load(Ordering::Acquire) > 0 {
                drop(engine);
                thread::yield_now();
                engine = self.lock();
                continue;
            }
            engine.advance_to_completion()?;
        }
    }

    /// The first thread that waits moves the drive with the clock, until its own request is done; then another one does.
    fn request_in_real_time(&self, clock: &Clock, kind: RequestKind, offset: u64, size: u64) -> Result<(), String> {
        let mut engine = self.lock();
        let id = engine.submit(clock.now(), kind, offset, size)?;
        loop {
            if engine.is_led {
                engine.park(id, thread::current());
                drop(engine);
                thread::park_timeout(Duration::from_millis(100));
                engine = self.lock();
            } else {
                engine.is_led = true;
                let led = self.lead(engine, clock, id);
                engine = self.lock();
                engine.hand_over();
                led?;
            }
            if let Some(completed) = engine.completed(id) {
                return completed;
            }
        }
    }

    /// Moves the drive with the clock until the request is done.
    fn lead<'a>(&'a self, mut engine: MutexGuard<'a, Engine>, clock: &Clock, id: u64) -> Result<(), String> {
        loop {
            let next = engine.advance(clock.now(), clock)?;
            if engine.is_done(id) {
                return Ok(());
            }
            drop(engine);
            match next {
                Some(next) => clock.wait_until(next, SLEEP_MAX),
                None => return Err("the drive lost a request: a fault of flashmesh".to_owned()),
            }
            engine = self.lock();
        }
    }

    /// Ends the drive, and writes its report.
    ///
    /// # Errors
    /// When the drive failed, or something cannot be written.
    pub fn close(&self) -> Result<(), String> {
        let report = self.lock().finish()?;
        self.store.flush()?;
        let Some(path) = &self.report else { return Ok(()) };
        std::fs::write(path, report).map_err(|error| format!("{}: {error}", path.display()))
    }
}
