//! Clean (Network-on-SSD, CAL 2012, section 3.4): one packet has the valid pages of a block moved to another chip.
//!
//! The packet lists the pages that are valid when it is sent, and where they go. The chip of the block reads them one after the other and
//! sends each on; the other one programs it; when that has programmed the last it sends a CleanAck, and the controller erases the block. No
//! command and no acknowledgement passes in between.
//!
//! - The next page is read when the one before has been programmed \[choice\]: a chip has one page buffer for each plane. That takes as long
//!   as reading all, sending all and programming all, as the paper has it.
//! - Where programs take several mapping units, they gather in the page buffer of the other chip, page after page, until they fill one or are the
//!   last; then they are programmed, and what is left of the last page follows \[choice\].
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
use crate::controller::steps::Step;
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
    /// How many of them have been read, or are being read.
    read: usize,
    /// How many have left.
    left: usize,
    /// Those in the page buffer of the other chip, or being programmed.
    buffer: Vec<TransactionId>,
    /// How many the buffer has room for, those on their way counted.
    room: usize,
    /// The plane that they go to.
    to: PlaneId,
    die_of_block: DieId,
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
        let room = geometry.units_per_program as usize;
        self.blocks.insert(plane, Clean { pages, read: 1, left: 0, buffer: Vec::new(), room, to, die_of_block: die });
        self.roles[die.index()].sends += 1;
        self.roles[geometry.die_of_plane(to).index()].programs += 1;
        Some(cx.begin_own(Work::CollectRead(Route::Clean), lpn, from, plane))
    }

    /// Whether pages of the block of a plane move by a packet now.
    pub fn is_under_way(&self, plane: PlaneId) -> bool {
        self.blocks.contains_key(&plane)
    }

    /// How many pages the packet for the block of a plane lists, if it is sent now.
    pub fn pages_to_list(&self, plane: PlaneId, shared: &Shared) -> usize {
        self.blocks[&plane].pages.iter().filter(|(ppn, lpn)| shared.ftl.is_at(*lpn, *ppn)).count()
    }

    /// The packet is sent: it lists what is valid now.
    pub fn list<M: Model>(&mut self, read: TransactionId, cx: &mut Context<'_, M>) {
        let plane = cx.datapath.transaction(read).plane;
        let clean = self.blocks.get_mut(&plane).expect("a Clean is sent for a block that has one");
        clean.pages.retain(|(ppn, lpn)| cx.shared.ftl.is_at(*lpn, *ppn));
        cx.shared.ftl.expect_pages(clean.to, clean.pages.len() as u32);
        let others = self.begin_reads_of_page(plane, 1, cx);
        if !others.is_empty() {
            cx.datapath.list_with(read, &others, cx.kernel);
        }
    }

    /// Begins reads of the listed units of one page from the one numbered `first` on, which follow the one before it on its page.
    fn begin_reads_of_page<M: Model>(
        &mut self,
        plane: PlaneId,
        first: usize,
        cx: &mut Context<'_, M>,
    ) -> Vec<TransactionId> {
        let clean = self.blocks.get_mut(&plane).expect("its pages are being moved");
        let units = cx.shared.geometry.units_per_page;
        let page = clean.pages[first - 1].0.0 / units;
        let of_page = clean.pages[first..].iter().take_while(|(ppn, _)| ppn.0 / units == page);
        let begin = |&(from, lpn): &(Ppn, Lpn)| cx.begin_own(Work::CollectRead(Route::Clean), lpn, from, plane);
        let begun: Vec<TransactionId> = of_page.map(begin).collect();
        clean.read = first + begun.len();
        begun
    }

    /// The die that a page of a Clean goes to, or as much of it as the page buffer there has room for.
    pub fn destination<M: Model>(&mut self, read: TransactionId, cx: &mut Context<'_, M>) -> DieId {
        let plane = cx.datapath.transaction(read).plane;
        let clean = self.blocks.get_mut(&plane).expect("its pages are being moved");
        let reads: Vec<TransactionId> = cx.datapath.with_companions(read).take(clean.room).collect();
        cx.datapath.part(cx.shared.geometry.die_of_plane(plane), reads.len());
        clean.left += reads.len();
        clean.room -= reads.len();
        for id in reads {
            cx.datapath.transaction_mut(id).plane = clean.to;
        }
        cx.shared.geometry.die_of_plane(clean.to)
    }

    /// Whether the register of a die holds units of a Clean for which the other chip has no room yet.
    #[inline(always)]
    pub fn holds(&self, die: DieId) -> bool {
        !self.blocks.is_empty() && self.holds_rest(die)
    }

    #[inline(never)]
    fn holds_rest(&self, die: DieId) -> bool {
        self.blocks.values().any(|clean| clean.room == 0 && clean.die_of_block == die)
    }

    /// A page of a Clean has arrived: its chip programs it, or the one before reads on where more fill a program. Gives the die of that, once
    /// all that left together has arrived.
    pub fn arrived<M: Model>(&mut self, id: TransactionId, cx: &mut Context<'_, M>) -> Option<DieId> {
        let source = cx.shared.geometry.plane_of(cx.datapath.transaction(id).from);
        let clean = self.blocks.get_mut(&source).expect("its pages are being moved");
        clean.buffer.push(id);
        let program = cx.shared.geometry.units_per_program as usize;
        if clean.buffer.len() + clean.room < program {
            return None;
        }
        let is_last = clean.left == clean.pages.len();
        if clean.room > 0 && !is_last {
            return Some(self.read_next(source, cx));
        }
        clean.room = 0;
        let route = if is_last { Route::CleanEnd } else { Route::Clean };
        for &id in &clean.buffer {
            cx.datapath.transaction_mut(id).work = Work::CollectProgram(route);
        }
        let lead = cx.datapath.run_together(&clean.buffer);
        Some(cx.datapath.begin_alone(lead, cx.kernel))
    }

    /// A page of a Clean has been programmed; with `is_wanted` the map has it there.
    pub fn programmed(&mut self, lpn: Lpn, from: Ppn, to: Ppn, is_wanted: bool, shared: &mut Shared) {
        shared.ftl.arrived(shared.geometry.plane_of(to));
        if is_wanted {
            self.untold.insert(lpn, (to, from));
        }
    }

    /// A program of a Clean has ended that was not the last: the chips go on with what is left of the page, which the register of the die of the
    /// block holds, or with the next page.
    pub fn go_on<M: Model>(&mut self, plane: PlaneId, cx: &mut Context<'_, M>) {
        let clean = self.blocks.get_mut(&plane).expect("its pages are being moved");
        clean.buffer.clear();
        clean.room = cx.shared.geometry.units_per_program as usize;
        if clean.left < clean.read {
            return cx.then(Step::SendRest(cx.shared.geometry.die_of_plane(plane)));
        }
        let die = self.read_next(plane, cx);
        cx.then(Step::TryIssue(die));
    }

    /// The next page of the block of a plane is read: gives its die.
    fn read_next<M: Model>(&mut self, plane: PlaneId, cx: &mut Context<'_, M>) -> DieId {
        let first = self.blocks[&plane].read;
        let (from, lpn) = self.blocks[&plane].pages[first];
        let mut together = vec![cx.begin_own(Work::CollectRead(Route::Clean), lpn, from, plane)];
        together.extend(self.begin_reads_of_page(plane, first + 1, cx));
        let lead = cx.datapath.run_together(&together);
        cx.datapath.begin_alone(lead, cx.kernel)
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
