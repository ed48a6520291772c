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

use crate::datapath::Datapath;
use crate::flash::geometry::Geometry;
use crate::ftl::Stream;
use crate::ids::{BlockId, DieId, Lpn, PlaneId, Ppn, TransactionId};
use crate::kernel::Kernel;
use crate::kernel::model::Model;
use crate::schedule::transaction::{Class, Transaction};
use crate::units::Time;

use super::Firmware;

/// The pages of a block that move by one packet.
#[derive(Debug)]
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
#[derive(Debug, Default)]
pub(super) struct Cleaning {
    /// By the plane of the block.
    blocks: FxHashMap<PlaneId, Clean>,
    /// By die; empty where pages do not move so.
    roles: Vec<Role>,
    /// Pages that lie elsewhere by now, where the controller has not been told: where they are, and where they were.
    untold: FxHashMap<Lpn, (Ppn, Ppn)>,
}

impl Cleaning {
    pub(super) fn new(geometry: &Geometry, cleans: bool) -> Cleaning {
        let dies = if cleans { geometry.dies() as usize } else { 0 };
        Cleaning { roles: vec![Role::default(); dies], ..Cleaning::default() }
    }

    /// Where the controller has a page that `read` asks for, while it has not been told that it lies elsewhere.
    pub(super) fn home_of(&self, read: &Transaction) -> Option<Ppn> {
        self.untold.get(&read.lpn).filter(|(to, _)| *to == read.from).map(|(_, from)| *from)
    }
}

impl Firmware {
    /// Goes on to move the valid pages of the victim of `plane`, in `block` from `cursor` on, by one packet; gives whether it does.
    pub(super) fn cleans<M: Model>(
        &mut self,
        plane: PlaneId,
        block: BlockId,
        cursor: u32,
        datapath: &mut Datapath<M>,
        kernel: &mut Kernel<M>,
    ) -> bool {
        let die = self.geometry.die_of_plane(plane);
        let first = self.geometry.ppn(block, 0);
        if self.collections.cleaning.roles[die.index()].programs > 0
            || self.ftl.stream_of_move(first) != Stream::Collection
        {
            return false;
        }
        let mut pages = Vec::new();
        let mut at = cursor;
        while let Some((page, lpn)) = self.ftl.next_valid_page(block, at) {
            let ppn = self.geometry.ppn(block, page);
            if self.ftl.lookup(lpn) == Some(ppn) {
                pages.push((ppn, lpn));
            }
            at = page + 1;
        }
        let lpns: Vec<Lpn> = pages.iter().map(|(_, lpn)| *lpn).collect();
        let roles = &self.collections.cleaning.roles;
        let Some((to, count)) = self.ftl.admit_clean(&lpns, plane, |die| roles[die.index()].sends == 0) else {
            return false;
        };
        pages.truncate(count);
        let (from, lpn) = pages[0];
        self.collections.cleaning.blocks.insert(plane, Clean { pages, next: 0, to });
        self.collections.cleaning.roles[die.index()].sends += 1;
        self.collections.cleaning.roles[self.geometry.die_of_plane(to).index()].programs += 1;
        let id = datapath.insert(self.read_of_clean(plane, from, lpn, kernel.now()));
        self.enqueue(id, datapath, kernel);
        true
    }

    fn read_of_clean(&self, plane: PlaneId, from: Ppn, lpn: Lpn, now: Time) -> Transaction {
        let mut read = Transaction::new(Class::CollectRead, None, lpn, plane, from, self.geometry.page_size);
        read.is_cleaned = true;
        read.account.begin(now);
        read
    }

    /// The packet is sent: it lists what is valid now. Gives how many pages that is.
    pub(super) fn list_clean(&mut self, plane: PlaneId) -> usize {
        let clean = self.collections.cleaning.blocks.get_mut(&plane).expect("a Clean is sent for a block that has one");
        let ftl = &self.ftl;
        clean.pages.retain(|(ppn, lpn)| ftl.is_at(*lpn, *ppn));
        self.ftl.expect_pages(clean.to, clean.pages.len() as u32);
        clean.pages.len()
    }

    /// The die that a page of a Clean goes to.
    pub(super) fn destination_of_clean<M: Model>(&self, read: TransactionId, datapath: &mut Datapath<M>) -> DieId {
        let transaction = datapath.transaction_mut(read);
        let to = self.collections.cleaning.blocks[&transaction.plane].to;
        transaction.plane = to;
        transaction.is_copied = true;
        self.geometry.die_of_plane(to)
    }

    /// A page of a Clean has arrived: its chip programs it.
    pub(super) fn program_cleaned<M: Model>(
        &mut self,
        id: TransactionId,
        datapath: &mut Datapath<M>,
        kernel: &mut Kernel<M>,
    ) {
        let transaction = datapath.transaction_mut(id);
        let clean = &self.collections.cleaning.blocks[&self.geometry.plane_of(transaction.from)];
        transaction.class = Class::CollectProgram;
        transaction.ends_clean = clean.next + 1 == clean.pages.len();
        datapath.begin_alone(id, self, kernel);
    }

    /// A page of a Clean has been programmed; with `is_wanted` the map has it there.
    pub(super) fn cleaned(&mut self, lpn: Lpn, from: Ppn, to: Ppn, is_wanted: bool) {
        self.ftl.arrived(self.geometry.plane_of(to));
        if is_wanted {
            self.collections.cleaning.untold.insert(lpn, (to, from));
        }
    }

    /// The chips go on with the next page, or the controller has been told that all are moved.
    pub(super) fn clean_goes_on<M: Model>(
        &mut self,
        plane: PlaneId,
        has_ended: bool,
        datapath: &mut Datapath<M>,
        kernel: &mut Kernel<M>,
    ) {
        if has_ended {
            self.forget_clean(plane);
            self.advance(plane, datapath, kernel);
            return datapath.stop_keeping(self.geometry.die_of_plane(plane), self, kernel);
        }
        let clean = self.collections.cleaning.blocks.get_mut(&plane).expect("its pages are being moved");
        clean.next += 1;
        let (from, lpn) = clean.pages[clean.next];
        let id = datapath.insert(self.read_of_clean(plane, from, lpn, kernel.now()));
        datapath.begin_alone(id, self, kernel);
    }

    /// A Clean that was not sent is given up.
    pub(super) fn drop_clean(&mut self, plane: PlaneId) {
        if let Some(clean) = self.collections.cleaning.blocks.get(&plane) {
            self.ftl.expect_pages(clean.to, 0);
        }
        self.forget_clean(plane);
    }

    fn forget_clean(&mut self, plane: PlaneId) {
        let Some(clean) = self.collections.cleaning.blocks.remove(&plane) else { return };
        self.collections.cleaning.roles[self.geometry.die_of_plane(plane).index()].sends -= 1;
        self.collections.cleaning.roles[self.geometry.die_of_plane(clean.to).index()].programs -= 1;
        for (from, lpn) in clean.pages {
            if self.collections.cleaning.untold.get(&lpn).is_some_and(|(_, was)| *was == from) {
                self.collections.cleaning.untold.remove(&lpn);
            }
        }
    }
}
