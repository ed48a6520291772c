//! Messages of a command on their way to the drive that need no event of their own.
//!
//! Nothing but the wires and the queues is looked at between a doorbell and the arrival of its command. So the doorbell, the request for the entry, the
//! entry, and for a write the request for its data, are no events: they are kept in the order in which each wire carries them, and caught up with
//! before anything else is sent or counted. What they do is what events at those times would have done. Only the [arrival](arrivals) of the next command
//! is an event.
//!
//! Where the host takes each completion and issues its next command at once, and does nothing else, all that it sends answers what it receives, in the
//! order of that. So the host answers as soon as the drive sends: when what it receives is there is known then. The first completion that is answered by
//! no command ends that.

mod arrivals;

use crate::engine::ring::Ring;
use crate::host::link::{Direction, Message};
use crate::ids::StreamId;
use crate::units::{Bytes, Time};

use super::{Command, Doorbells, EventSink, Nvme};

/// What crosses the link for a command.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Leg {
    /// To the drive, which hears of the command.
    #[default]
    Doorbell,
    /// To the host, which sends the entry.
    EntryRequest,
    /// To the drive, which asks for the data.
    EntryOfWrite,
    /// To the host, which sends the data.
    DataRequest,
}

/// A message that arrives at `at`.
#[derive(Clone, Copy, Debug, Default)]
struct InFlight {
    at: Time,
    leg: Leg,
    command: Command,
}

/// Messages on their way by wire, and the commands that have been sent whole, with the times of their arrival.
#[derive(Clone, Debug)]
pub(super) struct Ahead {
    /// When the first of the messages arrives.
    next: Time,
    to_drive: Ring<InFlight>,
    /// Nothing while the host answers at once.
    to_host: Ring<InFlight>,
    /// Numbers of requests.
    arriving: Ring<(Time, u32)>,
    /// The least time that a message takes by which a command is in the drive.
    least: Time,
    /// For when the next arrival is scheduled.
    expected: Time,
    answers_at_once: bool,
}

impl Default for Ahead {
    fn default() -> Ahead {
        Ahead {
            next: Time::MAX,
            to_drive: Ring::default(),
            to_host: Ring::default(),
            arriving: Ring::default(),
            least: Time::ZERO,
            expected: Time::MAX,
            answers_at_once: false,
        }
    }
}

impl Ahead {
    /// The first message at either end, if there is one.
    #[inline(always)]
    fn first(&self) -> (Time, Time) {
        let at = |ring: &Ring<InFlight>| ring.front().map_or(Time::MAX, |first| first.at);
        (at(&self.to_drive), at(&self.to_host))
    }

    /// Messages have been sent.
    #[inline(always)]
    fn note_sent(&mut self) {
        let (to_drive, to_host) = self.first();
        self.next = to_drive.min(to_host);
    }
}

impl Nvme {
    /// Runs ahead from now on; nothing is under way. Messages that take no time are events, since others of the same time may come between.
    pub(in super::super) fn run_ahead(&mut self) {
        self.is_ahead = self.messages.take_time();
        self.ahead.least = self.messages.submission.time.min(self.link.message(Bytes::new(1)).time);
    }

    /// Whether arrivals are asked for with [`Nvme::arrived`].
    pub fn is_ahead(&self) -> bool {
        self.is_ahead
    }

    /// The host, which has at most `queue_depth` commands of each stream out, does nothing but to take completions and to issue a command for each.
    /// False where that is not known when a completion is sent: messages are events, completions are held back, or commands are under way.
    pub(in super::super) fn answer_at_once(&mut self, queue_depth: u32) -> bool {
        let has_begun = self.doorbells != Doorbells::default();
        self.ahead.answers_at_once = self.is_ahead && !has_begun && self.limits.completion_depth >= queue_depth;
        self.ahead.answers_at_once
    }

    /// The completion that was posted last, and those after it, are taken when they are at the host.
    pub fn answer_by_events(&mut self, stream: StreamId) {
        if self.ahead.answers_at_once {
            self.ahead.answers_at_once = false;
            self.queues[stream.index()].posted += 1;
        }
    }

    /// Whether completions are taken when they are sent: there is always a place for them in their queue.
    #[inline(always)]
    pub(super) fn answers_at_once(&self) -> bool {
        self.ahead.answers_at_once
    }

    /// Does what came before all that the drive does at `now`.
    #[inline(always)]
    pub(in super::super) fn catch_up_before(&mut self, now: Time) {
        let before = now.saturating_sub(Time::from_ps(1));
        self.catch_up(before, before);
    }

    /// Does what came before the host does anything at `now`.
    #[inline(always)]
    pub(super) fn catch_up_to(&mut self, now: Time) {
        self.catch_up(now, now);
    }

