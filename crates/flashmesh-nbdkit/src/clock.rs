//! Conversion between wall time and simulated time.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use flashmesh::units::Time;

/// Final part of a wait, in which the thread spins: waking up from a sleep may take this long on a machine with a free
/// processor.
const SPIN_TIME: Duration = Duration::from_micros(60);

const PS_PER_NS: f64 = 1e3;

/// Simulated time that advances with the wall clock, from the first request on.
#[derive(Debug)]
pub struct Clock {
    started: OnceLock<Instant>,
    /// Wall seconds for one simulated second.
    scale: f64,
    /// Transport time of a request between client and drive, both ways together. Responses are sent earlier by this time.
    ahead: Duration,
}

impl Clock {
    pub fn new(scale: f64, ahead: Duration) -> Clock {
        Clock { started: OnceLock::new(), scale, ahead }
    }

    fn started(&self) -> Instant {
        *self.started.get_or_init(Instant::now)
    }

    fn simulated(&self, wall: Duration) -> Time {
        Time::from_ps((wall.as_nanos() as f64 * PS_PER_NS / self.scale) as u64)
    }

    /// Returns the simulated arrival time of a request that arrives now.
    pub fn arrival(&self) -> Time {
        self.simulated(self.started().elapsed())
    }

    /// Returns the simulated time up to which the drive is to be advanced now.
    pub fn due(&self) -> Time {
        self.simulated(self.started().elapsed() + self.ahead)
    }

    /// Returns how late a response sent now is for a completion at simulated `time`; zero if it is not late.
    pub fn lateness(&self, time: Time) -> Duration {
        (self.started().elapsed() + self.ahead).saturating_sub(self.wall(time))
    }

    /// Returns the wall time that corresponds to a simulated duration.
    pub fn wall(&self, time: Time) -> Duration {
        Duration::from_nanos((time.as_ps() as f64 / PS_PER_NS * self.scale) as u64)
    }

    /// Waits until `time` is due, or `arrivals` (the count of submitted requests) differs from `seen`. A thread that changes `arrivals` must unpark
    /// this thread.
    pub fn wait_until(&self, time: Time, arrivals: &AtomicU64, seen: u64) {
        let until = self.wall(time).saturating_sub(self.ahead);
        loop {
            let left = until.saturating_sub(self.started().elapsed());
            if left.is_zero() || arrivals.load(Ordering::Acquire) != seen {
                return;
            }
            if left > SPIN_TIME {
                std::thread::park_timeout(left - SPIN_TIME);
            } else {
                std::hint::spin_loop();
            }
        }
    }
}
