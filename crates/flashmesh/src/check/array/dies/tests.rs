//! Tests of the oracle `dies`: injected faults, and valid histories.

use super::Array;
use crate::check::Oracles;
use crate::check::histories::{assert_fails, assert_silent, config, oracles, oracles_with, us};
use crate::config::{Config, DieStart, FabricKind, PageTypes, Suspension, SuspensionScope};
use crate::flash::die::OperationKind::{self, Erase, Program, Read};
use crate::ids::{DieId, Lpn, Ppn};
use crate::units::Time;

const DIE: DieId = DieId(1);

fn begin(oracles: &mut Oracles, kind: OperationKind, planes: usize, now: Time, until: Time) {
    oracles.operation_began(DIE, kind, planes, now);
    oracles.array_began(DIE, kind, now, until);
}

fn end_read(oracles: &mut Oracles, planes: u32, now: Time) {
    oracles.array_ended(DIE, now);
    for plane in 0..planes {
        oracles.page_read(Ppn(64 + 32 * plane), Lpn(plane), None, now);
    }
}

fn with_suspension() -> Config {
    let mut config = config();
    config.flash.suspension = Suspension::Both;
    config.flash.suspensions_max = 1;
    config
}

/// Returns oracles in which die 1 began a program of 100 us at time 0 and was suspended at 30 us.
fn suspended_program() -> Oracles {
    let mut oracles = oracles_with(&with_suspension());
    begin(&mut oracles, Program, 1, us(0), us(100));
    oracles.suspended(DIE, us(30));
    oracles
}

#[test]
fn a_read_whose_data_leaves_before_the_next_operation_is_right() {
    let mut oracles = oracles();
    begin(&mut oracles, Read, 2, us(1), us(4));
    end_read(&mut oracles, 2, us(4));
    oracles.data_out_ended(DIE, us(5));
    oracles.data_out_ended(DIE, us(6));
    begin(&mut oracles, Program, 1, us(6), us(106));
    oracles.array_ended(DIE, us(106));
    assert_silent(&oracles);
}

#[test]
fn a_cached_read_frees_the_array_and_holds_it_while_the_register_is_full() {
    let mut config = config();
    config.flash.read_cache = true;
    let mut oracles = oracles_with(&config);
    begin(&mut oracles, Read, 1, us(0), us(3));
    end_read(&mut oracles, 1, us(3));
    begin(&mut oracles, Read, 1, us(3), us(6));
    end_read(&mut oracles, 1, us(6));
    oracles.data_out_ended(DIE, us(7));
    begin(&mut oracles, Read, 1, us(7), us(10));
    end_read(&mut oracles, 1, us(10));
    assert_silent(&oracles);
    oracles.operation_began(DIE, Read, 1, us(10));
    assert_fails(&oracles, "dies", "die 1 began a Read, but it is holding read data");
}

#[test]
fn two_operations_at_once_are_caught() {
    let mut oracles = oracles();
    begin(&mut oracles, Program, 1, us(0), us(100));
    oracles.operation_began(DIE, Read, 1, us(99));
    assert_fails(&oracles, "dies", "die 1 began a Read, but it is busy with a Program from 0ps until 100us");
}

#[test]
fn an_operation_over_a_full_register_is_caught() {
    let mut oracles = oracles();
    begin(&mut oracles, Read, 2, us(0), us(3));
    oracles.array_ended(DIE, us(3));
    oracles.data_out_ended(DIE, us(5));
    oracles.operation_began(DIE, Read, 1, us(5));
    assert_fails(&oracles, "dies", "die 1 began a Read, but data of 1 planes waits in its register");
}

#[test]
fn an_operation_over_more_planes_than_the_die_has_is_caught() {
    let mut oracles = oracles();
    oracles.operation_began(DIE, Read, 3, us(0));
    assert_fails(&oracles, "dies", "die 1 began a Read, but over 3 planes; at most 2 can join");
}

#[test]
fn an_array_that_works_a_picosecond_less_than_its_time_is_caught() {
    let mut oracles = oracles();
    begin(&mut oracles, Read, 1, us(1), Time::from_ps(3_999_999));
    assert_fails(&oracles, "dies", "a Read from 1us ends at 3999.999ns; it takes 3us after 0ps: 4us");
}

