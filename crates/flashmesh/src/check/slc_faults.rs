//! Tests of the oracles with faults injected into a drive with an SLC cache. The cache is block 7 of each plane, with two pages.

use super::histories::{assert_fails, assert_silent, config, oracles_with, us};
use super::transfers::data::Data;
use super::{Oracles, Origin};
use crate::config::{Config, MultiPlane, PageTypes, ProgramUnit};
use crate::fabric::{Payload, TransferKind};
use crate::flash::die::OperationKind::{self, Program, Read};
use crate::flash::geometry::Geometry;
use crate::ids::{DieId, Lpn, Ppn};
use crate::units::Time;

/// First page of block 7 of plane 0, which belongs to the SLC cache.
const CACHED: Ppn = Ppn(28);
const CACHED_IN_PLANE_1: Ppn = Ppn(60);

fn cached() -> Config {
    let mut config = config();
    config.flash.page_types = PageTypes::Mlc;
    config.flash.program_time = us(100);
    config.slc.blocks_per_plane = 1;
    config.slc.program_time = us(40);
    config.slc.read_time = us(2);
    config.flash.multi_plane = MultiPlane::SameOffset;
    config
}

fn ended(kind: OperationKind, planes: usize, until: u64) -> Oracles {
    let mut oracles = oracles_with(&cached());
    oracles.operation_began(DieId(0), kind, planes, us(0));
    oracles.array_began(DieId(0), kind, us(0), us(until));
    oracles.array_ended(DieId(0), us(until));
    oracles
}

/// Returns oracles after one program of `pages`, which a destage of the device cache started at time 0 and which ends at `until`.
fn programmed(pages: &[Ppn], until: u64) -> Oracles {
    let mut oracles = ended(Program, pages.len(), until);
    for (&ppn, lpn) in pages.iter().zip(0..) {
        oracles.page_programmed(ppn, Lpn(lpn), Origin::Destaged, us(until));
    }
    oracles
}

/// Returns the oracle and the message of the first violation; `None` without a violation. In most tests here the oracle `data` reports a
/// violation, because no data was sent for the programs.
fn said(oracles: &Oracles) -> Option<(&'static str, String)> {
    oracles.violation().map(|violation| (violation.oracle, violation.message.clone()))
}

#[test]
fn an_array_that_takes_the_time_of_another_kind_of_block_is_caught() {
    assert!(said(&programmed(&[CACHED], 40)).is_none_or(|(oracle, _)| oracle != "dies"));
    assert_fails(&programmed(&[CACHED], 100), "dies", "worked for 100us on a Program of a page of the SLC cache");
    assert_fails(&programmed(&[Ppn(0)], 40), "dies", "worked for 40us on a Program of page 0");
    let mut read = ended(Read, 1, 3);
    read.page_read(CACHED, Lpn(0), None, us(3));
    assert_fails(&read, "dies", "worked for 3us on a Read of a page of the SLC cache, which takes 2us");
}

#[test]
fn planes_that_join_in_blocks_of_two_kinds_are_caught() {
    assert_fails(&programmed(&[CACHED, Ppn(32)], 40), "planes", "together with page 0 of block 7 in plane 0");
    assert!(said(&programmed(&[CACHED, CACHED_IN_PLANE_1], 40)).is_none_or(|(oracle, _)| oracle != "planes"));
}

#[test]
fn a_page_that_a_block_of_the_cache_does_not_have_is_caught() {
    let mut pages = super::array::pages::Pages::new(&cached());
    assert_eq!(pages.programmed(Ppn(29), Lpn(1), Origin::Destaged), Ok(()));
    let beyond = pages.programmed(Ppn(30), Lpn(2), Origin::Destaged).expect_err("it has two");
    assert!(beyond.contains("which a block of the SLC cache does not have"), "{beyond}");
}

#[test]
fn pages_of_the_map_and_moved_ones_in_the_cache_are_caught() {
    let mut pages = super::array::pages::Pages::new(&cached());
    let found = pages.programmed(CACHED, Lpn(1), Origin::Map).expect_err("the host alone writes there");
    assert!(found.contains("of the SLC cache was programmed for Map"), "{found}");
}

#[test]
fn the_addresses_of_such_a_drive_are_right() {
    let config = cached();
    assert_silent(&Oracles::new(&Geometry::from_config(&config).expect("the geometry is possible"), &config));
}

#[test]
fn a_page_of_the_cache_that_is_sent_a_word_line_is_caught_and_the_other_way_round() {
    let mut config = cached();
    config.flash.program_unit = ProgramUnit::WordLine;
    let programmed = |ppn: Ppn, pages: u64| {
        let mut data = Data::new(&config);
        let bytes = config.geometry.page_size * pages;
        data.sent(DieId(0), Payload { kind: TransferKind::Program, planes: 1, command_time: Time::ZERO, bytes })?;
        data.programmed(ppn, None, None)
    };
    assert_eq!((programmed(CACHED, 1), programmed(Ppn(0), 2)), (Ok(()), Ok(())));
    for (ppn, pages) in [(CACHED, 2), (Ppn(0), 1)] {
        let error = programmed(ppn, pages).expect_err("it is the data of the other kind of block");
        assert!(error.contains(&format!("page {} was programmed, whose program takes", ppn.0)), "{error}");
    }
}
