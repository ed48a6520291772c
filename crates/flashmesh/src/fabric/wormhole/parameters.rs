//! What a network is built from, and what it refuses.

use super::buffer::Buffer;
use super::topology::TerminalId;

/// How an output link chooses among the packets that ask for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Arbitration {
    /// The first input after the one served last, in the order of [`Topology::input`](super::Topology::input).
    RoundRobin,
    /// The packet that could first have been served; ties to the lower input.
    Fifo,
    /// The packet created first; ties to the one injected first.
    Oldest,
}

/// How many free slots of the next buffer an output link asks for before it is granted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GrantRule {
    /// None: the head may wait for its slot on the link it holds.
    Immediate,
    /// One, for the head.
    #[cfg(feature = "internals")]
    OneSlot,
    /// As many as the packet has flits (virtual cut-through): a link that is held never waits for a slot.
    WholePacket,
}

/// Timing and policies of a network, in cycles and flits; the [module](super) says exactly what each does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Parameters {
    /// Cycles from the creation of a packet to its request for the injection link.
    pub interface_cycles: u32,
    /// Cycles from the crossing of one link to the crossing of the next, without contention.
    pub hop_cycles: u32,
    /// Cycles that a head needs on top of [`hop_cycles`](Self::hop_cycles), for its route and its first arbitration.
    pub head_cycles: u32,
    /// Cycles a head loses when the packet before it in its buffer has kept it from being looked at.
    pub head_of_line_cycles: u32,
    /// Cycles that a link between routers, or to a terminal, is idle between two packets.
    pub gap_cycles: u32,
    /// Cycles from the departure of a flit out of a buffer to the use of its slot by the link that feeds the buffer; 0 for the same cycle.
    pub credit_cycles: u32,
    /// The same for buffers fed by a terminal; not more than [`credit_cycles`](Self::credit_cycles).
    pub injection_credit_cycles: u32,
    /// Cycles a link needs for a flit.
    pub flit_cycles: u32,
    /// Slots of the buffer at the end of each link, in flits.
    pub buffer_flits: u32,
    /// Which packet an output link serves next.
    pub arbitration: Arbitration,
    /// What an output link asks for before it serves a packet.
    pub grant_rule: GrantRule,
    /// Whether small packets go before large ones, at every output and at the terminals (PACT 2014, section 5.4, rule
    /// 1).
    pub small_first: bool,
    /// Whether the two links between a pair of routers share one wire, which carries one packet at a time.
    pub half_duplex: bool,
}

impl Parameters {
    /// The most cycles of any delay, and the most slots of a buffer.
    pub const VALUE_MAX: u32 = 1 << 20;

    /// The router of BookSim 2 with one virtual channel (routing delay 0, allocators of 1 cycle, credit delay 1, islip) and buffers of
    /// 16 flits, whose published latencies the tests compare with.
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

    /// Tells what is wrong with a set of parameters.
    ///
    /// # Errors
    /// When a value is out of its bounds, or the network could deadlock.
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

    /// Cycles from the creation of a packet until its tail leaves an empty network, `hops` links between routers away.
    ///
    /// The head takes `hops` + 1 steps from link to link and the other flits follow, one every `flit_cycles`. Where a
    /// slot comes back later than a buffer takes to fill, the last link runs a buffer of flits at a time.
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

    /// By how many cycles a slot is free again later than the flits behind the one that was in it have filled the buffer.
    fn refill_cycles(&self, credit_cycles: u32) -> u64 {
        let fill = u64::from(self.buffer_flits) * u64::from(self.flit_cycles);
        u64::from(self.hop_cycles + credit_cycles).saturating_sub(fill)
    }
}

/// What follows from the parameters, and is asked for at every hop.
#[derive(Clone, Copy, Debug)]
pub(super) struct HopTiming {
    /// Cycles from the crossing of a head to its request for the next link.
    route_cycles: u64,
    /// Whether a link has its slots back before it has filled the buffer, and so need not wait for them while flits
    /// flow.
    pub(super) buffers_cover_the_round_trip: bool,
}

impl HopTiming {
    pub(super) fn new(parameters: &Parameters) -> HopTiming {
        HopTiming {
            route_cycles: u64::from(parameters.hop_cycles + parameters.head_cycles),
            buffers_cover_the_round_trip: parameters.refill_cycles(parameters.credit_cycles) == 0,
        }
    }

    /// From when a head, which crossed into `buffer` at `crossed` and is the first there, can be granted its next link.
    #[inline(always)]
    pub(super) fn ready_to_ask(self, crossed: u64, buffer: &Buffer) -> u64 {
        (crossed + self.route_cycles).max(buffer.looked_at())
    }
}

/// Why a network cannot be built.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ParameterError {
    /// A value is too small or too large.
    #[error("{name} is {value}; it must be {min} to {}", Parameters::VALUE_MAX)]
    Bounds {
        /// The field of [`Parameters`].
        name: &'static str,
        /// Its value.
        value: u32,
        /// The least it may be.
        min: u32,
    },
    /// Slots come back more slowly to a terminal than to a router.
    #[error("injection_credit_cycles must not be more than credit_cycles")]
    InjectionCredit,
    /// A grant would depend on what other links do in the same cycle.
    #[error("slots that are free again in the cycle in which a flit leaves go with GrantRule::Immediate only")]
    SlotsAtGrant,
    /// A wire would depend on which of its directions is looked at first.
    #[error("wires that two directions share need slots that are free again a cycle after a flit leaves")]
    SharedSlots,
    /// Packets that wait on a wire both directions share would stop each other for ever.
    #[error("half-duplex links deadlock unless a packet waits for all of its slots: use GrantRule::WholePacket")]
    HalfDuplex,
}

/// Why a packet cannot be injected.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum InjectError {
    /// Source or destination do not exist.
    #[error("there is no terminal {0:?}")]
    NoTerminal(TerminalId),
    /// A packet has at least its head.
    #[error("a packet has at least one flit")]
    Empty,
    /// Under [`GrantRule::WholePacket`] a packet that does not fit a buffer would wait for ever.
    #[error("a packet of {flits} flits does not fit buffers of {buffer_flits}, as whole-packet grants need")]
    TooLong {
        /// Flits of the packet.
        flits: u32,
        /// Slots of a buffer.
        buffer_flits: u32,
    },
    /// The network has gone past that cycle.
    #[error("a packet of cycle {at} comes after the network has reached cycle {reached}")]
    Past {
        /// The cycle of the packet.
        at: u64,
        /// The cycle the network has reached.
        reached: u64,
    },
}
