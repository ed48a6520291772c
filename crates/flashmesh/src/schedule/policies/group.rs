//! Groups of queued transactions of a die that could run in one multi-plane operation, and the choice of the best group.

use crate::config::{Config, EraseOrder, MultiPlane};
use crate::flash::geometry::{Geometry, PLANES_PER_DIE_MAX};
use crate::ids::{RequestId, TransactionId};
use crate::schedule::transaction::{Transaction, TransactionClass};
use crate::schedule::{ChosenJoiners, Decision, Joiners, QueueId, SchedulerView};
use crate::units::Time;

use super::precedence::{among_classes, overdue_queue};

#[derive(Clone, Copy, Debug)]
pub(super) struct Group {
    pub planes: u32,
    /// Largest number of transactions of the group with the same host request.
    pub of_one_request: u32,
    /// Arrival number of the oldest transaction of the group.
    pub oldest: u64,
    pub decision: Decision,
}

#[derive(Clone, Copy, Debug)]
struct Member {
    /// Sort key: priority of the queue, and location of the transaction in its plane. Transactions with equal keys in different planes may form one
    /// multi-plane operation.
    key: (usize, u64),
    order: u64,
    queue: QueueId,
    id: TransactionId,
    request: Option<RequestId>,
}

#[derive(Clone, Debug)]
pub(super) struct Grouping {
    rule: MultiPlane,
    /// Number of transactions considered in each queue, from its head.
    pub lookahead: usize,
    geometry: Geometry,
    members: Vec<Member>,
}

impl Grouping {
    pub fn new(config: &Config, geometry: &Geometry) -> Grouping {
        Grouping {
            rule: config.flash.multi_plane,
            lookahead: config.schedule.lookahead as usize,
            geometry: geometry.clone(),
            members: Vec::new(),
        }
    }

    /// Returns the sort key of a transaction: priority of the queue, and location in the plane as far as `flash.multi-plane` compares it. Programs
    /// have no location, because their pages are assigned only at the start of the operation.
    fn key(&self, queue: QueueId, transaction: &Transaction) -> (usize, u64) {
        let reads = matches!(
            queue.class,
            TransactionClass::MapRead | TransactionClass::UserRead | TransactionClass::CollectRead
        );
        let place = match self.rule {
            MultiPlane::Off => transaction.order,
            MultiPlane::Independent if reads => transaction.order,
            _ if !reads => 0,
            MultiPlane::SameOffset | MultiPlane::Independent => u64::from(self.geometry.array_page(transaction.from)),
            MultiPlane::SameBlockAndOffset => {
                u64::from(transaction.from.0)
                    % (u64::from(self.geometry.pages_per_block) * u64::from(self.geometry.blocks_per_plane))
            }
        };
        (queue.priority.index(), place)
    }

    /// Returns the best group (transactions for one multi-plane operation) under `is_better`, among the `waiting` transactions of one class at a die;
    /// `None` if `waiting` is empty. Programs of all planes form one group: whether they may run together is known only when their pages are
    /// assigned, at the start of the operation.
    pub fn best<'a>(
        &mut self,
        waiting: impl Iterator<Item = (QueueId, TransactionId, &'a Transaction)>,
        is_better: impl Fn(&Group, &Group) -> bool,
    ) -> Option<Group> {
        let mut members = std::mem::take(&mut self.members);
        members.clear();
        members.extend(waiting.map(|(queue, id, transaction)| Member {
            key: self.key(queue, transaction),
            order: transaction.order,
            queue,
            id,
            request: transaction.owner.request,
        }));
        if members.len() > 1 {
            members.sort_unstable_by_key(|member| (member.key, member.order));
        }
        let alike = members.chunk_by(|one, other| one.key == other.key);
        let best = alike.map(group).reduce(|best, other| if is_better(&other, &best) { other } else { best });
        self.members = members;
        best
    }
}

