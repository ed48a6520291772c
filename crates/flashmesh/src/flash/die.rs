//! State of one die: at most one array operation at a time, and read data in the page register.
//!
//! A read ends with its data in the register. The die stays busy until the data has left, unless `read-cache` frees the array at once. A program or
//! an erase may be suspended for reads; a suspended operation keeps its progress.

use crate::config::Suspension;
use crate::ids::TransactionId;
use crate::units::Time;

use super::geometry::PLANES_PER_DIE_MAX;
pub use super::operation::{Extent, Operation, OperationKind, PlaneTransactions};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ArrayState {
    Idle,
    /// The command is being transferred to the die; for a program, also its data.
    Incoming,
    Busy,
    /// A read has ended, but its data stays in the array, because the page register still holds older data.
    Holding,
}

/// Timer of a condition of the die, such as busy: the total time for which the condition was true, and whether it is true now.
///
/// Updates have no branches, which would often be mispredicted because the operations of a die are random.
#[derive(Clone, Copy, Debug, Default)]
struct ConditionTimer {
    is_on: bool,
    /// Sum of the times at which the condition ended, minus the sum of the times at which it began; in picoseconds, modulo 2^64.
    ended_less_begun: u64,
}

impl ConditionTimer {
    #[inline(always)]
    fn mark(&mut self, is_on: bool, now: Time) {
        let ends = u64::from(self.is_on).wrapping_sub(u64::from(is_on));
        self.ended_less_begun = self.ended_less_begun.wrapping_add(now.as_ps().wrapping_mul(ends));
        self.is_on = is_on;
    }

    #[inline(always)]
    fn until(&self, now: Time) -> Time {
        Time::from_ps(self.ended_less_begun.wrapping_add(now.as_ps() * u64::from(self.is_on)))
    }
}

#[derive(Clone, Copy, Debug)]
struct Suspended {
    operation: Operation,
    /// Time of the next point of suspension, at which the operation stops. Until then, the array keeps working.
    at: Time,
    /// Array time that the operation still needs after `at`.
    remaining: Time,
    times: u32,
}

#[derive(Clone, Copy, Debug)]
struct PageRegister {
    /// Transactions of the operation that filled the register, one per plane; none if the register is empty.
    planes: PlaneTransactions,
    internal: bool,
    /// Number of planes whose data has left the register.
    left: u32,
    sending: bool,
    since: Time,
    /// Total path wait of the data sent from this register since it was filled, including the data that is being sent.
    path_wait: Time,
}

impl PageRegister {
    const EMPTY: PageRegister = PageRegister {
        planes: PlaneTransactions::NONE,
        internal: false,
        left: 0,
        sending: false,
        since: Time::ZERO,
        path_wait: Time::ZERO,
    };

    #[inline(always)]
    fn is_empty(&self) -> bool {
        self.planes.count == 0
    }

    #[inline(always)]
    fn fill(&mut self, operation: &Operation, since: Time) {
        let Operation { planes, internal, .. } = *operation;
        *self = PageRegister { planes, internal, left: 0, sending: false, since, path_wait: Time::ZERO };
    }
}

/// A reason why a die rejects a call: the state of the die, or the time of the call, does not allow it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DieError {
    /// The die is busy until this time; [`Time::MAX`] if the end is unknown.
    #[error("the die is busy until {0}")]
    Busy(Time),
    /// The die is not in the phase that the call requires.
    #[error("the die is not in the phase that was asked to go on")]
    WrongPhase,
    /// The operation cannot be suspended now; see [`Die::may_suspend`].
    #[error("the operation cannot be suspended")]
    NotSuspendable,
}

#[derive(Clone, Debug)]
pub struct DieRules {
    /// Whether the array can start another operation as soon as its read data is in the register (`read-cache`).
    pub read_cache: bool,
    pub suspension: Suspension,
    pub suspensions_max: u32,
    /// Interval between the points at which an operation can be suspended; zero if it can be suspended at any time.
    pub suspend_interval: Time,
    /// Minimum remaining array time for a suspension: an operation with this time or less left at its point of suspension is not suspended.
    pub suspend_remaining_min: Time,
}

