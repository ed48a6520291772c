//! Interface to the datapath: enqueueing of transactions, and the actions that the datapath returns.

use crate::datapath::{Datapath, GrantOutcome, IssueOutcome, NewOperation, PageSource};
use crate::fabric::GrantRecord;
use crate::ids::{DieId, PlaneId, Ppn, TransactionId};
use crate::kernel::Kernel;
use crate::kernel::model::Model;
use crate::policies::{FirmwarePolicy, PolicyEvent, PolicyView};
use crate::schedule::purpose::Purpose;
use crate::schedule::transaction::{Transaction, TransactionClass};

use super::follow_ups::FollowUp;
use super::work::{host_read, parity, reallocate, replica};
use super::{Context, Controller, Shared};

impl Controller {
    /// Enqueues a transaction at its die, unless the firmware policy holds it.
    #[inline(always)]
    pub(super) fn enqueue<M: Model>(&mut self, id: TransactionId, datapath: &mut Datapath<M>, kernel: &mut Kernel<M>) {
        let work = datapath.queues.transaction(id).purpose;
        self.enqueue_for(id, work, datapath, kernel);
    }

    /// Like [`enqueue`](Self::enqueue), for callers that already know the `work` of the transaction.
    #[inline(always)]
    pub(super) fn enqueue_for<M: Model>(
        &mut self,
        id: TransactionId,
        work: Purpose,
        datapath: &mut Datapath<M>,
        kernel: &mut Kernel<M>,
    ) {
        if M::ALL_FEATURES {
            let Shared { policy, ftl, .. } = &mut self.shared;
            if policy.try_hold(id, datapath.queues.transaction(id), ftl) {
                datapath.queues.transaction_mut(id).account.begin(kernel.now());
                return;
            }
        }
        self.send_to_die(id, work, datapath, kernel);
    }

    #[inline(always)]
    fn send_to_die<M: Model>(
        &mut self,
        id: TransactionId,
        work: Purpose,
        datapath: &mut Datapath<M>,
        kernel: &mut Kernel<M>,
    ) {
        let has_homes = M::ALL_FEATURES && self.shared.has_homes() && work.class() == TransactionClass::UserRead;
        if has_homes {
            self.choose_read_location(id, datapath);
        }
        let die = datapath.enqueue(id, work, kernel);
        if M::ALL_FEATURES && self.shared.flushes > 0 {
            datapath.queues.flush_partial_programs(die, kernel);
        }
        if has_homes {
            replica::read_queued(id, die, &self.writes, &mut Context { shared: &mut self.shared, datapath, kernel });
        }
        self.try_issue_deferred(die, datapath, kernel);
    }

    /// Chooses the location for a read of a page with several locations: a replicated page, or a page that a Clean (chip-to-chip move of a whole
    /// block) is moving.
    fn choose_read_location<M: Model>(&mut self, id: TransactionId, datapath: &mut Datapath<M>) {
        let read = datapath.queues.transaction(id);
        let home = replica::choose_location(read, &mut self.shared).or_else(|| self.moves.cleaning.old_location(read));
        if let Some(from) = home {
            let plane = self.shared.geometry.plane_of(from);
            let transaction = datapath.queues.transaction_mut(id);
            (transaction.from, transaction.plane) = (from, plane);
        }
    }

    /// Ends the wait of partly filled programs of `die` for further mapping units, and tries to issue them: those whose gather timeout has elapsed,
    /// or during a flush, all of them.
    pub fn gather_due<M: Model>(&mut self, die: DieId, datapath: &mut Datapath<M>, kernel: &mut Kernel<M>) {
        if M::ALL_FEATURES {
            for start in datapath.queues.release_due_programs(die, self.shared.flushes > 0, kernel) {
                let skipped = self.shared.ftl.close_program(start);
                self.shared.counters.flash.units_skipped += u64::from(skipped);
            }
            self.try_issue(die, datapath, kernel);
        }
    }