    /// Does what arrived at the drive and at the host up to these times, which are included, in the order of time. Of one time the drive comes first.
    #[inline(always)]
    fn catch_up(&mut self, at_drive: Time, at_host: Time) {
        if self.ahead.next <= at_drive {
            self.pass_messages(at_drive, at_host);
        }
    }

    #[inline(never)]
    fn pass_messages(&mut self, at_drive: Time, at_host: Time) {
        if self.ahead.answers_at_once {
            return self.pass_to_drive(at_drive);
        }
        loop {
            let (to_drive, to_host) = self.ahead.first();
            if to_drive <= to_host && to_drive <= at_drive {
                self.reached_drive();
            } else if to_host < to_drive && to_host <= at_host {
                let message = self.ahead.to_host.take_first();
                self.answer(message);
            } else {
                self.ahead.next = to_drive.min(to_host);
                return;
            }
        }
    }

    /// As [`Nvme::pass_messages`], where none is on its way to the host.
    #[inline(always)]
    fn pass_to_drive(&mut self, at_drive: Time) {
        while let Some(first) = self.ahead.to_drive.front() {
            if first.at > at_drive {
                self.ahead.next = first.at;
                return;
            }
            self.reached_drive();
        }
        self.ahead.next = Time::MAX;
    }

    #[inline(always)]
    fn reached_drive(&mut self) {
        let InFlight { at, leg, command } = self.ahead.to_drive.take_first();
        if leg == Leg::EntryOfWrite {
            return self.ask(Leg::DataRequest, command, at);
        }
        // No command waits to be fetched, and this one finds room.
        if self.known > 0 || !self.has_room(command.stream) {
            return self.hear_of(command, at);
        }
        self.queues[command.stream.index()].in_drive += 1;
        self.in_drive += 1;
        // A single queue needs no arbitration.
        if self.queues.len() > 1 {
            self.arbiter.take_only(command.stream, self.in_drive < self.limits.commands_max);
        }
        self.ask(Leg::EntryRequest, command, at);
    }

    /// Whether a command of a queue may be in the drive besides those that are.
    #[inline(always)]
    fn has_room(&self, stream: StreamId) -> bool {
        self.in_drive < self.limits.commands_max
            && self.queues[stream.index()].in_drive < u64::from(self.limits.fetch_size)
    }

    /// The drive hears of a command, and fetches what it has room for.
    #[inline(never)]
    fn hear_of(&mut self, command: Command, at: Time) {
        self.queues[command.stream.index()].submitted.push_back(command);
        self.heard_of(command.stream);
        while let Some(command) = self.take_known() {
            self.ask(Leg::EntryRequest, command, at);
        }
    }

    /// The drive sends a request for what the host has of a command.
    #[inline(always)]
    fn ask(&mut self, leg: Leg, command: Command, now: Time) {
        let at = self.link.send(Direction::ToHost, self.messages.read_request, now);
        let message = InFlight { at, leg, command };
        if self.ahead.answers_at_once {
            self.answer(message);
        } else {
            self.ahead.to_host.push_back(message);
        }
    }

    /// The host sends what it was asked for.
    #[inline(always)]
    fn answer(&mut self, InFlight { at, leg, command }: InFlight) {
        let arrives = if leg == Leg::EntryRequest {
            let at = self.link.send(Direction::ToDrive, self.messages.submission, at);
            if command.data > Bytes::ZERO {
                self.ahead.to_drive.push_back(InFlight { at, leg: Leg::EntryOfWrite, command });
                return;
            }
            at
        } else {
            self.link.send_data(Direction::ToDrive, command.data, at)
        };
        self.ahead.arriving.push_back((arrives, command.request.0));
    }

    /// The host issues a command: it sends `doorbell`.
    #[inline(always)]
    fn ring<A: EventSink>(&mut self, command: Command, doorbell: Message, now: Time, events: &mut A) {
        self.doorbells.submission += 1;
        let at = self.link.send(Direction::ToDrive, doorbell, now);
        self.ahead.to_drive.push_back(InFlight { at, leg: Leg::Doorbell, command });
        self.ahead.next = self.ahead.next.min(at);
        self.expect_after_doorbell(command, at, events);
    }

    /// The host issues a command.
    #[inline(always)]
    pub(super) fn issue_ahead<A: EventSink>(&mut self, command: Command, now: Time, events: &mut A) {
        self.ring(command, self.messages.doorbell, now, events);
    }

    /// The host will take a completion at `at`, which has been sent, and issue a command of the same queue then.
    #[inline(never)]
    pub fn answer_completion<A: EventSink>(&mut self, command: Command, at: Time, events: &mut A) {
        self.doorbells.completion += 1;
        self.ring(command, self.messages.both_doorbells, at, events);
    }

    /// The drive fetches a command.
    #[inline]
    pub(super) fn fetch_ahead(&mut self, command: Command, now: Time) {
        self.ask(Leg::EntryRequest, command, now);
        self.ahead.note_sent();
    }
}

#[cfg(test)]
mod tests;
