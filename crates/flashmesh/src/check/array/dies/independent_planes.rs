//! Checks of which operations overlap on a die whose planes read independently (`flash.multi-plane = "independent"`).

use crate::check::arithmetic::ArrayTree;
use crate::check::array::array_unit::ArrayUnit;
use crate::config::{Config, MultiPlane};
use crate::flash::die::{Extent, OperationKind};
use crate::ids::DieId;

use super::{Array, Die, Dies};

/// Returns an idle state machine for each plane of all dies, if the planes read independently; otherwise an empty list.
pub(super) fn independent_planes(config: &Config, homes: &ArrayTree) -> Vec<Die> {
    let is_alone = config.flash.multi_plane == MultiPlane::Independent && homes.planes_per_die() > 1;
    vec![Die::default(); if is_alone { homes.dies() * homes.planes_per_die() } else { 0 }]
}

impl Dies {
    /// Returns the state machines of the planes of `die`; empty if planes do not read independently.
    pub(super) fn planes_of(&self, die: DieId) -> &[Die] {
        if self.planes.is_empty() {
            return &[];
        }
        let count = self.homes.planes_per_die();
        &self.planes[die.index() * count..][..count]
    }

    pub(super) fn unit(&self, at: ArrayUnit) -> &Die {
        match at.extent {
            Extent::Plane(plane) if !self.planes.is_empty() => &self.planes_of(at.die)[usize::from(plane)],
            _ => &self.dies[at.die.index()],
        }
    }

    pub(super) fn unit_mut(&mut self, at: ArrayUnit) -> &mut Die {
        match at.extent {
            Extent::Plane(plane) if !self.planes.is_empty() => {
                let count = self.homes.planes_per_die();
                &mut self.planes[at.die.index() * count + usize::from(plane)]
            }
            _ => &mut self.dies[at.die.index()],
        }
    }

    /// Checks that an operation of `kind` may begin at `at`, given the other planes of the die. A read may begin only while the die does no
    /// other kind of operation and receives no command, and at most `flash.plane-reads-max` reads run at once. Every other operation may
    /// begin only while no plane reads.
    pub(super) fn check_other_units(&self, at: ArrayUnit, kind: OperationKind) -> Result<(), String> {
        let planes = self.planes_of(at.die);
        if planes.is_empty() {
            return match at.extent {
                Extent::Die => Ok(()),
                Extent::Plane(_) => Err("its planes are not independent".to_owned()),
            };
        }
        if (kind == OperationKind::Read) != matches!(at.extent, Extent::Plane(_)) {
            return Err("reads are of one plane, and all other operations of the die".to_owned());
        }
        if kind != OperationKind::Read {
            let busy = planes.iter().find(|plane| !plane.is_free(self.flash.read_cache));
            return busy.map_or(Ok(()), |plane| Err(format!("one of its planes is {}", plane.array.describe())));
        }
        let whole = &self.dies[at.die.index()];
        if !matches!(whole.array, Array::Idle) {
            return Err(format!("the die is {}", whole.array.describe()));
        }
        if planes.iter().any(|plane| matches!(plane.array, Array::Incoming(_))) {
            return Err("the command of another plane is in transfer".to_owned());
        }
        let at_work = planes.iter().filter(|plane| matches!(plane.array, Array::Busy { .. })).count();
        let at_most = self.flash.plane_reads_max.map_or(planes.len(), |planes| planes as usize);
        if at_work >= at_most {
            return Err(format!("{at_work} planes read already, and at most {at_most} may"));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::check::Oracles;
    use crate::check::histories::{assert_fails, assert_silent, config, oracles_with, us};
    use crate::config::Suspension;
    use crate::flash::die::OperationKind::{Program, Read};
    use crate::ids::{Lpn, Ppn};

    const DIE: DieId = DieId(1);
    const PLANES: [(DieId, Extent); 2] = [(DIE, Extent::Plane(0)), (DIE, Extent::Plane(1))];

    fn oracles() -> Oracles {
        let mut config = config();
        config.flash.multi_plane = MultiPlane::Independent;
        config.flash.suspension = Suspension::Program;
        oracles_with(&config)
    }

    fn begin(oracles: &mut Oracles, at: impl Into<ArrayUnit>, kind: OperationKind, now: u64, until: u64) {
        let at = at.into();
        oracles.operation_began(at, kind, 1, us(now));
        oracles.array_began(at, kind, us(now), us(until));
    }

    #[test]
    fn planes_that_read_beside_each_other_before_a_program_are_right() {
        let mut oracles = oracles();
        begin(&mut oracles, PLANES[0], Read, 0, 3);
        begin(&mut oracles, PLANES[1], Read, 1, 4);
        for (plane, now) in [(0, 3), (1, 4)] {
            oracles.array_ended(PLANES[plane], us(now));
            oracles.page_read(Ppn(64 + 32 * plane as u32), Lpn(plane as u32), None, us(now));
        }
        PLANES.into_iter().for_each(|plane| oracles.data_out_ended(plane, us(5)));
        begin(&mut oracles, DIE, Program, 5, 105);
        assert_silent(&oracles);
    }

    #[test]
    fn work_of_the_die_beside_reads_of_its_planes_is_caught() {
        let mut program = oracles();
        begin(&mut program, PLANES[0], Read, 0, 3);
        program.operation_began(DIE, Program, 1, us(1));
        assert_fails(&program, "dies", "die 1 began a Program, but one of its planes is busy with a Read");

        let mut read = oracles();
        begin(&mut read, DIE, Program, 0, 100);
        read.operation_began(PLANES[1], Read, 1, us(1));
        assert_fails(&read, "dies", "plane 1 of die 1 began a Read, but the die is busy with a Program");

        let mut resumed = oracles();
        begin(&mut resumed, DIE, Program, 0, 100);
        resumed.suspended(DIE, us(10));
        begin(&mut resumed, PLANES[0], Read, 10, 18);
        resumed.resumed(DIE, us(12), us(107));
        assert_fails(&resumed, "dies", "die 1 resumed at 12us, but one of its planes is busy with a Read");
    }

    #[test]
    fn two_reads_of_a_plane_or_two_commands_at_once_are_caught() {
        let mut twice = oracles();
        begin(&mut twice, PLANES[0], Read, 0, 3);
        twice.operation_began(PLANES[0], Read, 1, us(1));
        assert_fails(&twice, "dies", "plane 0 of die 1 began a Read, but it is busy with a Read");

        let mut commands = oracles();
        commands.operation_began(PLANES[0], Read, 1, us(0));
        commands.operation_began(PLANES[1], Read, 1, us(0));
        assert_fails(&commands, "dies", "the command of another plane is in transfer");
    }

    #[test]
    fn more_reads_at_once_than_allowed_and_reads_of_the_whole_die_are_caught() {
        let mut config = config();
        config.flash.multi_plane = MultiPlane::Independent;
        config.flash.plane_reads_max = Some(1);
        let mut many = oracles_with(&config);
        begin(&mut many, PLANES[0], Read, 0, 3);
        many.operation_began(PLANES[1], Read, 1, us(1));
        assert_fails(&many, "dies", "1 planes read already, and at most 1 may");

        let mut whole = oracles();
        whole.operation_began(DIE, Read, 1, us(0));
        assert_fails(&whole, "dies", "reads are of one plane, and all other operations of the die");

        config.flash.multi_plane = MultiPlane::SameOffset;
        let mut joint = oracles_with(&config);
        joint.operation_began(PLANES[0], Read, 1, us(0));
        assert_fails(&joint, "dies", "its planes are not independent");
    }
}
