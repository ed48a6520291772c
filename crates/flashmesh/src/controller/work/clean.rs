//! Clean (Network-on-SSD, CAL 2012, section 3.4): one packet has the valid pages of a block moved to another chip.
//!
//! The packet lists the pages that are valid when it is sent, and where they go. The chip of the block reads them one after the other and
//! sends each on; the other one programs it; when that has programmed the last it sends a CleanAck, and the controller erases the block. No
//! command and no acknowledgement passes in between.
//!
//! - The next page is read when the one before has been programmed \[choice\]: a chip has one page buffer for each plane. That takes as long
//!   as reading all, sending all and programming all, as the paper has it.
//! - What is asked of the die of the block meanwhile waits (see the datapath's `alone`), as do reads of pages that have been
//!   programmed at their new places: the controller knows of them by the CleanAck. A page that the host writes meanwhile moves nevertheless,
//!   and is invalid at its new place.
//! - The erase is not part of it \[choice\]: only the controller knows that both chips are done. Translation pages and copies of pages stay in
//!   their plane, and pages that no plane takes go through the controller.
//!
//! # Why nothing gets stuck
//!
//! The die of a block is kept until another die has programmed its pages. A die that is to program pages of a Clean begins none, and one that
//! has begun one is not chosen to program: so no die that others wait for is kept itself. Such a die ends what it does and then takes the page,
//! whose place is reserved ([`Ftl::admit_clean`](crate::ftl::Ftl::admit_clean)). A block whose die may not begin a Clean has its pages moved
//! through the controller.

use rustc_hash::FxHashMap;

use crate::controller::Context;
use crate::controller::shared::Shared;
use crate::flash::geometry::Geometry;
use crate::ftl::Stream;
use crate::ids::{BlockId, DieId, Lpn, PlaneId, Ppn, TransactionId};
use crate::kernel::model::Model;
use crate::schedule::transaction::Transaction;
use crate::schedule::work::{Route, Work};

/// The pages of a block that move by one packet.
#[derive(Clone, Debug)]
struct Clean {
    /// Those that are listed.
    pages: Vec<(Ppn, Lpn)>,
    /// The one that moves, or is about to.
    next: usize,
    /// The plane that they go to.
    to: PlaneId,
}

/// What a die has to do with blocks that are moved so.
#[derive(Clone, Copy, Debug, Default)]
struct Role {
    /// Those that are its own.
    sends: u32,
    /// Those whose pages it programs.
    programs: u32,
}

/// All blocks whose pages move by one packet.
#[derive(Clone, Debug, Default)]
pub struct Cleaning {
    /// By the plane of the block.
    blocks: FxHashMap<PlaneId, Clean>,
    /// By die; empty where pages do not move so.
    roles: Vec<Role>,
    /// Pages that lie elsewhere by now, where the controller has not been told: where they are, and where they were.
    untold: FxHashMap<Lpn, (Ppn, Ppn)>,
}

impl Cleaning {
    pub fn new(geometry: &Geometry, cleans: bool) -> Cleaning {
        let dies = if cleans { geometry.dies() as usize } else { 0 };
        Cleaning { roles: vec![Role::default(); dies], ..Cleaning::default() }
    }

    /// Where the controller has a page that `read` asks for, while it has not been told that it lies elsewhere.
    pub fn home_of(&self, read: &Transaction) -> Option<Ppn> {
        self.untold.get(&read.lpn).filter(|(to, _)| *to == read.from).map(|(_, from)| *from)
    }

