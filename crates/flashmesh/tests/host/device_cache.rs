//! Device cache on whole drives: times to the picosecond, each policy, back-pressure and flushes.

use flashmesh::config::{
    AccessUnit, CacheStall, CacheWrites, Caching, Config, Destage, MultiPlane, PageTypes, PreconditionKind, ReplayMode,
    Suspension,
};
use flashmesh::measure::report::Report;
use flashmesh::measure::request_log::RequestRecord;
use flashmesh::simulation::{Control, Simulation};
use flashmesh::units::{Bytes, Rate, Time};
use flashmesh::workload::{IoRequest, RequestKind};

use crate::support::drives::*;

/// DRAM access: 26 ns to open the row, and 4 KiB at 6.4 GB/s.
pub const DRAM: Time = Time::from_ns(26 + 640);
pub const COMMAND: Time = Time::from_ns(10);
pub const READ: Time = Time::from_us(3);
pub const PROGRAM: Time = Time::from_us(100);
/// Transfer time of a page of 4096 bytes at 1.2 GB/s, rounded up.
pub const TRANSFER: Time = Time::from_ps(3_413_334);

pub fn cached(pages: u64) -> Config {
    let mut config = bare_drive();
    config.cache.capacity = Bytes::new(pages * PAGE);
    config
}

pub fn ms(milliseconds: u64) -> Time {
    Time::from_ms(milliseconds)
}

/// Runs `requests`. Returns the report, and the latencies in order of issue.
pub fn measured(config: &Config, requests: impl IntoIterator<Item = IoRequest>) -> (Report, Vec<Time>) {
    config.validate().expect("the configuration is valid");
    let (report, mut records) = run_source(config, Listed(requests.into_iter().collect()));
    records.sort_by_key(|record| record.id);
    let latencies = records.iter().map(|record| record.completed - record.arrival).collect();
    (report, latencies)
}

fn part(kind: RequestKind, page: u64, first: u64, sectors: u64, arrival: Time) -> IoRequest {
    let request = request(kind, page, 1, arrival);
    IoRequest { offset: request.offset + Bytes::new(512 * first), size: Bytes::new(512 * sectors), ..request }
}

#[test]
fn a_read_hit_takes_the_dram_alone_and_a_miss_the_flash() {
    let requests = [read(5, 1, ms(0)), read(5, 1, ms(1)), read(6, 1, ms(2))];
    let (report, latencies) = measured(&cached(16), requests);
    let miss = COMMAND + READ + TRANSFER;
    assert_eq!(latencies, [miss, DRAM, miss]);
    let cache = report.cache.expect("the cache is enabled");
    assert_eq!((cache.reads.hits, cache.reads.misses, cache.fills), (1, 2, 2));
    assert_eq!(report.flash.user_reads, 2);
}

#[test]
fn a_page_that_was_never_written_need_not_stay_in_the_cache() {
    let mut config = cached(16);
    config.cache.keep_unwritten = false;
    config.cache.keep_destaged = false;
    config.cache.destage = Destage::FirstWrite;
    let deallocate = request(RequestKind::Deallocate, 5, 1, ms(5));
    let reads = |times: [u64; 2]| times.map(|time| read(5, 1, ms(time)));
    let requests = [&reads([0, 1])[..], &[write(5, 1, ms(2))], &reads([3, 4]), &[deallocate], &reads([6, 7])].concat();
    let (report, latencies) = measured(&config, requests);
    let miss = COMMAND + READ + TRANSFER;
    // Only between the write at 2 ms and the deallocation at 5 ms does the page have data to cache: the read at 3 ms fills the cache, and the read at
    // 4 ms hits.
    assert_eq!([latencies[0], latencies[1], latencies[3], latencies[4]], [miss, miss, miss, DRAM]);
    assert_eq!(latencies[6..], [miss, miss]);
    assert_eq!(report.cache.expect("the cache is enabled").fills, 1);

    config.precondition.kind = PreconditionKind::Sequential;
    let (report, latencies) = measured(&config, reads([0, 1]));
    assert_eq!(latencies, [miss, DRAM]);
    assert_eq!(report.cache.expect("the cache is enabled").fills, 1);
}

