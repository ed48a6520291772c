//! Page writes to flash, for requests and for the device cache.

pub mod preallocate;

use crate::controller::cache::DeviceCache;
use crate::controller::follow_ups::FollowUp;
use crate::controller::shared::Shared;
use crate::controller::{Backend, Context, PageRequest, Work};
use crate::engine::direct_mapped::DirectMapped;
use crate::ftl::OpenBlockKind;
use crate::ids::{Lpn, Ppn, RequestId, StreamId, TransactionId};
use crate::kernel::model::Model;
use crate::kernel::probe::{Notice, Origin};
use crate::persistence::ProgramReason;
use crate::schedule::purpose::{CacheReservation, Purpose};
use crate::schedule::transaction::{Owner, Priority, Transaction};
use crate::units::{Bytes, Time};

use super::kind::Kind;
use super::map::CachedMap;
use super::placement::Placements;
use preallocate::{BlockedWrites, drop_page};

/// Host writes whose flash programs are in flight.
#[derive(Clone, Debug)]
pub struct HostWrites {
    /// Last write in flight of each logical page. The next write of the page waits for it, so that the writes of a page keep their order.
    in_flight: DirectMapped<Lpn, TransactionId>,
    blocked: BlockedWrites,
    pub placements: Placements,
    priorities: Vec<Priority>,
}

/// The origin of a write to flash.
#[derive(Clone, Copy, Debug)]
pub enum Writer {
    /// A request, with the stream and the priority of the request.
    Request(RequestId, StreamId, Priority),
    /// The device cache, with the stream that wrote the page.
    Cache(StreamId),
}

impl From<&PageRequest> for Writer {
    #[inline]
    fn from(page: &PageRequest) -> Writer {
        Writer::Request(page.request, page.stream, page.priority)
    }
}

/// A page to write to flash.
#[derive(Clone, Copy, Debug)]
pub struct FlashWrite {
    pub writer: Writer,
    pub lpn: Lpn,
    pub bytes: Bytes,
    pub place: CacheReservation,
    /// Time that the page has spent in the device cache before this write.
    pub in_cache: Time,
}

impl HostWrites {
    /// Creates the state without writes in flight. `planes` is the number of planes of the drive with preallocation (early binding), otherwise 0.
    pub fn new(planes: u32, priorities: Vec<Priority>) -> HostWrites {
        HostWrites {
            in_flight: DirectMapped::default(),
            blocked: BlockedWrites::new(planes),
            placements: Placements::default(),
            priorities,
        }
    }

    /// Returns whether a write of the logical page `lpn` is in flight.
    pub fn is_under_way(&self, lpn: Lpn) -> bool {
        self.in_flight.contains(lpn)
    }

    /// Returns the planes with writes that wait for a free page, among the `count` planes from `first` on, as a bit mask; bit 0 is `first`.
    pub fn blocked_planes(&self, first: crate::ids::PlaneId, count: u32) -> u8 {
        self.blocked.planes(first, count)
    }

    pub fn are_blocked(&self) -> bool {
        !self.blocked.is_empty()
    }

    /// Begins a write of a page. If earlier writes of the page are in flight, the write waits for them.
    pub fn begin<M: Model>(&mut self, write: FlashWrite, cx: &mut Context<'_, M>) {
        if let Some(id) = self.enter(write, cx) {
            cx.push(FollowUp::StartWrite(id));
        }
    }

    /// Like [`HostWrites::begin`], but returns the write if no earlier write of the page is in flight; the caller then calls
    /// [`HostWrites::start`]. Returns `None` if the write waits for an earlier write.
    #[must_use]
    pub fn enter<M: Model>(&mut self, write: FlashWrite, cx: &mut Context<'_, M>) -> Option<TransactionId> {
        let FlashWrite { writer, lpn, bytes, place, in_cache } = write;
        let (request, stream, priority) = match writer {
            Writer::Request(request, stream, priority) => (Some(request), stream, priority),
            Writer::Cache(stream) => (None, stream, self.priorities[stream.index()]),
        };
        cx.shared.ftl.map().prefetch(lpn);
        let plane = cx.shared.geometry.plane_of(Ppn(0));
        let owner = Owner { request, stream, priority };
        let mut transaction = Transaction::new(Purpose::HostWrite(place), owner, lpn, plane, Ppn(0), bytes);
        transaction.account.charge_cache(in_cache);
        let id = cx.begin(transaction);
        match self.in_flight.insert(lpn, id) {
            Some(earlier) => {
                cx.datapath.queues.transaction_mut(earlier).successor = Some(id);
                None
            }
            None => Some(id),
        }
    }

    /// Starts a write for which no earlier write of the page is in flight. If its mapping entry is not in DRAM, the write first waits for
    /// the entry.
    pub fn start<M: Model>(&mut self, id: TransactionId, map: Option<&mut CachedMap>, cx: &mut Context<'_, M>) {
        cx.datapath.queues.transaction_mut(id).account.charge_write_wait(cx.kernel.now());
        match map {
            None => self.start_translated(id, cx),
            Some(map) => {
                map.look_up(id, cx);
            }
        }
    }

