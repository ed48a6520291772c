//! A die does one operation at a time, for as long as its kind and pages take; what a suspension interrupts keeps its progress.
//! Where the dies of a chip take turns, one of them does at a time.

use crate::config::{self, MultiPlane, PageTypes, Suspension};
use crate::flash::die::OperationKind;
use crate::flash::geometry::Geometry;
use crate::ids::DieId;
use crate::units::Time;

use super::page_times;

/// An operation over some planes of a die.
#[derive(Clone, Copy, Debug)]
struct Operation {
    kind: OperationKind,
    planes: usize,
    /// Array time it takes: that of its pages, once they are known.
    nominal: Time,
    /// Array time it has had.
    worked: Time,
    suspensions: u32,
    /// Whether it pays for the suspension of another one.
    suspends: bool,
}

#[derive(Clone, Copy, Debug, Default)]
enum Array {
    #[default]
    Idle,
    Incoming(Operation),
    Busy {
        operation: Operation,
        since: Time,
        until: Time,
    },
    /// A read that waits for the register.
    Holding(Operation),
}

#[derive(Clone, Copy, Debug, Default)]
struct Die {
    array: Array,
    /// Planes whose data is in the register.
    register: usize,
    suspended: Option<Operation>,
    /// A suspension nobody has paid for yet.
    suspending: bool,
}

/// What every die is doing.
#[derive(Debug)]
pub(super) struct Dies {
    dies: Vec<Die>,
    planes_per_die: usize,
    dies_per_chip: usize,
    flash: config::Flash,
    /// What a controller on the die takes to decode a command, and again to frame data.
    on_die_controller: Time,
    /// The pages of as many offsets as it takes to meet every type.
    offsets: u32,
    /// The operation that ended last.
    ended: Option<(DieId, OperationKind, Time)>,
}

/// Offsets in a block of three bits a cell beyond which the types repeat.
const OFFSETS: u32 = 14;

impl Array {
    fn describe(&self) -> String {
        match self {
            Array::Idle => "idle".to_owned(),
            Array::Incoming(operation) => format!("taking a {:?}", operation.kind),
            Array::Busy { operation, since, until } => {
                format!("busy with a {:?} from {since} until {until}", operation.kind)
            }
            Array::Holding(_) => "holding read data".to_owned(),
        }
    }
}

impl Dies {
    pub(super) const NAME: &'static str = "dies";

    pub(super) fn new(geometry: &Geometry, flash: &config::Flash, on_die_controller: Time) -> Dies {
        Dies {
            dies: vec![Die::default(); geometry.dies() as usize],
            planes_per_die: geometry.planes_per_die as usize,
            dies_per_chip: geometry.dies_per_chip as usize,
            flash: flash.clone(),
            on_die_controller,
            offsets: if flash.page_types == PageTypes::One { 1 } else { OFFSETS },
            ended: None,
        }
    }

    /// How long the array takes for an operation that reads the page at the offset `read` and programs the one at `programmed`.
    fn nominal(&self, kind: OperationKind, read: u32, programmed: u32) -> Time {
        let (read, program) = (page_times::read(&self.flash, read), page_times::program(&self.flash, programmed));
        let (array, packets) = match kind {
            OperationKind::Read => (read, 2),
            OperationKind::Program => (program, 1),
            OperationKind::Erase => (self.flash.erase_time, 1),
            OperationKind::Copyback => (read + program, 1),
        };
        array + self.on_die_controller * packets
    }

    /// Whether an operation on some pages takes `time`.
    fn may_take(&self, kind: OperationKind, time: Time) -> bool {
        let offsets = || 0..self.offsets;
        let mut pairs = offsets().flat_map(|read| offsets().map(move |programmed| (read, programmed)));
        pairs.any(|(read, programmed)| self.nominal(kind, read, programmed) == time)
    }

    /// A plane of the operation that ended last worked on the pages at these offsets in their blocks.
    pub(super) fn told(&self, id: DieId, read: u32, programmed: u32) -> Result<(), String> {
        let Some((_, kind, worked)) = self.ended.filter(|(die, ..)| *die == id) else { return Ok(()) };
        let nominal = self.nominal(kind, read, programmed);
        if worked == nominal {
            return Ok(());
        }
        let page = if kind == OperationKind::Read { read } else { programmed };
        Err(format!("die {} worked for {worked} on a {kind:?} of page {page}, which takes {nominal}", id.0))
    }

