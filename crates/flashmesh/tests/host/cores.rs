//! Controller cores: jobs for commands, completions and GC moves, one at a time per core.

use flashmesh::config::{Config, CoreChoice, FabricKind, Firmware, PreconditionKind, ReplayMode};
use flashmesh::measure::bound::Resource;
use flashmesh::measure::request_log::RequestRecord;
use flashmesh::simulation::{Control, Simulation};
use flashmesh::units::{Bytes, Time};
use flashmesh::workload::{IoRequest, RequestKind};

use crate::support::drives::*;

const COMMAND: Time = Time::from_ns(10);
const READ: Time = Time::from_us(3);
const PROGRAM: Time = Time::from_us(100);
/// Transfer time of 4096 bytes at 1.2 GB/s, rounded up.
const TRANSFER: Time = Time::from_ps(3_413_334);

fn us(us: u64) -> Time {
    Time::from_us(us)
}

fn with_firmware(firmware: Firmware) -> Config {
    Config { firmware, ..bare_drive() }
}

fn latency(record: &RequestRecord) -> Time {
    record.completed - record.arrival
}

#[test]
fn a_command_costs_its_kind_and_its_units_and_a_completion_costs_as_well() {
    let config = with_firmware(Firmware {
        read_time: us(2),
        write_time: us(5),
        other_time: us(7),
        look_up_time: us(1),
        completion_time: us(3),
        ..Firmware::default()
    });
    let at = |number| Time::from_ms(number);
    // The read starts on another channel and covers three pages, two of them in part.
    let part = IoRequest { offset: Bytes::new(7 * PAGE + 512), size: Bytes::new(2 * PAGE), ..read(7, 1, at(3)) };
    let requests = [read(5, 1, at(0)), write(5, 1, at(1)), request(RequestKind::Deallocate, 5, 1, at(2)), part];
    let records = run(&config, requests);
    let firmware: Vec<Time> = records.iter().map(|record| record.firmware).collect();
    assert_eq!(firmware, [us(2 + 1 + 3), us(5 + 1 + 3), us(7 + 3), us(2 + 3 + 3)]);
    assert_eq!(latency(&records[0]), us(6) + COMMAND + READ + TRANSFER);
    assert_eq!(latency(&records[1]), us(9) + COMMAND + TRANSFER + PROGRAM);
    assert_eq!(latency(&records[2]), us(10));
    assert!(records.iter().all(|record| record.firmware + record.breakdown.total() + record.host() == latency(record)));
    assert_eq!(records[0].breakdown.total(), COMMAND + READ + TRANSFER);
}

/// The read covers three flash pages on three channels. The command job starts the first page, and further jobs start the other two.
#[test]
fn each_page_of_flash_of_a_read_but_the_first_is_a_job_of_its_own() {
    for (cores, last_job) in [(1, 2 + 5 + 5), (2, 2 + 5), (8, 2 + 5)] {
        let times =
            Firmware { cores, read_time: us(2), split_time: us(5), completion_time: us(1), ..Firmware::default() };
        let config = with_firmware(times);
        let long = IoRequest { size: Bytes::new(3 * PAGE), ..read(8, 1, Time::from_ms(1)) };
        let records = run(&config, [read(5, 1, Time::ZERO), long]);
        assert_eq!(latency(&records[0]), us(2 + 1) + COMMAND + READ + TRANSFER);
        assert_eq!(latency(&records[1]), us(last_job + 1) + COMMAND + READ + TRANSFER, "{cores} cores");
        assert_eq!(records[1].firmware, us(last_job + 1), "{cores} cores");
        assert_eq!(records[1].breakdown.total(), COMMAND + READ + TRANSFER);
    }
}

#[test]
fn mapping_units_of_one_page_of_flash_need_one_job() {
    let mut config = with_firmware(Firmware { split_time: us(5), ..Firmware::default() });
    config.ftl.mapping_unit = Some(Bytes::new(PAGE / 4));
    let part = |units: u64| IoRequest { size: Bytes::new(units * PAGE / 4), ..read(0, 1, Time::ZERO) };
    let firmware = |units| run(&config, [part(units)])[0].firmware;
    assert_eq!([1, 4, 5, 8, 9].map(firmware), [0, 0, 5, 5, 10].map(us));
}

