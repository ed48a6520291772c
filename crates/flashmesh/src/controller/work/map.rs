//! The mapping cache with timed flash operations. A transaction whose entry is not in DRAM waits for the read of its translation page. Changed
//! entries are written back.

use crate::config;
use crate::controller::follow_ups::FollowUp;
use crate::controller::shared::Shared;
use crate::controller::{Backend, Context, Work};
use crate::flash::geometry::Geometry;
use crate::ftl::OpenBlockKind;
use crate::ftl::mapping_cache::{MapCacheAction, MappingCache};
use crate::ids::{Lpn, PlaneId, Ppn, TransactionId};
use crate::kernel::Kernel;
use crate::kernel::model::Model;
use crate::kernel::probe::{Notice, Origin};
use crate::schedule::purpose::Purpose;
use crate::schedule::transaction::{Owner, Transaction};
use crate::units::Bytes;

use super::host_read::{read_again, translate};
use super::kind::Kind;

/// The mapping cache, with the parameters of its flash operations.
#[derive(Clone, Debug)]
pub struct CachedMap {
    cache: MappingCache,
    /// Translation pages that the collection of each plane has changed. They are written back when all valid pages of its victim have moved.
    updates: Vec<Vec<Lpn>>,
    /// Bytes of a translation page that are read for a missing entry.
    read_size: Bytes,
    /// Bytes of a translation page that are read before a write-back.
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

    /// Returns the cached mapping entries and their states.
    pub fn state(&self) -> &MappingCache {
        &self.cache
    }

    /// Starts recording changes of cached mapping entries, for probes.
    pub fn keep_events(&mut self) {
        self.cache.keep_events();
    }

    /// Stops recording changes of cached mapping entries.
    pub fn drop_events(&mut self) {
        self.cache.drop_events();
    }

    /// Looks up the mapping entry of a transaction of a request or of the device cache. Returns whether the entry is in DRAM. If not, the
    /// transaction continues once the entry is in DRAM: after a read, or when the mapping cache has space for the entry.
    pub fn look_up<M: Model>(&mut self, id: TransactionId, cx: &mut Context<'_, M>) -> bool {
        let Transaction { lpn, owner: Owner { request, stream, .. }, .. } = *cx.datapath.queues.transaction(id);
        let is_there = self.cache.lookup(stream, lpn, id);
        if !is_there {
            cx.datapath.queues.transaction_mut(id).account.begin(cx.kernel.now());
            cx.kernel.notify(|| Notice::EntryWanted(request, lpn));
        }
        cx.push(FollowUp::SettleMap);
        if is_there {
            cx.push(FollowUp::Translated(id));
        }
        is_there
    }

    /// Performs the next pending action of the mapping cache: a read, a program, or the continuation of a transaction whose entry is in DRAM now.
    pub fn settle<M: Model>(&mut self, cx: &mut Context<'_, M>) {
        self.tell_entries(cx.kernel);
        let Some(action) = self.cache.next_action() else { return };
        match action {
            MapCacheAction::Read { page, for_write_back } => {
                let bytes = if for_write_back { self.write_back_read_size } else { self.read_size };
                let id = self.read_translation(page, bytes, cx);
                cx.push(FollowUp::Enqueue(id));
            }
            MapCacheAction::Program(page) => {
                cx.kernel.notify(|| Notice::TranslationProgramIssued(page));
                program(page, cx);
            }
            MapCacheAction::Resume(id) => cx.push(FollowUp::Resume(id)),
        }
        cx.push(FollowUp::SettleMap);
    }

    /// Notifies the probes, if any, of changes of cached mapping entries.
    fn tell_entries<M: Model>(&mut self, kernel: &mut Kernel<M>) {
        if kernel.is_probed() {
            self.cache.take_events().into_iter().for_each(|event| kernel.notify(|| Notice::EntryChanged(event)));
        }
    }

    fn read_translation<M: Model>(&mut self, page: Lpn, bytes: Bytes, cx: &mut Context<'_, M>) -> TransactionId {
        let from = translate(page, None, Some(self), cx);
        let plane = cx.shared.geometry.plane_of(from);
        let id = cx.begin(Transaction::new(Purpose::MapRead, Owner::FIRMWARE, page, plane, from, bytes));
        cx.kernel.notify(|| Notice::TranslationReadIssued(page));
        id
    }

    /// Handles the arrival of a translation page in the controller.
    fn page_read<M: Model>(&mut self, id: TransactionId, cx: &mut Context<'_, M>) {
        let page = cx.datapath.queues.transaction(id).lpn;
        cx.datapath.queues.transactions.remove(id);
        cx.shared.counters.flash.map_reads += 1;
        cx.kernel.notify(|| Notice::TranslationReadEnded(page));
        self.cache.finish_read(page);
        cx.push(FollowUp::SettleMap);
    }

