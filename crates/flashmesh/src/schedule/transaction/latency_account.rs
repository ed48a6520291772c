//! Time accounts of transactions. Only this module charges time to the components of a [`LatencyBreakdown`].
//!
//! Each method of [`LatencyAccount`] is called at an event of the transaction, and charges the time since the previous event. So the components add
//! up to the time from begin to end:
//!
//! ```text
//! begin -> [charge_map_wait | charge_write_wait] -> queue -> charge_issue_wait -> array_began -> array_ended
//!                                                    |  ^                                            |
//!                                                    wait                                            |-> acknowledged
//!                                                                                                    |-> start_data_transfer -> end_data_transfer
//! ```
//!
//! A partial write is queued twice: for the read of the page that it modifies, and for its program.

use crate::fabric::{Cause, Causes};
use crate::units::Time;

/// The time of a transaction, or of a request, by component.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LatencyBreakdown {
    /// Time in the device cache: DRAM access, queueing for the DRAM, and waiting for free space. The whole time of a flush.
    pub cache: Time,
    /// Wait for a mapping entry: for the read of its translation page, or for free space in the mapping cache.
    pub map_wait: Time,
    /// Wait for the die, except behind garbage collection and wear levelling. Also the time for which the operation was suspended, and the wait of a
    /// write for an earlier write of the same page or for free pages. On a drive without a device cache, the whole time of a flush.
    pub die_wait: Time,
    /// Wait for the die while the die worked for garbage collection or wear levelling.
    pub behind_gc: Time,
    /// Wait for a path to the chip, after the die and the data were ready.
    pub path_wait: Time,
    /// Array time (tR, tPROG), including the time to suspend another operation first.
    pub array: Time,
    /// Time of the transfers of command, address, data and acknowledgement, including the set-up of their paths.
    pub transfer: Time,
}

impl LatencyBreakdown {
    /// Returns the sum of all components.
    #[inline]
    pub fn total(&self) -> Time {
        self.cache + self.map_wait + self.die_wait + self.behind_gc + self.path_wait + self.array + self.transfer
    }
}

/// Time from the request of a path to its grant, for a command or for data from a page register.
#[derive(Clone, Copy, Debug)]
pub struct PathWait {
    /// Time at which the path was requested.
    pub requested_at: Time,
    /// Start of the successful attempt to reserve the path; later than `requested_at` if the path was blocked.
    pub tried: Time,
    /// Causes of the wait; empty if the path was granted at once.
    pub causes: Causes,
}

impl PathWait {
    /// Returns a wait of length zero, for an operation that needs no path and starts at `now`.
    pub fn none(now: Time) -> PathWait {
        PathWait { requested_at: now, tried: now, causes: Causes::default() }
    }
}

/// Blocking of a transfer by the network, after the grant of its path.
#[derive(Clone, Copy, Debug)]
pub struct Stall {
    /// Time for which the network blocked the transfer after the grant of its path.
    pub time: Time,
    /// Whether a transfer of another request blocked this one, not only transfers of the same request.
    pub is_by_another: bool,
}

/// The time account of a transaction: the time charged to each component up to the last event, and the start of the current wait.
#[derive(Clone, Copy, Debug, Default)]
pub struct LatencyAccount {
    /// Start of the current wait: for the die, for the mapping entry, or for an earlier write of the same page.
    queued: Time,
    /// Total time for which the die had worked for garbage collection or wear levelling when the current wait began.
    internal_busy: Time,
    /// Time of the last event of the transaction: array start, array end, or start of the data transfer.
    mark: Time,
    spent: LatencyBreakdown,
    conflict: Causes,
}

impl LatencyAccount {
    /// Returns the start of the current wait.
    #[inline]
    pub fn queued(&self) -> Time {
        self.queued
    }

    /// Returns the time charged so far.
    #[inline]
    pub fn spent(&self) -> &LatencyBreakdown {
        &self.spent
    }

    /// Returns the causes of all path waits so far; empty if no transfer waited.
    #[inline]
    pub fn conflict(&self) -> Causes {
        self.conflict
    }

    /// Starts a wait at `now`. A later call charges the length of the wait.
    #[inline]
    pub fn begin(&mut self, now: Time) {
        self.queued = now;
    }

    /// Sets the `cache` component to `time`, spent in the device cache or waiting for it before the transaction began.
    #[inline]
    pub fn charge_cache(&mut self, time: Time) {
        self.spent.cache = time;
    }

    /// Charges the wait for the mapping entry, which ends at `now`.
    pub fn charge_map_wait(&mut self, now: Time) {
        self.spent.map_wait += now - self.queued;
    }

    /// Charges to `die_wait` the wait of a write for an earlier write of the same page, or for a chip with free pages. The wait ends at
    /// `now`.
    pub fn charge_write_wait(&mut self, now: Time) {
        self.spent.die_wait += now - self.queued;
    }

    /// Starts the wait in the queue of a die at `now`. `internal_busy` is the total time for which the die has worked for garbage collection or wear
    /// levelling so far.
    #[inline]
    pub fn queue(&mut self, now: Time, internal_busy: Time) {
        (self.queued, self.internal_busy) = (now, internal_busy);
    }

    /// Charges the wait for the die, which ends at `until`. `internal_busy` is the total time for which the die has worked for garbage collection or
    /// wear levelling so far.
    #[inline]
    pub fn wait(&mut self, until: Time, internal_busy: Time) {
        let waited = until - self.queued;
        let behind_gc = (internal_busy - self.internal_busy).min(waited);
        self.spent.behind_gc += behind_gc;
        self.spent.die_wait += waited - behind_gc;
    }