#[test]
fn a_read_beside_a_write_that_passes_through_brings_nothing_older() {
    let mut config = cached(16);
    config.cache.writes = CacheWrites::Through;
    // The page is deallocated while its write accesses DRAM. A read then misses the cache and reads the old version from flash, which must
    // not enter the cache.
    config.cache.data_rate = Rate::from_bytes_per_second(50_000_000);
    let requests =
        [write(5, 1, ms(0)), request(RequestKind::Deallocate, 5, 1, ms(0)), read(5, 1, ms(0)), read(5, 1, ms(1))];
    let (report, _) = measured(&config, requests);
    let cache = report.cache.expect("the cache is enabled");
    assert_eq!((cache.reads.misses, cache.fills), (2, 1));
}

#[test]
fn the_parts_of_a_hit_are_link_and_cache() {
    let mut config = cached(16);
    config.host.link_rate = Rate::from_bytes_per_second(8_000_000_000);
    let records = run(&config, [write(5, 1, ms(0)), read(5, 1, ms(1))]);
    // The write sends 64 B and 4 KiB to the drive, and 16 B back. The read sends 64 B, and 4 KiB and 16 B back.
    assert_eq!(records[0].completed - records[0].arrival, Time::from_ns(8 + 512 + 2) + DRAM);
    assert_eq!(records[1].completed - records[1].arrival, Time::from_ns(8 + 512 + 2) + DRAM);
    assert!(records.iter().all(|record| record.breakdown.cache == DRAM && record.breakdown.total() == DRAM));
    assert!(records.iter().all(|record| record.host() == Time::from_ns(522)));
}

#[test]
fn accesses_to_dram_wait_for_each_other() {
    let (_, latencies) = measured(&cached(16), [write(0, 3, ms(0)), read(0, 1, ms(0))]);
    assert_eq!(latencies, [DRAM * 3, DRAM * 4]);
}

#[test]
fn one_access_moves_all_pages_of_a_request_where_the_unit_is_a_request() {
    let mut config = cached(16);
    config.cache.access_unit = AccessUnit::Request;
    let (_, latencies) = measured(&config, [write(0, 3, ms(0)), read(0, 1, ms(0)), read(0, 3, ms(1))]);
    // Rows have 8 KiB, so the third page is in a second row, which costs tRP, tRCD and tCL.
    let three = Time::from_ns(26 + 1280 + 39 + 640);
    assert_eq!(latencies, [three, three + DRAM, three]);
}

#[test]
fn a_partial_hit_reads_the_rest_from_flash_beside_the_dram() {
    let mut config = cached(16);
    config.geometry.page_spare = Bytes::ZERO;
    let requests = [part(RequestKind::Write, 3, 2, 2, ms(0)), part(RequestKind::Read, 3, 0, 8, ms(1))];
    let (report, latencies) = measured(&config, requests);
    let six = Rate::from_bytes_per_second(1_200_000_000).time_for(Bytes::new(6 * 512));
    assert_eq!(latencies, [Time::from_ns(26 + 160), COMMAND + READ + six]);
    let cache = report.cache.expect("the cache is enabled");
    assert_eq!((cache.reads.partial_hits, cache.writes.misses, cache.dirty_pages_end), (1, 1, 1));
}

#[test]
fn a_write_through_completes_on_flash_and_is_read_from_dram() {
    let mut config = cached(16);
    config.cache.writes = CacheWrites::Through;
    let (report, latencies) = measured(&config, [write(5, 1, ms(0)), read(5, 1, ms(1))]);
    assert_eq!(latencies, [DRAM + COMMAND + TRANSFER + PROGRAM, DRAM]);
    assert_eq!((report.flash.user_programs, report.cache.expect("the cache is enabled").dirty_pages_max), (1, 0));
}

