//! Whole drives on NoSSD: results compared with arithmetic, and every option with all oracles enabled.

use flashmesh::config::{
    Config, ControllerPlacement, ControllerQueues, FabricKind, InjectionPolicy, Interleave, NossdTopology,
    PacketArbitration, PagePackets, PreconditionKind, ReplayMode, ReplyPolicy, SlotReuse,
};
use flashmesh::simulation::{Control, Simulation};
use flashmesh::units::Time;
use flashmesh::workload::RequestKind;

use crate::support::drives::*;

const READ: Time = Time::from_us(3);
const PROGRAM: Time = Time::from_us(100);

/// Returns a NoSSD drive with flits of 1 ns, whose chips are served by the controller of their row.
fn drive() -> Config {
    let mut config = bare_drive();
    config.fabric.kind = FabricKind::Nossd;
    config.nossd.injection = InjectionPolicy::Nearest;
    config
}

/// Returns the latency of a packet without contention, in cycles of 1 ns: 1 for the request, 4 per router, 1 per flit.
fn alone(hops: u64, flits: u64) -> Time {
    Time::from_ns(1 + 4 * (hops + 1) + flits)
}

#[test]
fn one_read_takes_request_array_and_nine_packets() {
    for keep_runs in [false, true] {
        let mut config = drive();
        config.nossd.keep_runs = keep_runs;
        // Consecutive pages are on consecutive rows, then columns.
        for (page, hops) in [(0, 0), (5, 0), (8, 1), (63, 7)] {
            let expected = alone(hops, 8) + READ + alone(hops, 9 * 512);
            assert_eq!(latencies(&config, [read(page, 1, Time::ZERO)]), [expected], "page {page}");
        }
    }
}

#[test]
fn one_write_takes_nine_packets_array_and_acknowledgement() {
    for (page, hops) in [(0, 0), (16, 2)] {
        let expected = alone(hops, 9 * 512) + PROGRAM + alone(hops, 4);
        assert_eq!(latencies(&drive(), [write(page, 1, Time::ZERO)]), [expected]);
    }
}

#[test]
fn the_sender_far_away_or_the_nearest_hears_the_chip() {
    let mut config = drive();
    config.nossd.injection = InjectionPolicy::RoundRobin;
    // Page 2 is on the first chip of row 2. Round-robin injection uses controller 0, two hops away.
    let page = 2;
    assert_eq!(latencies(&config, [read(page, 1, Time::ZERO)]), [alone(2, 8) + READ + alone(2, 9 * 512)]);
    config.nossd.reply = ReplyPolicy::Nearest;
    assert_eq!(latencies(&config, [read(page, 1, Time::ZERO)]), [alone(2, 8) + READ + alone(0, 9 * 512)]);
}

#[test]
fn two_reads_of_one_row_share_the_way_to_their_controller_and_the_second_is_stalled() {
    let config = drive();
    let records = run(&config, [read(0, 1, Time::ZERO), read(8, 1, Time::ZERO)]);
    let first = alone(0, 8) + READ + alone(0, 9 * 512);
    let second = first + Time::from_ns(9 * 512);
    let done: Vec<Time> = records.iter().map(|record| record.completed).collect();
    assert_eq!(done, [first, second]);
    assert!(records[0].path_conflict.is_empty());
    assert!(!records[1].path_conflict.is_empty());
}

/// Network-on-SSD, CAL 2012, Table 1: one-flit buffers, no router stages, and a page in one packet.
#[test]
fn one_read_in_lockstep_takes_a_flit_each_cycle() {
    let mut config = drive();
    config.nossd.pipeline_stages = 0;
    config.nossd.buffer_flits = 1;
    config.nossd.slot_reuse = SlotReuse::SameCycle;
    config.nossd.page_packets = PagePackets::One;
    config.nossd.data_header_flits = 4;
    let alone = |hops: u64, flits: u64| Time::from_ns(1 + (hops + 1) + flits);
    for interleave in Interleave::ALL {
        config.nossd.interleave = *interleave;
        for (page, hops) in [(0, 0), (63, 7)] {
            // The data packet has 4 KiB of data, 224 B of metadata, and a header of 4 flits.
            let expected = alone(hops, 8) + READ + alone(hops, 4 + 4096 + 224);
            assert_eq!(latencies(&config, [read(page, 1, Time::ZERO)]), [expected], "{interleave}, page {page}");
        }
    }
}

