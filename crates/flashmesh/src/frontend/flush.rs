//! Flush commands, which wait for earlier writes of their namespace.

use std::ops::Range;

use crate::controller::{Backend, Controller};
use crate::host::namespace::{Namespace, NamespaceId};
use crate::ids::RequestId;
use crate::kernel::Kernel;
use crate::kernel::model::Model;
use crate::kernel::probe::Notice;
use crate::schedule::latency_account::LatencyBreakdown;
use crate::units::Time;

use super::Frontend;

/// Pending flushes, and the unfinished writes of each namespace.
#[derive(Clone, Debug)]
pub(super) struct Flushes {
    unfinished: Vec<Unfinished>,
    waiting: Vec<Flush>,
    /// Sequence number of each write in flight, counted per namespace, by request id.
    orders: Vec<u64>,
    /// Earliest time at which each flush in flight could have begun, by request id.
    begun: Vec<Time>,
}

impl Flushes {
    pub fn new(namespaces: usize) -> Flushes {
        Flushes {
            unfinished: vec![Unfinished::default(); namespaces],
            waiting: Vec::new(),
            orders: Vec::new(),
            begun: Vec::new(),
        }
    }

    pub fn clear(&mut self) {
        self.waiting.clear();
    }
}

/// Write counts of one namespace: writes begun since the start of the run, and writes not yet done.
#[derive(Clone, Copy, Debug, Default)]
struct Unfinished {
    begun: u64,
    /// Number of writes whose data is not yet entirely on flash or in the device cache.
    left: u64,
}

#[derive(Clone, Copy, Debug)]
struct Flush {
    request: RequestId,
    namespace: NamespaceId,
    /// Sequence number of the last write before the flush.
    after: u64,
    left: u64,
}

/// A write whose data is entirely on flash or in the device cache.
#[derive(Clone, Copy, Debug)]
pub(super) struct DoneWrite {
    namespace: NamespaceId,
    /// Sequence number of the write within its namespace.
    order: u64,
}

impl<M: Model> Frontend<M> {
    fn namespace_of(&self, id: RequestId) -> NamespaceId {
        self.host
            .namespaces
            .namespace_of(self.host.requests[id].stream)
            .expect("a request without a namespace is refused")
    }

    pub(super) fn begin_write(&mut self, id: RequestId) {
        let namespace = self.namespace_of(id);
        let writes = &mut self.flushes.unfinished[namespace.index()];
        writes.begun += 1;
        writes.left += 1;
        let orders = &mut self.flushes.orders;
        if orders.len() <= id.index() {
            orders.resize(id.index() + 1, 0);
        }
        orders[id.index()] = writes.begun;
    }

    /// Counts a write as done: all its data is on flash or in the device cache. If any flush is pending, returns the write for
    /// [`release_flushes`](Self::release_flushes), otherwise `None`.
    pub(super) fn write_done(&mut self, id: RequestId) -> Option<DoneWrite> {
        let namespace = self.namespace_of(id);
        self.flushes.unfinished[namespace.index()].left -= 1;
        if self.flushes.waiting.is_empty() {
            None
        } else {
            Some(DoneWrite { namespace, order: self.flushes.orders[id.index()] })
        }
    }

    /// Counts `write` as done for all pending flushes, and continues the flushes that have no earlier writes left.
    pub(super) fn release_flushes(&mut self, write: DoneWrite, backend: &mut Backend<M>) {
        for flush in &mut self.flushes.waiting {
            flush.left -= u64::from(flush.namespace == write.namespace && write.order <= flush.after);
        }
        let mut at = 0;
        while at < self.flushes.waiting.len() {
            if self.flushes.waiting[at].left == 0 {
                let flush = self.flushes.waiting.remove(at);
                self.flush_written(flush.request, backend);
            } else {
                at += 1;
            }
        }
    }

    /// Begins a flush that could have begun at `since`. The flush waits for the earlier writes of its namespace.
    pub(super) fn begin_flush(&mut self, request: RequestId, since: Time, backend: &mut Backend<M>) {
        let namespace = self.namespace_of(request);
        let begun = &mut self.flushes.begun;
        if begun.len() <= request.index() {
            begun.resize(request.index() + 1, Time::ZERO);
        }
        begun[request.index()] = since;
        let Unfinished { begun: after, left } = self.flushes.unfinished[namespace.index()];
        let pages = self.pages_in(namespace);
        backend.kernel.notify(|| Notice::FlushBegan(request, pages));
        if left == 0 {
            self.flush_written(request, backend);
        } else {
            self.flushes.waiting.push(Flush { request, namespace, after, left });
        }
    }

    /// Sends the response of a flush, whose pages are on flash. Books the whole time of the flush as time in the device cache or, without a
    /// device cache, as wait for dies.
    pub(super) fn end_flush(&mut self, request: RequestId, controller: &mut Controller, kernel: &mut Kernel<M>) {
        let time = kernel.now() - self.flushes.begun[request.index()];
        let spent = match controller.cache() {
            Some(_) => LatencyBreakdown { cache: time, ..LatencyBreakdown::default() },
            None => LatencyBreakdown { die_wait: time, ..LatencyBreakdown::default() },
        };
        self.host.respond(request, &spent, controller, kernel);
    }

    /// Continues a flush whose earlier writes are done: destages all dirty pages of its namespace. These include pages of later writes \[choice\].
    fn flush_written(&mut self, request: RequestId, backend: &mut Backend<M>) {
        let pages = self.pages_in(self.namespace_of(request));
        backend.flush(Some(request), pages);
    }

    fn pages_in(&self, namespace: NamespaceId) -> Range<u32> {
        let Namespace { first, capacity } = self.host.namespaces.range(namespace);
        let page = self.geometry.page_size.as_u64();
        let (start, end) = (first.as_u64() / page, (first + capacity).as_u64().div_ceil(page));
        start as u32..end as u32
    }
}
