//! Hooks of the oracles (checks of a run) for the arrival of host requests and their completions.

use std::ops::Range;

use crate::check::Oracles;
use crate::check::cores::Cores;
use crate::check::host::namespaces::Namespaces;
use crate::check::host::queues::Queues;
use crate::check::host::requests::Requests;
use crate::host::interface::InterfaceNotice;
use crate::ids::{RequestId, StreamId};
use crate::kernel::job::Job;
use crate::units::Time;
use crate::workload::IoRequest;

impl Oracles {
    pub fn request_issued(&mut self, id: RequestId, stream: StreamId, now: Time) {
        self.namespaces.issued(id, stream);
        let outcome = self.queues.issued(id, stream);
        self.judge(Queues::NAME, outcome, now);
    }

    pub fn host(&mut self, seen: InterfaceNotice, now: Time) {
        let outcome = self.queues.check_event(seen);
        self.judge(Queues::NAME, outcome, now);
    }

    pub fn request_refused(&mut self, id: RequestId, now: Time) {
        let outcome = self.requests.refused(id);
        self.judge(Requests::NAME, outcome, now);
    }

    pub fn request_submitted(&mut self, id: RequestId, io: &IoRequest, now: Time) {
        let outcome = self.requests.submitted(id, io, now);
        self.judge(Requests::NAME, outcome, now);
        let outcome = self.cores.submitted(id, io, |lpn| self.pages.read_location(lpn));
        self.judge(Cores::NAME, outcome, now);
        let outcome = self.namespaces.submitted(id, io);
        self.judge(Namespaces::NAME, outcome, now);
        self.freshness.submitted(id, io, now, |lpn| self.pages.newest(lpn));
        if let Some(cache) = &mut self.cache {
            cache.submitted(id, io);
        }
    }

    pub fn firmware_job_queued(&mut self, job: Job, now: Time) {
        self.cores.asked(job, now);
    }

    pub fn firmware_job_done(&mut self, job: Job, now: Time) {
        let outcome = self.cores.done(job, now);
        self.judge(Cores::NAME, outcome, now);
    }

    pub fn flush_began(&mut self, id: RequestId, pages: Range<u32>, now: Time) {
        let outcome = self.requests.flush_began(id);
        self.judge(Requests::NAME, outcome, now);
        self.durability.flush_began(id, pages.clone());
        if let Some(cache) = &mut self.cache {
            cache.flush_began(id, pages);
        }
    }

    pub fn request_completed(&mut self, id: RequestId, now: Time) {
        let outcome = self.requests.completed(id, now);
        self.judge(Requests::NAME, outcome, now);
        let outcome = self.cores.completed(id);
        self.judge(Cores::NAME, outcome, now);
        self.queues.completed(id);
        self.namespaces.completed(id);
        self.freshness.completed(id);
        self.durability.completed(id);
        self.entries.completed(id);
        if !self.whole.is_empty() {
            self.whole.retain(|(request, _)| *request != id);
        }
        self.cache(now, |cache| cache.completed(id));
    }
}