#[test]
fn jobs_are_done_in_the_order_in_which_they_come_by_the_core_that_is_free_first() {
    let ends = |cores| {
        let config = with_firmware(Firmware { cores, other_time: us(4), ..Firmware::default() });
        let trims = (0..5).map(|page| request(RequestKind::Deallocate, page, 1, Time::ZERO));
        run(&config, trims).iter().map(latency).collect::<Vec<_>>()
    };
    assert_eq!(ends(1), [4, 8, 12, 16, 20].map(us));
    assert_eq!(ends(2), [4, 4, 8, 8, 12].map(us));
    assert_eq!(ends(8), [4; 5].map(us));
}

/// With two cores, the pages 0, 2 and 4 share a core, and page 1 has the other. Deallocations take the core that is free first.
#[test]
fn a_core_takes_the_reads_of_its_own_addresses() {
    let ends = |core_choice| {
        let config = with_firmware(Firmware {
            cores: 2,
            core_choice,
            read_time: us(4),
            other_time: us(4),
            ..Firmware::default()
        });
        let reads = [0, 2, 4, 1].map(|page| read(page, 1, Time::ZERO));
        let trim = request(RequestKind::Deallocate, 64, 1, Time::ZERO);
        run(&config, reads.into_iter().chain([trim])).iter().map(|record| record.firmware).collect::<Vec<_>>()
    };
    assert_eq!(ends(CoreChoice::FirstFree), [4, 4, 8, 8, 12].map(us));
    assert_eq!(ends(CoreChoice::Address), [4, 8, 12, 4, 8].map(us));
}

/// The four parts of the read lie in pages 8 to 11: with two cores, each core has two of them.
#[test]
fn parts_of_a_read_take_the_cores_of_their_addresses() {
    let times = Firmware {
        cores: 2,
        core_choice: CoreChoice::Address,
        read_time: us(2),
        split_time: us(5),
        ..Firmware::default()
    };
    let long = IoRequest { size: Bytes::new(4 * PAGE), ..read(8, 1, Time::ZERO) };
    let records = run(&with_firmware(times), [long]);
    assert_eq!(records[0].firmware, us(2 + 5 + 5));
}

/// A completion is a core job and queues behind earlier commands.
#[test]
fn a_completion_takes_its_turn_behind_commands() {
    let config = with_firmware(Firmware { other_time: us(4), completion_time: us(1), ..Firmware::default() });
    let trims = (0..3).map(|page| request(RequestKind::Deallocate, page, 1, Time::ZERO));
    let ends: Vec<Time> = run(&config, trims).iter().map(latency).collect();
    // Three commands occupy the core until 12 us; then their completions run.
    assert_eq!(ends, [13, 14, 15].map(us));
}

/// Deallocations at random times use no other resource, so one core is an M/D/1 queue with a mean wait of `service * load / (2 * (1 - load))`.
#[test]
fn a_core_is_an_m_d_1_queue_under_random_arrivals() {
    for load in [0.3, 0.6, 0.75] {
        let mut config = with_firmware(Firmware { other_time: us(10), ..Firmware::default() });
        config.host.queue_depth = 65_535;
        let mut random = 88_172_645_463_325_252u64;
        let mut uniform = || {
            random ^= random << 13;
            random ^= random >> 7;
            random ^= random << 17;
            (random >> 11) as f64 / (1u64 << 53) as f64
        };
        let mut clock = 0.0;
        let trims = (0..200_000).map(|page| {
            clock -= (1.0 - uniform()).ln() * 10.0e6 / load;
            request(RequestKind::Deallocate, page % 64, 1, Time::from_ps(clock as u64))
        });
        let records = run(&config, trims.collect::<Vec<_>>());
        let mean = records.iter().map(|record| record.firmware.as_ps() as f64).sum::<f64>() / records.len() as f64;
        let expected = 10.0e6 * (1.0 + load / (2.0 * (1.0 - load)));
        assert!((mean / expected - 1.0).abs() < 0.03, "load {load}: {mean} ps, expected {expected}");
    }
}