#[derive(Clone, Debug)]
pub struct Die {
    array: ArrayState,
    /// Copy of `suspended.is_some()`, stored beside the fields that most checks read, so that a check touches one cache line.
    is_suspended: bool,
    /// Start (`since`) and end (`until`) of the operation in the array; valid while the array is busy.
    since: Time,
    until: Time,
    /// Operation in the array; valid unless the array is idle.
    operation: Operation,
    register: PageRegister,
    busy: ConditionTimer,
    internal: ConditionTimer,
    /// Number of times that the current operation has been suspended so far.
    suspensions: u32,
    suspended: Option<Box<Suspended>>,
}

impl Default for Die {
    fn default() -> Self {
        Die {
            array: ArrayState::Idle,
            is_suspended: false,
            since: Time::ZERO,
            until: Time::ZERO,
            operation: Operation::empty(),
            register: PageRegister::EMPTY,
            busy: ConditionTimer::default(),
            internal: ConditionTimer::default(),
            suspensions: 0,
            suspended: None,
        }
    }
}

impl Die {
    /// Returns whether the die can begin an operation: the array is idle, and the register is empty or `read-cache` is on.
    #[inline(always)]
    pub fn accepts(&self, rules: &DieRules) -> bool {
        self.array == ArrayState::Idle && (self.register.is_empty() || rules.read_cache)
    }

    /// Returns whether the die can begin an operation and no operation is suspended.
    #[inline]
    pub fn is_free(&self, rules: &DieRules) -> bool {
        self.accepts(rules) && !self.is_suspended
    }

    #[inline]
    pub fn is_idle(&self) -> bool {
        self.is_inactive() && !self.is_suspended
    }

    /// Returns whether the array is idle and the register empty, even if an operation is suspended.
    #[inline]
    pub fn is_inactive(&self) -> bool {
        self.array == ArrayState::Idle && self.register.is_empty()
    }

    #[inline]
    pub fn is_internal_busy(&self) -> bool {
        self.array != ArrayState::Idle && self.operation.internal
    }

    #[inline]
    pub fn has_suspended_internal(&self) -> bool {
        self.suspended.as_ref().is_some_and(|suspended| suspended.operation.internal)
    }

    pub fn in_progress(&self) -> impl Iterator<Item = &Operation> {
        let works = matches!(self.array, ArrayState::Incoming | ArrayState::Busy);
        let suspended = self.suspended.as_ref().map(|suspended| &suspended.operation);
        works.then_some(&self.operation).into_iter().chain(suspended)
    }

    /// Returns the transaction whose data leaves the register next. If the register is empty, returns the first transaction of the operation in the
    /// array, otherwise that of the suspended operation; `None` if there is none.
    #[inline]
    pub fn first_in_progress(&self) -> Option<TransactionId> {
        if !self.register.is_empty() {
            return self.outgoing();
        }
        match self.array {
            ArrayState::Incoming | ArrayState::Busy => Some(self.operation.planes.transactions[0]),
            ArrayState::Idle | ArrayState::Holding if !self.is_suspended => None,
            ArrayState::Idle | ArrayState::Holding => {
                self.in_progress().next().map(|operation| operation.planes.transactions[0])
            }
        }
    }

    /// Returns the number of transactions in the array, in the register, or suspended.
    pub fn outstanding(&self) -> usize {
        let works = if self.array == ArrayState::Holding { self.operation.transactions().len() } else { 0 };
        let under_way: usize = self.in_progress().map(|operation| operation.transactions().len()).sum();
        works + under_way + self.register.planes.count.saturating_sub(self.register.left) as usize
    }

    /// Returns whether a command or data is being transferred, or read data in the register waits for a path.
    pub fn is_moving(&self) -> bool {
        self.array == ArrayState::Incoming || self.register.sending
    }

    #[inline]
    pub fn has_suspended(&self) -> bool {
        self.is_suspended
    }

    /// Returns whether the operation in the array may be suspended at `now`.
    #[inline]
    pub fn may_suspend(&self, rules: &DieRules, now: Time) -> bool {
        let allowed = match self.operation.kind {
            OperationKind::Program => matches!(rules.suspension, Suspension::Program | Suspension::Both),
            OperationKind::Erase => matches!(rules.suspension, Suspension::Erase | Suspension::Both),
            OperationKind::Read | OperationKind::Copyback => false,
        };
        self.array == ArrayState::Busy
            && allowed
            && !self.is_suspended
            && self.register.is_empty()
            && self.suspensions < rules.suspensions_max
            && now >= self.since
            && self.until.saturating_sub(now + self.until_suspend_point(rules, now)) > rules.suspend_remaining_min
    }