#[test]
fn a_stream_is_cached_as_its_queue_says() {
    let flash_read = COMMAND + READ + TRANSFER;
    let flash_write = COMMAND + TRANSFER + PROGRAM;
    for (caching, expected) in [
        (Caching::None, [flash_write, flash_read, flash_read]),
        (Caching::Reads, [flash_write, flash_read, DRAM]),
        (Caching::Writes, [DRAM, DRAM, DRAM]),
        (Caching::All, [DRAM, DRAM, DRAM]),
    ] {
        let mut config = cached(16);
        config.queue.caching = caching;
        let (_, latencies) = measured(&config, [write(5, 1, ms(0)), read(5, 1, ms(1)), read(5, 1, ms(2))]);
        assert_eq!(latencies, expected, "{caching}");
    }
}

#[test]
fn pages_past_the_high_mark_go_to_flash_until_the_low_mark() {
    let mut config = cached(10);
    (config.cache.high_mark, config.cache.low_mark) = (0.5, 0.2);
    let five = (0..5).map(|page| write(page, 1, ms(page)));
    assert_eq!(measured(&config, five.clone()).0.cache.expect("the cache is enabled").dirty_pages_end, 5);
    let six = five.chain([write(5, 1, ms(5)), read(100, 1, ms(9))]);
    let (report, _) = measured(&config, six);
    let cache = report.cache.expect("the cache is enabled");
    assert_eq!(
        (cache.dirty_pages_max, cache.dirty_pages_end, cache.destages, report.flash.user_programs),
        (6, 2, 4, 4)
    );
}

#[test]
fn a_page_written_first_goes_to_flash_at_once_and_one_written_again_stays() {
    let mut config = cached(10);
    config.cache.destage = Destage::FirstWrite;
    let requests = [write(1, 1, ms(0)), write(1, 1, ms(1)), write(2, 1, ms(2)), read(100, 1, ms(9))];
    let (report, latencies) = measured(&config, requests);
    let cache = report.cache.expect("the cache is enabled");
    assert_eq!((cache.destages, cache.dirty_pages_end), (2, 1));
    assert_eq!(latencies[..3], [DRAM; 3]);
    // With a window of half a millisecond, the write at 1 ms is the first of page 1 in its window, so the page is destaged at once.
    config.cache.destage_window = Time::from_us(500);
    let cache = measured(&config, requests).0.cache.expect("the cache is enabled");
    assert_eq!((cache.destages, cache.dirty_pages_end), (3, 0));
}

#[test]
fn a_destaged_page_may_leave_the_cache() {
    let mut config = cached(10);
    config.cache.destage = Destage::FirstWrite;
    let requests = [write(1, 1, ms(0)), read(1, 1, Time::from_us(50)), read(1, 1, ms(1))];
    assert_eq!(measured(&config, requests).1[1..], [DRAM, DRAM]);
    config.cache.keep_destaged = false;
    assert_eq!(measured(&config, requests).1[1..], [DRAM, COMMAND + READ + TRANSFER]);
}

/// A write to a cache full of dirty pages waits until the LRU page is programmed. A read miss does not wait.
#[test]
fn a_write_waits_for_the_page_whose_place_it_takes_and_a_read_does_not() {
    let mut config = cached(2);
    config.cache.destage = Destage::Eviction;
    let requests = [write(1, 1, ms(0)), write(2, 1, ms(1)), write(3, 1, ms(2)), read(4, 1, ms(2)), read(1, 1, ms(3))];
    let (report, latencies) = measured(&config, requests);
    let destage = DRAM + COMMAND + TRANSFER + PROGRAM;
    let miss = COMMAND + READ + TRANSFER;
    assert_eq!(latencies, [DRAM, DRAM, destage + DRAM, miss, miss]);
    let cache = report.cache.expect("the cache is enabled");
    assert_eq!((cache.waits, cache.wait_ps, cache.evictions), (1, destage.as_ps(), 1));
}

