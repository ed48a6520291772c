//! How commands and data cross between host and drive: the seam, and the registry of interfaces.

mod direct;
mod nvme;
mod sata;

use enum_dispatch::enum_dispatch;

use crate::config::{self, Config, Priority};
use crate::ids::{RequestId, StreamId};
use crate::units::{Bytes, Time};

use super::link::Link;

pub use direct::Direct;
pub use nvme::Nvme;
pub use sata::Sata;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Command {
    pub request: RequestId,
    pub stream: StreamId,
    /// Data that goes with it from host to drive.
    pub data: Bytes,
}

impl Default for Command {
    /// What stands in places that hold nothing.
    fn default() -> Command {
        Command { request: RequestId(u32::MAX), stream: StreamId(0), data: Bytes::ZERO }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HostEvent {
    /// Command and write data are in the drive.
    InDrive(RequestId),
    AtHost(RequestId),
    /// A wake-up that the interface asked for.
    Wake(Token),
}

/// Reason of a wake-up: a message has arrived, or time has passed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Token {
    /// The drive learns of a new command in a queue.
    SubmissionDoorbell(StreamId),
    /// The drive learns that the host took a completion.
    CompletionDoorbell(StreamId),
    EntryRead,
    /// The submission entry of a write is in the drive.
    EntryArrived,
    /// The host receives the request for the data of a write.
    DataRead,
    /// The host adapter has processed a command.
    AdapterIssue,
}

/// What an interface did, for whoever watches it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Seen {
    /// The host put a command into the submission queue of a stream.
    Queued(StreamId, RequestId),
    /// The drive knows of one command more in that queue.
    Rung(StreamId),
    /// The drive began to fetch a command from that queue.
    Fetched(StreamId, RequestId),
    /// The place of a command in the drive is free.
    Finished(StreamId, RequestId),
    /// A completion was sent to the completion queue of a stream.
    Posted(StreamId, RequestId),
    /// The host has taken a completion from that queue.
    Taken(StreamId),
    /// The drive knows of one completion less in that queue.
    Freed(StreamId),
}

pub trait EventSink {
    /// `at` is not in the past.
    fn schedule(&mut self, at: Time, event: HostEvent);

    /// The next command is in the drive at `at` or later: [`Nvme::arrived`] is asked for it then, and not when it was to be asked before. For an
    /// interface that runs ahead.
    fn expect(&mut self, at: Time);

    fn saw(&mut self, seen: Seen);
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Doorbells {
    pub submission: u64,
    pub completion: u64,
}

/// An interface between host and drive: a state machine with the link inside, to which time is passed in.
///
/// # Contract
/// - Each command that is issued is announced once with [`HostEvent::InDrive`], or given once by [`Nvme::arrived`] where that runs ahead, when the drive
///   has it and the data that goes with it. The simulation answers once with [`Interface::respond`], after it has given all read data to [`Interface::send_data`].
/// - Each response is announced once with [`HostEvent::AtHost`], not before the read data that was sent earlier has crossed; the
///   simulation then calls [`Interface::taken`], before it issues what waited for the completion.
/// - Commands reach the drive in the order in which this is scheduled, and so do completions the host: each time is no earlier than the last one of
///   its direction.
/// - The simulation calls [`Interface::wake`] with each token at the time it was scheduled for.
/// - An interface may hold commands and responses back for as long as others are in flight, never for good.
/// - It is deterministic, and schedules nothing in the past.
#[enum_dispatch]
pub trait Interface {
    fn issue<A: EventSink>(&mut self, command: Command, now: Time, events: &mut A);

    fn send_data(&mut self, bytes: Bytes, now: Time);

    fn respond<A: EventSink>(&mut self, request: RequestId, stream: StreamId, now: Time, events: &mut A);

    fn taken<A: EventSink>(&mut self, stream: StreamId, now: Time, events: &mut A);

    fn wake<A: EventSink>(&mut self, token: Token, now: Time, events: &mut A);

    fn link(&self) -> &Link;

    /// Busy time of the busier direction of a host adapter up to `now`; `None` without one.
    fn adapter_busy(&self, _now: Time) -> Option<Time> {
        None
    }

    fn doorbells(&self) -> Doorbells;
}

/// The interfaces, one line each. What each does is kept out of line, save for the direct one: what is dispatched then is small enough to be
/// inlined into a loop.
#[enum_dispatch(Interface)]
#[derive(Clone, Debug)]
// With a tag of its own, which takes one instruction to look at.
#[repr(u8)]
#[allow(missing_docs, reason = "each implementation carries its documentation")]
pub enum AnyInterface {
    Direct(Direct),
    Nvme(Nvme),
    Sata(Sata),
}

impl AnyInterface {
    pub fn new(config: &Config, priorities: &[Priority]) -> AnyInterface {
        match config.host.interface {
            config::InterfaceKind::Direct => {
                AnyInterface::Direct(Direct::new(&config.host, Link::new(&config.host, false)))
            }
            config::InterfaceKind::Nvme => AnyInterface::Nvme(Nvme::new(config, priorities)),
            config::InterfaceKind::Sata => AnyInterface::Sata(Sata::new(config)),
        }
    }