    /// Returns the time from `now` until the operation in the array reaches a point at which it can be suspended.
    #[inline]
    fn until_suspend_point(&self, rules: &DieRules, now: Time) -> Time {
        let interval = rules.suspend_interval.as_ps();
        if interval == 0 {
            return Time::ZERO;
        }
        let worked = (self.operation.array_time - self.until.saturating_sub(now)).as_ps();
        Time::from_ps(worked.next_multiple_of(interval) - worked)
    }

    /// Suspends the running operation. The array keeps working until the next point of suspension of the operation; returns the duration from `now`
    /// until that point. The die accepts another operation from `now` on.
    ///
    /// # Errors
    /// If [`Die::may_suspend`] is false.
    pub fn suspend(&mut self, rules: &DieRules, now: Time) -> Result<Time, DieError> {
        if !self.may_suspend(rules, now) {
            return Err(DieError::NotSuspendable);
        }
        let works_on = self.until_suspend_point(rules, now);
        let (operation, at, times) = (self.operation, now + works_on, self.suspensions + 1);
        self.suspended = Some(Box::new(Suspended { operation, at, remaining: self.until - at, times }));
        self.is_suspended = true;
        self.array = ArrayState::Idle;
        self.mark(now);
        Ok(works_on)
    }

    /// Resumes the suspended operation. The array continues `resume_time` after `now`, or after the point of suspension if this is later; see
    /// [`since`](Self::since). Returns the time at which the operation ends.
    ///
    /// # Errors
    /// If the die does not accept an operation, or no operation is suspended.
    pub fn resume(&mut self, rules: &DieRules, now: Time, resume_time: Time) -> Result<Time, DieError> {
        if !self.accepts(rules) {
            return Err(self.busy_error());
        }
        let Suspended { operation, at, remaining, times } = *self.suspended.take().ok_or(DieError::WrongPhase)?;
        self.is_suspended = false;
        self.since = now.max(at) + resume_time;
        self.until = self.since + remaining;
        self.operation = operation;
        self.array = ArrayState::Busy;
        self.suspensions = times;
        self.mark(now);
        Ok(self.until)
    }

    /// Returns the time at which the array began or resumed the current operation. The array must be busy.
    pub fn since(&self) -> Time {
        self.since
    }

    /// Begins an operation at `now`, when its path has been granted and the transfer of its command begins.
    ///
    /// # Errors
    /// If the die is busy.
    #[inline(always)]
    pub fn begin(&mut self, rules: &DieRules, operation: Operation, now: Time) -> Result<(), DieError> {
        if !self.accepts(rules) {
            return Err(self.busy_error());
        }
        self.operation = operation;
        self.array = ArrayState::Incoming;
        self.suspensions = 0;
        self.mark(now);
        Ok(())
    }

    /// Starts the array, after the command and any program data have arrived. Returns the operation, and its end: `now` +
    /// [`array_time`](Operation::array_time).
    ///
    /// # Errors
    /// If no operation has begun.
    #[inline(always)]
    pub fn start_array(&mut self, now: Time) -> Result<(&Operation, Time), DieError> {
        if self.array != ArrayState::Incoming {
            return Err(DieError::WrongPhase);
        }
        self.since = now;
        self.until = now + self.operation.array_time;
        self.array = ArrayState::Busy;
        Ok((&self.operation, self.until))
    }

    /// Returns whether the operation in the array ends at `now`. Returns false for a stale end event, which was scheduled before a suspension.
    #[inline]
    pub fn ends_at(&self, now: Time) -> bool {
        self.array == ArrayState::Busy && self.until == now
    }

    /// Ends the operation in the array. Read data moves to the register if it is empty, and otherwise waits in the array.
    ///
    /// # Errors
    /// If the array is not busy, or before the end of the operation.
    #[inline(always)]
    pub fn finish_array(&mut self, now: Time) -> Result<&Operation, DieError> {
        if self.array != ArrayState::Busy {
            return Err(DieError::WrongPhase);
        }
        if now < self.until {
            return Err(DieError::Busy(self.until));
        }
        if self.operation.kind != OperationKind::Read {
            self.array = ArrayState::Idle;
            self.mark(now);
        } else if self.register.is_empty() {
            // The timers of busy time need no update: the read only moves from the array to the register, so the die stays busy.
            self.register.fill(&self.operation, now);
            self.array = ArrayState::Idle;
        } else {
            self.array = ArrayState::Holding;
        }
        Ok(&self.operation)
    }

