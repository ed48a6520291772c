//! Network parameters from the configuration, and checks for conflicting settings.

use crate::config::{self, Config, Interleave, PacketArbitration, PagePackets, SlotReuse};
use crate::fabric::wormhole::{self, Arbitration, GrantRule, Parameters};
use crate::fabric::{FabricError, PAGE_ADDRESS_SIZE};

use super::messages::packets::Packetizer;

/// Returns the error for a drive whose network cannot be built. The message is `error`; the keys to change are those of the array size.
pub(super) fn too_large(error: impl std::fmt::Display) -> FabricError {
    FabricError {
        keys: vec!["fabric.kind", "geometry.channels", "geometry.chips-per-channel"],
        message: error.to_string(),
        help: "use a smaller array".to_owned(),
    }
}

/// Checks that the network of `config` can be built, and that its settings do not contradict each other.
///
/// # Errors
/// If the network cannot be built, or if settings contradict each other. The error has the reason and the keys to change.
pub(super) fn check(config: &Config) -> Result<(), FabricError> {
    let nossd = &config.nossd;
    let error = |keys: &[&'static str], message: String, help: &str| {
        Err(FabricError { keys: keys.to_vec(), message, help: help.to_owned() })
    };
    if nossd.page_packets == PagePackets::Fixed && nossd.data_header_flits >= nossd.data_packet_flits {
        let message = format!(
            "a packet of {} flits has no room behind a header of {}",
            nossd.data_packet_flits, nossd.data_header_flits
        );
        let keys = ["nossd.data-header-flits", "nossd.data-packet-flits"];
        return error(&keys, message, "make nossd.data-packet-flits the larger of the two");
    }
    let units = u64::from(config.geometry.pages_per_block) * u64::from(config.units_per_page());
    let list = PAGE_ADDRESS_SIZE * (units / u64::from(config.pages_per_unit()).max(1));
    let clean = nossd.read_request_flits + list.as_u64() as u32;
    let lists = config.gc.r#move == config::PageMove::Clean;
    let longest =
        Packetizer::longest_packet(nossd, &config.geometry, config.pages_per_program().max(config.pages_per_unit()))
            .max(if lists { clean } else { 0 });
    let shares_by_packets = nossd.half_duplex && nossd.interleave == Interleave::Packets;
    if nossd.half_duplex && nossd.slot_reuse == SlotReuse::SameCycle {
        let message = "half-duplex links cannot fill a slot in the cycle in which its flit leaves".to_owned();
        let help = "set nossd.slot-reuse to \"next-cycle\", or use full-duplex links";
        return error(&["nossd.slot-reuse", "nossd.half-duplex"], message, help);
    }
    if shares_by_packets && nossd.buffer_flits < longest {
        let message = format!(
            "half-duplex links carry a packet only where all of it fits: the longest has {longest} flits, a buffer {}",
            nossd.buffer_flits
        );
        let keys = ["nossd.buffer-flits", "nossd.half-duplex", "nossd.data-packet-flits"];
        let help = "make nossd.buffer-flits as large, set nossd.interleave to \"flits\", or use full-duplex links";
        return error(&keys, message, help);
    }
    if shares_by_packets && nossd.keep_runs {
        let message = "half-duplex links cannot be kept for all packets of a message".to_owned();
        let help = "set nossd.keep-runs to false or nossd.interleave to \"flits\", or use full-duplex links";
        return error(&["nossd.keep-runs", "nossd.half-duplex"], message, help);
    }
    let chips = u64::from(config.geometry.channels) * u64::from(config.geometry.chips_per_channel);
    if chips > u64::from(wormhole::ROUTERS_MAX) {
        let message = format!("a network of {chips} chips is larger than can be simulated, {}", wormhole::ROUTERS_MAX);
        let keys = ["geometry.channels", "geometry.chips-per-channel", "fabric.kind"];
        return error(&keys, message, "use fewer chips, or another fabric");
    }
    Ok(())
}

/// Translates the section `[nossd]` of the configuration into network parameters.
pub(super) fn parameters(config: &config::Nossd) -> Parameters {
    let shares_by_packets = config.half_duplex && config.interleave == Interleave::Packets;
    let credit_cycles = match config.slot_reuse {
        SlotReuse::SameCycle => 0,
        SlotReuse::NextCycle => 1,
    };
    Parameters {
        interface_cycles: 1,
        hop_cycles: config.pipeline_stages + 1,
        head_cycles: 0,
        head_of_line_cycles: 0,
        gap_cycles: 0,
        credit_cycles,
        injection_credit_cycles: credit_cycles,
        flit_cycles: 1,
        buffer_flits: config.buffer_flits,
        arbitration: match config.arbitration {
            PacketArbitration::RoundRobin => Arbitration::RoundRobin,
            PacketArbitration::Fifo => Arbitration::Fifo,
            PacketArbitration::Oldest => Arbitration::Oldest,
        },
        grant_rule: if shares_by_packets { GrantRule::WholePacket } else { GrantRule::Immediate },
        small_first: config.small_first,
        half_duplex: shares_by_packets,
    }
}
