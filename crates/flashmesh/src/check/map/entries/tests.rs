use super::Entries;
use super::EntryEvent::{Awaits, Cached, Dropped};
use crate::check::histories::{assert_fails, assert_silent, config, oracles_with, program, read, submit, us, write};
use crate::check::{Oracles, Origin};
use crate::config::Config;
use crate::ids::{Lpn, RequestId};
use crate::units::Bytes;
use crate::workload::RequestKind::{Read, Write};

const PAGE: u64 = 4096;
/// Translation page with the entries of all logical pages.
const MAP: Lpn = Lpn(128);
const ID: RequestId = RequestId(5);

fn oracles() -> Oracles {
    oracles_with(&cached_config())
}

fn cached_config() -> Config {
    let mut config = config();
    config.mapping.cache_capacity = Some(Bytes::new(16));
    config
}

/// Returns oracles in which the translation page was read, and the entry of logical page 7 was cached for request 5.
fn cached() -> Oracles {
    let mut oracles = oracles();
    submit(&mut oracles, ID.0, Write, 7 * PAGE, PAGE, us(0));
    oracles.entry_wanted(Some(ID), Lpn(7), us(0));
    oracles.translation_read_issued(MAP, us(0));
    oracles.translation_read_ended(MAP, us(1));
    oracles.entry_changed(Cached(Lpn(7)), us(1));
    oracles.entry_used(Some(ID), Lpn(7), us(1));
    oracles
}

/// Like [`cached`], but logical page 7 has been written since, so its entry is newer than on flash.
fn changed() -> Oracles {
    let mut oracles = cached();
    program(&mut oracles, 0, 7, Origin::User(ID), us(1));
    oracles
}

#[test]
fn an_entry_that_is_read_used_changed_written_back_and_dropped_is_right() {
    let mut oracles = changed();
    oracles.entry_changed(Awaits(Lpn(7)), us(200));
    oracles.translation_program_issued(MAP, us(200));
    oracles.translation_program_began(MAP, us(200));
    program(&mut oracles, 8, MAP.0, Origin::Map, us(200));
    oracles.translation_program_ended(MAP, us(300));
    oracles.entry_changed(Dropped(Lpn(7)), us(300));
    assert_silent(&oracles);
}

#[test]
fn a_request_that_goes_on_without_its_entry_is_caught() {
    let mut oracles = oracles();
    submit(&mut oracles, ID.0, Read, 7 * PAGE, PAGE, us(0));
    oracles.entry_used(Some(ID), Lpn(7), us(0));
    assert_fails(&oracles, "entries", "request 5 used the entry of logical page 7, which is not in DRAM");
}

#[test]
fn a_page_read_or_written_for_a_request_that_did_not_look_its_entry_up_is_caught() {
    let mut reads = oracles();
    submit(&mut reads, ID.0, Read, 7 * PAGE, PAGE, us(0));
    read(&mut reads, 12, 7, Some(ID.0), us(0));
    assert_fails(&reads, "entries", "logical page 7 was read or written for request 5 without its entry");

    let mut writes = oracles();
    write(&mut writes, ID.0, 0, 7, us(0));
    assert_fails(&writes, "entries", "logical page 7 was read or written for request 5 without its entry");
}

#[test]
fn an_entry_from_nowhere_is_caught() {
    let mut never_read = oracles();
    never_read.entry_changed(Cached(Lpn(7)), us(0));
    assert_fails(&never_read, "entries", "was cached without a read of translation page 128");

    let mut read_before = cached();
    read_before.entry_changed(Dropped(Lpn(7)), us(2));
    read_before.entry_changed(Cached(Lpn(7)), us(3));
    assert_fails(&read_before, "entries", "was cached without a read of translation page 128");
}

#[test]
fn a_change_that_is_forgotten_is_caught() {
    let mut dropped = changed();
    dropped.entry_changed(Dropped(Lpn(7)), us(200));
    assert_fails(&dropped, "entries", "was dropped, and its change was not written back");

    // A program that began before the change carries the old entry.
    let mut early = cached();
    early.translation_program_issued(MAP, us(1));
    early.translation_program_began(MAP, us(1));
    program(&mut early, 8, 7, Origin::User(ID), us(1));
    program(&mut early, 0, MAP.0, Origin::Map, us(101));
    early.entry_changed(Dropped(Lpn(7)), us(201));
    assert_fails(&early, "entries", "was dropped, and its change was not written back");
}

