//! Flushes wait for the writes before them.

use std::ops::Range;

use crate::datapath::Datapath;
use crate::firmware::Firmware;
use crate::host::namespace::{Namespace, NamespaceId};
use crate::ids::RequestId;
use crate::kernel::Kernel;
use crate::kernel::model::Model;
use crate::kernel::probe::Notice;

use super::Frontend;

/// The flushes that wait, and the writes that they wait for.
#[derive(Debug)]
pub(super) struct Flushes {
    /// By namespace.
    unfinished: Vec<Unfinished>,
    waiting: Vec<Flush>,
}

impl Flushes {
    /// No write is under way in any of so many namespaces.
    pub fn new(namespaces: usize) -> Flushes {
        Flushes { unfinished: vec![Unfinished::default(); namespaces], waiting: Vec::new() }
    }

    /// Those that wait are given up.
    pub fn clear(&mut self) {
        self.waiting.clear();
    }
}

/// Writes under way, which flushes may have to wait for, in one namespace.
#[derive(Clone, Copy, Debug, Default)]
struct Unfinished {
    /// Writes that have reached the drive.
    begun: u64,
    /// Of these, neither in the flash nor in the device cache.
    left: u64,
}

/// A flush that waits.
#[derive(Clone, Copy, Debug)]
struct Flush {
    request: RequestId,
    namespace: NamespaceId,
    /// Writes that had reached the drive before.
    after: u64,
    /// Of these, not done yet.
    left: u64,
}

impl<M: Model> Frontend<M> {
    /// The namespace of a request that was admitted.
    fn namespace_of(&self, id: RequestId) -> NamespaceId {
        self.namespaces.of(self.requests[id].stream).expect("a request without a namespace is refused")
    }

    /// A request that programs pages begins.
    pub(super) fn begin_write(&mut self, id: RequestId) {
        let namespace = self.namespace_of(id);
        let writes = &mut self.flushes.unfinished[namespace.index()];
        writes.begun += 1;
        writes.left += 1;
        self.requests[id].order = writes.begun;
    }

    /// All pages of a request that programs are in the flash, or in the device cache.
    pub(super) fn end_write(
        &mut self,
        id: RequestId,
        firmware: &mut Firmware,
        datapath: &mut Datapath<M>,
        kernel: &mut Kernel<M>,
    ) {
        let namespace = self.namespace_of(id);
        self.flushes.unfinished[namespace.index()].left -= 1;
        if self.flushes.waiting.is_empty() {
            return;
        }
        let order = self.requests[id].order;
        for flush in &mut self.flushes.waiting {
            flush.left -= u64::from(flush.namespace == namespace && order <= flush.after);
        }
        let mut at = 0;
        while at < self.flushes.waiting.len() {
            if self.flushes.waiting[at].left == 0 {
                let flush = self.flushes.waiting.remove(at);
                self.flush_written(flush.request, firmware, datapath, kernel);
            } else {
                at += 1;
            }
        }
    }

    /// A flush waits for the writes that reached the drive before it and are under way.
    pub(super) fn begin_flush(
        &mut self,
        request: RequestId,
        firmware: &mut Firmware,
        datapath: &mut Datapath<M>,
        kernel: &mut Kernel<M>,
    ) {
        let namespace = self.namespace_of(request);
        let Unfinished { begun: after, left } = self.flushes.unfinished[namespace.index()];
        let pages = self.pages_in(namespace);
        kernel.tell(|| Notice::FlushBegan(request, pages));
        if left == 0 {
            self.flush_written(request, firmware, datapath, kernel);
        } else {
            self.flushes.waiting.push(Flush { request, namespace, after, left });
        }
    }

    /// The writes before a flush are done: what the device cache has of its namespace goes to flash. That may be data of later
    /// writes too [choice]: they take no room from those before them.
    fn flush_written(
        &mut self,
        request: RequestId,
        firmware: &mut Firmware,
        datapath: &mut Datapath<M>,
        kernel: &mut Kernel<M>,
    ) {
        let pages = self.pages_in(self.namespace_of(request));
        firmware.flush(Some(request), pages, datapath, kernel);
    }

    /// The logical pages of a namespace.
    fn pages_in(&self, namespace: NamespaceId) -> Range<u32> {
        let Namespace { first, capacity } = self.namespaces.range(namespace);
        let page = self.geometry.page_size.as_u64();
        let (start, end) = (first.as_u64() / page, (first + capacity).as_u64().div_ceil(page));
        start as u32..end as u32
    }
}
