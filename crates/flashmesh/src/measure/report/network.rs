//! Recording of the transfers over the interconnect in a window of a run.

use crate::fabric::{Cause, ScoutMove, TransferKind, TransferPhase};
use crate::workload::RequestKind;
use crate::{names, quantities};

quantities! {
    /// Transfers over the interconnect in a window of the run (`measure.window-start`, `measure.window-length`).
    #[derive(Default)]
    NetworkReport as "NetworkRecording" {
        /// Kind of the interconnect.
        fabric: &'static str;
        /// Explanation of the interconnect, for a reader who does not know it.
        about: &'static str;
        /// Simulated time at which the recording begins.
        start_ps: u64, in "ps";
        /// Simulated time at which the recording ends.
        end_ps: u64, in "ps";
        /// Whether the recording ended before its window, because it was full (`measure.network-events-max`).
        is_cut: bool;
        /// Requests to which the transfers belong, in the order of issue.
        requests: Vec<RecordedRequest>;
        /// Transfers that requested or held a path within the window, in the order of their requests.
        transfers: Vec<RecordedTransfer>;
        /// Uses of links within the window, by the path of a transfer or by a scout's reservation.
        holds: Vec<RecordedHold>;
        /// Moves of the scouts of Venice within the window, in order.
        scouts: Vec<RecordedScoutStep>;
    }
}

quantities! {
    /// A request of the recording.
    #[derive(Eq)]
    RecordedRequest as "RecordedRequest" {
        /// Sequence number of the request, in the order of issue from 1.
        number: u64;
        /// Index of the stream of the request, from 0.
        stream: u64;
        /// Kind of the request.
        kind: RequestKind;
        /// Offset of the request on the drive.
        offset_bytes: u64, in "B";
        /// Size of the request.
        size_bytes: u64, in "B";
        /// Time at which the host issued the request.
        issued_ps: u64, in "ps";
        /// Time at which the request completed.
        completed_ps: Option<u64>, in "ps", null "when it had not completed by the end of the recording";
    }
}

quantities! {
    /// A transfer of a command or of data.
    #[derive(Eq)]
    RecordedTransfer as "RecordedTransfer" {
        /// Die of the transfer. If the dies of a chip take turns, the first die of the chip until the message is sent.
        die: u64;
        /// Phase of the operation for which the path was requested.
        phase: Phase;
        /// Message that was sent over the path.
        message: Option<Sending>, null "when nothing was sent by the end of the recording, or at all";
        /// Numbers of the requests to which the transfer belongs; none for firmware work, or if nothing was sent.
        requests: Vec<u64>;
        /// Time at which the die requested the path.
        asked_ps: u64, in "ps";
        /// Time at which the path was granted.
        granted_ps: Option<u64>, in "ps", null "when it had not got it by the end of the recording";
        /// Time at which the message had arrived.
        delivered_ps: Option<u64>, in "ps", null "when it had not arrived by the end of the recording";
        /// Time at which the path was released.
        released_ps: Option<u64>, in "ps", null "when it was held at the end of the recording";
        /// Obstacles that blocked the path, in order; empty if the path was free at the first attempt.
        causes: Vec<Obstacle>;
        /// Time for which the path was blocked.
        blocked_ps: u64, in "ps";
    }
}

quantities! {
    /// A use of a link.
    #[derive(Eq)]
    RecordedHold as "RecordedHold" {
        /// Index of the link in `links.names`, from 0.
        link: u64;
        /// Die for which the link was held.
        die: u64;
        /// Index in `transfers` of the transfer for which the link was held, from 0.
        transfer: Option<u64>, null "for acknowledgements, and for transfers of before the recording";
        /// Time at which the use of the link starts.
        from_ps: u64, in "ps";
        /// Time at which the use of the link ends.
        until_ps: u64, in "ps";
    }
}

quantities! {
    /// A step of a scout of Venice.
    #[derive(Eq)]
    RecordedScoutStep as "RecordedScoutStep" {
        /// Time at which the step begins.
        at_ps: u64, in "ps";
        /// Controller that sent the scout.
        controller: u64;
        /// Die for which the scout searches a path.
        die: u64;
        /// Move of the scout: forward, back, or the end of its search.
        step: ScoutMove;
        /// Chip of the router to which the scout moves, or where it is.
        to_chip: Option<u64>, null "when that is its controller";
    }
}

names! {
    /// Phase of an operation for which a path is requested.
    Phase {
        /// The next command of the die, with the data of a program.
        Command = "command",
        /// Read data.
        Data = "data",
        /// Read data to another chip.
        Copy = "copy",
    }
}

names! {
    /// Message that is sent over a path.
    Sending {
        /// A read command.
        Read = "read",
        /// A program command with its data.
        Program = "program",
        /// An erase command.
        Erase = "erase",
        /// A command to move pages within their plane.
        Copyback = "copyback",
        /// Read data of one page.
        Data = "data",
        /// Read data of one page, to another chip.
        Copy = "copy",
    }
}

names! {
    /// Obstacle on the path of a transfer.
    Obstacle {
        /// The channel, or the pins of the chip, carry another transfer.
        Channel = "channel",
        /// No controller that can serve the chip is free.
        Controller = "controller",
        /// A link between routers carries another transfer.
        Link = "link",
    }
}

impl From<TransferPhase> for Phase {
    fn from(phase: TransferPhase) -> Phase {
        match phase {
            TransferPhase::Command => Phase::Command,
            TransferPhase::DataOut => Phase::Data,
            TransferPhase::Copy => Phase::Copy,
        }
    }
}

impl From<TransferKind> for Sending {
    fn from(message: TransferKind) -> Sending {
        match message {
            TransferKind::Read => Sending::Read,
            TransferKind::Program => Sending::Program,
            TransferKind::Erase => Sending::Erase,
            TransferKind::Copyback => Sending::Copyback,
            TransferKind::Data => Sending::Data,
            TransferKind::ChipToChipData => Sending::Copy,
        }
    }
}

impl From<Cause> for Obstacle {
    fn from(cause: Cause) -> Obstacle {
        match cause {
            Cause::Channel => Obstacle::Channel,
            Cause::Controller => Obstacle::Controller,
            Cause::Link => Obstacle::Link,
        }
    }
}
