//! Oracle `pages`: a model of the flash array, with the logical page and the version in each flash page.
//!
//! A page is programmed once between two erases of its block, in page order unless any order is allowed; an erase destroys no newest version; a move
//! preserves the version; a read finds the page that was requested.
//!
//! The model adds a page that was written before the run at the first operation on this page. The content then comes from the notice of the
//! operation, which is accepted only if the block was not erased in the run. So the memory of the model grows with the number of pages that the run
//! uses.
//!
//! An unwritten page is read at a fixed location that plain arithmetic determines, whatever that location holds, and is never moved. Such a read
//! returns a version older than any later write.

mod preconditioned;
mod recovered;
mod replicas;

use std::ops::Range;

use rustc_hash::FxHashMap;

use crate::check::Origin;
use crate::check::arithmetic::{ArrayTree, MapPages, NamespaceSpan, SlcArea, Unwritten, in_units, spaces};
use crate::config::{Config, PreconditionKind, ProgramOrder};
use crate::ids::{BlockId, Lpn, Ppn};

/// Number of a version of a page, in order of creation; 0 for data from before the run.
pub(in super::super) type Version = u64;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Content {
    lpn: Lpn,
    version: Version,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in super::super) struct Newest {
    pub version: Version,
    /// Location of the newest version; `None` after a deallocation, and for a page from before the run whose location is not known yet.
    pub at: Option<Ppn>,
    /// Whether the host wrote the page. False after a deallocation, and for an unwritten page to which the drive assigned a location for a read.
    pub written: bool,
}

#[derive(Clone, Debug, Default)]
struct Block {
    erases: u32,
    /// Index in the block of the page that was programmed last; `None` if the run has programmed none since the last erase of the block.
    last: Option<u32>,
}

#[derive(Clone, Debug)]
pub(in super::super) struct Pages {
    homes: ArrayTree,
    slc: SlcArea,
    order: ProgramOrder,
    pages: FxHashMap<Ppn, Content>,
    blocks: FxHashMap<BlockId, Block>,
    newest: FxHashMap<Lpn, Newest>,
    /// Version of each deallocated page. A read of the page may return this version until the next write.
    deallocated: FxHashMap<Lpn, Version>,
    unwritten: Unwritten,
    /// For each replicated page, the location of its replica, as the drive reported it.
    replicas: FxHashMap<Lpn, Ppn>,
    /// For each page with a replica still to be programmed, the location from which the data was read, and the version of the data.
    replica_sources: FxHashMap<Lpn, (Ppn, Version)>,
    version: Version,
    /// Logical pages written before the run: the first pages of each namespace.
    preconditioned: Vec<Range<u32>>,
    translation: Option<MapPages>,
    /// Logical pages whose location may have changed since the last comparison with the map of the drive.
    changed: Vec<Lpn>,
}

impl Pages {
    pub(in super::super) const NAME: &'static str = "pages";

    pub(in super::super) fn new(config: &Config) -> Pages {
        let fill = match config.precondition.kind {
            PreconditionKind::None => 0.0,
            PreconditionKind::Sequential | PreconditionKind::Random | PreconditionKind::Aged => {
                config.precondition.fill
            }
        };
        let beginning = |NamespaceSpan { pages, .. }: &NamespaceSpan| {
            let filled = (pages.len() as f64 * fill) as u32;
            pages.start..pages.end.min(pages.start + filled)
        };
        Pages {
            homes: ArrayTree::new(&in_units(config)),
            slc: SlcArea::new(config),
            order: config.flash.program_order,
            pages: FxHashMap::default(),
            blocks: FxHashMap::default(),
            newest: FxHashMap::default(),
            deallocated: FxHashMap::default(),
            unwritten: Unwritten::new(config),
            replicas: FxHashMap::default(),
            replica_sources: FxHashMap::default(),
            version: 0,
            preconditioned: spaces(config).iter().map(beginning).collect(),
            translation: MapPages::new(config),
            changed: Vec::new(),
        }
    }

