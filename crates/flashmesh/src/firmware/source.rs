//! What the datapath asks while it chooses: late binding of pages.

use crate::datapath::{Datapath, PageSource};
use crate::ftl::Stream;
use crate::ids::{BlockId, DieId, PlaneId, Ppn, StreamId, TransactionId};
use crate::kernel::Kernel;
use crate::kernel::model::Model;
use crate::kernel::probe::Notice;
use crate::schedule::queues::PlaneMasks;
use crate::schedule::transaction::{Class, Transaction};

use super::Firmware;

impl Firmware {
    /// Which open block a program goes to; `None` when it is something else.
    #[inline]
    fn stream_of(&self, transaction: &Transaction) -> Option<Stream> {
        match transaction.class {
            Class::UserProgram => Some(self.stream_of_write(transaction)),
            Class::MapProgram => Some(Stream::Translation),
            Class::ReplicaProgram => Some(Stream::Replica),
            Class::CollectProgram if transaction.is_copied => Some(Stream::Arrival),
            Class::CollectProgram => Some(self.ftl.stream_of_move(transaction.from)),
            Class::MapRead | Class::UserRead | Class::CollectRead | Class::Erase => None,
        }
    }

    /// Which open block of its plane a write goes to.
    #[inline]
    pub(super) fn stream_of_write(&self, transaction: &Transaction) -> Stream {
        let stream = transaction.request.map(|_| transaction.stream);
        self.ftl.host_stream(transaction.plane, stream)
    }

    /// Whether the page that a transaction reads or moves still is where it was when it was queued, as the map has it.
    #[inline(never)]
    fn is_still_there<M: Model>(&self, transaction: &Transaction) -> bool {
        match transaction.class {
            Class::UserRead if !transaction.is_read_modify_write => {
                self.ftl.may_read(transaction.lpn, transaction.from)
            }
            Class::MapRead | Class::UserRead | Class::CollectRead | Class::CollectProgram => {
                self.ftl.is_at(transaction.lpn, transaction.from)
            }
            Class::UserProgram if M::FULL && transaction.is_reallocated => {
                self.ftl.lookup(transaction.lpn) == Some(transaction.from)
            }
            Class::ReplicaProgram => {
                let has_place = || self.ftl.next_page_offset(transaction.plane, Stream::Replica).is_some();
                self.is_replica_wanted(transaction) && has_place()
            }
            Class::MapProgram | Class::UserProgram | Class::Erase => true,
        }
    }
}

impl<M: Model> PageSource<M> for Firmware {
    #[inline(always)]
    fn is_current(&self, transaction: &Transaction) -> bool {
        // A plain drive has no copies of pages: what a read was told of the map holds while that does not change.
        (!M::FULL && transaction.translated == self.ftl.map_changes()) || self.is_still_there::<M>(transaction)
    }

    #[inline]
    fn stays(&self, write: TransactionId, datapath: &Datapath<M>) -> bool {
        !self.rules.asks_allocator || self.write_stays(write, datapath)
    }

    #[inline]
    fn joins(&self, lead: &Transaction, other: &Transaction) -> bool {
        self.policy.joins(lead, other)
    }

    #[inline]
    fn choose_home(&mut self, read: &Transaction) -> Option<Ppn> {
        let home = if self.replication.is_none() { None } else { self.home_of(read) };
        if self.rules.cleans { home.or_else(|| self.collections.cleaning.home_of(read)) } else { home }
    }

    #[inline]
    fn read_queued(&mut self, id: TransactionId, die: DieId, datapath: &mut Datapath<M>, kernel: &mut Kernel<M>) {
        if self.replication.is_some() {
            self.read_arrived(id, die, datapath, kernel);
        }
    }

    #[inline]
    fn next_page(&self, transaction: &Transaction) -> Option<(BlockId, u32)> {
        let stream = self.stream_of(transaction)?;
        match transaction.class {
            Class::CollectProgram => self.ftl.next_move_offset(transaction.plane, stream),
            _ => self.ftl.next_page_offset(transaction.plane, stream),
        }
    }

