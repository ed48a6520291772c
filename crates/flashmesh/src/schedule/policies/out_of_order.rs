//! Out-of-order scheduling. Transactions of the mapping table precede all others, because many requests may wait for one translation page. Requests
//! are ordered by kind (read or program), and by age within a kind. Garbage collection precedes or follows requests, depending on preemptibility and
//! free space.
//!
//! Unless `schedule.order` says otherwise, reads precede programs, which occupy a die thirty times as long. Strict precedence would starve the other
//! kind. To prevent this, overdue transactions (which have waited for `schedule.age-bound`) alternate with the preferred kind. `schedule.priorities`
//! defines how priorities of requests count; collection has no priority. Erases are ordered with the moves of their collection, unless
//! `schedule.erases` says otherwise.

use crate::config::{self, EraseOrder, KindOrder, Priorities};
use crate::ids::DieId;
use crate::schedule::queues::{DieQueues, NOTHING, PlaneMasks, Transactions, planes};
use crate::schedule::transaction::{Priority, Transaction, TransactionClass};
use crate::schedule::{QueueId, Scheduler, SchedulerView};
use crate::units::Time;

use super::precedence::{self, in_order, overdue_queue};
use super::weighted_round_robin::WeightedRoundRobin;

const READ_FIRST: [TransactionClass; 2] = [TransactionClass::UserRead, TransactionClass::UserProgram];
const WRITE_FIRST: [TransactionClass; 2] = [TransactionClass::UserProgram, TransactionClass::UserRead];

/// The policy that orders requests by kind (read or program), and by age within a kind.
#[derive(Clone, Debug)]
pub struct OutOfOrder {
    order: KindOrder,
    erases: EraseOrder,
    priorities: Priorities,
    age_bound: Time,
    /// Whether the last choice between reads and programs, by die, was an overdue transaction (`schedule.age-bound`). The preferred kind is then
    /// served next.
    yields: Vec<bool>,
    /// Round-robin state by die, for the preferred kind of requests (read or program) and for the other; only with weighted priorities.
    turns: Vec<[WeightedRoundRobin; 2]>,
}

impl Default for OutOfOrder {
    fn default() -> Self {
        OutOfOrder::new(&config::Schedule::default(), 0)
    }
}

impl OutOfOrder {
    /// Creates the policy with the options of `config`, for `dies` dies.
    pub fn new(config: &config::Schedule, dies: u32) -> OutOfOrder {
        let turns = if config.priorities == Priorities::Weighted { dies as usize } else { 0 };
        OutOfOrder {
            order: config.order,
            erases: config.erases,
            priorities: config.priorities,
            age_bound: config.age_bound,
            yields: vec![false; dies as usize],
            turns: vec![Default::default(); turns],
        }
    }

    /// Returns the queue of the oldest request transaction, if any request transaction is overdue (`schedule.age-bound`). Returns `None` every second
    /// time, so that reads and programs alternate: under a write rate above the program rate, all writes are overdue, and reads would wait for all of
    /// them. With only reads or only programs, returns `None` unless priorities count.
    #[inline]
    fn overdue_queue(&mut self, waiting: &SchedulerView<'_>) -> Option<QueueId> {
        if is_of_one_kind(waiting) {
            // With only reads or only programs, the oldest transaction is served first anyway, unless priorities count.
            return if self.priorities == Priorities::Off { None } else { overdue_queue(waiting, self.age_bound) };
        }
        let late = overdue_queue(waiting, self.age_bound);
        let die = waiting.first_die().index();
        if self.yields.len() <= die {
            self.yields.resize(die + 1, false);
        }
        let yields = &mut self.yields[die];
        *yields = late.is_some() && !*yields;
        late.filter(|_| *yields)
    }

    /// Returns the class to serve if both reads and programs of requests are queued. This is the class of the oldest transaction if one is overdue
    /// (`schedule.age-bound`) and the last choice was not an overdue one, otherwise [`TransactionClass::UserRead`].
    pub(in super::super) fn late_plain(
        &mut self,
        die: DieId,
        ready: PlaneMasks,
        now: Time,
        queues: &DieQueues,
        transactions: &Transactions,
    ) -> TransactionClass {
        let mut oldest = (u64::MAX, TransactionClass::UserRead);
        let mut is_late = false;
        for class in READ_FIRST {
            for plane in planes(ready.of(class)) {
                if let Some(id) = queues.head(QueueId { die, class, plane, priority: Priority::Medium }) {
                    let Transaction { order, account, .. } = &transactions[id];
                    is_late |= now - account.queued() >= self.age_bound;
                    oldest = oldest.min((*order, class));
                }
            }
        }
        let yields = &mut self.yields[die.index()];
        *yields = is_late && !*yields;
        if *yields { oldest.1 } else { TransactionClass::UserRead }
    }

