//! The arrival event, the only event of a command on its way to the drive in run-ahead mode.
//!
//! The event is never too late, because its time is computed from the messages sent so far, and further messages can only delay a command. Most
//! further messages are sent together with a response, which reschedules the event. If the event is too early, its command is still in flight, and
//! the event is scheduled again.

use crate::host::interface::nvme::Nvme;
use crate::host::interface::{Command, EventSink};
use crate::host::link::Direction::{ToDrive, ToHost};
use crate::ids::RequestId;
use crate::units::{Bytes, Time};

use super::{InFlight, MessageKind, RunAhead};

/// The maximum number of messages to the drive that the search for the next arrival inspects. The search skips doorbells whose commands find no free
/// slot.
const DOORBELLS_SKIPPED: usize = 4;

impl Nvme {
    /// Moves the arrival event to `at`, if `at` is earlier than the time for which the event is scheduled.
    #[inline(always)]
    fn expect<A: EventSink>(&mut self, at: Time, events: &mut A) {
        if at < self.ahead.expected {
            self.ahead.expected = at;
            events.schedule_arrival(at);
        }
    }

    /// Moves the arrival event to an earlier time if `command`, which was just issued, may arrive first. The doorbell of `command` reaches
    /// the drive at `at`.
    #[inline(always)]
    pub(super) fn expect_after_doorbell<A: EventSink>(&mut self, command: Command, at: Time, events: &mut A) {
        if at < self.ahead.expected {
            let arrival = self.arrival_of(InFlight { at, kind: MessageKind::Doorbell, command });
            self.expect(arrival, events);
        }
    }

    /// Reschedules the arrival event after a completion was sent. A completion frees a slot in the drive, and may delay other messages.
    #[inline(always)]
    pub(in super::super) fn expect_anew<A: EventSink>(&mut self, events: &mut A) {
        let next = self.next_arrival();
        if next != self.ahead.expected && next < Time::MAX {
            self.ahead.expected = next;
            events.schedule_arrival(next);
        }
    }

    /// Returns a lower bound of the time at which the next command arrives; [`Time::MAX`] if no command in flight can reach the drive. The bound is
    /// exact if all commands are alike and no other message is sent.
    #[inline(always)]
    fn next_arrival(&mut self) -> Time {
        if let Some(&(at, _)) = self.ahead.arriving.front() {
            return at;
        }
        let mut next = Time::MAX;
        if let Some(&first) = self.ahead.to_host.front() {
            next = self.arrival_of(first);
            if let Some(second) = self.ahead.to_host.get(1) {
                next = next.min(second.at + self.ahead.min_message_time);
            }
        }
        let mut index = 0;
        while index < DOORBELLS_SKIPPED
            && let Some(&message) = self.ahead.to_drive.get(index)
        {
            index += 1;
            let arrival = self.arrival_of(message);
            if arrival < Time::MAX {
                next = next.min(arrival);
                break;
            }
        }
        // A later message may belong to a command with less data, which may arrive first.
        if let Some(behind) = self.ahead.to_drive.get(index) {
            next = next.min(
                self.link.transfer_end(ToHost, self.messages.read_request, behind.at) + self.ahead.min_message_time,
            );
        }
        next
    }

    /// Returns the time at which the command of a message arrives, assuming that no other message is sent before; [`Time::MAX`] if the drive has no
    /// free slot for the command.
    #[inline(always)]
    fn arrival_of(&mut self, InFlight { at, kind, command }: InFlight) -> Time {
        let request = self.messages.read_request;
        match kind {
            MessageKind::Doorbell if !self.has_room(command.stream) => Time::MAX,
            MessageKind::Doorbell | MessageKind::EntryRequest => {
                let at = if kind == MessageKind::Doorbell { self.link.transfer_end(ToHost, request, at) } else { at };
                let entry = self.link.transfer_end(ToDrive, self.messages.submission, at);
                if command.data == Bytes::ZERO {
                    return entry;
                }
                self.link.transfer_end(ToHost, request, entry) + self.link.data_message(command.data).time
            }
            MessageKind::EntryOfWrite => {
                self.link.transfer_end(ToHost, request, at) + self.link.data_message(command.data).time
            }
            MessageKind::DataRequest => {
                let data = self.link.data_message(command.data);
                self.link.transfer_end(ToDrive, data, at)
            }
        }
    }

    /// Handles the arrival event. Returns the request whose command is in the drive, or `None` if the event came too early.
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
        let next = self.next_arrival();
        self.expect(next, events);
        arrived
    }

    /// Returns the request whose command probably arrives next, for prefetching; `None` if no command is on its way.
    #[inline(always)]
    pub fn upcoming(&self) -> Option<RequestId> {
        let RunAhead { arriving, to_host, to_drive, .. } = &self.ahead;
        if let Some(&(_, request)) = arriving.front() {
            return Some(RequestId(request));
        }
        to_host.front().or(to_drive.front()).map(|under_way| under_way.command.request)
    }
}
