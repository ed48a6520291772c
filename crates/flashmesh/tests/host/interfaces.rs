//! Host interfaces on whole drives: messages to the nanosecond, flushes, zeroes, and refused requests.

use flashmesh::config::{
    Beyond, Config, InterfaceKind, PreconditionKind, ReadData, ReplayMode, SataTransport, TraceTimeUnit, WorkloadKind,
};
use flashmesh::host::status::Status;
use flashmesh::ids::Lpn;
use flashmesh::measure::bound::Resource;
use flashmesh::measure::lower_bound::Limit;
use flashmesh::measure::report::Report;
use flashmesh::measure::request_log::RequestRecord;
use flashmesh::simulation::{Control, Simulation};
use flashmesh::units::{Bytes, Rate, Time};
use flashmesh::workload::{IoRequest, RequestKind};

use crate::support::drives::*;

const COMMAND: Time = Time::from_ns(10);
const READ: Time = Time::from_us(3);
const PROGRAM: Time = Time::from_us(100);
/// Transfer time of 4096 bytes at 1.2 GB/s, rounded up.
const PAGE_TRANSFER: Time = Time::from_ps(3_413_334);

/// Returns [`bare_drive`] reduced to 2 GiB.
fn small_drive() -> Config {
    let mut config = bare_drive();
    config.geometry.blocks_per_plane = 64;
    config.geometry.pages_per_block = 64;
    config
}

/// Returns an NVMe drive with eight lanes of 1 GB/s, and packets of 128 B with 28 B of framing. Link times: 4 ns for a doorbell or read request, 13
/// ns for an entry (72 B), 6 ns for a completion (16 B), 624 ns for 4 KiB of data.
fn pcie() -> Config {
    let mut config = small_drive();
    config.host.interface = InterfaceKind::Nvme;
    config.host.link_rate = Rate::from_bytes_per_second(1_000_000_000);
    config.host.lanes = 8;
    config.host.packet_payload = Some(Bytes::new(128));
    config.host.packet_overhead = Bytes::new(28);
    config.host.submission_size = Bytes::new(72);
    config.host.completion_size = Bytes::new(16);
    config.host.read_data = ReadData::Request;
    config.nvme.doorbell_size = Bytes::new(2);
    config.nvme.read_request_size = Bytes::new(4);
    config
}

/// Returns `config` with a replay of one request at a time, each issued when the previous one completes.
fn one_at_a_time(mut config: Config) -> Config {
    config.replay.mode = ReplayMode::Stress;
    config.replay.outstanding = 1;
    config
}

fn ns(nanoseconds: u64) -> Time {
    Time::from_ns(nanoseconds)
}

#[test]
fn a_read_over_nvme_takes_its_messages_and_all_but_the_first_a_doorbell_more() {
    let flash = COMMAND + READ + PAGE_TRANSFER;
    let found = latencies(&one_at_a_time(pcie()), (0..4).map(|n| read(n * 7919, 1, Time::ZERO)));
    let first = ns(4 + 4 + 13) + flash + ns(624 + 6);
    assert_eq!(found, [first, ns(4) + first, ns(4) + first, ns(4) + first]);
}

#[test]
fn a_write_over_nvme_has_its_data_fetched_before_the_flash() {
    let flash = COMMAND + PAGE_TRANSFER + PROGRAM;
    let found = latencies(&one_at_a_time(pcie()), (0..3).map(|n| write(n * 7919, 1, Time::ZERO)));
    let first = ns(4 + 4 + 13 + 4 + 624) + flash + ns(6);
    assert_eq!(found, [first, ns(4) + first, ns(4) + first]);
}

/// The two pages are on two chips of one channel. The data of the first page reaches the controller 3.4 us before the data of the second.
#[test]
fn read_data_goes_page_by_page_or_at_once() {
    for (read_data, data) in [(ReadData::Page, 624), (ReadData::Request, 1248)] {
        let mut config = pcie();
        config.host.read_data = read_data;
        config.ftl.allocation = order("WCDP");
        let found = latencies(&config, [read(0, 2, Time::ZERO)]);
        let flash = COMMAND + READ + PAGE_TRANSFER * 2;
        assert_eq!(found, [ns(4 + 4 + 13) + flash + ns(data + 6)], "{read_data}");
    }
}

#[test]
fn bytes_and_doorbells_of_the_host_are_counted_with_their_packets() {
    let source = Listed([read(0, 1, Time::ZERO), write(1, 1, Time::ZERO)].into());
    let (report, _) = run_source(&pcie(), source);
    let host = report.host;
    assert_eq!((host.interface, host.submission_doorbells, host.completion_doorbells), ("nvme", 2, 2));
    assert_eq!(host.bytes_to_drive, 4 * 30 + 2 * 100 + 4992);
    assert_eq!(host.bytes_to_host, 3 * 32 + 4992 + 2 * 44);
    assert_eq!((host.queues.len(), host.queues[0].commands, host.statuses.success), (1, 2, 2));
}

