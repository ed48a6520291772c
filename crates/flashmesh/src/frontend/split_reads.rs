//! Read commands split into parts (`firmware.split-time`): the data of a part lies in one page of flash. The first part is read as soon as a core has
//! processed the command. Each later part needs one more job of a core before it is read.

use rustc_hash::FxHashMap;

use crate::controller::{Backend, Controller};
use crate::ids::{Lpn, RequestId};
use crate::kernel::Kernel;
use crate::kernel::job::Job;
use crate::kernel::model::Model;
use crate::units::Time;
use crate::workload::IoRequest;

use super::Frontend;
use super::submit::read_all;

/// A read command in flight that is split into parts.
#[derive(Clone, Copy, Debug)]
struct SplitRead {
    /// The command, with its address in the drive instead of its address in a namespace.
    io: IoRequest,
    /// Arrival of the command after its job on a core. The command began later if it was held behind a stalled write (`cache.stall`).
    since: Time,
    /// Time from `since` to the start of the command.
    held: Time,
}

/// Split read commands in flight.
#[derive(Clone, Debug, Default)]
pub(super) struct SplitReads {
    reads: FxHashMap<RequestId, SplitRead>,
}

impl<M: Model> Frontend<M> {
    /// Splits a read command of the pages `first` to `last`, and returns the last page of its first part. Queues a core job for each other part; when
    /// it ends, [`read_part`](Self::read_part) reads the part. Until then, each of those parts counts as one pending completion of the request.
    #[inline(never)]
    pub(super) fn split_read(
        &mut self,
        id: RequestId,
        io: &IoRequest,
        since: Time,
        (first, last): (Lpn, Lpn),
        controller: &mut Controller,
        kernel: &mut Kernel<M>,
    ) -> Lpn {
        let is_last_of_part = |lpn: u32| lpn == last.0 || !controller.are_in_one_flash_page(Lpn(lpn), Lpn(lpn + 1));
        let ends: Vec<u32> = (first.0..=last.0).filter(|&lpn| is_last_of_part(lpn)).collect();
        for part in ends.windows(2) {
            controller.ask_core(Job::ReadPart(id, Lpn(part[0] + 1), part[1] - part[0]), kernel);
        }
        if ends.len() > 1 {
            self.split_reads.reads.insert(id, SplitRead { io: *io, since, held: kernel.now() - since });
        }
        self.host.requests[id].remaining = ends.len() as u32 - 1;
        Lpn(ends[0])
    }

    /// Reads a part of a split read command, `pages` logical pages from `first` on. Called when the core job of the part has ended.
    pub(super) fn read_part(&mut self, id: RequestId, first: Lpn, pages: u32, backend: &mut Backend<M>) {
        let SplitRead { io, held, .. } = self.split_reads.reads[&id];
        let since = backend.kernel.now() - held;
        let pages = (first.0..first.0 + pages).map(|lpn| self.part_of(id, &io, since, Lpn(lpn)));
        let completions = read_all(pages, backend);
        self.host.requests[id].remaining += completions - 1;
    }

    /// Ends a split read command. Charges to core time all time since its arrival except `spent`, the time accounted to its last page.
    pub(super) fn end_split_read(&mut self, id: RequestId, spent: Time, now: Time) {
        if let Some(SplitRead { since, .. }) = self.split_reads.reads.remove(&id) {
            self.host.requests[id].firmware += now - since - spent;
        }
    }
}
