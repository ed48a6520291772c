//! A die that holds its path through the operation of the array (`fabric.hold-path`).

use crate::ids::DieId;
use crate::units::Time;

use super::{Message, Payload, TransferPhase};

/// Who holds a path, and what for.
#[derive(Clone, Copy, Debug)]
pub(super) struct Holding {
    pub(super) die: DieId,
    /// What moves now, and since when.
    moving: Option<(TransferPhase, Time)>,
    /// What it has asked for while something moves, in the order of asking: a command and data at most.
    next: [Option<TransferPhase>; 2],
    /// Planes whose data has yet to leave.
    owed: u32,
    /// Whether the array works for a program or an erase.
    works: bool,
}

impl Holding {
    /// `die` has just got its path.
    pub(super) fn new(die: DieId) -> Holding {
        Holding { die, moving: None, next: [None; 2], owed: 0, works: false }
    }

    /// The die asks for the path that it holds; gives whether it may move something at once.
    pub(super) fn asks(&mut self, phase: TransferPhase) -> bool {
        if self.moving.is_none() {
            return true;
        }
        let free = self.next.iter_mut().find(|next| next.is_none());
        *free.expect("a die asks once for a command and once for data") = Some(phase);
        false
    }

    /// Something moves from `now` on.
    pub(super) fn moves(&mut self, phase: TransferPhase, now: Time) {
        self.moving = Some((phase, now));
    }

    /// What moves now is known.
    pub(super) fn sends(&mut self, payload: Payload) {
        match payload.message {
            Message::Read => self.owed += payload.planes,
            Message::Data | Message::Copy => self.owed = self.owed.saturating_sub(payload.planes),
            Message::Program | Message::Erase | Message::Copyback => self.works = true,
        }
    }

    /// It has arrived; gives since when it moved.
    pub(super) fn arrives(&mut self) -> Option<Time> {
        self.moving.take().map(|(_, since)| since)
    }

    /// Whether the array works, or the controller has not been told that it is done.
    pub(super) fn works(&self) -> bool {
        self.works
    }

    /// The array is done with a program or an erase; gives whether nothing moves.
    pub(super) fn works_no_more(&mut self) -> bool {
        self.works = false;
        self.moving.is_none()
    }

    /// What moves next.
    pub(super) fn take_next(&mut self) -> Option<TransferPhase> {
        let [next, behind] = self.next;
        self.next = [behind, None];
        next
    }

    /// Whether the die needs its path no longer.
    pub(super) fn is_over(&self) -> bool {
        self.moving.is_none() && self.next[0].is_none() && self.owed == 0 && !self.works
    }
}