    /// Tries to issue or resume an operation at `die` after a change. Follow-up work is only pushed as steps; the caller runs the steps.
    #[inline(always)]
    pub(super) fn try_issue_deferred<M: Model>(
        &mut self,
        die: DieId,
        datapath: &mut Datapath<M>,
        kernel: &mut Kernel<M>,
    ) {
        let wants = datapath.try_issue(die, self, kernel);
        self.handle_outcome(wants, datapath, kernel);
    }

    /// Tries to issue an operation at `die`, and performs all follow-up steps.
    #[inline(always)]
    pub(super) fn try_issue<M: Model>(&mut self, die: DieId, datapath: &mut Datapath<M>, kernel: &mut Kernel<M>) {
        self.try_issue_deferred(die, datapath, kernel);
        self.run(datapath, kernel);
    }

    /// Handles `wants`, the actions that the datapath leaves to the controller: pushes them as steps, or performs them.
    #[inline(always)]
    pub(super) fn handle_outcome<M: Model>(
        &mut self,
        wants: IssueOutcome,
        datapath: &mut Datapath<M>,
        kernel: &mut Kernel<M>,
    ) {
        match wants {
            IssueOutcome::Nothing => {}
            // Most drives have no background work for idle dies.
            IssueOutcome::Idle(..) if !self.shared.rules.collects_in_background && self.is_idle_ignored::<M>() => {}
            _ => self.handle_other_outcome(wants, datapath, kernel),
        }
    }

    /// Returns whether the firmware policy ignores idle dies. Only the policy `page` does.
    #[inline(always)]
    fn is_idle_ignored<M: Model>(&self) -> bool {
        !M::ALL_FEATURES || self.shared.policy.is_page()
    }

    #[inline(never)]
    fn handle_other_outcome<M: Model>(
        &mut self,
        wants: IssueOutcome,
        datapath: &mut Datapath<M>,
        kernel: &mut Kernel<M>,
    ) {
        let todo = &mut self.shared.follow_ups;
        match wants {
            IssueOutcome::Nothing => {}
            IssueOutcome::Idle(first, count) => {
                (first.0..first.0 + count).for_each(|die| todo.push(FollowUp::Idle(DieId(die))));
            }
            IssueOutcome::Pages(held) => {
                self.collect_held_back(held.die, datapath);
                self.shared.follow_ups.push(FollowUp::ResumeIssue(held));
            }
            IssueOutcome::Each(first, count) => {
                (first.0..first.0 + count).for_each(|die| todo.push(FollowUp::TryIssueOfDie(DieId(die))));
            }
            IssueOutcome::StartClean(die, id) => {
                self.assign_clean_pages(id, datapath, kernel);
                let wants = datapath.start_clean_operation(die, id, self, kernel);
                self.handle_outcome(wants, datapath, kernel);
            }
        }
    }

    /// Schedules collection of each plane of `die` whose programs wait for a free page. Normally the start of a program triggers
    /// collection, but a block can become collectable while all programs wait.
    fn collect_held_back<M: Model>(&mut self, die: DieId, datapath: &Datapath<M>) {
        let geometry = &self.shared.geometry;
        let first = geometry.first_plane(die);
        let mut planes =
            datapath.gate().held_planes(die, self) | self.writes.blocked_planes(first, geometry.planes_per_die);
        while planes != 0 {
            let plane = planes.trailing_zeros();
            planes &= planes - 1;
            self.shared.follow_ups.push(FollowUp::Collect(PlaneId(first.0 + plane)));
        }
    }

