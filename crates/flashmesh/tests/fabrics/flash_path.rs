//! From the queues of the dies to the array: chips without die interleaving, command times, partial programs, channel arbitration and scheduling, to
//! the picosecond.

use flashmesh::config::{
    Arbitration, ChannelLoad, Config, EraseOrder, FabricKind, KindOrder, MultiPlane, PlaneOrder, PreconditionKind,
    ProgramOrder, SchedulePolicy, Suspension, TimesByPlanes, WriteBinding,
};
use flashmesh::flash::geometry::Geometry;
use flashmesh::units::{Bytes, Rate, Time};

use crate::support::drives::*;

const NS: fn(u64) -> Time = Time::from_ns;
pub const US: fn(u64) -> Time = Time::from_us;
pub const COMMAND: Time = Time::from_ns(10);
const READ: Time = Time::from_us(3);
pub const PROGRAM: Time = Time::from_us(100);
const PICOSECOND: Time = Time::from_ps(1);

/// Returns a drive with channels of 1 B/ns, so that a page takes 4096 ns.
fn drive() -> Config {
    let mut config = bare_drive();
    config.fabric.channel_rate = Rate::from_bytes_per_second(1_000_000_000);
    config.geometry.blocks_per_plane = 64;
    config
}

pub const PAGE_TRANSFER: Time = Time::from_ns(4096);
pub const ONE_READ: Time = Time::from_ns(10 + 3_000 + 4_096);
pub const ONE_WRITE: Time = Time::from_ns(10 + 4_096 + 100_000);

/// Returns a drive of one chip of `dies` dies of one plane. Consecutive pages are on consecutive dies.
pub fn one_chip(dies: u32) -> Config {
    let mut config = drive();
    config.geometry.channels = 1;
    config.geometry.chips_per_channel = 1;
    config.geometry.dies_per_chip = dies;
    config.geometry.planes_per_die = 1;
    config.ftl.allocation = order("DCWP");
    config
}

fn dies_that_take_turns() -> Config {
    let mut config = one_chip(2);
    config.flash.die_interleaving = false;
    config
}

/// Returns a drive with the chip timing of MQSim: command times by operation and number of planes, and 20 ns added to tR.
fn tabled_chips() -> Config {
    let times = |first: u64, more: u64| Some(TimesByPlanes(vec![NS(first), NS(first + more)]));
    let mut config = drive();
    config.flash.read_time = NS(3_020);
    config.flash.read_command_time = times(290, 650);
    config.flash.program_command_time = times(361, 816);
    config.flash.erase_command_time = times(220, 700);
    config.flash.die_interleaving = false;
    config.flash.partial_program = true;
    config.flash.multi_plane = MultiPlane::SameOffset;
    config.fabric.arbitration = Arbitration::DataFirstRoundRobin;
    config
}

#[test]
fn commands_take_the_time_of_their_kind_and_planes() {
    let mut config = tabled_chips();
    assert_eq!(latencies(&config, [read(0, 1, Time::ZERO)]), [NS(290 + 3_020 + 4_096)]);
    assert_eq!(latencies(&config, [write(0, 1, Time::ZERO)]), [NS(361 + 4_096 + 100_000)]);
    config.ftl.allocation = order("PCWD");
    assert_eq!(latencies(&config, [read(0, 2, Time::ZERO)]), [NS(940 + 3_020 + 8_192)]);
    config.geometry.channels = 1;
    config.geometry.chips_per_channel = 1;
    assert_eq!(latencies(&config, [write(0, 16, Time::ZERO)]), [NS(8 * (1_177 + 8_192 + 100_000))]);
}

#[test]
fn a_list_goes_on_with_its_last_difference() {
    let mut config = tabled_chips();
    config.geometry.planes_per_die = 4;
    config.ftl.allocation = order("PCWD");
    assert_eq!(latencies(&config, [read(0, 4, Time::ZERO)]), [NS(290 + 3 * 650 + 3_020 + 4 * 4_096)]);
    assert_eq!(latencies(&config, [write(0, 3, Time::ZERO)]), [NS(361 + 2 * 816 + 3 * 4_096 + 100_000)]);
}

