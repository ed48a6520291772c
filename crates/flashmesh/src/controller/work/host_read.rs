//! Reads of pages from flash for requests of the host.

use crate::controller::follow_ups::FollowUp;
use crate::controller::shared::Shared;
use crate::controller::{Backend, Context, PageRequest, Work};
use crate::ids::{Lpn, Ppn, StreamId, TransactionId};
use crate::kernel::model::Model;
use crate::kernel::probe::{Notice, ReadNotice};
use crate::policies::PolicyEvent;
use crate::schedule::purpose::{CacheReservation, Purpose};
use crate::schedule::transaction::{Transaction, TransactionClass};
use crate::units::Bytes;

use super::kind::Kind;
use super::map::CachedMap;
use super::placement::Placements;
use super::reallocate;

/// The kind of work whose transactions are reads of host requests.
pub struct HostReads;

impl Kind for HostReads {
    fn translated<M: Model>(id: TransactionId, backend: &mut Backend<M>) {
        let (Work { map, .. }, cx) = &mut backend.parts();
        retarget(id, map.as_deref_mut(), cx);
        cx.push(FollowUp::Enqueue(id));
    }

    #[inline]
    fn read_done<M: Model>(id: TransactionId, purpose: Purpose, backend: &mut Backend<M>) {
        let (Work { cache, .. }, cx) = &mut backend.parts();
        let Transaction { lpn, owner, .. } = *cx.datapath.queues.transaction(id);
        if let (Purpose::HostRead(CacheReservation::Kept), Some(request), Some(cache)) = (purpose, owner.request, cache)
        {
            cache.fill(request, lpn, cx);
            backend.run();
        }
        let (Work { writes, .. }, cx) = &mut backend.parts();
        if cx.shared.reports_reads::<M>() {
            reallocate::read_done(id, writes, cx);
            backend.run();
        }
        complete(id, &mut backend.context());
    }

    fn rerouted<M: Model>(id: TransactionId, backend: &mut Backend<M>) {
        let (Work { map, .. }, cx) = &mut backend.parts();
        read_again(id, map.as_deref_mut(), cx);
    }

    fn dropped<M: Model>(id: TransactionId, backend: &mut Backend<M>) {
        let (Work { cache, .. }, cx) = &mut backend.parts();
        let Transaction { purpose, lpn, .. } = *cx.datapath.queues.transaction(id);
        cx.datapath.queues.transactions.remove(id);
        if purpose.has_cache_place()
            && let Some(cache) = cache
        {
            cache.not_filled(lpn, cx);
        }
    }

    fn is_current(read: &Transaction, shared: &Shared) -> bool {
        shared.ftl.may_read(read.lpn, read.from)
    }
}

/// Begins a flash read of `bytes` at offset `start` of a page, for a request, and returns its transaction. The caller enqueues the
/// transaction. If only a part of the map is in DRAM, the caller first looks up the mapping entry of the page.
#[inline(always)]
pub fn begin<M: Model>(
    page: &PageRequest,
    start: Bytes,
    bytes: Bytes,
    place: CacheReservation,
    placements: &mut Placements,
    cx: &mut Context<'_, M>,
) -> TransactionId {
    let lpn = page.lpn;
    let from = if cx.shared.rules.has_map_cache { Ppn(0) } else { translate(lpn, Some(page.stream), None, cx) };
    let plane = cx.shared.geometry.plane_of(from);
    let mut transaction = Transaction::new(Purpose::HostRead(place), page.owner(), lpn, plane, from, bytes);
    transaction.map_version = cx.shared.ftl.map().changes();
    transaction.start = start.as_u64() as u32;
    if M::ALL_FEATURES && cx.shared.rules.asks_allocator {
        placements.tell_read(page, cx.shared);
    }
    let id = cx.begin(transaction);
    cx.shared.notify_policy::<M>(PolicyEvent::ReadBegins(id, lpn));
    id
}

/// Updates a read to the current location of its page.
pub fn retarget<M: Model>(id: TransactionId, map: Option<&mut CachedMap>, cx: &mut Context<'_, M>) {
    let Transaction { lpn, owner, .. } = *cx.datapath.queues.transaction(id);
    let from = translate(lpn, Some(owner.stream), map, cx);
    let transaction = cx.datapath.queues.transaction_mut(id);
    transaction.map_version = cx.shared.ftl.map().changes();
    transaction.from = from;
    transaction.plane = cx.shared.geometry.plane_of(from);
}

/// Returns the location at which stream `reader` reads `lpn`, by the map. An unmapped page is assigned a location by the read (`ftl.first-touch`),
/// or is read at a default location. `reader` is `None` for reads of the firmware.
#[inline]
pub fn translate<M: Model>(
    lpn: Lpn,
    reader: Option<StreamId>,
    map: Option<&mut CachedMap>,
    cx: &mut Context<'_, M>,
) -> Ppn {
    if let Some(ppn) = cx.shared.ftl.lookup(lpn) {
        return ppn;
    }
    let placed = if cx.shared.rules.places_for_reads { place(lpn, reader, map, cx) } else { None };
    placed.unwrap_or_else(|| cx.shared.ftl.default_location_for_read(lpn))
}

/// Maps an unmapped page to a location in an open block of host writes, because it is read; `None` if no page is free.
#[inline(never)]
fn place<M: Model>(
    lpn: Lpn,
    reader: Option<StreamId>,
    map: Option<&mut CachedMap>,
    cx: &mut Context<'_, M>,
) -> Option<Ppn> {
    let place = cx.shared.ftl.map_on_read(lpn, reader.filter(|_| cx.shared.rules.places_by_reader))?;
    cx.kernel.notify(|| Notice::PagePlaced(place, lpn));
    cx.shared.persist(|state| state.mapped_by_read(lpn, place));
    if M::ALL_FEATURES {
        cx.datapath.queues.early_bound.skip(place, cx.kernel);
    }
    cx.superseded(lpn);
    if let Some(map) = map {
        map.placement_changed(lpn, cx.kernel);
    }
    Some(place)
}

/// Completes a read for its request, after the data has reached the controller.
#[inline(always)]
fn complete<M: Model>(id: TransactionId, cx: &mut Context<'_, M>) {
    count_done(cx.shared);
    let request = cx.datapath.queues.transaction(id).owner.request;
    cx.shared.finished(id, request, cx.datapath);
}

/// Counts a read whose data has reached the controller.
#[inline(always)]
pub fn count_done(shared: &mut Shared) {
    shared.counters.flash.user_reads += 1;
}

/// Sends a queued read to the current location of its page, after the page was moved or deallocated.
pub(super) fn read_again<M: Model>(id: TransactionId, map: Option<&mut CachedMap>, cx: &mut Context<'_, M>) {
    cx.datapath.charge_queue_wait(id, cx.kernel.now());
    if cx.datapath.queues.transaction(id).class() == TransactionClass::UserRead {
        cx.kernel.notify_read(ReadNotice::Rerouted(id));
    }
    retarget(id, map, cx);
    cx.push(FollowUp::SettleMap);
    cx.push(FollowUp::Enqueue(id));
}