    /// Enqueues the held writes that the firmware policy releases now, each at the die of the plane that the policy chose.
    #[inline(never)]
    pub(super) fn send_due<M: Model>(&mut self, datapath: &mut Datapath<M>, kernel: &mut Kernel<M>) {
        let states = datapath.dies.states();
        let Shared { policy, ftl, .. } = &mut self.shared;
        let due = policy.dispatch_held(&mut PolicyView {
            ftl,
            idle: datapath.dies.idle_dies(),
            load: datapath.queues.load(&states),
        });
        due.dropped.into_iter().for_each(|id| datapath.queues.transactions.remove(id));
        for (id, plane) in due.dispatched {
            let transaction = datapath.queues.transaction_mut(id);
            transaction.plane = plane;
            transaction.account.charge_write_wait(kernel.now());
            let work = transaction.purpose;
            self.send_to_die(id, work, datapath, kernel);
            self.run(datapath, kernel);
        }
        due.full_planes.into_iter().for_each(|plane| self.shared.follow_ups.push(FollowUp::Collect(plane)));
        self.run(datapath, kernel);
    }

    /// Issues at the dies that the scheduler chooses as next requesters of a path, and handles granted paths, until neither is left. Returns whether
    /// there was any work.
    #[inline(never)]
    pub(super) fn dispatch<M: Model>(&mut self, datapath: &mut Datapath<M>, kernel: &mut Kernel<M>) -> bool {
        let mut has_answered = false;
        loop {
            while let Some(die) = datapath.dispatch(kernel) {
                self.try_issue(die, datapath, kernel);
                datapath.scheduling.dispatched();
                has_answered = true;
            }
            if !datapath.interconnect.has_output() {
                return has_answered;
            }
            has_answered = true;
            self.take_grants_out_of_line(datapath, kernel);
        }
    }

    #[inline(never)]
    pub(super) fn take_grants_out_of_line<M: Model>(&mut self, datapath: &mut Datapath<M>, kernel: &mut Kernel<M>) {
        self.handle_grants(datapath, kernel);
    }

    #[inline(always)]
    pub(super) fn handle_grants<M: Model>(&mut self, datapath: &mut Datapath<M>, kernel: &mut Kernel<M>) {
        let mut next = 0;
        while let Some(granted) = datapath.interconnect.next_grant(&mut next) {
            self.handle_grant(granted, datapath, kernel);
        }
        datapath.interconnect.clear_grants(kernel);
    }

    #[inline(always)]
    fn handle_grant<M: Model>(&mut self, granted: GrantRecord, datapath: &mut Datapath<M>, kernel: &mut Kernel<M>) {
        let next = datapath.handle_grant(granted, self, kernel);
        if !matches!(next, GrantOutcome::Done) {
            self.follow(next, datapath, kernel);
        }
    }

    #[inline(never)]
    fn follow<M: Model>(&mut self, mut next: GrantOutcome, datapath: &mut Datapath<M>, kernel: &mut Kernel<M>) {
        loop {
            match next {
                GrantOutcome::Done => return,
                GrantOutcome::TryIssue(die) => return self.try_issue(die, datapath, kernel),
                GrantOutcome::Moved(choosing) => {
                    self.reroute(choosing.moved, datapath, kernel);
                    next = datapath.choose_again(choosing, self, kernel);
                }
                GrantOutcome::Programs(beginning) => return self.begin_programs(beginning, datapath, kernel),
                GrantOutcome::Listed(read) => {
                    let Controller { shared, moves, .. } = self;
                    return moves.cleaning.list(read, &mut Context { shared, datapath, kernel });
                }
            }
        }
    }