#[test]
fn commands_behind_a_write_without_room_wait_with_it_where_the_drive_takes_them_in_order() {
    let mut config = cached(2);
    config.cache.destage = Destage::Eviction;
    config.cache.stall = CacheStall::Commands;
    config.queue.caching = Caching::Writes;
    let requests = [
        write(1, 1, ms(0)),
        write(2, 1, ms(1)),
        write(3, 1, ms(2)),
        read(4, 1, ms(2)),
        read(2, 1, ms(2)),
        request(RequestKind::Deallocate, 9, 1, ms(2)),
        read(4, 1, ms(3)),
    ];
    let waits = DRAM + COMMAND + TRANSFER + PROGRAM;
    let miss = COMMAND + READ + TRANSFER;
    let records = run(&config, requests);
    let latencies: Vec<Time> = records.iter().map(|record| record.completed - record.arrival).collect();
    // The read of page 2 hits, but waits for the write that occupies the DRAM.
    assert_eq!(latencies, [DRAM, DRAM, waits + DRAM, waits + miss, waits + DRAM * 2, waits, miss]);
    let in_cache: Vec<Time> = records.iter().map(|record| record.breakdown.cache).collect();
    assert_eq!(in_cache[2..5], [waits + DRAM, waits, waits + DRAM * 2]);
}

/// The read arrives while the only die programs the evicted page.
#[test]
fn a_read_suspends_nothing_while_a_write_waits_for_room_where_writes_come_first() {
    let mut config = cached(1);
    (config.geometry.channels, config.geometry.chips_per_channel, config.geometry.planes_per_die) = (1, 1, 1);
    config.cache.destage = Destage::Eviction;
    config.flash.suspension = Suspension::Both;
    let requests = [write(1, 1, ms(0)), write(2, 1, ms(1)), read(4, 1, ms(1) + Time::from_us(50))];
    let waits = DRAM + COMMAND + TRANSFER + PROGRAM;
    let suspended = config.flash.suspend_time + COMMAND + READ + TRANSFER;
    assert_eq!(measured(&config, requests).1[2], suspended);
    config.cache.suspend_when_full = false;
    assert_eq!(
        measured(&config, requests).1[1..],
        [waits + DRAM, waits - Time::from_us(50) + COMMAND + READ + TRANSFER]
    );
}

/// A write waits for a program on the first die, which frees cache space. The read needs the second die, which has a longer program running.
#[test]
fn a_read_that_waited_for_writes_suspends_what_its_die_does_once_there_is_room() {
    let mut config = cached(2);
    (config.geometry.channels, config.geometry.chips_per_channel, config.geometry.planes_per_die) = (2, 1, 1);
    config.cache.destage = Destage::Eviction;
    config.cache.suspend_when_full = false;
    config.flash.suspension = Suspension::Both;
    config.flash.page_types = PageTypes::Mlc;
    config.flash.upper_page_program_time = Some(PROGRAM * 3);
    let flush = |arrival| IoRequest { size: Bytes::ZERO, ..request(RequestKind::Flush, 0, 0, arrival) };
    let late = |us| ms(6) + Time::from_us(us);
    let requests = [
        // The flushes program the lower page of the second die, then its upper page together with the lower page of the first die.
        write(1, 1, ms(0)),
        flush(ms(1)),
        write(0, 1, ms(4)),
        write(3, 1, ms(5)),
        flush(ms(6)),
        write(2, 1, late(50)),
        read(7, 1, late(60)),
    ];
    let has_room = DRAM + COMMAND + TRANSFER + PROGRAM;
    let (report, latencies) = measured(&config, requests);
    assert_eq!(latencies[5], has_room - Time::from_us(50) + DRAM);
    let suspended = config.flash.suspend_time + COMMAND + READ + TRANSFER;
    assert_eq!(latencies[6], has_room - Time::from_us(60) + suspended);
    assert_eq!(report.flash.suspensions, 1);
}

