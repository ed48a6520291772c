//! Interface to the datapath: enqueueing of transactions, and the actions that the datapath returns.

use crate::datapath::{GrantOutcome, IssueOutcome, NewOperation, PageSource};
use crate::fabric::GrantRecord;
use crate::ids::{DieId, PlaneId, Ppn, TransactionId};
use crate::kernel::model::Model;
use crate::policies::{FirmwarePolicy, PolicyEvent, PolicyView};
use crate::schedule::purpose::Purpose;
use crate::schedule::transaction::TransactionClass;

use super::follow_ups::FollowUp;
use super::work::kind::{of_kind, open_block};
use super::work::replica;
use super::{Backend, Shared, Work};

impl<M: Model> Backend<M> {
    /// Enqueues held writes that the firmware policy releases, lets the scheduler choose the dies that request a path next, and handles granted
    /// paths, until no such work is left. Returns whether the scheduler chose a die, or the interconnect had grants or events.
    #[inline(always)]
    pub fn settle(&mut self) -> bool {
        let mut has_answered = false;
        loop {
            if M::ALL_FEATURES && self.controller.has_due_writes() {
                self.send_due();
            }
            let may_dispatch = self.datapath.scheduling.dispatches()
                && (self.datapath.scheduling.has_candidates() || self.datapath.interconnect.has_output());
            let has_dispatched = may_dispatch && self.dispatch();
            let has_answers = self.datapath.interconnect.has_output();
            // Plain drives (compiled without optional features) inline the handling of grants here; other drives call it out of line.
            if has_answers && M::ALL_FEATURES {
                self.take_grants_out_of_line();
            } else if has_answers {
                self.handle_grants();
            }
            has_answered |= has_dispatched || has_answers;
            // A grant can free resources for which the firmware policy holds writes. Repeat for these writes now, because no later event may send
            // them.
            if !(M::ALL_FEATURES && self.controller.has_due_writes()) {
                break;
            }
        }
        self.datapath.interconnect.report_link_uses(&mut self.kernel);
        has_answered
    }

    /// Enqueues a transaction at its die, unless the firmware policy holds it.
    #[inline(always)]
    pub(super) fn enqueue(&mut self, id: TransactionId) {
        let work = self.datapath.queues.transaction(id).purpose;
        self.enqueue_for(id, work);
    }

    /// Like [`enqueue`](Self::enqueue), for callers that already know the `work` of the transaction.
    #[inline(always)]
    pub(super) fn enqueue_for(&mut self, id: TransactionId, work: Purpose) {
        if M::ALL_FEATURES {
            let Shared { policy, ftl, .. } = &mut self.controller.shared;
            if policy.try_hold(id, self.datapath.queues.transaction(id), ftl) {
                self.datapath.queues.transaction_mut(id).account.begin(self.kernel.now());
                return;
            }
        }
        self.send_to_die(id, work);
    }

    #[inline(always)]
    fn send_to_die(&mut self, id: TransactionId, work: Purpose) {
        let has_homes = self.controller.shared.has_homes::<M>() && work.class() == TransactionClass::UserRead;
        if has_homes {
            self.choose_read_location(id);
        }
        let die = self.datapath.enqueue(id, work, &mut self.kernel);
        if M::ALL_FEATURES && self.controller.shared.flushes > 0 {
            self.datapath.queues.flush_partial_programs(die, &mut self.kernel);
        }
        if has_homes {
            let (Work { writes, .. }, cx) = &mut self.parts();
            replica::read_queued(id, die, writes, cx);
        }
        self.try_issue_deferred(die);
    }

    /// Chooses the location for a read of a page with several locations: a replicated page, or a page that a Clean (chip-to-chip move of a whole
    /// block) is moving.
    fn choose_read_location(&mut self, id: TransactionId) {
        let read = self.datapath.queues.transaction(id);
        let home = replica::choose_location(read, &mut self.controller.shared)
            .or_else(|| self.controller.work.moves.cleaning.old_location(read));
        if let Some(from) = home {
            let plane = self.controller.shared.geometry.plane_of(from);
            let transaction = self.datapath.queues.transaction_mut(id);
            (transaction.from, transaction.plane) = (from, plane);
        }
    }

