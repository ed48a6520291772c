//! A shadow of the flash array: which page holds which version of which logical page.
//!
//! A page is programmed once between two erases of its block, in the order of the block unless any will do; an erase takes no newest version
//! with it; what a move carries keeps its version; what is read is what was asked for.
//!
//! Pages that were there before the run are unknown to the shadow until they are first seen, and then taken for what the
//! drive takes them for; that is possible only in blocks that were not erased since. So its memory grows with the pages
//! that the run touches.

use std::ops::Range;

use rustc_hash::FxHashMap;

use crate::config::{Config, PreconditionKind, ProgramOrder};
use crate::flash::geometry::Geometry;
use crate::flash::namespace::NamespaceConfig;
use crate::ftl::TranslationPages;
use crate::ids::{BlockId, Lpn, Ppn};

use super::Origin;

/// The order in which versions of pages came into being. What was there before the run has version 0.
pub(super) type Version = u64;

/// What a programmed page holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Content {
    lpn: Lpn,
    version: Version,
}

/// The newest version of a logical page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Newest {
    /// The version.
    pub version: Version,
    /// Where it is; nowhere once it is deallocated.
    pub at: Option<Ppn>,
    /// Whether the host ever gave data for it: not when it is deallocated, or placed for a read of a page never written.
    pub written: bool,
}

/// What is known of a block.
#[derive(Clone, Debug, Default)]
struct Block {
    /// Erases, those of compaction included.
    erases: u32,
    /// The page programmed last since it was erased, or since the run began.
    last: Option<u32>,
    /// What it held when it was last compacted: reads that were under way may still return it.
    compacted: FxHashMap<Lpn, Version>,
    /// Whether it was compacted: pages written before the run, of which nothing was seen, may have been in it.
    was_compacted: bool,
}

/// The shadow.
#[derive(Debug)]
pub(super) struct Pages {
    geometry: Geometry,
    order: ProgramOrder,
    pages: FxHashMap<Ppn, Content>,
    blocks: FxHashMap<BlockId, Block>,
    newest: FxHashMap<Lpn, Newest>,
    version: Version,
    /// The logical pages that were written before the run: the first ones of each namespace.
    preconditioned: Vec<Range<u32>>,
    /// The translation pages, which are there from the start.
    translation: Option<TranslationPages>,
    /// Logical pages whose place changed since the map was last compared.
    changed: Vec<Lpn>,
}

impl Pages {
    pub(super) const NAME: &'static str = "pages";

    pub(super) fn new(geometry: &Geometry, config: &Config) -> Pages {
        let fill = match config.precondition.kind {
            PreconditionKind::None => 0.0,
            PreconditionKind::Sequential | PreconditionKind::Random => config.precondition.fill,
        };
        let page_size = geometry.page_size.as_u64();
        let beginning = |namespace: &NamespaceConfig| {
            let first = (namespace.start.as_u64() / page_size) as u32;
            let pages = namespace.capacity.as_u64() / page_size;
            first..first + ((pages as f64 * fill) as u32).min(pages as u32)
        };
        let namespaces = config.namespaces(geometry).unwrap_or_default();
        Pages {
            geometry: geometry.clone(),
            order: config.flash.program_order,
            pages: FxHashMap::default(),
            blocks: FxHashMap::default(),
            newest: FxHashMap::default(),
            version: 0,
            preconditioned: namespaces.iter().map(beginning).collect(),
            translation: TranslationPages::new(geometry, &config.mapping),
            changed: Vec::new(),
        }
    }

    fn name(&self, ppn: Ppn) -> String {
        let block = self.geometry.block_of(ppn);
        format!("page {} (page {} of block {})", ppn.0, self.geometry.page_in_block(ppn), block.0)
    }

    /// Whether `lpn` is one of the pages that preconditioning wrote.
    fn was_preconditioned(&self, lpn: Lpn) -> bool {
        self.preconditioned.iter().any(|pages| pages.contains(&lpn.0))
    }

