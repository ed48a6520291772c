//! The cache of the map with timed flash operations: a transaction whose entry is not in DRAM waits until its translation page
//! has been read, and changed entries are written back.

use crate::config;
use crate::controller::Context;
use crate::controller::shared::Shared;
use crate::controller::steps::Step;
use crate::flash::geometry::Geometry;
use crate::ftl::mapping_cache::{Action, MappingCache};
use crate::ids::{Lpn, PlaneId, Ppn, TransactionId};
use crate::kernel::Kernel;
use crate::kernel::model::Model;
use crate::kernel::probe::Notice;
use crate::schedule::transaction::{Owner, Transaction};
use crate::schedule::work::Work;
use crate::units::Bytes;

use super::host_read::translate;

/// The cache of the map, and what its translation pages are read and written by.
#[derive(Clone, Debug)]
pub struct CachedMap {
    cache: MappingCache,
    /// By plane under collection: translation pages that are to be written back when its victim is empty.
    updates: Vec<Vec<Lpn>>,
    /// What is read of a translation page for an entry.
    read_size: Bytes,
    /// The same before a write-back.
    write_back_read_size: Bytes,
}

impl CachedMap {
    pub fn new(cache: MappingCache, config: &config::Mapping, geometry: &Geometry) -> CachedMap {
        CachedMap {
            cache,
            updates: vec![Vec::new(); geometry.planes() as usize],
            read_size: config.read_size.unwrap_or(geometry.page_size),
            write_back_read_size: config.write_back_read_size.unwrap_or(geometry.page_size),
        }
    }

    /// The state machine: which entries it holds.
    pub fn state(&self) -> &MappingCache {
        &self.cache
    }

    /// Has the cache keep what probes are told of.
    pub fn keep_events(&mut self) {
        self.cache.keep_events();
    }

    /// Ends that.
    pub fn drop_events(&mut self) {
        self.cache.drop_events();
    }

    /// Looks up the entry of a transaction of a request, or of the device cache; gives whether it is there. If not, the transaction is
    /// resumed when it has been read.
    pub fn look_up<M: Model>(&mut self, id: TransactionId, cx: &mut Context<'_, M>) -> bool {
        let Transaction { lpn, owner: Owner { request, stream, .. }, .. } = *cx.datapath.transaction(id);
        let is_there = self.cache.lookup(stream, lpn, id);
        if !is_there {
            cx.datapath.transaction_mut(id).account.begin(cx.kernel.now());
            cx.kernel.tell(|| Notice::EntryWanted(request, lpn));
        }
        cx.then(Step::SettleMap);
        if is_there {
            cx.then(Step::Translated(id));
        }
        is_there
    }

    /// Does the next thing that the cache asks for.
    pub fn settle<M: Model>(&mut self, cx: &mut Context<'_, M>) {
        self.tell_entries(cx.kernel);
        let Some(action) = self.cache.next_action() else { return };
        match action {
            Action::Read { page, whole } => {
                let id = self.read_translation(page, whole, cx);
                cx.then(Step::Enqueue(id));
            }
            Action::Program(page) => {
                cx.kernel.tell(|| Notice::TranslationProgramIssued(page));
                program(page, cx);
            }
            Action::Resume(id) => cx.then(Step::Resume(id)),
        }
        cx.then(Step::SettleMap);
    }

    /// Tells the probes, when there are any, what became of entries.
    fn tell_entries<M: Model>(&mut self, kernel: &mut Kernel<M>) {
        if kernel.is_probed() {
            self.cache.take_events().into_iter().for_each(|event| kernel.tell(|| Notice::EntryChanged(event)));
        }
    }

    fn read_translation<M: Model>(&mut self, page: Lpn, whole: bool, cx: &mut Context<'_, M>) -> TransactionId {
        let bytes = if whole { self.write_back_read_size } else { self.read_size };
        let from = translate(page, Some(self), cx);
        let plane = cx.shared.geometry.plane_of(from);
        let id = cx.begin(Transaction::new(Work::MapRead, Owner::FIRMWARE, page, plane, from, bytes));
        cx.kernel.tell(|| Notice::TranslationReadIssued(page));
        id
    }

    /// A translation page has reached the controller.
    pub fn read_done<M: Model>(&mut self, id: TransactionId, cx: &mut Context<'_, M>) {
        let page = cx.datapath.transaction(id).lpn;
        cx.datapath.remove(id);
        cx.shared.counters.flash.map_reads += 1;
        cx.kernel.tell(|| Notice::TranslationReadEnded(page));
        self.cache.page_read(page);
        cx.then(Step::SettleMap);
    }

    /// The program of a translation page begins: its content is what the entries say now.
    pub fn program_began<M: Model>(&mut self, page: Lpn, kernel: &mut Kernel<M>) {
        self.cache.begin_program(page);
        kernel.tell(|| Notice::TranslationProgramBegan(page));
    }

    /// The controller knows that a translation page has been programmed.
    pub fn programmed<M: Model>(&mut self, page: Lpn, cx: &mut Context<'_, M>) {
        cx.kernel.tell(|| Notice::TranslationProgramEnded(page));
        self.cache.programmed(page);
        cx.then(Step::SettleMap);
    }

    /// A page of the host is somewhere else now, or nowhere: its entry has changed.
    #[inline]
    pub fn entry_changed(&mut self, lpn: Lpn) {
        if let Some(page) = self.cache.update(lpn) {
            self.cache.write_back(page);
        }
    }

    /// A page read before it was written has got a place: its entry, which is in DRAM, has changed. What follows is done by who
    /// settles the map next.
    pub fn placement_changed<M: Model>(&mut self, lpn: Lpn, kernel: &mut Kernel<M>) {
        self.entry_changed(lpn);
        self.tell_entries(kernel);
    }

    /// The collection of `victim_plane` has moved a page: its entry has changed. Translation pages of which no entry in the
    /// cache tells are written back together when the victim is empty.
    pub fn moved<M: Model>(&mut self, lpn: Lpn, victim_plane: PlaneId, kernel: &mut Kernel<M>) {
        if self.cache.pages().contains(lpn) {
            return;
        }
        if let Some(page) = self.cache.update(lpn) {
            let pages = &mut self.updates[victim_plane.index()];
            if pages.last() != Some(&page) {
                pages.push(page);
            }
        }
        self.tell_entries(kernel);
    }

    /// All pages of a victim have moved: the translation pages that say so are to be written back; gives whether there are any.
    pub fn write_back_moves(&mut self, victim_plane: PlaneId) -> bool {
        let pages = &mut self.updates[victim_plane.index()];
        let has_any = !pages.is_empty();
        pages.drain(..).for_each(|page| self.cache.write_back(page));
        has_any
    }

    /// A checkpoint wants a page of the map on flash.
    pub fn write_back(&mut self, page: Lpn) {
        self.cache.write_back(page);
    }
}

/// A translation page, of the map or behind those of the map, is to be programmed.
pub(super) fn program<M: Model>(page: Lpn, cx: &mut Context<'_, M>) {
    let Context { shared, datapath, .. } = &mut *cx;
    let plane = Shared::place_map_write(shared, page, datapath);
    let id = cx.begin_own(Work::MapProgram, page, Ppn(0), plane);
    cx.then(Step::Enqueue(id));
}

/// The array has programmed a translation page.
pub fn committed<M: Model>(page: Lpn, to: Ppn, cx: &mut Context<'_, M>) {
    use crate::kernel::probe::Origin;
    cx.kernel.tell(|| Notice::PageProgrammed(to, page, Origin::Map));
    cx.shared.ftl.commit_write(page, to);
    cx.shared.count_map_program(page);
}
