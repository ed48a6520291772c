//! Where the time of a transaction goes: the one place that attributes it.
//!
//! A transaction is told what happens to it. Each method gives the time since the last thing that happened to what it was for, so that
//! the parts add up to the time from its beginning to its end:
//!
//! ```text
//! begin -> [waited_for_map | waited_for_turn] -> queue -> taken -> array_began -> array_ended -> leaves -> left
//!                                                  |  ^                                |
//!                                                  wait                                acknowledged
//! ```
//!
//! A write of a part of a page is queued a second time, for its program, after the data it lacks has left the die.

use crate::fabric::{Cause, Causes};
use crate::units::Time;

/// Where the time of a transaction, or of a request, went.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LatencyBreakdown {
    /// In the device cache: the DRAM at work or busy, and waiting for room in it.
    pub cache: Time,
    /// Waiting for an entry of the map: for its translation page to be read, or for room in the cache.
    pub map_wait: Time,
    /// Waiting for the die, while it worked for other requests.
    pub die_wait: Time,
    /// Waiting for the die, while it worked for garbage collection or wear levelling.
    pub behind_gc: Time,
    /// Waiting for a path to the chip, die and data being ready.
    pub path_wait: Time,
    /// The array at work: tR, tPROG, suspension.
    pub array: Time,
    /// Command, address and data on the path.
    pub transfer: Time,
}

impl LatencyBreakdown {
    /// All of it.
    #[inline]
    pub fn total(&self) -> Time {
        self.cache + self.map_wait + self.die_wait + self.behind_gc + self.path_wait + self.array + self.transfer
    }
}

/// A path that was granted: for a command, or for data that leaves a register.
#[derive(Clone, Copy, Debug)]
pub struct PathWait {
    /// Since when the die wanted one.
    pub asked: Time,
    /// When the try began that found it: later, when something was in the way.
    pub tried: Time,
    /// What was in the way.
    pub causes: Causes,
}

/// Time for which a transfer was blocked in the network, on its way.
#[derive(Clone, Copy, Debug)]
pub struct Stall {
    /// How long.
    pub time: Time,
    /// Whether another request blocked it.
    pub is_by_another: bool,
}

/// The time of a transaction, up to what happened to it last.
#[derive(Clone, Copy, Debug, Default)]
pub struct Account {
    /// Since when it waits for the die, for its entry of the map, or for the write of its page before it.
    queued: Time,
    /// How long the die had worked for the firmware by then.
    internal_busy: Time,
    /// When the array began to work for it, then when it was done, then when its data began to leave.
    mark: Time,
    spent: LatencyBreakdown,
    conflict: Causes,
}

impl Account {
    /// Since when it waits.
    #[inline]
    pub fn queued(&self) -> Time {
        self.queued
    }

    /// Where its time went so far.
    #[inline]
    pub fn spent(&self) -> &LatencyBreakdown {
        &self.spent
    }

    /// What was in the way of its transfers so far.
    #[inline]
    pub fn conflict(&self) -> Causes {
        self.conflict
    }

    /// It begins to wait.
    #[inline]
    pub fn begin(&mut self, now: Time) {
        self.queued = now;
    }

    /// Before it began its data was so long in the device cache, or waited for it.
    #[inline]
    pub fn was_cached(&mut self, time: Time) {
        self.spent.cache = time;
    }

    /// It waited for its entry of the map.
    pub fn waited_for_map(&mut self, now: Time) {
        self.spent.map_wait += now - self.queued;
    }

    /// It waited for its turn: a write waits for the write of the same page before it, or for a chip with room.
    pub fn waited_for_turn(&mut self, now: Time) {
        self.spent.die_wait += now - self.queued;
    }

    /// It joins the queue of a die, which has worked `internal_busy` for the firmware by now.
    #[inline]
    pub fn queue(&mut self, now: Time, internal_busy: Time) {
        (self.queued, self.internal_busy) = (now, internal_busy);
    }

    /// It waits for its die until `until`, which by then has worked `internal_busy` for the firmware.
    #[inline]
    pub fn wait(&mut self, until: Time, internal_busy: Time) {
        let waited = until - self.queued;
        let behind_gc = (internal_busy - self.internal_busy).min(waited);
        self.spent.behind_gc += behind_gc;
        self.spent.die_wait += waited - behind_gc;
    }

    /// It begins to move to its die, over `path`; the die has worked `internal_busy` for the firmware by now.
    #[inline(always)]
    pub fn taken(&mut self, now: Time, path: PathWait, internal_busy: Time) {
        // The die, or another transaction, may have wanted the path before this one came.
        let die_ready = path.asked.later(self.queued);
        let tried = path.tried.later(die_ready);
        self.wait(die_ready, internal_busy);
        self.spent.path_wait += tried - die_ready;
        self.spent.transfer += now - tried;
        if tried > die_ready {
            self.conflict.join(path.causes);
        }
    }

