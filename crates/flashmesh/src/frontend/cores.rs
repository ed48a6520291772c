//! Processing of commands and completions by cores of the controller, configured in `[firmware]`.

use crate::controller::Backend;
use crate::ids::{JobId, RequestId};
use crate::kernel::job::Job;
use crate::kernel::model::Model;
use crate::workload::{IoRequest, RequestKind};

use super::Frontend;

impl<M: Model> Frontend<M> {
    /// Submits a command that has arrived in the drive. If commands take core time, a core processes the command first.
    #[inline(always)]
    pub fn arrived(&mut self, id: RequestId, backend: &mut Backend<M>) {
        if M::ALL_FEATURES && backend.controller.cores().is_some() {
            let io = self.host.requests[id].io();
            if let Some(end) = backend.controller.ask_core(self.command_job(id, &io), &mut backend.kernel) {
                self.host.requests[id].firmware += end - backend.kernel.now();
                return;
            }
        }
        self.submit(id, backend);
    }

    /// Continues the work that waited for a job that a core has finished. After a power cut, jobs of requests are dropped.
    pub fn core_done(&mut self, id: JobId, backend: &mut Backend<M>) {
        match backend.controller.core_done(id, &mut backend.kernel) {
            Some(Job::Move(transaction)) => backend.move_handled(transaction),
            Some(Job::Command(request, ..)) if !self.is_cut_off() => {
                self.submit(request, backend);
            }
            Some(Job::ReadPart(request, first, pages)) if !self.is_cut_off() => {
                self.read_part(request, first, pages, backend);
            }
            Some(Job::Completion(request)) if !self.is_cut_off() => {
                let spent = self.host.requests[request].last_breakdown;
                self.host.send_response(request, &spent, &mut backend.controller, &mut backend.kernel);
            }
            _ => {}
        }
    }

    /// Returns the job that processes a command.
    fn command_job(&self, id: RequestId, io: &IoRequest) -> Job {
        let units = self.units_of(io);
        let offset = self.host.namespaces.locate(self.host.requests[id].stream, io).ok().filter(|_| units > 0);
        Job::Command(id, io.kind, offset.map(|offset| self.geometry.lpn_of(offset)), units)
    }

    /// Returns the number of mapping units that a request reads or writes, also if the drive will refuse the request; 0 for requests that do neither.
    fn units_of(&self, io: &IoRequest) -> u64 {
        let bytes = io.size.as_u64();
        if !matches!(io.kind, RequestKind::Read | RequestKind::Write) || bytes == 0 {
            return 0;
        }
        let unit = self.geometry.page_size.as_u64();
        (io.offset.as_u64() % unit).saturating_add(bytes).div_ceil(unit)
    }
}