#[test]
fn a_kind_without_a_list_keeps_the_command_time() {
    let mut config = tabled_chips();
    config.flash.program_command_time = None;
    assert_eq!(latencies(&config, [write(0, 1, Time::ZERO)]), [ONE_WRITE]);
}

#[test]
fn two_dies_that_take_turns_work_one_after_the_other() {
    let config = dies_that_take_turns();
    let reads = completions(&config, [read(0, 1, Time::ZERO), read(1, 1, Time::ZERO)]);
    assert_eq!(reads, [ONE_READ, ONE_READ * 2]);
    let writes = completions(&config, [write(0, 1, Time::ZERO), write(1, 1, Time::ZERO)]);
    assert_eq!(writes, [ONE_WRITE, ONE_WRITE * 2]);
    let both = completions(&config, [write(0, 1, Time::ZERO), read(1, 1, US(1))]);
    assert_eq!(both, [ONE_WRITE, ONE_WRITE + ONE_READ]);
}

#[test]
fn a_single_die_takes_its_turn_as_if_alone_on_every_interconnect() {
    for &kind in FabricKind::ALL {
        let mut config = drive();
        config.fabric.kind = kind;
        config.geometry.channels = 2;
        config.geometry.chips_per_channel = 2;
        let mixed = || (0..100).map(|n| if n % 3 == 0 { write(n * 7, 2, US(n)) } else { read(n * 11, 3, US(n)) });
        let alone = completions(&config, mixed());
        config.flash.die_interleaving = false;
        assert_eq!(completions(&config, mixed()), alone, "{kind}");
    }
}

#[test]
fn dies_take_turns_on_every_interconnect() {
    for &kind in FabricKind::ALL {
        let mut config = drive();
        config.fabric.kind = kind;
        config.geometry.channels = 2;
        config.geometry.chips_per_channel = 2;
        config.geometry.dies_per_chip = 2;
        config.ftl.allocation = order("DCWP");
        let reads = [read(0, 1, Time::ZERO), read(1, 1, Time::ZERO)];
        let side_by_side = completions(&config, reads);
        config.flash.die_interleaving = false;
        let in_turn = completions(&config, reads);
        // The dies do not interleave, so the second die starts to sense only after the data of the first has left the chip.
        assert!(in_turn[1] >= side_by_side[1] + READ, "{kind}: {in_turn:?}, and side by side {side_by_side:?}");
        assert!(in_turn[1] - in_turn[0] >= READ, "{kind}: {in_turn:?}");
    }
}

#[test]
fn a_chip_serves_what_waits_for_any_of_its_dies_from_one_queue() {
    let config = dies_that_take_turns();
    // During a read of die 0, a write of die 0 arrives, and then a read of die 1. By default, reads precede writes.
    let done = completions(&config, [read(0, 1, Time::ZERO), write(2, 1, US(1)), read(1, 1, US(2))]);
    assert_eq!(done, [ONE_READ, ONE_READ * 2 + ONE_WRITE, ONE_READ * 2]);
    // With the scheduling policy `fifo`, transactions are served in order of arrival, so the write goes first.
    let mut in_order = config;
    in_order.schedule.policy = SchedulePolicy::Fifo;
    let done = completions(&in_order, [read(0, 1, Time::ZERO), write(2, 1, US(1)), read(1, 1, US(2))]);
    assert_eq!(done, [ONE_READ, ONE_READ + ONE_WRITE, ONE_READ * 2 + ONE_WRITE]);
}

