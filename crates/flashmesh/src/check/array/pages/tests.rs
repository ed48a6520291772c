use crate::check::histories::{
    assert_fails, assert_silent, end, erase, oracles, oracles_of_a_full_drive, program, read, submit, us, write,
};
use crate::check::{Oracles, Origin};
use crate::ids::{Lpn, Ppn, RequestId};
use crate::units::Time;
use crate::workload::RequestKind;

#[test]
fn write_move_and_erase_is_right() {
    let mut oracles = oracles();
    let now = write(&mut oracles, 0, 0, 7, us(0));
    let now = write(&mut oracles, 1, 1, 8, now);
    // Page 0 now holds an old version, so only pages 1 and 2 are moved before the erase.
    let now = write(&mut oracles, 2, 2, 7, now);
    let now = program(&mut oracles, 4, 8, Origin::Moved(Ppn(1)), now);
    let now = program(&mut oracles, 5, 7, Origin::Moved(Ppn(2)), now);
    let now = erase(&mut oracles, 0, now);
    let now = write(&mut oracles, 3, 0, 9, now);
    let now = read(&mut oracles, 4, 8, None, now);
    end(&mut oracles, now);
    assert_silent(&oracles);
}

#[test]
fn a_page_programmed_twice_is_caught() {
    let mut oracles = oracles();
    let now = write(&mut oracles, 0, 1, 7, us(0));
    write(&mut oracles, 1, 1, 8, now);
    let message = "page 1 (page 1 of block 0) was programmed with logical page 8, but holds version 1 of logical \
                   page 7 and was not erased";
    assert_fails(&oracles, "pages", message);
}

#[test]
fn programs_out_of_the_order_of_the_block_are_caught() {
    let mut oracles = oracles();
    let now = write(&mut oracles, 0, 2, 7, us(0));
    write(&mut oracles, 1, 1, 8, now);
    assert_fails(&oracles, "pages", "page 1 (page 1 of block 0) was programmed after page 2 of its block");
}

#[test]
fn an_erase_that_loses_the_newest_version_is_caught() {
    let mut oracles = oracles();
    let now = write(&mut oracles, 0, 1, 7, us(0));
    erase(&mut oracles, 0, now);
    let message = "the erase of block 0 lost logical page 7, whose newest version 1 was at page 1 (page 1 of block 0)";
    assert_fails(&oracles, "pages", message);
}

#[test]
fn an_erase_that_loses_a_page_of_before_the_run_is_caught() {
    let mut oracles = oracles_of_a_full_drive();
    let now = read(&mut oracles, 1, 7, None, us(0));
    erase(&mut oracles, 0, now);
    assert_fails(&oracles, "pages", "the erase of block 0 lost logical page 7, whose newest version 0");
}

#[test]
fn a_read_of_the_wrong_logical_page_is_caught() {
    let mut oracles = oracles();
    let now = write(&mut oracles, 0, 1, 7, us(0));
    read(&mut oracles, 1, 8, None, now);
    let message = "page 1 (page 1 of block 0) was read for logical page 8, but it holds version 1 of logical page 7";
    assert_fails(&oracles, "pages", message);
}

#[test]
fn a_read_of_an_erased_page_is_caught() {
    let mut oracles = oracles();
    let now = erase(&mut oracles, 0, us(0));
    read(&mut oracles, 1, 8, None, now);
    assert_fails(&oracles, "pages", "was read for logical page 8, but it was erased and not programmed since");
}

#[test]
fn a_page_of_before_the_run_at_two_places_is_caught() {
    let mut oracles = oracles_of_a_full_drive();
    let now = read(&mut oracles, 1, 7, None, us(0));
    read(&mut oracles, 5, 7, None, now);
    let message = "page 5 (page 1 of block 1) was read for logical page 7, but what was there before the run is at \
                   page 1 (page 1 of block 0)";
    assert_fails(&oracles, "pages", message);
}

#[test]
fn a_move_of_what_is_not_there_is_caught() {
    let mut oracles = oracles();
    let now = write(&mut oracles, 0, 1, 7, us(0));
    program(&mut oracles, 4, 8, Origin::Moved(Ppn(1)), now);
    assert_fails(&oracles, "pages", "was moved for logical page 8, but it holds version 1 of logical page 7");
}

