use super::super::Origin;
use super::super::histories::{
    assert_fails, assert_silent, config, end, erase, geometry, oracles, oracles_of_a_full_drive, program, read, us,
    write,
};
use crate::ftl::Ftl;
use crate::ids::{Lpn, Ppn};

#[test]
fn write_move_and_erase_is_right() {
    let mut oracles = oracles();
    let now = write(&mut oracles, 0, 0, 7, us(0));
    let now = write(&mut oracles, 1, 1, 8, now);
    // Logical page 7 is written again, so only 8 has to leave block 0.
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
fn a_page_never_written_may_be_placed_for_a_read_once() {
    let ftl = Ftl::new(&geometry(), &config());
    let mut oracles = oracles();
    oracles.page_placed(Ppn(0), Lpn(7), &ftl, us(0));
    let now = read(&mut oracles, 0, 7, None, us(0));
    oracles.deallocated(Lpn(7), now);
    oracles.page_placed(Ppn(1), Lpn(7), &ftl, now);
    let now = read(&mut oracles, 1, 7, None, now);
    assert_silent(&oracles);
    oracles.page_placed(Ppn(2), Lpn(7), &ftl, now);
    let message =
        "logical page 7 was placed at page 2 (page 2 of block 0) for a read, but version 3 of it is at page 1";
    assert_fails(&oracles, "pages", message);
}

#[test]
fn a_page_written_before_the_run_that_is_placed_anew_is_caught() {
    let ftl = Ftl::new(&geometry(), &config());
    let mut oracles = oracles_of_a_full_drive();
    oracles.page_placed(Ppn(0), Lpn(7), &ftl, us(0));
    assert_fails(&oracles, "pages", "but it was written before the run and never deallocated: it is lost");
}

#[test]
fn a_compaction_keeps_what_the_block_held() {
    let mut oracles = oracles();
    let now = write(&mut oracles, 0, 0, 7, us(0));
    let now = write(&mut oracles, 1, 1, 8, now);
    let now = write(&mut oracles, 2, 4, 7, now);
    assert_eq!(oracles.pages.compacted(crate::ids::BlockId(0), &[(Ppn(0), Lpn(8))]), Ok(()));
    // A read that was under way still finds it at its old place.
    assert_eq!(oracles.pages.read(Ppn(1), Lpn(8)), Ok(2));
    assert_eq!(oracles.pages.read(Ppn(0), Lpn(8)), Ok(2));
    end(&mut oracles, now);
    assert_silent(&oracles);
}

#[test]
fn a_compaction_that_loses_a_page_is_caught() {
    let mut oracles = oracles();
    write(&mut oracles, 0, 0, 7, us(0));
    let outcome = oracles.pages.compacted(crate::ids::BlockId(0), &[]);
    assert_eq!(outcome, Err("the compaction of block 0 lost logical page 7".to_owned()));
}