#[test]
fn a_read_suspends_only_what_its_own_die_does_where_dies_take_turns() {
    let mut config = dies_that_take_turns();
    config.flash.suspension = Suspension::Program;
    let arrival = US(50);
    let done = completions(&config, [write(0, 1, Time::ZERO), read(1, 1, arrival)]);
    assert_eq!(done, [ONE_WRITE, ONE_WRITE + ONE_READ]);
    let done = completions(&config, [write(0, 1, Time::ZERO), read(2, 1, arrival), read(1, 1, arrival)]);
    let read_done = arrival + config.flash.suspend_time + ONE_READ;
    let write_done = ONE_WRITE + config.flash.suspend_time + ONE_READ + config.flash.resume_time;
    // The read of die 1 also waits for the suspended program of die 0, because the dies do not interleave.
    assert_eq!(done, [write_done, read_done, write_done + ONE_READ]);
}

/// PACT 2014, sections 3 and 4.4: each chip on a channel adds load capacitance, which slows the channel.
#[test]
fn a_byte_takes_a_time_constant_more_on_a_channel_that_its_chips_load() {
    let mut config = drive();
    config.geometry.channels = 1;
    config.fabric.channel_load = ChannelLoad::Chips;
    config.fabric.driver_resistance_ohm = 50;
    config.fabric.chip_capacitance_ff = 4_000;
    config.fabric.controller_capacitance_ff = 12_000;
    // The RC time adds to the 1 ns of a byte: 50 Ohm x (12 + 2 x 4) pF = 1 ns with 2 chips, 50 Ohm x (12 + 12 x 4) pF = 3 ns with 12.
    for (chips, byte) in [(2, 2), (12, 4)] {
        config.geometry.chips_per_channel = chips;
        assert_eq!(latencies(&config, [read(0, 1, Time::ZERO)]), [NS(10 + 3_000 + byte * 4_096)], "{chips} chips");
        // On pSSD, whose channels run at twice the rate, the same load divides the rate by `byte` too.
        let mut packets = config.clone();
        packets.fabric.kind = FabricKind::Pssd;
        let slowed = latencies(&packets, [read(0, 1, Time::ZERO)])[0];
        packets.fabric.channel_load = ChannelLoad::None;
        packets.fabric.channel_rate = Rate::from_bytes_per_second(1_000_000_000 / byte);
        assert_eq!(latencies(&packets, [read(0, 1, Time::ZERO)])[0], slowed, "{chips} chips");
    }
    config.fabric.channel_load = ChannelLoad::None;
    assert_eq!(latencies(&config, [read(0, 1, Time::ZERO)]), [ONE_READ]);
}

#[test]
fn a_load_of_chips_is_refused_where_no_channel_has_one() {
    for (text, key) in [
        ("fabric.kind = \"ideal\"\nfabric.channel-load = \"chips\"\n", "fabric.channel-load"),
        ("fabric.chip-capacitance-ff = 5\n", "fabric.chip-capacitance-ff"),
    ] {
        let error = Config::from_str(text, "drive.toml", &[]).expect_err("the key has no effect").to_string();
        assert!(error.contains(key), "{error}");
    }
}

#[test]
fn a_chip_whose_dies_take_turns_counts_as_one_in_the_lower_bound() {
    let config = dies_that_take_turns();
    let reads = (0..500).map(|page| read(page, 1, Time::ZERO)).collect();
    let (report, _) = run_source(&config, Listed(reads));
    assert_eq!(report.lower_bound.dies_ps, (ONE_READ * 500).as_ps());
    assert_eq!(report.lower_bound.distance, Some(0.0));
    assert!(report.bound.sentence.starts_with("bound by the dies: chip 0 works 100 %"), "{}", report.bound.sentence);
}

fn part(page: u64, bytes: u64, arrival: Time) -> flashmesh::workload::IoRequest {
    let mut part = write(page, 1, arrival);
    part.size = Bytes::new(bytes);
    part
}

#[test]
fn a_partial_program_moves_what_was_written_and_reads_the_rest() {
    let mut config = drive();
    config.flash.partial_program = true;
    let requests = [part(0, 512, Time::ZERO), write(1, 1, Time::ZERO), part(1, 1024, Time::from_ms(1))];
    let never_written = COMMAND + NS(512) + PROGRAM;
    let written = COMMAND + READ + NS(3072) + COMMAND + NS(1024) + PROGRAM;
    assert_eq!(latencies(&config, requests), [never_written, ONE_WRITE, written]);
    config.flash.partial_program = false;
    assert_eq!(latencies(&config, requests), [ONE_WRITE, ONE_WRITE, ONE_READ + ONE_WRITE]);
}

