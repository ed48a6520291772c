//! A die begins an operation.

use crate::fabric::{Message, Payload};
use crate::flash::die::{Operation, OperationKind, PlaneTransactions};
use crate::ids::{DieId, TransactionId};
use crate::kernel::Kernel;
use crate::kernel::model::Model;
use crate::kernel::probe::Notice;
use crate::schedule::fuse::InPlane;
use crate::schedule::queues::PlaneMasks;
use crate::schedule::transaction::Class;
use crate::schedule::{Choice, Scheduler};
use crate::units::{Bytes, Time};

use super::grant::{GrantedPath, Next};
use super::path::PathGrant;
use super::{Datapath, PageSource};

/// An operation that a die begins, while planes join and programs get their pages.
#[derive(Clone, Copy, Debug)]
pub struct Beginning {
    /// The queue of the transaction that leads.
    pub(super) queue: Choice,
    granted: GrantedPath,
    planes: PlaneTransactions,
    /// The other planes with something waiting, as far as they have not been asked to join.
    others: u8,
    /// Where in its plane the lead works, once another plane has been asked.
    lead_at: Option<InPlane>,
    /// Programs that run with the one taken last.
    pub(super) companions: u32,
}

impl Beginning {
    #[inline(always)]
    pub(super) fn of(queue: Choice, lead: TransactionId, granted: GrantedPath, others: u8) -> Beginning {
        Beginning { queue, granted, planes: PlaneTransactions::one(lead), others, lead_at: None, companions: 0 }
    }

    /// The transaction that leads.
    #[inline]
    pub fn lead(&self) -> TransactionId {
        self.planes.transactions()[0]
    }

    /// All that have joined so far, the lead first.
    #[inline]
    pub fn transactions(&self) -> &[TransactionId] {
        self.planes.transactions()
    }

    #[inline]
    pub fn class(&self) -> Class {
        self.queue.class
    }

    pub(super) fn path(&self) -> PathGrant {
        self.granted.path
    }
}

impl<M: Model> Datapath<M> {
    /// The transaction that leads the next operation of a die has been taken out of its queue.
    #[inline(always)]
    pub(super) fn lead<S: PageSource<M>>(
        &mut self,
        queue: Choice,
        lead: TransactionId,
        granted: GrantedPath,
        source: &S,
        kernel: &mut Kernel<M>,
    ) -> Beginning {
        let others = self.take_lead(queue, lead, granted, source, kernel);
        Beginning::of(queue, lead, granted, others)
    }

    /// The same; gives the other planes that may join.
    #[inline(always)]
    pub(super) fn take_lead<S: PageSource<M>>(
        &mut self,
        queue: Choice,
        lead: TransactionId,
        granted: GrantedPath,
        source: &S,
        kernel: &mut Kernel<M>,
    ) -> u8 {
        self.count_transfer(granted.grant, granted.path);
        let waiting = self.queues.masks(queue.die);
        self.count_overdue(queue, waiting, lead, kernel.now());
        self.taken(lead, queue.die, granted.path, kernel);
        self.join_reads(queue, lead, granted.path, source, kernel);
        let joins = self.kind_of(queue.class, lead) != OperationKind::Copyback;
        if joins { waiting.of(queue.class) & !(1 << queue.plane) } else { 0 }
    }

    /// The next transaction of another plane of the die that joins. All before it have their pages.
    #[inline(always)]
    pub fn next_joiner<S: PageSource<M>>(
        &mut self,
        beginning: &mut Beginning,
        source: &S,
        kernel: &mut Kernel<M>,
    ) -> Option<TransactionId> {
        if beginning.others == 0 { None } else { self.join(beginning, source, kernel) }
    }

    /// Begins an operation of which all who join have what they need. Most have none who join: what follows is in line for those alone.
    #[inline(always)]
    pub(super) fn join_and_begin<S: PageSource<M>>(
        &mut self,
        beginning: Beginning,
        source: &S,
        kernel: &mut Kernel<M>,
    ) {
        if beginning.others == 0 {
            self.begin(beginning, kernel);
        } else {
            self.begin_joined(beginning, source, kernel);
        }
    }

    #[inline(never)]
    pub(super) fn begin_joined<S: PageSource<M>>(
        &mut self,
        mut beginning: Beginning,
        source: &S,
        kernel: &mut Kernel<M>,
    ) {
        while self.join(&mut beginning, source, kernel).is_some() {}
        self.begin(beginning, kernel);
    }

    #[inline(never)]
    fn join<S: PageSource<M>>(
        &mut self,
        beginning: &mut Beginning,
        source: &S,
        kernel: &mut Kernel<M>,
    ) -> Option<TransactionId> {
        let lead = beginning.lead();
        let lead_at = *beginning.lead_at.get_or_insert_with(|| self.place_of(lead));
        while beginning.others != 0 {
            let plane = beginning.others.trailing_zeros() as u8;
            beginning.others &= beginning.others - 1;
            let queue = Choice { plane, ..beginning.queue };
            if let Some(id) = self.joiner_of(queue, lead, lead_at, source) {
                self.taken(id, queue.die, beginning.granted.path, kernel);
                self.join_reads(queue, id, beginning.granted.path, source, kernel);
                beginning.planes.join(id);
                beginning.companions = 0;
                return Some(id);
            }
        }
        None
    }

