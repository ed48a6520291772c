use super::super::histories::{
    assert_fails, assert_silent, config, end, operation, oracles_with, program, read, submit, us,
};
use super::super::{Oracles, Origin};
use crate::cache::Sectors;
use crate::flash::die::OperationKind;
use crate::ids::{DieId, Lpn, Ppn, RequestId};
use crate::results::counters::PowerCutReport;
use crate::units::{Bytes, Time};
use crate::workload::IoRequest;
use crate::workload::RequestKind::{Deallocate, Flush, Read, Write};

const PAGE: u64 = 4096;
const WHOLE: Sectors = Sectors::range(0, 8);
/// Where logical page 3 is read while unwritten: the first page of channel 1, way 1, plane 0. Logical pages 0 to 3 are assigned to the four dies in
/// turn, channels before ways.
const HOME: u32 = 6 * 32;

/// Creates oracles of a drive with a device cache of two pages, one of which may be dirty.
fn oracles() -> Oracles {
    let mut config = config();
    config.cache.capacity = Bytes::from_kib(8);
    config.cache.dirty_limit = 0.5;
    oracles_with(&config)
}

/// Writes `sectors` of a page into the cache by request `id`, which completes at once.
fn cached(oracles: &mut Oracles, id: u32, lpn: u32, sectors: Sectors, now: Time) {
    let offset = u64::from(lpn) * PAGE + u64::from(sectors.first()) * 512;
    submit(oracles, id, Write, offset, u64::from(sectors.count()) * 512, now);
    oracles.cache_write_accepted(RequestId(id), Lpn(lpn), sectors, true, now);
    oracles.request_completed(RequestId(id), now);
}

fn destaged(oracles: &mut Oracles, ppn: u32, lpn: u32, sectors: Sectors, now: Time) -> Time {
    oracles.destage_began(Lpn(lpn), sectors, now);
    program(oracles, ppn, lpn, Origin::Destaged, now)
}

#[test]
fn pages_that_are_written_read_destaged_and_removed_are_right() {
    let mut oracles = oracles();
    cached(&mut oracles, 0, 3, WHOLE, us(0));
    submit(&mut oracles, 1, Read, 3 * PAGE, PAGE, us(0));
    oracles.cache_found(RequestId(1), Lpn(3), WHOLE, us(0));
    oracles.request_completed(RequestId(1), us(0));
    let now = destaged(&mut oracles, 0, 3, WHOLE, us(0));
    oracles.cache_removed(Lpn(3), now);
    submit(&mut oracles, 2, Read, 3 * PAGE, PAGE, now);
    let now = read(&mut oracles, 0, 3, Some(2), now);
    oracles.cache_filled(RequestId(2), Lpn(3), WHOLE, now);
    oracles.request_completed(RequestId(2), now);
    end(&mut oracles, now);
    oracles.cache_finished(None, now);
    assert_silent(&oracles);
}

#[test]
fn a_read_of_flash_that_misses_newer_data_in_dram_is_caught() {
    let mut oracles = oracles();
    let now = super::super::histories::write(&mut oracles, 0, 0, 3, us(0));
    cached(&mut oracles, 1, 3, WHOLE, now);
    submit(&mut oracles, 2, Read, 3 * PAGE, PAGE, now);
    read(&mut oracles, 0, 3, Some(2), now);
    let message = "request 2 was given sector 0 of logical page 3 from flash as write 1 left it, but write 2 was known";
    assert_fails(&oracles, "cache", message);
}

#[test]
fn a_hit_of_what_dram_does_not_hold_is_caught() {
    let mut oracles = oracles();
    cached(&mut oracles, 0, 3, Sectors::range(0, 2), us(0));
    submit(&mut oracles, 1, Read, 3 * PAGE, PAGE, us(0));
    oracles.cache_found(RequestId(1), Lpn(3), Sectors::range(0, 3), us(0));
    assert_fails(&oracles, "cache", "was given sector 2 of logical page 3 from DRAM, which does not hold it");
}

#[test]
fn a_dirty_page_that_leaves_is_caught() {
    let mut oracles = oracles();
    cached(&mut oracles, 0, 3, WHOLE, us(0));
    oracles.cache_removed(Lpn(3), us(0));
    assert_fails(&oracles, "cache", "logical page 3 left DRAM with 8 sectors that flash lacks");
}

#[test]
fn what_is_written_during_a_destage_stays_dirty() {
    let mut oracles = oracles();
    cached(&mut oracles, 0, 3, WHOLE, us(0));
    oracles.destage_began(Lpn(3), WHOLE, us(0));
    cached(&mut oracles, 1, 3, Sectors::range(1, 2), us(0));
    let now = program(&mut oracles, 0, 3, Origin::Destaged, us(0));
    assert_silent(&oracles);
    oracles.cache_removed(Lpn(3), now);
    assert_fails(&oracles, "cache", "logical page 3 left DRAM with 1 sectors that flash lacks");
}

