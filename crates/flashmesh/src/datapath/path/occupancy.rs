//! Requests that occupy exclusive paths, for the attribution of path waits.

use crate::engine::id_table::IdTable;
use crate::ids::{PathId, RequestId};
use crate::units::Time;

/// Current or last user of a path.
#[derive(Clone, Copy, Debug)]
struct Occupant {
    /// Host request that uses or last used the path; `None` for firmware work.
    request: Option<RequestId>,
    /// Time since which only `request` has used the path.
    since: Time,
}

/// Current or last user of each path, for a fabric with [exclusive paths](crate::fabric::Fabric::has_exclusive_paths).
#[derive(Clone, Debug)]
pub(in super::super) struct Occupants(IdTable<PathId, Occupant>);

impl Occupants {
    pub fn new(paths: usize) -> Occupants {
        Occupants(IdTable::filled(Occupant { request: None, since: Time::ZERO }, paths))
    }

    /// Makes `request` the occupant of `path` from `now` on. Returns whether another request or firmware work was the occupant at any time since
    /// `requested_at`. An occupant stays until the next one, even after the end of its transfer. Always returns `true` for firmware work.
    #[inline(always)]
    pub fn occupy(&mut self, path: PathId, request: Option<RequestId>, requested_at: Time, now: Time) -> bool {
        let occupant = &mut self.0[path];
        if request.is_none() || occupant.request != request {
            *occupant = Occupant { request, since: now };
            return true;
        }
        requested_at < occupant.since
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PATH: PathId = PathId(1);
    const FIRST: Option<RequestId> = Some(RequestId(1));
    const SECOND: Option<RequestId> = Some(RequestId(2));

    fn us(us: u64) -> Time {
        Time::from_us(us)
    }

    #[test]
    fn waits_behind_the_same_request_and_behind_another_are_distinguished() {
        let mut occupants = Occupants::new(2);
        occupants.occupy(PATH, FIRST, us(0), us(0));
        assert!(!occupants.occupy(PATH, FIRST, us(0), us(1)));
        assert!(occupants.occupy(PATH, SECOND, us(0), us(2)));
        assert!(occupants.occupy(PATH, FIRST, us(1), us(3)), "the other request occupied the path from 2 us on");
        assert!(!occupants.occupy(PATH, FIRST, us(3), us(4)));
        assert!(occupants.occupy(PATH, FIRST, us(2), us(5)), "the first request occupied the path until 3 us");
    }

    #[test]
    fn a_wait_behind_firmware_work_counts_as_one_behind_another_request() {
        let mut occupants = Occupants::new(2);
        occupants.occupy(PATH, None, us(0), us(0));
        assert!(occupants.occupy(PATH, None, us(0), us(1)));
        assert!(occupants.occupy(PATH, FIRST, us(0), us(2)));
    }
}
