//! Messages of a command on their way to the drive that need no event of their own.
//!
//! Nothing but the wires and the queues is looked at between a doorbell and the arrival of its command. So the doorbell, the request for the entry, the
//! entry, and for a write the request for its data, are no events: they are kept in the order in which each wire carries them, and caught up with
//! before anything else is sent or counted. What they do is what events at those times would have done. Only the [arrival](arrivals) of the next command
//! is an event.
//!
//! A reactive host takes each completion, issues one command for it, and does nothing else. What it sends follows from what it receives, in the same
//! order, and the arrival of that is known when the drive sends it. So the messages of the host are sent then, with the times at which it sends them. The
//! first completion for which the host issues no command ends this.

mod arrivals;

use crate::engine::ring::Ring;
use crate::host::link::{Direction, Message};
use crate::ids::StreamId;
use crate::units::{Bytes, Time};

use super::{Command, Doorbells, EventSink, Nvme};

/// The kind of a message for a command.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Kind {
    /// To the drive: there is a new command.
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
    kind: Kind,
    command: Command,
}

/// Messages on their way by wire, and the commands that have been sent whole, with the times of their arrival.
#[derive(Clone, Debug)]
pub(super) struct Ahead {
    /// When the first of the messages arrives.
    next: Time,
    to_drive: Ring<InFlight>,
    /// Empty while the host is reactive.
    to_host: Ring<InFlight>,
    /// Numbers of requests.
    arriving: Ring<(Time, u32)>,
    /// The least time that a message takes by which a command is in the drive.
    least: Time,
    /// For when the next arrival is scheduled.
    expected: Time,
    /// Whether the host is reactive.
    is_reactive: bool,
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
            is_reactive: false,
        }
    }
}

impl Ahead {
    /// When the first message arrives at the drive, and at the host; never where none is under way.
    #[inline(always)]
    fn first(&self) -> (Time, Time) {
        let at = |ring: &Ring<InFlight>| ring.front().map_or(Time::MAX, |first| first.at);
        (at(&self.to_drive), at(&self.to_host))
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

    /// The host is reactive from now on, with at most `queue_depth` commands of a stream outstanding. Gives false, and changes nothing, where messages are
    /// events, a completion queue may be full, or a command was issued before.
    pub(in super::super) fn begin_reactive(&mut self, queue_depth: u32) -> bool {
        let has_begun = self.doorbells != Doorbells::default();
        self.ahead.is_reactive = self.is_ahead && !has_begun && self.limits.completion_depth >= queue_depth;
        self.ahead.is_reactive
    }

    /// The host is reactive no more: the completion posted last, of `stream`, and those after it are events.
    pub fn end_reactive(&mut self, stream: StreamId) {
        self.ahead.is_reactive = false;
        // Completions taken by a reactive host are not counted.
        self.queues[stream.index()].posted += 1;
    }

    /// Whether the host is reactive.
    #[inline(always)]
    pub(super) fn is_reactive(&self) -> bool {
        self.ahead.is_reactive
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
        if self.ahead.is_reactive {
            return self.pass_to_drive(at_drive);
        }
        loop {
            let (to_drive, to_host) = self.ahead.first();
            if to_drive <= to_host && to_drive <= at_drive {
                self.reached_drive();
            } else if to_host < to_drive && to_host <= at_host {
                let message = self.ahead.to_host.take_first();
                self.serve(message);
            } else {
                self.ahead.next = to_drive.min(to_host);
                return;
            }
        }
    }

    /// [`Nvme::pass_messages`] with a reactive host, to which no message is on its way.
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
        let InFlight { at, kind, command } = self.ahead.to_drive.take_first();
        if kind == Kind::EntryOfWrite {
            return self.request(Kind::DataRequest, command, at);
        }
        // No command waits to be fetched, and this one finds room.
        if self.known > 0 || !self.has_room(command.stream) {
            return self.queue_in_drive(command, at);
        }
        self.queues[command.stream.index()].in_drive += 1;
        self.in_drive += 1;
        // A single queue needs no arbitration.
        if self.queues.len() > 1 {
            self.arbiter.take_only(command.stream, self.in_drive < self.limits.commands_max);
        }
        self.request(Kind::EntryRequest, command, at);
    }

    /// Whether a command of a queue may be in the drive besides those that are.
    #[inline(always)]
    fn has_room(&self, stream: StreamId) -> bool {
        self.in_drive < self.limits.commands_max
            && self.queues[stream.index()].in_drive < u64::from(self.limits.fetch_size)
    }

    /// A command joins those known to the drive, which fetches as many as it has room for.
    #[inline(never)]
    fn queue_in_drive(&mut self, command: Command, at: Time) {
        self.queues[command.stream.index()].submitted.push_back(command);
        self.heard_of(command.stream);
        while let Some(command) = self.take_known() {
            self.request(Kind::EntryRequest, command, at);
        }
    }

    /// The drive sends a read request for the entry or the data of a command.
    #[inline(always)]
    fn request(&mut self, kind: Kind, command: Command, now: Time) {
        let at = self.link.send(Direction::ToHost, self.messages.read_request, now);
        let message = InFlight { at, kind, command };
        if self.ahead.is_reactive {
            self.serve(message);
        } else {
            self.ahead.to_host.push_back(message);
        }
    }

    /// The host sends the entry or the data that was requested.
    #[inline(always)]
    fn serve(&mut self, InFlight { at, kind, command }: InFlight) {
        let arrives = if kind == Kind::EntryRequest {
            let at = self.link.send(Direction::ToDrive, self.messages.submission, at);
            if command.data > Bytes::ZERO {
                self.ahead.to_drive.push_back(InFlight { at, kind: Kind::EntryOfWrite, command });
                return;
            }
            at
        } else {
            self.link.send_data(Direction::ToDrive, command.data, at)
        };
        self.ahead.arriving.push_back((arrives, command.request.0));
    }

    /// The host issues a command at `now`, by a message of one doorbell or of two.
    #[inline(always)]
    fn ring<A: EventSink>(&mut self, command: Command, doorbell: Message, now: Time, events: &mut A) {
        self.doorbells.submission += 1;
        let at = self.link.send(Direction::ToDrive, doorbell, now);
        self.ahead.to_drive.push_back(InFlight { at, kind: Kind::Doorbell, command });
        self.ahead.next = self.ahead.next.min(at);
        self.expect_after_doorbell(command, at, events);
    }

    /// The host issues a command.
    #[inline(always)]
    pub(super) fn issue_ahead<A: EventSink>(&mut self, command: Command, now: Time, events: &mut A) {
        self.ring(command, self.messages.doorbell, now, events);
    }

    /// A reactive host issues a command at `at`, on a completion of the same queue: it rings the submission doorbell after the completion doorbell.
    #[inline(never)]
    pub fn issue_on_completion<A: EventSink>(&mut self, command: Command, at: Time, events: &mut A) {
        self.doorbells.completion += 1;
        self.ring(command, self.messages.both_doorbells, at, events);
    }

    /// The drive fetches a command.
    #[inline]
    pub(super) fn fetch_ahead(&mut self, command: Command, now: Time) {
        self.request(Kind::EntryRequest, command, now);
        let (to_drive, to_host) = self.ahead.first();
        self.ahead.next = to_drive.min(to_host);
    }
}

#[cfg(test)]
mod tests;