#[test]
fn parts_of_two_planes_are_programmed_together() {
    let mut config = drive();
    config.flash.partial_program = true;
    config.flash.multi_plane = MultiPlane::SameOffset;
    config.ftl.allocation = order("PCWD");
    config.geometry.page_spare = Bytes::new(448);
    let mut both = write(0, 2, Time::ZERO);
    both.offset = Bytes::new(3072);
    both.size = Bytes::new(1024 + 512);
    // The write covers a quarter of a page on one plane and an eighth on the other. Metadata is transferred in proportion.
    assert_eq!(latencies(&config, [both]), [COMMAND * 2 + NS(1024 + 112 + 512 + 56) + PROGRAM]);
}

#[test]
fn with_data_first_and_round_robin_an_operation_sends_all_its_planes_in_one_go() {
    let mut config = drive();
    config.flash.multi_plane = MultiPlane::SameOffset;
    config.ftl.allocation = order("PWCD");
    let reads = [read(0, 2, Time::ZERO), read(2, 2, Time::ZERO)];
    let sensed = COMMAND * 2 + READ;
    config.fabric.arbitration = Arbitration::DataFirst;
    assert_eq!(completions(&config, reads), [sensed + PAGE_TRANSFER * 3, sensed + PAGE_TRANSFER * 4]);
    config.fabric.arbitration = Arbitration::DataFirstRoundRobin;
    assert_eq!(completions(&config, reads), [sensed + PAGE_TRANSFER * 2, sensed + PAGE_TRANSFER * 4]);
}

#[test]
fn planes_of_a_read_send_their_data_by_number_or_in_the_order_in_which_the_reads_came() {
    let mut config = drive();
    config.flash.multi_plane = MultiPlane::SameOffset;
    config.ftl.allocation = order("PWCD");
    config.geometry.planes_per_die = 4;
    // The first read keeps the die busy until the other three have arrived. Their pages are sensed while its data is sent.
    let reads = [(4, 0), (0, 1), (3, 2), (1, 3)].map(|(page, at)| read(page, 1, NS(at)));
    let first = COMMAND + READ + PAGE_TRANSFER;
    let nth = |n| first + PAGE_TRANSFER * n;
    assert_eq!(completions(&config, reads), [first, nth(1), nth(3), nth(2)]);
    config.flash.plane_order = PlaneOrder::Arrival;
    assert_eq!(completions(&config, reads), [first, nth(1), nth(2), nth(3)]);
}

#[test]
fn with_data_first_and_round_robin_commands_go_to_the_chips_after_the_last_one() {
    let mut config = drive();
    config.fabric.arbitration = Arbitration::DataFirstRoundRobin;
    // Reads of chips 2, 1 and 0 of channel 0. The command of chip 2 is sent first. Round robin continues after chip 2: chip 0, then chip 1.
    let reads = [16, 8, 0].map(|page| read(page, 1, Time::ZERO));
    let first = ONE_READ;
    assert_eq!(completions(&config, reads), [first, first + PAGE_TRANSFER * 2, first + PAGE_TRANSFER]);
    config.fabric.arbitration = Arbitration::DataFirst;
    assert_eq!(completions(&config, reads), [first, first + PAGE_TRANSFER, first + PAGE_TRANSFER * 2]);
}