    /// Where the dies of a chip take turns, no other die of the chip works, holds data or has something suspended.
    fn other_dies_rest(&self, id: DieId, kind: OperationKind) -> Result<(), String> {
        if self.flash.die_interleaving {
            return Ok(());
        }
        let first = id.index() / self.dies_per_chip * self.dies_per_chip;
        for (number, other) in self.dies.iter().enumerate().skip(first).take(self.dies_per_chip) {
            if number == id.index() {
                continue;
            }
            let refuse =
                |why: String| Err(format!("die {} began a {kind:?}, but die {number} of its chip {why}", id.0));
            match other {
                Die { suspended: Some(operation), .. } => {
                    return refuse(format!("has a {:?} suspended", operation.kind));
                }
                Die { array: Array::Idle, register: 0, .. } => {}
                Die { array: Array::Idle, register, .. } => return refuse(format!("holds data of {register} planes")),
                Die { array, .. } => return refuse(format!("is {}", array.describe())),
            }
        }
        Ok(())
    }

    /// A die takes an operation over `planes` planes.
    pub(super) fn began(&mut self, id: DieId, kind: OperationKind, planes: usize) -> Result<(), String> {
        self.other_dies_rest(id, kind)?;
        let die = &mut self.dies[id.index()];
        let refuse = |why: String| Err(format!("die {} began a {kind:?}, but {why}", id.0));
        if !matches!(die.array, Array::Idle) {
            return refuse(format!("it is {}", die.array.describe()));
        }
        if die.register > 0 && !self.flash.read_cache {
            return refuse(format!("data of {} planes waits in its register", die.register));
        }
        if let Some(suspended) = die.suspended
            && kind != OperationKind::Read
        {
            return refuse(format!("a {:?} is suspended: only reads run meanwhile", suspended.kind));
        }
        let planes_max = if self.flash.multi_plane == MultiPlane::Off { 1 } else { self.planes_per_die };
        if planes == 0 || planes > planes_max {
            return refuse(format!("over {planes} planes; at most {planes_max} can join"));
        }
        let suspends = std::mem::take(&mut die.suspending);
        let nominal = Time::ZERO;
        die.array = Array::Incoming(Operation { kind, planes, nominal, worked: Time::ZERO, suspensions: 0, suspends });
        Ok(())
    }

    /// The array begins to work, until `until`.
    pub(super) fn array_began(&mut self, id: DieId, kind: OperationKind, now: Time, until: Time) -> Result<(), String> {
        let die = &self.dies[id.index()];
        let Array::Incoming(mut operation) = die.array else {
            return Err(format!("die {} works on a {kind:?}, but it is {}", id.0, die.array.describe()));
        };
        if operation.kind != kind {
            return Err(format!("die {} works on a {kind:?}, but began a {:?}", id.0, operation.kind));
        }
        let delay = if operation.suspends { self.flash.suspend_time } else { Time::ZERO };
        operation.nominal = until.saturating_sub(now + delay);
        if !self.may_take(kind, operation.nominal) {
            let nominal = self.nominal(kind, 0, 0);
            let expected = now + delay + nominal;
            return Err(format!(
                "die {}: a {kind:?} from {now} ends at {until}; it takes {nominal} after {delay}: {expected}",
                id.0
            ));
        }
        self.dies[id.index()].array = Array::Busy { operation, since: now + delay, until };
        Ok(())
    }

    /// The operation in the array is set aside.
    pub(super) fn suspended(&mut self, id: DieId, now: Time) -> Result<(), String> {
        let die = &mut self.dies[id.index()];
        let Array::Busy { mut operation, since, until } = die.array else {
            return Err(format!("die {} was suspended, but it is {}", id.0, die.array.describe()));
        };
        let refuse =
            |why: String| Err(format!("die {} was suspended in a {:?} at {now}, but {why}", id.0, operation.kind));
        let allowed = match operation.kind {
            OperationKind::Program => matches!(self.flash.suspension, Suspension::Program | Suspension::Both),
            OperationKind::Erase => matches!(self.flash.suspension, Suspension::Erase | Suspension::Both),
            OperationKind::Read | OperationKind::Copyback => false,
        };
        if !allowed {
            return refuse(format!("suspension is {:?}", self.flash.suspension));
        }
        if let Some(other) = die.suspended {
            return refuse(format!("a {:?} is suspended already", other.kind));
        }
        if operation.suspensions >= self.flash.suspensions_max {
            return refuse(format!("it was suspended {} times, the most allowed", operation.suspensions));
        }
        if now < since {
            return refuse(format!("it goes on at {since} only"));
        }
        if until.saturating_sub(now) <= self.flash.suspend_remaining_min {
            return refuse(format!("only {} are left", until.saturating_sub(now)));
        }
        operation.worked += now - since;
        operation.suspensions += 1;
        die.suspended = Some(operation);
        die.suspending = true;
        die.array = Array::Idle;
        Ok(())
    }

