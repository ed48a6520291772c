//! Wall time and simulated time.

use std::time::{Duration, Instant};

use flashmesh::units::Time;

/// What is left of a wait in which the thread does not sleep: what waking up takes at most on an idle machine.
const AWAKE: Duration = Duration::from_micros(25);

/// Simulated time that passes with the wall clock.
#[derive(Clone, Copy, Debug)]
pub struct Clock {
    started: Instant,
    /// Seconds that a second of simulated time takes.
    scale: f64,
}

impl Clock {
    pub fn new(scale: f64) -> Clock {
        Clock { started: Instant::now(), scale }
    }

    /// Simulated time now.
    pub fn now(&self) -> Time {
        Time::from_ps((self.started.elapsed().as_nanos() as f64 * 1e3 / self.scale) as u64)
    }

    /// How long the wall clock takes for so much simulated time.
    pub fn wall(&self, time: Time) -> Duration {
        Duration::from_nanos((time.as_ps() as f64 / 1e3 * self.scale) as u64)
    }

    /// Waits until `time`, or for at most `longest`.
    pub fn wait_until(&self, time: Time, longest: Duration) {
        let until = self.started + self.wall(time);
        let left = until.saturating_duration_since(Instant::now()).min(longest);
        if left > AWAKE {
            std::thread::sleep(left - AWAKE);
        } else {
            std::hint::spin_loop();
        }
    }
}
