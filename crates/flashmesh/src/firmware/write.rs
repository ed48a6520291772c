//! Pages are written, for requests and for the device cache.

use rustc_hash::FxHashMap;

use crate::datapath::Datapath;
use crate::ids::{Lpn, Ppn, RequestId, StreamId, TransactionId};
use crate::kernel::Kernel;
use crate::kernel::model::Model;
use crate::schedule::transaction::{Class, Priority, Transaction};
use crate::units::{Bytes, Time};

use super::place::Placements;
use super::preallocate::BlockedPrograms;
use super::{Firmware, PageRequest};

/// The writes of pages to flash under way.
#[derive(Debug)]
pub(super) struct Writes {
    /// The last one of each logical page: writes of one page keep their order.
    pub in_flight: FxHashMap<Lpn, TransactionId>,
    pub blocked: BlockedPrograms,
    pub placements: Placements,
}

impl Writes {
    /// No write. `planes` is the number of planes on which writes may be blocked, 0 where pages are not preallocated.
    pub fn new(planes: u32) -> Writes {
        Writes {
            in_flight: FxHashMap::default(),
            blocked: BlockedPrograms::new(planes),
            placements: Placements::default(),
        }
    }
}

/// Who has a page written to flash.
#[derive(Clone, Copy, Debug)]
pub(super) enum Writer {
    /// A request of this stream and priority.
    Request(RequestId, StreamId, Priority),
    /// The device cache; the stream wrote the page.
    Cache(StreamId),
}

impl From<&PageRequest> for Writer {
    #[inline]
    fn from(page: &PageRequest) -> Writer {
        Writer::Request(page.request, page.stream, page.priority)
    }
}

impl Firmware {
    /// Writes a page for a request.
    #[inline]
    pub fn write<M: Model>(&mut self, page: &PageRequest, datapath: &mut Datapath<M>, kernel: &mut Kernel<M>) {
        if M::CACHES && self.cache.is_some() {
            self.write_through_cache(page, datapath, kernel);
        } else {
            self.write_to_flash(page.into(), page.lpn, page.bytes, false, Time::ZERO, datapath, kernel);
        }
    }

    /// A page is written to flash; it has been in the device cache for `in_cache`, and with `is_cached` its data stays there.
    #[allow(clippy::too_many_arguments, reason = "two of them are the drive")]
    pub(super) fn write_to_flash<M: Model>(
        &mut self,
        writer: Writer,
        lpn: Lpn,
        bytes: Bytes,
        is_cached: bool,
        in_cache: Time,
        datapath: &mut Datapath<M>,
        kernel: &mut Kernel<M>,
    ) {
        let (request, stream, priority) = match writer {
            Writer::Request(request, stream, priority) => (Some(request), stream, priority),
            Writer::Cache(stream) => (None, stream, self.rules.priorities[stream.index()]),
        };
        self.ftl.prefetch(lpn);
        let plane = self.geometry.plane_of(Ppn(0));
        let mut transaction = Transaction::new(Class::UserProgram, request, lpn, plane, Ppn(0), bytes);
        transaction.account.begin(kernel.now());
        (transaction.stream, transaction.priority) = (stream, priority);
        transaction.is_cached = is_cached;
        transaction.account.was_cached(in_cache);
        let id = datapath.insert(transaction);
        match self.writes.in_flight.insert(lpn, id) {
            Some(earlier) => datapath.transaction_mut(earlier).successor = Some(id),
            None => self.start_write(id, datapath, kernel),
        }
    }

    /// Starts a write that no earlier write of the same page holds back, once its entry of the map is in DRAM.
    pub(super) fn start_write<M: Model>(
        &mut self,
        id: TransactionId,
        datapath: &mut Datapath<M>,
        kernel: &mut Kernel<M>,
    ) {
        let transaction = datapath.transaction_mut(id);
        transaction.account.waited_for_turn(kernel.now());
        if self.has_entry(id, datapath, kernel) {
            self.start_translated_write(id, datapath, kernel);
        }
    }

    /// Starts a write whose older version is known; one of a part of a page reads the rest first.
    pub(super) fn start_translated_write<M: Model>(
        &mut self,
        id: TransactionId,
        datapath: &mut Datapath<M>,
        kernel: &mut Kernel<M>,
    ) {
        if M::PREALLOCATES && self.rules.preallocates {
            self.preallocate_write(id, datapath, kernel);
            return;
        }
        match self.page_to_modify(datapath.transaction(id)) {
            Some(from) => self.turn_into_read(id, from, datapath),
            None => self.turn_into_program(id, datapath),
        }
        self.enqueue(id, datapath, kernel);
    }

    /// The page that a write of a part of it has to read first.
    #[inline]
    pub(super) fn page_to_modify(&self, write: &Transaction) -> Option<Ppn> {
        if write.bytes < self.geometry.page_size { self.ftl.lookup(write.lpn) } else { None }
    }

    /// A write of a part of a page reads the rest `from` where it is now.
    pub(super) fn turn_into_read<M: Model>(&mut self, id: TransactionId, from: Ppn, datapath: &mut Datapath<M>) {
        let transaction = datapath.transaction_mut(id);
        transaction.class = Class::UserRead;
        transaction.is_read_modify_write = true;
        transaction.from = from;
        transaction.plane = self.geometry.plane_of(from);
        self.counters.flash.partial_write_reads += 1;
    }

    /// The page of this write goes to a plane now; where in the plane is decided when it is programmed, unless that was decided before.
    #[inline]
    pub(super) fn turn_into_program<M: Model>(&mut self, id: TransactionId, datapath: &mut Datapath<M>) {
        let Transaction { has_page, to, .. } = *datapath.transaction(id);
        let plane = if has_page { self.geometry.plane_of(to) } else { self.place_write(id, datapath) };
        let transaction = datapath.transaction_mut(id);
        transaction.class = Class::UserProgram;
        transaction.is_read_modify_write = false;
        transaction.plane = plane;
    }

    /// A write of a page has been programmed or given up: the next one of the page takes its turn.
    pub(super) fn start_successor<M: Model>(
        &mut self,
        lpn: Lpn,
        successor: Option<TransactionId>,
        datapath: &mut Datapath<M>,
        kernel: &mut Kernel<M>,
    ) {
        let mut next = successor;
        while let Some(id) = next {
            if !self.power_loss.is_cut_off || datapath.transaction(id).request.is_none() {
                return self.start_write(id, datapath, kernel);
            }
            next = datapath.transaction(id).successor;
            self.drop_write(id, datapath, kernel);
        }
        self.writes.in_flight.remove(&lpn);
    }
}
