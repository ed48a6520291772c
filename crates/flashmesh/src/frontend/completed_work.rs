//! Work that the controller has completed: pages of requests, and flushes.

use crate::controller::{Backend, CompletedWork};
use crate::fabric::Causes;
use crate::kernel::model::Model;
use crate::workload::RequestKind;

use super::Frontend;

impl<M: Model> Frontend<M> {
    /// Handles the pending completions of the controller.
    #[inline(always)]
    pub fn handle_completions(&mut self, backend: &mut Backend<M>) {
        if backend.controller.has_completions() {
            self.take_all_done(backend);
        }
    }

    #[inline(always)]
    fn take_all_done(&mut self, backend: &mut Backend<M>) {
        let mut next = 0;
        while let Some(done) = backend.controller.next_done(next) {
            next += 1;
            let (ended, spent) = match done {
                &CompletedWork::Page(id) => {
                    let ended = self.host.transaction_done(id, &backend.datapath, &mut backend.kernel);
                    let spent = *backend.datapath.queues.transaction(id).account.spent();
                    backend.datapath.queues.transactions.remove(id);
                    (ended, spent)
                }
                &CompletedWork::Cached { request, read, spent } => (
                    self.host.page_done(request, read, Causes::default(), &mut backend.kernel).then_some(request),
                    spent,
                ),
                &CompletedWork::Flush(Some(request)) => {
                    self.end_flush(request, &mut backend.controller, &mut backend.kernel);
                    continue;
                }
                CompletedWork::Flush(None) => {
                    self.flushed(backend);
                    continue;
                }
            };
            if let Some(request) = ended {
                // Read the kind first: `respond` can remove the request, and another request can reuse its slot.
                let is_read = self.host.requests[request].kind == RequestKind::Read;
                if M::ALL_FEATURES && is_read {
                    self.end_split_read(request, spent.total(), backend.kernel.now());
                }
                let write = if is_read { None } else { self.write_done(request) };
                self.host.respond(request, &spent, &mut backend.controller, &mut backend.kernel);
                if let Some(write) = write {
                    self.release_flushes(write, backend);
                }
            }
        }
        backend.controller.clear_completions();
    }
}