    /// Returns the queue of the next request transaction; `None` if no request transaction may run.
    #[inline]
    fn user(&mut self, waiting: &SchedulerView<'_>) -> Option<QueueId> {
        if let Some(late) = self.overdue_queue(waiting) {
            return Some(late);
        }
        let kinds = if self.order == KindOrder::WriteFirst { WRITE_FIRST } else { READ_FIRST };
        let by_arrival = self.order == KindOrder::Arrival;
        match self.priorities {
            Priorities::Off if by_arrival => waiting.oldest_of(&kinds, |_| true),
            Priorities::Off => in_order(waiting, kinds),
            Priorities::Strict => {
                let mut first: Option<((usize, usize, u64), QueueId)> = None;
                for (rank, kind) in kinds.into_iter().enumerate() {
                    let rank = if by_arrival { 0 } else { rank };
                    waiting.each_head(kind, |choice, head| {
                        let key = (choice.priority.index(), rank, head.order);
                        if first.is_none_or(|(first, _)| key < first) {
                            first = Some((key, choice));
                        }
                    });
                }
                first.map(|(_, choice)| choice)
            }
            Priorities::Weighted => {
                let turns = self.turns.get_mut(waiting.first_die().index())?;
                if by_arrival {
                    weighted(waiting, &kinds, &mut turns[0])
                } else {
                    weighted(waiting, &kinds[..1], &mut turns[0])
                        .or_else(|| weighted(waiting, &kinds[1..], &mut turns[1]))
                }
            }
        }
    }
}

/// Returns the queue of the oldest transaction of `kinds` that may run and whose priority is next in the weighted round robin; `None` if there is
/// none.
#[inline]
fn weighted(
    waiting: &SchedulerView<'_>,
    kinds: &[TransactionClass],
    turns: &mut WeightedRoundRobin,
) -> Option<QueueId> {
    let mut waits = [false; Priority::ALL.len()];
    kinds.iter().for_each(|&kind| waiting.each_head(kind, |choice, _| waits[choice.priority.index()] = true));
    let next = turns.next(|priority| waits[priority.index()])?;
    waiting.oldest_of(kinds, |choice| choice.priority == next)
}

#[inline(always)]
fn is_of_one_kind(waiting: &SchedulerView<'_>) -> bool {
    !(waiting.is_ready(TransactionClass::UserRead) && waiting.is_ready(TransactionClass::UserProgram))
}

/// Returns the class that the policy chooses, with default options, for one die without queued replica programs. The order of the class indices must
/// be the order of preference.
#[inline(always)]
pub(in super::super) fn choose_plain(ready: PlaneMasks, collection_first: bool) -> TransactionClass {
    let internal = ready.and(INTERNAL_PLANES);
    let is_internal = collection_first && internal != NOTHING && ready.and(MAP_PLANES) == NOTHING;
    if is_internal { internal.first_class() } else { ready.first_class() }
}

/// Mask of all planes, for reads and programs of the mapping table.
const MAP_PLANES: PlaneMasks = PlaneMasks::all_of(&[TransactionClass::MapRead, TransactionClass::MapProgram]);

const INTERNAL_PLANES: PlaneMasks = PlaneMasks::all_of(&TransactionClass::INTERNAL);

impl Scheduler for OutOfOrder {
    #[inline]
    fn choose(&mut self, waiting: &SchedulerView<'_>) -> Option<QueueId> {
        let erases = self.erases;
        precedence::among_classes(waiting, erases, || self.user(waiting))
    }

    fn takes_only_queue(&self) -> bool {
        true
    }
}

#[cfg(test)]
mod tests {
    use super::Priority::{High, Low, Medium, Urgent};
    use super::TransactionClass::{CollectProgram, CollectRead, Erase, UserProgram, UserRead};
    use super::*;
    use crate::ids::{DieId, Lpn, PlaneId, Ppn};
    use crate::schedule::DieStates;
    use crate::schedule::queues::{DieQueues, PlaneMasks, Transactions};
    use crate::schedule::transaction::Owner;
    use crate::schedule::transaction::Transaction;
    use crate::schedule::transaction::purpose::{CacheReservation, MoveRoute, Purpose};
    use crate::units::Bytes;

    const DIES: u32 = 2;

    struct AllIdle;

    impl DieStates for AllIdle {
        fn accepts(&self, _die: DieId) -> bool {
            true
        }

        fn is_idle(&self, _die: DieId) -> bool {
            true
        }

