//! Scheduling policies: the choices of each, and runs of each over every interconnect.

use flashmesh::config::{
    Config, DieStart, FabricKind, FirmwarePolicy, InterfaceKind, MultiPlane, PreconditionKind, ReplayMode,
    SchedulePolicy, Sizes, Suspension, SuspensionScope,
};
use flashmesh::measure::fairness::Fairness;
use flashmesh::measure::report::Report;
use flashmesh::simulation::{Control, Simulation};
use flashmesh::units::{Bytes, Rate, Time};
use flashmesh::workload::IoRequest;

use crate::support::drives::*;

const NS: fn(u64) -> Time = Time::from_ns;
const US: fn(u64) -> Time = Time::from_us;
const ONE_READ: Time = Time::from_ns(10 + 3_000 + 4_096);

/// Returns a drive of one channel of 1 B/ns with the given chips, dies per chip and planes per die, filled sequentially. Consecutive pages are
/// on consecutive planes, then dies, then chips.
pub fn one_channel(chips: u32, dies: u32, planes: u32) -> Config {
    let mut config = bare_drive();
    config.fabric.channel_rate = Rate::from_bytes_per_second(1_000_000_000);
    config.geometry.channels = 1;
    config.geometry.chips_per_channel = chips;
    config.geometry.dies_per_chip = dies;
    config.geometry.planes_per_die = planes;
    config.ftl.allocation = order("PDWC");
    config.flash.multi_plane = MultiPlane::SameOffset;
    config.precondition.kind = PreconditionKind::Sequential;
    config
}

/// Returns the indices of `requests` in order of completion.
fn order_of(config: &Config, requests: &[IoRequest]) -> Vec<usize> {
    let ends = completions(config, requests.iter().copied());
    let mut order: Vec<usize> = (0..requests.len()).collect();
    order.sort_by_key(|&at| (ends[at], at));
    order
}

fn with(policy: SchedulePolicy, mut config: Config) -> Config {
    config.schedule.policy = policy;
    config
}

#[test]
fn dies_that_start_together_wait_for_all_of_their_chip() {
    let mut config = one_channel(1, 2, 1);
    let reads = |second: Time| [read(0, 1, Time::ZERO), read(1, 1, second)];
    let late = |config: &Config| completions(config, reads(US(1)));
    // The channel sends the data of the second die after that of the first.
    assert_eq!(late(&config), [ONE_READ, ONE_READ + NS(4_096)]);
    config.flash.die_start = DieStart::Together;
    assert_eq!(late(&config), [ONE_READ, ONE_READ * 2]);
    // Both reads wait for the whole chip to become idle, and are then sensed in parallel.
    let both = completions(&config, [read(0, 1, Time::ZERO), read(2, 1, US(1)), read(1, 1, US(1))]);
    assert_eq!(both, [ONE_READ, ONE_READ * 2, ONE_READ * 2 + NS(4_096)]);
    // The rule applies to the dies of one chip, not to chips.
    let mut chips = one_channel(2, 1, 1);
    chips.flash.die_start = DieStart::Together;
    assert_eq!(late(&chips), [ONE_READ, ONE_READ + NS(4_096)]);
}

#[test]
fn dies_that_start_together_let_reads_suspend_their_own_die_alone() {
    let mut config = one_channel(1, 2, 1);
    config.flash.die_start = DieStart::Together;
    config.flash.suspension = flashmesh::config::Suspension::Program;
    let [suspend, resume] = [config.flash.suspend_time, config.flash.resume_time];
    // A program of the first die, then a read of that die, which suspends the program, and a read of the second die, which waits for its end.
    let ends = completions(&config, [write(0, 1, Time::ZERO), read(2, 1, US(20)), read(1, 1, US(20))]);
    let alone = NS(10 + 4_096 + 100_000);
    assert_eq!(ends[1], US(20) + suspend + ONE_READ);
    assert_eq!(ends[0], alone + (ends[1] - US(20)) + resume);
    assert_eq!(ends[2], ends[0] + ONE_READ);
}

