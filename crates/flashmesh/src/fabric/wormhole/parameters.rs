//! Parameters of a network, and their constraints.

use super::buffer::Buffer;
use super::topology::TerminalId;

/// Arbitration rule of an output link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Arbitration {
    /// The first input after the one served last, in the order of [`Topology::input`](super::Topology::input).
    RoundRobin,
    /// The packet that was grantable first; ties to the lower input.
    Fifo,
    /// The packet created first; ties to the one injected first.
    Oldest,
}

/// Number of free slots in the next buffer that an output link needs for a grant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GrantRule {
    /// None: the head may wait for its slot while holding the link.
    Immediate,
    /// One, for the head.
    #[cfg(feature = "internals")]
    OneSlot,
    /// One for each flit of the packet (virtual cut-through): a held link never waits for a slot.
    WholePacket,
}

/// Timing and policies of a network, in cycles and flits. The [module](super) defines each exactly.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Parameters {
    /// Cycles from the creation of a packet to its request for the injection link.
    pub interface_cycles: u32,
    /// Cycles from the crossing of one link to the crossing of the next, without contention.
    pub hop_cycles: u32,
    /// Cycles that a head needs in addition to [`hop_cycles`](Self::hop_cycles), for its route and its first arbitration.
    pub head_cycles: u32,
    /// Cycles that a head loses if it was queued behind another packet.
    pub head_of_line_cycles: u32,
    /// Idle cycles of a link between two packets; not for injection links.
    pub gap_cycles: u32,
    /// Cycles from the departure of a flit from a buffer until its slot can be used by the feeding link; 0 for the same cycle.
    pub credit_cycles: u32,
    /// Like [`credit_cycles`](Self::credit_cycles), which it must not exceed, but for buffers fed by a terminal.
    pub injection_credit_cycles: u32,
    /// Cycles that a link needs for a flit.
    pub flit_cycles: u32,
    /// Slots of the buffer at the end of each link, in flits.
    pub buffer_flits: u32,
    /// Arbitration rule of output links.
    pub arbitration: Arbitration,
    /// Condition for a grant of an output link.
    pub grant_rule: GrantRule,
    /// Whether small packets go before large ones, at every output and at the terminals (PACT 2014, section 5.4, rule 1).
    pub small_first: bool,
    /// Whether the two links between a pair of routers share one wire, which carries one packet at a time.
    pub half_duplex: bool,
}

impl Parameters {
    /// Maximum of any delay in cycles, and of the slots of a buffer.
    pub const VALUE_MAX: u32 = 1 << 20;

    /// The router of BookSim 2 with one virtual channel (routing delay 0, allocators of 1 cycle, credit delay 1, islip) and buffers of 16 flits,
    /// whose published latencies the tests compare with.
    #[cfg(feature = "internals")]
    pub const BOOKSIM: Parameters = Parameters {
        interface_cycles: 2,
        hop_cycles: 3,
        head_cycles: 1,
        head_of_line_cycles: 1,
        gap_cycles: 1,
        credit_cycles: 3,
        injection_credit_cycles: 1,
        flit_cycles: 1,
        buffer_flits: 16,
        arbitration: Arbitration::RoundRobin,
        grant_rule: GrantRule::Immediate,
        small_first: false,
        half_duplex: false,
    };

    /// Checks the parameters.
    ///
    /// # Errors
    /// If a value is out of its bounds, or the network could deadlock.
    pub fn check(&self) -> Result<(), ParameterError> {
        let bounded = [
            ("interface_cycles", self.interface_cycles, 1),
            ("hop_cycles", self.hop_cycles, 1),
            ("head_cycles", self.head_cycles, 0),
            ("head_of_line_cycles", self.head_of_line_cycles, 0),
            ("gap_cycles", self.gap_cycles, 0),
            ("credit_cycles", self.credit_cycles, 0),
            ("injection_credit_cycles", self.injection_credit_cycles, 0),
            ("flit_cycles", self.flit_cycles, 1),
            ("buffer_flits", self.buffer_flits, 1),
        ];
        for (name, value, min) in bounded {
            if !(min..=Self::VALUE_MAX).contains(&value) {
                return Err(ParameterError::Bounds { name, value, min });
            }
        }
        if self.injection_credit_cycles > self.credit_cycles {
            return Err(ParameterError::InjectionCredit);
        }
        if self.credit_cycles.min(self.injection_credit_cycles) == 0 && self.grant_rule != GrantRule::Immediate {
            return Err(ParameterError::SlotsAtGrant);
        }
        if self.half_duplex && self.grant_rule != GrantRule::WholePacket {
            return Err(ParameterError::HalfDuplex);
        }
        Ok(())
    }

