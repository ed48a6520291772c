//! Clean (Network-on-SSD, CAL 2012, section 3.4): one packet makes a chip move the valid pages of a block to another chip.
//!
//! The packet lists the pages that are valid when it is sent, and their destination. The source chip reads them one after the other and sends each to
//! the destination chip, which programs it. After the last program the destination chip sends a CleanAck, and the controller erases the block. There
//! is no other command or acknowledgement.
//!
//! - The next page is read when the previous one has been programmed \[choice\]: a chip has one page buffer for each plane. This takes as long as
//!   reading all, sending all and programming all pages, as in the paper.
//! - If programs write several mapping units, units gather in the page buffer of the destination chip, page after page, until they fill a program or
//!   are the last units. Units of the last page that do not fit are sent after the program \[choice\].
//! - Until the CleanAck, transactions for the source die wait (see `clean.rs` of the datapath). Reads of pages that are already programmed at their
//!   new location wait as well, because the controller still has their old address. A page that the host overwrites meanwhile moves nevertheless, and
//!   is invalid at its new location.
//! - The erase is a separate command \[choice\]: only the controller is notified when both chips are done. Translation pages and replicas stay in
//!   their plane, and pages that no plane accepts are moved through the controller.
//!
//! # Freedom from deadlock
//!
//! A source die is reserved until the destination die has programmed its pages. A destination die never begins a Clean, and a source die is never
//! chosen as a destination. So a die for which others wait is never reserved itself: it ends its current operation and then accepts the page, whose
//! space is reserved (`IncomingPages::admit_clean` in `ftl/collection/chip_to_chip_destination.rs`). If the die of a block may not begin a Clean, the pages of the block are
//! moved through the controller.

use rustc_hash::FxHashMap;

use crate::controller::follow_ups::FollowUp;
use crate::controller::shared::Shared;
use crate::controller::{Backend, Context, Work};
use crate::flash::geometry::Geometry;
use crate::ftl::OpenBlockKind;
use crate::ids::{BlockId, DieId, Lpn, PlaneId, Ppn, TransactionId};
use crate::kernel::model::Model;
use crate::schedule::purpose::{MoveRoute, Purpose};
use crate::schedule::transaction::Transaction;

/// A Clean in progress: one packet makes a chip send the valid pages of a block to another chip.
#[derive(Clone, Debug)]
struct Clean {
    /// Pages listed in the packet, by physical and logical address.
    pages: Vec<(Ppn, Lpn)>,
    /// Number of listed pages whose reads have begun.
    read: usize,
    /// Number of listed pages that the source die has sent.
    sent: usize,
    /// Mapping units that are in the page buffer of the destination chip, or are being programmed from there.
    buffer: Vec<TransactionId>,
    /// Free space in `buffer`, in mapping units. Space for units in flight counts as occupied.
    room: usize,
    /// Destination plane, in which the pages are programmed.
    to: PlaneId,
    die_of_block: DieId,
}

/// Role of a die in Cleans (chip-to-chip moves of whole blocks): how many of those in progress have their source or destination there.
#[derive(Clone, Copy, Debug, Default)]
struct Role {
    /// Number of Cleans in progress whose source block is on the die.
    sends: u32,
    /// Number of Cleans in progress whose destination plane is on the die.
    programs: u32,
}

/// All Cleans (chip-to-chip moves of whole blocks) in progress.
#[derive(Clone, Debug, Default)]
pub struct Cleaning {
    /// Cleans (chip-to-chip moves of whole blocks) in progress, by the plane of their source block.
    blocks: FxHashMap<PlaneId, Clean>,
    /// Roles of each die in Cleans (chip-to-chip moves of whole blocks), as source or destination; empty if the drive does not use Cleans.
    roles: Vec<Role>,
    /// Pages whose move to another chip is not yet acknowledged: (new, old) location.
    unacknowledged_moves: FxHashMap<Lpn, (Ppn, Ppn)>,
}

impl Cleaning {
    pub fn new(geometry: &Geometry, cleans: bool) -> Cleaning {
        let dies = if cleans { geometry.dies() as usize } else { 0 };
        Cleaning { roles: vec![Role::default(); dies], ..Cleaning::default() }
    }

    /// Returns the old location of the page of `read`, if `read` is addressed to the new location and the move is not acknowledged; otherwise `None`.
    pub fn old_location(&self, read: &Transaction) -> Option<Ppn> {
        self.unacknowledged_moves.get(&read.lpn).filter(|(to, _)| *to == read.from).map(|(_, from)| *from)
    }

