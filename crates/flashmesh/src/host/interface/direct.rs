//! Direct interface: a link without a protocol. A command and its write data cross the link when the command is issued. Read data and completions
//! cross in the order in which they are sent.

use super::{Command, Doorbells, EventSink, HostEvent, Interface, WakeReason};
use crate::config;
use crate::host::link::{Direction, Link, Message};
use crate::ids::{RequestId, StreamId};
use crate::units::{Bytes, Time};

#[derive(Clone, Debug)]
pub struct Direct {
    link: Link,
    submission: Message,
    completion: Message,
}

impl Direct {
    pub fn new(config: &config::Host, link: Link) -> Direct {
        let (submission, completion) = (link.message(config.submission_size), link.message(config.completion_size));
        Direct { link, submission, completion }
    }

    /// Returns whether completions never reach the host at the same time, which holds if a completion takes time on the link.
    pub fn separates_completions(&self) -> bool {
        self.completion.time > Time::ZERO
    }

    /// Sends a completion. Returns the time at which it reaches the host.
    #[inline(always)]
    pub fn complete(&mut self, now: Time) -> Time {
        self.link.send(Direction::ToHost, self.completion, now)
    }
}

impl Interface for Direct {
    #[inline(always)]
    fn issue<A: EventSink>(&mut self, command: Command, now: Time, events: &mut A) {
        let mut at = self.link.send(Direction::ToDrive, self.submission, now);
        if command.data > Bytes::ZERO {
            at = self.link.send_data(Direction::ToDrive, command.data, now);
        }
        events.schedule(at, HostEvent::InDrive(command.request));
    }

    #[inline(always)]
    fn send_data(&mut self, bytes: Bytes, now: Time) {
        self.link.send_data(Direction::ToHost, bytes, now);
    }

    #[inline(always)]
    fn respond<A: EventSink>(&mut self, request: RequestId, _stream: StreamId, now: Time, events: &mut A) {
        let at = self.complete(now);
        events.schedule(at, HostEvent::AtHost(request));
    }

    #[inline(always)]
    fn consume_completion<A: EventSink>(&mut self, _stream: StreamId, _now: Time, _agenda: &mut A) {}

    fn wake<A: EventSink>(&mut self, _token: WakeReason, _now: Time, _agenda: &mut A) {}

    fn link(&self) -> &Link {
        &self.link
    }

    fn doorbells(&self) -> Doorbells {
        Doorbells::default()
    }
}