    /// Whether `lpn` was written before the run.
    fn was_there(&self, lpn: Lpn) -> bool {
        self.was_preconditioned(lpn) || self.translation.is_some_and(|translation| translation.contains(lpn))
    }

    /// The newest version of `lpn`, when it ever had one.
    pub(super) fn newest(&self, lpn: Lpn) -> Option<Newest> {
        let untouched = || self.was_there(lpn).then_some(Newest { version: 0, at: None, written: true });
        self.newest.get(&lpn).copied().or_else(untouched)
    }

    /// Where `lpn` is, as far as the run has told.
    pub(super) fn place(&self, lpn: Lpn) -> Option<Ppn> {
        self.newest.get(&lpn).and_then(|newest| newest.at)
    }

    /// Takes the logical pages whose place changed since the last call.
    pub(super) fn take_changed(&mut self) -> Vec<Lpn> {
        std::mem::take(&mut self.changed)
    }

    /// All logical pages the run has touched, in order.
    pub(super) fn touched(&self) -> Vec<Lpn> {
        let mut touched: Vec<Lpn> = self.newest.keys().copied().collect();
        touched.sort_unstable();
        touched
    }

    /// Blocks that were erased, counted each time.
    pub(super) fn erases(&self, block: BlockId) -> u32 {
        self.blocks.get(&block).map_or(0, |block| block.erases)
    }

    /// The version that `ppn` holds of `lpn`, which is what `does` expects there.
    fn content(&mut self, ppn: Ppn, lpn: Lpn, does: &str) -> Result<Version, String> {
        let block = self.blocks.get(&self.geometry.block_of(ppn));
        let compacted = || {
            let block = block?;
            let unseen = (block.was_compacted && self.was_preconditioned(lpn)).then_some(0);
            block.compacted.get(&lpn).copied().or(unseen)
        };
        let found = match self.pages.get(&ppn) {
            Some(content) if content.lpn == lpn => return Ok(content.version),
            Some(content) => format!("it holds version {} of logical page {}", content.version, content.lpn.0),
            None if block.is_some_and(|block| block.erases > 0) => "it was erased and not programmed since".to_owned(),
            None => match self.newest.get(&lpn) {
                Some(Newest { version: 0, at: Some(other), .. }) => {
                    format!("what was there before the run is at {}", self.name(*other))
                }
                known => {
                    if known.is_none() {
                        self.newest.insert(lpn, Newest { version: 0, at: Some(ppn), written: true });
                        self.changed.push(lpn);
                    }
                    self.pages.insert(ppn, Content { lpn, version: 0 });
                    return Ok(0);
                }
            },
        };
        compacted().ok_or_else(|| format!("{} was {does} for logical page {}, but {found}", self.name(ppn), lpn.0))
    }

    /// The array read `ppn` for `lpn`; gives the version that it holds.
    pub(super) fn read(&mut self, ppn: Ppn, lpn: Lpn) -> Result<Version, String> {
        self.content(ppn, lpn, "read")
    }

    /// Marks `ppn` as programmed.
    fn fill(&mut self, ppn: Ppn, content: Content, did: &str) -> Result<(), String> {
        if let Some(before) = self.pages.get(&ppn) {
            return Err(format!(
                "{} was {did} with logical page {}, but holds version {} of logical page {} and was not erased",
                self.name(ppn),
                content.lpn.0,
                before.version,
                before.lpn.0
            ));
        }
        let page = self.geometry.page_in_block(ppn);
        let block = self.blocks.entry(self.geometry.block_of(ppn)).or_default();
        if self.order == ProgramOrder::InOrder
            && let Some(last) = block.last
            && page <= last
        {
            return Err(format!("{} was {did} after page {last} of its block: out of order", self.name(ppn)));
        }
        block.last = Some(page);
        self.pages.insert(ppn, content);
        self.changed.push(content.lpn);
        Ok(())
    }