#[test]
fn more_dirty_pages_than_may_be_are_caught() {
    let mut oracles = oracles();
    cached(&mut oracles, 0, 3, WHOLE, us(0));
    cached(&mut oracles, 1, 4, WHOLE, us(0));
    assert_fails(&oracles, "cache", "2 pages are dirty, but 1 may be");
}

#[test]
fn a_part_of_a_page_programmed_without_the_rest_is_caught() {
    let mut oracles = oracles();
    let now = super::super::histories::write(&mut oracles, 0, 0, 3, us(0));
    cached(&mut oracles, 1, 3, Sectors::range(0, 1), now);
    destaged(&mut oracles, 1, 3, Sectors::range(0, 1), now);
    assert_fails(&oracles, "cache", "write 0 of sector 1 of logical page 3 was programmed over write 1");
}

#[test]
fn a_fill_over_newer_data_is_caught() {
    let mut oracles = oracles();
    submit(&mut oracles, 0, Read, 3 * PAGE, PAGE, us(0));
    let now = read(&mut oracles, HOME, 3, Some(0), us(0));
    cached(&mut oracles, 1, 3, Sectors::range(0, 1), now);
    oracles.cache_filled(RequestId(0), Lpn(3), WHOLE, now);
    assert_fails(&oracles, "cache", "a read of write 0 of sector 0 of logical page 3 came into DRAM over write 2");
}

#[test]
fn a_write_that_completes_before_its_data_is_anywhere_is_caught() {
    let mut oracles = oracles();
    submit(&mut oracles, 0, Write, 0, PAGE, us(0));
    oracles.cache_write_accepted(RequestId(0), Lpn(0), WHOLE, false, us(0));
    oracles.request_completed(RequestId(0), us(0));
    assert_fails(&oracles, "requests", "completed at 0ps with 0 of 1 pages programmed");
}

#[test]
fn acknowledged_data_that_is_nowhere_at_the_end_is_caught() {
    let mut oracles = oracles();
    cached(&mut oracles, 0, 3, WHOLE, us(0));
    let cut = PowerCutReport { capacitors: true, ..PowerCutReport::default() };
    oracles.cache_finished(Some(&cut), us(0));
    assert_fails(&oracles, "cache", "8 sectors of logical page 3 are lost that were acknowledged");
}

#[test]
fn losses_that_are_counted_wrong_are_caught() {
    let mut oracles = oracles();
    cached(&mut oracles, 0, 3, WHOLE, us(0));
    let right = PowerCutReport { pages_lost: 1, bytes_lost: PAGE, ..PowerCutReport::default() };
    oracles.cache_finished(Some(&right), us(0));
    assert_silent(&oracles);
    oracles.cache_finished(Some(&PowerCutReport::default()), us(0));
    assert_fails(
        &oracles,
        "cache",
        "0 pages and 0 B were reported as lost with the power, but 1 pages and 4096 B were",
    );
}

#[test]
fn what_collection_read_before_a_page_was_deallocated_completes_no_later_write() {
    let mut oracles = oracles();
    let now = super::super::histories::write(&mut oracles, 0, 0, 3, us(0));
    let now = read(&mut oracles, 0, 3, None, now);
    submit(&mut oracles, 1, Deallocate, 3 * PAGE, PAGE, now);
    oracles.deallocated(Lpn(3), now);
    oracles.request_completed(RequestId(1), now);
    cached(&mut oracles, 2, 3, Sectors::range(0, 1), now);
    let now = destaged(&mut oracles, 1, 3, Sectors::range(0, 1), now);
    let content = oracles.cache.as_ref().expect("the cache is enabled").on_flash(Lpn(3));
    assert_eq!((content[0] > 0, content[1]), (true, 0), "no data of the first write is left");
    end(&mut oracles, now);
    oracles.cache_finished(None, now);
    assert_silent(&oracles);
}

#[test]
fn a_page_deallocated_on_its_way_is_forgotten_for_good() {
    let mut oracles = oracles();
    cached(&mut oracles, 0, 3, WHOLE, us(0));
    oracles.destage_began(Lpn(3), WHOLE, us(0));
    submit(&mut oracles, 1, Deallocate, 3 * PAGE, PAGE, us(0));
    oracles.deallocated(Lpn(3), us(0));
    oracles.request_completed(RequestId(1), us(0));
    let now = operation(&mut oracles, DieId(0), OperationKind::Program, us(0));
    oracles.page_programmed(Ppn(0), Lpn(3), Origin::Destaged, now);
    oracles.destage_forgotten(Lpn(3), now);
    end(&mut oracles, now);
    oracles.cache_finished(None, now);
    assert_silent(&oracles);
}

#[test]
fn a_flush_that_completes_before_what_was_dirty_is_on_flash_is_caught() {
    let mut oracles = oracles();
    cached(&mut oracles, 0, 3, WHOLE, us(0));
    submit(&mut oracles, 1, Flush, 0, 0, us(0));
    oracles.flush_began(RequestId(1), 0..128, us(0));
    oracles.request_completed(RequestId(1), us(0));
    let message = "flush 1 completed with write 0 of sector 0 of logical page 3 on flash, but write 1 came before it";
    assert_fails(&oracles, "cache", message);
}

