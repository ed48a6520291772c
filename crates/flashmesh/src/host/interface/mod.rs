//! Host interfaces: the transfer of commands and data between host and drive. Defines the trait and lists its implementations.

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
    /// Size of the write data that the host sends with the command; zero if the command has none.
    pub data: Bytes,
}

impl Default for Command {
    /// Returns a placeholder for empty slots of a ring.
    fn default() -> Command {
        Command { request: RequestId(u32::MAX), stream: StreamId(0), data: Bytes::ZERO }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HostEvent {
    /// Arrival of a command and its write data in the drive.
    InDrive(RequestId),
    AtHost(RequestId),
    /// A wake-up that the interface scheduled for itself.
    Wake(WakeReason),
}

/// The reason for a wake-up: the arrival of a message, or the end of a delay.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WakeReason {
    /// A submission doorbell reaches the drive: a queue has a new command.
    SubmissionDoorbell(StreamId),
    /// A completion doorbell reaches the drive: the host has taken a completion.
    CompletionDoorbell(StreamId),
    EntryRead,
    /// The submission entry of a write reaches the drive.
    EntryArrived,
    /// The drive's read request for the data of a write reaches the host.
    DataRead,
    /// The host adapter has processed a command.
    AdapterIssue,
}

/// A step of a command through the queues, reported to probes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InterfaceNotice {
    /// The host put a command into the submission queue of a stream.
    Queued(StreamId, RequestId),
    /// The drive received a submission doorbell of a stream.
    Rung(StreamId),
    /// The drive began to fetch a command from the submission queue of a stream.
    Fetched(StreamId, RequestId),
    /// The slot of a command in the drive became free.
    Finished(StreamId, RequestId),
    /// The drive sent a completion to the completion queue of a stream.
    Posted(StreamId, RequestId),
    /// The host took a completion from the completion queue of a stream.
    Taken(StreamId),
    /// The drive received a completion doorbell of a stream: the completion queue has one more free entry.
    Freed(StreamId),
}

pub trait EventSink {
    /// Schedules `event` at `at`, which is not in the past.
    fn schedule(&mut self, at: Time, event: HostEvent);

    /// Schedules the arrival event at `at`, and cancels the arrival event scheduled before. The handler of the arrival event calls
    /// [`Nvme::arrived`]. Only used in run-ahead mode, in which the messages of a command are not events. No command reaches the drive
    /// before `at`.
    fn schedule_arrival(&mut self, at: Time);

    fn notify(&mut self, seen: InterfaceNotice);
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Doorbells {
    pub submission: u64,
    pub completion: u64,
}

/// A host interface: a state machine that contains the link. The time is an argument of each method.
///
/// # Contract
/// - The interface reports each issued command once, when the command and its write data are in the drive: with [`HostEvent::InDrive`], or in
///   run-ahead mode as a return value of [`Nvme::arrived`]. The simulation calls [`Interface::send_data`] for the read data of the command, then
///   [`Interface::respond`] once.
/// - The interface reports each response once with [`HostEvent::AtHost`], after all read data that was sent before the response. The simulation then
///   calls [`Interface::consume_completion`], and after that issues commands that waited for the completion.
/// - Commands reach the drive, and completions the host, in the order in which their events are scheduled: the times of each direction never
///   decrease.
/// - The simulation calls [`Interface::wake`] with each token at the time it was scheduled for.
/// - An interface may hold commands and responses back while others are in flight, but not forever.
/// - An interface is deterministic, and schedules nothing in the past.
#[enum_dispatch]
pub trait Interface {
    fn issue<A: EventSink>(&mut self, command: Command, now: Time, events: &mut A);

    fn send_data(&mut self, bytes: Bytes, now: Time);

    fn respond<A: EventSink>(&mut self, request: RequestId, stream: StreamId, now: Time, events: &mut A);

    fn consume_completion<A: EventSink>(&mut self, stream: StreamId, now: Time, events: &mut A);

    fn wake<A: EventSink>(&mut self, token: WakeReason, now: Time, events: &mut A);

    fn link(&self) -> &Link;

    /// Returns the busy time up to `now` of the busier direction of the host adapter; `None` without an adapter.
    fn adapter_busy(&self, _now: Time) -> Option<Time> {
        None
    }