/// Policy that chooses the best group (transactions for one multi-plane operation) among the host requests of a die. Firmware work precedes or
/// follows requests by the rules that all policies share ([`among_classes`]).
#[derive(Clone, Debug)]
pub(super) struct GroupPolicy {
    erases: EraseOrder,
    /// Wait after which a request transaction precedes all groups (`schedule.age-bound`).
    pub age_bound: Time,
    pub grouping: Grouping,
    /// Function that ranks a group; the group with the largest rank wins.
    rank: fn(&Group) -> Rank,
}

/// Rank of a group, a tuple with the most important criterion first; the largest rank wins.
pub(super) type Rank = (u32, u32, u64);

impl GroupPolicy {
    pub fn new(config: &Config, geometry: &Geometry, rank: fn(&Group) -> Rank) -> GroupPolicy {
        GroupPolicy {
            erases: config.schedule.erases,
            age_bound: config.schedule.age_bound,
            grouping: Grouping::new(config, geometry),
            rank,
        }
    }

    /// Chooses the next operation among the dies of `waiting`; `None` if no transaction may run.
    pub fn decide(&mut self, waiting: &SchedulerView<'_>) -> Option<Decision> {
        among_classes(waiting, self.erases, || self.among_requests(waiting))
    }

    fn among_requests(&mut self, waiting: &SchedulerView<'_>) -> Option<Decision> {
        if let Some(choice) = waiting.only_queue().or_else(|| overdue_queue(waiting, self.age_bound)) {
            return Some(choice.into());
        }
        let mut best: Option<Group> = None;
        for die in waiting.dies() {
            for class in [TransactionClass::UserRead, TransactionClass::UserProgram] {
                let ready = waiting.ready_planes(die, class);
                if ready == 0 {
                    continue;
                }
                let queued = waiting.load().queued_first(die, class, self.grouping.lookahead);
                let found = self.best(queued.filter(|(queue, ..)| ready >> queue.plane & 1 != 0));
                best = match (best, found) {
                    (Some(best), Some(found)) => Some(self.better(best, found)),
                    (best, found) => best.or(found),
                };
            }
        }
        best.map(|group| group.decision)
    }

    pub fn best<'a>(
        &mut self,
        waiting: impl Iterator<Item = (QueueId, TransactionId, &'a Transaction)>,
    ) -> Option<Group> {
        let rank = self.rank;
        self.grouping.best(waiting, |one, other| rank(one) > rank(other))
    }

    fn better(&self, best: Group, found: Group) -> Group {
        if (self.rank)(&found) > (self.rank)(&best) { found } else { best }
    }
}

/// Builds a group from the oldest transaction of each plane. `alike` contains transactions that may run in one multi-plane operation, in order of
/// arrival.
fn group(alike: &[Member]) -> Group {
    let lead = alike[0];
    let mut joiners = ChosenJoiners::default();
    let mut requests = [lead.request; PLANES_PER_DIE_MAX];
    let mut planes = 1;
    let mut seen = 1u64 << lead.queue.plane;
    for member in &alike[1..] {
        if seen >> member.queue.plane & 1 == 0 {
            seen |= 1 << member.queue.plane;
            joiners.push(member.queue.plane, member.id);
            requests[planes] = member.request;
            planes += 1;
        }
    }
    let pages_of = |request: &Option<RequestId>| match request {
        Some(_) => requests[..planes].iter().filter(|other| *other == request).count(),
        None => 1,
    };
    let of_one_request = requests[..planes].iter().map(pages_of).max().unwrap_or(1) as u32;
    let is_read = matches!(
        lead.queue.class,
        TransactionClass::MapRead | TransactionClass::UserRead | TransactionClass::CollectRead
    );
    let joiners = if is_read { Joiners::These(joiners) } else { Joiners::First };
    let decision = Decision { queue: lead.queue, lead: Some(lead.id), joiners };
    Group { planes: planes as u32, of_one_request, oldest: lead.order, decision }
}
