//! Run-ahead mode: the messages of a command on its way to the drive are not events.
//!
//! Between the doorbell and the arrival of its command, only the link and the queues change. So the doorbell, the request for the entry, the entry,
//! and the request for the data of a write are not events. These messages are kept per direction, in the order of sending, and processed lazily,
//! before anything else is sent or counted. The results equal those of a simulation with an event for each message. Only the [arrival](arrivals) of
//! the next command is an event.
//!
//! A reactive host takes each completion, issues one command in response, and does nothing else. So the completions determine the messages of the
//! host and their order. The arrival of a completion is computed when the completion is sent, and the messages of the host are sent at that moment,
//! with their later times. The first completion without a command in response ends the reactive mode.

mod arrivals;

use crate::engine::ring::Ring;
use crate::host::link::{Direction, Message};
use crate::ids::StreamId;
use crate::units::{Bytes, Time};

use super::{Command, Doorbells, EventSink, Nvme};

/// The messages of a command over the link in the order of sending, except the last message. The last message is the write data or, for a command
/// without write data, the submission entry; see [`RunAhead::arriving`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum MessageKind {
    /// Doorbell to the drive: a new command is in the queue.
    #[default]
    Doorbell,
    /// Read request to the host, for the submission entry.
    EntryRequest,
    /// Submission entry of a write, to the drive. The drive then requests the data.
    EntryOfWrite,
    /// Read request to the host, for the data of a write.
    DataRequest,
}

/// A message in flight, which arrives at `at`.
#[derive(Clone, Copy, Debug, Default)]
struct InFlight {
    at: Time,
    kind: MessageKind,
    command: Command,
}

/// The messages in flight in each direction, and the commands whose last message is in flight.
#[derive(Clone, Debug)]
pub(super) struct RunAhead {
    /// A lower bound of the time at which the first message arrives; [`Time::MAX`] if none is in flight.
    next: Time,
    to_drive: Ring<InFlight>,
    /// Messages to the host. Empty while the host is reactive.
    to_host: Ring<InFlight>,
    /// Commands whose last message is in flight, by arrival time, with their request numbers.
    arriving: Ring<(Time, u32)>,
    /// A lower bound of the duration of the last message of a command: its entry, or its write data.
    min_message_time: Time,
    /// The time for which the arrival event is scheduled.
    expected: Time,
    /// Whether the host is reactive: it issues at most one command in response to each completion, and does nothing else.
    is_reactive: bool,
}

impl Default for RunAhead {
    fn default() -> RunAhead {
        RunAhead {
            next: Time::MAX,
            to_drive: Ring::default(),
            to_host: Ring::default(),
            arriving: Ring::default(),
            min_message_time: Time::ZERO,
            expected: Time::MAX,
            is_reactive: false,
        }
    }
}

impl RunAhead {
    /// Returns when the first message arrives at the drive, and at the host; [`Time::MAX`] for a direction without messages.
    #[inline(always)]
    fn first(&self) -> (Time, Time) {
        let at = |ring: &Ring<InFlight>| ring.front().map_or(Time::MAX, |first| first.at);
        (at(&self.to_drive), at(&self.to_host))
    }
}

impl Nvme {
    /// Starts run-ahead mode, unless a message takes no time: other events of the same time could then come between two messages. No
    /// message may be in flight.
    pub(in super::super) fn run_ahead(&mut self) {
        self.is_ahead = self.messages.take_time();
        self.ahead.min_message_time = self.messages.submission.time.min(self.link.message(Bytes::new(1)).time);
    }

    /// Returns whether run-ahead mode is on: arrivals of commands are computed ahead, and [`Nvme::arrived`] returns them instead of events.
    pub fn is_ahead(&self) -> bool {
        self.is_ahead
    }

    /// Starts reactive mode, with at most `queue_depth` outstanding commands per stream. Returns false, without starting the mode, if run-ahead mode
    /// is off, a completion queue can fill up, or a command was already issued.
    pub(in super::super) fn begin_reactive(&mut self, queue_depth: u32) -> bool {
        let has_begun = self.doorbells != Doorbells::default();
        self.ahead.is_reactive = self.is_ahead && !has_begun && self.limits.completion_depth >= queue_depth;
        self.ahead.is_reactive
    }

    /// Ends reactive mode: the arrivals of completions are events again. The first of them is the arrival of the completion that was posted
    /// last, which belongs to `stream`.
    pub fn end_reactive(&mut self, stream: StreamId) {
        self.ahead.is_reactive = false;
        // In reactive mode posted completions are not counted.
        self.queues[stream.index()].posted += 1;
    }

    /// Returns whether the host is reactive: it issues at most one command in response to each completion, and does nothing else.
    #[inline(always)]
    pub(super) fn is_reactive(&self) -> bool {
        self.ahead.is_reactive
    }

