//! Oracle `programs`: between two erases, one operation programs all mapping units of a page (or word line). The oracle numbers the operations, and
//! compares the numbers at the units of each page or word line. If a program writes one unit, the oracle `pages` checks this instead.

use rustc_hash::FxHashMap;

use crate::check::arithmetic::{ArrayTree, SlcArea, in_units, units_per_page, units_per_program};
use crate::config::Config;
use crate::ids::{BlockId, Ppn};

#[derive(Clone, Debug)]
pub(in super::super) struct Programs {
    homes: ArrayTree,
    slc: SlcArea,
    /// Number of mapping units in a program of the SLC cache, and in a program of a native block.
    units: (u32, u32),
    /// Number of array operations of all dies that have ended.
    ended: u64,
    /// For each program of a block (by block and program index), the number of the operation that programmed its first unit, counted as in
    /// `ended`.
    operations: FxHashMap<BlockId, FxHashMap<u32, u64>>,
}

impl Programs {
    pub(in super::super) const NAME: &'static str = "programs";

    pub(in super::super) fn new(config: &Config) -> Programs {
        Programs {
            homes: ArrayTree::new(&in_units(config)),
            slc: SlcArea::new(config),
            units: (units_per_page(config), units_per_program(config)),
            ended: 0,
            operations: FxHashMap::default(),
        }
    }

    pub(in super::super) fn array_ended(&mut self) {
        self.ended += 1;
    }

    pub(in super::super) fn programmed(&mut self, ppn: Ppn) -> Result<(), String> {
        let units = if self.slc.holds(ppn) { self.units.0 } else { self.units.1 };
        if units == 1 {
            return Ok(());
        }
        let block = self.homes.block_of(ppn);
        let program = self.homes.page_in_block(ppn) / units;
        let operation = *self.operations.entry(block).or_default().entry(program).or_insert(self.ended);
        if operation == self.ended {
            return Ok(());
        }
        Err(format!(
            "unit {} was programmed into program {program} of block {}, which an operation before had programmed",
            ppn.0, block.0
        ))
    }

    pub(in super::super) fn erased(&mut self, block: BlockId) {
        self.operations.remove(&block);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::check::histories::config;
    use crate::units::Bytes;

    #[test]
    fn units_of_a_page_are_programmed_at_once_until_its_block_is_erased() {
        let mut config = config();
        config.ftl.mapping_unit = Some(Bytes::from_kib(1));
        let mut programs = Programs::new(&config);
        // A page has four mapping units of 1 KiB, so a block of four pages has sixteen units.
        programs.array_ended();
        assert_eq!((programs.programmed(Ppn(16)), programs.programmed(Ppn(18))), (Ok(()), Ok(())));
        programs.array_ended();
        assert_eq!(programs.programmed(Ppn(20)), Ok(()));
        let error = programs.programmed(Ppn(19)).expect_err("its page was programmed before");
        let expected = "unit 19 was programmed into program 0 of block 1, which an operation before had programmed";
        assert_eq!(error, expected);
        programs.erased(BlockId(1));
        programs.array_ended();
        assert_eq!(programs.programmed(Ppn(19)), Ok(()));
    }
}
