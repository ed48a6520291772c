//! Random interconnects with all options.

use flashmesh::config::{
    Arbitration, ChannelLoad, Config, ControllerPlacement, Controllers, Fabric, FabricKind, HoldPath, InjectionPolicy,
    LeastLoadedTies, Nossd, NossdTopology, PacketArbitration, PageMove, Pnssd, ReplyPolicy, Retry, Revisits, Routing,
    Service, TieBreak, Venice,
};
use flashmesh::units::{Bytes, Rate, Time};
use proptest::prelude::*;
use proptest::sample::select;

/// Random interconnect, and the preferred way to move pages in GC.
#[derive(Clone, Debug)]
pub struct Interconnect {
    fabric: Fabric,
    pnssd: Pnssd,
    nossd: Nossd,
    venice: Venice,
    r#move: PageMove,
}

fn fabric() -> impl Strategy<Value = Fabric> {
    let rates =
        vec![Rate::from_bytes_per_second(100_000_000), Rate::from_bytes_per_second(1_200_000_000), Rate::UNLIMITED];
    let loads = (select(ChannelLoad::ALL), 0..=10_000u32, 0..=10_000u32);
    (select(FabricKind::ALL), select(rates), select(Arbitration::ALL), select(HoldPath::ALL.to_vec()), loads).prop_map(
        |(kind, channel_rate, arbitration, hold_path, (load, chip_capacitance_ff, controller_capacitance_ff))| Fabric {
            kind,
            channel_rate,
            channel_load: if matches!(kind, FabricKind::Bus | FabricKind::Pssd) { load } else { ChannelLoad::None },
            chip_capacitance_ff,
            controller_capacitance_ff,
            arbitration,
            hold_path,
            ..Fabric::default()
        },
    )
}

fn pnssd() -> impl Strategy<Value = Pnssd> {
    (select(Controllers::ALL), any::<bool>()).prop_map(|(controllers, split_page)| Pnssd { controllers, split_page })
}

fn nossd() -> impl Strategy<Value = Nossd> {
    let links = (select(vec![1_000u64, 12_500]), 1..=4u32, select(vec![1u32, 10, 64, 512]), any::<bool>());
    let controllers =
        (select(ControllerPlacement::ALL), select(InjectionPolicy::ALL), 1..=4u32, select(ReplyPolicy::ALL));
    let packets = (select(PacketArbitration::ALL), any::<bool>(), any::<bool>(), select(vec![48u32, 512]));
    let channels = (1..=4u32, 1..=4u32, select(LeastLoadedTies::ALL));
    (select(NossdTopology::ALL), links, controllers, packets, channels).prop_map(|drawn| {
        let (topology, links, controllers, packets, (chip_channels, controller_channels, least_loaded_ties)) = drawn;
        let (flit_ps, pipeline_stages, buffer_flits, half_duplex) = links;
        let (placement, injection, injection_threshold, reply) = controllers;
        let (arbitration, small_first, keep_runs, data_packet_flits) = packets;
        Nossd {
            flit_time: Time::from_ps(flit_ps),
            pipeline_stages,
            // A half-duplex link transmits a packet only if the buffer can hold all of it.
            buffer_flits: if half_duplex { buffer_flits.max(data_packet_flits) } else { buffer_flits },
            topology,
            chip_channels,
            controller_channels,
            half_duplex,
            placement,
            injection,
            injection_threshold,
            least_loaded_ties,
            reply,
            arbitration,
            small_first,
            keep_runs: keep_runs && !half_duplex,
            data_packet_flits,
            ..Nossd::default()
        }
    })
}

fn venice() -> impl Strategy<Value = Venice> {
    let scouts = (select(Routing::ALL), select(TieBreak::ALL), select(Retry::ALL), select(Service::ALL));
    let limits = (select(Revisits::ALL), select(vec![None, None, Some(1), Some(2)]));
    let links = (select(vec![1, 3, 16]), select(vec![500, 1_000, 25_000]));
    (scouts, limits, links).prop_map(|((routing, tie_break, retry, service), limits, (width, cycle_ps))| Venice {
        routing,
        tie_break,
        revisits: limits.0,
        retry,
        circuits_per_request: limits.1,
        service,
        link_width: Bytes::new(width),
        link_cycle: Time::from_ps(cycle_ps),
    })
}

pub fn interconnect() -> impl Strategy<Value = Interconnect> {
    (fabric(), pnssd(), nossd(), venice(), select(PageMove::ALL))
        .prop_map(|(fabric, pnssd, nossd, venice, r#move)| Interconnect { fabric, pnssd, nossd, venice, r#move })
}

/// Makes GC move pages from chip to chip, with Clean packets if `cleans` is set and the interconnect is NoSSD. Leaves an invalid `config` unchanged.
pub fn send_pages(config: &mut Config, cleans: bool) {
    let before = config.clone();
    config.gc.copyback = false;
    if !config.gc.r#move.crosses_chips() {
        config.geometry.blocks_per_plane += 1;
        config.fabric = Fabric { kind: FabricKind::Nossd, ..Fabric::default() };
        config.nossd.half_duplex = false;
    }
    config.gc.r#move =
        if cleans && config.fabric.kind == FabricKind::Nossd { PageMove::Clean } else { PageMove::ChipToChip };
    config.flash.die_interleaving |= config.gc.r#move == PageMove::Clean;
    if config.validate().is_err() {
        *config = before;
    }
}

impl Interconnect {
    /// Sets this interconnect in `config`, and adapts the array and the way GC moves pages.
    pub fn fit(self, config: &mut Config) {
        let kind = self.fabric.kind;
        config.fabric = self.fabric;
        config.pnssd = self.pnssd;
        config.nossd = self.nossd;
        config.venice = self.venice;
        let holds = config.fabric.hold_path != HoldPath::Never;
        if holds && config.fabric.arbitration == Arbitration::DataFirstTogether {
            config.fabric.arbitration = Arbitration::DataFirstRoundRobin;
        }
        config.pnssd.split_page &= !(holds && kind == FabricKind::Pnssd);
        let can_copy = matches!(kind, FabricKind::Pnssd | FabricKind::Nossd) && !config.gc.copyback && !holds;
        // On half-duplex links a buffer must hold the page list of a Clean packet (a move of a whole block to another chip).
        let list = config.nossd.read_request_flits + 4 * config.geometry.pages_per_block;
        let lists = !config.nossd.half_duplex || config.nossd.buffer_flits >= list;
        let can_clean = kind == FabricKind::Nossd && config.flash.die_interleaving && lists;
        config.gc.r#move = match self.r#move {
            _ if !can_copy => PageMove::ThroughController,
            PageMove::Clean if !can_clean => PageMove::ChipToChip,
            r#move => r#move,
        };
        let geometry = &mut config.geometry;
        if config.gc.r#move.crosses_chips() {
            // Pages from other chips need one more spare block per plane.
            geometry.blocks_per_plane += 1;
        }
        if kind == FabricKind::Pnssd {
            // Scale the capacity, so that each plane keeps its number of logical pages.
            let planes_before = geometry.channels * geometry.chips_per_channel;
            geometry.channels = geometry.chips_per_channel;
            let planes = geometry.channels * geometry.chips_per_channel;
            geometry.capacity = geometry.capacity.map(|capacity| {
                let pages = capacity.as_u64() / geometry.page_size.as_u64();
                geometry.page_size * (pages * u64::from(planes) / u64::from(planes_before))
            });
        }
    }
}