    /// The operation set aside goes on, until `until`.
    pub(super) fn resumed(&mut self, id: DieId, now: Time, until: Time) -> Result<(), String> {
        let die = &self.dies[id.index()];
        if !matches!(die.array, Array::Idle) || (die.register > 0 && !self.flash.read_cache) {
            return Err(format!(
                "die {} resumed at {now}, but it is {} with data of {} planes in its register",
                id.0,
                die.array.describe(),
                die.register
            ));
        }
        let Some(operation) = die.suspended else {
            return Err(format!("die {} resumed at {now}, but nothing is suspended", id.0));
        };
        let since = now + self.flash.resume_time;
        let remaining = operation.nominal.saturating_sub(operation.worked);
        if until != since + remaining {
            return Err(format!(
                "die {}: a {:?} that worked for {} goes on from {since} until {until}; {remaining} are left: {}",
                id.0,
                operation.kind,
                operation.worked,
                since + remaining
            ));
        }
        let die = &mut self.dies[id.index()];
        die.suspended = None;
        die.suspending = false;
        die.array = Array::Busy { operation, since, until };
        Ok(())
    }

    /// The array is done.
    pub(super) fn array_ended(&mut self, id: DieId, now: Time) -> Result<(), String> {
        let die = &self.dies[id.index()];
        let Array::Busy { operation, since, until } = die.array else {
            return Err(format!("die {} ended its work at {now}, but it is {}", id.0, die.array.describe()));
        };
        if now != until {
            return Err(format!("die {} ended a {:?} at {now}, due at {until}", id.0, operation.kind));
        }
        let (worked, nominal) = (operation.worked + (now - since), operation.nominal);
        if worked != nominal {
            return Err(format!(
                "die {} ended a {:?} after {worked} of work; it takes {nominal}",
                id.0, operation.kind
            ));
        }
        self.ended = Some((id, operation.kind, worked));
        let die = &mut self.dies[id.index()];
        die.array = Array::Idle;
        if operation.kind == OperationKind::Read {
            if die.register == 0 {
                die.register = operation.planes;
            } else {
                die.array = Array::Holding(operation);
            }
        }
        Ok(())
    }

    /// Whether a die of the chip that `id` is on does something, or holds data.
    pub(super) fn chip_works(&self, id: DieId) -> bool {
        let first = id.index() / self.dies_per_chip * self.dies_per_chip;
        self.dies[first..first + self.dies_per_chip]
            .iter()
            .any(|die| !matches!(die.array, Array::Idle) || die.register > 0)
    }

    /// The data of one plane has left the register.
    pub(super) fn data_left(&mut self, id: DieId) -> Result<(), String> {
        let die = &mut self.dies[id.index()];
        if die.register == 0 {
            return Err(format!("data left die {}, but its register is empty", id.0));
        }
        die.register -= 1;
        if die.register == 0
            && let Array::Holding(operation) = die.array
        {
            die.register = operation.planes;
            die.array = Array::Idle;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::super::Oracles;
    use super::super::planted::{assert_fails, assert_silent, config, oracles, oracles_with, us};
    use crate::config::{Config, PageTypes, Suspension};
    use crate::flash::die::OperationKind::{self, Erase, Program, Read};
    use crate::ids::{DieId, Lpn, Ppn};
    use crate::units::Time;

    const DIE: DieId = DieId(1);

    fn begin(oracles: &mut Oracles, kind: OperationKind, planes: usize, now: Time, until: Time) {
        oracles.operation_began(DIE, kind, planes, now);
        oracles.array_began(DIE, kind, now, until);
    }

    /// The array is done with a read over `planes` planes.
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

    /// A program of 100 us from zero that is suspended at 30 us.
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
        oracles.data_left(DIE, us(5));
        oracles.data_left(DIE, us(6));
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
        oracles.data_left(DIE, us(7));
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
        oracles.data_left(DIE, us(5));
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

    /// Two dies a chip, of which one works at a time; pages of two bits a cell.
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
                oracles.data_left(DIE, free_at);
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
        oracles.data_left(DIE, us(1));
        assert_fails(&oracles, "dies", "data left die 1, but its register is empty");
    }

    #[test]
    fn a_suspended_program_that_does_the_rest_of_its_work_is_right() {
        let mut oracles = suspended_program();
        // The first read waits 5 us for the suspension, the second for nothing; the program resumes within 5 us.
        for (start, until) in [(30, 38), (40, 43)] {
            begin(&mut oracles, Read, 1, us(start), us(until));
            end_read(&mut oracles, 1, us(until));
            oracles.data_left(DIE, us(until + 1));
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
}