    fn doorbells(&self) -> Doorbells;
}

/// Any host interface. The methods of `Nvme` and `Sata` are calls, not inlined code, so that the dispatch is small enough to be inlined into a loop.
#[enum_dispatch(Interface)]
#[derive(Clone, Debug)]
// The explicit tag of `repr(u8)` allows a test of the variant with one instruction.
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

    /// Starts run-ahead mode, if the interface supports the mode: messages that bring a command to the drive are computed without an event
    /// for each message. No probe may be attached, and no message may be in flight.
    pub fn run_ahead(&mut self) {
        if let AnyInterface::Nvme(nvme) = self {
            nvme.run_ahead();
        }
    }

    /// Declares the host reactive from now on: in response to a completion, the host issues at most one command, of the same stream, and
    /// does nothing else. At most `queue_depth` commands per stream are outstanding. Returns false if the interface cannot compute the
    /// arrival of a completion at the time of sending.
    pub fn begin_reactive(&mut self, queue_depth: u32) -> bool {
        match self {
            AnyInterface::Direct(direct) => direct.separates_completions(),
            AnyInterface::Nvme(nvme) => nvme.begin_reactive(queue_depth),
            AnyInterface::Sata(_) => false,
        }
    }

    /// Sends a completion to a reactive host. Returns the time at which the completion reaches the host. `None` if the time is not yet
    /// known; the arrival is then an event.
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

    /// Issues the command with which a reactive host responds to a completion. `at` is the time in the future at which the completion
    /// arrives.
    #[inline(always)]
    pub fn issue_on_completion<A: EventSink>(&mut self, command: Command, at: Time, events: &mut A) {
        match self {
            AnyInterface::Direct(direct) => direct.issue(command, at, events),
            AnyInterface::Nvme(nvme) => nvme.issue_on_completion(command, at, events),
            AnyInterface::Sata(sata) => sata.issue(command, at, events),
        }
    }

    /// Processes deferred messages that arrive before `at`, so that the traffic counts of the link are up to date.
    pub fn catch_up(&mut self, at: Time) {
        if let AnyInterface::Nvme(nvme) = self {
            nvme.catch_up_before(at);
        }
    }

    // The following methods are inlined: the work of `Direct` takes less time than a call, and the methods of the other interfaces are already calls.

    /// Issues a command, like [`Interface::issue`].
    #[inline(always)]
    pub fn issue<A: EventSink>(&mut self, command: Command, now: Time, events: &mut A) {
        match self {
            AnyInterface::Direct(direct) => direct.issue(command, now, events),
            AnyInterface::Nvme(nvme) => nvme.issue(command, now, events),
            AnyInterface::Sata(sata) => sata.issue(command, now, events),
        }
    }

    /// Sends a response, like [`Interface::respond`].
    #[inline(always)]
    pub fn respond<A: EventSink>(&mut self, request: RequestId, stream: StreamId, now: Time, events: &mut A) {
        match self {
            AnyInterface::Direct(direct) => direct.respond(request, stream, now, events),
            AnyInterface::Nvme(nvme) => nvme.respond(request, stream, now, events),
            AnyInterface::Sata(sata) => sata.respond(request, stream, now, events),
        }
    }

    /// Sends read data, like [`Interface::send_data`].
    #[inline(always)]
    pub fn send_data(&mut self, bytes: Bytes, now: Time) {
        match self {
            AnyInterface::Direct(direct) => direct.send_data(bytes, now),
            AnyInterface::Nvme(nvme) => nvme.send_data(bytes, now),
            AnyInterface::Sata(sata) => sata.send_data(bytes, now),
        }
    }

    /// Records a taken completion, like [`Interface::consume_completion`].
    #[inline(always)]
    pub fn consume_completion<A: EventSink>(&mut self, stream: StreamId, now: Time, events: &mut A) {
        match self {
            AnyInterface::Direct(direct) => direct.consume_completion(stream, now, events),
            AnyInterface::Nvme(nvme) => nvme.consume_completion(stream, now, events),
            AnyInterface::Sata(sata) => sata.consume_completion(stream, now, events),
        }
    }

    /// Handles a wake-up, like [`Interface::wake`].
    #[inline(always)]
    pub fn wake<A: EventSink>(&mut self, token: WakeReason, now: Time, events: &mut A) {
        match self {
            AnyInterface::Direct(direct) => direct.wake(token, now, events),
            AnyInterface::Nvme(nvme) => nvme.wake(token, now, events),
            AnyInterface::Sata(sata) => sata.wake(token, now, events),
        }
    }
}

#[cfg(test)]
mod tests;