    /// The array programmed `ppn` with `lpn`.
    pub(super) fn programmed(&mut self, ppn: Ppn, lpn: Lpn, origin: Origin) -> Result<(), String> {
        match origin {
            Origin::User(_) | Origin::Destaged | Origin::Map => {
                self.version += 1;
                let version = self.version;
                self.fill(ppn, Content { lpn, version }, "programmed")?;
                self.newest.insert(lpn, Newest { version, at: Some(ppn), written: true });
            }
            Origin::Moved(from) => {
                let version = self.content(from, lpn, "moved")?;
                self.fill(ppn, Content { lpn, version }, "programmed")?;
                if let Some(newest) = self.newest.get_mut(&lpn)
                    && newest.at == Some(from)
                {
                    newest.at = Some(ppn);
                }
            }
        }
        Ok(())
    }

    /// The drive took `ppn` for a page that was there before, to have something to read for `lpn`.
    pub(super) fn placed(&mut self, ppn: Ppn, lpn: Lpn) -> Result<(), String> {
        let place = format!("logical page {} was placed at {} for a read", lpn.0, self.name(ppn));
        match self.newest(lpn) {
            Some(Newest { at: Some(at), version, .. }) => {
                return Err(format!("{place}, but version {version} of it is at {}", self.name(at)));
            }
            Some(Newest { written: true, .. }) => {
                return Err(format!("{place}, but it was written before the run and never deallocated: it is lost"));
            }
            _ => {}
        }
        self.version += 1;
        let version = self.version;
        self.fill(ppn, Content { lpn, version }, "taken for one that was there before,")?;
        self.newest.insert(lpn, Newest { version, at: Some(ppn), written: false });
        Ok(())
    }

    /// The drive rewrote a block in place, untimed, to have room for pages that were there before; it holds `survivors`
    /// now.
    pub(super) fn compacted(&mut self, block: BlockId, survivors: &[(Ppn, Lpn)]) -> Result<(), String> {
        let before = self.remove(block);
        for &(ppn, lpn) in &before {
            if self.place(lpn) == Some(ppn) && !survivors.iter().any(|&(_, survivor)| survivor == lpn) {
                return Err(format!("the compaction of block {} lost logical page {}", block.0, lpn.0));
            }
        }
        let mut compacted = FxHashMap::default();
        for &(_, lpn) in &before {
            compacted.insert(lpn, self.newest(lpn).map_or(0, |newest| newest.version));
        }
        let state = self.blocks.entry(block).or_default();
        state.erases += 1;
        state.last = None;
        for &(ppn, lpn) in survivors {
            let newest = self.newest.entry(lpn).or_insert(Newest { version: 0, at: Some(ppn), written: true });
            let came_from = newest.at.filter(|&at| self.geometry.block_of(at) == block);
            let version = newest.version;
            if came_from.is_none() {
                let at = newest.at;
                return Err(format!(
                    "the compaction of block {} put logical page {} into it, which is at {at:?}",
                    block.0, lpn.0
                ));
            }
            newest.at = Some(ppn);
            compacted.insert(lpn, version);
            self.fill(ppn, Content { lpn, version }, "compacted")?;
        }
        let state = self.blocks.entry(block).or_default();
        (state.compacted, state.was_compacted) = (compacted, true);
        Ok(())
    }

    /// The host no longer needs `lpn`.
    pub(super) fn deallocated(&mut self, lpn: Lpn) {
        self.version += 1;
        self.newest.insert(lpn, Newest { version: self.version, at: None, written: false });
        self.changed.push(lpn);
    }

    /// Empties a block; gives what it held.
    fn remove(&mut self, block: BlockId) -> Vec<(Ppn, Lpn)> {
        let first = self.geometry.ppn(block, 0).0;
        let pages = (first..first + self.geometry.pages_per_block).map(Ppn);
        pages.filter_map(|ppn| self.pages.remove(&ppn).map(|content| (ppn, content.lpn))).collect()
    }

