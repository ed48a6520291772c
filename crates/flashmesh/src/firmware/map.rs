//! The cache of the map with timed flash operations: a transaction whose entry is not in DRAM waits until its translation page
//! has been read, and changed entries are written back.

use crate::config;
use crate::datapath::Datapath;
use crate::flash::geometry::Geometry;
use crate::ftl::mapping_cache::{Action, MappingCache};
use crate::ids::{Lpn, PlaneId, Ppn, TransactionId};
use crate::kernel::Kernel;
use crate::kernel::model::Model;
use crate::kernel::probe::Notice;
use crate::schedule::transaction::{Class, Transaction};
use crate::units::Bytes;

use super::Firmware;

/// The cache of the map, and what its translation pages are read and written by.
#[derive(Debug)]
pub(super) struct CachedMap {
    pub cache: MappingCache,
    /// By plane under collection: translation pages that are to be written back when its victim is empty.
    updates: Vec<Vec<Lpn>>,
    /// What is read of a translation page for an entry.
    read_size: Bytes,
    /// The same before a write-back.
    write_back_read_size: Bytes,
}

impl CachedMap {
    pub(super) fn new(cache: MappingCache, config: &config::Mapping, geometry: &Geometry) -> CachedMap {
        CachedMap {
            cache,
            updates: vec![Vec::new(); geometry.planes() as usize],
            read_size: config.read_size.unwrap_or(geometry.page_size),
            write_back_read_size: config.write_back_read_size.unwrap_or(geometry.page_size),
        }
    }
}

impl Firmware {
    /// Whether a transaction of a request, or of the device cache, may be translated now; else it is resumed when its entry of the map is in DRAM.
    #[inline]
    pub(super) fn has_entry<M: Model>(
        &mut self,
        id: TransactionId,
        datapath: &mut Datapath<M>,
        kernel: &mut Kernel<M>,
    ) -> bool {
        if !M::CACHES {
            return true;
        }
        let Some(map) = &mut self.map else { return true };
        let Transaction { lpn, request, stream, .. } = *datapath.transaction(id);
        let is_there = map.cache.lookup(stream, lpn, id);
        if !is_there {
            datapath.transaction_mut(id).account.begin(kernel.now());
            kernel.tell(|| Notice::EntryWanted(request, lpn));
        }
        self.settle_map(datapath, kernel);
        if is_there {
            kernel.tell(|| Notice::EntryUsed(request, lpn));
        }
        is_there
    }

    /// Does what the cache of the map asks for.
    pub(super) fn settle_map<M: Model>(&mut self, datapath: &mut Datapath<M>, kernel: &mut Kernel<M>) {
        if !M::CACHES {
            return;
        }
        self.tell_entries(kernel);
        while let Some(action) = self.map.as_mut().and_then(|map| map.cache.next_action()) {
            match action {
                Action::Read { page, whole } => self.read_translation(page, whole, datapath, kernel),
                Action::Program(page) => self.program_translation(page, datapath, kernel),
                Action::Resume(id) => self.resume_translated(id, datapath, kernel),
            }
        }
    }

    /// Tells the probes, when there are any, what became of entries.
    fn tell_entries<M: Model>(&mut self, kernel: &mut Kernel<M>) {
        if kernel.is_probed()
            && let Some(map) = &mut self.map
        {
            map.cache.take_events().into_iter().for_each(|event| kernel.tell(|| Notice::EntryChanged(event)));
        }
    }

    fn read_translation<M: Model>(
        &mut self,
        page: Lpn,
        whole: bool,
        datapath: &mut Datapath<M>,
        kernel: &mut Kernel<M>,
    ) {
        let Some(map) = &self.map else { return };
        let bytes = if whole { map.write_back_read_size } else { map.read_size };
        let from = self.translate_read(page, kernel);
        let mut transaction = Transaction::new(Class::MapRead, None, page, self.geometry.plane_of(from), from, bytes);
        transaction.account.begin(kernel.now());
        let id = datapath.insert(transaction);
        kernel.tell(|| Notice::TranslationReadIssued(page));
        self.enqueue(id, datapath, kernel);
    }

    fn program_translation<M: Model>(&mut self, page: Lpn, datapath: &mut Datapath<M>, kernel: &mut Kernel<M>) {
        kernel.tell(|| Notice::TranslationProgramIssued(page));
        self.program_system_page(page, datapath, kernel);
    }

    /// A translation page, of the map or behind those of the map, is to be programmed.
    pub(super) fn program_system_page<M: Model>(
        &mut self,
        page: Lpn,
        datapath: &mut Datapath<M>,
        kernel: &mut Kernel<M>,
    ) {
        let plane = self.place_map_write(page, datapath);
        let mut transaction = Transaction::new(Class::MapProgram, None, page, plane, Ppn(0), self.geometry.page_size);
        transaction.account.begin(kernel.now());
        let id = datapath.insert(transaction);
        self.enqueue(id, datapath, kernel);
    }