/// A read and a write use the same controller link in opposite directions. On a half-duplex link they alternate flit by flit.
#[test]
fn reads_and_writes_share_the_wire_of_a_half_duplex_link() {
    let mut config = drive();
    config.nossd.interleave = Interleave::Flits;
    config.nossd.buffer_flits = 16;
    let data = 9 * 512;
    // The write arrives when the read data enters the network.
    let sensed = alone(0, 8) + READ;
    let requests = || [read(0, 1, Time::ZERO), write(8, 1, sensed)];
    let duplex = latencies(&config, requests());
    assert_eq!(duplex, [sensed + alone(0, data), alone(1, data) + PROGRAM + alone(1, 4)]);
    config.nossd.half_duplex = true;
    let half = latencies(&config, requests());
    let longer = half[0] - duplex[0];
    // Both transfers share the wire of the controller flit by flit. When one of them ends, the other has only a few flits left.
    assert!(longer > Time::from_ns(data - 20) && longer <= Time::from_ns(data), "{longer}");
    assert!(half[1] > duplex[1] + Time::from_ns(data - 20), "{}", half[1]);
}

/// Controllers that queue packets send small ones first: a read waits for the packet in transmission, but not for queued programs.
#[test]
fn small_packets_go_first_at_controllers_that_queue_packets() {
    let mut config = drive();
    config.nossd.interleave = Interleave::Flits;
    let requests = || [write(0, 1, Time::ZERO), write(8, 1, Time::ZERO), read(16, 1, Time::from_ns(100))];
    let behind = latencies(&config, requests());
    config.nossd.controller_queues = ControllerQueues::Packets;
    let first = latencies(&config, requests());
    // The read waits for two pages of 4,608 flits, or, at controllers that queue packets, only for the packet in transmission.
    assert!(behind[2] > Time::from_ns(2 * 4608) + READ, "{}", behind[2]);
    assert!(first[2] < Time::from_ns(512 + 100 + 4608) + READ, "{}", first[2]);
}

/// Design for Scalability, PACT 2014, section 5.4: a page counts as its number of packets, not as one request.
#[test]
fn traffic_aware_injection_counts_packets_where_controllers_queue_them() {
    let mut config = drive();
    config.geometry.channels = 2;
    config.geometry.chips_per_channel = 2;
    config.nossd.interleave = Interleave::Flits;
    config.nossd.injection = InjectionPolicy::LeastLoaded;
    // Controller 0 is sending a page and controller 1 has two one-packet requests when a write of row 0 arrives. The write goes to controller 1,
    // which has fewer packets queued.
    let at = Time::from_ns(100);
    let pages_from_each = |config: &Config| -> [u64; 2] {
        let requests = [write(0, 1, Time::ZERO), read(1, 1, at), read(3, 1, at), write(2, 1, at)];
        let (report, _) = run_source(config, Listed(requests.into()));
        let links = || report.links.names.iter().zip(&report.links.bytes_to_chips);
        ["controller 0 to", "controller 1 to"]
            .map(|from| links().filter(|(name, _)| name.starts_with(from)).map(|(_, bytes)| bytes / PAGE).sum())
    };
    config.nossd.controller_queues = ControllerQueues::Packets;
    assert_eq!(pages_from_each(&config), [1, 1]);
    // Counted by dies, controller 0 has one die outstanding and controller 1 has two, so the write goes to controller 0.
    config.nossd.controller_queues = ControllerQueues::Dies;
    assert_eq!(pages_from_each(&config), [2, 0]);
}