    /// Charges all waits up to the start of the command transfer over `path`, at `now`. `internal_busy` is the total time for which the die has
    /// worked for garbage collection or wear levelling so far.
    #[inline(always)]
    pub fn charge_issue_wait(&mut self, now: Time, path: PathWait, internal_busy: Time) {
        // The path request may be older than this transaction: made for the die, or for another transaction.
        let die_ready = path.requested_at.later(self.queued);
        let tried = path.tried.later(die_ready);
        self.wait(die_ready, internal_busy);
        self.spent.path_wait += tried - die_ready;
        self.spent.transfer += now - tried;
        if tried > die_ready {
            self.conflict.join(path.causes);
        }
    }

    /// Charges the command transfer, from `started` to `now`, when the array starts. The time for which the network blocked the transfer
    /// (`stall`) counts as path wait.
    #[inline]
    pub fn array_began(&mut self, now: Time, started: Time, stall: Stall) {
        self.spent.transfer += now - started - stall.time;
        self.stalled(stall);
        self.mark = now;
    }

    /// Ends the array work at `now`. Charges `nominal`, the array time without suspensions, to `array`. Charges the rest of the time since the array
    /// start, for which the operation was suspended, to `die_wait`.
    #[inline]
    pub fn array_ended(&mut self, now: Time, nominal: Time) {
        self.spent.array += nominal;
        self.spent.die_wait += now - self.mark - nominal;
        self.mark = now;
    }

    /// Charges the time from the end of the array work to `now`, when the transfer out of the page register starts. The register was free for this
    /// data from `free` on. `path` is the path wait of this transfer, `waited_before` the path wait already charged to earlier planes of the
    /// operation.
    #[inline(always)]
    pub fn start_data_transfer(&mut self, now: Time, free: Time, waited_before: Time, path: PathWait) {
        let PathWait { requested_at: asked, tried, causes } = path;
        // Until `free`, older data occupied the register. Then earlier planes of the operation sent their data; the path waits of these planes count
        // as path waits of this transaction too.
        self.spent.die_wait += free - self.mark;
        self.spent.transfer += asked - free - waited_before + (now - tried);
        self.spent.path_wait += waited_before + (tried - asked);
        self.conflict.join(causes);
        self.mark = now;
    }

    /// Charges the transfer of the data out of the die, which ends at `now`. The time for which the network blocked the transfer (`stall`)
    /// counts as path wait.
    #[inline]
    pub fn end_data_transfer(&mut self, now: Time, stall: Stall) {
        self.spent.transfer += now - self.mark - stall.time;
        self.stalled(stall);
    }

    /// Charges to `transfer` the time from the end of the array work to the arrival of its acknowledgement, at `now`.
    pub fn acknowledged(&mut self, now: Time) {
        self.spent.transfer += now - self.mark;
    }

    #[inline]
    fn stalled(&mut self, stall: Stall) {
        if stall.time > Time::ZERO {
            self.spent.path_wait += stall.time;
            self.conflict.insert(Cause::Link);
            if stall.is_by_another {
                self.conflict.insert_path_conflict();
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

    /// Follows a read from its start at 10 us to the end of its transfer at 200 us.
    #[test]
    fn the_parts_of_a_read_add_up_to_its_time() {
        let mut account = LatencyAccount::default();
        account.begin(us(10));
        account.charge_map_wait(us(15));
        account.queue(us(15), us(100));
        // The die is busy until 40 us, 7 us of it with GC, then the channel until 45 us.
        let command = PathWait { requested_at: us(40), tried: us(45), causes: Causes::default() };
        account.charge_issue_wait(us(46), command, us(107));
        // 4 us of command transfer, 1 us of it blocked.
        account.array_began(us(50), us(46), Stall { time: us(1), is_by_another: false });
        // 60 us of array time take 90 us, because of a suspension.
        account.array_ended(us(140), us(60));
        // The register is free at 150 us. Another plane of the operation waits 5 us for its path and transfers for 10 us first.
        let data = PathWait { requested_at: us(165), tried: us(180), causes: Causes::default() };
        account.start_data_transfer(us(181), us(150), us(5), data);
        account.end_data_transfer(us(200), NO_STALL);
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
        let mut account = LatencyAccount::default();
        account.queue(us(30), us(0));
        account.charge_issue_wait(
            us(46),
            PathWait { requested_at: us(10), tried: us(45), causes: Causes::default() },
            us(0),
        );
        let expected = LatencyBreakdown { path_wait: us(15), transfer: us(1), ..LatencyBreakdown::default() };
        assert_eq!(*account.spent(), expected);
    }

    #[test]
    fn only_transfers_that_were_in_the_way_of_something_meet_a_conflict() {
        let mut free = LatencyAccount::default();
        free.queue(us(0), us(0));
        let mut causes = Causes::default();
        causes.insert(Cause::Channel);
        free.charge_issue_wait(us(1), PathWait { requested_at: us(0), tried: us(0), causes }, us(0));
        free.array_began(us(2), us(1), NO_STALL);
        assert!(free.conflict().is_empty());
        free.end_data_transfer(us(5), Stall { time: us(1), is_by_another: true });
        assert!(free.conflict().contains(Cause::Link) && free.conflict().has_path_conflict());
    }
}
