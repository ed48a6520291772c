//! Pages of requests are read.

use crate::datapath::Datapath;
use crate::ids::{Lpn, Ppn, TransactionId};
use crate::kernel::Kernel;
use crate::kernel::model::Model;
use crate::kernel::probe::Notice;
use crate::schedule::transaction::{Class, Transaction};
use crate::units::Bytes;

use super::{Firmware, PageRequest};

impl Firmware {
    /// Reads a page for a request. Gives in how many parts it will be [done](super::Done).
    #[inline(always)]
    pub fn read<M: Model>(&mut self, page: &PageRequest, datapath: &mut Datapath<M>, kernel: &mut Kernel<M>) -> u32 {
        if M::CACHES && self.cache.is_some() {
            return self.read_through_cache(page, datapath, kernel);
        }
        self.read_from_flash(page, page.bytes, false, datapath, kernel);
        1
    }

    /// A page of a read comes from flash; with `fills` the device cache keeps it.
    #[inline(always)]
    pub(super) fn read_from_flash<M: Model>(
        &mut self,
        page: &PageRequest,
        bytes: Bytes,
        fills: bool,
        datapath: &mut Datapath<M>,
        kernel: &mut Kernel<M>,
    ) {
        let lpn = page.lpn;
        let has_map = M::CACHES && self.map.is_some();
        let from = if has_map { Ppn(0) } else { self.translate_read(lpn, kernel) };
        let plane = self.geometry.plane_of(from);
        let mut transaction = Transaction::new(Class::UserRead, Some(page.request), lpn, plane, from, bytes);
        transaction.account.begin(kernel.now());
        transaction.is_cached = fills;
        transaction.translated = self.ftl.map_changes();
        (transaction.stream, transaction.priority) = (page.stream, page.priority);
        if M::FULL && self.rules.asks_allocator {
            self.tell_read(page);
        }
        if M::FULL
            && let Some(plane) = self.planned_plane(lpn)
        {
            transaction.is_reallocated = true;
            transaction.to = self.geometry.ppn(self.geometry.first_block(plane), 0);
        }
        let id = datapath.insert(transaction);
        if !has_map {
            self.enqueue_now(id, datapath, kernel);
        } else if self.has_entry(id, datapath, kernel) {
            self.start_read(id, datapath, kernel);
            self.settle_map(datapath, kernel);
        }
    }

    /// Sends a read, whose entry of the map is in DRAM, to where its page is.
    pub(super) fn start_read<M: Model>(
        &mut self,
        id: TransactionId,
        datapath: &mut Datapath<M>,
        kernel: &mut Kernel<M>,
    ) {
        self.retarget(id, datapath, kernel);
        self.enqueue(id, datapath, kernel);
    }

    /// Finds where the page of a read is now.
    pub(super) fn retarget<M: Model>(&mut self, id: TransactionId, datapath: &mut Datapath<M>, kernel: &mut Kernel<M>) {
        let from = self.translate_read(datapath.transaction(id).lpn, kernel);
        let transaction = datapath.transaction_mut(id);
        transaction.translated = self.ftl.map_changes();
        transaction.from = from;
        transaction.plane = self.geometry.plane_of(from);
    }

    /// Where `lpn` is read.
    #[inline]
    pub(super) fn translate_read<M: Model>(&mut self, lpn: Lpn, kernel: &mut Kernel<M>) -> Ppn {
        if M::PREALLOCATES && self.rules.places_for_reads && self.ftl.lookup(lpn).is_none() {
            self.place_for_read(lpn, kernel);
        }
        self.ftl.location(lpn)
    }

    /// Gives a page that holds nothing a place in the block of writes, when there is one.
    #[inline(never)]
    fn place_for_read<M: Model>(&mut self, lpn: Lpn, kernel: &mut Kernel<M>) {
        if let Some(place) = self.ftl.place_for_read(lpn) {
            kernel.tell(|| Notice::PagePlaced(place, lpn));
            self.persist(|state| state.placed(lpn, place));
            self.page_superseded(lpn, kernel);
            self.placement_changed(lpn, kernel);
        }
    }

    /// The data of a read has left the die: it goes to the host, or is programmed elsewhere.
    #[inline(always)]
    pub fn read_done<M: Model>(&mut self, id: TransactionId, datapath: &mut Datapath<M>, kernel: &mut Kernel<M>) {
        if M::FULL {
            self.read_ended(id, datapath);
        }
        if M::FULL && self.replication.is_some() && datapath.transaction(id).class == Class::UserRead {
            self.read_left(id, datapath);
            self.copy_what_was_read(id, datapath, kernel);
        }
        let transaction = datapath.transaction_mut(id);
        match transaction.class {
            Class::CollectRead if M::FULL && transaction.is_cleaned => self.program_cleaned(id, datapath, kernel),
            Class::CollectRead => {
                transaction.class = Class::CollectProgram;
                if M::FULL && self.ftl.has_twins() {
                    self.spread_move(id, datapath);
                }
                self.enqueue(id, datapath, kernel);
            }
            Class::MapRead => self.translation_read(id, datapath, kernel),
            _ if transaction.is_read_modify_write && self.power_loss.is_cut_off && transaction.request.is_some() => {
                self.give_up(id, datapath, kernel);
            }
            _ if transaction.is_read_modify_write => {
                self.turn_into_program(id, datapath);
                self.enqueue(id, datapath, kernel);
            }
            _ => {
                let Transaction { lpn, request, is_cached, .. } = *transaction;
                self.counters.flash.user_reads += 1;
                if M::CACHES
                    && let Some(request) = request.filter(|_| is_cached)
                {
                    self.fill_cache(request, lpn, datapath, kernel);
                }
                if M::FULL && datapath.transaction(id).is_reallocated {
                    self.reallocate(id, datapath, kernel);
                }
                self.finished(id, request, datapath);
            }
        }
    }
}