    /// Starts a write whose mapping entry is in DRAM. A partial write first reads its page (read-modify-write).
    fn start_translated<M: Model>(&mut self, id: TransactionId, cx: &mut Context<'_, M>) {
        if cx.shared.rules.preallocates {
            return self.preallocate_write(id, cx);
        }
        match cx.shared.page_to_modify(cx.datapath.queues.transaction(id)) {
            Some(from) => turn_into_read(id, from, cx),
            None => self.turn_into_program(id, cx),
        }
        cx.push(FollowUp::Enqueue(id));
    }

    /// Makes a write a program, and sets its plane. Without preallocation, the write gets its physical page later, when it is programmed.
    #[inline]
    fn turn_into_program<M: Model>(&mut self, id: TransactionId, cx: &mut Context<'_, M>) {
        let plane = if cx.shared.rules.preallocates {
            cx.shared.geometry.plane_of(cx.datapath.queues.transaction(id).to)
        } else {
            self.placements.place(id, cx)
        };
        let transaction = cx.datapath.queues.transaction_mut(id);
        if let Purpose::ReadModify(place) = transaction.purpose {
            transaction.purpose = Purpose::HostWrite(place);
        }
        transaction.plane = plane;
    }

    /// Enqueues the program of a partial write, after the read of its page (read-modify-write).
    fn rest_read<M: Model>(&mut self, id: TransactionId, cx: &mut Context<'_, M>) {
        self.turn_into_program(id, cx);
        cx.push(FollowUp::Enqueue(id));
    }

    /// Handles a partial write whose page was moved or deallocated before it could be read for read-modify-write.
    fn read_rerouted<M: Model>(&mut self, id: TransactionId, map: Option<&mut CachedMap>, cx: &mut Context<'_, M>) {
        if cx.shared.ftl.lookup(cx.datapath.queues.transaction(id).lpn).is_none() {
            cx.datapath.charge_queue_wait(id, cx.kernel.now());
            self.rest_read(id, cx);
        } else {
            super::host_read::read_again(id, map, cx);
        }
    }

    /// Chooses a plane again for a queued write, by the current load of the planes.
    fn program_rerouted<M: Model>(&mut self, id: TransactionId, cx: &mut Context<'_, M>) {
        cx.datapath.charge_queue_wait(id, cx.kernel.now());
        self.placements.place_again(id, cx);
        cx.push(FollowUp::Enqueue(id));
    }

    /// Updates the map and the device cache after the array has programmed a write. The next write of the page can then start.
    fn commit<M: Model>(&mut self, id: TransactionId, mut cache: Option<&mut DeviceCache>, cx: &mut Context<'_, M>) {
        let Transaction { owner: Owner { request, .. }, lpn, plane, to, successor, .. } =
            *cx.datapath.queues.transaction(id);
        cx.shared.counters.flash.user_programs += 1;
        cx.kernel.notify(|| Notice::PageProgrammed(to, lpn, request.map_or(Origin::Destaged, Origin::User)));
        // The host may have deallocated the page during its destage.
        let is_wanted = request.is_some() || !cache.as_ref().is_some_and(|cache| cache.is_forgotten(lpn));
        // An earlier write of the page, which bypassed the cache, may have been programmed after the deallocation. Its data must be
        // unmapped too.
        let is_unmapped = !is_wanted && cx.shared.ftl.has_data(lpn);
        cx.shared.ftl.commit_write(lpn, to);
        if M::ALL_FEATURES
            && let Shared { slc: Some(slc), geometry, ftl, .. } = &mut *cx.shared
        {
            slc.written(to, geometry, ftl, cx.kernel.now());
        }
        let what = if is_wanted { ProgramReason::Written } else { ProgramReason::Superseded };
        cx.shared.persist_program(lpn, to, what);
        self.placements.forget(id);
        cx.superseded(lpn);
        if let Some(cache) = &mut cache {
            cache.set_written(lpn, true);
            if request.is_none() && cache.destage_programmed(lpn) {
                cx.shared.ftl.deallocate(lpn);
                if is_unmapped {
                    cx.shared.persist(|state| state.unmapped(lpn));
                }
                cache.set_written(lpn, false);
                cx.kernel.notify(|| Notice::DestageForgotten(lpn));
                cx.superseded(lpn);
            }
        }
        let rules = &cx.shared.rules;
        let (has_map_cache, preallocates) = (rules.has_map_cache, rules.preallocates);
        if has_map_cache {
            cx.push(FollowUp::EntryChanged(lpn));
        }
        // `FollowUp::Unblock` starts the first write that waits for a free page of `plane`. Plain drives (compiled without optional features) push
        // this follow-up only if there is such a write.
        let unblocks = preallocates && (M::ALL_FEATURES || self.blocked.holds(plane));
        if preallocates {
            cx.shared.ftl.blocks_mut().preallocated_programmed(plane);
        }
        if unblocks {
            cx.push(FollowUp::Unblock(plane));
        }
        if has_map_cache || unblocks || successor.is_some() {
            cx.push(FollowUp::Successor(lpn, successor));
        } else {
            self.in_flight.remove(lpn);
        }
    }