/// Each 4 KiB read sends 4992 B of framed data to the host.
#[test]
fn a_saturated_link_carries_what_its_lanes_carry() {
    let mut config = pcie();
    config.host.lanes = 4;
    config.replay.mode = ReplayMode::Stress;
    config.replay.outstanding = 512;
    let (report, _) =
        run_source(&config, Repeated { left: 5_000, kind: RequestKind::Read, page: |n| n * 7919 % 100_000 });
    // Each read sends the read request of the drive, the data and the completion to the host.
    let each_ns = f64::from((4992 + 32 + 44) / 4);
    assert!((report.iops * each_ns / 1e9 - 1.0).abs() < 0.01, "{} requests/s", report.iops);
    assert!(report.lower_bound.distance.is_some_and(|distance| distance < 0.01), "{:?}", report.lower_bound);
    // 512 requests are outstanding until the last 512 of 5,000 complete one by one.
    let occupancy = 512.0 - 512.0 * 512.0 / 2.0 / 5_000.0;
    assert!((report.host.queues[0].occupancy_mean - occupancy).abs() < 2.0, "{:?}", report.host.queues);
}

/// The SATA adapter adds 400 us to each command and to each completion.
#[test]
fn a_sata_drive_takes_the_time_of_the_adapter_on_both_ways() {
    let mut config = pcie();
    config.host.interface = InterfaceKind::Sata;
    config.sata.processing_delay = Time::from_us(400);
    let flash = COMMAND + READ + PAGE_TRANSFER;
    for (transport, messages) in
        [(SataTransport::Frames, 13 + 624 + 6), (SataTransport::Doorbells, 4 + 4 + 13 + 624 + 6)]
    {
        config.sata.transport = transport;
        let found = latencies(&config, [read(0, 1, Time::ZERO)]);
        assert_eq!(found, [Time::from_us(800) + flash + ns(messages)], "{transport}");
    }
}

#[test]
fn an_adapter_that_is_always_busy_bounds_the_run() {
    let mut config = pcie();
    config.host.interface = InterfaceKind::Sata;
    config.sata.processing_delay = Time::from_us(100);
    let requests = (0..200).map(|page| read(page, 1, Time::ZERO)).collect();
    let (report, _) = run_source(&config, Listed(requests));
    assert_eq!(report.bound.resource, Resource::Adapter);
    assert_eq!(report.lower_bound.limit, Limit::Adapter);
    assert_eq!(report.lower_bound.adapter_ps, Some(Time::from_us(100 * 200).as_ps()));
    let alone = Time::from_us(100) + COMMAND + READ + PAGE_TRANSFER + ns(13 + 624 + 6);
    assert_eq!(report.makespan_ps, Time::from_us(100 * 200).as_ps() + alone.as_ps());
}

fn flush(arrival: Time) -> IoRequest {
    IoRequest { arrival, kind: RequestKind::Flush, offset: Bytes::ZERO, size: Bytes::ZERO, stream: 0 }
}

fn completed(records: &[RequestRecord]) -> Vec<Time> {
    records.iter().map(|record| record.completed).collect()
}

#[test]
fn a_flush_waits_for_the_writes_before_it_and_for_no_other() {
    let us = Time::from_us;
    let requests =
        [flush(us(0)), write(0, 1, us(1)), flush(us(2)), write(8, 1, us(50)), flush(us(60)), read(1, 1, us(61))];
    let mut config = small_drive();
    // Both writes are on one die, the second behind the first.
    config.geometry.chips_per_channel = 1;
    config.geometry.planes_per_die = 1;
    let records = run(&config, requests);
    let first = us(1) + COMMAND + PAGE_TRANSFER + PROGRAM;
    let second = first + COMMAND + PAGE_TRANSFER + PROGRAM;
    let times = completed(&records);
    assert_eq!(times[..5], [us(0), first, first, second, second]);
    assert!(times[5] < first);
}

fn zeroes(offset: u64, size: u64) -> IoRequest {
    let (offset, size) = (Bytes::new(offset), Bytes::new(size));
    IoRequest { arrival: Time::ZERO, kind: RequestKind::WriteZeroes, offset, size, stream: 0 }
}

/// Runs `requests` on a full drive. Returns the report, and for each of the first six pages whether it is mapped.
fn on_a_full_drive(config: &Config, requests: &[IoRequest]) -> (Report, Vec<bool>) {
    let mut config = config.clone();
    config.precondition.kind = PreconditionKind::Sequential;
    config.geometry.blocks_per_plane = 16;
    config.geometry.pages_per_block = 16;
    config.geometry.over_provisioning = 0.3;
    let source = Listed(requests.iter().copied().collect());
    let mut simulation = Simulation::with_source(&config, Box::new(source)).expect("the drive can be built");
    simulation.enable_checks();
    let report = simulation.run(&Control::default()).expect("the run ends without a violation");
    (report, (0..6).map(|lpn| simulation.ftl().lookup(Lpn(lpn)).is_some()).collect())
}