#[test]
fn a_chip_whose_data_has_left_takes_part_in_the_choice_of_the_next_command() {
    let mut config = drive();
    config.fabric.arbitration = Arbitration::DataFirstRoundRobin;
    // Chip 1 is served first, then chip 0. While chip 0 sends its data, chips 0 and 2 have another command pending.
    let sends = ONE_READ - US(1);
    let chip = |chip: u64, page: u64, arrival| read(chip * 8 + page * 128, 1, arrival);
    let requests = [chip(1, 0, Time::ZERO), chip(0, 0, US(20)), chip(0, 1, US(20)), chip(2, 0, US(20) + sends)];
    let done = completions(&config, requests);
    let free = US(20) + ONE_READ;
    // Round robin continues after chip 0 at chip 2, and chip 0 is last, although its data has just left the channel.
    assert_eq!(done[1], free);
    assert_eq!((done[3], done[2]), (free + ONE_READ, free + ONE_READ + PAGE_TRANSFER));
    config.fabric.arbitration = Arbitration::RoundRobin;
    assert_eq!(completions(&config, requests)[3], free + ONE_READ);
}

/// Returns the completion times of a write and a later read that both wait for a busy die.
fn write_and_read_that_wait(config: &Config) -> (Time, Time) {
    let done = completions(config, [read(0, 1, Time::ZERO), write(1, 1, US(1)), read(2, 1, US(2))]);
    (done[1], done[2])
}

#[test]
fn kinds_go_in_the_order_that_is_asked_for() {
    let mut config = one_chip(1);
    let read_first = (ONE_READ * 2 + ONE_WRITE, ONE_READ * 2);
    let write_first = (ONE_READ + ONE_WRITE, ONE_READ * 2 + ONE_WRITE);
    for (order, expected) in
        [(KindOrder::ReadFirst, read_first), (KindOrder::WriteFirst, write_first), (KindOrder::Arrival, write_first)]
    {
        config.schedule.order = order;
        assert_eq!(write_and_read_that_wait(&config), expected, "{order}");
    }
    config.schedule.order = KindOrder::WriteFirst;
    let done = completions(&config, [read(0, 1, Time::ZERO), read(1, 1, US(1)), write(2, 1, US(2))]);
    assert_eq!(done, [ONE_READ, ONE_READ * 2 + ONE_WRITE, ONE_READ + ONE_WRITE]);
}

/// Runs random writes with permanent GC and a read every 50 us. Returns the mean read latency in ps and the number of erases. `preemptible` lets
/// requests precede GC.
fn reads_beside_erases(erases: EraseOrder, preemptible: bool) -> (f64, u64) {
    let mut config = one_chip(1);
    config.geometry.blocks_per_plane = 32;
    config.geometry.pages_per_block = 16;
    config.geometry.over_provisioning = 0.5;
    config.flash.erase_time = Time::from_ms(3);
    config.gc.threshold = 0.2;
    config.gc.preemptible = preemptible;
    config.precondition.kind = PreconditionKind::Random;
    config.schedule.erases = erases;
    let pages = Geometry::new(&config.geometry).expect("the geometry is valid").logical_pages;
    let page = |n: u64| n.wrapping_mul(0x9e37_79b9_7f4a_7c15) % u64::from(pages);
    let writes = (0..1_500).map(|n| write(page(n), 1, Time::from_us(n * 1_000)));
    let reads = (0..30_000).map(|n| read(page(n + 7), 1, Time::from_us(n * 50)));
    let mut requests: Vec<_> = writes.chain(reads).collect();
    requests.sort_by_key(|request| request.arrival);
    let (report, _) = run_source(&config, Listed(requests.into()));
    (report.latency_ps.read.expect("reads completed").mean, report.gc.erases)
}

#[test]
fn erases_that_go_last_let_requests_pass_and_those_that_go_first_do_not() {
    for preemptible in [false, true] {
        let [first, between, last] = [EraseOrder::First, EraseOrder::WithCollection, EraseOrder::Last]
            .map(|erases| reads_beside_erases(erases, preemptible));
        assert!(first.1 > 50 && between.1 > 50 && last.1 > 50, "{first:?} {between:?} {last:?}");
        // `between`, the default, ranks erases before requests if GC is not preemptible, and after them if it is.
        let (long, short) = if preemptible { (first, [between, last]) } else { (between, [last, last]) };
        assert!(short.iter().all(|short| short.0 < 0.95 * long.0), "{first:?} {between:?} {last:?}");
        assert_eq!(if preemptible { between } else { first }, if preemptible { last } else { between });
    }
}

