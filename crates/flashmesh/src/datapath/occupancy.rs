//! Which request occupied each channel, to attribute waits for it.

use crate::engine::table::Table;
use crate::ids::{PathId, RequestId};
use crate::units::Time;

/// The request that occupies a path, or did last.
#[derive(Clone, Copy, Debug)]
struct Occupant {
    /// None for work of the firmware.
    request: Option<RequestId>,
    /// When it took the path over from another request.
    since: Time,
}

/// The occupant of each path of an interconnect with [exclusive paths](crate::fabric::Fabric::has_exclusive_paths).
#[derive(Clone, Debug)]
pub(super) struct Occupants(Table<PathId, Occupant>);

impl Occupants {
    /// `paths` that nobody has used.
    pub fn none(paths: usize) -> Occupants {
        Occupants(Table::of(Occupant { request: None, since: Time::ZERO }, paths))
    }

    /// `request`, which has waited for `path` since `asked`, occupies it at `now`. Returns whether another request, or work of the firmware, occupied
    /// it in between; always true for work of the firmware.
    #[inline(always)]
    pub fn replace(&mut self, path: PathId, request: Option<RequestId>, asked: Time, now: Time) -> bool {
        let occupant = &mut self.0[path];
        if request.is_none() || occupant.request != request {
            *occupant = Occupant { request, since: now };
            return true;
        }
        asked < occupant.since
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
    fn a_wait_behind_pages_of_the_same_request_is_told_from_one_behind_another_request() {
        let mut occupants = Occupants::none(2);
        occupants.replace(PATH, FIRST, us(0), us(0));
        assert!(!occupants.replace(PATH, FIRST, us(0), us(1)));
        assert!(occupants.replace(PATH, SECOND, us(0), us(2)));
        assert!(occupants.replace(PATH, FIRST, us(1), us(3)), "the second one occupied it from 2 us on");
        assert!(!occupants.replace(PATH, FIRST, us(3), us(4)));
        assert!(occupants.replace(PATH, FIRST, us(2), us(5)), "until 3 us");
    }

    #[test]
    fn a_wait_behind_work_of_the_firmware_counts_as_one_behind_another_request() {
        let mut occupants = Occupants::none(2);
        occupants.replace(PATH, None, us(0), us(0));
        assert!(occupants.replace(PATH, None, us(0), us(1)));
        assert!(occupants.replace(PATH, FIRST, us(0), us(2)));
    }
}