    /// Ends the wait of partly filled programs of `die` for further mapping units, and tries to issue them: those whose gather timeout has elapsed,
    /// or during a flush, all of them.
    pub fn gather_due(&mut self, die: DieId) {
        if M::ALL_FEATURES {
            for start in
                self.datapath.queues.release_due_programs(die, self.controller.shared.flushes > 0, &self.kernel)
            {
                let skipped = self.controller.shared.ftl.close_program(start);
                self.controller.shared.counters.flash.units_skipped += u64::from(skipped);
            }
            self.try_issue(die);
        }
    }

    /// Tries to issue or resume an operation at `die` after a change. Follow-up work is only pushed as steps; the caller runs the steps.
    #[inline(always)]
    pub(super) fn try_issue_deferred(&mut self, die: DieId) {
        let wants = self.datapath.try_issue(die, &self.controller, &mut self.kernel);
        self.handle_outcome(wants);
    }

    /// Tries to issue an operation at `die`, and performs all follow-up steps.
    #[inline(always)]
    pub(super) fn try_issue(&mut self, die: DieId) {
        self.try_issue_deferred(die);
        self.run();
    }

    /// Handles `wants`, the actions that the datapath leaves to the controller: pushes them as steps, or performs them.
    #[inline(always)]
    pub(super) fn handle_outcome(&mut self, wants: IssueOutcome) {
        match wants {
            IssueOutcome::Nothing => {}
            // Most drives have no background work for idle dies.
            IssueOutcome::Idle(..)
                if !self.controller.shared.rules.collects_in_background && self.is_idle_ignored() => {}
            _ => self.handle_other_outcome(wants),
        }
    }

    /// Returns whether the firmware policy ignores idle dies. Only the policy `page` does.
    #[inline(always)]
    fn is_idle_ignored(&self) -> bool {
        !M::ALL_FEATURES || self.controller.shared.policy.is_page()
    }

    #[inline(never)]
    fn handle_other_outcome(&mut self, wants: IssueOutcome) {
        let todo = &mut self.controller.shared.follow_ups;
        match wants {
            IssueOutcome::Nothing => {}
            IssueOutcome::Idle(first, count) => {
                (first.0..first.0 + count).for_each(|die| todo.push(FollowUp::Idle(DieId(die))));
            }
            IssueOutcome::Pages(held) => {
                self.collect_held_back(held.die);
                self.controller.shared.follow_ups.push(FollowUp::ResumeIssue(held));
            }
            IssueOutcome::Each(first, count) => {
                (first.0..first.0 + count).for_each(|die| todo.push(FollowUp::TryIssueOfDie(DieId(die))));
            }
            IssueOutcome::StartClean(die, id) => {
                self.assign_clean_pages(id);
                let wants = self.datapath.start_clean_operation(die, id, &self.controller, &mut self.kernel);
                self.handle_outcome(wants);
            }
        }
    }

    /// Schedules collection of each plane of `die` whose programs wait for a free page. Normally the start of a program triggers
    /// collection, but a block can become collectable while all programs wait.
    fn collect_held_back(&mut self, die: DieId) {
        let geometry = &self.controller.shared.geometry;
        let first = geometry.first_plane(die);
        let mut planes = self.datapath.gate().held_planes(die, &self.controller)
            | self.controller.work.writes.blocked_planes(first, geometry.planes_per_die);
        while planes != 0 {
            let plane = planes.trailing_zeros();
            planes &= planes - 1;
            self.controller.shared.follow_ups.push(FollowUp::Collect(PlaneId(first.0 + plane)));
        }
    }

    /// Enqueues the held writes that the firmware policy releases now, each at the die of the plane that the policy chose.
    #[inline(never)]
    pub(super) fn send_due(&mut self) {
        let states = self.datapath.dies.states();
        let Shared { policy, ftl, .. } = &mut self.controller.shared;
        let due = policy.dispatch_held(&mut PolicyView {
            ftl,
            idle: self.datapath.dies.idle_dies(),
            load: self.datapath.queues.load(&states),
        });
        due.dropped.into_iter().for_each(|id| self.datapath.queues.transactions.remove(id));
        for (id, plane) in due.dispatched {
            let transaction = self.datapath.queues.transaction_mut(id);
            transaction.plane = plane;
            transaction.account.charge_write_wait(self.kernel.now());
            let work = transaction.purpose;
            self.send_to_die(id, work);
            self.run();
        }
        due.full_planes.into_iter().for_each(|plane| self.controller.shared.follow_ups.push(FollowUp::Collect(plane)));
        self.run();
    }