    /// Begins a Clean (one packet makes the chip send all valid pages of a block to another chip) of `block`, the victim of `plane`, from page
    /// `cursor` on. Returns the first read of the Clean; `None` if no Clean can begin.
    pub fn begin<M: Model>(
        &mut self,
        plane: PlaneId,
        block: BlockId,
        cursor: u32,
        cx: &mut Context<'_, M>,
    ) -> Option<TransactionId> {
        let Shared { geometry, ftl, .. } = &mut *cx.shared;
        let die = geometry.die_of_plane(plane);
        if self.roles[die.index()].programs > 0
            || ftl.move_block_kind(geometry.ppn(block, 0)) != OpenBlockKind::Collection
        {
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
        let (to, count) = ftl.incoming_pages().admit_clean(&lpns, plane, |die| self.roles[die.index()].sends == 0)?;
        pages.truncate(count);
        let (from, lpn) = pages[0];
        let room = geometry.units_per_program as usize;
        self.blocks.insert(plane, Clean { pages, read: 1, sent: 0, buffer: Vec::new(), room, to, die_of_block: die });
        self.roles[die.index()].sends += 1;
        self.roles[geometry.die_of_plane(to).index()].programs += 1;
        Some(cx.begin_internal(Purpose::CollectRead(MoveRoute::Clean), lpn, from, plane))
    }

    /// Returns whether a Clean (chip-to-chip move of a whole block) of the victim of `plane` has begun and was neither acknowledged nor cancelled.
    pub fn is_under_way(&self, plane: PlaneId) -> bool {
        self.blocks.contains_key(&plane)
    }

    /// Returns the number of valid pages that the packet of the Clean (chip-to-chip move of a whole block) of the victim of `plane` would list if it
    /// were sent now.
    pub fn pages_to_list(&self, plane: PlaneId, shared: &Shared) -> usize {
        self.blocks[&plane].pages.iter().filter(|(ppn, lpn)| shared.ftl.is_at(*lpn, *ppn)).count()
    }

    /// Fixes the page list of the Clean (chip-to-chip move of a whole block) that begins with `read`: removes pages that are no longer valid. Called
    /// when the packet is sent.
    pub fn list<M: Model>(&mut self, read: TransactionId, cx: &mut Context<'_, M>) {
        let plane = cx.datapath.queues.transaction(read).plane;
        let clean = self.blocks.get_mut(&plane).expect("a Clean is sent for a block that has one");
        clean.pages.retain(|(ppn, lpn)| cx.shared.ftl.is_at(*lpn, *ppn));
        cx.shared.ftl.incoming_pages().set_count(clean.to, clean.pages.len() as u32);
        let others = self.begin_reads_of_page(plane, 1, cx);
        if !others.is_empty() {
            cx.datapath.chain_listed(read, &others, cx.kernel);
        }
    }

    /// Begins reads of the listed mapping units that are on the same flash page as the unit at index `first` - 1, and returns these reads.
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
        let begin =
            |&(from, lpn): &(Ppn, Lpn)| cx.begin_internal(Purpose::CollectRead(MoveRoute::Clean), lpn, from, plane);
        let begun: Vec<TransactionId> = of_page.map(begin).collect();
        clean.read = first + begun.len();
        begun
    }

    /// Returns the destination die for the data of `read` and its companions (units of the same page). Limits the transfer to the free
    /// space of the page buffer at the destination.
    pub fn destination<M: Model>(&mut self, read: TransactionId, cx: &mut Context<'_, M>) -> DieId {
        let plane = cx.datapath.queues.transaction(read).plane;
        let clean = self.blocks.get_mut(&plane).expect("its pages are being moved");
        let reads: Vec<TransactionId> =
            cx.datapath.queues.transactions.with_companions(read).take(clean.room).collect();
        cx.datapath.limit_transfer(cx.shared.geometry.die_of_plane(plane), reads.len());
        clean.sent += reads.len();
        clean.room -= reads.len();
        for id in reads {
            cx.datapath.queues.transaction_mut(id).plane = clean.to;
        }
        cx.shared.geometry.die_of_plane(clean.to)
    }

    /// Returns whether `die` keeps mapping units of a Clean (chip-to-chip move of a whole block) in its page register because the
    /// destination chip has no buffer space yet.
    #[inline(always)]
    pub fn holds(&self, die: DieId) -> bool {
        !self.blocks.is_empty() && self.holds_rest(die)
    }

    #[inline(never)]
    fn holds_rest(&self, die: DieId) -> bool {
        self.blocks.values().any(|clean| clean.room == 0 && clean.die_of_block == die)
    }

