//! `[venice]`

use crate::config::choices::choices;
use crate::config::section::section;
use crate::units::{Bytes, Time};

choices! {
    /// How a scout finds its way.
    Routing {
        /// A minimal port when one is free, else any: non-minimal and fully adaptive.
        Venice = "venice",
        /// Any free minimal port, no detours.
        MinimalAdaptive = "minimal-adaptive",
        /// XY routing: first along the row, then along the column.
        Xy = "xy",
        /// Any free port.
        RandomDfs = "random-dfs",
    }
}

choices! {
    /// How a router chooses among several ports.
    TieBreak {
        /// By its 2-bit linear-feedback shift register, with its bias.
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
        /// The longest waiting of all.
        LongestFirst = "longest-first",
    }
}

choices! {
    /// What a die does when its scout has found no path.
    Retry {
        /// It waits until a circuit is torn down: with nothing changed, another scout would fail as well.
        OnTeardown = "on-teardown",
        /// Its controller sends another scout at once, as the paper has it, until one finds a path.
        Immediate = "immediate",
        /// It sends a scout from the next free controller, and waits when all have failed.
        NextController = "next-controller",
    }
}

choices! {
    /// Over which of its ports a router sends a scout that it has seen before.
    Revisits {
        /// Over those that the scout has neither left nor entered it by: each link is crossed in one direction only.
        UnusedPorts = "unused-ports",
        /// Over those that the scout has not left it by; the third time that the scout is back it goes back the way it first came, and does
        /// not come again (Venice, ISCA 2023, section 4.3, footnote 5).
        ThreeTimes = "three-times",
    }
}

section! {
    /// Venice, a mesh of routers in which scouts reserve circuits.
    Venice, "venice", with "fabric.kind" = ["\"venice\""] but for [] {
        /// How a scout finds its way.
        routing: Routing = Routing::Venice, with "policy.routing" = [""], needs plain;
        /// How a router draws one of several ports.
        tie_break: TieBreak = TieBreak::Lfsr, needs plain;
        /// Over which of its ports a router sends a scout that it has seen before.
        revisits: Revisits = Revisits::UnusedPorts, needs plain;
        /// What a die does whose scout has found no path.
        retry: Retry = Retry::OnTeardown, needs plain;
        /// Circuits that the transactions of one host request have at a time, at most; the others wait for one of them to be torn down. The request
        /// of a command is that of the transaction which waits first when its die asks.
        circuits_per_request: Option<u32> = None, unset "one for each transfer", in 1..=65_536, needs any;
        /// Which die goes first when a controller gets free.
        service: Service = Service::OwnRowFirst, needs plain;
        /// Data that a link between routers moves at once.
        link_width: Bytes = Bytes::new(1), in Bytes::new(1)..=Bytes::from_kib(4), needs plain;
        /// Time to move it over one link.
        link_cycle: Time = Time::from_ns(1), in Time::from_ps(1)..=Time::from_ms(1), needs plain;
    }
}
