//! Spreading of requests with equal time stamps: a clock with a resolution of a second turns every second into a burst.

use std::collections::VecDeque;

use crate::error::WorkloadError;
use crate::request::IoRequest;
use crate::units::Time;

/// The maximum number of requests with one time stamp. All of them are held in memory.
pub const TIES_MAX: usize = 1 << 20;

/// The requests of one time stamp, spread evenly up to the next time stamp.
///
/// The last time stamp has no next one: its requests are spread over the same length of time as the requests of the previous time stamp.
#[derive(Debug, Default)]
pub struct SpreadTies {
    spread: VecDeque<IoRequest>,
    /// The first request of the next time stamp; `None` before the first call, and after the last time stamp was read.
    next: Option<IoRequest>,
    /// The time from the current time stamp to the next one; at the last time stamp, the time from the previous one.
    gap: Time,
}

impl SpreadTies {
    /// Returns the next request of `pull`, with its arrival after spreading; `None` after the last request.
    ///
    /// # Errors
    /// Any error of `pull`; and if more than [`TIES_MAX`] requests share a time stamp.
    pub fn next(
        &mut self,
        mut pull: impl FnMut() -> Result<Option<IoRequest>, WorkloadError>,
    ) -> Result<Option<IoRequest>, WorkloadError> {
        if self.spread.is_empty() {
            self.take_stamp(&mut pull)?;
        }
        Ok(self.spread.pop_front())
    }

    /// Reads all requests of the next time stamp and spreads them. Fails like [`SpreadTies::next`].
    fn take_stamp(
        &mut self,
        pull: &mut impl FnMut() -> Result<Option<IoRequest>, WorkloadError>,
    ) -> Result<(), WorkloadError> {
        let first = match self.next.take() {
            Some(first) => first,
            None => match pull()? {
                Some(first) => first,
                None => return Ok(()),
            },
        };
        self.spread.push_back(first);
        while let Some(request) = pull()? {
            if request.arrival != first.arrival {
                self.gap = request.arrival - first.arrival;
                self.next = Some(request);
                break;
            }
            if self.spread.len() == TIES_MAX {
                return Err(WorkloadError::Unusable(format!(
                    "more than {TIES_MAX} requests share a time stamp, too many for replay.spread-ties"
                )));
            }
            self.spread.push_back(request);
        }
        let count = self.spread.len() as u128;
        for (place, request) in self.spread.iter_mut().enumerate() {
            let part = u128::from(self.gap.as_ps()) * place as u128 / count;
            request.arrival = first.arrival + Time::from_ps(part as u64);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::request::RequestKind;
    use crate::units::Bytes;

    fn spread(seconds: &[u64]) -> Vec<u64> {
        let mut requests = seconds.iter().map(|&second| IoRequest {
            arrival: Time::from_ms(second * 1000),
            kind: RequestKind::Read,
            offset: Bytes::ZERO,
            size: Bytes::new(512),
            stream: 0,
        });
        let mut ties = SpreadTies::default();
        std::iter::from_fn(|| ties.next(|| Ok(requests.next())).unwrap())
            .map(|request| request.arrival.as_ps() / Time::from_ms(1).as_ps())
            .collect()
    }

    #[test]
    fn requests_of_a_second_are_spread_up_to_the_next_stamp() {
        assert_eq!(spread(&[0, 0, 0, 0, 1, 3, 3]), [0, 250, 500, 750, 1000, 3000, 4000]);
    }

    #[test]
    fn requests_of_a_single_stamp_stay() {
        assert_eq!(spread(&[5, 5, 5]), [5000, 5000, 5000]);
        assert!(spread(&[]).is_empty());
    }
}