    /// Returns the cycles from the creation of a packet until its tail leaves an empty network, over `hops` links between routers.
    ///
    /// The head takes `hops` + 1 steps from link to link, and the other flits follow, one every `flit_cycles`. If a slot takes longer to return than
    /// a buffer takes to fill, the last link carries one buffer of flits at a time.
    #[inline]
    pub(in super::super) fn zero_load_cycles(&self, flits: u32, hops: u32) -> u64 {
        let refill = match self.refill_cycles(if hops == 0 { self.injection_credit_cycles } else { self.credit_cycles })
        {
            0 => 0,
            refill => u64::from((flits - 1) / self.buffer_flits) * refill,
        };
        u64::from(self.interface_cycles)
            + u64::from(hops + 1) * u64::from(self.hop_cycles + self.head_cycles)
            + u64::from(flits - 1) * u64::from(self.flit_cycles)
            + refill
    }

    /// Returns the cycles by which a slot returns later than the following flits have filled the buffer.
    fn refill_cycles(&self, credit_cycles: u32) -> u64 {
        let fill = u64::from(self.buffer_flits) * u64::from(self.flit_cycles);
        u64::from(self.hop_cycles + credit_cycles).saturating_sub(fill)
    }
}

/// Derived timing that every hop needs.
#[derive(Clone, Copy, Debug)]
pub(super) struct HopTiming {
    /// Cycles from the crossing of a head to its request for the next link.
    route_cycles: u64,
    /// Whether slots return before a link has filled the buffer, so that flowing flits never wait for slots.
    pub(super) buffers_cover_the_round_trip: bool,
}

impl HopTiming {
    pub(super) fn new(parameters: &Parameters) -> HopTiming {
        HopTiming {
            route_cycles: u64::from(parameters.hop_cycles + parameters.head_cycles),
            buffers_cover_the_round_trip: parameters.refill_cycles(parameters.credit_cycles) == 0,
        }
    }

    /// Returns the first cycle in which a head that crossed into `buffer` at `crossed`, and is first there, can be granted its next link.
    #[inline(always)]
    pub(super) fn grantable_from(self, crossed: u64, buffer: &Buffer) -> u64 {
        (crossed + self.route_cycles).max(buffer.considered_from())
    }
}

/// A reason why a network cannot be built.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ParameterError {
    /// A value too small or too large.
    #[error("{name} is {value}; it must be {min} to {}", Parameters::VALUE_MAX)]
    Bounds {
        /// Field of [`Parameters`].
        name: &'static str,
        /// Value of the field.
        value: u32,
        /// Minimum of the field.
        min: u32,
    },
    /// Slots that return more slowly to a terminal than to a router.
    #[error("injection_credit_cycles must not be more than credit_cycles")]
    InjectionCredit,
    /// Grants that would depend on other links in the same cycle.
    #[error("slots that are free again in the cycle in which a flit leaves go with GrantRule::Immediate only")]
    SlotsAtGrant,
    /// Wires that would depend on which direction is processed first.
    #[error("wires that two directions share need slots that are free again a cycle after a flit leaves")]
    SharedSlots,
    /// Packets that would wait for each other for ever on wires shared by both directions.
    #[error("half-duplex links deadlock unless a packet waits for all of its slots: use GrantRule::WholePacket")]
    HalfDuplex,
}

/// A reason why a packet cannot be injected.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum InjectError {
    /// Source or destination does not exist.
    #[error("there is no terminal {0:?}")]
    NoTerminal(TerminalId),
    /// A packet without flits, not even a head.
    #[error("a packet has at least one flit")]
    Empty,
    /// A packet that would wait for ever under [`GrantRule::WholePacket`], since it does not fit a buffer.
    #[error("a packet of {flits} flits does not fit buffers of {buffer_flits}, as whole-packet grants need")]
    TooLong {
        /// Flits of the packet.
        flits: u32,
        /// Slots of a buffer.
        buffer_flits: u32,
    },
    /// A cycle before the current cycle of the network.
    #[error("a packet of cycle {at} comes after the network has reached cycle {reached}")]
    Past {
        /// Cycle of the packet.
        at: u64,
        /// Current cycle of the network.
        reached: u64,
    },
}