#[test]
fn zeroes_forget_whole_pages_and_write_parts_of_pages_without_data_over_the_link() {
    let mut config = small_drive();
    config.host.link_rate = Rate::from_bytes_per_second(1_000_000_000);
    // The request covers the end of page 0, pages 1 to 3, and the start of page 4.
    let (report, mapped) = on_a_full_drive(&config, &[zeroes(PAGE - 512, 3 * PAGE + 1024)]);
    assert_eq!(mapped, [true, false, false, false, true, true]);
    assert_eq!((report.flash.user_programs, report.flash.partial_write_reads), (2, 2));
    assert_eq!((report.host.bytes_to_drive, report.host.bytes_to_host), (64, 16));
    assert_eq!(report.bandwidth_bytes_per_s, 0.0);

    let (report, mapped) = on_a_full_drive(&config, &[zeroes(PAGE, 2 * PAGE)]);
    assert_eq!((mapped, report.flash.user_programs), (vec![true, false, false, true, true, true], 0));
    assert_eq!(report.makespan_ps, ns(64 + 16).as_ps());
    // The request is within one page.
    let (report, mapped) = on_a_full_drive(&config, &[zeroes(512, 512)]);
    assert_eq!((mapped[0], report.flash.user_programs, report.flash.partial_write_reads), (true, 1, 1));
}

#[test]
fn requests_that_the_drive_does_not_do_end_with_their_status_and_touch_no_flash() {
    let mut config = small_drive();
    config.geometry.capacity = Some(Bytes::new(PAGE * 1000));
    config.host.transfer_max = Some(Bytes::new(4 * PAGE));
    let refused = [
        (read(999, 2, Time::ZERO), Status::LbaOutOfRange),
        (write(1 << 40, 1, Time::ZERO), Status::LbaOutOfRange),
        (request(RequestKind::Deallocate, 1000, 1, Time::ZERO), Status::LbaOutOfRange),
        (zeroes(1000 * PAGE, PAGE), Status::LbaOutOfRange),
        (read(0, 5, Time::ZERO), Status::InvalidField),
        (request(RequestKind::Read, 0, 0, Time::ZERO), Status::InvalidField),
    ];
    for interface in [InterfaceKind::Direct, InterfaceKind::Nvme] {
        config.host.interface = interface;
        let source = Listed(refused.iter().map(|(request, _)| *request).collect());
        let (report, mut records) = run_source(&config, source);
        records.sort_by_key(|record| record.id);
        let found: Vec<Status> = records.iter().map(|record| record.status).collect();
        assert_eq!(found, refused.map(|(_, status)| status));
        assert_eq!((report.flash.user_reads, report.flash.user_programs, report.bandwidth_bytes_per_s), (0, 0, 0.0));
        let statuses = report.host.statuses;
        assert_eq!((statuses.success, statuses.lba_out_of_range, statuses.invalid_field), (0, 4, 2));
        assert!(report.latency_ps.read.is_none() && report.latency_ps.all.is_some());
    }
    config.host.interface = InterfaceKind::Sata;
    assert_eq!(run(&config, [zeroes(0, PAGE)])[0].status, Status::InvalidOpcode);
}

#[test]
fn a_trace_beyond_the_drive_is_refused_before_the_run_unless_it_is_to_be_sent_or_wrapped() {
    let folder = tempfile::tempdir().expect("a temporary folder can be created");
    let path = folder.path().join("beyond.trace");
    std::fs::write(&path, "0 0 0 8 1\n1000 0 80000000 8 1\n2000 0 8 8 0\n").expect("the trace can be written");
    let run = |beyond| {
        let mut config = small_drive();
        config.geometry.blocks_per_plane = 16;
        config.geometry.over_provisioning = 0.4;
        config.workload.kind = WorkloadKind::Trace;
        config.workload.trace = Some(path.clone());
        config.workload.time_unit = Some(TraceTimeUnit::Microseconds);
        config.workload.beyond = beyond;
        let mut simulation = Simulation::new(&config)?;
        simulation.enable_checks();
        simulation.run(&Control::default())
    };
    let error = run(Beyond::Reject).expect_err("a third of the trace lies beyond the drive").to_string();
    assert!(error.contains("workload.beyond"), "{error}");
    let counts = |beyond| {
        let report = run(beyond).expect("the run succeeds");
        (report.host.statuses.success, report.host.statuses.lba_out_of_range, report.flash.user_reads)
    };
    assert_eq!(counts(Beyond::Wrap), (3, 0, 2));
    assert_eq!(counts(Beyond::Send), (2, 1, 1));
}