#[test]
fn several_local_channels_let_the_dies_of_a_chip_send_at_once() {
    let mut config = drive();
    config.geometry.dies_per_chip = 2;
    config.ftl.allocation = order("DCWP");
    let reads = [read(0, 2, Time::ZERO)];
    // Two dies of a chip send data to one controller, one after the other if the controller has a single channel.
    let [one, two] = [1, 2].map(|channels| {
        (config.nossd.chip_channels, config.nossd.controller_channels) = (channels, channels);
        run(&config, reads)[0].completed
    });
    let data = Time::from_ns(9 * 512);
    assert!(one > READ + data * 2, "{one}");
    // Commands enter in parallel and data leaves in parallel, because the router has an output for each channel.
    assert!(two < READ + data + Time::from_ns(100), "{two}");
}

/// Returns a pseudo-random page.
fn any_page(n: u64) -> u64 {
    (n.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 20) % 5_800_000
}

/// Returns a pseudo-random page on row 0.
fn any_page_of_row_0(n: u64) -> u64 {
    any_page(n) / 8 * 8
}

/// Returns the throughput of saturated single-page reads, in GB/s.
fn saturated(config: &Config, page: fn(u64) -> u64) -> f64 {
    let mut config = config.clone();
    config.replay.mode = ReplayMode::Stress;
    config.replay.outstanding = 4096;
    let (report, _) = run_source(&config, Repeated { left: 15_000, kind: RequestKind::Read, page });
    report.bandwidth_bytes_per_s / 1e9
}

/// A link carries one byte per ns. A page takes 9 packets of 512 B, of which 4096 B are host data. Uniform reads use all 8 controllers, reads of row
/// 0 only controller 0.
#[test]
fn saturated_reads_fill_the_links_to_their_controllers() {
    for keep_runs in [false, true] {
        let mut config = drive();
        config.nossd.keep_runs = keep_runs;
        assert_within("uniform", saturated(&config, any_page), 8.0 * 4096.0 / 4608.0, 0.02);
        assert_within("one row", saturated(&config, any_page_of_row_0), 4096.0 / 4608.0, 0.02);
    }
}

#[test]
fn every_option_serves_reads_writes_and_collection_with_no_oracle_speaking() {
    use ControllerPlacement::{AllSided, OneSided};
    use InjectionPolicy::{LeastLoaded, Nearest, NearestElseRoundRobin, NearestUnderThreshold, RoundRobin};
    let topologies = [NossdTopology::Mesh, NossdTopology::Torus, NossdTopology::Ring];
    let injections = [Nearest, RoundRobin, LeastLoaded, NearestUnderThreshold, NearestElseRoundRobin];
    let arbitrations = [PacketArbitration::RoundRobin, PacketArbitration::Fifo, PacketArbitration::Oldest];
    // The combinations cover each pair of values of most options.
    for number in 0..48usize {
        let mut config = Config { seed: number as u64, ..Config::default() };
        config.fabric.kind = FabricKind::Nossd;
        config.geometry.blocks_per_plane = 12;
        config.geometry.pages_per_block = 16;
        config.geometry.dies_per_chip = 1 + number as u32 % 2;
        config.geometry.over_provisioning = 0.5;
        config.geometry.channels = 1 + number as u32 % 5;
        config.geometry.chips_per_channel = 1 + number as u32 / 5 % 4;
        config.flash.read_cache = number % 3 == 0;
        config.gc.copyback = number % 4 == 0;
        config.precondition.kind = PreconditionKind::Random;
        config.workload.read_share = 0.5;
        config.replay.outstanding = 64;
        config.nossd.topology = topologies[number % 3];
        config.nossd.placement = if number / 3 % 2 == 0 { OneSided } else { AllSided };
        config.nossd.injection = injections[number % 5];
        config.nossd.injection_threshold = 2;
        config.nossd.arbitration = arbitrations[number / 2 % 3];
        config.nossd.reply = if number / 4 % 2 == 0 { ReplyPolicy::Sender } else { ReplyPolicy::Nearest };
        config.nossd.half_duplex = number / 6 % 3 == 0;
        config.nossd.interleave = if number % 5 == 1 { Interleave::Flits } else { Interleave::Packets };
        // Simulation of single flits is slow, so runs with single flits have fewer requests.
        let requests = if config.nossd.interleave == Interleave::Flits { 60 } else { 400 };
        config.workload.requests = Some(requests);
        let shares_by_packets = config.nossd.half_duplex && config.nossd.interleave == Interleave::Packets;
        config.nossd.keep_runs = !shares_by_packets && number % 2 == 0;
        config.nossd.small_first = number / 2 % 2 == 0;
        config.nossd.buffer_flits = if shares_by_packets { 512 } else { [1, 10, 512][number % 3] };
        let in_lockstep = !config.nossd.half_duplex && number % 7 == 2;
        config.nossd.slot_reuse = if in_lockstep { SlotReuse::SameCycle } else { SlotReuse::NextCycle };
        config.nossd.pipeline_stages = if in_lockstep { 0 } else { 3 };
        config.nossd.chip_channels = 1 + number as u32 / 3 % 4;
        config.nossd.controller_channels = 1 + number as u32 / 2 % 3;
        let one = number % 4 == 3 && !shares_by_packets;
        config.nossd.page_packets = if one { PagePackets::One } else { PagePackets::Fixed };
        let queues = [ControllerQueues::Dies, ControllerQueues::Packets];
        config.nossd.controller_queues = queues[number / 5 % 2];
        let mut simulation = Simulation::new(&unwarmed(&config)).expect("the drive can be built");
        simulation.enable_checks();
        let report = simulation.run(&Control::default()).unwrap_or_else(|error| panic!("{error}: {config:?}"));
        assert_eq!(report.requests, requests);
    }
}