#[test]
fn cores_that_are_always_busy_bound_the_run_and_its_rate() {
    let mut config = with_firmware(Firmware {
        cores: 2,
        read_time: us(3),
        look_up_time: Time::from_ns(500),
        completion_time: Time::from_ns(500),
        ..Firmware::default()
    });
    config.fabric.kind = FabricKind::Ideal;
    config.replay.mode = ReplayMode::Stress;
    config.replay.outstanding = 64;
    let source = Repeated { left: 20_000, kind: RequestKind::Read, page: |number| number * 7919 % 65_536 };
    let (report, _) = run_source(&config, source);
    assert_eq!(report.bound.resource, Resource::Firmware);
    let busy = report.utilisation.firmware.expect("the drive has cores");
    assert!(busy > 0.995, "{busy}");
    // Each command occupies one of the two cores for 4 us.
    assert!((report.iops / 500_000.0 - 1.0).abs() < 0.005, "{}", report.iops);
    let least = report.lower_bound.firmware_ps.expect("the drive has cores");
    assert_eq!(least, 20_000 * 4_000_000 / 2);
    assert!(report.makespan_ps >= least);
}

#[test]
fn each_page_that_collection_moves_takes_a_core_its_time() {
    let mut config = steady_drive(FabricKind::Bus, 0.2);
    config.precondition.kind = PreconditionKind::Random;
    config.firmware.collect_time = us(2);
    let writes = Repeated { left: 20_000, kind: RequestKind::Write, page: |number| number * 7919 % 20_000 };
    let (report, _) = run_source(&config, writes);
    let moved = report.gc.pages_moved;
    assert!(moved > 1_000, "{moved}");
    let least = report.lower_bound.firmware_ps.expect("the drive has cores");
    // At the end of the run, up to one page per plane was read but not yet programmed. Its core time counts too.
    let planes = u64::from(config.geometry.channels * config.geometry.chips_per_channel) * 2;
    assert!((moved..=moved + planes).contains(&(least / 2_000_000)), "{least} ps for {moved}");
}

#[test]
fn what_takes_no_time_needs_no_core() {
    let config = with_firmware(Firmware { write_time: us(5), ..Firmware::default() });
    let requests = [write(5, 1, Time::ZERO), write(6, 1, Time::ZERO), read(900, 1, Time::ZERO)];
    let records = run(&config, requests);
    assert_eq!(records[2].firmware, Time::ZERO);
    assert_eq!(latency(&records[2]), COMMAND + READ + TRANSFER);
    let (report, _) = run_source(&bare_drive(), Listed(requests.into()));
    assert_eq!((report.utilisation.firmware, report.lower_bound.firmware_ps), (None, None));
}

/// The first request is larger than the drive. Its look-ups alone outlast the longest run before it is refused, and the other requests wait.
#[test]
fn look_ups_that_take_longer_than_a_run_are_no_overflow() {
    let config = with_firmware(Firmware { look_up_time: Time::from_ms(10), ..Firmware::default() });
    let endless = IoRequest { size: Bytes::new(1 << 62), ..read(0, 1, Time::ZERO) };
    let source = Listed([endless, read(1, 1, Time::ZERO), read(2, 1, Time::ZERO)].into());
    let mut simulation = Simulation::with_source(&config, Box::new(source)).expect("the drive can be built");
    simulation.enable_checks();
    let report = simulation.run(&Control::default()).expect("the run ends before the time overflows");
    assert_eq!(report.host.statuses.lba_out_of_range, 1);
    assert!(Time::from_ps(report.makespan_ps) > Time::RUN_MAX, "{}", report.makespan_ps);
}
