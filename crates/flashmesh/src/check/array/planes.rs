//! Oracle `planes`: an operation has the announced kind and number of planes, with one page for each plane, and only planes that the multi-plane rule
//! lets join. A read may cover several mapping units of a page, a program several units. The oracle collects the pages reported after each operation.

use rustc_hash::FxHashMap;

use crate::check::arithmetic::{ArrayTree, SlcArea, in_units, units_per_page, units_per_program};
use crate::config::{Config, MultiPlane};
use crate::flash::die::{Extent, OperationKind};
use crate::ids::{BlockId, DieId, PlaneId, Ppn};

use super::array_unit::ArrayUnit;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Done {
    plane: PlaneId,
    block_in_plane: u32,
    page: u32,
    is_slc: bool,
}

#[derive(Clone, Debug)]
struct Ended {
    at: ArrayUnit,
    kind: OperationKind,
    planes: usize,
}

#[derive(Clone, Debug)]
pub(in super::super) struct Planes {
    homes: ArrayTree,
    slc: SlcArea,
    rule: MultiPlane,
    /// Maximum number of mapping units in each plane of a read (the units of a page), and in each plane of a program.
    units: (u32, u32),
    /// For each die, or each plane that reads independently, the operation that began last and its number of planes. Suspended operations
    /// are in `suspended` instead.
    begun: FxHashMap<ArrayUnit, (OperationKind, usize)>,
    suspended: FxHashMap<DieId, (OperationKind, usize)>,
    ended: Option<Ended>,
    done: Vec<Done>,
    /// Old locations of the mapping units moved by the latest copyback, added as each move is reported.
    copied_back: Vec<Ppn>,
}

impl Planes {
    pub(in super::super) const NAME: &'static str = "planes";

    pub(in super::super) fn new(config: &Config) -> Planes {
        let (homes, slc) = (ArrayTree::new(&in_units(config)), SlcArea::new(config));
        Planes {
            homes,
            slc,
            rule: config.flash.multi_plane,
            units: (units_per_page(config), units_per_program(config)),
            begun: FxHashMap::default(),
            suspended: FxHashMap::default(),
            ended: None,
            done: Vec::new(),
            copied_back: Vec::new(),
        }
    }

    pub(in super::super) fn began(&mut self, at: ArrayUnit, kind: OperationKind, planes: usize) {
        self.begun.insert(at, (kind, planes));
    }

    pub(in super::super) fn suspended(&mut self, die: DieId) {
        if let Some(operation) = self.begun.remove(&die.into()) {
            self.suspended.insert(die, operation);
        }
    }

    pub(in super::super) fn resumed(&mut self, die: DieId) {
        if let Some(operation) = self.suspended.remove(&die) {
            self.begun.insert(die.into(), operation);
        }
    }

    pub(in super::super) fn array_ended(&mut self, at: ArrayUnit) -> Result<(), String> {
        let outcome = self.copyback_settled().and(self.settled());
        let operation = self.begun.remove(&at);
        self.ended = operation.map(|(kind, planes)| Ended { at, kind, planes });
        self.done.clear();
        outcome
    }

    /// Checks that the last copyback has moved all mapping units of one program.
    fn copyback_settled(&mut self) -> Result<(), String> {
        let moved = std::mem::take(&mut self.copied_back);
        let Some(&first) = moved.first() else { return Ok(()) };
        let (units, block) = (self.units.1, self.homes.block_of(first));
        let program = self.homes.page_in_block(first) / units;
        let is_of_program =
            |unit: &Ppn| self.homes.block_of(*unit) == block && self.homes.page_in_block(*unit) / units == program;
        if moved.len() == units as usize && moved.iter().all(is_of_program) {
            return Ok(());
        }
        Err(format!("a copyback moved {} units from page {} on, not the {units} of a program", moved.len(), first.0))
    }

    pub(in super::super) fn settled(&mut self) -> Result<(), String> {
        match self.ended.take() {
            Some(Ended { at, kind, planes }) if self.done.len() != planes => {
                let done = self.done.len();
                Err(format!("{at} ended a {kind:?} over {planes} planes, and {done} did something"))
            }
            _ => Ok(()),
        }
    }

    pub(in super::super) fn read(&mut self, ppn: Ppn) -> Result<(), String> {
        self.page(ppn, &[OperationKind::Read], "read")
    }

    /// Checks a page that the last operation programmed. `from` is the old location of a moved page; `None` for other pages.
    pub(in super::super) fn programmed(&mut self, ppn: Ppn, from: Option<Ppn>) -> Result<(), String> {
        if let (Some(from), Some(Ended { kind: OperationKind::Copyback, .. })) = (from, &self.ended)
            && self.homes.plane_of(from) != self.homes.plane_of(ppn)
        {
            return Err(format!("a copyback moved page {} to page {}, which is in another plane", from.0, ppn.0));
        }
        if let (Some(from), Some(Ended { kind: OperationKind::Copyback, .. })) = (from, &self.ended) {
            self.copied_back.push(from);
        }
        self.page(ppn, &[OperationKind::Program, OperationKind::Copyback], "programmed")
    }

