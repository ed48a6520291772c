//! Spreads requests that share a time stamp: a clock of whole seconds makes a burst of every second.

use std::collections::VecDeque;

use crate::error::WorkloadError;
use crate::request::IoRequest;
use crate::units::Time;

/// Most requests of one time stamp that are spread; all of them are held at once.
pub const TIES_MAX: usize = 1 << 20;

/// Requests of one time stamp, spread evenly up to the next stamp.
///
/// The requests of the last stamp have no next one: they are spread as far as those of the stamp before.
#[derive(Debug, Default)]
pub struct SpreadTies {
    spread: VecDeque<IoRequest>,
    /// First request of the next stamp.
    next: Option<IoRequest>,
    /// Time from the stamp before to its next one.
    gap: Time,
}

impl SpreadTies {
    /// Returns the next request of `pull`, with its new arrival.
    ///
    /// # Errors
    /// Those of `pull`, and when more than [`TIES_MAX`] requests share a stamp.
    pub fn next(
        &mut self,
        mut pull: impl FnMut() -> Result<Option<IoRequest>, WorkloadError>,
    ) -> Result<Option<IoRequest>, WorkloadError> {
        if self.spread.is_empty() {
            self.take_stamp(&mut pull)?;
        }
        Ok(self.spread.pop_front())
    }

    /// Takes all requests of one stamp.
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
