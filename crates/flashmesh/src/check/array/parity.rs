//! Oracle `parity`: on each die of a superblock, one program of parity follows every N - 1 programs of data, where N is the number of programs of a
//! parity stripe. The stripes of neighbouring dies are shifted by one program. The oracle counts the data programs itself.

use rustc_hash::FxHashMap;

use crate::check::arithmetic::{ArrayTree, SlcArea, in_units, parity_stripe, units_per_page, units_per_program};
use crate::config::Config;
use crate::ids::{BlockId, DieId, PlaneId, Ppn};

/// Maximum number of parity programs of a plane that are due and have not been programmed. Parity may be late because other programs can run first.
/// \[choice\]
const PENDING_MAX: usize = 8;

/// A program: its block, numbered over the whole drive, and the index of the program in the block.
type Program = (BlockId, u32);

/// A program on a die: the index of the block in its plane, and the index of the program in the block.
type ProgramSlot = (u32, u32);

#[derive(Clone, Debug)]
pub(in super::super) struct Parity {
    homes: ArrayTree,
    slc: SlcArea,
    /// Number of mapping units in a program of the SLC cache, and in a program of a native block.
    units: (u32, u32),
    /// Number of data programs in a stripe, and number of dies from one die of a superblock to the next; `None` without parity.
    rule: Option<(u32, u32)>,
    /// For each plane, the data program that was observed last.
    last: FxHashMap<PlaneId, Program>,
    pending_parity: FxHashMap<PlaneId, Vec<ProgramSlot>>,
    /// For each die, the program after which it last programmed parity. Parity is programmed in all planes at once, including planes
    /// without new data.
    last_parity: FxHashMap<DieId, ProgramSlot>,
}

impl Parity {
    pub(in super::super) const NAME: &'static str = "parity";

    pub(in super::super) fn new(config: &Config) -> Parity {
        let homes = ArrayTree::new(&in_units(config));
        let dies = homes.dies() as u32;
        let rule = parity_stripe(config).map(|programs| {
            let of_superblock = config.superblock.dies.unwrap_or(dies);
            (programs - 1, dies / of_superblock)
        });
        Parity {
            homes,
            slc: SlcArea::new(config),
            units: (units_per_page(config), units_per_program(config)),
            rule,
            last: FxHashMap::default(),
            pending_parity: FxHashMap::default(),
            last_parity: FxHashMap::default(),
        }
    }

    /// Returns the program that contains the page `ppn`: the index of its block in the plane, and the index of the program in the block.
    fn slot_of(&self, ppn: Ppn) -> ProgramSlot {
        let units = if self.slc.holds(ppn) { self.units.0 } else { self.units.1 };
        (self.homes.block_in_plane(self.homes.block_of(ppn)), self.homes.page_in_block(ppn) / units)
    }

    pub(in super::super) fn programmed(&mut self, ppn: Ppn) -> Result<(), String> {
        let Some((data_programs, distance)) = self.rule else { return Ok(()) };
        let (die, plane, place) = (self.homes.die_of(ppn), self.homes.plane_of(ppn), self.slot_of(ppn));
        let program = (self.homes.block_of(ppn), place.1);
        if self.last.insert(plane, program) == Some(program) {
            return Ok(());
        }
        let is_turn = (place.1 + 1 + die.0 / distance).is_multiple_of(data_programs);
        let owed = self.pending_parity.entry(plane).or_default();
        if is_turn && !owed.contains(&place) {
            owed.push(place);
        }
        if owed.len() > PENDING_MAX {
            return Err(format!("die {} has gone on {PENDING_MAX} times without parity that was due", die.0));
        }
        Ok(())
    }

    /// Forgets the last program of a plane if its block was erased. Otherwise the next program with the same index would be taken for the
    /// same program.
    pub(in super::super) fn erased(&mut self, block: BlockId) {
        self.last.retain(|_, (last, _)| *last != block);
    }

    /// Checks that a parity program is due on the die after the program that contains the data unit `ppn`.
    pub(in super::super) fn parity(&mut self, ppn: Ppn) -> Result<(), String> {
        let (die, plane, place) = (self.homes.die_of(ppn), self.homes.plane_of(ppn), self.slot_of(ppn));
        let first = die.0 * self.homes.planes_per_die() as u32;
        let owes = |plane: &PlaneId| self.pending_parity.get(plane).is_some_and(|owed| owed.contains(&place));
        let is_owed = (first..first + self.homes.planes_per_die() as u32).map(PlaneId).any(|plane| owes(&plane));
        self.pending_parity.entry(plane).or_default().retain(|owed| *owed != place);
        if is_owed {
            self.last_parity.insert(die, place);
        } else if self.last_parity.get(&die) != Some(&place) {
            let (block, program) = place;
            return Err(format!(
                "die {} programmed parity after program {program} of blocks {block}, where none is due",
                die.0
            ));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::{FirmwarePolicy, ParityShare};

    /// Returns the oracle for three dies with one plane each. Blocks have four data pages and two parity pages: one parity page after every second
    /// data page.
    fn parity() -> Parity {
        let mut config = Config::default();
        config.geometry.channels = 3;
        config.geometry.chips_per_channel = 1;
        config.geometry.planes_per_die = 1;
        config.geometry.blocks_per_plane = 16;
        config.geometry.pages_per_block = 6;
        config.ftl.policy = FirmwarePolicy::Superblock;
        config.ftl.parity = Some(ParityShare(3));
        Parity::new(&config)
    }

    #[test]
    fn parity_after_the_second_program_is_right_and_elsewhere_or_twice_is_caught() {
        let mut parity = parity();
        parity.programmed(Ppn(0)).expect("the page is a data page");
        let error = parity.parity(Ppn(0)).expect_err("only one program came");
        assert_eq!(error, "die 0 programmed parity after program 0 of blocks 0, where none is due");
        parity.programmed(Ppn(1)).expect("the page is a data page");
        assert_eq!(parity.parity(Ppn(1)), Ok(()));
        parity.programmed(Ppn(2)).expect("the page is a data page");
        assert!(parity.parity(Ppn(2)).is_err());
        // Stripes are shifted by one program from die to die, so parity of die 1 is due after one data program.
        parity.programmed(Ppn(64)).expect("the page is a data page");
        assert_eq!(parity.parity(Ppn(64)), Ok(()));
    }

    #[test]
    fn parity_that_never_comes_is_caught() {
        let mut parity = parity();
        let outcome = (0..64).try_for_each(|page| parity.programmed(Ppn(page)));
        assert_eq!(outcome, Err("die 0 has gone on 8 times without parity that was due".to_owned()));
    }
}
