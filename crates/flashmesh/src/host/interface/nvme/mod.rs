//! NVMe: a pair of queues for each stream in the memory of the host, doorbells, and a controller that fetches
//! (NVM Express base specification 2.0, sections 3.3 and 3.4).
//!
//! 1. The host puts a command into the submission queue and rings its tail doorbell, one for each command.
//! 2. The controller fetches entries with read requests over the link, one for each command, as long as a queue has fewer than
//!    `fetch-size` commands in the drive, and all queues together fewer than `commands-max`. From which queue: `arbiter`.
//! 3. The data of a write is fetched by another read request, all of it at once. Lists of its pages in the host's memory are not: the
//!    entry stands for them.
//! 4. A command that is done gives its place in the drive to the next one, then its completion entry is posted. Without room in the
//!    completion queue it keeps its place and waits.
//! 5. The host takes the completion when it arrives and rings the head doorbell, which tells the controller of the room.
//!
//! Interrupts take no time.

mod ahead;
mod arbiter;

use std::collections::VecDeque;

use super::{Command, Doorbells, EventSink, HostEvent, Interface, Seen, Token};
use crate::config::{Config, Priority};
use crate::engine::ring::Ring;
use crate::host::link::{Direction, Link, Message};
use crate::ids::{RequestId, StreamId};
use crate::units::{Bytes, Time};
use ahead::Ahead;
use arbiter::{Arbiter, QueueSet};

#[derive(Clone, Debug, Default)]
struct QueuePair {
    submitted: Ring<Command>,
    /// Commands of these that the drive knows.
    known: u32,
    /// Fetched commands whose slot in the drive is not free again. Wider than `known`: the compiler would read both as one, which waits for
    /// what was written to one of them just before.
    in_drive: u64,
    /// Completions that the host has not taken, as far as the drive knows but for what is `announced`.
    posted: u32,
    /// When the drive hears that the host has taken each of the next completions. It is looked at when the drive posts one: until then the drive has
    /// nothing to do for it, unless completions are held.
    announced: Ring<Time>,
    /// Completed commands that wait for a place in the completion queue.
    held: VecDeque<RequestId>,
}

#[derive(Clone, Debug)]
pub struct Nvme {
    link: Link,
    messages: Messages,
    queues: Vec<QueuePair>,
    /// Queues with a command that may be fetched.
    ready: QueueSet,
    arbiter: Arbiter,
    limits: Limits,
    /// Commands of all queues known to the drive and not fetched.
    known: u32,
    in_drive: u32,
    /// Whether messages on their way are kept in `ahead` in place of events.
    is_ahead: bool,
    ahead: Ahead,
    /// Commands whose entries are being fetched, in order, as the link keeps the order.
    entries_asked: Ring<Command>,
    /// Writes whose data is being fetched or waits to be, in order.
    data_asked: Ring<Command>,
    doorbells: Doorbells,
}

/// Messages other than data.
#[derive(Clone, Copy, Debug)]
struct Messages {
    doorbell: Message,
    /// Two doorbells, sent one after the other.
    both_doorbells: Message,
    /// The drive's read request for an entry or for data.
    read_request: Message,
    submission: Message,
    completion: Message,
}

impl Messages {
    fn new(config: &Config, link: &Link) -> Messages {
        let doorbell = link.message(config.nvme.doorbell_size);
        Messages {
            doorbell,
            both_doorbells: Message { bytes: doorbell.bytes * 2, time: doorbell.time * 2 },
            read_request: link.message(config.nvme.read_request_size),
            submission: link.message(config.host.submission_size),
            completion: link.message(config.host.completion_size),
        }
    }

    /// Whether none of them takes no time.
    fn take_time(&self) -> bool {
        let Messages { doorbell, read_request, submission, completion, .. } = self;
        [doorbell, read_request, submission, completion].into_iter().all(|message| message.time > Time::ZERO)
    }
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Limits {
    pub(super) fetch_size: u32,
    pub(super) commands_max: u32,
    pub(super) completion_depth: u32,
}

impl Nvme {
    /// A controller with a queue pair for each of `priorities`.
    pub fn new(config: &Config, priorities: &[Priority]) -> Nvme {
        let limits = Limits {
            fetch_size: config.nvme.fetch_size,
            commands_max: config.nvme.commands_max.unwrap_or(u32::MAX),
            completion_depth: config.nvme.completion_depth.unwrap_or(config.host.queue_depth),
        };
        Nvme::with_limits(config, priorities, limits)
    }

