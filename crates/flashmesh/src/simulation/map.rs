//! The cache of the map with timed flash operations: a transaction whose entry is not in DRAM waits until its translation page
//! has been read, and changed entries are written back.

use crate::ftl::mapping_cache::Action;
use crate::ids::{Lpn, PlaneId, Ppn, TransactionId};
use crate::schedule::transaction::{Class, Transaction};

use super::Simulation;

impl Simulation {
    /// Whether a transaction of a request, or of the device cache, may be translated now; else it is resumed when its entry of the map is in DRAM.
    #[inline]
    pub(super) fn has_entry(&mut self, id: TransactionId) -> bool {
        let Some(map) = &mut self.map else { return true };
        let Transaction { lpn, request, stream, .. } = self.transactions[id];
        let is_there = map.lookup(stream, lpn, id);
        if !is_there {
            self.transactions[id].queued = self.queue.now();
            self.witness(|oracles, now| oracles.entry_wanted(request, lpn, now));
        }
        self.settle_map();
        if is_there {
            self.tell_use(id);
        }
        is_there
    }

    /// Does what the cache of the map asks for.
    pub(super) fn settle_map(&mut self) {
        self.tell_entries();
        while let Some(action) = self.map.as_mut().and_then(|map| map.next_action()) {
            match action {
                Action::Read { page, whole } => self.read_translation(page, whole),
                Action::Program(page) => self.program_translation(page),
                Action::Resume(id) => self.resume_translated(id),
            }
        }
    }

    /// Tells the oracles, when they are on, what became of entries.
    fn tell_entries(&mut self) {
        if let (Some(oracles), Some(map)) = (&mut self.oracles, &mut self.map) {
            let now = self.queue.now();
            map.take_events().into_iter().for_each(|event| oracles.entry_changed(event, now));
        }
    }

    /// Tells the oracles, when they are on, that a transaction goes on with its entry.
    fn tell_use(&mut self, id: TransactionId) {
        let Transaction { request, lpn, .. } = self.transactions[id];
        self.witness(|oracles, now| oracles.entry_used(request, lpn, now));
    }

    fn read_translation(&mut self, page: Lpn, whole: bool) {
        let page_size = self.geometry.page_size;
        let mapping = &self.config.mapping;
        let bytes = if whole { mapping.write_back_read_size } else { mapping.read_size }.unwrap_or(page_size);
        let from = self.translate_read(page);
        let id = self.insert_transaction(Class::MapRead, None, page, from, bytes);
        self.witness(|oracles, now| oracles.translation_read_issued(page, now));
        self.enqueue(id);
    }

    fn program_translation(&mut self, page: Lpn) {
        let id = self.insert_transaction(Class::MapProgram, None, page, Ppn(0), self.geometry.page_size);
        self.transactions[id].plane = self.ftl.place_write(page, &self.idle);
        self.witness(|oracles, now| oracles.translation_program_issued(page, now));
        self.enqueue(id);
    }

    /// The entry that a transaction waited for is in DRAM.
    fn resume_translated(&mut self, id: TransactionId) {
        let now = self.queue.now();
        let transaction = &mut self.transactions[id];
        transaction.spent.map_wait += now - transaction.queued;
        let Transaction { class, request, .. } = *transaction;
        if self.power_cut.is_some() && request.is_some() {
            return self.give_up(id);
        }
        self.tell_use(id);
        match class {
            Class::UserRead => self.start_read(id),
            _ => self.start_translated_write(id),
        }
    }

    /// A translation page has reached the controller.
    pub(super) fn translation_read(&mut self, id: TransactionId) {
        let page = self.transactions[id].lpn;
        self.transactions.remove(id);
        self.measures.flash.map_reads += 1;
        self.witness(|oracles, now| oracles.translation_read_ended(page, now));
        if let Some(map) = &mut self.map {
            map.page_read(page);
        }
        self.settle_map();
    }

    /// The program of a translation page begins: its content is what the entries say now.
    pub(super) fn translation_program_began(&mut self, page: Lpn) {
        if let Some(map) = &mut self.map {
            map.begin_program(page);
        }
        self.witness(|oracles, now| oracles.translation_program_began(page, now));
    }

    /// The controller knows that a translation page has been programmed.
    pub(super) fn translation_programmed(&mut self, page: Lpn) {
        self.witness(|oracles, now| oracles.translation_program_ended(page, now));
        if let Some(map) = &mut self.map {
            map.programmed(page);
        }
        self.settle_map();
    }

    /// A page of the host is somewhere else now, or nowhere: its entry has changed.
    #[inline]
    pub(super) fn entry_changed(&mut self, lpn: Lpn) {
        let Some(map) = &mut self.map else { return };
        if let Some(page) = map.update(lpn) {
            map.write_back(page);
        }
        self.settle_map();
    }

    /// A page read before it was written has got a place: its entry, which is in DRAM, has changed. What follows is done by who
    /// settles the map next.
    pub(super) fn placement_changed(&mut self, lpn: Lpn) {
        let Some(map) = &mut self.map else { return };
        if let Some(page) = map.update(lpn) {
            map.write_back(page);
        }
        self.tell_entries();
    }

    /// The collection of `victim_plane` has moved a page: its entry has changed. Translation pages of which no entry in the
    /// cache tells are written back together when the victim is empty.
    pub(super) fn moved_entry_changed(&mut self, lpn: Lpn, victim_plane: PlaneId) {
        let Some(map) = &mut self.map else { return };
        if map.pages().contains(lpn) {
            return;
        }
        if let Some(page) = map.update(lpn) {
            let pages = &mut self.map_updates[victim_plane.index()];
            if pages.last() != Some(&page) {
                pages.push(page);
            }
        }
        self.tell_entries();
    }

    /// All pages of a victim have moved: the translation pages that say so are written back.
    pub(super) fn write_back_moves(&mut self, victim_plane: PlaneId) {
        let Some(map) = &mut self.map else { return };
        let pages = &mut self.map_updates[victim_plane.index()];
        if pages.is_empty() {
            return;
        }
        pages.drain(..).for_each(|page| map.write_back(page));
        self.settle_map();
    }
}
