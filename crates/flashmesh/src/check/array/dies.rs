//! Oracle `dies`: a die does one operation at a time, each operation takes the array time of its kind and pages, and a suspended operation keeps its
//! progress. Without die interleaving, one die of a chip works at a time. Each plane that reads independently has a state machine. With suspension of
//! whole chips, only reads run on a suspended chip until all of its dies resume. The oracle has a state machine for each die, and computes times anew
//! from the configuration.

use std::ops::Range;

use rustc_hash::FxHashSet;

use crate::check::arithmetic::{ArrayTree, ExpectedTimes, PageAt, in_units, pages_per_unit};
use crate::check::expected_fabrics::ExpectedFabric;
use crate::config::{self, Config, DieStart, FabricKind, MultiPlane, Suspension, SuspensionScope};
use crate::flash::die::{Extent, OperationKind};
use crate::ids::DieId;
use crate::units::{Bytes, Time};

use super::array_unit::ArrayUnit;
use independent_planes::independent_planes;

#[derive(Clone, Copy, Debug)]
struct Operation {
    kind: OperationKind,
    planes: usize,
    /// Array time of the operation for its pages, without suspensions; 0 until the array work starts.
    nominal: Time,
    worked: Time,
    suspensions: u32,
    /// Time for which the array work must wait until another operation is suspended; zero if none is being suspended.
    delay: Time,
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
    /// A finished read, whose data waits until the page register is empty.
    Holding(Operation),
}

#[derive(Clone, Copy, Debug, Default)]
struct Die {
    array: Array,
    register: usize,
    suspended: Option<Operation>,
    /// Whether the array time of the next read of the die must include the time to suspend the operation in `suspended`.
    suspending: bool,
    /// Time at which an operation of the die was last suspended.
    suspended_at: Time,
    /// Duration of the most recent suspension of the die: the operation works on until its next point of suspension, then `flash.suspend-time` passes.
    suspension_time: Time,
}

#[derive(Clone, Debug)]
pub(in super::super) struct Dies {
    dies: Vec<Die>,
    /// State machines of the planes that read independently, in the order of the dies; empty if every operation occupies a whole die.
    planes: Vec<Die>,
    homes: ArrayTree,
    flash: config::Flash,
    /// Whether the interconnect is NoSSD, in which each die is suspended on its own.
    is_network: bool,
    times: ExpectedTimes,
    /// For each kind of operation, its possible array times on mapping units of several pages; `None` if units are at most a page.
    large_units: Option<[FxHashSet<Time>; OperationKind::ALL.len()]>,
    /// Bytes of user data in an array page.
    page: u64,
    ended: Option<Ended>,
}

/// The operation that ended last on any die.
#[derive(Clone, Copy, Debug)]
struct Ended {
    die: DieId,
    kind: OperationKind,
    planes: usize,
    worked: Time,
}

