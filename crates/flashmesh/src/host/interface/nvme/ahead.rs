//! Messages of a command on their way to the drive that need no event of their own.
//!
//! Where it is sure that the drive fetches a command when it hears of it, nothing but the wires is looked at between the doorbell and the arrival of
//! the command. So the doorbell, the request for the entry, the entry, and for a write the request for its data, are no events: they are kept in
//! the order in which each wire carries them, and caught up with before anything else is sent or counted. What they do is what events at those times
//! would have done.
//!
//! The next arrival is an event. It is scheduled for when it comes if nothing else is sent before that, and anew as the host sends more. Where it
//! comes too early, since something was sent that nobody looked at, it finds the command still on its way, and comes again. It is never too late:
//! what is sent beside only delays.
//!
//! A doorbell that finds the drive without room changes no more than how many commands the drive knows. It is counted when that is looked at; should
//! there be room before it arrives, it becomes an event.

use crate::engine::ring::Ring;
use crate::host::link::Direction;
use crate::ids::{RequestId, StreamId};
use crate::units::{Bytes, Time};

use super::{Command, EventSink, HostEvent, Limits, Nvme, Token};

/// What crosses the link for a command.
#[derive(Clone, Copy, Debug, Default)]
enum Leg {
    /// To the drive, which fetches the command.
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
    to_host: Ring<InFlight>,
    /// Numbers of requests.
    arriving: Ring<(Time, u32)>,
    /// The least time that a message takes by which a command is in the drive.
    least: Time,
    /// For when the next arrival is scheduled.
    expected: Time,
    /// Numbers of the streams whose doorbells are on their way to a drive without room for the command.
    counted: Ring<(Time, u32)>,
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
            counted: Ring::default(),
        }
    }
}

