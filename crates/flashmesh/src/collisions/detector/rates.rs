//! Recent read rate of each die.

use crate::ids::DieId;
use crate::units::Time;

/// Read counts of each die in the current window (`present`) and in the previous one (`before`), from which its recent read rate follows.
#[derive(Clone, Debug)]
pub(super) struct ReadRates {
    window: Time,
    began: Time,
    present: Vec<u64>,
    before: Vec<u64>,
    /// Length of the previous window; zero during the first window.
    length_before: Time,
}

impl ReadRates {
    pub(super) fn new(dies: u32, window: Time) -> ReadRates {
        let none = vec![0; dies as usize];
        ReadRates { window, began: Time::ZERO, present: none.clone(), before: none, length_before: Time::ZERO }
    }

    pub(super) fn count(&mut self, die: DieId, now: Time) {
        if now - self.began >= self.window {
            self.rotate(now);
        }
        self.present[die.index()] += 1;
    }

    #[cold]
    fn rotate(&mut self, now: Time) {
        std::mem::swap(&mut self.present, &mut self.before);
        self.present.fill(0);
        self.length_before = now - self.began;
        self.began = now;
    }

    pub(super) fn reads_in_window(&self, die: DieId, now: Time) -> (u64, Time) {
        (self.present[die.index()] + self.before[die.index()], now - self.began + self.length_before)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rates_cover_the_current_and_the_previous_window() {
        let us = Time::from_us;
        let mut rates = ReadRates::new(2, us(100));
        for at in [0, 10, 90, 110] {
            rates.count(DieId(1), us(at));
        }
        assert_eq!(rates.reads_in_window(DieId(1), us(150)), (4, us(150)));
        assert_eq!(rates.reads_in_window(DieId(0), us(150)), (0, us(150)));
        rates.count(DieId(1), us(230));
        assert_eq!(rates.reads_in_window(DieId(1), us(250)), (2, us(140)));
    }
}