#[test]
fn an_end_that_comes_too_early_or_too_late_is_caught() {
    for (at, text) in [(Time::from_ps(3_999_999), "3999.999ns"), (Time::from_ps(4_000_001), "4000.001ns")] {
        let mut oracles = oracles();
        begin(&mut oracles, Read, 1, us(1), us(4));
        oracles.array_ended(DIE, at);
        assert_fails(&oracles, "dies", &format!("die 1 ended a Read at {text}, due at 4us"));
    }
}

#[test]
fn an_array_whose_controller_takes_no_time_is_caught() {
    let mut config = config();
    for (kind, decoding) in
        [(FabricKind::Pssd, 40), (FabricKind::Pnssd, 40), (FabricKind::Bus, 0), (FabricKind::Venice, 0)]
    {
        config.fabric.kind = kind;
        for nanoseconds in [0, 20, 40] {
            let mut oracles = oracles_with(&config);
            begin(&mut oracles, Read, 1, us(0), us(3) + Time::from_ns(nanoseconds));
            assert_eq!(oracles.verdict().is_ok(), nanoseconds == decoding, "{kind}: {:?}", oracles.violation());
        }
    }
}

/// Returns a configuration with two dies on each chip that work one at a time (without die interleaving).
fn dies_that_take_turns() -> Config {
    let mut config = config();
    config.geometry.chips_per_channel = 1;
    config.geometry.dies_per_chip = 2;
    config.flash.die_interleaving = false;
    config
}

#[test]
fn dies_that_take_turns_do_not_begin_while_another_one_works_holds_data_or_has_something_suspended() {
    let begun = |config: &Config, free_at: Time, now: Time| {
        let mut oracles = oracles_with(config);
        begin(&mut oracles, Read, 1, us(0), us(3));
        end_read(&mut oracles, 1, us(3));
        if now >= free_at {
            oracles.data_out_ended(DIE, free_at);
        }
        oracles.operation_began(DieId(0), Program, 1, now);
        oracles
    };
    let early = us(7) - Time::from_ps(1);
    assert_silent(&begun(&dies_that_take_turns(), us(7), us(7)));
    let message = "die 0 began a Program, but die 1 of its chip holds data of 1 planes";
    let caught = begun(&dies_that_take_turns(), us(7), early);
    assert_fails(&caught, "dies", message);
    assert_silent(&begun(&config(), us(7), early));

    let mut suspension = dies_that_take_turns();
    suspension.flash.suspension = Suspension::Both;
    let mut oracles = oracles_with(&suspension);
    begin(&mut oracles, Program, 1, us(0), us(100));
    oracles.suspended(DIE, us(30));
    oracles.operation_began(DieId(0), Read, 1, us(30));
    assert_fails(&oracles, "dies", "die 0 began a Read, but die 1 of its chip has a Program suspended");
}

/// Returns oracles of a drive that suspends the two dies of a chip together. Die 1 began a program at time 0 and is suspended at 30 us.
fn suspended_chip() -> Oracles {
    let mut config = with_suspension();
    config.geometry.chips_per_channel = 1;
    config.geometry.dies_per_chip = 2;
    config.flash.die_start = DieStart::Together;
    config.flash.suspension_scope = SuspensionScope::Chip;
    let mut oracles = oracles_with(&config);
    begin(&mut oracles, Program, 1, us(0), us(100));
    oracles.suspended(DIE, us(30));
    oracles
}

#[test]
fn a_chip_that_is_suspended_takes_only_reads_and_the_first_of_them_take_the_time_of_it() {
    let mut oracles = suspended_chip();
    oracles.operation_began(DieId(0), Program, 1, us(40));
    assert_fails(&oracles, "dies", "die 0 began a Program, but a Program is suspended: only reads run meanwhile");
    // The suspension takes 5 us, until 35 us. A read of 3 us that begins before 35 us takes 8 us.
    for (now, takes, is_right) in [(30, 8, true), (30, 3, false), (34, 8, true), (35, 3, true), (35, 8, false)] {
        let mut oracles = suspended_chip();
        oracles.operation_began(DieId(0), Read, 1, us(now));
        oracles.array_began(DieId(0), Read, us(now), us(now + takes));
        assert_eq!(oracles.verdict().is_ok(), is_right, "{now} {takes}: {:?}", oracles.violation());
    }
}

