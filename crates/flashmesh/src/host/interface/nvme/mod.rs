//! NVMe: a queue pair for each stream in the memory of the host, doorbells, and a controller that fetches commands
//! (NVM Express base specification 2.0, sections 3.3 and 3.4).
//!
//! 1. The host puts a command into the submission queue and rings its tail doorbell, once per command.
//! 2. The controller fetches entries with read requests over the link, one per command, while the queue has fewer than
//!    `fetch-size` commands in the drive, and all queues together fewer than `commands-max`. `arbiter` selects the queue.
//! 3. A second read request fetches all data of a write. Lists of pages in host memory (PRP lists) are not fetched: the model takes them as part of
//!    the entry.
//! 4. When a command is done, its slot in the drive passes to the next command, then its completion entry is posted. If the completion queue is
//!    full, the command keeps its slot and waits.
//! 5. The host takes the completion when it arrives and rings the head doorbell, which frees the entry of the completion queue.
//!
//! Interrupts take no time.

mod arbiter;
mod run_ahead;

use std::collections::VecDeque;

use super::{Command, Doorbells, EventSink, HostEvent, Interface, InterfaceNotice, WakeReason};
use crate::config::{Config, Priority};
use crate::engine::ring::Ring;
use crate::host::link::{Direction, Link, Message};
use crate::ids::{RequestId, StreamId};
use crate::units::{Bytes, Time};
use arbiter::{Arbiter, QueueSet};
use run_ahead::RunAhead;

#[derive(Clone, Debug, Default)]
struct QueuePair {
    submitted: Ring<Command>,
    /// Number of commands in `submitted` whose submission doorbells have reached the drive.
    known: u32,
    /// Number of fetched commands that occupy a slot in the drive. 64 bits wide, unlike `known`, so that the compiler does not load both fields with
    /// one instruction: after a store to one of them, such a load stalls (failed store-to-load forwarding).
    in_drive: u64,
    /// Number of occupied entries of the completion queue, including the entries that the doorbells in `announced` will free. Not counted in
    /// reactive mode.
    posted: u32,
    /// Arrival times of completion doorbells. They are processed only when the drive posts its next completion, because nothing earlier
    /// depends on them. While completions are held, each doorbell is an event instead.
    announced: Ring<Time>,
    /// Completed commands that wait for a free entry of the completion queue.
    held: VecDeque<RequestId>,
}

#[derive(Clone, Debug)]
pub struct Nvme {
    link: Link,
    messages: Messages,
    queues: Vec<QueuePair>,
    /// Queues with a command to fetch, and with fewer than `fetch-size` commands in the drive.
    ready: QueueSet,
    arbiter: Arbiter,
    limits: Limits,
    /// Number of commands, over all queues, whose submission doorbells have reached the drive and whose fetch has not begun.
    known: u32,
    in_drive: u32,
    /// Whether messages in flight are kept in `ahead` instead of being events (run-ahead mode).
    is_ahead: bool,
    ahead: RunAhead,
    /// Commands whose read requests for the submission entry are in flight to the host, in the order of sending. Empty in run-ahead mode.
    entries_asked: Ring<Command>,
    /// Writes whose submission entry, or whose read request for the data, is in flight, in the order of sending. Empty in run-ahead mode.
    data_asked: Ring<Command>,
    doorbells: Doorbells,
}

/// The messages of the protocol other than data.
#[derive(Clone, Copy, Debug)]
struct Messages {
    doorbell: Message,
    /// A completion doorbell and a submission doorbell, sent back to back.
    both_doorbells: Message,
    /// The drive's read request for an entry or for write data.
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