    /// The array erased `block`.
    pub(super) fn erased(&mut self, block: BlockId) -> Result<(), String> {
        let lost = self.remove(block).into_iter().find(|&(ppn, lpn)| self.place(lpn) == Some(ppn));
        let state = self.blocks.entry(block).or_default();
        *state = Block { erases: state.erases + 1, ..Block::default() };
        match lost {
            Some((ppn, lpn)) => Err(format!(
                "the erase of block {} lost logical page {}, whose newest version {} was at {}",
                block.0,
                lpn.0,
                self.newest[&lpn].version,
                self.name(ppn)
            )),
            None => Ok(()),
        }
    }

    /// Whether everything that was written before the run, and not touched since, is where nothing else has been.
    pub(super) fn preconditioned_pages_remain(&self, lookup: impl Fn(Lpn) -> Option<Ppn>) -> Result<(), String> {
        let translation = self.translation.map_or(0..0, |translation| translation.all());
        let were_there = self.preconditioned.iter().cloned().flatten().chain(translation).map(Lpn);
        for lpn in were_there.filter(|lpn| !self.newest.contains_key(lpn)) {
            let Some(ppn) = lookup(lpn) else {
                return Err(format!("logical page {}, written before the run, is lost", lpn.0));
            };
            let erased = self.erases(self.geometry.block_of(ppn)) > 0;
            if erased || self.pages.contains_key(&ppn) {
                return Err(format!(
                    "logical page {}, written before the run and not since, is mapped to {}, which was {}",
                    lpn.0,
                    self.name(ppn),
                    if erased { "erased" } else { "used for another" }
                ));
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::super::Origin;
    use super::super::planted::{
        assert_fails, assert_silent, config, end, erase, geometry, oracles, oracles_of_a_full_drive, program, read, us,
        write,
    };
    use crate::ftl::Ftl;
    use crate::ids::{Lpn, Ppn};

    #[test]
    fn write_move_and_erase_is_right() {
        let mut oracles = oracles();
        let now = write(&mut oracles, 0, 0, 7, us(0));
        let now = write(&mut oracles, 1, 1, 8, now);
        // Logical page 7 is written again, so only 8 has to leave block 0.
        let now = write(&mut oracles, 2, 2, 7, now);
        let now = program(&mut oracles, 4, 8, Origin::Moved(Ppn(1)), now);
        let now = program(&mut oracles, 5, 7, Origin::Moved(Ppn(2)), now);
        let now = erase(&mut oracles, 0, now);
        let now = write(&mut oracles, 3, 0, 9, now);
        let now = read(&mut oracles, 4, 8, None, now);
        end(&mut oracles, now);
        assert_silent(&oracles);
    }

    #[test]
    fn a_page_programmed_twice_is_caught() {
        let mut oracles = oracles();
        let now = write(&mut oracles, 0, 1, 7, us(0));
        write(&mut oracles, 1, 1, 8, now);
        let message = "page 1 (page 1 of block 0) was programmed with logical page 8, but holds version 1 of logical \
                       page 7 and was not erased";
        assert_fails(&oracles, "pages", message);
    }

    #[test]
    fn programs_out_of_the_order_of_the_block_are_caught() {
        let mut oracles = oracles();
        let now = write(&mut oracles, 0, 2, 7, us(0));
        write(&mut oracles, 1, 1, 8, now);
        assert_fails(&oracles, "pages", "page 1 (page 1 of block 0) was programmed after page 2 of its block");
    }

    #[test]
    fn an_erase_that_loses_the_newest_version_is_caught() {
        let mut oracles = oracles();
        let now = write(&mut oracles, 0, 1, 7, us(0));
        erase(&mut oracles, 0, now);
        let message =
            "the erase of block 0 lost logical page 7, whose newest version 1 was at page 1 (page 1 of block 0)";
        assert_fails(&oracles, "pages", message);
    }

    #[test]
    fn an_erase_that_loses_a_page_of_before_the_run_is_caught() {
        let mut oracles = oracles_of_a_full_drive();
        let now = read(&mut oracles, 1, 7, None, us(0));
        erase(&mut oracles, 0, now);
        assert_fails(&oracles, "pages", "the erase of block 0 lost logical page 7, whose newest version 0");
    }

    #[test]
    fn a_read_of_the_wrong_logical_page_is_caught() {
        let mut oracles = oracles();
        let now = write(&mut oracles, 0, 1, 7, us(0));
        read(&mut oracles, 1, 8, None, now);
        let message =
            "page 1 (page 1 of block 0) was read for logical page 8, but it holds version 1 of logical page 7";
        assert_fails(&oracles, "pages", message);
    }

    #[test]
    fn a_read_of_an_erased_page_is_caught() {
        let mut oracles = oracles();
        let now = erase(&mut oracles, 0, us(0));
        read(&mut oracles, 1, 8, None, now);
        assert_fails(&oracles, "pages", "was read for logical page 8, but it was erased and not programmed since");
    }

    #[test]
    fn a_page_of_before_the_run_at_two_places_is_caught() {
        let mut oracles = oracles_of_a_full_drive();
        let now = read(&mut oracles, 1, 7, None, us(0));
        read(&mut oracles, 5, 7, None, now);
        let message = "page 5 (page 1 of block 1) was read for logical page 7, but what was there before the run is at \
                       page 1 (page 1 of block 0)";
        assert_fails(&oracles, "pages", message);
    }

    #[test]
    fn a_move_of_what_is_not_there_is_caught() {
        let mut oracles = oracles();
        let now = write(&mut oracles, 0, 1, 7, us(0));
        program(&mut oracles, 4, 8, Origin::Moved(Ppn(1)), now);
        assert_fails(&oracles, "pages", "was moved for logical page 8, but it holds version 1 of logical page 7");
    }

    #[test]
    fn a_page_never_written_may_be_placed_for_a_read_once() {
        let ftl = Ftl::new(&geometry(), &config());
        let mut oracles = oracles();
        oracles.page_placed(Ppn(0), Lpn(7), &ftl, us(0));
        let now = read(&mut oracles, 0, 7, None, us(0));
        oracles.deallocated(Lpn(7), now);
        oracles.page_placed(Ppn(1), Lpn(7), &ftl, now);
        let now = read(&mut oracles, 1, 7, None, now);
        assert_silent(&oracles);
        oracles.page_placed(Ppn(2), Lpn(7), &ftl, now);
        let message =
            "logical page 7 was placed at page 2 (page 2 of block 0) for a read, but version 3 of it is at page 1";
        assert_fails(&oracles, "pages", message);
    }

    #[test]
    fn a_page_written_before_the_run_that_is_placed_anew_is_caught() {
        let ftl = Ftl::new(&geometry(), &config());
        let mut oracles = oracles_of_a_full_drive();
        oracles.page_placed(Ppn(0), Lpn(7), &ftl, us(0));
        assert_fails(&oracles, "pages", "but it was written before the run and never deallocated: it is lost");
    }

    #[test]
    fn a_compaction_keeps_what_the_block_held() {
        let mut oracles = oracles();
        let now = write(&mut oracles, 0, 0, 7, us(0));
        let now = write(&mut oracles, 1, 1, 8, now);
        let now = write(&mut oracles, 2, 4, 7, now);
        assert_eq!(oracles.pages.compacted(crate::ids::BlockId(0), &[(Ppn(0), Lpn(8))]), Ok(()));
        // A read that was under way still finds it at its old place.
        assert_eq!(oracles.pages.read(Ppn(1), Lpn(8)), Ok(2));
        assert_eq!(oracles.pages.read(Ppn(0), Lpn(8)), Ok(2));
        end(&mut oracles, now);
        assert_silent(&oracles);
    }

    #[test]
    fn a_compaction_that_loses_a_page_is_caught() {
        let mut oracles = oracles();
        write(&mut oracles, 0, 0, 7, us(0));
        let outcome = oracles.pages.compacted(crate::ids::BlockId(0), &[]);
        assert_eq!(outcome, Err("the compaction of block 0 lost logical page 7".to_owned()));
    }
}
