//! SATA: one queue for all streams, and a host adapter that processes each command and each completion.
//!
//! The adapter has two servers, one for commands and one for completions. Each server processes one item at a time, in `sata.processing-delay`. At
//! most `sata.ncq-depth` commands are in the queue (native command queuing has 32 tags); later ones wait in the adapter. The transport between
//! adapter and drive is
//!
//! - with `sata.transport = "frames"`: the cable, which carries frames in one direction at a time (Serial ATA revision 3: the wires of
//!   the other direction carry the flow control). Command, data and completion cross as they are sent, each as its own frame;
//!   `host.packet-payload` = 8 KiB with a `host.packet-overhead` cuts data into frames as the standard does;
//! - with `"doorbells"`: a controller on the host's bus (as AHCI drives on PCIe have), which fetches commands and data from the memory
//!   of the host when it receives doorbells, like `nvme` with one queue.
//!
//! All commands are queued, including those that ATA does not queue (flush) \[choice\].

use std::collections::VecDeque;

use super::nvme::Limits;
use super::{Command, Direct, Doorbells, EventSink, HostEvent, Interface, InterfaceNotice, Nvme, WakeReason};
use crate::config::{Config, Priority, SataTransport};
use crate::host::link::Link;
use crate::ids::{RequestId, StreamId};
use crate::units::{Bytes, Time};

const QUEUE: StreamId = StreamId(0);

/// A server that processes one item at a time.
#[derive(Clone, Debug, Default)]
struct Server {
    free_at: Time,
    busy: Time,
}

impl Server {
    /// Enqueues an item that arrives at `now` and takes `delay`. Returns the time at which its service ends.
    fn take(&mut self, now: Time, delay: Time) -> Time {
        self.free_at = self.free_at.later(now) + delay;
        self.busy += delay;
        self.free_at
    }

    /// Returns a lower bound of the busy time up to `now`: idle gaps between items after `now` are subtracted as if they were busy time.
    fn busy(&self, now: Time) -> Time {
        self.busy.saturating_sub(self.free_at.saturating_sub(now))
    }
}

#[derive(Clone, Debug)]
#[allow(clippy::large_enum_variant, reason = "there is one of them in a drive")]
enum Transport {
    Frames(Direct),
    Doorbells(Nvme),
}

macro_rules! transport {
    ($sata:expr, $transport:ident => $call:expr) => {
        match &mut $sata.transport {
            Transport::Frames($transport) => $call,
            Transport::Doorbells($transport) => $call,
        }
    };
}

#[derive(Clone, Debug)]
pub struct Sata {
    transport: Transport,
    processing_delay: Time,
    outbound: Server,
    inbound: Server,
    issuing: VecDeque<Command>,
    waiting: VecDeque<Command>,
    ncq_depth: u32,
    queued: u32,
}

/// An event sink behind the transport. Delays each completion by the host adapter, and passes on all other events.
struct Inbound<'a, A> {
    events: &'a mut A,
    desk: &'a mut Server,
    delay: Time,
}

impl<A: EventSink> EventSink for Inbound<'_, A> {
    fn schedule(&mut self, at: Time, event: HostEvent) {
        match event {
            HostEvent::AtHost(request) => {
                // The transport schedules completions in the order in which they reach the adapter.
                let at = self.desk.take(at, self.delay);
                self.events.schedule(at, HostEvent::AtHost(request));
            }
            HostEvent::InDrive(_) | HostEvent::Wake(_) => self.events.schedule(at, event),
        }
    }

    fn schedule_arrival(&mut self, at: Time) {
        self.events.schedule_arrival(at);
    }

    fn notify(&mut self, seen: InterfaceNotice) {
        self.events.notify(seen);
    }
}

impl Sata {
    pub fn new(config: &Config) -> Sata {
        let transport = match config.sata.transport {
            SataTransport::Frames => Transport::Frames(Direct::new(&config.host, Link::new(&config.host, true))),
            SataTransport::Doorbells => {
                // These limits are never reached: `ncq-depth` already bounds the commands in the drive, and so the completions.
                let depth = config.sata.ncq_depth;
                let limits = Limits { fetch_size: depth, commands_max: depth, completion_depth: depth };
                Transport::Doorbells(Nvme::with_limits(config, &[Priority::Medium], limits))
            }
        };
        Sata {
            transport,
            processing_delay: config.sata.processing_delay,
            outbound: Server::default(),
            inbound: Server::default(),
            issuing: VecDeque::new(),
            waiting: VecDeque::new(),
            ncq_depth: config.sata.ncq_depth,
            queued: 0,
        }
    }

    fn fill<A: EventSink>(&mut self, now: Time, events: &mut A) {
        while self.queued < self.ncq_depth {
            let Some(command) = self.waiting.pop_front() else { return };
            self.queued += 1;
            if let Transport::Frames(_) = self.transport {
                events.notify(InterfaceNotice::Queued(QUEUE, command.request));
            }
            transport!(self, transport => transport.issue(Command { stream: QUEUE, ..command }, now, events));
        }
    }
}

impl Interface for Sata {
    #[inline(never)]
    fn issue<A: EventSink>(&mut self, command: Command, now: Time, events: &mut A) {
        self.issuing.push_back(command);
        let at = self.outbound.take(now, self.processing_delay);
        events.schedule(at, HostEvent::Wake(WakeReason::AdapterIssue));
    }

    #[inline(never)]
    fn send_data(&mut self, bytes: Bytes, now: Time) {
        transport!(self, transport => transport.send_data(bytes, now));
    }

    #[inline(never)]
    fn respond<A: EventSink>(&mut self, request: RequestId, _stream: StreamId, now: Time, events: &mut A) {
        let mut inbound = Inbound { events, desk: &mut self.inbound, delay: self.processing_delay };
        transport!(self, transport => transport.respond(request, QUEUE, now, &mut inbound));
    }

    #[inline(never)]
    fn consume_completion<A: EventSink>(&mut self, _stream: StreamId, now: Time, events: &mut A) {
        if let Transport::Frames(_) = self.transport {
            events.notify(InterfaceNotice::Taken(QUEUE));
        }
        transport!(self, transport => transport.consume_completion(QUEUE, now, events));
        self.queued -= 1;
        self.fill(now, events);
    }

    #[inline(never)]
    fn wake<A: EventSink>(&mut self, token: WakeReason, now: Time, events: &mut A) {
        match token {
            WakeReason::AdapterIssue => {
                self.waiting.extend(self.issuing.pop_front());
                self.fill(now, events);
            }
            WakeReason::SubmissionDoorbell(_)
            | WakeReason::CompletionDoorbell(_)
            | WakeReason::EntryRead
            | WakeReason::EntryArrived
            | WakeReason::DataRead => {
                let mut inbound = Inbound { events, desk: &mut self.inbound, delay: self.processing_delay };
                transport!(self, transport => transport.wake(token, now, &mut inbound));
            }
        }
    }

    fn link(&self) -> &Link {
        match &self.transport {
            Transport::Frames(transport) => transport.link(),
            Transport::Doorbells(transport) => transport.link(),
        }
    }

    fn adapter_busy(&self, now: Time) -> Option<Time> {
        Some(self.outbound.busy(now).later(self.inbound.busy(now)))
    }

    fn doorbells(&self) -> Doorbells {
        match &self.transport {
            Transport::Frames(transport) => transport.doorbells(),
            Transport::Doorbells(transport) => transport.doorbells(),
        }
    }
}