    /// Begins to move the valid pages of the victim of `plane`, in `block` from `cursor` on, by one packet; gives the first read if it
    /// does.
    pub fn begin<M: Model>(
        &mut self,
        plane: PlaneId,
        block: BlockId,
        cursor: u32,
        cx: &mut Context<'_, M>,
    ) -> Option<TransactionId> {
        let Shared { geometry, ftl, .. } = &mut *cx.shared;
        let die = geometry.die_of_plane(plane);
        if self.roles[die.index()].programs > 0 || ftl.stream_of_move(geometry.ppn(block, 0)) != Stream::Collection {
            return None;
        }
        let mut pages = Vec::new();
        let mut at = cursor;
        while let Some((page, lpn)) = ftl.next_valid_page(block, at) {
            let ppn = geometry.ppn(block, page);
            if ftl.lookup(lpn) == Some(ppn) {
                pages.push((ppn, lpn));
            }
            at = page + 1;
        }
        let lpns: Vec<Lpn> = pages.iter().map(|(_, lpn)| *lpn).collect();
        let (to, count) = ftl.admit_clean(&lpns, plane, |die| self.roles[die.index()].sends == 0)?;
        pages.truncate(count);
        let (from, lpn) = pages[0];
        self.blocks.insert(plane, Clean { pages, next: 0, to });
        self.roles[die.index()].sends += 1;
        self.roles[geometry.die_of_plane(to).index()].programs += 1;
        Some(cx.begin_own(Work::CollectRead(Route::Clean), lpn, from, plane))
    }

    /// How many pages the packet for the block of a plane lists, if it is sent now.
    pub fn pages_to_list(&self, plane: PlaneId, shared: &Shared) -> usize {
        self.blocks[&plane].pages.iter().filter(|(ppn, lpn)| shared.ftl.is_at(*lpn, *ppn)).count()
    }

    /// The packet is sent: it lists what is valid now.
    pub fn list(&mut self, plane: PlaneId, shared: &mut Shared) {
        let clean = self.blocks.get_mut(&plane).expect("a Clean is sent for a block that has one");
        clean.pages.retain(|(ppn, lpn)| shared.ftl.is_at(*lpn, *ppn));
        shared.ftl.expect_pages(clean.to, clean.pages.len() as u32);
    }

    /// The die that a page of a Clean goes to.
    pub fn destination<M: Model>(&self, read: TransactionId, cx: &mut Context<'_, M>) -> DieId {
        let transaction = cx.datapath.transaction_mut(read);
        let to = self.blocks[&transaction.plane].to;
        transaction.plane = to;
        cx.shared.geometry.die_of_plane(to)
    }

    /// A page of a Clean has arrived: its chip programs it. Gives the die of that.
    pub fn arrived<M: Model>(&mut self, id: TransactionId, cx: &mut Context<'_, M>) -> DieId {
        let transaction = cx.datapath.transaction_mut(id);
        let clean = &self.blocks[&cx.shared.geometry.plane_of(transaction.from)];
        let is_last = clean.next + 1 == clean.pages.len();
        transaction.work = Work::CollectProgram(if is_last { Route::CleanEnd } else { Route::Clean });
        cx.datapath.begin_alone(id, cx.kernel)
    }

    /// A page of a Clean has been programmed; with `is_wanted` the map has it there.
    pub fn programmed(&mut self, lpn: Lpn, from: Ppn, to: Ppn, is_wanted: bool, shared: &mut Shared) {
        shared.ftl.arrived(shared.geometry.plane_of(to));
        if is_wanted {
            self.untold.insert(lpn, (to, from));
        }
    }

    /// The chips go on with the next page of the block of a plane: gives the die that reads it.
    pub fn read_next<M: Model>(&mut self, plane: PlaneId, cx: &mut Context<'_, M>) -> DieId {
        let clean = self.blocks.get_mut(&plane).expect("its pages are being moved");
        clean.next += 1;
        let (from, lpn) = clean.pages[clean.next];
        let id = cx.begin_own(Work::CollectRead(Route::Clean), lpn, from, plane);
        cx.datapath.begin_alone(id, cx.kernel)
    }

    /// A Clean that was not sent is given up.
    pub fn give_up(&mut self, plane: PlaneId, shared: &mut Shared) {
        if let Some(clean) = self.blocks.get(&plane) {
            shared.ftl.expect_pages(clean.to, 0);
        }
        self.end(plane, shared);
    }

    /// All pages that were listed have moved, as the controller knows now, or none will.
    pub fn end(&mut self, plane: PlaneId, shared: &Shared) {
        let Some(clean) = self.blocks.remove(&plane) else { return };
        self.roles[shared.geometry.die_of_plane(plane).index()].sends -= 1;
        self.roles[shared.geometry.die_of_plane(clean.to).index()].programs -= 1;
        for (from, lpn) in clean.pages {
            if self.untold.get(&lpn).is_some_and(|(_, was)| *was == from) {
                self.untold.remove(&lpn);
            }
        }
    }
}
