//! Write throttling (`cache.throttle-interval`): writes are slowed down before the cache is full, while dies collect for lack of space.
//!
//! Each admitted page delays the next one. The delay is the interval times the share of dies that collect for lack of space at that moment
//! \[choice\]. With `cache.throttle-share`, the delay is the whole interval if at least that share of the dies collect, otherwise zero \[choice\].

use crate::config;
use crate::kernel::Kernel;
use crate::kernel::event::{Event, lane};
use crate::kernel::model::Model;
use crate::units::Time;

/// Throttle that delays the admission of written pages to the device cache.
#[derive(Clone, Copy, Debug)]
pub struct Throttle {
    interval: Time,
    /// Share of collecting dies from which the delay is the whole interval, otherwise zero; `None` for a delay in proportion to the share.
    share: Option<f64>,
    next: Time,
    /// Time since which a page has been waiting for the end of the current delay; `None` if no page waits.
    waits_since: Option<Time>,
    /// Total time for which at least one page waited, up to the last event that ended a delay.
    waited: Time,
    /// Number of delayed pages. A page that waits behind a delayed page counts only if the throttle delays it, too, when its turn comes.
    pages: u64,
}

impl Throttle {
    /// Creates the throttle; `None` if `cache.throttle-interval` is zero, which disables throttling.
    pub fn new(cache: &config::Cache) -> Option<Throttle> {
        let (interval, share) = (cache.throttle_interval, cache.throttle_share);
        let (next, waited) = (Time::ZERO, Time::ZERO);
        (interval > Time::ZERO).then_some(Throttle { interval, share, next, waits_since: None, waited, pages: 0 })
    }

    /// Returns whether a page offered at `now` is delayed.
    pub fn is_closed(&self, now: Time) -> bool {
        now < self.next
    }

    /// Delays the next page after a page was admitted. `collecting` of the `dies` dies of the drive collect for lack of space.
    pub fn admitted(&mut self, (collecting, dies): (u32, u32), now: Time) {
        let wait = match self.share {
            None => Time::from_ps(self.interval.as_ps() * u64::from(collecting) / u64::from(dies)),
            Some(share) if f64::from(collecting) >= share * f64::from(dies) => self.interval,
            Some(_) => Time::ZERO,
        };
        self.next = now.max(self.next) + wait;
    }

    /// Counts a delayed page and schedules the event that admits it; no-op if this event is already pending.
    pub fn wait<M: Model>(&mut self, kernel: &mut Kernel<M>) {
        if self.waits_since.is_none() {
            self.waits_since = Some(kernel.now());
            self.pages += 1;
            kernel.schedule(lane::GATHER, self.next.max(kernel.now()), Event::CacheOpens);
        }
    }

    /// Returns the number of delayed pages. A page that waits behind a delayed page counts only if the throttle delays it, too, when its turn comes.
    pub fn pages(&self) -> u64 {
        self.pages
    }

    /// Returns the total time up to `now` for which at least one page waited.
    pub fn waited(&self, now: Time) -> Time {
        self.waited + self.waits_since.map_or(Time::ZERO, |since| now - since)
    }

    /// Records that the event that ends the delay has occurred at `now`.
    pub fn opens(&mut self, now: Time) {
        self.waited = self.waited(now);
        self.waits_since = None;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn throttle(interval: Time, share: Option<f64>) -> Option<Throttle> {
        Throttle::new(&config::Cache { throttle_interval: interval, throttle_share: share, ..config::Cache::default() })
    }

    /// Asserts the delays in us after pages admitted with the given numbers of collecting dies (of 16).
    fn delays(share: Option<f64>, expected: [(u32, u64); 4]) {
        let mut throttle = throttle(Time::from_us(12), share).expect("throttling is enabled");
        let mut now = Time::ZERO;
        for (collecting, expected_us) in expected {
            throttle.admitted((collecting, 16), now);
            let open = now + Time::from_us(expected_us);
            assert!(!throttle.is_closed(open) && (expected_us == 0 || throttle.is_closed(open - Time::from_ps(1))));
            now = open;
        }
    }

    #[test]
    fn pages_enter_at_the_interval_times_the_share_of_collecting_dies() {
        delays(None, [(0, 0), (4, 3), (8, 6), (16, 12)]);
    }

    #[test]
    fn pages_enter_at_the_whole_interval_from_the_share_of_collecting_dies_on() {
        delays(Some(0.5), [(0, 0), (7, 0), (8, 12), (16, 12)]);
        delays(Some(0.0), [(0, 12), (4, 12), (8, 12), (16, 12)]);
    }

    #[test]
    fn there_is_no_throttle_without_an_interval() {
        assert!(throttle(Time::ZERO, None).is_none());
    }
}
