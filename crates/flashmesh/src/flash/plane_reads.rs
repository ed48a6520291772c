//! Independent reads of the planes of a die (`flash.multi-plane = "independent"`; "independent multi-plane read" of ONFI 5).
//!
//! Each plane senses pages and holds data in a register of its own, whichever pages the other planes read. The planes share the pins of the die:
//! commands arrive one after the other, and data leaves in the order in which the pages were sensed. No plane reads while the die programs or erases.

use std::collections::VecDeque;

use crate::ids::TransactionId;
use crate::units::Time;

use super::die::{Die, DieError, DieRules, Operation};

/// State of the planes of one die.
#[derive(Clone, Debug)]
pub struct PlaneReads {
    planes: Vec<Die>,
    /// Maximum number of planes with a read in the array or a command in transfer.
    at_once_max: usize,
    /// Index in the die of the plane whose command is being transferred; `None` if no command is in transfer.
    incoming: Option<u8>,
    /// Planes with sensed data that has not left the die, in the order of sensing. A plane occurs twice while its second page waits in the array for
    /// the register.
    sensed: VecDeque<u8>,
}

impl PlaneReads {
    pub fn new(planes: u32, at_once_max: u32) -> PlaneReads {
        PlaneReads {
            planes: vec![Die::default(); planes as usize],
            at_once_max: at_once_max as usize,
            incoming: None,
            sensed: VecDeque::new(),
        }
    }

    /// Returns the state of each plane, by its index in the die.
    pub fn planes(&self) -> &[Die] {
        &self.planes
    }

    /// Returns the planes that can begin a read, as a mask with bit n for plane n of the die. Returns 0 while a command is in transfer, or
    /// while `at_once_max` planes execute a read.
    pub fn free(&self, rules: &DieRules) -> u8 {
        let at_work = self.planes.iter().filter(|plane| plane.in_progress().next().is_some()).count();
        if self.incoming.is_some() || at_work >= self.at_once_max {
            return 0;
        }
        self.planes.iter().rev().fold(0, |free, plane| free << 1 | u8::from(plane.accepts(rules)))
    }

    /// Returns whether the whole die can begin an operation: all planes are free, and no command is in transfer.
    pub fn leave_die_free(&self, rules: &DieRules) -> bool {
        self.incoming.is_none() && self.planes.iter().all(|plane| plane.accepts(rules))
    }

    /// Returns whether no plane reads or holds data.
    pub fn are_inactive(&self) -> bool {
        self.planes.iter().all(Die::is_inactive)
    }

    /// Returns whether no register holds data.
    pub fn registers_are_empty(&self) -> bool {
        self.sensed.is_empty()
    }

    /// Returns whether a command or data is being transferred, or data in a register waits for a path.
    pub fn are_moving(&self) -> bool {
        self.planes.iter().any(Die::is_moving)
    }

    /// Begins a read of `plane`, when its path has been granted and the transfer of its command begins.
    ///
    /// # Errors
    /// If the plane cannot begin a read; see [`PlaneReads::free`].
    pub fn begin(&mut self, rules: &DieRules, plane: u8, read: Operation, now: Time) -> Result<(), DieError> {
        if self.free(rules) >> plane & 1 == 0 {
            return Err(DieError::Busy(Time::MAX));
        }
        self.incoming = Some(plane);
        self.planes[usize::from(plane)].begin(rules, read, now)
    }

    /// Starts the array of the plane whose command has arrived. Returns the index of the plane, its read, and the end of the read in the array.
    ///
    /// # Errors
    /// If no command was in transfer.
    pub fn start_array(&mut self, now: Time) -> Result<(u8, &Operation, Time), DieError> {
        let plane = self.incoming.take().ok_or(DieError::WrongPhase)?;
        let (read, until) = self.planes[usize::from(plane)].start_array(now)?;
        Ok((plane, read, until))
    }

    /// Returns the index of the plane whose command is being transferred; `None` if no command is in transfer.
    pub fn incoming(&self) -> Option<u8> {
        self.incoming
    }

    /// Returns the index of a plane whose read ends at `now`; `None` if there is none.
    pub fn ending(&self, now: Time) -> Option<u8> {
        self.planes.iter().position(|plane| plane.ends_at(now)).map(|plane| plane as u8)
    }

    /// Ends the read in the array of `plane`. The data moves to the register if it is empty, and otherwise waits in the array.
    ///
    /// # Errors
    /// If the plane senses no page, or if its read ends after `now`.
    pub fn finish_array(&mut self, plane: u8, now: Time) -> Result<&Operation, DieError> {
        self.sensed.push_back(plane);
        self.planes[usize::from(plane)].finish_array(now)
    }

    fn front(&self) -> Option<&Die> {
        Some(&self.planes[usize::from(*self.sensed.front()?)])
    }

    fn front_mut(&mut self) -> Option<&mut Die> {
        Some(&mut self.planes[usize::from(*self.sensed.front()?)])
    }

    /// Returns the index of the plane whose data leaves the die next; `None` if no sensed data is left.
    pub fn sending(&self) -> Option<u8> {
        self.sensed.front().copied()
    }

    pub fn outgoing(&self) -> Option<TransactionId> {
        self.front()?.outgoing()
    }

    /// Returns whether the data that leaves the die next belongs to garbage collection or wear levelling.
    pub fn is_sending_internal(&self) -> bool {
        self.front().is_some_and(Die::is_sending_internal)
    }

    /// Like [`Die::count_path_wait`], for the data that leaves the die next.
    ///
    /// # Errors
    /// If all registers are empty.
    pub fn count_path_wait(&mut self, waited: Time) -> Result<(Time, Time), DieError> {
        self.front_mut().ok_or(DieError::WrongPhase)?.count_path_wait(waited)
    }

    /// Like [`Die::mark_sending`], for the data that leaves the die next.
    pub fn mark_sending(&mut self) -> bool {
        self.front_mut().is_some_and(Die::mark_sending)
    }

    /// Removes the data that was just sent from its register. Returns the index of the plane, and the transaction of the data.
    ///
    /// # Errors
    /// If all registers are empty.
    pub fn finish_sending(&mut self, now: Time) -> Result<(u8, TransactionId), DieError> {
        let plane = self.sensed.pop_front().ok_or(DieError::WrongPhase)?;
        Ok((plane, self.planes[usize::from(plane)].finish_sending(now)?))
    }

    /// Like [`Die::finish_sending_part`], for the data that leaves the die next.
    ///
    /// # Errors
    /// If all registers are empty.
    pub fn finish_sending_part(&mut self, rest: TransactionId) -> Result<TransactionId, DieError> {
        self.front_mut().ok_or(DieError::WrongPhase)?.finish_sending_part(rest)
    }
}
