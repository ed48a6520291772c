//! Programs that reads suspend, compared with arithmetic.

use flashmesh::config::Suspension;
use flashmesh::units::Time;

use crate::closed_form::{COMMAND, PAGE_TRANSFER, PROGRAM, READ};
use crate::support::drives::*;

#[test]
fn a_read_suspends_a_program_which_keeps_its_progress() {
    let mut config = bare_drive();
    config.flash.suspension = Suspension::Program;
    config.flash.suspend_time = Time::from_us(5);
    config.flash.resume_time = Time::from_us(2);
    config.geometry.planes_per_die = 1;
    config.ftl.allocation = order("CWDP");
    let arrival = Time::from_us(50);
    let done = completions(&config, [write(0, 1, Time::ZERO), read(64, 1, arrival)]);
    let read_done = arrival + COMMAND + Time::from_us(5) + READ + PAGE_TRANSFER;
    let program_started = COMMAND + PAGE_TRANSFER;
    let remaining = program_started + PROGRAM - arrival;
    assert_eq!(done, [read_done + Time::from_us(2) + remaining, read_done]);
}

#[test]
fn a_suspension_waits_for_the_next_point_of_the_program_which_works_on_until_then() {
    let mut config = bare_drive();
    config.flash.suspension = Suspension::Program;
    config.flash.suspend_time = Time::from_us(5);
    config.flash.resume_time = Time::from_us(2);
    config.flash.suspend_interval = Time::from_us(30);
    config.flash.suspend_remaining_min = Time::ZERO;
    config.geometry.planes_per_die = 1;
    config.ftl.allocation = order("CWDP");
    let program_started = COMMAND + PAGE_TRANSFER;
    for (arrival_us, points) in [(10, 1), (50, 2), (60, 2), (70, 3)] {
        let arrival = Time::from_us(arrival_us);
        let done = completions(&config, [write(0, 1, Time::ZERO), read(64, 1, arrival)]);
        let suspended = program_started + Time::from_us(30) * points;
        let read_done = suspended + Time::from_us(5) + COMMAND + READ + PAGE_TRANSFER;
        let remaining = PROGRAM - Time::from_us(30) * points;
        assert_eq!(done, [read_done + Time::from_us(2) + remaining, read_done], "a read at {arrival}");
    }
}

#[test]
fn a_program_whose_last_point_of_suspension_has_passed_is_not_suspended() {
    let mut config = bare_drive();
    config.flash.suspension = Suspension::Program;
    config.flash.suspend_interval = Time::from_us(30);
    config.flash.suspend_remaining_min = Time::ZERO;
    config.geometry.planes_per_die = 1;
    let program_started = COMMAND + PAGE_TRANSFER;
    let program_done = program_started + PROGRAM;
    let arrival = program_started + Time::from_us(91);
    let done = completions(&config, [write(0, 1, Time::ZERO), read(64, 1, arrival)]);
    assert_eq!(done, [program_done, program_done + COMMAND + READ + PAGE_TRANSFER]);
}

#[test]
fn a_program_that_is_nearly_done_is_not_suspended() {
    let mut config = bare_drive();
    config.flash.suspension = Suspension::Program;
    config.flash.suspend_remaining_min = Time::from_us(10);
    config.geometry.planes_per_die = 1;
    let program_done = COMMAND + PAGE_TRANSFER + PROGRAM;
    let arrival = program_done - Time::from_us(10);
    let done = completions(&config, [write(0, 1, Time::ZERO), read(64, 1, arrival)]);
    assert_eq!(done, [program_done, program_done + COMMAND + READ + PAGE_TRANSFER]);
}

#[test]
fn a_read_that_comes_while_a_program_is_on_its_way_suspends_it_once_it_runs() {
    let mut config = bare_drive();
    config.flash.suspension = Suspension::Program;
    config.flash.suspend_time = Time::from_us(5);
    config.geometry.planes_per_die = 1;
    let arrival = Time::from_us(1);
    let done = completions(&config, [write(0, 1, Time::ZERO), read(64, 1, arrival)]);
    let program_started = COMMAND + PAGE_TRANSFER;
    assert_eq!(done[1], program_started + COMMAND + Time::from_us(5) + READ + PAGE_TRANSFER);
}

#[test]
fn a_read_that_comes_while_a_program_resumes_suspends_it_once_it_runs() {
    let mut config = bare_drive();
    config.flash.suspension = Suspension::Program;
    config.flash.suspend_time = Time::from_us(5);
    config.flash.resume_time = Time::from_us(4);
    config.geometry.planes_per_die = 1;
    let first = Time::from_us(50);
    let resumed = first + COMMAND + Time::from_us(5) + READ + PAGE_TRANSFER;
    let second = resumed + Time::from_us(1);
    let done = completions(&config, [write(0, 1, Time::ZERO), read(64, 1, first), read(128, 1, second)]);
    let works_again = resumed + Time::from_us(4);
    assert_eq!(done[2], works_again + COMMAND + Time::from_us(5) + READ + PAGE_TRANSFER);
}