#[test]
fn more_pages_than_there_is_room_for_are_caught_when_written_and_when_filled() {
    let full = || {
        let mut oracles = oracles();
        cached(&mut oracles, 0, 3, WHOLE, us(0));
        let now = destaged(&mut oracles, 0, 3, WHOLE, us(0));
        cached(&mut oracles, 1, 4, WHOLE, now);
        let now = destaged(&mut oracles, 1, 4, WHOLE, now);
        assert_silent(&oracles);
        (oracles, now)
    };
    let (mut oracles, now) = full();
    cached(&mut oracles, 2, 5, WHOLE, now);
    assert_fails(&oracles, "cache", "the cache holds 3 pages, but has room for 2");

    let (mut oracles, now) = full();
    submit(&mut oracles, 2, Read, 5 * PAGE, PAGE, now);
    oracles.page_read(Ppn(2), Lpn(5), Some(RequestId(2)), now);
    let mut cache = oracles.cache.take().expect("the cache is enabled");
    let filled = cache.filled(RequestId(2), Lpn(5), WHOLE);
    assert_eq!(filled, Err("the cache holds 3 pages, but has room for 2".to_owned()));
}

#[test]
fn a_page_on_its_way_to_flash_twice_is_caught() {
    let mut oracles = oracles();
    cached(&mut oracles, 0, 3, WHOLE, us(0));
    oracles.destage_began(Lpn(3), WHOLE, us(0));
    oracles.destage_began(Lpn(3), WHOLE, us(0));
    assert_fails(&oracles, "cache", "logical page 3 is on its way to flash twice");
}

#[test]
fn what_is_not_in_dram_cannot_be_on_its_way_to_flash() {
    let mut absent = oracles();
    absent.destage_began(Lpn(3), WHOLE, us(0));
    assert_fails(&absent, "cache", "logical page 3 is to be written to flash, but is not in DRAM");
    let mut partial = oracles();
    cached(&mut partial, 0, 3, Sectors::range(0, 2), us(0));
    partial.destage_began(Lpn(3), WHOLE, us(0));
    assert_fails(&partial, "cache", "sectors of logical page 3 are to be written to flash that DRAM does not hold");
    let mut nobody = oracles();
    program(&mut nobody, 0, 3, Origin::Destaged, us(0));
    assert_fails(&nobody, "cache", "logical page 3 was programmed for nobody");
}

#[test]
fn an_older_write_that_comes_into_dram_last_is_caught() {
    let mut oracles = oracles();
    submit(&mut oracles, 0, Write, 3 * PAGE, PAGE, us(0));
    cached(&mut oracles, 1, 3, Sectors::range(4, 5), us(0));
    oracles.cache_write_accepted(RequestId(0), Lpn(3), WHOLE, true, us(0));
    assert_fails(&oracles, "cache", "write 1 came into DRAM over write 2 of sector 4 of logical page 3");
}

#[test]
fn other_sectors_than_were_written_and_pages_of_nobody_are_caught() {
    let mut wrong = oracles();
    submit(&mut wrong, 0, Write, 3 * PAGE, PAGE, us(0));
    wrong.cache_write_accepted(RequestId(0), Lpn(3), Sectors::range(0, 4), true, us(0));
    assert_fails(&wrong, "cache", "the cache took other sectors of logical page 3 than request 0 wrote");
    let mut unread = oracles();
    submit(&mut unread, 0, Read, 3 * PAGE, PAGE, us(0));
    unread.cache_filled(RequestId(0), Lpn(3), WHOLE, us(0));
    assert_fails(&unread, "cache", "logical page 3 filled the cache for request 0, which did not read it");
}

#[test]
fn a_read_that_completes_without_all_of_a_page_is_caught() {
    let mut oracles = oracles();
    cached(&mut oracles, 0, 3, Sectors::range(0, 2), us(0));
    let mut cache = oracles.cache.take().expect("the cache is enabled");
    let io = IoRequest { arrival: us(0), kind: Read, offset: Bytes::new(3 * PAGE), size: Bytes::new(PAGE), stream: 0 };
    cache.submitted(RequestId(1), &io);
    assert_eq!(cache.found(RequestId(1), Lpn(3), Sectors::range(0, 2)), Ok(false));
    assert_eq!(cache.completed(RequestId(1)), Err("request 1 completed without all of logical page 3".to_owned()));
}

#[test]
fn requests_that_the_cache_serves_while_they_are_not_in_flight_are_caught() {
    let mut oracles = oracles();
    let found = oracles.cache.as_mut().expect("the cache is enabled").found(RequestId(9), Lpn(3), WHOLE);
    assert_eq!(found, Err("request 9 found logical page 3 in the cache, but is not in flight".to_owned()));
    oracles.cache_write_accepted(RequestId(9), Lpn(3), WHOLE, false, us(0));
    assert_fails(&oracles, "cache", "the cache took logical page 3 for request 9, which is not in flight");
}