    /// Has the interface schedule no events for messages that nothing waits for, where it can; nobody watches it, and nothing is under way.
    pub fn run_ahead(&mut self) {
        if let AnyInterface::Nvme(nvme) = self {
            nvme.run_ahead();
        }
    }

    /// The host is reactive from now on: it issues one command on each completion, of the same stream, of which at most `queue_depth` are outstanding, and
    /// does nothing else. Gives false where the arrival of a completion is not known when it is sent.
    pub fn begin_reactive(&mut self, queue_depth: u32) -> bool {
        match self {
            AnyInterface::Direct(direct) => direct.separates_completions(),
            AnyInterface::Nvme(nvme) => nvme.begin_reactive(queue_depth),
            AnyInterface::Sata(_) => false,
        }
    }

    /// Sends a completion to a reactive host; gives when it arrives.
    #[inline(always)]
    pub fn complete<A: EventSink>(
        &mut self,
        request: RequestId,
        stream: StreamId,
        now: Time,
        events: &mut A,
    ) -> Option<Time> {
        match self {
            AnyInterface::Direct(direct) => Some(direct.complete(now)),
            AnyInterface::Nvme(nvme) => nvme.complete(request, stream, now, events),
            AnyInterface::Sata(_) => None,
        }
    }

    /// A reactive host issues a command on a completion that arrives at `at`, which is later than now.
    #[inline(always)]
    pub fn issue_on_completion<A: EventSink>(&mut self, command: Command, at: Time, events: &mut A) {
        match self {
            AnyInterface::Direct(direct) => direct.issue(command, at, events),
            AnyInterface::Nvme(nvme) => nvme.issue_on_completion(command, at, events),
            AnyInterface::Sata(sata) => sata.issue(command, at, events),
        }
    }

    /// Does what is put off, as far as it lies before `at`: what the link has carried is looked at.
    pub fn catch_up(&mut self, at: Time) {
        if let AnyInterface::Nvme(nvme) = self {
            nvme.catch_up_before(at);
        }
    }

    // What a request passes is dispatched in line: the direct interface does less than a call costs, and for others a second call would add to
    // that which they are.

    /// As [`Interface::issue`].
    #[inline(always)]
    pub fn issue<A: EventSink>(&mut self, command: Command, now: Time, events: &mut A) {
        match self {
            AnyInterface::Direct(direct) => direct.issue(command, now, events),
            AnyInterface::Nvme(nvme) => nvme.issue(command, now, events),
            AnyInterface::Sata(sata) => sata.issue(command, now, events),
        }
    }

    /// As [`Interface::respond`].
    #[inline(always)]
    pub fn respond<A: EventSink>(&mut self, request: RequestId, stream: StreamId, now: Time, events: &mut A) {
        match self {
            AnyInterface::Direct(direct) => direct.respond(request, stream, now, events),
            AnyInterface::Nvme(nvme) => nvme.respond(request, stream, now, events),
            AnyInterface::Sata(sata) => sata.respond(request, stream, now, events),
        }
    }

    /// As [`Interface::send_data`].
    #[inline(always)]
    pub fn send_data(&mut self, bytes: Bytes, now: Time) {
        match self {
            AnyInterface::Direct(direct) => direct.send_data(bytes, now),
            AnyInterface::Nvme(nvme) => nvme.send_data(bytes, now),
            AnyInterface::Sata(sata) => sata.send_data(bytes, now),
        }
    }

    /// As [`Interface::taken`].
    #[inline(always)]
    pub fn taken<A: EventSink>(&mut self, stream: StreamId, now: Time, events: &mut A) {
        match self {
            AnyInterface::Direct(direct) => direct.taken(stream, now, events),
            AnyInterface::Nvme(nvme) => nvme.taken(stream, now, events),
            AnyInterface::Sata(sata) => sata.taken(stream, now, events),
        }
    }

    /// As [`Interface::wake`].
    #[inline(always)]
    pub fn wake<A: EventSink>(&mut self, token: Token, now: Time, events: &mut A) {
        match self {
            AnyInterface::Direct(direct) => direct.wake(token, now, events),
            AnyInterface::Nvme(nvme) => nvme.wake(token, now, events),
            AnyInterface::Sata(sata) => sata.wake(token, now, events),
        }
    }
}

#[cfg(test)]
mod tests;