    fn name(&self, ppn: Ppn) -> String {
        let block = self.homes.block_of(ppn);
        format!("page {} (page {} of block {})", ppn.0, self.homes.page_in_block(ppn), block.0)
    }

    fn was_preconditioned(&self, lpn: Lpn) -> bool {
        self.preconditioned.iter().any(|pages| pages.contains(&lpn.0))
    }

    fn was_there(&self, lpn: Lpn) -> bool {
        self.was_preconditioned(lpn) || self.translation.as_ref().is_some_and(|translation| translation.contains(lpn))
    }

    pub(in super::super) fn newest(&self, lpn: Lpn) -> Option<Newest> {
        let untouched = || self.was_there(lpn).then_some(Newest { version: 0, at: None, written: true });
        self.newest.get(&lpn).copied().or_else(untouched)
    }

    pub(in super::super) fn location(&self, lpn: Lpn) -> Option<Ppn> {
        self.newest.get(&lpn).and_then(|newest| newest.at)
    }

    /// Returns the location at which `lpn` is read; `None` for a page that was written before the run and whose location is not known.
    pub(in super::super) fn read_location(&self, lpn: Lpn) -> Option<Ppn> {
        let unwritten = || self.unwritten_version(lpn).and_then(|_| self.unwritten.default_location(lpn));
        self.location(lpn).or_else(unwritten)
    }

    /// Returns whether `lpn` has been neither written, moved nor deallocated since the start of the run.
    pub(in super::super) fn is_untouched(&self, lpn: Lpn) -> bool {
        !self.newest.contains_key(&lpn) && !self.deallocated.contains_key(&lpn)
    }

    pub(in super::super) fn changed(&self) -> &[Lpn] {
        &self.changed
    }

    pub(in super::super) fn forget_changed(&mut self) {
        self.changed.clear();
    }

    pub(in super::super) fn touched(&self) -> Vec<Lpn> {
        let mut touched: Vec<Lpn> = self.newest.keys().copied().collect();
        touched.sort_unstable();
        touched
    }

    pub(in super::super) fn erases(&self, block: BlockId) -> u32 {
        self.blocks.get(&block).map_or(0, |block| block.erases)
    }