/// MBM, sections IV.C and VI.D: a chip is busy as a whole, and a read of any of its dies suspends all of them.
#[test]
fn a_read_of_an_idle_die_suspends_its_whole_chip_where_that_is_asked_for() {
    let mut config = one_channel(1, 2, 1);
    config.flash.die_start = DieStart::Together;
    config.flash.suspension = Suspension::Program;
    let [suspend, resume] = [config.flash.suspend_time, config.flash.resume_time];
    let alone = NS(10 + 4_096 + 100_000);
    let one_program = [write(0, 1, Time::ZERO), read(1, 1, US(20))];
    assert_eq!(completions(&config, one_program), [alone, alone + ONE_READ]);
    config.flash.suspension_scope = SuspensionScope::Chip;
    let read_end = US(20) + suspend + ONE_READ;
    let put_off = suspend + ONE_READ + resume;
    assert_eq!(completions(&config, one_program), [alone + put_off, read_end]);
    // Both dies program, the second after its data has followed on the channel. A read of one die suspends both.
    let second = alone + NS(10 + 4_096);
    let two_programs = [write(0, 2, Time::ZERO), read(1, 1, US(20))];
    assert_eq!(completions(&config, two_programs), [second + put_off, read_end]);
    // While the chip is suspended, reads of both dies run in parallel. A write waits until all operations have ended.
    let later = write(2, 1, US(20));
    let ends = completions(&config, [write(0, 1, Time::ZERO), read(1, 1, US(20)), read(2, 1, US(20)), later]);
    let both = NS(4_096);
    assert_eq!(ends, [alone + put_off + both, read_end, read_end + both, alone * 2 + put_off + both]);
    // Reads are not suspended, so the second waits for the first.
    let reads = [read(0, 1, Time::ZERO), read(2, 1, US(1))];
    assert_eq!(completions(&config, reads), [ONE_READ, ONE_READ * 2]);
}

#[test]
fn a_chip_is_suspended_as_a_whole_only_where_its_dies_begin_together() {
    for (text, why) in [
        ("", "flash.die-start"),
        ("flash.die-start = \"together\"\n", "flash.suspension"),
        ("flash.die-interleaving = false\nflash.suspension = \"both\"\n", "flash.die-start"),
    ] {
        let text = format!("geometry.dies-per-chip = 2\nflash.suspension-scope = \"chip\"\n{text}");
        let error = Config::from_str(&text, "drive.toml", &[]).expect_err("the key has no effect").to_string();
        assert!(error.contains("flash.suspension-scope") && error.contains(why), "{text}: {error}");
    }
}

#[test]
fn sprinkler_and_paq_take_the_larger_group_wherever_it_waits() {
    let config = one_channel(1, 1, 2);
    // While page 0 is read, reads of page 10 and of pages 6 and 7 arrive. Only pages 6 and 7 can be read in one multi-plane operation.
    let reads = [read(0, 1, Time::ZERO), read(10, 1, US(1)), read(6, 1, US(2)), read(7, 1, US(3))];
    assert_eq!(order_of(&config, &reads), [0, 1, 2, 3]);
    for policy in [SchedulePolicy::Sprinkler, SchedulePolicy::Paq] {
        assert_eq!(order_of(&with(policy, config.clone()), &reads), [0, 2, 3, 1], "{policy}");
    }
}

#[test]
fn the_firmware_policy_brings_its_scheduling() {
    let mut config = one_channel(1, 1, 2);
    let reads = [read(0, 1, Time::ZERO), read(10, 1, US(1)), read(6, 1, US(2)), read(7, 1, US(3))];
    config.ftl.policy = FirmwarePolicy::Sprinkler;
    assert_eq!(order_of(&config, &reads), [0, 2, 3, 1]);
    for (line, key) in [
        ("policy = \"fifo\"", "schedule.policy"),
        ("order = \"arrival\"", "schedule.order"),
        ("priorities = \"strict\"", "schedule.priorities"),
    ] {
        let text = format!("[ftl]\npolicy = \"sprinkler\"\n[schedule]\n{line}\n");
        let error = Config::from_str(&text, "drive.toml", &[]).expect_err("the keys contradict each other").to_string();
        assert!(error.contains("ftl.policy is `sprinkler`") && error.contains(key), "{error}");
    }
}