#[test]
fn translation_pages_read_or_written_twice_at_a_time_are_caught() {
    let mut reads = oracles();
    reads.translation_read_issued(MAP, us(0));
    reads.translation_read_issued(MAP, us(1));
    assert_fails(&reads, "entries", "translation page 128 is read twice at a time");

    let mut programs = cached();
    programs.translation_program_issued(MAP, us(0));
    programs.translation_program_issued(MAP, us(1));
    assert_fails(&programs, "entries", "translation page 128 is written back twice at a time");
}

#[test]
fn a_write_back_of_entries_that_nobody_knows_is_caught() {
    let mut oracles = oracles();
    oracles.translation_program_issued(MAP, us(0));
    assert_fails(&oracles, "entries", "translation page 128 is written back, but its other entries are unknown");
}

#[test]
fn more_entries_than_there_is_room_for_are_caught() {
    let mut oracles = cached();
    oracles.entry_changed(Cached(Lpn(8)), us(1));
    assert_silent(&oracles);
    oracles.entry_changed(Cached(Lpn(9)), us(1));
    assert_fails(&oracles, "entries", "3 entries are resident, and there is room for 2");
}

#[test]
fn an_entry_that_another_translation_page_brought_is_caught() {
    let mut config = config();
    config.mapping.cache_capacity = Some(Bytes::new(16));
    // A translation page has 32 entries, so the entries of logical pages 96 to 127 are on the fourth translation page.
    config.mapping.stored_entry_size = Bytes::new(128);
    for page in 128..132 {
        let mut oracles = oracles_with(&config);
        oracles.entry_wanted(Some(ID), Lpn(96), us(0));
        oracles.translation_read_issued(Lpn(page), us(0));
        oracles.translation_read_ended(Lpn(page), us(1));
        oracles.entry_changed(Cached(Lpn(96)), us(1));
        if page == 131 {
            assert_silent(&oracles);
        } else {
            let message = "the entry of logical page 96 was cached without a read of translation page 131";
            assert_fails(&oracles, "entries", message);
        }
    }
}

#[test]
fn a_page_that_moves_without_an_entry_in_dram_is_caught() {
    let mut oracles = oracles();
    write(&mut oracles, 9, 0, 7, us(0));
    assert_fails(&oracles, "entries", "logical page 7 was read or written for request 9 without its entry");

    let mut entries = Entries::new(&cached_config());
    entries.moved(Lpn(7));
    assert_eq!(entries.settled(), Err("logical page 7 has moved, and no entry in DRAM says so".to_owned()));
}

#[test]
fn ends_of_reads_and_programs_that_were_not_issued_are_caught() {
    let mut reads = oracles();
    reads.translation_read_ended(MAP, us(1));
    assert_fails(&reads, "entries", "a read of translation page 128 ended that was not issued");

    let mut programs = oracles();
    programs.translation_program_ended(MAP, us(1));
    assert_fails(&programs, "entries", "a program of translation page 128 ended that was not issued");
}

#[test]
fn entries_that_are_cached_twice_stale_or_written_back_for_nothing_are_caught() {
    let mut twice = cached();
    twice.entry_changed(Cached(Lpn(7)), us(1));
    assert_fails(&twice, "entries", "the entry of logical page 7 was cached twice");

    let mut entries = Entries::new(&cached_config());
    entries.moved(Lpn(7));
    let stale = "the entry of logical page 7 was cached from flash, which has an older one";
    assert_eq!(entries.changed(Cached(Lpn(7)), us(1)), Err(stale.to_owned()));

    let mut nothing = oracles();
    nothing.entry_changed(Awaits(Lpn(7)), us(1));
    assert_fails(&nothing, "entries", "the entry of logical page 7 awaits a write-back for nothing");
}