    /// Processes the messages in flight that arrive before `now`. Called before the drive acts at `now`.
    #[inline(always)]
    pub(in super::super) fn catch_up_before(&mut self, now: Time) {
        let before = now.saturating_sub(Time::from_ps(1));
        self.catch_up(before, before);
    }

    /// Processes the messages in flight that arrive by `now`, inclusive. Called before the host acts at `now`.
    #[inline(always)]
    pub(super) fn catch_up_to(&mut self, now: Time) {
        self.catch_up(now, now);
    }

    /// Processes messages that arrive at the drive by `at_drive` and at the host by `at_host`, inclusive, in the order of time. At equal times,
    /// messages to the drive come first.
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

    /// Like [`Nvme::pass_messages`], but for a reactive host: all messages in flight go to the drive.
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
        if kind == MessageKind::EntryOfWrite {
            return self.request(MessageKind::DataRequest, command, at);
        }
        // Fetch at once only if no other command waits to be fetched and a slot is free.
        if self.known > 0 || !self.has_room(command.stream) {
            return self.queue_in_drive(command, at);
        }
        self.queues[command.stream.index()].in_drive += 1;
        self.in_drive += 1;
        // A single queue needs no arbitration.
        if self.queues.len() > 1 {
            self.arbiter.take_only(command.stream, self.in_drive < self.limits.commands_max);
        }
        self.request(MessageKind::EntryRequest, command, at);
    }

    /// Returns whether the drive has a free slot for a command of `stream`.
    #[inline(always)]
    fn has_room(&self, stream: StreamId) -> bool {
        self.in_drive < self.limits.commands_max
            && self.queues[stream.index()].in_drive < u64::from(self.limits.fetch_size)
    }

    /// Counts a command whose submission doorbell has reached the drive, then fetches waiting commands while slots are free.
    #[inline(never)]
    fn queue_in_drive(&mut self, command: Command, at: Time) {
        self.queues[command.stream.index()].submitted.push_back(command);
        self.count_known(command.stream);
        while let Some(command) = self.take_known() {
            self.request(MessageKind::EntryRequest, command, at);
        }
    }

    /// Sends the drive's read request for the entry or the data of a command.
    #[inline(always)]
    fn request(&mut self, kind: MessageKind, command: Command, now: Time) {
        let at = self.link.send(Direction::ToHost, self.messages.read_request, now);
        let message = InFlight { at, kind, command };
        if self.ahead.is_reactive {
            self.serve(message);
        } else {
            self.ahead.to_host.push_back(message);
        }
    }

    /// Sends the requested entry or data from the host to the drive.
    #[inline(always)]
    fn serve(&mut self, InFlight { at, kind, command }: InFlight) {
        let arrives = if kind == MessageKind::EntryRequest {
            let at = self.link.send(Direction::ToDrive, self.messages.submission, at);
            if command.data > Bytes::ZERO {
                self.ahead.to_drive.push_back(InFlight { at, kind: MessageKind::EntryOfWrite, command });
                return;
            }
            at
        } else {
            self.link.send_data(Direction::ToDrive, command.data, at)
        };
        self.ahead.arriving.push_back((arrives, command.request.0));
    }

    /// Issues a command at `now`. `doorbell` is the message that carries the submission doorbell, alone or with a completion doorbell.
    #[inline(always)]
    fn ring<A: EventSink>(&mut self, command: Command, doorbell: Message, now: Time, events: &mut A) {
        self.doorbells.submission += 1;
        let at = self.link.send(Direction::ToDrive, doorbell, now);
        self.ahead.to_drive.push_back(InFlight { at, kind: MessageKind::Doorbell, command });
        self.ahead.next = self.ahead.next.min(at);
        self.expect_after_doorbell(command, at, events);
    }

    /// Issues a command whose submission doorbell is a message of its own.
    #[inline(always)]
    pub(super) fn issue_ahead<A: EventSink>(&mut self, command: Command, now: Time, events: &mut A) {
        self.ring(command, self.messages.doorbell, now, events);
    }

    /// Issues the command of a reactive host in response to a completion that arrives at `at`. The completion doorbell and the submission doorbell
    /// cross as one message.
    #[inline(never)]
    pub fn issue_on_completion<A: EventSink>(&mut self, command: Command, at: Time, events: &mut A) {
        self.doorbells.completion += 1;
        self.ring(command, self.messages.both_doorbells, at, events);
    }

    /// Sends the read request for the submission entry of a command, in run-ahead mode.
    #[inline]
    pub(super) fn fetch_ahead(&mut self, command: Command, now: Time) {
        self.request(MessageKind::EntryRequest, command, now);
        let (to_drive, to_host) = self.ahead.first();
        self.ahead.next = to_drive.min(to_host);
    }
}

#[cfg(test)]
mod tests;