    /// Handles the arrival of a mapping unit at the destination chip of a Clean (chip-to-chip move of a whole block). After the last unit of the
    /// transfer, schedules the next operation, and returns its die: the next read if the program still has space, otherwise the program. Returns
    /// `None` if more units of the transfer will arrive.
    pub fn arrived<M: Model>(&mut self, id: TransactionId, cx: &mut Context<'_, M>) -> Option<DieId> {
        let source = cx.shared.geometry.plane_of(cx.datapath.queues.transaction(id).from);
        let clean = self.blocks.get_mut(&source).expect("its pages are being moved");
        clean.buffer.push(id);
        let program = cx.shared.geometry.units_per_program as usize;
        if clean.buffer.len() + clean.room < program {
            return None;
        }
        let is_last = clean.sent == clean.pages.len();
        if clean.room > 0 && !is_last {
            return Some(self.read_next(source, cx));
        }
        clean.room = 0;
        let route = if is_last { MoveRoute::CleanEnd } else { MoveRoute::Clean };
        for &id in &clean.buffer {
            cx.datapath.queues.transaction_mut(id).purpose = Purpose::CollectProgram(route);
        }
        let lead = cx.datapath.queues.transactions.chain_operation(&clean.buffer);
        Some(cx.datapath.enqueue_clean_operation(lead, cx.kernel))
    }

    /// Handles the end of the program of a mapping unit. `is_wanted` is true if the map now points to the new location of the unit.
    pub fn programmed(&mut self, lpn: Lpn, from: Ppn, to: Ppn, is_wanted: bool, shared: &mut Shared) {
        shared.ftl.incoming_pages().finish(shared.geometry.plane_of(to));
        if is_wanted {
            self.unacknowledged_moves.insert(lpn, (to, from));
        }
    }

    /// Continues the Clean (chip-to-chip move of a whole block) of the victim of `plane` after any program but the last one: sends the units that
    /// remain in the register of the source die, or reads the next page.
    pub fn go_on<M: Model>(&mut self, plane: PlaneId, cx: &mut Context<'_, M>) {
        let clean = self.blocks.get_mut(&plane).expect("its pages are being moved");
        clean.buffer.clear();
        clean.room = cx.shared.geometry.units_per_program as usize;
        if clean.sent < clean.read {
            return cx.push(FollowUp::SendRest(cx.shared.geometry.die_of_plane(plane)));
        }
        let die = self.read_next(plane, cx);
        cx.push(FollowUp::TryIssue(die));
    }

    /// Schedules the read of the next listed page of the Clean (chip-to-chip move of a whole block) of the victim of `plane`. Returns the
    /// die of the read.
    fn read_next<M: Model>(&mut self, plane: PlaneId, cx: &mut Context<'_, M>) -> DieId {
        let first = self.blocks[&plane].read;
        let (from, lpn) = self.blocks[&plane].pages[first];
        let mut together = vec![cx.begin_internal(Purpose::CollectRead(MoveRoute::Clean), lpn, from, plane)];
        together.extend(self.begin_reads_of_page(plane, first + 1, cx));
        let lead = cx.datapath.queues.transactions.chain_operation(&together);
        cx.datapath.enqueue_clean_operation(lead, cx.kernel)
    }

    /// Cancels the Clean (chip-to-chip move of a whole block) of the victim of `plane`. The packet of the Clean must not have been sent.
    pub fn give_up(&mut self, plane: PlaneId, shared: &mut Shared) {
        if let Some(clean) = self.blocks.get(&plane) {
            shared.ftl.incoming_pages().set_count(clean.to, 0);
        }
        self.end(plane, shared);
    }

    /// Removes the Clean (chip-to-chip move of a whole block) of the victim of `plane`, after the Clean was acknowledged or cancelled.
    pub fn end(&mut self, plane: PlaneId, shared: &Shared) {
        let Some(clean) = self.blocks.remove(&plane) else { return };
        self.roles[shared.geometry.die_of_plane(plane).index()].sends -= 1;
        self.roles[shared.geometry.die_of_plane(clean.to).index()].programs -= 1;
        for (from, lpn) in clean.pages {
            if self.unacknowledged_moves.get(&lpn).is_some_and(|(_, was)| *was == from) {
                self.unacknowledged_moves.remove(&lpn);
            }
        }
    }
}

/// Ends the Clean (chip-to-chip move of a whole block) of the victim of `plane`, after the last program of the Clean was acknowledged.
/// Reroutes the reads of moved pages, and releases the reserved source die.
pub fn ended<M: Model>(plane: PlaneId, backend: &mut Backend<M>) {
    let (Work { moves, .. }, cx) = &mut backend.parts();
    moves.cleaning.end(plane, cx.shared);
    cx.push(FollowUp::Advance(plane));
    backend.run();
    let die = backend.controller.shared.geometry.die_of_plane(plane);
    for id in backend.datapath.take_moved(die, &backend.controller) {
        backend.datapath.queues.notify_rerouted(id, &mut backend.kernel);
        backend.reroute(id);
    }
    backend.datapath.clean_execution.end_reservation(die);
    backend.try_issue(die);
}