#[test]
fn the_dirty_limit_holds_and_leaves_room_for_reads() {
    let mut config = cached(8);
    config.cache.dirty_limit = 0.25;
    config.cache.destage = Destage::Eviction;
    let writes = (0..20).map(|page| write(page, 1, ms(page)));
    let cache = measured(&config, writes).0.cache.expect("the cache is enabled");
    assert_eq!((cache.dirty_pages_max, cache.waits, cache.dirty_pages_end), (2, 18, 2));
}

/// Each of the four single-plane dies runs one program at a time.
#[test]
fn random_writes_saturate_at_the_rate_of_the_flash() {
    let mut config = cached(64);
    config.geometry.channels = 4;
    config.geometry.chips_per_channel = 1;
    config.geometry.planes_per_die = 1;
    // Page numbers have 20 bits, so the drive needs at least 2^20 pages.
    config.geometry.blocks_per_plane = 1024;
    config.flash.multi_plane = MultiPlane::Off;
    config.replay.mode = ReplayMode::Stress;
    config.replay.outstanding = 32;
    for policy in Destage::ALL {
        config.cache.destage = *policy;
        let page = |n: u64| n.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 44;
        let count = 8_000;
        let (report, _) = run_source(&config, Repeated { left: count, kind: RequestKind::Write, page });
        let program = (COMMAND + TRANSFER + PROGRAM).as_secs_f64();
        assert_within(policy.name(), report.iops, 4.0 / program, 0.03);
        assert!(report.cache.expect("the cache is enabled").waits > count / 2);
    }
}

#[test]
fn rewrites_in_the_cache_never_reach_the_flash() {
    let mut config = cached(64);
    config.replay.mode = ReplayMode::Stress;
    config.cache.flush_at_end = true;
    let (report, _) = run_source(&config, Repeated { left: 10_000, kind: RequestKind::Write, page: |n| n % 32 });
    let cache = report.cache.expect("the cache is enabled");
    assert_eq!((report.flash.user_programs, cache.destages, cache.dirty_pages_end), (32, 32, 0));
    assert_eq!(report.write_amplification, Some(32.0 / 10_000.0));
    assert_eq!(cache.writes.hits, 10_000 - 32);
}

#[test]
fn parts_of_a_page_are_put_together_before_they_go_to_flash() {
    let mut config = cached(8);
    config.cache.flush_at_end = true;
    let parts = (0..8).map(|sector| part(RequestKind::Write, 3, sector, 1, ms(sector)));
    let (report, _) = measured(&config, parts);
    assert_eq!((report.flash.user_programs, report.flash.partial_write_reads), (1, 0));
}

#[test]
fn a_flush_at_the_end_belongs_to_the_run() {
    let mut config = cached(8);
    let requests = [write(1, 1, ms(0))];
    assert_eq!(measured(&config, requests).0.makespan_ps, DRAM.as_ps());
    config.cache.flush_at_end = true;
    let makespan = DRAM * 2 + COMMAND + TRANSFER + PROGRAM;
    assert_eq!(measured(&config, requests).0.makespan_ps, makespan.as_ps());
}

#[test]
fn a_page_deallocated_on_its_way_to_flash_is_not_there_afterwards() {
    let mut config = cached(8);
    config.cache.destage = Destage::FirstWrite;
    let deallocate = request(RequestKind::Deallocate, 1, 1, Time::from_us(50));
    let source = Listed([write(1, 1, ms(0)), deallocate, read(9, 1, ms(1))].into_iter().collect());
    let mut simulation = Simulation::with_source(&config, Box::new(source)).expect("the drive can be built");
    simulation.enable_checks();
    let report = simulation.run(&Control::default()).expect("no oracle reports a violation");
    assert_eq!((report.flash.user_programs, simulation.ftl().lookup(flashmesh::ids::Lpn(1))), (1, None));
}