#[inline(always)]
fn arrival(ring: &Ring<InFlight>) -> Time {
    ring.front().map_or(Time::MAX, |first| first.at)
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
        while let Some(&(at, stream)) = self.ahead.counted.front()
            && at <= at_drive
        {
            self.ahead.counted.take_first();
            self.heard_of(StreamId(stream));
        }
        loop {
            let (to_drive, to_host) = (arrival(&self.ahead.to_drive), arrival(&self.ahead.to_host));
            if to_drive <= to_host && to_drive <= at_drive {
                self.reached_drive();
            } else if to_host < to_drive && to_host <= at_host {
                self.reached_host();
            } else {
                let counted = self.ahead.counted.front().map_or(Time::MAX, |&(at, _)| at);
                self.ahead.next = to_drive.min(to_host).min(counted);
                return;
            }
        }
    }

    #[inline(always)]
    fn reached_drive(&mut self) {
        let InFlight { at, leg, command } = self.ahead.to_drive.take_first();
        let leg = match leg {
            Leg::Doorbell => {
                let queue = &mut self.queues[command.stream.index()];
                queue.ringing -= 1;
                queue.in_drive += 1;
                self.ringing -= 1;
                self.in_drive += 1;
                // A single queue needs no arbitration.
                if self.queues.len() > 1 {
                    self.arbiter.take_only(command.stream, self.in_drive < self.limits.commands_max);
                }
                Leg::EntryRequest
            }
            _ => Leg::DataRequest,
        };
        self.ask_ahead(leg, command, at);
    }

    /// The drive sends a request for what the host has of a command.
    #[inline(always)]
    fn ask_ahead(&mut self, leg: Leg, command: Command, now: Time) {
        let at = self.link.send(Direction::ToHost, self.messages.read_request, now);
        self.ahead.to_host.push_back(InFlight { at, leg, command });
    }

    #[inline(always)]
    fn reached_host(&mut self) {
        let InFlight { at, leg, command } = self.ahead.to_host.take_first();
        let arrives = match leg {
            Leg::EntryRequest => {
                let at = self.link.send(Direction::ToDrive, self.messages.submission, at);
                if command.data > Bytes::ZERO {
                    self.ahead.to_drive.push_back(InFlight { at, leg: Leg::EntryOfWrite, command });
                    return;
                }
                at
            }
            _ => self.link.send_data(Direction::ToDrive, command.data, at),
        };
        self.ahead.arriving.push_back((arrives, command.request.0));
    }

    /// The doorbell of a command has been sent, and reaches the drive at `at`.
    #[inline(always)]
    pub(super) fn rings<A: EventSink>(&mut self, command: Command, at: Time, events: &mut A) {
        let Limits { commands_max, fetch_size, .. } = self.limits;
        let queue = &mut self.queues[command.stream.index()];
        // No command waits to be fetched, and those that the drive is about to hear of leave room.
        let is_fetched = self.known == 0
            && queue.submitted.is_empty()
            && self.in_drive + self.ringing < commands_max
            && queue.in_drive + u64::from(queue.ringing) < u64::from(fetch_size);
        let has_no_room = queue.in_drive >= u64::from(fetch_size) || self.in_drive >= commands_max;
        queue.ringing += 1;
        self.ringing += 1;
        if is_fetched {
            self.ahead.to_drive.push_back(InFlight { at, leg: Leg::Doorbell, command });
            self.ahead.next = self.ahead.next.min(at);
            let asked = self.link.crosses(Direction::ToHost, self.messages.read_request, at);
            self.expect_entry(command, asked, events);
            return;
        }
        queue.submitted.push_back(command);
        if has_no_room {
            self.ahead.counted.push_back((at, command.stream.0));
            self.ahead.next = self.ahead.next.min(at);
        } else {
            events.schedule(at, HostEvent::Wake(Token::SubmissionDoorbell(command.stream)));
        }
    }

    /// A command of a queue has ended, and the drive has fetched what it could: where there may be room left, doorbells that were only to be counted are
    /// events.
    #[inline(always)]
    pub(super) fn look_at_counted<A: EventSink>(&mut self, stream: StreamId, events: &mut A) {
        if self.ahead.counted.is_empty() {
            return;
        }
        let Limits { commands_max, fetch_size, .. } = self.limits;
        let is_room_of_queue = self.queues[stream.index()].in_drive < u64::from(fetch_size);
        let was_full = self.in_drive + 1 >= commands_max;
        if self.in_drive < commands_max && (is_room_of_queue || was_full) {
            while let Some((at, stream)) = self.ahead.counted.pop_front() {
                events.schedule(at, HostEvent::Wake(Token::SubmissionDoorbell(StreamId(stream))));
            }
        }
    }

    /// The drive fetches a command.
    #[inline]
    pub(super) fn fetch_ahead<A: EventSink>(&mut self, command: Command, now: Time, events: &mut A) {
        self.ask_ahead(Leg::EntryRequest, command, now);
        let asked = self.ahead.to_host.back().map_or(now, |last| last.at);
        self.ahead.next = self.ahead.next.min(asked);
        self.expect_entry(command, asked, events);
    }

    /// The host will be asked for the entry of a command at `asked`: its arrival is scheduled, if it may be the next one.
    #[inline(always)]
    fn expect_entry<A: EventSink>(&mut self, command: Command, asked: Time, events: &mut A) {
        if asked < self.ahead.expected {
            let arrival = self.arrival_of(Leg::EntryRequest, command, asked);
            self.expect(arrival, events);
        }
    }

    #[inline(always)]
    fn expect<A: EventSink>(&mut self, at: Time, events: &mut A) {
        if at < self.ahead.expected {
            self.ahead.expected = at;
            events.expect(at);
        }
    }

    /// When the next of the commands arrives of which something is still to be sent, if nothing else is; a time before that where several are.
    #[inline(always)]
    fn next_arrival(&mut self) -> Time {
        let mut next = Time::MAX;
        if let Some(&InFlight { at, leg, command }) = self.ahead.to_host.front() {
            next = self.arrival_of(leg, command, at);
        }
        if let Some(&InFlight { at, leg, command }) = self.ahead.to_drive.front() {
            let asked = self.link.crosses(Direction::ToHost, self.messages.read_request, at);
            next = next.min(self.arrival_of(leg, command, asked));
        }
        // What is behind them may have less to send.
        for ring in [&self.ahead.to_host, &self.ahead.to_drive] {
            if let Some(second) = ring.get(1) {
                next = next.min(second.at + self.ahead.least);
            }
        }
        next
    }

    /// When a command arrives, if the host is asked for what it has of it at `asked` and nothing else is sent.
    #[inline(always)]
    fn arrival_of(&mut self, leg: Leg, command: Command, asked: Time) -> Time {
        let data = command.data;
        match leg {
            Leg::Doorbell | Leg::EntryRequest => {
                let entry = self.link.crosses(Direction::ToDrive, self.messages.submission, asked);
                if data == Bytes::ZERO {
                    return entry;
                }
                let asked = self.link.crosses(Direction::ToHost, self.messages.read_request, entry);
                asked + self.link.data_message(data).time
            }
            Leg::EntryOfWrite | Leg::DataRequest => {
                let message = self.link.data_message(data);
                self.link.crosses(Direction::ToDrive, message, asked)
            }
        }
    }

    /// The time has come for which an arrival was scheduled: gives the request whose command is in the drive, if one is.
    #[inline(always)]
    pub fn arrived<A: EventSink>(&mut self, now: Time, events: &mut A) -> Option<RequestId> {
        self.catch_up(now, now.saturating_sub(Time::from_ps(1)));
        self.ahead.expected = Time::MAX;
        let mut arrived = None;
        if let Some(&(at, request)) = self.ahead.arriving.front()
            && at <= now
        {
            self.ahead.arriving.take_first();
            arrived = Some(RequestId(request));
        }
        let next = match self.ahead.arriving.front() {
            Some(&(at, _)) => at,
            None => self.next_arrival(),
        };
        self.expect(next, events);
        arrived
    }

    /// The request whose command probably arrives next.
    #[inline(always)]
    pub fn upcoming(&self) -> Option<RequestId> {
        let Ahead { arriving, to_host, to_drive, .. } = &self.ahead;
        if let Some(&(_, request)) = arriving.front() {
            return Some(RequestId(request));
        }
        to_host.front().or(to_drive.front()).map(|under_way| under_way.command.request)
    }
}

#[cfg(test)]
mod tests;