    /// Returns the version of logical page `lpn` that the flash page `ppn` holds.
    ///
    /// # Errors
    /// A message, in which `does` is the verb for the access, if `ppn` does not hold `lpn`. With `was_written`, also if `lpn` was never
    /// written.
    fn content(&mut self, ppn: Ppn, lpn: Lpn, does: &str, was_written: bool) -> Result<Version, String> {
        let block = self.blocks.get(&self.homes.block_of(ppn));
        let found = match self.pages.get(&ppn) {
            Some(content) if content.lpn == lpn => return Ok(content.version),
            Some(content) => format!("it holds version {} of logical page {}", content.version, content.lpn.0),
            None if block.is_some_and(|block| block.erases > 0) => "it was erased and not programmed since".to_owned(),
            None if was_written && !self.was_there(lpn) => "nothing was written there".to_owned(),
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
        Err(format!("{} was {does} for logical page {}, but {found}", self.name(ppn), lpn.0))
    }

    /// Returns the version that a read of the unwritten page `lpn` at its default location returns: the version at its last deallocation, or 0 if it
    /// was never deallocated. `None` if `lpn` was written before the run and not deallocated since.
    fn unwritten_version(&self, lpn: Lpn) -> Option<Version> {
        let never = || (!self.was_there(lpn)).then_some(0);
        self.deallocated.get(&lpn).copied().or_else(never)
    }

    pub(in super::super) fn read(&mut self, ppn: Ppn, lpn: Lpn, for_host: bool) -> Result<Version, String> {
        let nothing =
            self.unwritten_version(lpn).filter(|_| for_host && self.unwritten.default_location(lpn) == Some(ppn));
        let Some(nothing) = nothing else { return self.content(ppn, lpn, "read", for_host) };
        self.changed.push(lpn);
        // A written version of `lpn` may by chance lie at the location that is read. The read then returns the newer of the two versions.
        let written = self.pages.get(&ppn).filter(|content| content.lpn == lpn).map(|content| content.version);
        Ok(written.map_or(nothing, |written| written.max(nothing)))
    }

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
        let page = self.homes.page_in_block(ppn);
        if !self.slc.is_a_page(ppn) {
            return Err(format!("{} was {did}, which a block of the SLC cache does not have", self.name(ppn)));
        }
        let block = self.blocks.entry(self.homes.block_of(ppn)).or_default();
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

    pub(in super::super) fn programmed(&mut self, ppn: Ppn, lpn: Lpn, origin: Origin) -> Result<(), String> {
        let is_of_host = matches!(origin, Origin::User(_) | Origin::Destaged);
        if self.slc.holds(ppn) && !is_of_host {
            return Err(format!("{} of the SLC cache was programmed for {origin:?}", self.name(ppn)));
        }
        match origin {
            Origin::User(_) | Origin::Destaged | Origin::Map => {
                self.version += 1;
                let version = self.version;
                self.fill(ppn, Content { lpn, version }, "programmed")?;
                self.newest.insert(lpn, Newest { version, at: Some(ppn), written: true });
            }
            Origin::Moved(from) => {
                let version = self.content(from, lpn, "moved", true)?;
                self.fill(ppn, Content { lpn, version }, "programmed")?;
                if let Some(newest) = self.newest.get_mut(&lpn)
                    && newest.at == Some(from)
                {
                    newest.at = Some(ppn);
                } else {
                    self.replica_moved(lpn, from, ppn);
                }
            }
            Origin::Replica(from) => {
                let version = self.take_replica_source(lpn, from)?;
                self.fill(ppn, Content { lpn, version }, "programmed")?;
            }
        }
        Ok(())
    }

    /// Records that the drive assigned the location `ppn` to the unwritten page `lpn`, to read it there.
    pub(in super::super) fn placed(&mut self, ppn: Ppn, lpn: Lpn) -> Result<(), String> {
        let place = || format!("logical page {} was placed at {} for a read", lpn.0, self.name(ppn));
        match self.newest(lpn) {
            Some(Newest { at: Some(at), version, .. }) => {
                return Err(format!("{}, but version {version} of it is at {}", place(), self.name(at)));
            }
            Some(Newest { written: true, .. }) => {
                return Err(format!(
                    "{}, but it was written before the run and never deallocated: it is lost",
                    place()
                ));
            }
            _ => {}
        }
        self.version += 1;
        let version = self.version;
        self.fill(ppn, Content { lpn, version }, "taken for one that was there before,")?;
        self.newest.insert(lpn, Newest { version, at: Some(ppn), written: false });
        Ok(())
    }

    pub(in super::super) fn deallocated(&mut self, lpn: Lpn) {
        self.version += 1;
        self.deallocated.insert(lpn, self.version);
        self.newest.insert(lpn, Newest { version: self.version, at: None, written: false });
        self.changed.push(lpn);
    }

    fn remove(&mut self, block: BlockId) -> Vec<(Ppn, Lpn)> {
        self.homes.pages_of(block).filter_map(|ppn| self.pages.remove(&ppn).map(|content| (ppn, content.lpn))).collect()
    }

    pub(in super::super) fn erased(&mut self, block: BlockId) -> Result<(), String> {
        let removed = self.remove(block);
        self.replicas_remain(block, &removed)?;
        let lost = removed.into_iter().find(|&(ppn, lpn)| self.location(lpn) == Some(ppn));
        let state = self.blocks.entry(block).or_default();
        *state = Block { erases: state.erases + 1, last: None };
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
}

#[cfg(test)]
mod tests;
