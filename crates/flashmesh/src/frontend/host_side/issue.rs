//! Issue of requests: requests are pulled from the workloads and sent to the drive.
//!
//! Open replay issues requests at their arrival times, stress replay keeps a constant number in flight, and closed replay has threads with think
//! times.

use crate::controller::Controller;
use crate::error::RunError;
use crate::host::interface::Command;
use crate::host::replay::{BATCH, NextRequest, ReplayRequest};
use crate::ids::{Lpn, StreamId};
use crate::kernel::Kernel;
use crate::kernel::event::{Event, lane};
use crate::kernel::model::Model;
use crate::kernel::probe::Notice;
use crate::units::{Bytes, Time};
use crate::workload::{IoRequest, RequestKind};

use super::{HostSide, Sink};

impl<M: Model> HostSide<M> {
    /// Issues the requests of a stream that arrive now, in open replay. Also begins a stream whose start delay ends now.
    ///
    /// # Errors
    /// If a workload cannot be read further.
    pub fn arrive(
        &mut self,
        stream: StreamId,
        controller: &Controller,
        kernel: &mut Kernel<M>,
    ) -> Result<(), RunError> {
        if self.streams[stream.index()].replay.is_delayed() {
            self.streams[stream.index()].replay.begin(kernel.now());
            self.issue_first(stream, controller, kernel)?;
            return self.start_phases(controller, kernel);
        }
        self.streams[stream.index()].replay.alarm_rang();
        self.issue_open(stream, controller, kernel)?;
        self.start_phases(controller, kernel)
    }

    /// Issues the next request of the thread whose think time ends now, in closed replay.
    pub fn end_think_time(&mut self, stream: StreamId, controller: &Controller, kernel: &mut Kernel<M>) {
        if let NextRequest::Issue(arrived) = self.streams[stream.index()].replay.end_think_time(kernel.now()) {
            self.issue(stream, arrived, kernel.now(), controller, kernel);
        }
    }

    /// Issues the requests that have arrived and schedules the next arrival, in open replay. Fails if the workload cannot be read further.
    pub(super) fn issue_open(
        &mut self,
        stream: StreamId,
        controller: &Controller,
        kernel: &mut Kernel<M>,
    ) -> Result<(), RunError> {
        loop {
            match self.streams[stream.index()].replay.next_open(kernel.now())? {
                NextRequest::Issue(arrived) => self.issue(stream, arrived, kernel.now(), controller, kernel),
                NextRequest::At(at) => {
                    kernel.schedule(lane::ARRIVAL, at, Event::Arrive(stream));
                    return Ok(());
                }
                NextRequest::Later => return Ok(()),
            }
        }
    }

    /// Adds a request to a stream of a stepped drive (a drive whose time the caller advances). Returns the id of the request.
    pub fn accept(&mut self, stream: StreamId, io: IoRequest, kernel: &mut Kernel<M>) -> u64 {
        let completions = self.completions();
        let id = completions.submitted;
        completions.submitted += 1;
        if let Some(arrival) = self.streams[stream.index()].replay.submit(io, id as u32) {
            kernel.schedule(lane::ARRIVAL, arrival, Event::Arrive(stream));
        }
        id
    }

    /// Issues the next request in stress replay. If no slot of the queue is free, the request waits on the host. Fails if the workload cannot be read
    /// further.
    #[inline(always)]
    pub(super) fn issue_next(
        &mut self,
        stream: StreamId,
        controller: &Controller,
        kernel: &mut Kernel<M>,
    ) -> Result<(), RunError> {
        let now = kernel.now();
        if self.streams[stream.index()].replay.takes_next(now)? {
            self.issue_taken(stream, now, controller, kernel);
        }
        Ok(())
    }

    /// Issues the request that was last pulled from the workload, in stress replay.
    #[inline(always)]
    pub(super) fn issue_taken(&mut self, stream: StreamId, now: Time, controller: &Controller, kernel: &mut Kernel<M>) {
        let io = *self.streams[stream.index()].replay.last_taken();
        self.issue_now(stream, ReplayRequest { io, thread: 0, arrival: now }, now, controller, kernel);
    }

    /// Issues the next request of a thread, in closed replay. Fails if the workload cannot be read further.
    pub(super) fn issue_for(
        &mut self,
        stream: StreamId,
        thread: u32,
        controller: &Controller,
        kernel: &mut Kernel<M>,
    ) -> Result<(), RunError> {
        if let NextRequest::Issue(arrived) = self.streams[stream.index()].replay.next_of(thread, kernel.now())? {
            self.issue(stream, arrived, kernel.now(), controller, kernel);
        }
        Ok(())
    }

    /// Issues a request at `now`. Not inlined, because the most frequent caller inlines `issue_now` instead.
    #[inline(never)]
    pub(super) fn issue(
        &mut self,
        stream: StreamId,
        arrived: ReplayRequest,
        now: Time,
        controller: &Controller,
        kernel: &mut Kernel<M>,
    ) {
        self.issue_now(stream, arrived, now, controller, kernel);
    }

    #[inline(always)]
    fn issue_now(
        &mut self,
        stream: StreamId,
        arrived: ReplayRequest,
        now: Time,
        controller: &Controller,
        kernel: &mut Kernel<M>,
    ) {
        let source = &self.streams[stream.index()];
        let priority = source.config.queue.priority;
        if source.replay.has_new_batch() {
            self.prefetch(stream, controller);
        }
        let io = arrived.io;
        let number = self.counters.issued;
        self.counters.issued += 1;
        if let Some(timeline) = &mut self.counters.timeline {
            timeline.record_issue(now);
        }
        let request = self.requests.insert_stale();
        self.requests[request].begin(&arrived, now, number, stream, priority);
        if M::ALL_FEATURES {
            self.requests[request].firmware = Time::ZERO;
        }
        kernel.notify(|| Notice::RequestIssued(request, stream));
        let data = if io.kind == RequestKind::Write { io.size } else { Bytes::ZERO };
        let command = Command { request, stream, data };
        let is_completion_under_way = now > kernel.now();
        let sink = &mut Sink { kernel, crossing: &mut self.crossing };
        if !M::ALL_FEATURES && is_completion_under_way {
            self.interface.issue_on_completion(command, now, sink);
        } else {
            self.interface.issue(command, now, sink);
        }
    }

    /// Prefetches the translation layer's table entries for the requests of the newest batch.
    #[inline(never)]
    fn prefetch(&self, stream: StreamId, controller: &Controller) {
        let mut pages = [Lpn(0); BATCH];
        let mut count = 0;
        for io in self.streams[stream.index()].replay.batch() {
            let Ok(offset) = self.namespaces.locate(stream, io) else { continue };
            pages[count] = self.geometry.lpn_of(offset);
            count += 1;
        }
        controller.prefetch(&pages[..count]);
    }
}
