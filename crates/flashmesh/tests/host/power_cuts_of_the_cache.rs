//! Power cuts of drives with a device cache: which data is lost, and which the capacitors save.

use flashmesh::config::{Destage, FabricKind};
use flashmesh::measure::report::Report;
use flashmesh::simulation::{Control, Simulation};
use flashmesh::units::{Bytes, Time};
use proptest::prelude::*;

use crate::device_cache::{COMMAND, DRAM, PROGRAM, TRANSFER, cached, measured, ms};
use crate::support::arbitrary;
use crate::support::arbitrary::Case;
use crate::support::drives::*;

/// Cuts the power while the write of page 10 accesses DRAM. The writes of pages 0 to 9 are acknowledged before.
fn cut(capacitors: bool) -> Report {
    let mut config = cached(32);
    config.power.cut = Some(ms(20) + Time::from_ns(100));
    config.power.capacitors = capacitors;
    let requests = (0..10).map(|page| write(page, 1, ms(page))).chain([write(10, 1, ms(20)), read(0, 1, ms(30))]);
    measured(&config, requests).0
}

#[test]
fn without_capacitors_a_cut_of_the_power_loses_what_is_dirty() {
    let report = cut(false);
    assert_eq!((report.requests, report.makespan_ps), (10, (ms(20) + Time::from_ns(100)).as_ps()));
    let cut = report.power_cut.expect("the power was cut");
    assert_eq!((cut.requests_lost, cut.dirty_pages, cut.dirty_bytes), (1, 11, 11 * PAGE));
    assert_eq!((cut.pages_lost, cut.bytes_lost, cut.pages_programmed), (10, 10 * PAGE, 0));
}

/// Eight of the eleven pages are on channels 0 to 7, three on further chips of channels 0 to 2. Those channels are free again when the last three
/// pages have been read from DRAM.
#[test]
fn with_capacitors_all_dirty_pages_are_programmed() {
    let report = cut(true);
    let cut = report.power_cut.expect("the power was cut");
    assert_eq!((cut.requests_lost, cut.pages_lost, cut.bytes_lost, cut.programs_lost), (1, 0, 0, 0));
    assert_eq!((cut.dirty_pages, cut.pages_programmed), (11, 11));
    // The DRAM access of page 10 is in progress. Then eleven pages are read from DRAM one by one, and the last is programmed.
    let last = DRAM * 12 - Time::from_ns(100) + COMMAND + TRANSFER + PROGRAM;
    assert_eq!(cut.duration_ps, last.as_ps());
    assert!(cut.energy_j > 0.0);
}

/// On NoSSD the acknowledgement of a program reaches the controller some time after the array ends.
#[test]
fn what_the_array_has_programmed_is_not_lost_though_the_controller_has_yet_to_hear_of_it() {
    let mut config = cached(8);
    config.fabric.kind = FabricKind::Nossd;
    (config.geometry.channels, config.geometry.chips_per_channel) = (2, 2);
    (config.geometry.blocks_per_plane, config.geometry.pages_per_block) = (16, 16);
    config.geometry.capacity = Some(Bytes::from_kib(1024));
    config.cache.destage = Destage::FirstWrite;
    config.power.capacitors = false;
    let lost = |at: Time| {
        let mut config = config.clone();
        config.power.cut = Some(at);
        let report = measured(&config, [write(1, 1, ms(0)), read(9, 1, ms(1))]).0;
        report.power_cut.expect("the power was cut").pages_lost
    };
    let (mut before, mut after) = (Time::from_us(100), Time::from_us(120));
    assert_eq!((lost(before), lost(after)), (1, 0));
    while after - before > Time::from_ns(1) {
        let middle = Time::from_ps((before.as_ps() + after.as_ps()) / 2);
        if lost(middle) == 1 { before = middle } else { after = middle }
    }
    // The cache oracle, which observes the array, counts the lost pages too.
    for at in (0..400).map(|ns| before - Time::from_ns(200) + Time::from_ns(ns)) {
        assert_eq!(lost(at), u64::from(at <= before), "{at}");
    }
}

#[test]
fn a_cut_after_the_end_of_the_run_does_nothing() {
    let mut config = cached(32);
    config.power.cut = Some(ms(50));
    let report = measured(&config, [write(0, 1, ms(0))]).0;
    assert_eq!((report.power_cut, report.requests), (None, 1));
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    /// The cache oracle counts the lost data independently. With capacitors no acknowledged data may be lost.
    #[test]
    fn whenever_the_power_is_cut_what_is_lost_is_counted(
        mut case in arbitrary::case(),
        at_us in 0..8_000u64,
        capacitors in any::<bool>(),
        pages in 1..40u64,
    ) {
        let Case { config, requests } = &mut case;
        if config.cache.capacity == Bytes::ZERO {
            config.cache.capacity = config.geometry.page_size * pages;
        }
        config.power.cut = Some(Time::from_us(at_us));
        config.power.capacitors = capacitors;
        config.cache.flush_programs |= !capacitors;
        config.validate().expect("the configuration is valid");
        let count = requests.len() as u64;
        let source = Listed(requests.iter().copied().collect());
        let mut simulation = Simulation::with_source(config, Box::new(source)).expect("the drive can be built");
        simulation.enable_checks();
        let report = simulation.run(&Control::default()).expect("the run ends without a violation");
        match report.power_cut {
            None => prop_assert_eq!(report.requests, count),
            Some(cut) => {
                prop_assert!(report.requests + cut.requests_lost <= count);
                prop_assert!(cut.pages_lost <= cut.dirty_pages && cut.bytes_lost <= cut.dirty_bytes);
                if capacitors {
                    prop_assert_eq!((cut.pages_lost, cut.bytes_lost), (0, 0));
                    prop_assert!(cut.pages_programmed >= cut.dirty_pages);
                } else {
                    prop_assert_eq!((cut.pages_programmed, cut.duration_ps), (0, 0));
                }
            }
        }
    }
}
