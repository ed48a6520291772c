//! Recording of the transfers over the interconnect in a window of a run.

use crate::fabric::{Cause, Message, ScoutMove, TransferPhase};
use crate::workload::RequestKind;
use crate::{names, quantities};

quantities! {
    /// Transfers over the interconnect in a window of the run (`measure.window-start`, `measure.window-length`).
    #[derive(Default)]
    NetworkReport as "NetworkRecording" {
        /// The kind of the interconnect.
        fabric: &'static str;
        /// How it works, for somebody who sees it for the first time.
        about: &'static str;
        /// When the recording begins, in simulated time.
        start_ps: u64, in "ps";
        /// When it ends.
        end_ps: u64, in "ps";
        /// Whether it ended before its window did, because it was full (`measure.network-events-max`).
        is_cut: bool;
        /// The requests that transfers were for, in the order of issue.
        requests: Vec<RecordedRequest>;
        /// Transfers that wanted or had a path within the window, in the order in which they asked for it.
        transfers: Vec<RecordedTransfer>;
        /// Spans in which links were held within the window: by paths of transfers, or reserved by a scout.
        holds: Vec<RecordedHold>;
        /// Moves of the scouts of Venice within the window, in order.
        scouts: Vec<RecordedScoutStep>;
    }
}

quantities! {
    /// A request.
    #[derive(Eq)]
    RecordedRequest as "RecordedRequest" {
        /// Its place in the order of issue, from 1 on.
        number: u64;
        /// The place of its stream among the streams, from 0 on.
        stream: u64;
        /// Kind of the request.
        kind: RequestKind;
        /// Where it begins on the drive.
        offset_bytes: u64, in "B";
        /// Bytes of the request.
        size_bytes: u64, in "B";
        /// When the host issued it.
        issued_ps: u64, in "ps";
        /// When it completed.
        completed_ps: Option<u64>, in "ps", null "when it had not completed by the end of the recording";
    }
}

quantities! {
    /// A transfer of a command or of data.
    #[derive(Eq)]
    RecordedTransfer as "RecordedTransfer" {
        /// The die it is to or from; the first one of its chip where dies take turns, until something is sent.
        die: u64;
        /// Phase of the operation that the path was for.
        phase: Phase;
        /// Message that was sent.
        message: Option<Sending>, null "when nothing was sent by the end of the recording, or at all";
        /// The numbers of the requests it was for; none where it was work of the firmware, or nothing was sent.
        requests: Vec<u64>;
        /// When the die asked for the path.
        asked_ps: u64, in "ps";
        /// When it got it.
        granted_ps: Option<u64>, in "ps", null "when it had not got it by the end of the recording";
        /// When what was sent had arrived.
        delivered_ps: Option<u64>, in "ps", null "when it had not arrived by the end of the recording";
        /// When the path was given back.
        released_ps: Option<u64>, in "ps", null "when it was held at the end of the recording";
        /// Obstacles on the path, in the order in which they were met; empty when the path was free at the first try.
        causes: Vec<Obstacle>;
        /// How long something was in the way.
        blocked_ps: u64, in "ps";
    }
}

quantities! {
    /// A link was held.
    #[derive(Eq)]
    RecordedHold as "RecordedHold" {
        /// The link: its place in `links.names`, from 0 on.
        link: u64;
        /// The die it was held for.
        die: u64;
        /// The transfer it was held for: its place in `transfers`, from 0 on.
        transfer: Option<u64>, null "for acknowledgements, and for transfers of before the recording";
        /// From when.
        from_ps: u64, in "ps";
        /// Until when.
        until_ps: u64, in "ps";
    }
}

quantities! {
    /// A step of a scout of Venice.
    #[derive(Eq)]
    RecordedScoutStep as "RecordedScoutStep" {
        /// When it takes the step.
        at_ps: u64, in "ps";
        /// The controller that sent it.
        controller: u64;
        /// The die it looks for a path to.
        die: u64;
        /// Move of the scout.
        step: ScoutMove;
        /// The chip whose router it goes to, or is at.
        to_chip: Option<u64>, null "when that is its controller";
    }
}

names! {
    /// Phase of an operation that a path is for.
    Phase {
        /// The next command of the die, with the data of a program.
        Command = "command",
        /// Data that was read.
        Data = "data",
        /// Data that goes to another chip.
        Copy = "copy",
    }
}

names! {
    /// Message over a path.
    Sending {
        /// A command to read.
        Read = "read",
        /// A command to program, with its data.
        Program = "program",
        /// A command to erase.
        Erase = "erase",
        /// A command to move pages inside their planes.
        Copyback = "copyback",
        /// The data of a page.
        Data = "data",
        /// The data of a page, to another chip.
        Copy = "copy",
    }
}

names! {
    /// Obstacle on the path of a transfer.
    Obstacle {
        /// The channel, or the pins of the chip, carry something else.
        Channel = "channel",
        /// No controller that may serve it is free.
        Controller = "controller",
        /// A link between routers carries something else.
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

impl From<Message> for Sending {
    fn from(message: Message) -> Sending {
        match message {
            Message::Read => Sending::Read,
            Message::Program => Sending::Program,
            Message::Erase => Sending::Erase,
            Message::Copyback => Sending::Copyback,
            Message::Data => Sending::Data,
            Message::Copy => Sending::Copy,
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