    pub(in super::super) fn erased(&mut self, block: BlockId) -> Result<(), String> {
        self.page(self.homes.ppn(block, 0), &[OperationKind::Erase], "erased")
    }

    fn page(&mut self, ppn: Ppn, kinds: &[OperationKind], did: &str) -> Result<(), String> {
        let (block, plane, die) = (self.homes.block_of(ppn), self.homes.plane_of(ppn), self.homes.die_of(ppn));
        let is_slc = self.slc.holds(ppn);
        let is_one_page = is_slc || kinds.contains(&OperationKind::Read);
        let units = if is_one_page { self.units.0 } else { self.units.1 };
        let page = self.homes.page_in_block(ppn) / units;
        let done = Done { plane, block_in_plane: self.homes.block_in_plane(block), page, is_slc };
        let place = || format!("page {page} of block {} in plane {} of die {} was {did}", block.0, plane.0, die.0);
        let Some(ended) = &self.ended else { return Err(format!("{}, but no operation has ended", place())) };
        let is_of_unit = match ended.at.extent {
            Extent::Die => ended.at.die == die,
            Extent::Plane(own) => ended.at.die == die && self.homes.plane_in_die(plane) == u32::from(own),
        };
        if !is_of_unit || !kinds.contains(&ended.kind) {
            return Err(format!("{}, but what ended is a {:?} of {}", place(), ended.kind, ended.at));
        }
        if units > 1 && self.done.contains(&done) {
            return Ok(());
        }
        if self.done.len() == ended.planes {
            return Err(format!(
                "{}, but the {:?} that ended is over {} planes only",
                place(),
                ended.kind,
                ended.planes
            ));
        }
        if let Some(lead) = self.done.first() {
            let joins = match self.rule {
                MultiPlane::Off => false,
                MultiPlane::Independent if ended.kind == OperationKind::Read => false,
                MultiPlane::SameOffset | MultiPlane::Independent => lead.page == page,
                MultiPlane::SameBlockAndOffset => lead.page == page && lead.block_in_plane == done.block_in_plane,
            };
            if !joins || self.done.iter().any(|other| other.plane == plane || other.is_slc != is_slc) {
                return Err(format!(
                    "{} together with page {} of block {} in plane {}; the rule is {:?}",
                    place(),
                    lead.page,
                    self.homes.block(lead.plane, lead.block_in_plane).0,
                    lead.plane.0,
                    self.rule
                ));
            }
        }
        self.done.push(done);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::Planes;
    use crate::check::histories::{
        assert_fails, assert_silent, config, oracles, oracles_of_a_full_drive, oracles_with, us,
    };
    use crate::check::{Oracles, Origin};
    use crate::config::{MultiPlane, PreconditionKind};
    use crate::flash::die::OperationKind::{self, Copyback, Erase, Program, Read};
    use crate::ids::{BlockId, DieId, Lpn, Ppn};
    use crate::units::{Bytes, Time};

    /// Page in block 1 of plane 0 of die 0.
    const IN_PLANE_0: Ppn = Ppn(4);
    const IN_PLANE_1: Ppn = Ppn(36);
    const IN_PLANE_1_NEXT_BLOCK: Ppn = Ppn(40);

    fn ended(oracles: &mut Oracles, kind: OperationKind, planes: usize, until: u64) -> Time {
        oracles.operation_began(DieId(0), kind, planes, us(0));
        oracles.array_began(DieId(0), kind, us(0), us(until));
        oracles.array_ended(DieId(0), us(until));
        us(until)
    }

    fn read_two(rule: MultiPlane, second: Ppn) -> Oracles {
        let mut config = config();
        config.flash.multi_plane = rule;
        let mut oracles = oracles_with(&config);
        let now = ended(&mut oracles, Read, 2, 3);
        oracles.page_read(IN_PLANE_0, Lpn(1), None, now);
        oracles.page_read(second, Lpn(2), None, now);
        oracles
    }

    /// Checks a copyback of mapping units, given as (old, new) locations, with two units per page.
    fn copied_back(moved: &[(u32, u32)]) -> Result<(), String> {
        let mut config = config();
        config.ftl.mapping_unit = Some(Bytes::new(config.geometry.page_size.as_u64() / 2));
        let mut planes = Planes::new(&config);
        planes.began(DieId(0).into(), Copyback, 1);
        planes.array_ended(DieId(0).into())?;
        for &(from, to) in moved {
            planes.programmed(Ppn(to), Some(Ppn(from)))?;
        }
        planes.array_ended(DieId(0).into())
    }

    #[test]
    fn a_copyback_of_a_part_of_a_program_or_of_units_of_two_is_caught() {
        assert_eq!(copied_back(&[(4, 16), (5, 17)]), Ok(()));
        let of = |count| format!("a copyback moved {count} units from page 4 on, not the 2 of a program");
        assert_eq!(copied_back(&[(4, 16)]), Err(of(1)));
        assert_eq!(copied_back(&[(4, 16), (6, 17)]), Err(of(2)));
    }

    #[test]
    fn pages_that_the_rule_lets_join_are_right() {
        for rule in [MultiPlane::SameOffset, MultiPlane::SameBlockAndOffset] {
            assert_silent(&read_two(rule, IN_PLANE_1));
        }
        assert_silent(&read_two(MultiPlane::SameOffset, IN_PLANE_1_NEXT_BLOCK));
    }

    #[test]
    fn pages_at_different_offsets_are_caught() {
        let message = "page 1 of block 9 in plane 1 of die 0 was read together with page 0 of block 1 in plane 0; \
                       the rule is SameOffset";
        assert_fails(&read_two(MultiPlane::SameOffset, Ppn(37)), "planes", message);
    }

    #[test]
    fn pages_of_different_blocks_are_caught_where_they_must_agree() {
        let message = "page 0 of block 10 in plane 1 of die 0 was read together with page 0 of block 1";
        assert_fails(&read_two(MultiPlane::SameBlockAndOffset, IN_PLANE_1_NEXT_BLOCK), "planes", message);
    }

    #[test]
    fn two_pages_of_one_plane_are_caught() {
        let message = "page 0 of block 2 in plane 0 of die 0 was read together with page 0 of block 1 in plane 0";
        assert_fails(&read_two(MultiPlane::SameOffset, Ppn(8)), "planes", message);
    }

    #[test]
    fn a_plane_that_joined_and_did_nothing_is_caught() {
        let mut oracles = oracles();
        let now = ended(&mut oracles, Read, 2, 3);
        oracles.page_read(IN_PLANE_0, Lpn(1), None, now);
        oracles.data_out_ended(DieId(0), now);
        oracles.data_out_ended(DieId(0), now);
        oracles.operation_began(DieId(0), Read, 1, us(3));
        oracles.array_began(DieId(0), Read, us(3), us(6));
        oracles.array_ended(DieId(0), us(6));
        assert_fails(&oracles, "planes", "die 0 ended a Read over 2 planes, and 1 did something");
    }

    #[test]
    fn more_pages_than_planes_are_caught() {
        let mut oracles = oracles();
        let now = ended(&mut oracles, Read, 1, 3);
        oracles.page_read(IN_PLANE_0, Lpn(1), None, now);
        oracles.page_read(IN_PLANE_1, Lpn(2), None, now);
        assert_fails(&oracles, "planes", "was read, but the Read that ended is over 1 planes only");
    }

    #[test]
    fn a_page_of_another_die_or_of_another_kind_is_caught() {
        let mut other_die = oracles();
        let now = ended(&mut other_die, Read, 1, 3);
        other_die.page_read(Ppn(64), Lpn(1), None, now);
        assert_fails(&other_die, "planes", "of die 1 was read, but what ended is a Read of die 0");

        let mut other_kind = oracles();
        let now = ended(&mut other_kind, Erase, 1, 1000);
        other_kind.page_read(IN_PLANE_0, Lpn(1), None, now);
        assert_fails(&other_kind, "planes", "was read, but what ended is a Erase of die 0");
    }

    #[test]
    fn an_erase_without_an_operation_is_caught() {
        let mut oracles = oracles();
        oracles.block_erased(BlockId(1), us(1));
        assert_fails(
            &oracles,
            "planes",
            "page 0 of block 1 in plane 0 of die 0 was erased, but no operation has ended",
        );
    }

    #[test]
    fn a_copyback_stays_in_its_plane() {
        for (from, legal) in [(Ppn(12), true), (Ppn(44), false)] {
            let mut oracles = oracles_of_a_full_drive();
            let now = ended(&mut oracles, Copyback, 1, 103);
            oracles.page_programmed(IN_PLANE_0, Lpn(1), Origin::Moved(from), now);
            if legal {
                assert_silent(&oracles);
            } else {
                assert_fails(&oracles, "planes", "a copyback moved page 44 to page 4, which is in another plane");
            }
        }
    }

    #[test]
    fn what_was_suspended_ends_as_what_it_began() {
        let mut config = config();
        config.precondition.kind = PreconditionKind::Sequential;
        config.flash.suspension = crate::config::Suspension::Both;
        let mut oracles = oracles_with(&config);
        oracles.operation_began(DieId(0), Program, 1, us(0));
        oracles.array_began(DieId(0), Program, us(0), us(100));
        oracles.suspended(DieId(0), us(50));
        oracles.operation_began(DieId(0), Read, 1, us(50));
        oracles.array_began(DieId(0), Read, us(50), us(58));
        oracles.array_ended(DieId(0), us(58));
        oracles.page_read(IN_PLANE_0, Lpn(1), None, us(58));
        oracles.data_out_ended(DieId(0), us(58));
        oracles.resumed(DieId(0), us(58), us(113));
        oracles.array_ended(DieId(0), us(113));
        oracles.page_programmed(IN_PLANE_1, Lpn(1), Origin::Moved(IN_PLANE_0), us(113));
        assert_silent(&oracles);
    }
}