    /// Issues at the dies that the scheduler chooses as next requesters of a path, and handles granted paths, until neither is left. Returns whether
    /// there was any work.
    #[inline(never)]
    pub(super) fn dispatch(&mut self) -> bool {
        let mut has_answered = false;
        loop {
            while let Some(die) = self.datapath.dispatch(&self.kernel) {
                self.try_issue(die);
                self.datapath.scheduling.dispatched();
                has_answered = true;
            }
            if !self.datapath.interconnect.has_output() {
                return has_answered;
            }
            has_answered = true;
            self.take_grants_out_of_line();
        }
    }

    #[inline(never)]
    pub(super) fn take_grants_out_of_line(&mut self) {
        self.handle_grants();
    }

    #[inline(always)]
    pub(super) fn handle_grants(&mut self) {
        let mut next = 0;
        while let Some(granted) = self.datapath.interconnect.next_grant(&mut next) {
            self.handle_grant(granted);
        }
        self.datapath.interconnect.clear_grants(&mut self.kernel);
    }

    #[inline(always)]
    fn handle_grant(&mut self, granted: GrantRecord) {
        let next = self.datapath.handle_grant(granted, &self.controller, &mut self.kernel);
        if !matches!(next, GrantOutcome::Done) {
            self.follow(next);
        }
    }

    #[inline(never)]
    fn follow(&mut self, mut next: GrantOutcome) {
        loop {
            match next {
                GrantOutcome::Done => return,
                GrantOutcome::TryIssue(die) => return self.try_issue(die),
                GrantOutcome::Moved(choosing) => {
                    self.reroute(choosing.moved);
                    next = self.datapath.choose_again(choosing, &self.controller, &mut self.kernel);
                }
                GrantOutcome::Programs(beginning) => return self.begin_programs(beginning),
                GrantOutcome::Listed(read) => {
                    let (Work { moves, .. }, cx) = &mut self.parts();
                    return moves.cleaning.list(read, cx);
                }
            }
        }
    }

    fn begin_programs(&mut self, mut beginning: NewOperation) {
        let mut left_out = Vec::new();
        let mut next = Some(beginning.lead());
        while let Some(id) = next {
            if self.datapath.queues.gathers() && beginning.class() == TransactionClass::CollectProgram {
                self.close_open_program(id);
            }
            self.assign_page(id);
            if self.datapath.queues.gathers() && self.datapath.queues.transaction(id).purpose.leaves_chip() {
                left_out.extend(
                    self.datapath
                        .queues
                        .transactions
                        .leave_out(id, |other| !PageSource::<M>::is_current(&self.controller, other)),
                );
            }
            while let Some(companion) = self.datapath.next_companion(&mut beginning, &self.controller, &mut self.kernel)
            {
                self.assign_page(companion);
            }
            next = self.datapath.next_joiner(&mut beginning, &self.controller, &mut self.kernel);
        }
        if self.datapath.queues.gathers() {
            self.fill_up(&beginning);
        }
        if M::ALL_FEATURES && self.controller.work.parity.is_some() {
            self.add_parity(&beginning);
        }
        if M::ALL_FEATURES && self.controller.work.collections.pace.is_enabled() {
            self.update_gc_credits(&beginning);
        }
        self.datapath.start_operation(beginning, &mut self.kernel);
        for id in left_out {
            self.datapath.queues.notify_rerouted(id, &mut self.kernel);
            self.reroute(id);
        }
        // Only classes that wait for a free page can use up the free pages of their plane; other programs use reserved pages.
        if beginning.class().waits_for_page() {
            for &id in beginning.transactions() {
                let plane = self.datapath.queues.transaction(id).plane;
                // Plain drives (compiled without optional features) push the step only if collection is needed.
                if M::ALL_FEATURES || self.controller.work.collections.are_needed(plane, &self.controller.shared.ftl) {
                    self.controller.shared.follow_ups.push(FollowUp::Collect(plane));
                }
            }
        }
        self.run();
    }

    /// Closes the partly filled program of host writes in the block to which transaction `id` moves a page, so that the moved page begins a
    /// new program.
    #[inline(never)]
    fn close_open_program(&mut self, id: TransactionId) {
        let moved = self.datapath.queues.transaction(id);
        let Some(stream) = open_block(moved, &self.controller.shared) else { return };
        if let Some((last, skipped)) = self.controller.shared.ftl.begin_program_of_move(moved.plane, stream) {
            self.datapath.queues.early_bound.close(last);
            self.controller.shared.counters.flash.units_skipped += u64::from(skipped);
        }
    }

