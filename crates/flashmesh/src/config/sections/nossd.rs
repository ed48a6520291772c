//! The section `[nossd]` of a configuration: its parameters, and the types of their values.

use crate::config::choices::choices;
use crate::config::section::section;
use crate::units::{Bytes, Time};

choices! {
    /// The topology of the network of chip routers.
    NossdTopology {
        /// A two-dimensional mesh.
        Mesh = "mesh",
        /// A two-dimensional torus.
        Torus = "torus",
        /// A ring of all chips, row after row.
        Ring = "ring",
    }
}

choices! {
    /// The chips to which the controllers are attached.
    ControllerPlacement {
        /// One controller at the first chip of each row.
        OneSided = "one-sided",
        /// Controllers at chips in the middle of all four sides, evenly.
        AllSided = "all-sided",
    }
}

choices! {
    /// The unit of arbitration, on links shared by both directions and at the outputs of routers.
    Interleave {
        /// Packets: a packet occupies a link until all of it has crossed. With `keep-runs`, the packets of a page count as one.
        Packets = "packets",
        /// Flits: directions that share wires take turns with every flit, by a transfer token; the two directions of a controller's link share their
        /// wires as well. Small packets go between the packets of a page. Every flit is simulated, which takes ten times as long.
        Flits = "flits",
    }
}

choices! {
    /// The time at which the buffer slot of a departing flit can be reused.
    SlotReuse {
        /// A slot can be reused in the cycle in which its flit departs: with buffers of one flit, the flits of a packet advance in
        /// lockstep.
        SameCycle = "same-cycle",
        /// A slot can be reused in the cycle after its flit has departed.
        NextCycle = "next-cycle",
    }
}

choices! {
    /// The contents of the queues of the controllers.
    ControllerQueues {
        /// Queues of dies that are ready for an operation. The operation is selected when the die is at the head of the queue.
        Dies = "dies",
        /// Queues of packets: the operation is selected as soon as its die is ready. With `small-first`, requests precede waiting programs,
        /// and the policies of injection count packets.
        Packets = "packets",
    }
}

choices! {
    /// The packets that carry a page.
    PagePackets {
        /// Packets of fixed length (Design for Scalability, PACT 2014, Table 4).
        Fixed = "fixed",
        /// One packet with the length of the page and a header (Network-on-SSD, CAL 2012, section 3.2).
        One = "one",
    }
}

choices! {
    /// The controller that sends a command.
    InjectionPolicy {
        /// The controller with the fewest links to the chip.
        Nearest = "nearest",
        /// All controllers in turn (round robin).
        RoundRobin = "round-robin",
        /// The nearest controller if nothing waits there, otherwise round robin.
        NearestElseRoundRobin = "nearest-else-round-robin",
        /// The controller with the fewest waiting commands; `least-loaded-ties` decides among equal controllers.
        LeastLoaded = "least-loaded",
        /// The nearest controller with fewer waiting commands than `injection-threshold`; if there is no such controller, the one with the fewest
        /// waiting commands.
        NearestUnderThreshold = "nearest-under-threshold",
    }
}

choices! {
    /// The controller that sends a command, among those with equally few waiting commands.
    LeastLoadedTies {
        /// The controller with the fewest links to the chip; of two equally near ones, the one with the lower number.
        Nearest = "nearest",
        /// The controller with the lowest number.
        Lowest = "lowest",
        /// The first of these controllers in cyclic order, starting after the controller chosen last.
        RoundRobin = "round-robin",
        /// Any of these controllers, drawn at random.
        Random = "random",
    }
}

choices! {
    /// The controller that receives the reply of a chip.
    ReplyPolicy {
        /// The controller that sent the command.
        Sender = "sender",
        /// The controller with the fewest links from the chip.
        Nearest = "nearest",
    }
}

choices! {
    /// The packet that a router sends next over a link.
    PacketArbitration {
        /// Packets of the inputs in turn (round robin).
        RoundRobin = "round-robin",
        /// The packet that has waited longest at the router.
        Fifo = "fifo",
        /// The packet that was created first.
        Oldest = "oldest",
    }
}

