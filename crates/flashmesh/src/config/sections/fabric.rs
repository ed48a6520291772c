//! `[fabric]`

use crate::config::choices::choices;
use crate::config::section::section;
use crate::units::Rate;

choices! {
    /// How bytes get from a controller to a chip.
    FabricKind {
        /// One half-duplex channel per row of chips.
        Bus = "bus",
        /// The bus with twice the rate and packets, which the chips decode (pSSD).
        Pssd = "pssd",
        /// A horizontal channel per row of chips and a vertical one per column, with packets (pnSSD); the array is square.
        Pnssd = "pnssd",
        /// A network of routers, one in each chip, that carries packets (NoSSD).
        Nossd = "nossd",
        /// A mesh of routers in which scouts reserve a circuit for each transfer (Venice).
        Venice = "venice",
        /// A private channel per chip: no path is ever shared.
        Ideal = "ideal",
    }
}

impl FabricKind {
    /// Whether `names` are those of all kinds, in their order: what has an entry for each kind asserts it when it is compiled.
    pub const fn are_names(names: &[&str]) -> bool {
        if names.len() != FabricKind::ALL.len() {
            return false;
        }
        let mut at = 0;
        while at < names.len() {
            let (name, other) = (names[at].as_bytes(), FabricKind::ALL[at].name().as_bytes());
            let mut byte = 0;
            while byte < name.len() && byte < other.len() && name[byte] == other[byte] {
                byte += 1;
            }
            if byte < name.len() || byte < other.len() {
                return false;
            }
            at += 1;
        }
        true
    }
}

choices! {
    /// Which transfer gets a channel when several wait.
    Arbitration {
        /// Commands (with their write data) before data out.
        CommandFirst = "command-first",
        /// As `command-first`; a die whose data has just left requests the path for its next command before the channel is granted. So
        /// dies sense while others send, as in SSDsim, the simulator of MBM.
        NextCommandFirst = "next-command-first",
        /// Data out before commands.
        DataFirst = "data-first",
        /// First come, first served.
        OldestFirst = "oldest-first",
        /// Round robin over the dies.
        RoundRobin = "round-robin",
        /// Data out before commands: that of requests before that of garbage collection, then whichever was sensed first, all
        /// planes of an operation in one go. Commands in the cyclic order of the chips, from the last that was sent one.
        DataFirstRoundRobin = "data-first-round-robin",
    }
}

section! {
    /// The network between controllers and chips.
    Fabric, "fabric" {
        /// The interconnect.
        kind: FabricKind = FabricKind::Bus, needs plain, step "bus | pssd | pnssd | nossd | venice";
        /// Rate of one channel; that of pSSD is twice as much.
        channel_rate: Rate = Rate::from_bytes_per_second(1_200_000_000),
            in Rate::from_bytes_per_second(1_000)..=Rate::UNLIMITED,
            with "kind" = ["\"bus\"", "\"pssd\"", "\"pnssd\"", "\"ideal\""], needs plain, step "x2";
        /// Hold a path through the operation of the array, from the command to the last byte of the data or to the end of a program or
        /// erase, rather than only while bytes move. Goes with `bus`, `pssd`, `pnssd` and `nossd`, whose links are held as circuits.
        hold_path: bool = false, needs any;
        /// Who gets a channel when several wait.
        arbitration: Arbitration = Arbitration::CommandFirst, needs plain;
    }
}