    /// Adds the host pages of the program that begins to the debts of collections (page moves that they owe with `gc.paced`), and notifies the
    /// collections. Called when all pages of the program are allocated, including skipped ones, so that checks for free space count them.
    #[inline(never)]
    fn update_gc_credits(&mut self, beginning: &NewOperation) {
        let (Work { collections, .. }, cx) = &mut self.parts();
        if beginning.class() == TransactionClass::UserProgram {
            for id in
                beginning.transactions().iter().flat_map(|&lead| cx.datapath.queues.transactions.with_companions(lead))
            {
                collections.pace.written(cx.datapath.queues.transaction(id).plane);
            }
        }
        let die = cx.shared.geometry.die_of_plane(cx.datapath.queues.transaction(beginning.lead()).plane);
        collections.program_began(die, cx);
    }

    /// Adds a parity program if one is due after the program that begins now.
    #[inline(never)]
    fn add_parity(&mut self, beginning: &NewOperation) {
        let (Work { parity: Some(parity), .. }, cx) = &mut self.parts() else {
            return;
        };
        if cx.datapath.queues.transaction(beginning.lead()).purpose == Purpose::Parity {
            return;
        }
        let ends = |&lead: &TransactionId| {
            let last = cx.datapath.queues.transactions.with_companions(lead).last().unwrap_or(lead);
            cx.datapath.queues.transaction(last).to
        };
        let last_of_planes: Vec<Ppn> = beginning.transactions().iter().map(ends).collect();
        parity.program_began(&last_of_planes, cx);
    }

    /// Skips the unused mapping units at the end of each program of an operation, so that their pages stay empty.
    #[inline(never)]
    fn fill_up(&mut self, beginning: &NewOperation) {
        for &lead in beginning.transactions() {
            self.leave_rest_empty(lead);
        }
    }

    fn leave_rest_empty(&mut self, lead: TransactionId) {
        let last = self.datapath.queues.transactions.with_companions(lead).last().unwrap_or(lead);
        let skipped = self.controller.shared.ftl.finish_program(self.datapath.queues.transaction(last).to);
        self.controller.shared.counters.flash.units_skipped += u64::from(skipped);
    }

    /// Assigns pages to a program that a chip starts by itself during a Clean (chip-to-chip move of a whole block).
    fn assign_clean_pages(&mut self, lead: TransactionId) {
        let mut next = Some(lead);
        while let Some(id) = next {
            self.assign_page(id);
            next = self.datapath.queues.transactions.companion(id);
        }
        if self.controller.shared.geometry.gathers_units()
            && self.datapath.queues.transaction(lead).class().is_program()
        {
            self.leave_rest_empty(lead);
        }
    }

    /// Assigns a page to a program, unless it has one already.
    #[inline]
    fn assign_page(&mut self, id: TransactionId) {
        if !self.datapath.queues.needs_page(id) {
            return;
        }
        let transaction = self.datapath.queues.transaction_mut(id);
        let purpose = transaction.purpose;
        let page = of_kind!(purpose, allocate(transaction, &mut self.controller.shared));
        transaction.to = page.expect(
            "programs of the host and of the map wait for a free page, collection has its reserve, and arrivals are let in with a place",
        );
        if purpose.is_placed_by_policy() {
            let event = PolicyEvent::PageAllocated(transaction.class(), transaction.plane);
            self.controller.shared.notify_policy::<M>(event);
        }
        of_kind!(purpose, began(id, self));
    }

    /// Reroutes or drops a queued transaction that cannot run as queued, for example because its page was moved or deallocated.
    #[inline(never)]
    pub(super) fn reroute(&mut self, id: TransactionId) {
        let transaction = *self.datapath.queues.transaction(id);
        if M::ALL_FEATURES && transaction.class() == TransactionClass::UserRead {
            let cx = &mut self.context();
            cx.shared.notify_policy::<M>(PolicyEvent::ReadEnded(&transaction));
            replica::read_lost(id, cx);
        }
        of_kind!(transaction.purpose, rerouted(id, self));
        self.run();
    }
}