        fn in_progress(&self, _die: DieId) -> usize {
            0
        }

        fn requests_path(&self, _die: DieId) -> bool {
            false
        }

        fn uses_path(&self, _die: DieId) -> bool {
            false
        }
    }

    /// Queues of the two dies of a chip, each with two planes.
    struct Waits {
        queues: DieQueues,
        transactions: Transactions,
        arrived: u64,
    }

    fn work_of(class: TransactionClass) -> Purpose {
        match class {
            TransactionClass::MapRead => Purpose::MapRead,
            TransactionClass::MapProgram => Purpose::MapProgram,
            TransactionClass::UserRead => Purpose::HostRead(CacheReservation::None),
            TransactionClass::UserProgram => Purpose::HostWrite(CacheReservation::None),
            TransactionClass::CollectRead => Purpose::CollectRead(MoveRoute::Controller),
            TransactionClass::CollectProgram => Purpose::CollectProgram(MoveRoute::Controller),
            TransactionClass::Erase => Purpose::Erase,
            TransactionClass::ReplicaProgram => Purpose::ReplicaProgram,
        }
    }

    impl Waits {
        /// Queues one transaction per microsecond. `arrivals` has die, plane, class and priority of each.
        fn new(options: &config::Schedule, arrivals: &[(u32, u8, TransactionClass, Priority)]) -> Waits {
            let by_priority = options.priorities != Priorities::Off;
            let queues = DieQueues::new(DIES, 2, by_priority);
            let mut waits = Waits { queues, transactions: Transactions::default(), arrived: 0 };
            arrivals.iter().for_each(|&arrival| waits.arrive(arrival));
            waits
        }

        fn arrive(&mut self, (die, plane, class, priority): (u32, u8, TransactionClass, Priority)) {
            let owner = Owner { priority, ..Owner::FIRMWARE };
            let mut transaction = Transaction::new(work_of(class), owner, Lpn(0), PlaneId(0), Ppn(0), Bytes::ZERO);
            transaction.order = self.arrived;
            transaction.account.begin(Time::from_us(self.arrived));
            self.arrived += 1;
            let id = self.transactions.insert(transaction);
            self.queues.push(&mut self.transactions, DieId(die), plane, id);
        }

        /// Dequeues the transaction that `policy` chooses at `now`. Returns its arrival number; `None` if nothing is queued.
        fn take(
            &mut self,
            policy: &mut OutOfOrder,
            now: Time,
            collection_first: bool,
            space_is_out: bool,
        ) -> Option<u64> {
            let ready: Vec<PlaneMasks> = (0..DIES).map(|die| self.queues.masks(DieId(die))).collect();
            let waiting = SchedulerView::new(
                now,
                &AllIdle,
                DieId(0),
                &self.queues,
                &self.transactions,
                &ready,
                collection_first,
                space_is_out,
            );
            let choice = policy.choose(&waiting)?;
            let id = self.queues.pop(&mut self.transactions, choice)?;
            Some(self.transactions[id].order)
        }
    }

    fn options(order: KindOrder, priorities: Priorities) -> config::Schedule {
        config::Schedule { order, priorities, ..Default::default() }
    }

    fn served(options: &config::Schedule, first: bool, arrivals: &[(u32, u8, TransactionClass, Priority)]) -> Vec<u64> {
        served_when(options, first, false, arrivals)
    }

    /// Like [`served`], with a given `space_is_out` (whether some die has nearly no free pages).
    fn served_when(
        options: &config::Schedule,
        first: bool,
        space_is_out: bool,
        arrivals: &[(u32, u8, TransactionClass, Priority)],
    ) -> Vec<u64> {
        let mut policy = OutOfOrder::new(options, DIES);
        let mut waits = Waits::new(options, arrivals);
        let served = std::iter::from_fn(|| waits.take(&mut policy, Time::from_us(100), first, space_is_out)).collect();
        assert!((0..DIES).all(|die| !waits.queues.has_work(DieId(die))), "all are served");
        served
    }

    #[test]
    fn the_oldest_of_the_first_kind_goes_first_whatever_its_die() {
        let arrivals = [
            (0, 0, UserProgram, Medium),
            (1, 0, UserRead, Medium),
            (0, 0, CollectProgram, Medium),
            (0, 1, UserRead, Medium),
            (1, 1, UserProgram, Medium),
            (1, 0, Erase, Medium),
            (1, 0, CollectRead, Medium),
        ];
        let order = |order, first| served(&options(order, Priorities::Off), first, &arrivals);
        assert_eq!(order(KindOrder::ReadFirst, false), [1, 3, 0, 4, 6, 2, 5]);
        assert_eq!(order(KindOrder::WriteFirst, false), [0, 4, 1, 3, 6, 2, 5]);
        assert_eq!(order(KindOrder::Arrival, false), [0, 1, 3, 4, 6, 2, 5]);
        assert_eq!(order(KindOrder::ReadFirst, true), [6, 2, 5, 1, 3, 0, 4]);
    }