    /// A read of collection or of the map, or an erase, begins.
    #[inline(never)]
    pub(super) fn begin_other<S: PageSource<M>>(
        &mut self,
        queue: Choice,
        lead: TransactionId,
        granted: GrantedPath,
        source: &S,
        kernel: &mut Kernel<M>,
    ) -> Next {
        let beginning = self.lead(queue, lead, granted, source, kernel);
        if M::ALL_FEATURES && self.transactions[lead].work.is_clean() {
            let pages = source.listed_pages(&self.transactions[lead]);
            let list = self.alone.keep(queue.die, pages);
            self.send_command(beginning, list, kernel);
            return Next::Listed(lead);
        }
        self.join_and_begin(beginning, source, kernel);
        Next::Done
    }

    /// The operation begins: its command leaves over the path that has been granted. All programs of it have their pages.
    #[inline(always)]
    pub fn begin(&mut self, beginning: Beginning, kernel: &mut Kernel<M>) {
        if self.gathers() && beginning.class().is_program() {
            self.gather_anew(&beginning, kernel);
        }
        self.send_command(beginning, Bytes::ZERO, kernel);
    }

    /// The same, with `list` more of data.
    #[inline(always)]
    fn send_command(&mut self, beginning: Beginning, list: Bytes, kernel: &mut Kernel<M>) {
        let now = kernel.now();
        let Beginning { queue: Choice { class, die, .. }, granted, planes, .. } = beginning;
        let (kind, pages) = (self.kind_of(class, beginning.lead()), self.pages_of(beginning.lead()));
        let suspension = if granted.suspends { self.timing.suspend } else { Time::ZERO };
        let count = planes.transactions().len();
        self.counters.multi_plane_operations += u64::from(count > 1);
        let payload = Payload {
            message: Message::commanding(kind),
            planes: count as u32,
            command: self.timing.command(kind, count),
            bytes: list + self.data_of(kind, &planes),
        };
        let operation = Operation {
            kind,
            internal: class.is_internal(),
            started: now,
            array_time: self.array_time(kind, pages, planes) + suspension,
            pages,
            planes,
        };
        self.units[die].state.begin(&self.rules.die, operation, now).expect("a die that was chosen for accepts");
        if self.dispatches() {
            self.scheduling.scheduler.queue_changed(die);
        }
        if M::ALL_FEATURES && self.rules.dies_start_together && self.rules.tracks_idle {
            // None of them begins anything before all are done.
            self.dies_of_chip(die).for_each(|die| self.idle.set(die, false));
        }
        kernel.tell(|| Notice::OperationBegan(die, kind, count));
        self.send(granted.grant, granted.path, payload, kernel);
    }

    /// Counts what goes before requests of the other kind since it has waited too long; `waiting` is what waits for the die beside it.
    #[inline(always)]
    fn count_overdue(&mut self, queue: Choice, waiting: PlaneMasks, lead: TransactionId, now: Time) {
        let other = match queue.class {
            Class::UserRead => Class::UserProgram,
            Class::UserProgram => Class::UserRead,
            _ => return,
        };
        let is_contested = waiting.of(other) != 0;
        if is_contested && now - self.transactions[lead].account.queued() >= self.rules.age_bound {
            match queue.class {
                Class::UserRead => self.counters.overdue_reads += 1,
                _ => self.counters.overdue_programs += 1,
            }
        }
    }

    /// What the array does for an operation of `class` that `lead` leads.
    #[inline]
    pub(super) fn kind_of(&self, class: Class, lead: TransactionId) -> OperationKind {
        match class {
            Class::MapRead | Class::UserRead | Class::CollectRead => OperationKind::Read,
            Class::CollectProgram if self.rules.copyback && self.transactions[lead].work.is_copyback() => {
                OperationKind::Copyback
            }
            Class::MapProgram | Class::UserProgram | Class::CollectProgram | Class::ReplicaProgram => {
                OperationKind::Program
            }
            Class::Erase => OperationKind::Erase,
        }
    }

    /// Accounts for the time that a transaction waited, which its die takes now.
    #[inline(always)]
    pub(super) fn taken(&mut self, id: TransactionId, die: DieId, path: PathGrant, kernel: &mut Kernel<M>) {
        let now = kernel.now();
        self.count_left(id);
        let transaction = &mut self.transactions[id];
        transaction.account.taken(now, path.wait, self.units[die].state.internal_busy(now));
        let (class, request) = (transaction.class(), transaction.owner.request);
        kernel.tell(|| Notice::Taken(die, class, request));
    }

    /// Whether a transaction is a program that needs a page now, as it begins.
    #[inline(always)]
    pub fn needs_page(&self, id: TransactionId) -> bool {
        let class = self.transactions[id].class();
        class.is_program() && !self.has_page(class)
    }

    /// The data that goes with the command of an operation.
    #[inline]
    fn data_of(&self, kind: OperationKind, planes: &PlaneTransactions) -> Bytes {
        let (transactions, programs) = (planes.transactions(), kind == OperationKind::Program);
        if M::ALL_FEATURES && programs && self.transactions[transactions[0]].work.leaves_chip() {
            return Bytes::ZERO;
        }
        if self.rules.partial_program && programs {
            let units = transactions.iter().flat_map(|&id| self.with_companions(id));
            return units.map(|id| self.with_spare(self.transactions[id].bytes)).sum();
        }
        let units = || {
            let block = self.geometry.block_of(self.transactions[transactions[0]].to);
            self.geometry.units_per_program_of(block)
        };
        let units = if self.gathers() { units() } else { self.geometry.units_per_page };
        // A product instead of a branch, which would often be mispredicted.
        self.with_spare(self.geometry.page_size * u64::from(units)) * (transactions.len() as u64 * u64::from(programs))
    }
}