#[test]
fn a_page_that_did_not_take_the_time_of_its_type_is_caught() {
    let mut config = config();
    config.flash.page_types = PageTypes::Mlc;
    config.flash.upper_page_read_time = Some(us(7));
    for (page, until, right) in [(64, 3, true), (65, 7, true), (64, 7, false), (65, 3, false)] {
        let mut oracles = oracles_with(&config);
        begin(&mut oracles, Read, 1, us(0), us(until));
        oracles.array_ended(DIE, us(until));
        oracles.page_read(Ppn(page), Lpn(0), None, us(until));
        if right {
            assert_silent(&oracles);
        } else {
            let of = page - 64;
            assert_fails(&oracles, "dies", &format!("die 1 worked for {} on a Read of page {of}", us(until)));
        }
    }
    let mut oracles = oracles_with(&config);
    begin(&mut oracles, Read, 1, us(0), us(5));
    assert_fails(&oracles, "dies", "a Read from 0ps ends at 5us");
}

#[test]
fn data_that_leaves_an_empty_register_is_caught() {
    let mut oracles = oracles();
    oracles.data_out_ended(DIE, us(1));
    assert_fails(&oracles, "dies", "data left die 1, but its register is empty");
}

#[test]
fn a_suspended_program_that_does_the_rest_of_its_work_is_right() {
    let mut oracles = suspended_program();
    // The first read waits 5 us for the suspension, the second does not. The resumption takes 5 us.
    for (start, until) in [(30, 38), (40, 43)] {
        begin(&mut oracles, Read, 1, us(start), us(until));
        end_read(&mut oracles, 1, us(until));
        oracles.data_out_ended(DIE, us(until + 1));
    }
    oracles.resumed(DIE, us(44), us(119));
    oracles.array_ended(DIE, us(119));
    assert_silent(&oracles);
}

#[test]
fn a_suspension_that_loses_or_invents_progress_is_caught() {
    for until in [us(104), us(135)] {
        let mut oracles = suspended_program();
        oracles.resumed(DIE, us(30), until);
        let message = format!("worked for 30us goes on from 35us until {until}; 70us are left: 105us");
        assert_fails(&oracles, "dies", &message);
    }
}

#[test]
fn a_read_that_does_not_wait_for_the_suspension_is_caught() {
    let mut oracles = suspended_program();
    begin(&mut oracles, Read, 1, us(30), us(33));
    assert_fails(&oracles, "dies", "a Read from 30us ends at 33us; it takes 3us after 5us: 38us");
}

#[test]
fn anything_but_a_read_during_a_suspension_is_caught() {
    let mut oracles = suspended_program();
    oracles.operation_began(DIE, Erase, 1, us(31));
    assert_fails(&oracles, "dies", "began a Erase, but a Program is suspended: only reads run meanwhile");
}

#[test]
fn suspensions_beyond_the_rules_are_caught() {
    let mut again = suspended_program();
    again.resumed(DIE, us(30), us(105));
    again.suspended(DIE, us(40));
    assert_fails(&again, "dies", "it was suspended 1 times, the most allowed");

    let mut late = oracles_with(&with_suspension());
    begin(&mut late, Program, 1, us(0), us(100));
    late.suspended(DIE, us(90));
    assert_fails(&late, "dies", "suspended in a Program at 90us, but only 10us are left");

    let mut never = oracles();
    begin(&mut never, Program, 1, us(0), us(100));
    never.suspended(DIE, us(10));
    assert_fails(&never, "dies", "suspended in a Program at 10us, but suspension is Off");
}

#[test]
fn an_array_that_works_on_what_was_not_begun_is_caught() {
    let mut idle = oracles();
    idle.array_began(DIE, Read, us(0), us(3));
    assert_fails(&idle, "dies", "die 1 works on a Read, but it is idle");

    let mut other = oracles();
    other.operation_began(DIE, Program, 1, us(0));
    other.array_began(DIE, Read, us(0), us(3));
    assert_fails(&other, "dies", "die 1 works on a Read, but began a Program");
}

#[test]
fn an_end_of_what_does_not_work_is_caught() {
    let mut idle = oracles();
    idle.array_ended(DIE, us(3));
    assert_fails(&idle, "dies", "die 1 ended its work at 3us, but it is idle");

    let mut incoming = oracles();
    incoming.operation_began(DIE, Read, 1, us(0));
    incoming.array_ended(DIE, us(3));
    assert_fails(&incoming, "dies", "die 1 ended its work at 3us, but it is taking a Read");
}

