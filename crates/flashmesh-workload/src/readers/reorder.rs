//! Sorting of requests by time stamp, and rejection of implausible time stamps.
//!
//! Real traces are nearly sorted: several queues or processors write one log, or requests are logged as they complete. Some
//! contain a corrupt time stamp. Files that are not sorted at all are no workload. Rules:
//!
//! - A window of [`WINDOW_REQUESTS`] requests is kept sorted. A request that is late by at most [`DISORDER_MAX`] and by at most [`WINDOW_REQUESTS`]
//!   requests is inserted and counted as out of order. Requests with equal time stamps keep the order of the file.
//! - A request that is late by more requests is rejected: its time stamp runs back.
//! - If a time stamp is more than [`DISORDER_MAX`] before the newest one, one of the two is wrong. If the time stamp fits the second newest, or there
//!   is no second newest, the newest request is rejected (its time stamp leaps ahead). Otherwise the late request is rejected (its time stamp runs
//!   back).
//! - A time stamp more than [`LEAP_MAX`] ahead of all others is rejected, because no published trace has such a pause. The second request of a file
//!   is an exception: it is accepted, and the first is rejected.

use std::collections::VecDeque;

use super::line_errors::LineErrorKind;
use crate::request::RequestKind;
use crate::units::Time;

/// The maximum number of requests by which a request may be late.
pub const WINDOW_REQUESTS: usize = 256;
/// The maximum time by which a request may be late.
pub const DISORDER_MAX: Time = Time::from_ms(10_000);
/// The maximum time from one request to the next: thirty days. A longer step means that a time stamp is corrupt.
pub const LEAP_MAX: Time = Time::from_ms(30 * 24 * 3600 * 1000);

/// A request in the sorting window, with its line and column for error messages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TimedRequest {
    /// The time stamp of the file, in picoseconds since the epoch of the file.
    pub time_ps: u128,
    pub offset: u64,
    /// The size in bytes, a multiple of the sector size.
    pub size: u64,
    pub line: u64,
    /// The number of the device in the trace.
    pub device: u32,
    pub time_column: u16,
    pub kind: RequestKind,
}

/// The outcome of offering a request to the sorting window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReorderOutcome {
    InOrder,
    OutOfOrder,
    Refused(LineErrorKind),
    /// The request was accepted; the newest request before it is rejected for `LineErrorKind` and returned.
    Displaced(LineErrorKind, TimedRequest),
}

/// The sorting window: the latest requests, sorted by time stamp.
#[derive(Debug, Default)]
pub struct ReorderWindow {
    held: VecDeque<TimedRequest>,
    released_ps: Option<u128>,
}

impl ReorderWindow {
    /// Offers the next request of the file. Returns whether the request was inserted, and which request was rejected. Call [`ReorderWindow::release`]
    /// next.
    pub fn offer(&mut self, request: TimedRequest) -> ReorderOutcome {
        match self.held.back() {
            Some(newest)
                if request.time_ps < newest.time_ps
                    || request.time_ps - newest.time_ps > u128::from(LEAP_MAX.as_ps()) =>
            {
                self.place_out_of_order(request, *newest)
            }
            _ => {
                self.held.push_back(request);
                ReorderOutcome::InOrder
            }
        }
    }

    /// Accepts or rejects a request that is earlier than the newest request of the window, or more than [`LEAP_MAX`] later.
    #[cold]
    fn place_out_of_order(&mut self, request: TimedRequest, newest: TimedRequest) -> ReorderOutcome {
        // Whether the newest request is the first of the file, without a predecessor to compare with.
        let is_newest_alone = self.held.len() == 1 && self.released_ps.is_none();
        let comes_too_late = self.released_ps.is_some_and(|released| request.time_ps < released);
        if request.time_ps > newest.time_ps {
            return if is_newest_alone {
                self.displace(request, LineErrorKind::TimeRunsBack)
            } else {
                ReorderOutcome::Refused(LineErrorKind::TimeLeapsAhead)
            };
        }
        let disorder_max = u128::from(DISORDER_MAX.as_ps());
        if newest.time_ps - request.time_ps <= disorder_max {
            return if comes_too_late {
                ReorderOutcome::Refused(LineErrorKind::TimeRunsBack)
            } else {
                self.sort_in(request);
                ReorderOutcome::OutOfOrder
            };
        }
        let agrees_with_the_one_before = (self.held.len().checked_sub(2).and_then(|index| self.held.get(index)))
            .is_some_and(|before| {
                request.time_ps + disorder_max >= before.time_ps
                    && request.time_ps <= before.time_ps + u128::from(LEAP_MAX.as_ps())
            });
        if is_newest_alone || (agrees_with_the_one_before && !comes_too_late) {
            self.displace(request, LineErrorKind::TimeLeapsAhead)
        } else {
            ReorderOutcome::Refused(LineErrorKind::TimeRunsBack)
        }
    }

    /// Rejects the newest request of the window for `reason`, and accepts `request`.
    fn displace(&mut self, request: TimedRequest, reason: LineErrorKind) -> ReorderOutcome {
        let Some(thrown_out) = self.held.pop_back() else {
            return ReorderOutcome::Refused(reason);
        };
        self.sort_in(request);
        ReorderOutcome::Displaced(reason, thrown_out)
    }