    fn begin_programs<M: Model>(
        &mut self,
        mut beginning: NewOperation,
        datapath: &mut Datapath<M>,
        kernel: &mut Kernel<M>,
    ) {
        let mut left_out = Vec::new();
        let mut next = Some(beginning.lead());
        while let Some(id) = next {
            if M::ALL_FEATURES
                && self.shared.geometry.gathers_units()
                && beginning.class() == TransactionClass::CollectProgram
            {
                self.close_open_program(id, datapath);
            }
            self.assign_page(id, datapath, kernel);
            if M::ALL_FEATURES
                && datapath.queues.transaction(id).purpose.leaves_chip()
                && self.shared.geometry.gathers_units()
            {
                left_out.extend(
                    datapath.queues.transactions.leave_out(id, |other| !PageSource::<M>::is_current(self, other)),
                );
            }
            while let Some(companion) = datapath.next_companion(&mut beginning, self, kernel) {
                self.assign_page(companion, datapath, kernel);
            }
            next = datapath.next_joiner(&mut beginning, self, kernel);
        }
        if M::ALL_FEATURES && self.shared.geometry.gathers_units() {
            self.fill_up(&beginning, datapath);
        }
        if M::ALL_FEATURES && self.parity.is_some() {
            self.add_parity(&beginning, datapath, kernel);
        }
        if M::ALL_FEATURES && self.collections.pace.is_enabled() {
            self.update_gc_credits(&beginning, datapath, kernel);
        }
        datapath.start_operation(beginning, kernel);
        for id in left_out {
            datapath.queues.notify_rerouted(id, kernel);
            self.reroute(id, datapath, kernel);
        }
        // Only classes that wait for a free page can use up the free pages of their plane; other programs use reserved pages.
        if beginning.class().waits_for_page() {
            for &id in beginning.transactions() {
                let plane = datapath.queues.transaction(id).plane;
                // Plain drives (compiled without optional features) push the step only if collection is needed.
                if M::ALL_FEATURES || self.collections.are_needed(plane, &self.shared.ftl) {
                    self.shared.follow_ups.push(FollowUp::Collect(plane));
                }
            }
        }
        self.run(datapath, kernel);
    }

    /// Closes the partly filled program of host writes in the block to which transaction `id` moves a page, so that the moved page begins a
    /// new program.
    #[inline(never)]
    fn close_open_program<M: Model>(&mut self, id: TransactionId, datapath: &mut Datapath<M>) {
        let moved = datapath.queues.transaction(id);
        let Some(stream) = self.shared.stream_of(moved) else { return };
        if let Some((last, skipped)) = self.shared.ftl.begin_program_of_move(moved.plane, stream) {
            datapath.queues.early_bound.close(last);
            self.shared.counters.flash.units_skipped += u64::from(skipped);
        }
    }

    /// Adds the host pages of the program that begins to the debts of collections (page moves that they owe with `gc.paced`), and notifies the
    /// collections. Called when all pages of the program are allocated, including skipped ones, so that checks for free space count them.
    #[inline(never)]
    fn update_gc_credits<M: Model>(
        &mut self,
        beginning: &NewOperation,
        datapath: &mut Datapath<M>,
        kernel: &mut Kernel<M>,
    ) {
        let Controller { shared, collections, .. } = self;
        if beginning.class() == TransactionClass::UserProgram {
            for id in
                beginning.transactions().iter().flat_map(|&lead| datapath.queues.transactions.with_companions(lead))
            {
                collections.pace.written(datapath.queues.transaction(id).plane);
            }
        }
        let die = shared.geometry.die_of_plane(datapath.queues.transaction(beginning.lead()).plane);
        collections.program_began(die, &mut Context { shared, datapath, kernel });
    }

    /// Adds a parity program if one is due after the program that begins now.
    #[inline(never)]
    fn add_parity<M: Model>(&mut self, beginning: &NewOperation, datapath: &mut Datapath<M>, kernel: &mut Kernel<M>) {
        let Controller { shared, parity: Some(parity), .. } = self else { return };
        if datapath.queues.transaction(beginning.lead()).purpose == Purpose::Parity {
            return;
        }
        let ends = |&lead: &TransactionId| {
            let last = datapath.queues.transactions.with_companions(lead).last().unwrap_or(lead);
            datapath.queues.transaction(last).to
        };
        let last_of_planes: Vec<Ppn> = beginning.transactions().iter().map(ends).collect();
        parity.program_began(&last_of_planes, &mut Context { shared, datapath, kernel });
    }

    /// Skips the unused mapping units at the end of each program of an operation, so that their pages stay empty.
    #[inline(never)]
    fn fill_up<M: Model>(&mut self, beginning: &NewOperation, datapath: &Datapath<M>) {
        for &lead in beginning.transactions() {
            self.leave_rest_empty(lead, datapath);
        }
    }

