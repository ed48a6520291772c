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
}

impl<M: Model> PageSource<M> for Firmware {
    #[inline]
    fn is_current(&self, transaction: &Transaction) -> bool {
        match transaction.class {
            Class::MapRead | Class::UserRead | Class::CollectRead | Class::CollectProgram => {
                self.ftl.lookup(transaction.lpn) == Some(transaction.from)
            }
            Class::MapProgram | Class::UserProgram | Class::Erase => true,
        }
    }

    #[inline]
    fn next_page(&self, transaction: &Transaction) -> Option<(BlockId, u32)> {
        self.ftl.next_page_offset(transaction.plane, self.stream_of(transaction)?)
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

    #[inline]
    fn allocate(&mut self, transaction: &Transaction, kernel: &mut Kernel<M>) -> Option<Ppn> {
        let stream = self.stream_of(transaction)?;
        let page = self.ftl.allocate(transaction.plane, stream);
        if M::FULL && transaction.class == Class::MapProgram {
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
        let Transaction { class, plane, from, is_copied, is_read_modify_write, lpn, .. } = *datapath.transaction(id);
        if class.is_internal() {
            if is_copied {
                self.copy_ended(plane);
                kernel.tell(|| Notice::CopyDropped(plane));
            }
            datapath.remove(id);
            return self.advance(self.geometry.plane_of(from), datapath, kernel);
        }
        datapath.count_wait(id, kernel.now());
        if is_read_modify_write && self.ftl.lookup(lpn).is_none() {
            self.turn_into_program(id, datapath);
        } else {
            self.retarget(id, datapath, kernel);
            self.settle_map(datapath, kernel);
        }
        self.enqueue(id, datapath, kernel);
    }

    #[inline(always)]
    fn holds_back(&self, ready: &PlaneMasks, waiting: &PlaneMasks) -> bool {
        ready != waiting || (M::FULL && !self.blocked.is_empty())
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
        let held_back = |class: Class| waiting[class.index()] & !ready[class.index()];
        let mut planes = held_back(Class::UserProgram) | held_back(Class::MapProgram);
        planes |= self.blocked.planes(first, self.geometry.planes_per_die);
        while planes != 0 {
            let plane = planes.trailing_zeros();
            planes &= planes - 1;
            self.collect_if_needed(PlaneId(first.0 + plane), datapath, kernel);
        }
    }

    #[inline]
    fn die_idle(&mut self, die: DieId, datapath: &mut Datapath<M>, kernel: &mut Kernel<M>) {
        self.collect_in_background(die, datapath, kernel);
    }

    fn copy_destination(&mut self, read: TransactionId, datapath: &mut Datapath<M>) -> Option<DieId> {
        self.destination_of(read, datapath)
    }
}
