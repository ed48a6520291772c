//! Oracle `clock`: time never decreases. The oracle compares each event with the previous one.

use crate::units::Time;

#[derive(Clone, Debug, Default)]
pub(super) struct Clock {
    last: Time,
}

impl Clock {
    pub(super) const NAME: &'static str = "clock";

    pub(super) fn moved(&mut self, now: Time) -> Result<(), String> {
        if now < self.last {
            return Err(format!("the clock went back from {} to {now}", self.last));
        }
        self.last = now;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::super::histories::{assert_fails, assert_silent, oracles};
    use crate::units::Time;

    #[test]
    fn a_clock_that_stands_or_goes_on_is_right() {
        let mut oracles = oracles();
        for ps in [0, 5, 5, 9] {
            oracles.event(Time::from_ps(ps));
        }
        assert_silent(&oracles);
    }

    #[test]
    fn a_clock_that_runs_back_by_a_picosecond_is_caught() {
        let mut oracles = oracles();
        oracles.event(Time::from_ps(9));
        oracles.event(Time::from_ps(8));
        assert_fails(&oracles, "clock", "the clock went back from 9ps to 8ps");
    }
}
