//! Write throttling (`cache.throttle-interval`): writes are slowed down before the cache is full, while dies collect for lack of space.
//!
//! Each admitted page delays the next one by the interval times the share of dies that collect for lack of space at that moment \[choice\].

use crate::kernel::Kernel;
use crate::kernel::event::{Event, lane};
use crate::kernel::model::Model;
use crate::units::Time;

/// Throttle that delays the admission of written pages to the device cache.
#[derive(Clone, Copy, Debug)]
pub struct Throttle {
    interval: Time,
    next: Time,
    /// Whether the event that ends the current delay is pending.
    is_awaited: bool,
    /// Number of pages that the throttle delayed. A page queued behind a delayed page counts only if the throttle then delays it too.
    pages: u64,
}

impl Throttle {
    /// Creates the throttle; `None` if `interval` is zero, which disables it.
    pub fn new(interval: Time) -> Option<Throttle> {
        (interval > Time::ZERO).then_some(Throttle { interval, next: Time::ZERO, is_awaited: false, pages: 0 })
    }

    /// Returns whether a page offered at `now` is delayed.
    pub fn is_closed(&self, now: Time) -> bool {
        now < self.next
    }

    /// Delays the next page after a page was admitted. `collecting` of the `dies` dies of the drive collect for lack of space.
    pub fn admitted(&mut self, (collecting, dies): (u32, u32), now: Time) {
        let wait = Time::from_ps(self.interval.as_ps() * u64::from(collecting) / u64::from(dies));
        self.next = now.max(self.next) + wait;
    }

    /// Counts a delayed page and schedules the event that admits it; no-op if this event is already pending.
    pub fn wait<M: Model>(&mut self, kernel: &mut Kernel<M>) {
        if !std::mem::replace(&mut self.is_awaited, true) {
            self.pages += 1;
            kernel.schedule(lane::GATHER, self.next.max(kernel.now()), Event::CacheOpens);
        }
    }

    /// Returns the number of pages that the throttle delayed. A page queued behind a delayed page counts only if the throttle then delays
    /// it too.
    pub fn pages(&self) -> u64 {
        self.pages
    }

    /// Records that the event that ends the delay has occurred.
    pub fn opens(&mut self) {
        self.is_awaited = false;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const INTERVAL: Time = Time::from_us(12);

    #[test]
    fn pages_come_in_at_the_share_of_the_interval_that_dies_collect() {
        let mut throttle = Throttle::new(INTERVAL).expect("throttling is enabled");
        let mut now = Time::ZERO;
        for (collecting, expected_us) in [(0, 0), (4, 3), (8, 6), (16, 12)] {
            throttle.admitted((collecting, 16), now);
            let open = now + Time::from_us(expected_us);
            assert!(!throttle.is_closed(open) && (expected_us == 0 || throttle.is_closed(open - Time::from_ps(1))));
            now = open;
        }
    }

    #[test]
    fn without_an_interval_there_is_none() {
        assert!(Throttle::new(Time::ZERO).is_none());
    }
}