    /// Returns whether no message has a duration of zero.
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
    /// Creates a controller with one queue pair for each of `priorities`, which are the priorities of the streams.
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
            ahead: RunAhead::default(),
            entries_asked: Ring::default(),
            data_asked: Ring::default(),
            doorbells: Doorbells::default(),
            link,
        }
    }

    /// Fetches commands while the drive has free slots. Inlined, so that no call is needed if no command waits to be fetched.
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
            events.notify(InterfaceNotice::Fetched(command.stream, command.request));
            if self.is_ahead {
                self.fetch_ahead(command, now);
                continue;
            }
            self.entries_asked.push_back(command);
            let at = self.link.send(Direction::ToHost, self.messages.read_request, now);
            events.schedule(at, HostEvent::Wake(WakeReason::EntryRead));
        }
    }

    /// Dequeues the command to fetch next; `None` if no command waits to be fetched, or the drive has no free slot.
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
        self.update_ready(stream);
        Some(command)
    }

    /// Updates the bit of `stream` in `ready`, after the counts of its queue have changed.
    #[inline]
    fn update_ready(&mut self, stream: StreamId) {
        let queue = &self.queues[stream.index()];
        self.ready.set(stream, queue.known > 0 && queue.in_drive < u64::from(self.limits.fetch_size));
    }

    /// Frees one entry of the completion queue of `stream`.
    #[inline]
    fn freed<A: EventSink>(&mut self, stream: StreamId, events: &mut A) {
        self.queues[stream.index()].posted -= 1;
        events.notify(InterfaceNotice::Freed(stream));
    }

    /// Processes the completion doorbells of `stream` that reach the drive by `now`, inclusive.
    #[inline]
    fn process_cq_doorbells<A: EventSink>(&mut self, stream: StreamId, now: Time, events: &mut A) {
        while self.queues[stream.index()].announced.front().is_some_and(|&at| at <= now) {
            self.queues[stream.index()].announced.pop_front();
            self.freed(stream, events);
        }
    }

    /// Counts a command of `stream` that waits to be fetched, because its submission doorbell has reached the drive.
    #[inline]
    fn count_known(&mut self, stream: StreamId) {
        let queue = &mut self.queues[stream.index()];
        queue.known += 1;
        self.known += 1;
        self.update_ready(stream);
    }

    /// Processes a submission doorbell: counts the command, then fetches commands while slots are free.
    #[inline(never)]
    fn submission_doorbell<A: EventSink>(&mut self, stream: StreamId, now: Time, events: &mut A) {
        self.count_known(stream);
        events.notify(InterfaceNotice::Rung(stream));
        self.fetch(now, events);
    }

    /// Processes a completion doorbell while completions are held: posts the oldest held completion.
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

    /// Posts the completion of a command. Returns the time at which the completion reaches the host; `None` if the completion queue is full and the
    /// completion is held.
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
            self.process_cq_doorbells(stream, now, events);
            let queue = &mut self.queues[stream.index()];
            if queue.posted >= self.limits.completion_depth {
                self.hold(request, stream, events);
                return None;
            }
            queue.posted += 1;
        }
        Some(self.post(request, stream, now, events))
    }

    /// Holds a completion until a doorbell frees an entry of the completion queue. While any completion of `stream` is held, the completion doorbells
    /// of `stream` are events, including doorbells already in flight.
    #[cold]
    fn hold<A: EventSink>(&mut self, request: RequestId, stream: StreamId, events: &mut A) {
        let queue = &mut self.queues[stream.index()];
        queue.held.push_back(request);
        while let Some(at) = queue.announced.pop_front() {
            events.schedule(at, HostEvent::Wake(WakeReason::CompletionDoorbell(stream)));
        }
    }

    /// Frees the slot of the completed command, fetches further commands, and sends the completion. Returns the time at which the
    /// completion reaches the host.
    #[inline(always)]
    fn post<A: EventSink>(&mut self, request: RequestId, stream: StreamId, now: Time, events: &mut A) -> Time {
        let queue = &mut self.queues[stream.index()];
        queue.in_drive -= 1;
        self.in_drive -= 1;
        if queue.known > 0 {
            self.update_ready(stream);
        }
        events.notify(InterfaceNotice::Finished(stream, request));
        self.fetch(now, events);
        events.notify(InterfaceNotice::Posted(stream, request));
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
        events.notify(InterfaceNotice::Queued(command.stream, command.request));
        if self.is_ahead {
            self.catch_up_to(now);
            return self.issue_ahead(command, now, events);
        }
        self.doorbells.submission += 1;
        let at = self.link.send(Direction::ToDrive, self.messages.doorbell, now);
        self.queues[command.stream.index()].submitted.push_back(command);
        events.schedule(at, HostEvent::Wake(WakeReason::SubmissionDoorbell(command.stream)));
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
    fn consume_completion<A: EventSink>(&mut self, stream: StreamId, now: Time, events: &mut A) {
        events.notify(InterfaceNotice::Taken(stream));
        self.catch_up_to(now);
        self.doorbells.completion += 1;
        let at = self.link.send(Direction::ToDrive, self.messages.doorbell, now);
        let queue = &mut self.queues[stream.index()];
        if queue.held.is_empty() {
            queue.announced.push_back(at);
        } else {
            events.schedule(at, HostEvent::Wake(WakeReason::CompletionDoorbell(stream)));
        }
    }

    /// Handles a wake-up. Inlined except for doorbells, because the work per message takes less time than a call.
    #[inline(always)]
    fn wake<A: EventSink>(&mut self, token: WakeReason, now: Time, events: &mut A) {
        match token {
            WakeReason::SubmissionDoorbell(stream) => self.submission_doorbell(stream, now, events),
            WakeReason::CompletionDoorbell(stream) => self.completion_doorbell(stream, now, events),
            WakeReason::EntryRead => {
                let Some(command) = self.entries_asked.pop_front() else { return };
                let at = self.link.send(Direction::ToDrive, self.messages.submission, now);
                if command.data > Bytes::ZERO {
                    self.data_asked.push_back(command);
                    events.schedule(at, HostEvent::Wake(WakeReason::EntryArrived));
                } else {
                    events.schedule(at, HostEvent::InDrive(command.request));
                }
            }
            WakeReason::EntryArrived => {
                let at = self.link.send(Direction::ToHost, self.messages.read_request, now);
                events.schedule(at, HostEvent::Wake(WakeReason::DataRead));
            }
            WakeReason::DataRead => {
                let Some(command) = self.data_asked.pop_front() else { return };
                let at = self.link.send_data(Direction::ToDrive, command.data, now);
                events.schedule(at, HostEvent::InDrive(command.request));
            }
            WakeReason::AdapterIssue => {}
        }
    }

    fn link(&self) -> &Link {
        &self.link
    }

    fn doorbells(&self) -> Doorbells {
        self.doorbells
    }
}