    pub fn len(&self) -> usize {
        self.held.len()
    }

    fn sort_in(&mut self, request: TimedRequest) {
        let place = self.held.partition_point(|held| held.time_ps <= request.time_ps);
        self.held.insert(place, request);
    }

    /// Removes and returns the earliest request if the window holds more than [`WINDOW_REQUESTS`] requests or the file has ended; `None` otherwise.
    pub fn release(&mut self, has_file_ended: bool) -> Option<TimedRequest> {
        if self.held.len() <= WINDOW_REQUESTS && !has_file_ended {
            return None;
        }
        let released = self.held.pop_front()?;
        self.released_ps = Some(released.time_ps);
        Some(released)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: u128 = 1_000_000_000_000;

    fn at(time_ps: u128, line: u64) -> TimedRequest {
        TimedRequest { time_ps, offset: 0, size: 512, line, device: 0, time_column: 1, kind: RequestKind::Read }
    }

    /// Offers time stamps (in seconds), one per line. Returns the lines in the order of release, and (line, outcome) for each line that was
    /// not in order.
    fn order(seconds: &[u128]) -> (Vec<u64>, Vec<(u64, ReorderOutcome)>) {
        let (mut window, mut released, mut odd) = (ReorderWindow::default(), Vec::new(), Vec::new());
        for (line, &second) in (1..).zip(seconds) {
            match window.offer(at(second * SECOND, line)) {
                ReorderOutcome::InOrder => {}
                placed => odd.push((line, placed)),
            }
            released.extend(window.release(false));
        }
        released.extend(std::iter::from_fn(|| window.release(true)));
        assert!(released.is_sorted_by_key(|stamped| stamped.time_ps));
        (released.iter().map(|stamped| stamped.line).collect(), odd)
    }

    #[test]
    fn a_small_step_back_is_sorted_in_and_equal_stamps_keep_their_order() {
        let (released, odd) = order(&[5, 7, 5, 7, 6]);
        assert_eq!(released, [1, 3, 5, 2, 4]);
        assert_eq!(odd, [(3, ReorderOutcome::OutOfOrder), (5, ReorderOutcome::OutOfOrder)]);
    }

    #[test]
    fn a_stamp_that_leapt_ahead_is_thrown_out_by_the_next_one() {
        let (released, odd) = order(&[100, 101, 9_000, 102, 103]);
        assert_eq!(released, [1, 2, 4, 5]);
        assert!(
            matches!(odd[..], [(4, ReorderOutcome::Displaced(LineErrorKind::TimeLeapsAhead, thrown))] if thrown.line == 3)
        );
    }

    #[test]
    fn a_stamp_that_fell_back_is_refused() {
        let (released, odd) = order(&[100, 101, 3, 102, 103]);
        assert_eq!(released, [1, 2, 4, 5]);
        assert_eq!(odd, [(3, ReorderOutcome::Refused(LineErrorKind::TimeRunsBack))]);
    }

    #[test]
    fn a_long_pause_is_believed() {
        let day = 24 * 3600;
        let (released, odd) = order(&[0, 1, day, day + 1, 8 * day, 8 * day]);
        assert_eq!(released, [1, 2, 3, 4, 5, 6]);
        assert_eq!(odd, []);
    }

    #[test]
    fn a_corrupt_first_stamp_costs_one_line_or_two_whether_high_or_low() {
        let month = 30 * 24 * 3600;
        let (released, odd) = order(&[7_000, 100, 101, 102]);
        assert_eq!(released, [2, 3, 4]);
        assert!(
            matches!(odd[..], [(2, ReorderOutcome::Displaced(LineErrorKind::TimeLeapsAhead, thrown))] if thrown.line == 1)
        );
        let (released, odd) = order(&[0, 2 * month, 2 * month + 1]);
        assert_eq!(released, [2, 3]);
        assert!(
            matches!(odd[..], [(2, ReorderOutcome::Displaced(LineErrorKind::TimeRunsBack, thrown))] if thrown.line == 1)
        );
    }

    #[test]
    fn months_ahead_of_all_others_is_refused_however_often_it_comes() {
        let month = 30 * 24 * 3600;
        let (released, odd) = order(&[1, 2, 5 * month, 6 * month, 3]);
        assert_eq!(released, [1, 2, 5]);
        assert_eq!(odd.len(), 2);
        assert!(odd.iter().all(|(_, placed)| *placed == ReorderOutcome::Refused(LineErrorKind::TimeLeapsAhead)));
    }

    #[test]
    fn a_request_later_than_the_window_is_refused() {
        let just_fits: Vec<u128> =
            [5].into_iter().chain((0..WINDOW_REQUESTS as u128 - 1).map(|_| 8)).chain([6]).collect();
        assert_eq!(order(&just_fits).1, [(WINDOW_REQUESTS as u64 + 1, ReorderOutcome::OutOfOrder)]);
        let too_late: Vec<u128> =
            [5, 7].into_iter().chain((0..WINDOW_REQUESTS as u128).map(|_| 8)).chain([6]).collect();
        assert_eq!(
            order(&too_late).1,
            [(WINDOW_REQUESTS as u64 + 3, ReorderOutcome::Refused(LineErrorKind::TimeRunsBack))]
        );
    }
}