    #[test]
    fn erases_go_with_their_collection_before_all_requests_or_after_all() {
        let arrivals = [
            (0, 0, UserProgram, Medium),
            (1, 0, CollectRead, Medium),
            (1, 1, Erase, Medium),
            (0, 1, UserRead, Medium),
            (0, 1, Erase, Medium),
        ];
        let order = |erases, first, is_out| {
            served_when(&config::Schedule { erases, ..Default::default() }, first, is_out, &arrivals)
        };
        assert_eq!(order(EraseOrder::WithCollection, false, false), [3, 0, 1, 2, 4]);
        assert_eq!(order(EraseOrder::WithCollection, true, false), [1, 2, 4, 3, 0]);
        assert_eq!(order(EraseOrder::First, false, false), [2, 4, 3, 0, 1]);
        assert_eq!(order(EraseOrder::First, true, false), [2, 4, 1, 3, 0]);
        assert_eq!(order(EraseOrder::Last, false, false), [3, 0, 1, 2, 4]);
        assert_eq!(order(EraseOrder::Last, true, false), [1, 3, 0, 2, 4]);
        // If the die is out of space, collection must go first.
        assert_eq!(order(EraseOrder::Last, true, true), [1, 2, 4, 3, 0]);
    }

    const MIXED: [(u32, u8, TransactionClass, Priority); 7] = [
        (0, 0, UserRead, Low),
        (0, 0, UserProgram, Urgent),
        (0, 0, UserRead, High),
        (1, 1, UserRead, Medium),
        (0, 0, UserProgram, High),
        (0, 0, CollectRead, Medium),
        (0, 0, UserRead, Urgent),
    ];

    #[test]
    fn strict_priorities_go_before_kinds() {
        let order = |order| served(&options(order, Priorities::Strict), false, &MIXED);
        assert_eq!(order(KindOrder::ReadFirst), [6, 1, 2, 4, 3, 0, 5]);
        assert_eq!(order(KindOrder::WriteFirst), [1, 6, 4, 2, 3, 0, 5]);
        assert_eq!(order(KindOrder::Arrival), [1, 6, 2, 4, 3, 0, 5]);
    }

    #[test]
    fn weighted_priorities_count_within_their_kind() {
        let order = |order| served(&options(order, Priorities::Weighted), false, &MIXED);
        assert_eq!(order(KindOrder::ReadFirst), [6, 2, 3, 0, 1, 4, 5]);
        assert_eq!(order(KindOrder::Arrival), [1, 6, 2, 4, 3, 0, 5]);
    }

    #[test]
    fn priorities_that_are_off_change_nothing() {
        assert_eq!(served(&options(KindOrder::ReadFirst, Priorities::Off), false, &MIXED), [0, 2, 3, 6, 1, 4, 5]);
    }

    #[test]
    fn weights_share_a_die_that_always_has_all_of_them_waiting() {
        let options = options(KindOrder::ReadFirst, Priorities::Weighted);
        let mut policy = OutOfOrder::new(&options, DIES);
        let mut waits = Waits::new(&options, &[]);
        let kinds = [High, Medium, Low];
        let mut served = [0; 4];
        kinds.iter().for_each(|&priority| waits.arrive((0, 0, UserRead, priority)));
        let mut of: Vec<Priority> = kinds.to_vec();
        for _ in 0..700 {
            let taken = waits.take(&mut policy, Time::from_us(1_000), false, false).expect("a transaction waits");
            let priority = of[taken as usize];
            served[priority.index()] += 1;
            waits.arrive((0, 0, UserRead, priority));
            of.push(priority);
        }
        assert_eq!(served, [0, 400, 200, 100]);
    }

    #[test]
    fn what_has_waited_for_the_bound_goes_before_every_priority_and_not_a_picosecond_earlier() {
        let mut options = options(KindOrder::ReadFirst, Priorities::Strict);
        options.age_bound = Time::from_us(50);
        let arrivals = [(0, 0, UserProgram, Low), (0, 0, UserRead, Urgent)];
        for (now, expected) in [(Time::from_us(50), 0), (Time::from_us(50) - Time::from_ps(1), 1)] {
            let mut waits = Waits::new(&options, &arrivals);
            assert_eq!(waits.take(&mut OutOfOrder::new(&options, DIES), now, false, false), Some(expected));
        }
    }
}
