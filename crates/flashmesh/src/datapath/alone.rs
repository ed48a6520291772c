//! What chips do by themselves after one Clean packet (Network-on-SSD, CAL 2012, section 3.4): the reads of a block's valid pages on one
//! die, and their programs on a die of another chip.
//!
//! The die of the block is kept from all else from the beginning of its first read until the controller has been told the end: "all
//! subsequent read/write requests with the same target have to wait till the end of reclaiming". The die that programs serves others
//! between the pages, and takes each page that has arrived before anything that waits for it.

use crate::fabric::{Cause, Causes, Fabric, LISTED_PAGE};
use crate::flash::die::{Operation, PlaneTransactions};
use crate::ids::{DieId, TransactionId};
use crate::kernel::Kernel;
use crate::kernel::model::Model;
use crate::kernel::probe::Notice;
use crate::schedule::account::PathWait;
use crate::schedule::transaction::Class;
use crate::schedule::{Choice, Scheduler};
use crate::units::{Bytes, Time};

use super::path::PathGrant;
use super::{Datapath, PageSource, Wants};

/// The dies that work on a Clean, and what they do next.
#[derive(Clone, Debug, Default)]
pub(super) struct Alone {
    /// The dies that are kept from all else.
    kept: Vec<DieId>,
    /// What waits for its die to be free.
    next: Vec<(DieId, TransactionId)>,
}

impl Alone {
    /// Whether any die works on a Clean.
    #[inline(always)]
    pub(super) fn is_in_use(&self) -> bool {
        !self.kept.is_empty() || !self.next.is_empty()
    }

    /// Whether a die is kept from all that waits in its queue.
    #[inline]
    pub(super) fn keeps(&self, die: DieId) -> bool {
        self.kept.contains(&die)
    }

    /// A die begins to work on a Clean of `pages` pages; gives how much longer the list makes the command.
    pub(super) fn keep(&mut self, die: DieId, pages: usize) -> Bytes {
        self.kept.push(die);
        LISTED_PAGE * pages as u64
    }

    /// Takes what a die does next for a Clean.
    pub(super) fn take_next(&mut self, die: DieId) -> Option<TransactionId> {
        let at = self.next.iter().position(|(waiting, _)| *waiting == die)?;
        Some(self.next.remove(at).1)
    }
}

impl<M: Model> Datapath<M> {
    /// The controller has been told the end of a Clean, and has rerouted [what has moved](Datapath::take_moved): the die serves its queues
    /// again. [`Datapath::try_issue`] follows.
    pub fn stop_keeping(&mut self, die: DieId) {
        self.alone.kept.retain(|kept| *kept != die);
    }

    /// Takes the reads of requests whose pages lie elsewhere out of the queues of a die.
    pub fn take_moved<S: PageSource<M>>(&mut self, die: DieId, source: &S) -> Vec<TransactionId> {
        let (mut kept, mut moved) = (Vec::new(), Vec::new());
        let priorities = self.queues.priorities();
        let planes = 0..self.geometry.planes_per_die as u8;
        for (plane, &priority) in planes.flat_map(|plane| priorities.iter().map(move |priority| (plane, priority))) {
            let queue = Choice { die, class: Class::UserRead, plane, priority };
            while let Some(id) = self.queues.pop(&mut self.transactions, queue) {
                if source.is_current(&self.transactions[id]) { kept.push(id) } else { moved.push(id) }
            }
            for id in kept.drain(..) {
                self.queues.push(&mut self.transactions, die, plane, id);
            }
        }
        if self.dispatches() {
            self.scheduling.scheduler.queue_changed(die);
        }
        moved
    }

    /// Others are read with the first page of a Clean, whose read has begun.
    pub fn list_with(&mut self, lead: TransactionId, others: &[TransactionId], kernel: &mut Kernel<M>) {
        let die = self.geometry.die_of_plane(self.transactions[lead].plane);
        let together: Vec<TransactionId> = std::iter::once(lead).chain(others.iter().copied()).collect();
        self.run_together(&together);
        self.queue_companions(die, lead, kernel);
        let wait = PathWait { asked: kernel.now(), tried: kernel.now(), causes: Causes::default() };
        self.take_companions(die, lead, PathGrant { wait, cause: Cause::Controller }, kernel);
    }

    /// A transaction that its chip begins by itself, as soon as the die is free: gives the die, for which [`Datapath::try_issue`] follows.
    pub fn begin_alone(&mut self, id: TransactionId, kernel: &mut Kernel<M>) -> DieId {
        let now = kernel.now();
        let transaction = &mut self.transactions[id];
        let die = self.geometry.die_of_plane(transaction.plane);
        let (class, request) = (transaction.class(), transaction.owner.request);
        transaction.account.queue(now, self.units[die].state.internal_busy(now));
        kernel.tell(|| Notice::Enqueued(die, class, request));
        self.queue_companions(die, id, kernel);
        if self.rules.tracks_idle {
            self.idle.set(die, false);
        }
        self.alone.next.push((die, id));
        die
    }

    /// A chip begins a transaction by itself, of which a program has its page.
    pub fn start_alone<S: PageSource<M>>(
        &mut self,
        die: DieId,
        id: TransactionId,
        source: &S,
        kernel: &mut Kernel<M>,
    ) -> Wants {
        let now = kernel.now();
        let class = self.transactions[id].class();
        let wait = PathWait { asked: now, tried: now, causes: Causes::default() };
        let path = PathGrant { wait, cause: Cause::Controller };
        self.taken(id, die, path, kernel);
        self.take_companions(die, id, path, kernel);
        let (kind, pages, planes) = (self.kind_of(class, id), self.pages_of(id), PlaneTransactions::one(id));
        let operation = Operation {
            kind,
            internal: class.is_internal(),
            started: now,
            array_time: self.array_time(kind, pages, planes),
            pages,
            planes,
        };
        if class.is_program() {
            let by = self.geometry.die_of_plane(self.geometry.plane_of(self.transactions[id].from));
            self.interconnect.fabric.redirect_acknowledgement(die, by);
        }
        self.units[die].state.begin(&self.rules.die, operation, now).expect("the die was found free");
        if self.dispatches() {
            self.scheduling.scheduler.queue_changed(die);
        }
        kernel.tell(|| Notice::OperationBegan(die, kind, 1));
        self.start_array(die, Time::ZERO, kernel);
        self.issue_beside_array(die, source, kernel)
    }
}