#[test]
fn a_die_that_begins_while_another_one_of_its_turn_works_is_caught() {
    let mut oracles = oracles_with(&dies_that_take_turns());
    begin(&mut oracles, Read, 1, us(0), us(3));
    oracles.operation_began(DieId(0), Program, 1, us(2));
    assert_fails(
        &oracles,
        "dies",
        "die 0 began a Program, but die 1 of its chip is busy with a Read from 0ps until 3us",
    );
}

#[test]
fn a_suspension_of_nothing_or_before_the_operation_goes_on_is_caught() {
    let mut nothing = oracles_with(&with_suspension());
    nothing.suspended(DIE, us(1));
    assert_fails(&nothing, "dies", "die 1 was suspended, but it is idle");

    let mut config = with_suspension();
    config.flash.suspensions_max = 2;
    let mut early = oracles_with(&config);
    begin(&mut early, Program, 1, us(0), us(100));
    early.suspended(DIE, us(30));
    early.resumed(DIE, us(30), us(105));
    early.suspended(DIE, us(34));
    assert_fails(&early, "dies", "suspended in a Program at 34us, but it goes on at 35us only");
}

#[test]
fn an_operation_that_stops_before_its_point_of_suspension_is_caught() {
    let mut config = with_suspension();
    config.flash.suspend_interval = us(30);
    let interrupted = || {
        let mut oracles = oracles_with(&config);
        begin(&mut oracles, Program, 1, us(0), us(100));
        oracles.suspended(DIE, us(40));
        oracles
    };
    let mut early = interrupted();
    begin(&mut early, Read, 1, us(40), us(48));
    assert_fails(&early, "dies", "a Read from 40us ends at 48us; it takes 3us after 25us: 68us");

    for (until, is_right) in [(us(69 + 5 + 40), true), (us(69 + 5 + 60), false)] {
        let mut resumed = interrupted();
        begin(&mut resumed, Read, 1, us(40), us(68));
        end_read(&mut resumed, 1, us(68));
        resumed.data_out_ended(DIE, us(69));
        resumed.resumed(DIE, us(69), until);
        match is_right {
            true => assert_silent(&resumed),
            false => assert_fails(&resumed, "dies", "goes on from 74us until 134us; 40us are left: 114us"),
        }
    }

    let mut late = oracles_with(&config);
    begin(&mut late, Program, 1, us(0), us(100));
    late.suspended(DIE, us(91));
    assert_fails(&late, "dies", "only 0ps are left");
}

#[test]
fn a_resumption_of_nothing_or_while_the_die_is_busy_is_caught() {
    let mut nothing = oracles_with(&with_suspension());
    nothing.resumed(DIE, us(1), us(2));
    assert_fails(&nothing, "dies", "die 1 resumed at 1us, but nothing is suspended");

    let mut busy = suspended_program();
    begin(&mut busy, Read, 1, us(30), us(38));
    busy.resumed(DIE, us(31), us(106));
    assert_fails(&busy, "dies", "die 1 resumed at 31us, but it is busy with a Read from 35us until 38us");

    let mut full = suspended_program();
    begin(&mut full, Read, 1, us(30), us(38));
    end_read(&mut full, 1, us(38));
    full.resumed(DIE, us(38), us(113));
    assert_fails(&full, "dies", "but it is idle with data of 1 planes in its register");
}

#[test]
fn a_second_suspended_operation_and_an_end_after_other_work_than_its_time_are_caught() {
    let mut twice = oracles_with(&with_suspension());
    begin(&mut twice, Program, 1, us(0), us(100));
    let die = &mut twice.dies.dies[DIE.index()];
    let Array::Busy { operation, .. } = die.array else { unreachable!("the operation has started") };
    die.suspended = Some(operation);
    twice.suspended(DIE, us(30));
    assert_fails(&twice, "dies", "suspended in a Program at 30us, but a Program is suspended already");

    let mut worked = oracles();
    begin(&mut worked, Program, 1, us(0), us(100));
    if let Array::Busy { operation, .. } = &mut worked.dies.dies[DIE.index()].array {
        operation.worked = us(1);
    }
    worked.array_ended(DIE, us(100));
    assert_fails(&worked, "dies", "die 1 ended a Program after 101us of work; it takes 100us");
}