    pub(super) fn with_limits(config: &Config, priorities: &[Priority], limits: Limits) -> Nvme {
        let link = Link::new(&config.host, false);
        Nvme {
            messages: Messages::new(config, &link),
            queues: vec![QueuePair::default(); priorities.len()],
            ready: QueueSet::new(priorities.len()),
            arbiter: Arbiter::new(&config.nvme, priorities),
            limits,
            known: 0,
            in_drive: 0,
            is_ahead: false,
            ahead: Ahead::default(),
            entries_asked: Ring::default(),
            data_asked: Ring::default(),
            doorbells: Doorbells::default(),
            link,
        }
    }

    /// Fetches what the drive has room for. That there is nothing is seen without a call.
    #[inline(always)]
    fn fetch<A: EventSink>(&mut self, now: Time, events: &mut A) {
        if self.known == 0 && self.in_drive < self.limits.commands_max {
            self.arbiter.end_round();
        } else {
            self.fetch_known(now, events);
        }
    }

    #[inline(never)]
    fn fetch_known<A: EventSink>(&mut self, now: Time, events: &mut A) {
        while let Some(command) = self.take_known() {
            events.saw(Seen::Fetched(command.stream, command.request));
            if self.is_ahead {
                self.fetch_ahead(command, now);
                continue;
            }
            self.entries_asked.push_back(command);
            let at = self.link.send(Direction::ToHost, self.messages.read_request, now);
            events.schedule(at, HostEvent::Wake(Token::EntryRead));
        }
    }

    /// Takes the command that is fetched next, if the drive knows of one for which it has room.
    fn take_known(&mut self) -> Option<Command> {
        if self.in_drive >= self.limits.commands_max {
            return None;
        }
        if self.known == 0 {
            self.arbiter.end_round();
            return None;
        }
        let stream = self.arbiter.choose(&self.ready)?;
        let queue = &mut self.queues[stream.index()];
        let command = queue.submitted.pop_front()?;
        queue.known -= 1;
        self.known -= 1;
        queue.in_drive += 1;
        self.in_drive += 1;
        self.look_at(stream);
        Some(command)
    }

    /// The counts of a queue have changed.
    #[inline]
    fn look_at(&mut self, stream: StreamId) {
        let queue = &self.queues[stream.index()];
        self.ready.set(stream, queue.known > 0 && queue.in_drive < u64::from(self.limits.fetch_size));
    }

    /// The queue has a completion less.
    #[inline]
    fn freed<A: EventSink>(&mut self, stream: StreamId, events: &mut A) {
        self.queues[stream.index()].posted -= 1;
        events.saw(Seen::Freed(stream));
    }

    /// Takes note of the completions that the drive has heard of by `now`, at that time included.
    #[inline]
    fn hear<A: EventSink>(&mut self, stream: StreamId, now: Time, events: &mut A) {
        while self.queues[stream.index()].announced.front().is_some_and(|&at| at <= now) {
            self.queues[stream.index()].announced.pop_front();
            self.freed(stream, events);
        }
    }

    /// The drive hears of a command of a queue.
    #[inline]
    fn heard_of(&mut self, stream: StreamId) {
        let queue = &mut self.queues[stream.index()];
        queue.known += 1;
        self.known += 1;
        self.look_at(stream);
    }

    /// A doorbell tells of a command.
    #[inline(never)]
    fn submission_doorbell<A: EventSink>(&mut self, stream: StreamId, now: Time, events: &mut A) {
        self.heard_of(stream);
        events.saw(Seen::Rung(stream));
        self.fetch(now, events);
    }

    /// A doorbell tells of room for a completion, while completions are held.
    #[inline(never)]
    fn completion_doorbell<A: EventSink>(&mut self, stream: StreamId, now: Time, events: &mut A) {
        self.catch_up_before(now);
        self.freed(stream, events);
        if let Some(request) = self.queues[stream.index()].held.pop_front() {
            self.queues[stream.index()].posted += 1;
            let at = self.post(request, stream, now, events);
            events.schedule(at, HostEvent::AtHost(request));
        }
    }

    /// Posts the completion of a command; gives when it is at the host, or nothing where the queue has no room.
    #[inline(never)]
    pub fn complete<A: EventSink>(
        &mut self,
        request: RequestId,
        stream: StreamId,
        now: Time,
        events: &mut A,
    ) -> Option<Time> {
        self.catch_up_before(now);
        if !self.is_reactive() {
            self.hear(stream, now, events);
            let queue = &mut self.queues[stream.index()];
            if queue.posted >= self.limits.completion_depth {
                self.hold(request, stream, events);
                return None;
            }
            queue.posted += 1;
        }
        Some(self.post(request, stream, now, events))
    }