#[test]
fn a_write_goes_first_from_the_picosecond_on_at_which_it_has_waited_for_the_bound() {
    let mut config = one_chip(1);
    let waited = ONE_READ - US(1);
    config.schedule.age_bound = waited;
    assert_eq!(write_and_read_that_wait(&config), (ONE_READ + ONE_WRITE, ONE_READ * 2 + ONE_WRITE));
    config.schedule.age_bound = waited + PICOSECOND;
    assert_eq!(write_and_read_that_wait(&config), (ONE_READ * 2 + ONE_WRITE, ONE_READ * 2));
}

#[test]
fn an_age_bound_keeps_reads_from_starving_writes() {
    let mut config = one_chip(1);
    // A read arrives whenever the previous one completes, and one write arrives at the start.
    let reads = |count: u64| (0..count).map(|n| read(n + 1, 1, NS(n * 7_000)));
    let requests = || [read(0, 1, Time::ZERO), write(0, 1, NS(1))].into_iter().chain(reads(1_000));
    let starved = completions(&config, requests())[1];
    assert!(starved > ONE_READ * 1_000, "{starved}");
    config.schedule.age_bound = US(500);
    let bounded = completions(&config, requests())[1];
    assert!(bounded < US(500) + ONE_READ + ONE_WRITE, "{bounded}");
}

#[test]
fn writes_that_have_their_pages_join_in_a_program_as_deep_in_the_queue_as_it_is_searched() {
    let mut config = one_chip(1);
    config.geometry.planes_per_die = 2;
    config.flash.multi_plane = MultiPlane::SameOffset;
    config.ftl.allocation = order("PCWD");
    let mut ends = |early: bool, lookahead: u32| -> Vec<Time> {
        if early {
            config.flash.program_order = ProgramOrder::Any;
            config.ftl.write_binding = WriteBinding::Early;
        }
        config.schedule.lookahead = lookahead;
        // Even pages are on plane 0, odd pages on plane 1. While page 0 is programmed, writes of pages 2, 1 and 3 arrive. With early binding, pages 2
        // and 3 have the same offset; a lookahead of 2 programs them together.
        let requests = [(0, 0), (2, 1), (1, 1), (3, 1)].map(|(page, at)| write(page, 1, US(at)));
        let arrivals = [0, 1, 1, 1].map(US);
        latencies(&config, requests).into_iter().zip(arrivals).map(|(latency, arrival)| latency + arrival).collect()
    };
    let both = NS(2 * 10 + 2 * 4_096 + 100_000);
    let alone = vec![ONE_WRITE, ONE_WRITE * 2, ONE_WRITE * 3, ONE_WRITE * 4];
    assert_eq!(ends(false, 32), alone);
    assert_eq!(ends(true, 1), alone);
    assert_eq!(ends(true, 2), [ONE_WRITE, ONE_WRITE + both, ONE_WRITE * 2 + both, ONE_WRITE + both]);
}

#[test]
fn a_write_of_a_part_of_a_page_keeps_its_turn_while_the_rest_is_read() {
    let mut config = one_chip(1);
    config.flash.program_order = ProgramOrder::Any;
    let mut last = |early: bool| -> (Time, Time) {
        config.ftl.write_binding = if early { WriteBinding::Early } else { WriteBinding::Late };
        let mut part = write(0, 1, US(201));
        part.size = Bytes::new(512);
        // The write of page 1 keeps the die busy when a partial write of page 0 and a write of page 2 arrive.
        let requests = [write(0, 1, US(0)), write(1, 1, US(200)), part, write(2, 1, US(202))];
        let latencies = latencies(&config, requests);
        (latencies[2] + US(201), latencies[3] + US(202))
    };
    let (busy, read) = (US(200) + ONE_WRITE, ONE_READ);
    assert_eq!(last(false), (busy + read + ONE_WRITE * 2, busy + read + ONE_WRITE));
    assert_eq!(last(true), (busy + read + ONE_WRITE, busy + read + ONE_WRITE * 2));
}
