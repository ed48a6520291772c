//! The section `[fabric]` of a configuration: its parameters, and the types of their values.

use crate::config::choices::{self, choices};
use crate::config::form::{Form, Misfit, plain_form, toml_string};
use crate::config::node::{Node, Value};
use crate::config::reference::{Choice, ParameterType};
use crate::config::section::section;
use crate::units::Rate;

choices! {
    /// The interconnect between controllers and chips.
    FabricKind {
        /// One half-duplex channel per row of chips.
        Bus = "bus",
        /// The bus with twice the rate, and with packets that the chips decode (pSSD).
        Pssd = "pssd",
        /// A horizontal channel per row of chips and a vertical channel per column, with packets (pnSSD). The array must be square.
        Pnssd = "pnssd",
        /// A packet-switched network with a router in each chip (NoSSD).
        Nossd = "nossd",
        /// A mesh of routers in which scouts reserve a circuit for each transfer (Venice).
        Venice = "venice",
        /// A private channel per chip: no path is shared.
        Ideal = "ideal",
    }
}

impl FabricKind {
    /// Returns whether `names` are the names of all kinds, in the order of declaration. Tables with an entry per kind assert this at compile time.
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
    /// The transfer that is granted a channel when several wait.
    Arbitration {
        /// Transfers of commands (with their write data) before transfers of data out.
        CommandFirst = "command-first",
        /// Like `command-first`, but a die whose data has just left requests the path for its next command before the channel is granted. So dies
        /// sense while other dies send data, as in SSDsim, the simulator of MBM.
        NextCommandFirst = "next-command-first",
        /// Transfers of data out before transfers of commands.
        DataFirst = "data-first",
        /// Transfers in the order of their requests: first come, first served.
        OldestFirst = "oldest-first",
        /// Transfers of the dies in turn (round robin).
        RoundRobin = "round-robin",
        /// Data out before commands. Data of requests goes before data of garbage collection, otherwise in the order of sensing, with all
        /// planes of an operation together. Commands go in the cyclic order of the chips, starting after the chip of the last command.
        DataFirstRoundRobin = "data-first-round-robin",
        /// Like `data-first-round-robin`, but commands of one request that find the channel idle also go in the cyclic order of the chips, not in the
        /// order of the pages.
        DataFirstTogether = "data-first-together",
    }
}

impl Arbitration {
    /// Returns whether data goes before commands, and commands go in the cyclic order of the chips.
    pub(crate) fn is_data_first_by_chip(self) -> bool {
        matches!(self, Arbitration::DataFirstRoundRobin | Arbitration::DataFirstTogether)
    }
}

/// The transactions that hold their path during the array operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum HoldPath {
    /// No transaction holds its path: a path is held only while bytes move.
    Never,
    /// Every transaction holds its path, whatever its kind.
    Always,
    /// Only reads hold their path.
    Reads,
    /// Only programs, erases and copybacks hold their path.
    Programs,
}

impl HoldPath {
    /// All values, in the order of declaration.
    pub const ALL: [HoldPath; 4] = [HoldPath::Never, HoldPath::Always, HoldPath::Reads, HoldPath::Programs];

    /// Returns whether a read holds its path until its last data has left.
    pub const fn holds_reads(self) -> bool {
        matches!(self, HoldPath::Always | HoldPath::Reads)
    }

    /// Returns whether a program, an erase or a copyback holds its path until the controller is notified of its end.
    pub const fn holds_programs(self) -> bool {
        matches!(self, HoldPath::Always | HoldPath::Programs)
    }

    /// Returns the value in which programs, erases and copybacks hold no path.
    pub const fn without_programs(self) -> HoldPath {
        if self.holds_reads() { HoldPath::Reads } else { HoldPath::Never }
    }

    /// Returns the text that selects the value in a configuration.
    pub const fn name(self) -> &'static str {
        match self {
            HoldPath::Never => "false",
            HoldPath::Always => "true",
            HoldPath::Reads => "reads",
            HoldPath::Programs => "programs",
        }
    }
}

impl std::fmt::Display for HoldPath {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name())
    }
}

impl Form for HoldPath {
    type Value = HoldPath;
    plain_form!();

    fn parameter_type() -> ParameterType {
        ParameterType::Switch
    }