    /// Starts the next write of a page after the previous one was programmed or dropped. After a power cut, drops the next write if it is
    /// for a request.
    pub fn ended<M: Model>(
        &mut self,
        lpn: Lpn,
        next: Option<TransactionId>,
        cache: Option<&mut DeviceCache>,
        cx: &mut Context<'_, M>,
    ) {
        let Some(id) = next else {
            self.in_flight.remove(lpn);
            return;
        };
        let transaction = cx.datapath.queues.transaction(id);
        if !cx.shared.is_cut_off || transaction.owner.request.is_none() {
            return cx.push(FollowUp::StartWrite(id));
        }
        let after = transaction.successor;
        drop_write(id, cache, cx);
        cx.push(FollowUp::Successor(lpn, after));
    }
}

impl Kind for HostWrites {
    fn translated<M: Model>(id: TransactionId, backend: &mut Backend<M>) {
        let (Work { writes, .. }, cx) = &mut backend.parts();
        writes.start_translated(id, cx);
    }

    fn read_done<M: Model>(id: TransactionId, _: Purpose, backend: &mut Backend<M>) {
        let (Work { writes, .. }, cx) = &mut backend.parts();
        if !cx.shared.is_cut_off || cx.datapath.queues.transaction(id).owner.request.is_none() {
            return writes.rest_read(id, cx);
        }
        drop_page(id, cx);
        backend.run();
        backend.give_up(id);
    }

    #[inline]
    fn programmed<M: Model>(id: TransactionId, _: Purpose, backend: &mut Backend<M>) {
        let (Work { writes, cache, .. }, cx) = &mut backend.parts();
        writes.commit(id, cache.as_deref_mut(), cx);
    }

    #[inline]
    fn acknowledged<M: Model>(id: TransactionId, backend: &mut Backend<M>) {
        let (Work { cache, .. }, cx) = &mut backend.parts();
        let Transaction { purpose, lpn, owner, .. } = *cx.datapath.queues.transaction(id);
        cx.shared.finished(id, owner.request, cx.datapath);
        let Some(cache) = cache else { return };
        if owner.request.is_none() {
            cache.destaged(lpn, cx);
        } else if purpose.has_cache_place() {
            cache.passed(lpn, cx);
        }
    }

    fn rerouted<M: Model>(id: TransactionId, backend: &mut Backend<M>) {
        let (Work { writes, map, .. }, cx) = &mut backend.parts();
        match cx.datapath.queues.transaction(id).purpose {
            Purpose::ReadModify(_) => writes.read_rerouted(id, map.as_deref_mut(), cx),
            _ => writes.program_rerouted(id, cx),
        }
    }

    fn dropped<M: Model>(id: TransactionId, backend: &mut Backend<M>) {
        let (Work { cache, .. }, cx) = &mut backend.parts();
        let Transaction { lpn, successor, .. } = *cx.datapath.queues.transaction(id);
        drop_write(id, cache.as_deref_mut(), cx);
        cx.push(FollowUp::Successor(lpn, successor));
    }

    fn is_current(write: &Transaction, shared: &Shared) -> bool {
        !matches!(write.purpose, Purpose::ReadModify(_)) || shared.ftl.is_at(write.lpn, write.from)
    }

    #[inline]
    fn open_block(write: &Transaction, shared: &Shared) -> Option<OpenBlockKind> {
        matches!(write.purpose, Purpose::HostWrite(_)).then(|| shared.stream_of_write(write))
    }
}

/// Turns a partial write into the read of its page at `from` (read-modify-write).
fn turn_into_read<M: Model>(id: TransactionId, from: Ppn, cx: &mut Context<'_, M>) {
    let Context { shared, datapath, .. } = cx;
    let transaction = datapath.queues.transaction_mut(id);
    if let Purpose::HostWrite(place) = transaction.purpose {
        transaction.purpose = Purpose::ReadModify(place);
    }
    let page = shared.geometry.page_size;
    transaction.transfer_bytes = if shared.rules.partial_program { page - transaction.bytes } else { page };
    transaction.from = from;
    transaction.plane = shared.geometry.plane_of(from);
    shared.counters.flash.partial_write_reads += 1;
}

/// Drops a write that has no physical page assigned, and ends its reservation in the device cache.
fn drop_write<M: Model>(id: TransactionId, cache: Option<&mut DeviceCache>, cx: &mut Context<'_, M>) {
    let Transaction { purpose: work, lpn, .. } = *cx.datapath.queues.transaction(id);
    cx.datapath.queues.transactions.remove(id);
    if work.has_cache_place()
        && let Some(cache) = cache
    {
        cache.passed(lpn, cx);
    }
}