    /// Keeps a completion for which the queue has no room until the drive hears of some.
    #[cold]
    fn hold<A: EventSink>(&mut self, request: RequestId, stream: StreamId, events: &mut A) {
        let queue = &mut self.queues[stream.index()];
        queue.held.push_back(request);
        while let Some(at) = queue.announced.pop_front() {
            events.schedule(at, HostEvent::Wake(Token::CompletionDoorbell(stream)));
        }
    }

    /// Posts a completion; gives when it is at the host.
    #[inline(always)]
    fn post<A: EventSink>(&mut self, request: RequestId, stream: StreamId, now: Time, events: &mut A) -> Time {
        let queue = &mut self.queues[stream.index()];
        queue.in_drive -= 1;
        self.in_drive -= 1;
        if queue.known > 0 {
            self.look_at(stream);
        }
        events.saw(Seen::Finished(stream, request));
        self.fetch(now, events);
        events.saw(Seen::Posted(stream, request));
        let at = self.link.send(Direction::ToHost, self.messages.completion, now);
        if self.is_ahead {
            self.expect_anew(events);
        }
        at
    }
}

impl Interface for Nvme {
    #[inline(never)]
    fn issue<A: EventSink>(&mut self, command: Command, now: Time, events: &mut A) {
        events.saw(Seen::Queued(command.stream, command.request));
        if self.is_ahead {
            self.catch_up_to(now);
            return self.issue_ahead(command, now, events);
        }
        self.doorbells.submission += 1;
        let at = self.link.send(Direction::ToDrive, self.messages.doorbell, now);
        self.queues[command.stream.index()].submitted.push_back(command);
        events.schedule(at, HostEvent::Wake(Token::SubmissionDoorbell(command.stream)));
    }

    #[inline(never)]
    fn send_data(&mut self, bytes: Bytes, now: Time) {
        self.catch_up_before(now);
        self.link.send_data(Direction::ToHost, bytes, now);
    }

    #[inline(always)]
    fn respond<A: EventSink>(&mut self, request: RequestId, stream: StreamId, now: Time, events: &mut A) {
        if let Some(at) = self.complete(request, stream, now, events) {
            events.schedule(at, HostEvent::AtHost(request));
        }
    }

    #[inline(never)]
    fn taken<A: EventSink>(&mut self, stream: StreamId, now: Time, events: &mut A) {
        events.saw(Seen::Taken(stream));
        self.catch_up_to(now);
        self.doorbells.completion += 1;
        let at = self.link.send(Direction::ToDrive, self.messages.doorbell, now);
        let queue = &mut self.queues[stream.index()];
        if queue.held.is_empty() {
            queue.announced.push_back(at);
        } else {
            events.schedule(at, HostEvent::Wake(Token::CompletionDoorbell(stream)));
        }
    }

    /// Inlined, but for doorbells: what a message does on its way is less than a call.
    #[inline(always)]
    fn wake<A: EventSink>(&mut self, token: Token, now: Time, events: &mut A) {
        match token {
            Token::SubmissionDoorbell(stream) => self.submission_doorbell(stream, now, events),
            Token::CompletionDoorbell(stream) => self.completion_doorbell(stream, now, events),
            Token::EntryRead => {
                let Some(command) = self.entries_asked.pop_front() else { return };
                let at = self.link.send(Direction::ToDrive, self.messages.submission, now);
                if command.data > Bytes::ZERO {
                    self.data_asked.push_back(command);
                    events.schedule(at, HostEvent::Wake(Token::EntryArrived));
                } else {
                    events.schedule(at, HostEvent::InDrive(command.request));
                }
            }
            Token::EntryArrived => {
                let at = self.link.send(Direction::ToHost, self.messages.read_request, now);
                events.schedule(at, HostEvent::Wake(Token::DataRead));
            }
            Token::DataRead => {
                let Some(command) = self.data_asked.pop_front() else { return };
                let at = self.link.send_data(Direction::ToDrive, command.data, now);
                events.schedule(at, HostEvent::InDrive(command.request));
            }
            Token::AdapterIssue => {}
        }
    }

    fn link(&self) -> &Link {
        &self.link
    }

    fn doorbells(&self) -> Doorbells {
        self.doorbells
    }
}
