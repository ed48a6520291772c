//! The section `[venice]` of a configuration: its parameters, and the types of their values.

use crate::config::choices::choices;
use crate::config::section::section;
use crate::units::{Bytes, Time};

choices! {
    /// The routing of scouts.
    Routing {
        /// A scout takes a minimal port if one is free, otherwise any free port: non-minimal and fully adaptive.
        Venice = "venice",
        /// A scout takes any free minimal port, without detours.
        MinimalAdaptive = "minimal-adaptive",
        /// XY routing: first along the row, then along the column.
        Xy = "xy",
        /// A scout takes any free port.
        RandomDfs = "random-dfs",
    }
}

choices! {
    /// The choice of a router among several ports.
    TieBreak {
        /// Choice by the 2-bit linear-feedback shift register of the router, with the bias of that register.
        Lfsr = "lfsr",
        /// Uniformly random choice.
        Uniform = "uniform",
    }
}

choices! {
    /// The waiting die that is served first when a controller becomes free.
    Service {
        /// The die of the controller's own row that has waited longest; if no die of the row waits, the die that has waited longest of all.
        OwnRowFirst = "own-row-first",
        /// The die that has waited longest of all.
        LongestFirst = "longest-first",
    }
}

choices! {
    /// The reaction of a die whose scout has found no path.
    Retry {
        /// Wait of the die until a circuit is torn down, because without a change another scout would also fail.
        OnTeardown = "on-teardown",
        /// Another scout from the same controller at once, as in the paper, until a scout finds a path.
        Immediate = "immediate",
        /// Another scout from the next free controller. The die waits when the scouts of all controllers have failed.
        NextController = "next-controller",
    }
}

choices! {
    /// The ports over which a router sends a scout that it has seen before.
    Revisits {
        /// Ports that the scout has neither left nor entered by: each link is crossed in one direction only.
        UnusedPorts = "unused-ports",
        /// Ports that the scout has not left by. At the third return to a router, the scout backtracks along the link of its first arrival, and does
        /// not come again (Venice, ISCA 2023, section 4.3, footnote 5).
        ThreeTimes = "three-times",
    }
}

section! {
    /// Venice, a mesh of routers in which scouts reserve circuits.
    Venice, "venice", with "fabric.kind" = ["\"venice\""] but for [] {
        /// Routing of scouts.
        routing: Routing = Routing::Venice, with "policy.routing" = [""], needs plain;
        /// Choice of a router among several ports.
        tie_break: TieBreak = TieBreak::Lfsr, needs plain;
        /// Ports over which a router sends a scout that it has seen before.
        revisits: Revisits = Revisits::UnusedPorts, needs plain;
        /// Reaction of a die whose scout has found no path.
        retry: Retry = Retry::OnTeardown, needs plain;
        /// Maximum number of circuits that the transactions of one host request hold at a time. Further transactions wait until one of these circuits
        /// is torn down. A command counts for the request of the first waiting transaction when the die requests a circuit.
        circuits_per_request: Option<u32> = None, unset "one for each transfer", in 1..=65_536, needs any;
        /// Die that is served first when a controller becomes free.
        service: Service = Service::OwnRowFirst, needs plain;
        /// Data that a link between routers transfers per cycle.
        link_width: Bytes = Bytes::new(1), in Bytes::new(1)..=Bytes::from_kib(4), needs plain;
        /// Cycle time of a link.
        link_cycle: Time = Time::from_ns(1), in Time::from_ps(1)..=Time::from_ms(1), needs plain;
    }
}