    /// Where streams of the host have open blocks of their own, the head of each queue counts, whichever the scheduler may choose.
    #[inline]
    fn has_page<'a>(&self, class: Class, plane: PlaneId, mut heads: impl Iterator<Item = &'a Transaction>) -> bool {
        let has_page = |stream| self.ftl.next_page_offset(plane, stream).is_some();
        if class == Class::MapProgram {
            return has_page(Stream::Translation);
        }
        if self.rules.shares_open_block {
            return has_page(Stream::Host(StreamId(0)));
        }
        heads.all(|head| self.stream_of(head).is_none_or(has_page))
    }

    #[inline(always)]
    fn shares_open_block(&self) -> bool {
        self.rules.shares_open_block
    }

    #[inline(always)]
    fn has_shared_page(&self, plane: PlaneId) -> bool {
        self.ftl.has_shared_page(plane)
    }

    #[inline]
    fn allocate(&mut self, transaction: &Transaction, kernel: &mut Kernel<M>) -> Option<Ppn> {
        let stream = self.stream_of(transaction)?;
        let page = match transaction.class {
            Class::CollectProgram => self.ftl.allocate_move(transaction.plane, stream),
            _ => {
                self.ftl.prefetch_older(transaction.lpn);
                self.ftl.allocate(transaction.plane, stream)
            }
        };
        if M::FULL {
            self.policy.page_taken(transaction.class, transaction.plane);
        }
        if M::CACHES && transaction.class == Class::MapProgram {
            self.translation_program_began(transaction.lpn, kernel);
        }
        page
    }

    #[inline(always)]
    fn collection_first(&self, die: DieId) -> bool {
        self.goes_first(die)
    }

    fn collects_for_space(&self, die: DieId) -> bool {
        self.is_out_of_space(die)
    }

    #[inline(never)]
    fn reroute(&mut self, id: TransactionId, datapath: &mut Datapath<M>, kernel: &mut Kernel<M>) {
        let Transaction {
            class, plane, from, is_copied, is_cleaned, is_read_modify_write, is_reallocated, lpn, ..
        } = *datapath.transaction(id);
        if M::FULL && class == Class::UserProgram && is_reallocated {
            return self.drop_reallocation(id, datapath);
        }
        if M::FULL {
            self.read_ended(id, datapath);
        }
        if class.is_internal() {
            if M::FULL && class == Class::CollectProgram {
                self.policy.page_taken(class, plane);
            }
            if is_copied {
                self.copy_ended(plane);
                kernel.tell(|| Notice::CopyDropped(plane));
            }
            if M::FULL && is_cleaned {
                self.drop_clean(plane);
            }
            datapath.remove(id);
            return self.advance(self.geometry.plane_of(from), datapath, kernel);
        }
        if class == Class::ReplicaProgram {
            return self.drop_replica_program(id, datapath);
        }
        if M::FULL && class == Class::UserRead {
            self.read_left(id, datapath);
            self.forget_plan_of(id, lpn);
        }
        datapath.count_wait(id, kernel.now());
        if class == Class::UserProgram {
            self.place_again(id, datapath);
        } else if is_read_modify_write && self.ftl.lookup(lpn).is_none() {
            self.turn_into_program(id, datapath);
        } else {
            self.retarget(id, datapath, kernel);
            self.settle_map(datapath, kernel);
        }
        self.enqueue(id, datapath, kernel);
    }

    #[inline(always)]
    fn holds_back(&self, ready: &PlaneMasks, waiting: &PlaneMasks) -> bool {
        ready != waiting || (M::PREALLOCATES && !self.writes.blocked.is_empty())
    }

    #[inline(never)]
    fn collect_held_back(
        &mut self,
        die: DieId,
        ready: &PlaneMasks,
        waiting: &PlaneMasks,
        datapath: &mut Datapath<M>,
        kernel: &mut Kernel<M>,
    ) {
        let first = self.geometry.first_plane(die);
        let held_back = |class: Class| waiting.of(class) & !ready.of(class);
        let mut planes = Class::WAITING_PROGRAMS.iter().fold(0, |planes, &class| planes | held_back(class));
        planes |= self.writes.blocked.planes(first, self.geometry.planes_per_die);
        while planes != 0 {
            let plane = planes.trailing_zeros();
            planes &= planes - 1;
            self.collect_if_needed(PlaneId(first.0 + plane), datapath, kernel);
        }
    }

    #[inline]
    fn die_idle(&mut self, die: DieId, datapath: &mut Datapath<M>, kernel: &mut Kernel<M>) {
        self.collect_in_background(die, datapath, kernel);
        if M::FULL {
            self.policy.die_idle();
        }
    }

    fn clean_begins(&mut self, read: TransactionId, datapath: &mut Datapath<M>) -> usize {
        self.list_clean(datapath.transaction(read).plane)
    }

    fn copy_destination(&mut self, read: TransactionId, datapath: &mut Datapath<M>) -> Option<DieId> {
        self.destination_of(read, datapath)
    }
}
