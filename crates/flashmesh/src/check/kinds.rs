//! What the oracles expect of each kind of interconnect, stated apart from the [facts](crate::fabric::Facts) that the simulator goes by.

use crate::config::FabricKind;

/// What is expected of a kind of interconnect.
#[derive(Clone, Copy, Debug)]
pub struct Expected {
    /// How `fabric.kind` names it.
    pub name: &'static str,
    /// The links that may lead to a die.
    pub links: LinksToDie,
    /// How long a transfer holds its path.
    pub transfer: Transfer,
    /// Whether a controller on the die decodes every command and frames all data.
    pub decodes_on_die: bool,
    /// Whether its routers have buffers, and draw the power of those.
    pub buffers_in_routers: bool,
}

/// The links that may lead to a die.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LinksToDie {
    /// One: that with the number of its row.
    OfRow,
    /// One: that with the number of its chip.
    OfChip,
    /// Several, or it is not known which.
    Several,
}

/// How long a transfer holds its path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Transfer {
    /// The command and its bytes at `fabric.channel-rate`.
    Signals,
    /// Its packets at so many times `fabric.channel-rate`.
    Packets(u64),
    /// That depends on the path.
    OfPath,
}

/// The kinds, in the order in which the configuration lists them.
static KINDS: [Expected; FabricKind::ALL.len()] = {
    use LinksToDie::{OfChip, OfRow, Several};
    use Transfer::{OfPath, Packets, Signals};
    const fn kind(
        name: &'static str,
        links: LinksToDie,
        transfer: Transfer,
        decodes_on_die: bool,
        buffers_in_routers: bool,
    ) -> Expected {
        Expected { name, links, transfer, decodes_on_die, buffers_in_routers }
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

/// What is expected of the kind with this name; nothing where the oracles do not know it.
pub fn expected(name: &str) -> Option<&'static Expected> {
    KINDS.iter().find(|expected| expected.name == name)
}

/// What is expected of a kind of the configuration.
#[cfg(any(test, feature = "internals"))]
pub(super) fn expected_of(kind: FabricKind) -> &'static Expected {
    &KINDS[kind as usize]
}

/// What holds of any interconnect, for the oracles of one that they do not know.
pub(super) const UNKNOWN: Expected = Expected {
    name: "",
    links: LinksToDie::Several,
    transfer: Transfer::OfPath,
    decodes_on_die: false,
    buffers_in_routers: false,
};
