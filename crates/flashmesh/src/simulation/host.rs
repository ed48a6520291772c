//! Between host and drive: requests cross the interface, are admitted or refused, and respond.

use std::ops::Range;

use crate::check::Oracles;
use crate::config::{InterfaceKind, ReadData};
use crate::engine::queue::EventQueue;
use crate::error::RunError;
use crate::fabric::Causes;
use crate::host::interface::{Agenda, AnyInterface, Command, HostEvent, Interface, Seen};
use crate::host::namespace::{Namespace, NamespaceId};
use crate::host::replay::Arrived;
use crate::host::status::Status;
use crate::ids::{RequestId, StreamId};
use crate::schedule::transaction::Spent;
use crate::units::{Bytes, Time};
use crate::workload::{IoRequest, RequestKind};

use super::Simulation;
use super::event::{Event, host_lane};
use super::request::Request;

/// Where an interface puts down what is to happen.
struct Calendar<'a> {
    queue: &'a mut EventQueue<Event>,
    oracles: Option<&'a mut Oracles>,
}

impl Agenda for Calendar<'_> {
    #[inline(always)]
    fn schedule(&mut self, at: Time, event: HostEvent) {
        self.queue.schedule(host_lane(event), at, Event::Host(event));
    }

    #[inline]
    fn saw(&mut self, seen: Seen) {
        if let Some(oracles) = &mut self.oracles {
            oracles.host(seen, self.queue.now());
        }
    }
}

/// Writes under way, which flushes may have to wait for, in one namespace.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Unfinished {
    /// Writes that have reached the drive.
    begun: u64,
    /// Of these, neither in the flash nor in the device cache.
    left: u64,
}

/// A flush that waits.
#[derive(Clone, Copy, Debug)]
pub(super) struct Flush {
    request: RequestId,
    namespace: NamespaceId,
    /// Writes that had reached the drive before.
    after: u64,
    /// Of these, not done yet.
    left: u64,
}

impl Simulation {
    /// The interface, and where it puts down what is to happen.
    #[inline]
    fn interface(&mut self) -> (&mut AnyInterface, Calendar<'_>) {
        (&mut self.interface, Calendar { queue: &mut self.queue, oracles: self.oracles.as_deref_mut() })
    }

    /// Sends a request to the drive.
    pub(super) fn issue(&mut self, stream: StreamId, arrived: Arrived) {
        if self.streams[stream.index()].replay.has_new_batch() {
            self.look_ahead(stream);
        }
        let now = self.queue.now();
        let Arrived { io, thread, arrival } = arrived;
        let number = self.measures.issued;
        self.measures.issued += 1;
        if let Some(timeline) = &mut self.measures.timeline {
            timeline.issued(now);
        }
        let request = Request {
            number,
            stream,
            io,
            thread,
            arrival,
            priority: self.streams[stream.index()].config.queue.priority,
            submitted: now,
            order: 0,
            remaining: 0,
            status: Status::Success,
            conflict: Causes::default(),
            critical: Spent::default(),
        };
        let request = self.requests.insert(request);
        self.witness(|oracles, now| oracles.request_issued(request, stream, now));
        let data = if io.kind == RequestKind::Write { io.size } else { Bytes::ZERO };
        let (interface, mut calendar) = self.interface();
        interface.issue(Command { request, stream, data }, now, &mut calendar);
    }

    #[inline]
    pub(super) fn host_event(&mut self, event: HostEvent) -> Result<(), RunError> {
        match event {
            HostEvent::InDrive(request) => self.submit(request),
            HostEvent::AtHost(request) => self.complete(request)?,
            HostEvent::Wake(token) => {
                let now = self.queue.now();
                let (interface, mut calendar) = self.interface();
                interface.wake(token, now, &mut calendar);
            }
        }
        Ok(())
    }

    /// Where on the drive a request that has reached it begins.
    ///
    /// # Errors
    /// When the drive does not do what it asks.
    pub(super) fn admit(&self, stream: StreamId, io: &IoRequest) -> Result<Bytes, Status> {
        let too_long = self.config.host.transfer_max.is_some_and(|max| io.size > max);
        if (io.size == Bytes::ZERO && io.kind != RequestKind::Flush) || (too_long && io.kind.moves_data()) {
            return Err(Status::InvalidField);
        }
        if io.kind == RequestKind::WriteZeroes && self.config.host.interface == InterfaceKind::Sata {
            return Err(Status::InvalidOpcode);
        }
        self.namespaces.locate(stream, io)
    }