    fn leave_rest_empty<M: Model>(&mut self, lead: TransactionId, datapath: &Datapath<M>) {
        let last = datapath.queues.transactions.with_companions(lead).last().unwrap_or(lead);
        let skipped = self.shared.ftl.finish_program(datapath.queues.transaction(last).to);
        self.shared.counters.flash.units_skipped += u64::from(skipped);
    }

    /// Assigns pages to a program that a chip starts by itself during a Clean (chip-to-chip move of a whole block).
    fn assign_clean_pages<M: Model>(
        &mut self,
        lead: TransactionId,
        datapath: &mut Datapath<M>,
        kernel: &mut Kernel<M>,
    ) {
        let mut next = Some(lead);
        while let Some(id) = next {
            self.assign_page(id, datapath, kernel);
            next = datapath.queues.transactions.companion(id);
        }
        if self.shared.geometry.gathers_units() && datapath.queues.transaction(lead).class().is_program() {
            self.leave_rest_empty(lead, datapath);
        }
    }

    /// Assigns a page to a program, unless it has one already.
    #[inline]
    fn assign_page<M: Model>(&mut self, id: TransactionId, datapath: &mut Datapath<M>, kernel: &mut Kernel<M>) {
        if !datapath.queues.needs_page(id) {
            return;
        }
        let transaction = datapath.queues.transaction_mut(id);
        if transaction.purpose == Purpose::Parity {
            return parity::place(transaction);
        }
        let page = self.shared.allocate::<M>(transaction);
        transaction.to = page.expect(
            "programs of the host and of the map wait for a free page, collection has its reserve, and arrivals are let in with a place",
        );
        if transaction.purpose == Purpose::MapProgram {
            let page = transaction.lpn;
            let Shared { journal, ftl, .. } = &mut self.shared;
            journal.program_began(page, ftl);
            if self.shared.is_of_map_cache(page)
                && let Some(map) = &mut self.map
            {
                map.program_began(page, kernel);
            }
        }
    }

    /// Reroutes or drops a queued transaction that cannot run as queued, for example because its page was moved or deallocated.
    #[inline(never)]
    pub(super) fn reroute<M: Model>(&mut self, id: TransactionId, datapath: &mut Datapath<M>, kernel: &mut Kernel<M>) {
        let transaction = *datapath.queues.transaction(id);
        let Transaction { purpose: work, lpn, .. } = transaction;
        let Controller { shared, writes, collections, moves, map, .. } = self;
        let cx = &mut Context { shared, datapath, kernel };
        if M::ALL_FEATURES && work.class() == TransactionClass::UserRead {
            cx.shared.policy.notify(PolicyEvent::ReadEnded(&transaction));
            replica::read_left(id, cx);
            if let Some(copies) = &mut cx.shared.replication {
                copies.forget_plan_of(id, lpn);
            }
        }
        if M::ALL_FEATURES && work.is_copyback() && cx.shared.geometry.gathers_units() {
            collections.split_copyback(id, cx);
            return self.run(datapath, kernel);
        }
        match work {
            Purpose::Reallocate => reallocate::rerouted(id, cx),
            Purpose::ReplicaProgram => replica::rerouted(id, cx),
            Purpose::HostRead(_) | Purpose::MapRead => host_read::rerouted(id, map.as_deref_mut(), cx),
            Purpose::ReadModify(_) => writes.read_rerouted(id, map.as_deref_mut(), cx),
            Purpose::HostWrite(_) => writes.program_rerouted(id, cx),
            Purpose::CollectRead(_) | Purpose::CollectProgram(_) => {
                if M::ALL_FEATURES {
                    collections.dropped(work, cx.shared.geometry.plane_of(transaction.from), cx);
                }
                moves.rerouted(id, cx);
            }
            Purpose::MapProgram | Purpose::Erase | Purpose::Parity => {
                unreachable!("it is where it waits whatever happens to pages")
            }
        }
        self.run(datapath, kernel);
    }
}