impl Die {
    /// Returns whether an operation may begin: the array is idle, and the page register is empty or the die has a cache register
    /// (`read_cache`).
    fn is_free(&self, read_cache: bool) -> bool {
        matches!(self.array, Array::Idle) && (self.register == 0 || read_cache)
    }
}

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
    pub(in super::super) const NAME: &'static str = "dies";

    pub(in super::super) fn new(expected: &ExpectedFabric, config: &Config) -> Dies {
        let (homes, times) = (ArrayTree::new(&in_units(config)), ExpectedTimes::new(expected, config));
        Dies {
            dies: vec![Die::default(); homes.dies()],
            planes: independent_planes(config, &homes),
            homes,
            flash: crate::config::Flash { suspension: config.suspension(), ..config.flash.clone() },
            large_units: (pages_per_unit(config) > 1)
                .then(|| OperationKind::ALL.map(|kind| times.of_large_units(kind))),
            page: config.geometry.page_size.as_u64(),
            is_network: config.fabric.kind == FabricKind::Nossd,
            times,
            ended: None,
        }
    }

    fn may_take(&self, kind: OperationKind, time: Time) -> bool {
        if let Some(large) = &self.large_units {
            return large[kind.index()].contains(&time);
        }
        let pages = || self.times.kinds_of_pages();
        let mut pairs = pages().flat_map(|read| pages().map(move |programmed| (read, programmed)));
        pairs.any(|(read, programmed)| self.times.array(kind, read, programmed) == time)
    }

    /// Checks the array time of the last operation of die `id` against the pages that it read and programmed in one of its planes.
    pub(in super::super) fn check_page_time(&self, id: DieId, read: PageAt, programmed: PageAt) -> Result<(), String> {
        let Some(Ended { kind, worked, .. }) = self.ended.filter(|ended| ended.die == id) else { return Ok(()) };
        let nominal = self.times.array(kind, read, programmed);
        if worked == nominal {
            return Ok(());
        }
        let page = match if kind == OperationKind::Read { read } else { programmed } {
            PageAt::Native(page) => format!("page {page}"),
            PageAt::Slc => "a page of the SLC cache".to_owned(),
        };
        Err(format!("die {} worked for {worked} on a {kind:?} of {page}, which takes {nominal}", id.0))
    }

    /// Returns the array time of the operation that ended last in the drive; 0 if this was not an operation of die `id`.
    pub(in super::super) fn worked(&self, id: DieId) -> Time {
        self.ended.filter(|ended| ended.die == id).map_or(Time::ZERO, |ended| ended.worked)
    }

    /// Checks the array time of the last operation of die `id` against one of its mapping units, each of several pages. An operation of several
    /// planes takes the time of its slowest unit. `sensed` is the part of the unit that a read covers; `None` if unknown.
    pub(in super::super) fn check_unit_time(
        &self,
        id: DieId,
        read: Option<PageAt>,
        programmed: Option<PageAt>,
        sensed: Option<Range<Bytes>>,
    ) -> Result<(), String> {
        let Some(Ended { kind, planes, worked, .. }) = self.ended.filter(|ended| ended.die == id) else {
            return Ok(());
        };
        let once = self.times.decoding(kind);
        let nominal = match (kind, read, programmed, sensed) {
            (OperationKind::Read, Some(unit), _, Some(sensed)) => {
                let (first, end) = (sensed.start.as_u64() / self.page, sensed.end.as_u64().div_ceil(self.page));
                once + self.times.read_of_unit(unit, first as u32, (end - first) as u32)
            }
            (OperationKind::Program, _, Some(unit), _) => once + self.times.program_of_unit(unit),
            (OperationKind::Copyback, Some(from), Some(to), _) => once + self.times.copyback_of_unit(from, to),
            _ => return Ok(()),
        };
        if worked == nominal || (planes > 1 && worked > nominal) {
            return Ok(());
        }
        Err(format!("die {} worked for {worked} on a {kind:?} of a mapping unit, which takes {nominal}", id.0))
    }

    /// Returns the dies that are suspended together with die `id`, including `id` itself: all dies of the chip if whole chips are
    /// suspended.
    fn suspended_with(&self, id: DieId) -> impl Iterator<Item = DieId> + use<> {
        let flash = &self.flash;
        let is_of_chip = flash.die_interleaving
            && flash.die_start == DieStart::Together
            && !self.is_network
            && flash.suspension_scope == SuspensionScope::Chip;
        let chip = self.homes.dies_of(self.homes.chip_of_die(id));
        chip.filter(move |&die| is_of_chip || die == id)
    }

    /// Checks that all other dies of the chip are idle, without data in a register and without a suspended operation. Checks nothing with
    /// die interleaving, because dies then work at the same time.
    fn check_other_dies_idle(&self, id: DieId, kind: OperationKind) -> Result<(), String> {
        if self.flash.die_interleaving {
            return Ok(());
        }
        for other in self.homes.dies_of(self.homes.chip_of_die(id)).filter(|other| *other != id) {
            let number = other.0;
            let refuse =
                |why: String| Err(format!("die {} began a {kind:?}, but die {number} of its chip {why}", id.0));
            if let Some(plane) = self.planes_of(other).iter().find(|plane| !plane.is_free(false)) {
                return refuse(format!(
                    "has a plane that is {} with data of {}",
                    plane.array.describe(),
                    plane.register
                ));
            }
            match &self.dies[other.index()] {
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

    pub(in super::super) fn began(
        &mut self,
        at: ArrayUnit,
        kind: OperationKind,
        planes: usize,
        now: Time,
    ) -> Result<(), String> {
        let id = at.die;
        self.check_other_dies_idle(id, kind)?;
        let refuse = |why: String| Err(format!("{at} began a {kind:?}, but {why}"));
        self.check_other_units(at, kind).or_else(refuse)?;
        let suspended = self.suspended_with(id).find_map(|die| self.dies[die.index()].suspended);
        if let Some(suspended) = suspended
            && kind != OperationKind::Read
        {
            return refuse(format!("a {:?} is suspended: only reads run meanwhile", suspended.kind));
        }
        // If a single die is suspended, the next read of this die includes the time to suspend. If the whole chip is suspended, or planes
        // read independently, every read that begins before the suspension is complete includes this time.
        let own = std::mem::take(&mut self.dies[id.index()].suspending);
        // A chip is suspended once its last die is.
        let together = self.suspended_with(id).map(|die| &self.dies[die.index()]);
        let pending = together.filter(|die| die.suspended.is_some()).max_by_key(|die| die.suspension_time);
        let pending = pending.filter(|die| now < die.suspended_at + die.suspension_time);
        let is_chip = self.suspended_with(id).count() > 1;
        let delay = match pending {
            Some(die) if is_chip || !self.planes.is_empty() => die.suspension_time,
            _ if own && !is_chip && self.planes.is_empty() => self.dies[id.index()].suspension_time,
            _ => Time::ZERO,
        };
        let (read_cache, multi_plane) = (self.flash.read_cache, self.flash.multi_plane);
        let planes_max = match (multi_plane, at.extent) {
            (MultiPlane::Off, _) | (_, Extent::Plane(_)) => 1,
            _ => self.homes.planes_per_die(),
        };
        let die = self.unit_mut(at);
        if !matches!(die.array, Array::Idle) {
            return refuse(format!("it is {}", die.array.describe()));
        }
        if die.register > 0 && !read_cache {
            return refuse(format!("data of {} planes waits in its register", die.register));
        }
        if planes == 0 || planes > planes_max {
            return refuse(format!("over {planes} planes; at most {planes_max} can join"));
        }
        let nominal = Time::ZERO;
        die.array = Array::Incoming(Operation { kind, planes, nominal, worked: Time::ZERO, suspensions: 0, delay });
        Ok(())
    }

    pub(in super::super) fn array_began(
        &mut self,
        at: ArrayUnit,
        kind: OperationKind,
        now: Time,
        until: Time,
    ) -> Result<(), String> {
        let array = self.unit(at).array;
        let Array::Incoming(mut operation) = array else {
            return Err(format!("{at} works on a {kind:?}, but it is {}", array.describe()));
        };
        if operation.kind != kind {
            return Err(format!("{at} works on a {kind:?}, but began a {:?}", operation.kind));
        }
        let delay = operation.delay;
        operation.nominal = until.saturating_sub(now + delay);
        if !self.may_take(kind, operation.nominal) {
            let nominal = self.times.array(kind, PageAt::Native(0), PageAt::Native(0));
            let expected = now + delay + nominal;
            return Err(format!(
                "{at}: a {kind:?} from {now} ends at {until}; it takes {nominal} after {delay}: {expected}"
            ));
        }
        self.unit_mut(at).array = Array::Busy { operation, since: now + delay, until };
        Ok(())
    }

    pub(in super::super) fn suspended(&mut self, id: DieId, now: Time) -> Result<(), String> {
        let die = &mut self.dies[id.index()];
        let Array::Busy { mut operation, since, .. } = die.array else {
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
        let (worked, interval) = (operation.worked + (now - since), self.flash.suspend_interval);
        // The operation works on until its next point of suspension, unless it is at one.
        let points = if interval == Time::ZERO { 0 } else { worked.as_ps().div_ceil(interval.as_ps()) };
        let point = worked.max(interval * points);
        let left = operation.nominal.saturating_sub(point);
        if left <= self.flash.suspend_remaining_min {
            return refuse(format!("only {left} are left"));
        }
        operation.worked = point;
        operation.suspensions += 1;
        die.suspended = Some(operation);
        die.suspending = true;
        die.suspended_at = now;
        die.suspension_time = point - worked + self.flash.suspend_time;
        die.array = Array::Idle;
        Ok(())
    }

    pub(in super::super) fn resumed(&mut self, id: DieId, now: Time, until: Time) -> Result<(), String> {
        if let Some(plane) = self.planes_of(id).iter().find(|plane| !plane.is_free(self.flash.read_cache)) {
            return Err(format!("die {} resumed at {now}, but one of its planes is {}", id.0, plane.array.describe()));
        }
        let die = &self.dies[id.index()];
        if !die.is_free(self.flash.read_cache) {
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
        let reached = die.suspended_at + (die.suspension_time - self.flash.suspend_time);
        let since = now.max(reached) + self.flash.resume_time;
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

    pub(in super::super) fn array_ended(&mut self, at: ArrayUnit, now: Time) -> Result<(), String> {
        let array = self.unit(at).array;
        let Array::Busy { operation, since, until } = array else {
            return Err(format!("{at} ended its work at {now}, but it is {}", array.describe()));
        };
        if now != until {
            return Err(format!("{at} ended a {:?} at {now}, due at {until}", operation.kind));
        }
        let (worked, nominal) = (operation.worked + (now - since), operation.nominal);
        if worked != nominal {
            return Err(format!("{at} ended a {:?} after {worked} of work; it takes {nominal}", operation.kind));
        }
        self.ended = Some(Ended { die: at.die, kind: operation.kind, planes: operation.planes, worked });
        let die = self.unit_mut(at);
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

    pub(in super::super) fn chip_works(&self, id: DieId) -> bool {
        let mut dies = self.homes.dies_of(self.homes.chip_of_die(id));
        dies.any(|die| {
            let mut units = self.planes_of(die).iter().chain([&self.dies[die.index()]]);
            units.any(|unit| !unit.is_free(false))
        })
    }

    pub(in super::super) fn release_register(&mut self, at: ArrayUnit) -> Result<(), String> {
        let die = self.unit_mut(at);
        if die.register == 0 {
            return Err(format!("data left {at}, but its register is empty"));
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

mod independent_planes;
#[cfg(test)]
mod tests;
