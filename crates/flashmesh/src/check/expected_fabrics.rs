//! Properties that the oracles expect of each kind of interconnect, declared independently of the simulator's
//! [info](crate::fabric::FabricInfo).

use crate::config::FabricKind;

/// Properties of an interconnect that the oracles expect.
#[derive(Clone, Copy, Debug)]
pub struct ExpectedFabric {
    /// Name of the interconnect in `fabric.kind`.
    pub name: &'static str,
    /// Rule for the links that lead to a die.
    pub links: LinksToDie,
    /// Rule for the length of time for which a transfer holds its path.
    pub transfer: TransferTiming,
    /// Whether each die has a controller that decodes every command and frames all data.
    pub decodes_on_die: bool,
    /// Whether the routers have buffers, which draw power.
    pub buffers_in_routers: bool,
}

/// The links that lead to a die.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LinksToDie {
    /// One link to the die, which has the number of the channel (row) of the die.
    OfRow,
    /// One link to the die, which has the number of the chip of the die.
    OfChip,
    /// Several links to the die, or an unknown number: the oracle `links` does not check which link is used.
    Several,
}

/// Length of time for which a transfer holds its path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TransferTiming {
    /// Transfer time of the command signals, plus the time of the bytes at `fabric.channel-rate`.
    Signals,
    /// Transfer time of all packets with their framing, at this multiple of `fabric.channel-rate`.
    Packets(u64),
    /// Transfer time that depends on the path, which the oracles do not check.
    OfPath,
}

/// Expected properties of all built-in interconnects, in the order of [`FabricKind::ALL`].
static KINDS: [ExpectedFabric; FabricKind::ALL.len()] = {
    use LinksToDie::{OfChip, OfRow, Several};
    use TransferTiming::{OfPath, Packets, Signals};
    const fn kind(
        name: &'static str,
        links: LinksToDie,
        transfer: TransferTiming,
        decodes_on_die: bool,
        buffers_in_routers: bool,
    ) -> ExpectedFabric {
        ExpectedFabric { name, links, transfer, decodes_on_die, buffers_in_routers }
    }
    [
        kind("bus", OfRow, Signals, false, false),
        kind("pssd", OfRow, Packets(2), true, false),
        kind("pnssd", Several, OfPath, true, false),
        kind("nossd", Several, OfPath, false, true),
        kind("venice", Several, OfPath, false, false),
        kind("ideal", OfChip, Signals, false, false),
    ]
};

const _: () = {
    let mut names = [""; KINDS.len()];
    let mut at = 0;
    while at < KINDS.len() {
        names[at] = KINDS[at].name;
        at += 1;
    }
    assert!(FabricKind::are_names(&names), "the oracles and the choices of `fabric.kind` name other kinds");
};

/// Returns the expected properties of the interconnect with this value of `fabric.kind`; `None` if it is not built in.
pub fn expected_fabric(name: &str) -> Option<&'static ExpectedFabric> {
    KINDS.iter().find(|expected| expected.name == name)
}

/// Returns the expected properties of a built-in interconnect.
#[cfg(any(test, feature = "internals"))]
pub(super) fn expected_of(kind: FabricKind) -> &'static ExpectedFabric {
    &KINDS[kind as usize]
}

/// Properties of an unknown interconnect. They assume nothing, so that the oracles accept any behaviour.
pub(super) const UNKNOWN: ExpectedFabric = ExpectedFabric {
    name: "",
    links: LinksToDie::Several,
    transfer: TransferTiming::OfPath,
    decodes_on_die: false,
    buffers_in_routers: false,
};