    /// Answers a request with an error.
    pub(super) fn refuse(&mut self, id: RequestId, status: Status) {
        self.requests[id].status = status;
        self.witness(|oracles, now| oracles.request_refused(id, now));
        self.respond(id);
    }

    /// A page that a request reads is in the controller.
    #[inline]
    pub(super) fn send_page(&mut self, bytes: Bytes) {
        if self.config.host.read_data == ReadData::Page {
            self.interface.send_data(bytes, self.queue.now());
        }
    }

    /// All is done for a request: it responds.
    pub(super) fn respond(&mut self, id: RequestId) {
        let now = self.queue.now();
        let Request { io, stream, status, .. } = self.requests[id];
        if io.kind == RequestKind::Read && self.config.host.read_data == ReadData::Request && status == Status::Success
        {
            self.interface.send_data(io.size, now);
        }
        let (interface, mut calendar) = self.interface();
        interface.respond(id, stream, now, &mut calendar);
    }

    /// The host has taken the completion of a request of `stream`.
    #[inline]
    pub(super) fn completion_taken(&mut self, stream: StreamId) {
        let now = self.queue.now();
        let (interface, mut calendar) = self.interface();
        interface.taken(stream, now, &mut calendar);
    }

    /// A request that was admitted, where it lies on the drive.
    pub(super) fn located(&self, id: RequestId) -> IoRequest {
        let Request { io, stream, .. } = self.requests[id];
        let offset = self.namespaces.locate(stream, &io).expect("a request beyond its namespace is refused");
        IoRequest { offset, ..io }
    }

    /// The namespace of a request that was admitted.
    fn namespace_of(&self, id: RequestId) -> NamespaceId {
        self.namespaces.of(self.requests[id].stream).expect("a request without a namespace is refused")
    }

    /// A request that programs pages begins.
    pub(super) fn begin_write(&mut self, id: RequestId) {
        let namespace = self.namespace_of(id);
        let writes = &mut self.unfinished[namespace.index()];
        writes.begun += 1;
        writes.left += 1;
        self.requests[id].order = writes.begun;
    }

    /// All pages of a request that programs are in the flash, or in the device cache.
    pub(super) fn end_write(&mut self, id: RequestId) {
        let namespace = self.namespace_of(id);
        self.unfinished[namespace.index()].left -= 1;
        if self.flushes.is_empty() {
            return;
        }
        let order = self.requests[id].order;
        for flush in &mut self.flushes {
            flush.left -= u64::from(flush.namespace == namespace && order <= flush.after);
        }
        let mut at = 0;
        while at < self.flushes.len() {
            if self.flushes[at].left == 0 {
                let flush = self.flushes.remove(at);
                self.flush_written(flush.request);
            } else {
                at += 1;
            }
        }
    }

    /// A flush waits for the writes that reached the drive before it and are under way.
    pub(super) fn begin_flush(&mut self, request: RequestId) {
        let namespace = self.namespace_of(request);
        let Unfinished { begun: after, left } = self.unfinished[namespace.index()];
        let pages = self.pages_in(namespace);
        self.witness(|oracles, now| oracles.flush_began(request, pages, now));
        if left == 0 {
            self.flush_written(request);
        } else {
            self.flushes.push(Flush { request, namespace, after, left });
        }
    }

    /// The writes before a flush are done: what the device cache has of its namespace goes to flash. That may be data of later
    /// writes too [choice]: they take no room from those before them.
    fn flush_written(&mut self, request: RequestId) {
        if self.cache.is_some() {
            let pages = self.pages_in(self.namespace_of(request));
            self.flush_cache(Some(request), pages);
        } else {
            self.respond(request);
        }
    }

    /// The logical pages of a namespace.
    fn pages_in(&self, namespace: NamespaceId) -> Range<u32> {
        let Namespace { first, capacity } = self.namespaces.range(namespace);
        let page = self.geometry.page_size.as_u64();
        let (start, end) = (first.as_u64() / page, (first + capacity).as_u64().div_ceil(page));
        start as u32..end as u32
    }

    /// Flushes that wait for writes are given up.
    pub(super) fn drop_flushes(&mut self) {
        self.flushes.clear();
    }
}