#[test]
fn sprinkler_prefers_the_pages_of_one_request_and_paq_the_oldest() {
    let config = one_channel(1, 1, 2);
    // Pages 10 and 11 (two requests) and, later, pages 6 and 7 (one request) can each be read in one multi-plane operation.
    let reads = [read(0, 1, Time::ZERO), read(10, 1, US(1)), read(11, 1, US(1)), read(6, 2, US(2))];
    assert_eq!(order_of(&with(SchedulePolicy::Sprinkler, config.clone()), &reads), [0, 3, 1, 2]);
    assert_eq!(order_of(&with(SchedulePolicy::Paq, config), &reads), [0, 1, 2, 3]);
}

#[test]
fn chips_of_a_channel_go_as_the_policy_says() {
    let config = one_channel(4, 2, 1);
    // While chip 3 sends data, commands for chips 2, 1 and 0 queue for the channel. PAQ serves chip 0 before chip 1, because its operation covers two
    // dies. Consecutive pages are on consecutive dies.
    let at = |chip: u64, die: u64, time: Time| read(chip * 2 + die, 1, time);
    let reads = [at(3, 0, Time::ZERO), at(2, 0, US(4)), at(1, 0, NS(4_100)), at(0, 0, NS(4_200)), at(0, 1, NS(4_300))];
    assert_eq!(order_of(&config, &reads), [0, 1, 2, 3, 4], "in order of arrival");
    assert_eq!(order_of(&with(SchedulePolicy::Paq, config.clone()), &reads), [0, 1, 3, 4, 2], "the most planes first");
    // Now chip 1 has two reads, and chip 0 a later one. Sprinkler serves chips in order of their position in the channel: after chip 2 come chip 3,
    // which is idle, chip 0 and chip 1.
    let reads = [at(3, 0, Time::ZERO), at(2, 0, US(4)), at(1, 0, NS(4_100)), at(1, 1, NS(4_200)), at(0, 0, NS(4_300))];
    assert_eq!(order_of(&config, &reads), [0, 1, 2, 3, 4]);
    assert_eq!(
        order_of(&with(SchedulePolicy::Sprinkler, config), &reads),
        [0, 1, 4, 2, 3],
        "by the offset of the chip"
    );
}

#[test]
fn operations_that_the_bound_brings_forward_are_counted_while_the_other_kind_waits() {
    let begins = Time::from_ms(100);
    let mut requests = vec![read(0, 1, begins)];
    requests.extend([write(1, 1, begins + US(1)), write(2, 1, begins + US(1))]);
    requests.extend((3..7).map(|page| read(page, 1, begins + US(1))));
    let counted = |bound: Time| {
        let mut config = one_channel(1, 1, 1);
        config.schedule.age_bound = bound;
        let flash = run_source(&config, Listed(requests.clone().into())).0.flash;
        (flash.overdue_reads, flash.overdue_programs)
    };
    // No transaction waits for 20 ms, so none is overdue, and all reads precede the writes.
    assert_eq!(counted(Time::from_ms(20)), (0, 0));
    // All transactions become overdue. The counts include only those dispatched while the other kind (reads or writes) waits: a write, a read and the
    // other write.
    assert_eq!(counted(US(2)), (1, 2));
}

/// Returns a small full drive under random reads and writes, with GC, the given scheduling policy, interconnect and host interface.
pub fn busy(policy: SchedulePolicy, fabric: FabricKind, interface: InterfaceKind) -> Config {
    let mut config = Config::default();
    config.schedule.policy = policy;
    config.fabric.kind = fabric;
    config.host.interface = interface;
    config.geometry.channels = 2;
    config.geometry.chips_per_channel = 2;
    config.geometry.dies_per_chip = 2;
    config.geometry.blocks_per_plane = 16;
    config.geometry.pages_per_block = 16;
    config.geometry.over_provisioning = 0.3;
    config.precondition.kind = PreconditionKind::Random;
    config.replay.mode = ReplayMode::Stress;
    config.replay.outstanding = 32;
    config.workload.read_share = 0.5;
    config.workload.request_size = Sizes(vec![(Bytes::from_kib(8), 1.0)]);
    config.workload.requests = Some(600);
    config
}

