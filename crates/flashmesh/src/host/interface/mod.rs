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

/// What an interface knows of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Command {
    /// The request.
    pub request: RequestId,
    /// Whose queue it is issued to.
    pub stream: StreamId,
    /// The data that goes with it from the host to the drive.
    pub data: Bytes,
}

/// Something an interface has asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HostEvent {
    /// The command, and the data that goes with it, is in the drive.
    InDrive(RequestId),
    /// The completion is at the host.
    AtHost(RequestId),
    /// The interface asked to be called.
    Wake(Token),
}

/// What an interface asked to be called for: a message has arrived, or time has passed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Token {
    /// The drive hears that a queue has one command more.
    SubmissionDoorbell(StreamId),
    /// The drive hears that a queue has one completion less.
    CompletionDoorbell(StreamId),
    /// The host is asked for a submission entry.
    EntryRead,
    /// A submission entry whose command writes is in the drive.
    EntryArrived,
    /// The host is asked for the data of a write.
    DataRead,
    /// The adapter of the host has looked at a command.
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

/// Event sink of an interface.
pub trait EventSink {
    /// `event` happens at `at`, which does not lie in the past.
    fn schedule(&mut self, at: Time, event: HostEvent);

    /// Something has just been done.
    fn saw(&mut self, seen: Seen);
}

/// What was counted of doorbells.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Doorbells {
    /// Rung for commands issued.
    pub submission: u64,
    /// Rung for completions taken.
    pub completion: u64,
}

/// An interface between host and drive: a state machine with the link inside, to which time is passed in.
///
/// # Contract
/// - Each command that is issued is announced once with [`HostEvent::InDrive`], when the drive has it and the data that goes with
///   it. The simulation answers once with [`Interface::respond`], after it has given all read data to [`Interface::send_data`].
/// - Each response is announced once with [`HostEvent::AtHost`], not before the read data that was sent earlier has crossed; the
///   simulation then calls [`Interface::taken`], before it issues what waited for the completion.
/// - The simulation calls [`Interface::wake`] with each token at the time it was scheduled for.
/// - An interface may hold commands and responses back for as long as others are in flight, never for good.
/// - It is deterministic, and schedules nothing in the past.
#[enum_dispatch]
pub trait Interface {
    /// The host issues a command at `now`.
    fn issue<A: EventSink>(&mut self, command: Command, now: Time, events: &mut A);

    /// Read data of `bytes` leaves the drive.
    fn send_data(&mut self, bytes: Bytes, now: Time);

    /// The drive is done with a command of `stream`.
    fn respond<A: EventSink>(&mut self, request: RequestId, stream: StreamId, now: Time, events: &mut A);

    /// The host has taken a completion of `stream`.
    fn taken<A: EventSink>(&mut self, stream: StreamId, now: Time, events: &mut A);

    /// The time of `token` has come.
    fn wake<A: EventSink>(&mut self, token: Token, now: Time, events: &mut A);

    /// The link, to see what it carried.
    fn link(&self) -> &Link;

    /// How long the busier way of an adapter in the host was at work up to `now`; `None` where there is none.
    fn adapter_busy(&self, _now: Time) -> Option<Time> {
        None
    }

    /// The doorbells rung so far.
    fn doorbells(&self) -> Doorbells;
}

/// The interfaces, one line each.
#[enum_dispatch(Interface)]
#[derive(Debug)]
#[allow(missing_docs, reason = "each implementation carries its documentation")]
pub enum AnyInterface {
    Direct(Direct),
    Nvme(Nvme),
    Sata(Sata),
}

impl AnyInterface {
    /// Builds the interface that `config` names, with one queue for each of `priorities`.
    pub fn new(config: &Config, priorities: &[Priority]) -> AnyInterface {
        match config.host.interface {
            config::InterfaceKind::Direct => {
                AnyInterface::Direct(Direct::new(&config.host, Link::new(&config.host, false)))
            }
            config::InterfaceKind::Nvme => AnyInterface::Nvme(Nvme::new(config, priorities)),
            config::InterfaceKind::Sata => AnyInterface::Sata(Sata::new(config)),
        }
    }
}

#[cfg(test)]
mod tests;