    /// The entry that a transaction waited for is in DRAM.
    fn resume_translated<M: Model>(&mut self, id: TransactionId, datapath: &mut Datapath<M>, kernel: &mut Kernel<M>) {
        let transaction = datapath.transaction_mut(id);
        transaction.account.waited_for_map(kernel.now());
        let Transaction { class, request, lpn, .. } = *transaction;
        if self.power_loss.is_cut_off && request.is_some() {
            return self.give_up(id, datapath, kernel);
        }
        kernel.tell(|| Notice::EntryUsed(request, lpn));
        match class {
            Class::UserRead => self.start_read(id, datapath, kernel),
            _ => self.start_translated_write(id, datapath, kernel),
        }
    }

    /// A translation page has reached the controller.
    pub(super) fn translation_read<M: Model>(
        &mut self,
        id: TransactionId,
        datapath: &mut Datapath<M>,
        kernel: &mut Kernel<M>,
    ) {
        let page = datapath.transaction(id).lpn;
        datapath.remove(id);
        self.counters.flash.map_reads += 1;
        kernel.tell(|| Notice::TranslationReadEnded(page));
        if let Some(map) = &mut self.map {
            map.cache.page_read(page);
        }
        self.settle_map(datapath, kernel);
    }

    /// The program of a translation page begins: its content is what the entries say now.
    pub(super) fn translation_program_began<M: Model>(&mut self, page: Lpn, kernel: &mut Kernel<M>) {
        let Firmware { power_loss, ftl, .. } = self;
        if let Some(journaling) = &mut power_loss.journaling {
            journaling.state.program_began(page, ftl);
        }
        if !self.is_of_map_cache(page) {
            return;
        }
        if let Some(map) = &mut self.map {
            map.cache.begin_program(page);
        }
        kernel.tell(|| Notice::TranslationProgramBegan(page));
    }

    /// The controller knows that a translation page has been programmed.
    pub(super) fn translation_programmed<M: Model>(
        &mut self,
        page: Lpn,
        datapath: &mut Datapath<M>,
        kernel: &mut Kernel<M>,
    ) {
        if !self.is_of_map_cache(page) {
            return;
        }
        kernel.tell(|| Notice::TranslationProgramEnded(page));
        if let Some(map) = &mut self.map {
            map.cache.programmed(page);
        }
        self.settle_map(datapath, kernel);
    }

    /// A page of the host is somewhere else now, or nowhere: its entry has changed.
    #[inline]
    pub(super) fn entry_changed<M: Model>(&mut self, lpn: Lpn, datapath: &mut Datapath<M>, kernel: &mut Kernel<M>) {
        let Some(map) = &mut self.map else { return };
        if let Some(page) = map.cache.update(lpn) {
            map.cache.write_back(page);
        }
        self.settle_map(datapath, kernel);
    }

    /// A page read before it was written has got a place: its entry, which is in DRAM, has changed. What follows is done by who
    /// settles the map next.
    pub(super) fn placement_changed<M: Model>(&mut self, lpn: Lpn, kernel: &mut Kernel<M>) {
        let Some(map) = &mut self.map else { return };
        if let Some(page) = map.cache.update(lpn) {
            map.cache.write_back(page);
        }
        self.tell_entries(kernel);
    }

    /// The collection of `victim_plane` has moved a page: its entry has changed. Translation pages of which no entry in the
    /// cache tells are written back together when the victim is empty.
    pub(super) fn moved_entry_changed<M: Model>(&mut self, lpn: Lpn, victim_plane: PlaneId, kernel: &mut Kernel<M>) {
        let Some(map) = &mut self.map else { return };
        if map.cache.pages().contains(lpn) {
            return;
        }
        if let Some(page) = map.cache.update(lpn) {
            let pages = &mut map.updates[victim_plane.index()];
            if pages.last() != Some(&page) {
                pages.push(page);
            }
        }
        self.tell_entries(kernel);
    }

    /// All pages of a victim have moved: the translation pages that say so are written back.
    pub(super) fn write_back_moves<M: Model>(
        &mut self,
        victim_plane: PlaneId,
        datapath: &mut Datapath<M>,
        kernel: &mut Kernel<M>,
    ) {
        let Some(map) = &mut self.map else { return };
        let pages = &mut map.updates[victim_plane.index()];
        if pages.is_empty() {
            return;
        }
        pages.drain(..).for_each(|page| map.cache.write_back(page));
        self.settle_map(datapath, kernel);
    }
}
