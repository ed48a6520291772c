//! When the next command arrives: the only event of commands that are sent ahead.
//!
//! It is never expected too late. What is sent beside it delays it: the drive sends most of that with a response, and looks at the arrival anew then.
//! Where it is expected too early nevertheless, the command is found still on its way, and its arrival comes again.

use crate::host::interface::nvme::Nvme;
use crate::host::interface::{Command, EventSink};
use crate::host::link::Direction::{ToDrive, ToHost};
use crate::ids::RequestId;
use crate::units::{Bytes, Time};

use super::{Ahead, InFlight, Leg};

/// Doorbells to a drive without room for their commands that are passed over.
const PASSED_OVER: usize = 4;

impl Nvme {
    /// Has the next arrival come at `at`, if that is earlier than it was expected.
    #[inline(always)]
    fn expect<A: EventSink>(&mut self, at: Time, events: &mut A) {
        if at < self.ahead.expected {
            self.ahead.expected = at;
            events.expect(at);
        }
    }

    /// A command may arrive of which the drive hears at `at`.
    #[inline(always)]
    pub(super) fn expect_after_doorbell<A: EventSink>(&mut self, command: Command, at: Time, events: &mut A) {
        if at < self.ahead.expected {
            let arrival = self.arrival_of(InFlight { at, leg: Leg::Doorbell, command });
            self.expect(arrival, events);
        }
    }

    /// Something was sent that may delay the next arrival, and there may be room for another command.
    #[inline(always)]
    pub(in super::super) fn expect_anew<A: EventSink>(&mut self, events: &mut A) {
        let next = self.next_arrival();
        if next != self.ahead.expected && next < Time::MAX {
            self.ahead.expected = next;
            events.expect(next);
        }
    }

    /// When the next command arrives, if nothing else is sent; a time before that where one that is sent later may arrive earlier, since it has less to send.
    #[inline(always)]
    fn next_arrival(&mut self) -> Time {
        if let Some(&(at, _)) = self.ahead.arriving.front() {
            return at;
        }
        let mut next = Time::MAX;
        if let Some(&first) = self.ahead.to_host.front() {
            next = self.arrival_of(first);
            if let Some(second) = self.ahead.to_host.get(1) {
                next = next.min(second.at + self.ahead.least);
            }
        }
        for index in 0..=PASSED_OVER {
            let Some(&message) = self.ahead.to_drive.get(index) else { break };
            if index < PASSED_OVER {
                let arrival = self.arrival_of(message);
                if arrival == Time::MAX {
                    continue;
                }
                next = next.min(arrival);
            }
            let behind = index + usize::from(index < PASSED_OVER);
            if let Some(behind) = self.ahead.to_drive.get(behind) {
                next = next.min(self.link.crosses(ToHost, self.messages.read_request, behind.at) + self.ahead.least);
            }
            break;
        }
        next
    }

    /// When a command arrives, if nothing else is sent than what is still to be sent for it after a message; never where the drive has no room for it.
    #[inline(always)]
    fn arrival_of(&mut self, InFlight { at, leg, command }: InFlight) -> Time {
        let request = self.messages.read_request;
        match leg {
            Leg::Doorbell if !self.has_room(command.stream) => Time::MAX,
            Leg::Doorbell | Leg::EntryRequest => {
                let at = if leg == Leg::Doorbell { self.link.crosses(ToHost, request, at) } else { at };
                let entry = self.link.crosses(ToDrive, self.messages.submission, at);
                if command.data == Bytes::ZERO {
                    return entry;
                }
                self.link.crosses(ToHost, request, entry) + self.link.data_message(command.data).time
            }
            Leg::EntryOfWrite => self.link.crosses(ToHost, request, at) + self.link.data_message(command.data).time,
            Leg::DataRequest => {
                let data = self.link.data_message(command.data);
                self.link.crosses(ToDrive, data, at)
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
        let next = self.next_arrival();
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
