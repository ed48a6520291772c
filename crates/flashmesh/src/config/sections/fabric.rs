//! `[fabric]`

use crate::config::choices::choices;
use crate::config::section::section;
use crate::units::{Bytes, Rate, Time};

choices! {
    /// How bytes get from a controller to a chip.
    FabricKind {
        /// One half-duplex channel per row of chips.
        Bus = "bus",
        /// The bus with twice the rate and packets, which the chips decode (pSSD).
        Pssd = "pssd",
        /// A private channel per chip: no path is ever shared.
        Ideal = "ideal",
        /// A mesh of routers in which scouts reserve a circuit for each transfer (Venice).
        Venice = "venice",
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

choices! {
    /// Which of the dies that wait for a controller goes first when one gets free.
    Service {
        /// One of the controller's own row, the longest waiting; where there is none, the longest waiting of all.
        OwnRowFirst = "own-row-first",
        /// The longest waiting, from wherever.
        LongestFirst = "longest-first",
    }
}

choices! {
    /// What a die does whose scout has found no path.
    Retry {
        /// It waits until a circuit is torn down.
        NextRelease = "next-release",
        /// It sends a scout from the next free controller, and waits when all have failed.
        NextController = "next-controller",
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
        /// How a scout finds its way.
        routing: Routing = Routing::Venice, with "kind" = ["\"venice\""];
        /// How a router draws one of several ports.
        tie_break: TieBreak = TieBreak::Lfsr, with "kind" = ["\"venice\""];
        /// What a die does whose scout has found no path.
        retry: Retry = Retry::NextRelease, with "kind" = ["\"venice\""];
        /// Which die goes first when a controller gets free.
        service: Service = Service::OwnRowFirst, with "kind" = ["\"venice\""];
        /// Keep the circuit of a read while its array works, rather than reserve one for the command and one for the data.
        hold_circuit: bool = false, with "kind" = ["\"venice\""];
        /// Data that a link between routers moves at once.
        link_width: Bytes = Bytes::new(1), in Bytes::new(1)..=Bytes::from_kib(1), with "kind" = ["\"venice\""];
        /// Time to move it over one link.
        link_cycle: Time = Time::from_ns(1), in Time::from_ps(1)..=Time::from_us(1), with "kind" = ["\"venice\""];
    }
}