    fn choices() -> Vec<Choice> {
        let doc = |value| match value {
            HoldPath::Never => "No transaction: a path is held while bytes move.",
            HoldPath::Always => "All transactions.",
            HoldPath::Reads => "Reads.",
            HoldPath::Programs => "Programs, erases and copybacks.",
        };
        HoldPath::ALL.map(|value| Choice { name: value.name(), doc: doc(value).to_owned() }).to_vec()
    }

    fn read(node: &Node) -> Result<HoldPath, Misfit> {
        match node.value {
            Value::Boolean(true) => Ok(HoldPath::Always),
            Value::Boolean(false) => Ok(HoldPath::Never),
            _ => choices::place_of(node, &HoldPath::ALL.map(HoldPath::name)).map(|place| HoldPath::ALL[place]),
        }
    }

    fn write(value: &HoldPath) -> Option<String> {
        Some(match value {
            HoldPath::Never | HoldPath::Always => value.name().to_owned(),
            HoldPath::Reads | HoldPath::Programs => toml_string(value.name()),
        })
    }
}

choices! {
    /// The effect of the number of chips on a channel on the rate of the channel.
    ChannelLoad {
        /// No effect: the rate is independent of the number of chips.
        None = "none",
        /// A longer time per byte: the time at the channel rate plus one time constant. The time constant is the resistance of the driver times the
        /// capacitance of the controller and of all chips on the channel (Design for Scalability, PACT 2014, section 3, Shared Channel Model, and
        /// section 4.4).
        Chips = "chips",
    }
}

section! {
    /// The network between controllers and chips.
    Fabric, "fabric" {
        /// Interconnect between controllers and chips.
        kind: FabricKind = FabricKind::Bus, needs plain, step "bus | pssd | pnssd | nossd | venice";
        /// Rate of one channel. Channels of pSSD have twice this rate.
        channel_rate: Rate = Rate::from_bytes_per_second(1_200_000_000),
            in Rate::from_bytes_per_second(1_000)..=Rate::UNLIMITED,
            with "kind" = ["\"bus\"", "\"pssd\"", "\"pnssd\"", "\"ideal\""], needs plain, step "x2";
        /// Effect of the number of chips on a channel on the rate of the channel. In a network between chips, each link connects only two
        /// routers, and its rate is fixed.
        channel_load: ChannelLoad = ChannelLoad::None, with "kind" = ["\"bus\"", "\"pssd\""], needs plain, step "none | chips";
        /// Resistance of the drivers of a channel, in ohms; 35 is the nominal value of ONFI.
        driver_resistance_ohm: u32 = 35, in 1..=1_000, with "channel-load" = ["\"chips\""], needs plain;
        /// Capacitance of a pin of a chip, in femtofarads. ONFI 3.2 allows at most 8 chips of 4,088 on a channel of 533 MB/s.
        chip_capacitance_ff: u32 = 4_088, in 0..=1_000_000, with "channel-load" = ["\"chips\""], needs plain;
        /// Capacitance of a pin of a controller and of the wires of a channel, in femtofarads.
        controller_capacitance_ff: u32 = 0, in 0..=1_000_000, with "channel-load" = ["\"chips\""], needs plain;
        /// Transactions that hold their path (a channel, or a circuit of links) from the command to the last byte of data, or to the end of a program
        /// or erase. Other transactions hold their path only while bytes move.
        hold_path: HoldPath = HoldPath::Never, needs any;
        /// Transfer that is granted a channel when several wait.
        arbitration: Arbitration = Arbitration::CommandFirst,
            with "policy.arbiter" = [""] or "arbitration" = ["\"next-command-first\"", "\"data-first-round-robin\""], needs plain;
    }
}

impl Fabric {
    /// Returns the rate of a channel with `chips` chips. An ohm times a femtofarad is a femtosecond.
    pub fn rate_of_channel(&self, chips: u32) -> Rate {
        const FEMTOSECONDS: u128 = 1_000_000_000_000_000;
        if self.channel_load == ChannelLoad::None {
            return self.channel_rate;
        }
        let own = match self.channel_rate {
            Rate::UNLIMITED => 0,
            rate => FEMTOSECONDS / u128::from(rate.as_bytes_per_second()),
        };
        let capacitance =
            u128::from(self.controller_capacitance_ff) + u128::from(self.chip_capacitance_ff) * u128::from(chips);
        match own + u128::from(self.driver_resistance_ohm) * capacitance {
            0 => Rate::UNLIMITED,
            byte => Rate::from_bytes_per_second(u64::try_from(FEMTOSECONDS / byte).unwrap_or(u64::MAX).max(1)),
        }
    }
}