    /// Handles the start of the program of a translation page, which stores the current state of its mapping entries.
    fn program_began<M: Model>(&mut self, page: Lpn, kernel: &mut Kernel<M>) {
        self.cache.begin_program(page);
        kernel.notify(|| Notice::TranslationProgramBegan(page));
    }

    /// Handles the acknowledged end of the program of a translation page.
    fn program_ended<M: Model>(&mut self, page: Lpn, cx: &mut Context<'_, M>) {
        cx.kernel.notify(|| Notice::TranslationProgramEnded(page));
        self.cache.finish_program(page);
        cx.push(FollowUp::SettleMap);
    }

    /// Marks the entry of `lpn` as changed: the page was written, moved or deallocated.
    #[inline]
    pub fn entry_changed(&mut self, lpn: Lpn) {
        if let Some(page) = self.cache.update(lpn) {
            self.cache.write_back(page);
        }
    }

    /// Marks the entry of `lpn` as changed, because a read has assigned a location to the unmapped page. The entry must be in DRAM. The
    /// caller then schedules [`FollowUp::SettleMap`], which performs the follow-up actions of the mapping cache.
    pub fn placement_changed<M: Model>(&mut self, lpn: Lpn, kernel: &mut Kernel<M>) {
        self.entry_changed(lpn);
        self.tell_entries(kernel);
    }

    /// Marks the entry of a page as changed, because the collection of `victim_plane` has moved the page. If the entry is not in DRAM, its
    /// translation page is written back together with others when the victim is empty. Does nothing for a translation page.
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

    /// Begins the write-back of the translation pages that a collection has changed, after all pages of its victim have moved. Returns whether there
    /// were any; the caller must then schedule [`FollowUp::SettleMap`].
    pub fn write_back_moves(&mut self, victim_plane: PlaneId) -> bool {
        let pages = &mut self.updates[victim_plane.index()];
        let has_any = !pages.is_empty();
        pages.drain(..).for_each(|page| self.cache.write_back(page));
        has_any
    }

    /// Begins the write-back of a page of the map for a checkpoint.
    pub fn write_back(&mut self, page: Lpn) {
        self.cache.write_back(page);
    }
}

impl Kind for CachedMap {
    /// Enqueues, as one batch like the pages of a request, the transactions that waited for entries of the translation page.
    fn read_done<M: Model>(id: TransactionId, _: Purpose, backend: &mut Backend<M>) {
        if let (Work { map: Some(map), .. }, cx) = &mut backend.parts() {
            map.page_read(id, cx);
        }
        backend.datapath.interconnect.begin_batch();
        backend.run();
        backend.datapath.interconnect.end_batch();
    }

    fn programmed<M: Model>(id: TransactionId, _: Purpose, backend: &mut Backend<M>) {
        let cx = &mut backend.context();
        let Transaction { lpn: page, to, .. } = *cx.datapath.queues.transaction(id);
        cx.kernel.notify(|| Notice::PageProgrammed(to, page, Origin::Map));
        cx.shared.ftl.commit_write(page, to);
        cx.shared.count_map_program(page);
    }

    fn acknowledged<M: Model>(id: TransactionId, backend: &mut Backend<M>) {
        let (Work { map, .. }, cx) = &mut backend.parts();
        let page = cx.datapath.queues.transaction(id).lpn;
        cx.datapath.queues.transactions.remove(id);
        if cx.shared.is_of_map_cache(page)
            && let Some(map) = map
        {
            map.program_ended(page, cx);
        }
    }

    fn rerouted<M: Model>(id: TransactionId, backend: &mut Backend<M>) {
        let (Work { map, .. }, cx) = &mut backend.parts();
        read_again(id, map.as_deref_mut(), cx);
    }

    fn is_current(transaction: &Transaction, shared: &Shared) -> bool {
        transaction.purpose == Purpose::MapProgram || shared.ftl.is_at(transaction.lpn, transaction.from)
    }

    #[inline]
    fn open_block(transaction: &Transaction, _: &Shared) -> Option<OpenBlockKind> {
        (transaction.purpose == Purpose::MapProgram).then_some(OpenBlockKind::Translation)
    }

    fn began<M: Model>(id: TransactionId, backend: &mut Backend<M>) {
        let (Work { map, .. }, cx) = &mut backend.parts();
        let page = cx.datapath.queues.transaction(id).lpn;
        let Shared { journal, ftl, .. } = &mut *cx.shared;
        journal.program_began(page, ftl);
        if cx.shared.is_of_map_cache(page)
            && let Some(map) = map
        {
            map.program_began(page, cx.kernel);
        }
    }
}

/// Begins the program of a translation page, or of a page of the journal or of a checkpoint.
pub(super) fn program<M: Model>(page: Lpn, cx: &mut Context<'_, M>) {
    let Context { shared, datapath, .. } = &mut *cx;
    let plane = Shared::place_map_write(shared, page, datapath);
    let id = cx.begin_internal(Purpose::MapProgram, page, Ppn(0), plane);
    cx.push(FollowUp::Enqueue(id));
}
