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
        /// A private channel per chip: no path is ever shared.
        Ideal = "ideal",
    }
}

choices! {
    /// Who gets a channel when several wait for it.
    Arbitration {
        /// Commands (with the data they carry) before data out.
        CommandFirst = "command-first",
        /// Data out before commands.
        DataFirst = "data-first",
        /// Whoever waits longest.
        OldestFirst = "oldest-first",
        /// The next die in cyclic order.
        RoundRobin = "round-robin",
    }
}

choices! {
    /// How a scout of Venice finds its way.
    Routing {
        /// A minimal port when one is free, else any: non-minimal and fully adaptive.
        Venice = "venice",
        /// Any free minimal port, no detours.
        MinimalAdaptive = "minimal-adaptive",
        /// First along the row, then along the column.
        Xy = "xy",
        /// Any free port.
        RandomDfs = "random-dfs",
    }
}

choices! {
    /// How a router of Venice draws one of several ports.
    TieBreak {
        /// By its 2-bit linear-feedback shift register, with the bias of that.
        Lfsr = "lfsr",
        /// Each with the same probability.
        Uniform = "uniform",
    }
}

section! {
    /// The network between controllers and chips.
    Fabric, "fabric" {
        /// The interconnect.
        kind: FabricKind = FabricKind::Bus;
        /// Rate of one channel; that of pSSD is twice as much.
        channel_rate: Rate = Rate::from_bytes_per_second(1_200_000_000),
            in Rate::from_bytes_per_second(1_000)..=Rate::UNLIMITED;
        /// Who gets a channel when several wait.
        arbitration: Arbitration = Arbitration::CommandFirst;
    }
}