#[test]
fn every_policy_runs_over_every_interconnect_interface_and_cache() {
    for &policy in SchedulePolicy::ALL {
        for (at, &fabric) in FabricKind::ALL.iter().enumerate() {
            let mut config = busy(policy, fabric, InterfaceKind::ALL[at % InterfaceKind::ALL.len()]);
            if at % 2 == 0 {
                config.cache.capacity = Bytes::from_kib(256);
            }
            config.flash.die_start = DieStart::ALL[at / 2 % DieStart::ALL.len()];
            config.validate().unwrap_or_else(|error| panic!("{policy} over {fabric}: {error}"));
            let mut simulation = Simulation::new(&unwarmed(&config)).expect("the drive can be built");
            simulation.enable_checks();
            let report =
                simulation.run(&Control::default()).unwrap_or_else(|error| panic!("{policy}, {fabric}: {error}"));
            assert_eq!(report.requests, 600, "{policy} over {fabric}");
            assert!(report.gc.erases > 0, "{policy} over {fabric}: GC runs");
        }
    }
}

/// Returns a configuration of two streams of reads on four dies. One stream has many outstanding requests, the other a single one.
fn two_streams(policy: &str) -> Config {
    config_of(&format!(
        r#"
        [geometry]
        channels = 2
        chips-per-channel = 2
        [schedule]
        policy = "{policy}"
        [host]
        queue-depth = 1024
        [stream.heavy.workload]
        requests = 20_000
        [stream.heavy.replay]
        outstanding = 128
        [stream.light.workload]
        requests = 1_000
        [stream.light.replay]
        outstanding = 1
        "#
    ))
}

fn fairness(config: &Config) -> Fairness {
    let run = |simulation: Result<Simulation, _>| -> Report {
        let mut simulation = simulation.expect("the drive can be built");
        simulation.run(&Control::default()).expect("every request completes")
    };
    let together = run(Simulation::new(&unwarmed(config)));
    let latency = |report: &Report, at: usize| {
        report.streams[at].latency_ps.all.as_ref().map(|latency| (latency.mean, latency.p99))
    };
    let streams = (0..together.streams.len()).map(|at| {
        let alone = run(Simulation::single_stream(config, at));
        let is_steady = alone.steadiness.steady;
        (together.streams[at].name.clone(), latency(&together, at), latency(&alone, at), is_steady)
    });
    Fairness::new(streams)
}

#[test]
fn fair_slows_streams_down_more_alike() {
    let [plain, fair] = ["out-of-order", "fair"].map(|policy| fairness(&two_streams(policy)));
    let index = |fairness: &Fairness| fairness.fairness.expect("both streams have requests");
    assert!(index(&fair) > 3.0 * index(&plain), "{fair:?} against {plain:?}");
    let slowdown = |fairness: &Fairness| fairness.streams[0].slowdown.expect("the stream has requests");
    assert!(slowdown(&fair) < 1.1 * slowdown(&plain), "the heavy stream pays little: {fair:?} against {plain:?}");
}

/// The policy can dequeue a write that is not the head of its queue. Its stream may have no free page in its open block although the stream of the
/// head has.
#[test]
fn a_write_that_is_taken_out_of_turn_waits_while_the_open_block_of_its_stream_is_full() {
    let stream = |name: &str, reads: &str, outstanding: u32| {
        format!(
            "[stream.{name}.workload]\nkind = \"synthetic\"\nread-share = {reads}\nrequests = 1000\nrequest-size = \"2KiB\"\n\
             [stream.{name}.replay]\noutstanding = {outstanding}\n"
        )
    };
    let drive = "precondition.kind = \"random\"\nschedule.policy = \"fair\"\nschedule.age-bound = \"140us\"\n\
                 ftl.write-streams = \"per-stream\"\ngc.threshold = 0.1\ngc.preemptible = false\n\
                 flash.program-time = \"20us\"\nflash.erase-time = \"100us\"\n\
                 [geometry]\nchannels = 1\nchips-per-channel = 1\ndies-per-chip = 1\nplanes-per-die = 1\n\
                 blocks-per-plane = 9\npages-per-block = 4\npage-size = \"4KiB\"\ncapacity = \"64KiB\"\n";
    let config = config_of(&format!("{drive}{}{}", stream("a", "0.0", 6), stream("b", "0.8", 1)));
    let (report, _) = finish(Simulation::new(&unwarmed(&config)).expect("the drive can be built"));
    assert_eq!(report.requests, 2000);
}
