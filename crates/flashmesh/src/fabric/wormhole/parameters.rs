//! Parameters of a network, the checks of their values, and errors.

use super::buffer::Buffer;
use super::topology::TerminalId;

/// Arbitration rule of an output link. Each variant is the packet that gets the link, among those that request it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Arbitration {
    /// The packet at the input that comes first after the input served last, in the order of [`Topology::input`](super::Topology::input).
    RoundRobin,
    /// The packet whose request could have been granted for longest; on a tie, the lowest input.
    Fifo,
    /// The packet created first; on a tie, the one injected first.
    Oldest,
}

/// Number of free slots in the next buffer that a grant of an output link requires.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GrantRule {
    /// A grant requires no free slot. The head may wait for its slot while the packet holds the link.
    Immediate,
    /// A grant requires one free slot, for the head.
    #[cfg(feature = "internals")]
    OneSlot,
    /// A grant requires a free slot for each flit of the packet (virtual cut-through). A packet that holds a link never waits for a slot.
    WholePacket,
}

/// Timing of a network in cycles, buffer size in flits, and policies. The [module](super) defines their exact meaning.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Parameters {
    /// Cycles between the creation of a packet and the first cycle in which it can be granted the injection link.
    pub interface_cycles: u32,
    /// Cycles between the crossings of two successive links by a flit, without contention.
    pub hop_cycles: u32,
    /// Cycles of a head for route and first arbitration, in addition to [`hop_cycles`](Self::hop_cycles).
    pub head_cycles: u32,
    /// Minimum number of cycles, plus 1, from the departure of a tail from a buffer to the grant of the next link to the head behind it.
    pub head_of_line_cycles: u32,
    /// Idle cycles of a link between two packets. Injection links have no gap.
    pub gap_cycles: u32,
    /// Cycles from the departure of a flit until a new flit can use its slot; 0 for the same cycle.
    pub credit_cycles: u32,
    /// Like [`credit_cycles`](Self::credit_cycles), but for buffers at the end of injection links. At most `credit_cycles`.
    pub injection_credit_cycles: u32,
    /// Cycles for which a flit occupies a link.
    pub flit_cycles: u32,
    /// Number of slots of the buffer at the end of each link. A slot holds one flit.
    pub buffer_flits: u32,
    /// Arbitration rule of output links.
    pub arbitration: Arbitration,
    /// Number of free slots that a grant of an output link requires.
    pub grant_rule: GrantRule,
    /// Whether small packets are granted links before large ones, at every output and at the terminals (Design for Scalability in Enterprise SSDs,
    /// PACT 2014, section 5.4, rule 1).
    pub small_first: bool,
    /// Whether the two links between a pair of routers share one wire, which carries one packet at a time.
    pub half_duplex: bool,
}

impl Parameters {
    /// Maximum of every number in [`Parameters`].
    pub const VALUE_MAX: u32 = 1 << 20;

    /// The router of BookSim 2 with one virtual channel (routing delay 0, allocators of 1 cycle, credit delay 1, islip) and buffers of 16 flits.
    /// Tests compare the model with latencies published for this router.
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

    /// Checks the bounds and combinations of the parameters.
    ///
    /// # Errors
    /// If a value is out of its bounds, or if the network could deadlock.
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

    /// Returns the zero-load latency of a packet of `flits` flits: the cycles from its creation to the cycle in which its tail crosses the ejection
    /// link, in an empty network. The route has `hops` links between routers.
    ///
    /// The head takes `hops` + 1 steps from link to link, and the other flits follow, one every `flit_cycles`. If the return of a slot takes longer
    /// than filling a buffer, flits advance in groups of one buffer, with a pause of [`refill_cycles`](Self::refill_cycles) between groups.
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

    /// Returns how many cycles a link waits for the first free slot after it has filled the buffer at its end; 0 if a slot is free by then.
    fn refill_cycles(&self, credit_cycles: u32) -> u64 {
        let fill = u64::from(self.buffer_flits) * u64::from(self.flit_cycles);
        u64::from(self.hop_cycles + credit_cycles).saturating_sub(fill)
    }
}

/// Timing of a hop from one link to the next, computed from the [`Parameters`].
#[derive(Clone, Copy, Debug)]
pub(super) struct HopTiming {
    /// Cycles from the crossing of a link by a head to the first cycle in which the head can be granted the next link.
    route_cycles: u64,
    /// Whether the first slot returns before a link has filled the buffer at its end. If so, a packet never waits for slots while its flits move on
    /// without delay.
    pub(super) covers_credit_round_trip: bool,
}

impl HopTiming {
    pub(super) fn new(parameters: &Parameters) -> HopTiming {
        HopTiming {
            route_cycles: u64::from(parameters.hop_cycles + parameters.head_cycles),
            covers_credit_round_trip: parameters.refill_cycles(parameters.credit_cycles) == 0,
        }
    }

    /// Returns the first cycle in which a head, first in `buffer`, can be granted its next link. It crossed the link to `buffer` in cycle `crossed`.
    #[inline(always)]
    pub(super) fn grantable_from(self, crossed: u64, buffer: &Buffer) -> u64 {
        (crossed + self.route_cycles).max(buffer.head_requests_from())
    }
}

/// A reason why a network cannot be built with given [`Parameters`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ParameterError {
    /// A value is too small or too large.
    #[error("{name} is {value}; it must be {min} to {}", Parameters::VALUE_MAX)]
    Bounds {
        /// Name of the field of [`Parameters`].
        name: &'static str,
        /// Rejected value of the field.
        value: u32,
        /// Minimum of the field; the maximum is [`Parameters::VALUE_MAX`].
        min: u32,
    },
    /// `injection_credit_cycles` exceeds `credit_cycles`: slots would return to a terminal later than to a router.
    #[error("injection_credit_cycles must not be more than credit_cycles")]
    InjectionCredit,
    /// Slots can be reused in the cycle in which a flit leaves, and grants require free slots: the result would depend on the order of links within a
    /// cycle.
    #[error("slots that are free again in the cycle in which a flit leaves go with GrantRule::Immediate only")]
    SlotsAtGrant,
    /// Wires are shared, and slots can be reused in the cycle in which a flit leaves: the result would depend on the order of the directions of a
    /// wire.
    #[error("wires that two directions share need slots that are free again a cycle after a flit leaves")]
    SharedSlots,
    /// Links are half-duplex, but the grant rule is not [`GrantRule::WholePacket`]: packets on shared wires could deadlock.
    #[error("half-duplex links deadlock unless a packet waits for all of its slots: use GrantRule::WholePacket")]
    HalfDuplex,
}

/// A reason why a packet cannot be injected.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum InjectError {
    /// The source or the destination terminal does not exist.
    #[error("there is no terminal {0:?}")]
    NoTerminal(TerminalId),
    /// The packet has no flits, not even a head.
    #[error("a packet has at least one flit")]
    Empty,
    /// The packet would wait for ever under [`GrantRule::WholePacket`], because it does not fit into a buffer.
    #[error("a packet of {flits} flits does not fit buffers of {buffer_flits}, as whole-packet grants need")]
    TooLong {
        /// Number of flits of the packet.
        flits: u32,
        /// Number of slots of a buffer.
        buffer_flits: u32,
    },
    /// The packet was created before the current cycle of the network.
    #[error("a packet of cycle {at} comes after the network has reached cycle {reached}")]
    Past {
        /// Cycle at which the packet was created.
        at: u64,
        /// Current cycle of the network.
        reached: u64,
    },
}