    /// What was sent to the die since `started` has arrived: the array begins to work.
    #[inline]
    pub fn array_began(&mut self, now: Time, started: Time, stall: Stall) {
        self.spent.transfer += now - started - stall.time;
        self.stalled(stall);
        self.mark = now;
    }

    /// The array is done, after `nominal` of work; more than that is a suspension, when the die worked for others.
    #[inline]
    pub fn array_ended(&mut self, now: Time, nominal: Time) {
        self.spent.array += nominal;
        self.spent.die_wait += now - self.mark - nominal;
        self.mark = now;
    }

    /// Its data begins to leave the register, which was free for it at `free`. Paths for data of the same operation were waited for
    /// `waited_before` since then, and for this one as `path` says.
    #[inline(always)]
    pub fn leaves(&mut self, now: Time, free: Time, waited_before: Time, path: PathWait) {
        let PathWait { asked, tried, causes } = path;
        // Until the register was free the die was busy with older data; since then with the data of the planes before
        // this one, and with waiting for their paths, which is the same path.
        self.spent.die_wait += free - self.mark;
        self.spent.transfer += asked - free - waited_before + (now - tried);
        self.spent.path_wait += waited_before + (tried - asked);
        self.conflict.join(causes);
        self.mark = now;
    }

    /// Its data has left the die.
    #[inline]
    pub fn left(&mut self, now: Time, stall: Stall) {
        self.spent.transfer += now - self.mark - stall.time;
        self.stalled(stall);
    }

    /// The controller was told of the end of its array.
    pub fn acknowledged(&mut self, now: Time) {
        self.spent.transfer += now - self.mark;
    }

    #[inline]
    fn stalled(&mut self, stall: Stall) {
        if stall.time > Time::ZERO {
            self.spent.path_wait += stall.time;
            self.conflict.insert(Cause::Link);
            if stall.is_by_another {
                self.conflict.insert_another();
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::units::Time;

    const NO_STALL: Stall = Stall { time: Time::ZERO, is_by_another: false };

    fn us(us: u64) -> Time {
        Time::from_us(us)
    }

    /// A read, from its beginning at 10 us to the time its data has left at 200 us.
    #[test]
    fn the_parts_of_a_read_add_up_to_its_time() {
        let mut account = Account::default();
        account.begin(us(10));
        account.waited_for_map(us(15));
        account.queue(us(15), us(100));
        // The die works until 40 us, 7 us of it for a collection; then the channel is in use until 45 us.
        let command = PathWait { asked: us(40), tried: us(45), causes: Causes::default() };
        account.taken(us(46), command, us(107));
        // Four on the way, one of them blocked.
        account.array_began(us(50), us(46), Stall { time: us(1), is_by_another: false });
        // 60 us of work take 90, with a suspension.
        account.array_ended(us(140), us(60));
        // The register is free at 150; the plane before this one leaves in 10, and waits 5 for its path before that.
        let data = PathWait { asked: us(165), tried: us(180), causes: Causes::default() };
        account.leaves(us(181), us(150), us(5), data);
        account.left(us(200), NO_STALL);
        let spent = *account.spent();
        let expected = LatencyBreakdown {
            cache: Time::ZERO,
            map_wait: us(5),
            die_wait: us(18 + 30 + 10),
            behind_gc: us(7),
            path_wait: us(5 + 1 + 5 + 15),
            array: us(60),
            transfer: us(1 + 3 + 10 + 1 + 19),
        };
        assert_eq!(spent, expected);
        assert_eq!(spent.total(), us(200 - 10));
    }

    #[test]
    fn a_transaction_that_comes_after_its_path_was_asked_for_waits_only_since_it_came() {
        let mut account = Account::default();
        account.queue(us(30), us(0));
        account.taken(us(46), PathWait { asked: us(10), tried: us(45), causes: Causes::default() }, us(0));
        let expected = LatencyBreakdown { path_wait: us(15), transfer: us(1), ..LatencyBreakdown::default() };
        assert_eq!(*account.spent(), expected);
    }

    #[test]
    fn only_transfers_that_were_in_the_way_of_something_meet_a_conflict() {
        let mut free = Account::default();
        free.queue(us(0), us(0));
        let mut causes = Causes::default();
        causes.insert(Cause::Channel);
        free.taken(us(1), PathWait { asked: us(0), tried: us(0), causes }, us(0));
        free.array_began(us(2), us(1), NO_STALL);
        assert!(free.conflict().is_empty());
        free.left(us(5), Stall { time: us(1), is_by_another: true });
        assert!(free.conflict().contains(Cause::Link) && free.conflict().is_another());
    }
}