#[test]
fn networks_that_would_come_to_a_halt_are_errors_with_a_remedy() {
    for (text, message) in [
        ("half-duplex = true", "half-duplex links cannot be kept for all packets of a message"),
        ("half-duplex = true\nkeep-runs = false\nbuffer-flits = 511", "the longest has 512 flits, a buffer 511"),
        (
            "half-duplex = true\ninterleave = \"flits\"\nslot-reuse = \"same-cycle\"",
            "half-duplex links cannot fill a slot in the cycle in which its flit leaves",
        ),
        ("data-header-flits = 512", "a packet of 512 flits has no room behind a header of 512"),
    ] {
        let text = format!("fabric.kind = \"nossd\"\n[nossd]\n{text}\n");
        let error = Config::from_str(&text, "nossd.toml", &[]).expect_err("the configuration is refused");
        assert!(error.to_string().contains(message), "{error}");
    }
    let text = "fabric.kind = \"nossd\"\n[nossd]\nhalf-duplex = true\nkeep-runs = false\n";
    assert!(Config::from_str(text, "nossd.toml", &[]).is_ok());
}

/// Claim P11 (Design for Scalability, PACT 2014): NoSSD gains more over channels of 16 chips than of 8. That holds only if chips load their channel
/// (section 4.4).
#[test]
fn nossd_gains_more_where_more_chips_load_a_channel() {
    let makespan = |kind: &str, [channels, chips]: [u32; 2], load: &str| {
        let text = format!(
            "preset = \"enterprise-slc\"\ngeometry.channels = {channels}\ngeometry.chips-per-channel = {chips}\nfabric.kind = \"{kind}\"\n\
             replay.mode = \"stress\"\nreplay.outstanding = 8\nworkload.requests = 400\nworkload.request-size = \"16KiB\"\n{load}"
        );
        run_checked(&config_of(&text)).makespan_ps as f64
    };
    let both_ways = "nossd.half-duplex = false\nnossd.interleave = \"packets\"\nnossd.controller-queues = \"dies\"\nnossd.reply = \"nearest\"\n";
    let shapes = [[8, 8], [4, 16]];
    let network = shapes.map(|shape| makespan("nossd", shape, both_ways));
    let gains = |load: &str| [0, 1].map(|at| makespan("bus", shapes[at], load) / network[at]);
    let [wide, long] = gains("");
    assert!(long < wide, "{wide}, {long}");
    let [wide_loaded, long_loaded] = gains("fabric.channel-load = \"chips\"\n");
    assert!(long_loaded > wide_loaded * 1.05 && wide_loaded > wide, "{wide_loaded}, {long_loaded}");
}
