//! `[nossd]`

use crate::config::choices::choices;
use crate::config::section::section;
use crate::units::{Bytes, Time};

choices! {
    /// How the routers of the chips are connected.
    NossdTopology {
        /// A mesh.
        Mesh = "mesh",
        /// A torus.
        Torus = "torus",
        /// A ring of all chips, row after row.
        Ring = "ring",
    }
}

choices! {
    /// Where the controllers are attached.
    ControllerPlacement {
        /// Each to the first chip of its row.
        OneSided = "one-sided",
        /// To chips in the middle of all four sides, evenly.
        AllSided = "all-sided",
    }
}

choices! {
    /// Unit of arbitration, on links shared by both directions and at the outputs of routers.
    Interleave {
        /// A packet has a link until all of it has crossed; with `keep-runs` the packets of a page are one.
        Packets = "packets",
        /// Directions that share wires take turns with every flit, by a transfer token; the links of the controllers share their wires
        /// as well. Small packets go between those of a page. Every flit is followed, which takes ten times as long.
        Flits = "flits",
    }
}

choices! {
    /// When the slot of a flit that leaves a buffer can be used again.
    SlotReuse {
        /// In the same cycle: with buffers of one flit, the flits of a packet advance in lockstep.
        SameCycle = "same-cycle",
        /// In the next cycle.
        NextCycle = "next-cycle",
    }
}

choices! {
    /// Contents of the queues of the controllers.
    ControllerQueues {
        /// Dies ready for an operation, which is chosen when their turn comes.
        Dies = "dies",
        /// Packets: an operation is chosen as soon as its die is ready. With `small-first` requests go before programs that wait, and the
        /// policies of injection count packets.
        Packets = "packets",
    }
}

choices! {
    /// Packets of a page.
    PagePackets {
        /// Packets of a fixed length (Design for Scalability, PACT 2014, Table 4).
        Fixed = "fixed",
        /// One packet, as long as the page and a header (Network-on-SSD, CAL 2012, section 3.2).
        One = "one",
    }
}

choices! {
    /// Which controller sends a command.
    InjectionPolicy {
        /// The one with the fewest links to the chip.
        Nearest = "nearest",
        /// Round robin.
        RoundRobin = "round-robin",
        /// The nearest if nothing waits there, else round robin.
        NearestElseRoundRobin = "nearest-else-round-robin",
        /// The one with the fewest commands waiting, the nearest of those.
        LeastLoaded = "least-loaded",
        /// The nearest with fewer commands waiting than a threshold; if there is none, the one with the fewest.
        NearestUnderThreshold = "nearest-under-threshold",
    }
}

choices! {
    /// Which controller receives the reply of a chip.
    ReplyPolicy {
        /// The one that sent the command.
        Sender = "sender",
        /// The one with the fewest links from the chip.
        Nearest = "nearest",
    }
}

choices! {
    /// Which packet a router serves next on a link.
    PacketArbitration {
        /// Round robin over the inputs.
        RoundRobin = "round-robin",
        /// The one that waits longest at the router.
        Fifo = "fifo",
        /// The one created first.
        Oldest = "oldest",
    }
}

const FLITS_MAX: u32 = 65_536;

section! {
    /// NoSSD, a network of packets between the chips.
    Nossd, "nossd", with "fabric.kind" = ["\"nossd\""] but for [] {
        /// Time a link takes for a flit of 8 bit; also the time of a stage of the routers.
        flit_time: Time = Time::from_ns(1), in Time::from_ps(1)..=Time::from_ms(1), needs plain;
        /// Stages of a router, before the link.
        pipeline_stages: u32 = 3, in 0..=64, needs plain;
        /// When the slot of a flit that leaves a buffer can be used again.
        slot_reuse: SlotReuse = SlotReuse::NextCycle, needs plain;
        /// Slots of the buffer at each input of a router, in flits.
        buffer_flits: u32 = 512, in 1..=65_536, needs plain;
        /// How the routers of the chips are connected.
        topology: NossdTopology = NossdTopology::Mesh, needs plain;
        /// Whether the two directions between neighbouring routers share their wires; with `interleave = "packets"` that needs buffers that
        /// hold a whole packet.
        half_duplex: bool = false, needs plain;
        /// What of two directions takes turns on a link, and what follows what on an output.
        interleave: Interleave = Interleave::Packets, needs plain;
        /// Links of each chip into the network, and as many out of it.
        chip_channels: u32 = 1, in 1..=8, needs plain;
        /// Links of each controller into the network, and as many out of it.
        controller_channels: u32 = 1, in 1..=8, needs plain;
        /// Where the controllers are attached.
        placement: ControllerPlacement = ControllerPlacement::OneSided, needs plain;
        /// Which controller sends a command; Network-on-SSD, CAL 2012 calls the nearest the trivial choice, Design for Scalability, PACT 2014 takes them in turn.
        injection: InjectionPolicy = InjectionPolicy::Nearest, needs plain;
        /// What waits at a controller.
        controller_queues: ControllerQueues = ControllerQueues::Dies, needs plain;
        /// Commands waiting at a controller from which on it is passed over, with `nearest-under-threshold`.
        injection_threshold: u32 = 4, in 1..=1_000_000, needs plain;
        /// Which controller a chip answers.
        reply: ReplyPolicy = ReplyPolicy::Sender, needs plain;
        /// Which packet a router serves next on a link.
        arbitration: PacketArbitration = PacketArbitration::RoundRobin, needs plain;
        /// Whether requests and acknowledgements go before packets of data.
        small_first: bool = true, needs plain;
        /// Whether a link that carries a packet of data is kept for the other packets of the same message.
        keep_runs: bool = true, needs plain;
        /// Length of a request to read.
        read_request_flits: u32 = 8, in 1..=FLITS_MAX, needs plain;
        /// Length of a request to erase, or to move pages inside the chip.
        erase_request_flits: u32 = 8, in 1..=FLITS_MAX, needs plain;
        /// Length of an acknowledgement.
        acknowledgement_flits: u32 = 4, in 1..=FLITS_MAX, needs plain;
        /// What a page is sent in.
        page_packets: PagePackets = PagePackets::Fixed, needs plain;
        /// Length of a packet of data, header included, with `page-packets = "fixed"`.
        data_packet_flits: u32 = 512, in 2..=FLITS_MAX, needs plain;
        /// Header of a packet of data.
        data_header_flits: u32 = 32, in 1..=FLITS_MAX, needs plain;
        /// Metadata that travels with 4 KiB of data on a drive without `geometry.page-spare`.
        metadata: Bytes = Bytes::new(224), in Bytes::ZERO..=Bytes::from_kib(4), needs plain;
    }
}
