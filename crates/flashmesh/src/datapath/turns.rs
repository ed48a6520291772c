//! Which requests used a path, one after the other.

use crate::engine::table::Table;
use crate::ids::{PathId, RequestId};
use crate::units::Time;

/// The request that uses a path, or did last.
#[derive(Clone, Copy, Debug)]
struct Turn {
    /// None for work of the firmware.
    request: Option<RequestId>,
    /// Since when no other request used it.
    since: Time,
}

/// For each path of an interconnect that [serves dies in turn](crate::fabric::Fabric::serves_in_turn), the request that uses it.
#[derive(Clone, Debug)]
pub(super) struct Turns(Table<PathId, Turn>);

impl Turns {
    /// `paths` that nobody used.
    pub fn new(paths: usize) -> Turns {
        Turns(Table::of(Turn { request: None, since: Time::ZERO }, paths))
    }

    /// `request` uses `path` from `now` on, which a die wanted since `asked`. Gives whether another request used it in the meantime: what waits
    /// for work of the firmware, or is such work, counts as that.
    #[inline(always)]
    pub fn take(&mut self, path: PathId, request: Option<RequestId>, asked: Time, now: Time) -> bool {
        let turn = &mut self.0[path];
        if request.is_none() || turn.request != request {
            *turn = Turn { request, since: now };
            return true;
        }
        asked < turn.since
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
    fn pages_of_one_request_are_not_in_the_way_of_each_other_as_another_one_is() {
        let mut turns = Turns::new(2);
        turns.take(PATH, FIRST, us(0), us(0));
        assert!(!turns.take(PATH, FIRST, us(0), us(1)));
        assert!(turns.take(PATH, SECOND, us(0), us(2)));
        assert!(turns.take(PATH, FIRST, us(1), us(3)), "the second one was in its way from 2 us on");
        assert!(!turns.take(PATH, FIRST, us(3), us(4)));
        assert!(turns.take(PATH, FIRST, us(2), us(5)), "and in that of what asked before 3 us");
    }

    #[test]
    fn work_of_the_firmware_is_in_the_way_of_all() {
        let mut turns = Turns::new(2);
        turns.take(PATH, None, us(0), us(0));
        assert!(turns.take(PATH, None, us(0), us(1)));
        assert!(turns.take(PATH, FIRST, us(0), us(2)));
    }
}