#[test]
fn a_page_that_holds_nothing_may_be_given_a_place_for_a_read_once() {
    let mut oracles = oracles();
    oracles.page_placed(Ppn(0), Lpn(7), us(0));
    let now = read(&mut oracles, 0, 7, None, us(0));
    oracles.deallocated(Lpn(7), now);
    oracles.page_placed(Ppn(1), Lpn(7), now);
    let now = read(&mut oracles, 1, 7, None, now);
    assert_silent(&oracles);
    oracles.page_placed(Ppn(2), Lpn(7), now);
    let message =
        "logical page 7 was placed at page 2 (page 2 of block 0) for a read, but version 3 of it is at page 1";
    assert_fails(&oracles, "pages", message);
}

#[test]
fn a_page_written_before_the_run_that_is_placed_anew_is_caught() {
    let mut oracles = oracles_of_a_full_drive();
    oracles.page_placed(Ppn(0), Lpn(7), us(0));
    assert_fails(&oracles, "pages", "but it was written before the run and never deallocated: it is lost");
}

/// Where logical page 7 is read while unwritten: the first page of plane 1 of channel 1, way 1. Pages 0 to 3 are on plane 0 of the four dies, pages 4
/// to 7 on plane 1.
const HOME: u32 = 7 * 32;

fn request(oracles: &mut Oracles, ppn: u32, start: Time) -> Time {
    submit(oracles, 9, RequestKind::Read, 7 * 4096, 4096, start);
    let now = read(oracles, ppn, 7, Some(9), start);
    oracles.request_completed(RequestId(9), now);
    now
}

#[test]
fn a_page_that_holds_nothing_is_read_at_its_home_whatever_lies_there() {
    let mut oracles = oracles();
    let now = request(&mut oracles, HOME, us(0));
    let now = write(&mut oracles, 0, HOME, 8, now);
    let now = request(&mut oracles, HOME, now);
    // The write of page 7 happens to go to [`HOME`], where the page is also read after its deallocation.
    let now = write(&mut oracles, 1, HOME + 1, 8, now);
    let now = program(&mut oracles, HOME + 4, 8, Origin::Moved(Ppn(HOME + 1)), now);
    let now = erase(&mut oracles, HOME / 4, now);
    let now = write(&mut oracles, 2, HOME, 7, now);
    oracles.deallocated(Lpn(7), now);
    let now = request(&mut oracles, HOME, now);
    end(&mut oracles, now);
    assert_silent(&oracles);
}

#[test]
fn a_page_that_holds_nothing_and_is_read_elsewhere_is_caught() {
    let mut never = oracles();
    request(&mut never, HOME + 1, us(0));
    let message = "page 225 (page 1 of block 56) was read for logical page 7, but nothing was written there";
    assert_fails(&never, "pages", message);

    let mut deallocated = oracles();
    let now = write(&mut deallocated, 0, 0, 7, us(0));
    deallocated.deallocated(Lpn(7), now);
    request(&mut deallocated, 0, now);
    assert_fails(&deallocated, "freshness", "read version 1 of logical page 7, but version 2 was newest");
}

#[test]
fn a_read_at_the_home_of_a_page_that_is_written_is_caught() {
    let mut written = oracles();
    let now = write(&mut written, 0, 0, 7, us(0));
    request(&mut written, HOME, now);
    assert_fails(&written, "freshness", "read version 0 of logical page 7, but version 1 was newest");

    // A read that reached the drive before the write may still return the old content.
    let mut oracles = oracles();
    submit(&mut oracles, 9, RequestKind::Read, 7 * 4096, 4096, us(0));
    let now = write(&mut oracles, 0, 0, 7, us(0));
    read(&mut oracles, HOME, 7, Some(9), now);
    assert_silent(&oracles);

    let mut full = oracles_of_a_full_drive();
    let now = read(&mut full, 0, 7, None, us(0));
    request(&mut full, HOME, now);
    assert_fails(&full, "pages", "but what was there before the run is at page 0");
}

#[test]
fn what_is_at_a_home_is_moved_by_no_collection() {
    let mut moved = oracles();
    program(&mut moved, 0, 7, Origin::Moved(Ppn(HOME)), us(0));
    assert_fails(&moved, "pages", "was moved for logical page 7, but nothing was written there");
}
