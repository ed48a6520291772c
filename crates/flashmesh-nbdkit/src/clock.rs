//! Wall time and simulated time.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use flashmesh::units::Time;

/// What is left of a wait in which the thread does not sleep: waking up may take that long on a machine with a free processor.
const AWAKE: Duration = Duration::from_micros(60);

const PS_PER_NS: f64 = 1e3;

/// Simulated time that passes with the wall clock, from the first request on.
#[derive(Debug)]
pub struct Clock {
    started: OnceLock<Instant>,
    /// Seconds that a second of simulated time takes.
    scale: f64,
    /// How long a request is under way between client and drive, both ways: so much earlier it is answered.
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

    /// The time at which a request arrives that comes now.
    pub fn arrival(&self) -> Time {
        self.simulated(self.started().elapsed())
    }

    /// The time up to which the drive is simulated now.
    pub fn due(&self) -> Time {
        self.simulated(self.started().elapsed() + self.ahead)
    }

    /// How much later than at `time` it is.
    pub fn late(&self, time: Time) -> Duration {
        (self.started().elapsed() + self.ahead).saturating_sub(self.wall(time))
    }

    /// How long the wall clock takes for so much simulated time.
    pub fn wall(&self, time: Time) -> Duration {
        Duration::from_nanos((time.as_ps() as f64 / PS_PER_NS * self.scale) as u64)
    }

    /// Waits until `time` is due, or `arrivals` is no longer `seen`. Whoever changes that unparks the thread.
    pub fn wait_until(&self, time: Time, arrivals: &AtomicU64, seen: u64) {
        let until = self.wall(time).saturating_sub(self.ahead);
        loop {
            let left = until.saturating_sub(self.started().elapsed());
            if left.is_zero() || arrivals.load(Ordering::Acquire) != seen {
                return;
            }
            if left > AWAKE {
                std::thread::park_timeout(left - AWAKE);
            } else {
                std::hint::spin_loop();
            }
        }
    }
}