const FLITS_MAX: u32 = 65_536;

section! {
    /// NoSSD, a packet-switched network between the chips.
    Nossd, "nossd", with "fabric.kind" = ["\"nossd\""] but for [] {
        /// Time of a flit of 8 bits on a link; also the time of a router stage.
        flit_time: Time = Time::from_ns(1), in Time::from_ps(1)..=Time::from_ms(1), needs plain;
        /// Pipeline stages of a router, before the link.
        pipeline_stages: u32 = 3, in 0..=64, needs plain;
        /// Time at which the buffer slot of a departing flit can be reused.
        slot_reuse: SlotReuse = SlotReuse::NextCycle, needs plain;
        /// Size of the buffer at each input of a router, in flits.
        buffer_flits: u32 = 512, in 1..=65_536, needs plain;
        /// Topology of the network of chip routers.
        topology: NossdTopology = NossdTopology::Mesh, needs plain;
        /// Whether the two directions between neighbouring routers share their wires. With `interleave = "packets"`, buffers must then hold a whole
        /// packet.
        half_duplex: bool = false, needs plain;
        /// Unit of arbitration: packets or flits.
        interleave: Interleave = Interleave::Packets, needs plain;
        /// Number of links from each chip into the network. As many links lead back.
        chip_channels: u32 = 1, in 1..=8, needs plain;
        /// Number of links from each controller into the network. As many links lead back.
        controller_channels: u32 = 1, in 1..=8, needs plain;
        /// Chips to which the controllers are attached.
        placement: ControllerPlacement = ControllerPlacement::OneSided, needs plain;
        /// Controller that sends a command. Network-on-SSD, CAL 2012 calls the nearest the trivial choice; Design for Scalability, PACT 2014 uses
        /// round robin.
        injection: InjectionPolicy = InjectionPolicy::Nearest, needs plain;
        /// Contents of the queue of a controller.
        controller_queues: ControllerQueues = ControllerQueues::Dies, needs plain;
        /// Number of waiting commands from which a controller is skipped, with `nearest-under-threshold`.
        injection_threshold: u32 = 4, in 1..=1_000_000, needs plain;
        /// Controller that sends a command, among those with equally few waiting commands, with `injection = "least-loaded"`. Design for
        /// Scalability, PACT 2014, section 5.4 names no rule: the "controller chooses the less-stressed FCC for packet injection".
        least_loaded_ties: LeastLoadedTies = LeastLoadedTies::Nearest, with "injection" = ["\"least-loaded\""], needs plain;
        /// Controller that receives the reply of a chip.
        reply: ReplyPolicy = ReplyPolicy::Sender, needs plain;
        /// Packet that a router sends next over a link.
        arbitration: PacketArbitration = PacketArbitration::RoundRobin, needs plain;
        /// Whether requests and acknowledgements precede packets of data.
        small_first: bool = true, needs plain;
        /// Whether a link that carries a packet of data is kept for the other packets of the same message.
        keep_runs: bool = true, needs plain;
        /// Length of a read request, in flits.
        read_request_flits: u32 = 8, in 1..=FLITS_MAX, needs plain;
        /// Length of a request to erase, or to move pages within a chip, in flits.
        erase_request_flits: u32 = 8, in 1..=FLITS_MAX, needs plain;
        /// Length of an acknowledgement, in flits.
        acknowledgement_flits: u32 = 4, in 1..=FLITS_MAX, needs plain;
        /// Packets that carry a page.
        page_packets: PagePackets = PagePackets::Fixed, needs plain;
        /// Length of a packet of data with its header, in flits, with `page-packets = "fixed"`.
        data_packet_flits: u32 = 512, in 2..=FLITS_MAX, needs plain;
        /// Length of the header of a packet of data, in flits.
        data_header_flits: u32 = 32, in 1..=FLITS_MAX, needs plain;
        /// Metadata transferred with every 4 KiB of data, on a drive without `geometry.page-spare`.
        metadata: Bytes = Bytes::new(224), in Bytes::ZERO..=Bytes::from_kib(4), needs plain;
    }
}