    #[inline(always)]
    pub fn outgoing(&self) -> Option<TransactionId> {
        let register = &self.register;
        (!register.is_empty()).then(|| register.planes.transactions[register.left as usize % PLANES_PER_DIE_MAX])
    }

    /// Returns the transaction whose data leaves the register last; `None` while data of other planes is still in the register, or if there is none.
    #[inline]
    pub fn last_outgoing(&self) -> Option<TransactionId> {
        self.outgoing().filter(|_| self.register.planes.count - self.register.left == 1)
    }

    /// Returns the transactions of the sensed pages: those in the register, including planes already sent, and those whose data waits in the array
    /// for the register.
    pub fn sensed(&self) -> impl Iterator<Item = &TransactionId> {
        let waiting = if self.array == ArrayState::Holding { self.operation.transactions() } else { &[] };
        self.register.planes.transactions().iter().chain(waiting)
    }

    #[inline]
    pub fn is_sending_internal(&self) -> bool {
        !self.register.is_empty() && self.register.internal
    }

    /// Charges `waited`, the path wait of the data that is sent next, to the register. Returns the time at which the register was filled, and the
    /// path wait charged since then, without `waited`.
    ///
    /// # Errors
    /// If the register is empty.
    #[inline(always)]
    pub fn count_path_wait(&mut self, waited: Time) -> Result<(Time, Time), DieError> {
        if self.register.is_empty() {
            return Err(DieError::WrongPhase);
        }
        let before = self.register.path_wait;
        self.register.path_wait += waited;
        Ok((self.register.since, before))
    }

    /// Marks the data in the register as being sent or waiting for a path. Returns `false` if it is already marked, or the register is empty.
    #[inline(always)]
    pub fn mark_sending(&mut self) -> bool {
        let begins = !self.register.is_empty() && !self.register.sending;
        self.register.sending |= begins;
        begins
    }

    /// Removes the data of the plane that was just sent from the register. Returns the transaction of this plane.
    ///
    /// # Errors
    /// If the register is empty.
    #[inline(always)]
    pub fn finish_sending(&mut self, now: Time) -> Result<TransactionId, DieError> {
        let left = self.outgoing().ok_or(DieError::WrongPhase)?;
        self.register.left += 1;
        self.register.sending = false;
        if self.register.left == self.register.planes.count {
            self.register.planes.count = 0;
            if self.array == ArrayState::Holding {
                self.register.fill(&self.operation, now);
                self.array = ArrayState::Idle;
            }
            self.mark(now);
        }
        Ok(left)
    }

    /// Records that a part of the data of one plane was sent. The other part stays in the register, as the data of transaction `rest`.
    /// Returns the transaction of the part that was sent.
    ///
    /// # Errors
    /// If the register is empty.
    pub fn finish_sending_part(&mut self, rest: TransactionId) -> Result<TransactionId, DieError> {
        let left = self.outgoing().ok_or(DieError::WrongPhase)?;
        self.register.planes.transactions[self.register.left as usize] = rest;
        self.register.sending = false;
        Ok(left)
    }

    pub fn busy(&self, now: Time) -> Time {
        self.busy.until(now)
    }

    #[inline(always)]
    pub fn internal_busy(&self, now: Time) -> Time {
        self.internal.until(now)
    }

    fn busy_error(&self) -> DieError {
        match self.array {
            ArrayState::Busy => DieError::Busy(self.until),
            _ => DieError::Busy(Time::MAX),
        }
    }

    /// Updates the timers of busy time after a change of state at `now`.
    #[inline(always)]
    fn mark(&mut self, now: Time) {
        let (in_array, in_register) = (self.array != ArrayState::Idle, !self.register.is_empty());
        let internal = (in_array & self.operation.internal) | (in_register & self.register.internal);
        self.busy.mark(in_array | in_register, now);
        self.internal.mark(internal, now);
    }
}