#[test]
fn a_flush_waits_for_what_was_written_before_it_to_be_on_flash() {
    let flush = IoRequest { size: Bytes::ZERO, ..request(RequestKind::Flush, 0, 1, ms(1)) };
    // The second flush arrives while the write accesses DRAM, the third when no page is dirty.
    let second = IoRequest { arrival: ms(2) + Time::from_ns(1), ..flush };
    let third = IoRequest { arrival: ms(3), ..flush };
    let requests = [write(1, 1, ms(0)), flush, write(1, 1, ms(2)), second, third];
    let (report, latencies) = measured(&cached(8), requests);
    let destage = DRAM + COMMAND + TRANSFER + PROGRAM;
    assert_eq!(latencies, [DRAM, destage, DRAM, DRAM + destage - Time::from_ns(1), Time::ZERO]);
    assert_eq!(report.cache.expect("the cache is enabled").destages, 2);
}

/// Without `cache.flush-programs` a flush programs nothing and waits only until the data of earlier writes is in DRAM.
#[test]
fn a_flush_of_a_protected_cache_is_done_when_the_writes_before_it_are() {
    let mut config = cached(8);
    config.cache.flush_programs = false;
    let flush = IoRequest { size: Bytes::ZERO, ..request(RequestKind::Flush, 0, 1, ms(1)) };
    let second = IoRequest { arrival: ms(2) + Time::from_ns(1), ..flush };
    let requests = [write(1, 1, ms(0)), flush, write(1, 1, ms(2)), second];
    let (report, latencies) = measured(&config, requests);
    assert_eq!(latencies, [DRAM, Time::ZERO, DRAM, DRAM - Time::from_ns(1)]);
    let cache = report.cache.expect("the cache is enabled");
    assert_eq!((cache.destages, cache.dirty_pages_end), (0, 1));
    config.cache.flush_at_end = true;
    let (report, _) = measured(&config, [write(1, 1, ms(0)), flush]);
    assert_eq!(
        report.cache.expect("the cache is enabled").dirty_pages_end,
        0,
        "the end of a run is no flush of the host"
    );
}

#[test]
fn zeroes_over_a_page_drop_it_from_the_cache_and_over_a_part_go_through_it() {
    let zeroes = |first, sectors, arrival| part(RequestKind::WriteZeroes, 1, first, sectors, arrival);
    let requests = [write(1, 1, ms(0)), zeroes(0, 8, ms(1)), read(1, 1, ms(2)), zeroes(4, 4, ms(3)), read(1, 1, ms(4))];
    let (report, latencies) = measured(&cached(8), requests);
    assert_eq!(latencies, [DRAM, Time::ZERO, COMMAND + READ + TRANSFER, Time::from_ns(26 + 320), DRAM]);
    let cache = report.cache.expect("the cache is enabled");
    assert_eq!((report.flash.user_programs, cache.dirty_pages_end, cache.writes.hits), (0, 1, 1));
    assert_eq!(report.write_amplification, Some(0.0));
}

/// With the cache, the flush waits until the write is programmed; without it, until the die has programmed the write anyway.
#[test]
fn the_time_of_a_flush_is_that_of_the_device_cache_or_of_a_wait_for_the_die() {
    let flush = IoRequest { size: Bytes::ZERO, ..request(RequestKind::Flush, 0, 0, Time::from_us(2)) };
    let records = |config: &Config| run_source(config, Listed([write(5, 1, ms(0)), flush].into())).1;
    let mut cached = cached(16);
    cached.cache.writes = CacheWrites::Back;
    let of_flush = |records: Vec<RequestRecord>| records.into_iter().find(|record| record.kind == RequestKind::Flush);
    let with_cache = of_flush(records(&cached)).expect("the flush ends");
    let without = of_flush(records(&bare_drive())).expect("the flush ends");
    for record in [&with_cache, &without] {
        assert_eq!(record.breakdown.total() + record.host(), record.completed - record.arrival);
        assert!(record.breakdown.total() >= PROGRAM - Time::from_us(2));
    }
    assert_eq!(with_cache.breakdown.cache, with_cache.breakdown.total());
    assert_eq!(without.breakdown.die_wait, without.breakdown.total());
}
