//! Fair scheduling: each die serves the stream with the largest slowdown.
//!
//! The model follows FLIN (Tavakkol et al., ISCA 2018), which reorders the transactions in the queue of a chip to make the slowdowns of the streams
//! equal. The slowdown of a stream is its time with other streams, divided by its time alone. FLIN estimates the time alone by subtracting the
//! interference of other streams.
//!
//! Choices:
//! - Of the three stages of FLIN, only the idea of the first is modelled: there are no priorities among streams, and no budget that balances reads
//!   with writes.
//! - For each stream, a die keeps two sums of operation times: `own`, of the operations of the stream, and `others`, of the operations of other
//!   streams that were chosen while the stream waited. The slowdown of the stream on this die is `(own + others) / own`. Waits for the stream's own
//!   earlier transactions do not count. An operation counts as `flash.read-time` or `flash.program-time`. When `own` exceeds the time of 64 programs,
//!   `own` and `others` are halved, so that old times lose weight.
//! - Among the streams with ready transactions, the stream with the largest slowdown is served; if slowdowns are equal, the stream with the oldest
//!   transaction. Reads of the stream precede its writes, and older transactions precede newer ones. Transactions of other planes may join the
//!   operation. The whole queue of the die is searched.
//! - A transaction that has waited for `schedule.age-bound` precedes all others of its die. Firmware work precedes or follows requests by the rules
//!   that all policies share, and counts for no stream.

use crate::config::{Config, EraseOrder};
use crate::flash::geometry::Geometry;
use crate::ids::TransactionId;
use crate::schedule::transaction::{Owner, Transaction, TransactionClass};
use crate::schedule::{Decision, Joiners, QueueId, Scheduler, SchedulerView};
use crate::units::Time;

use super::precedence::{among_classes, overdue_queue};

/// Limit of `StreamTime::own`, in program times. Above it, `own` and `others` are halved, so that old times lose weight.
const MEMORY: u64 = 64;

#[derive(Clone, Debug)]
pub struct Fair {
    erases: EraseOrder,
    age_bound: Time,
    read: Time,
    program: Time,
    streams: usize,
    shares: Vec<StreamTime>,
    /// Next transaction of each stream; `None` if the stream has no transaction that may run.
    heads: Vec<Option<StreamHead>>,
}

#[derive(Clone, Copy, Debug, Default)]
struct StreamTime {
    own: Time,
    /// Total duration of the operations of other streams that the scheduler chose while this stream waited.
    others: Time,
}

impl StreamTime {
    /// Returns whether this stream has a larger slowdown than `than`. Compares `others / own`, which is the slowdown minus one. If `own` is zero, the
    /// slowdown is infinite; two such streams are compared by `others`.
    fn is_slowed_more(&self, than: &StreamTime) -> bool {
        let product = |one: Time, other: Time| u128::from(one.as_ps()) * u128::from(other.as_ps());
        match (self.own == Time::ZERO, than.own == Time::ZERO) {
            (true, true) => self.others > than.others,
            (new, other_new) if new != other_new => new,
            _ => product(self.others, than.own) > product(than.others, self.own),
        }
    }
}

#[derive(Clone, Copy, Debug)]
struct StreamHead {
    queue: QueueId,
    lead: TransactionId,
    /// Sort key within the stream, smallest first: reads before programs, then by arrival number.
    rank: (bool, u64),
    /// Arrival number of the oldest transaction of the stream that may run, read or program.
    oldest: u64,
}

impl Fair {
    pub fn new(config: &Config, geometry: &Geometry) -> Fair {
        let streams = config.streams().len();
        Fair {
            erases: config.schedule.erases,
            age_bound: config.schedule.age_bound,
            read: config.flash.read_time,
            program: config.flash.program_time,
            streams,
            shares: vec![StreamTime::default(); geometry.dies() as usize * streams],
            heads: vec![None; streams],
        }
    }

    /// Sets `heads` to the next transaction of each stream, among the transactions that may run on the dies for which the decision is made.
    fn find_heads(&mut self, waiting: &SchedulerView<'_>) {
        self.heads.fill(None);
        for class in [TransactionClass::UserRead, TransactionClass::UserProgram] {
            waiting.each_queued(class, |queue, lead, &Transaction { owner: Owner { stream, .. }, order, .. }| {
                let found =
                    StreamHead { queue, lead, rank: (class == TransactionClass::UserProgram, order), oldest: order };
                let next = self.heads[stream.index()].get_or_insert(found);
                let oldest = next.oldest.min(order);
                *next = StreamHead { oldest, ..if found.rank < next.rank { found } else { *next } };
            });
        }
    }

    fn user(&mut self, waiting: &SchedulerView<'_>) -> Option<Decision> {
        let base = waiting.first_die().index() * self.streams;
        self.find_heads(waiting);
        let late = overdue_queue(waiting, self.age_bound);
        let of_late = late
            .and_then(|queue| waiting.load().queued_first(queue.die, queue.class, 1).find(|found| found.0 == queue));
        let (stream, decision) = match (late, of_late) {
            (Some(queue), Some((_, _, transaction))) => (transaction.owner.stream.index(), queue.into()),
            _ => {
                let shares = &self.shares[base..base + self.streams];
                let found = self.heads.iter().enumerate().filter_map(|(stream, next)| Some((stream, (*next)?)));
                let (stream, next) = found.reduce(|best, other| {
                    let (one, than) = (&shares[other.0], &shares[best.0]);
                    let is_equal = !one.is_slowed_more(than) && !than.is_slowed_more(one);
                    let goes = if is_equal { other.1.oldest < best.1.oldest } else { one.is_slowed_more(than) };
                    if goes { other } else { best }
                })?;
                (stream, Decision { queue: next.queue, lead: Some(next.lead), joiners: Joiners::First })
            }
        };
        let time = if decision.queue.class == TransactionClass::UserRead { self.read } else { self.program };
        for (other, next) in self.heads.iter().enumerate() {
            let share = &mut self.shares[base + other];
            if other == stream {
                share.own += time;
            } else if next.is_some() {
                share.others += time;
            }
            if share.own > self.program * MEMORY {
                *share = StreamTime {
                    own: Time::from_ps(share.own.as_ps() / 2),
                    others: Time::from_ps(share.others.as_ps() / 2),
                };
            }
        }
        Some(decision)
    }
}

impl Scheduler for Fair {
    fn choose(&mut self, waiting: &SchedulerView<'_>) -> Option<QueueId> {
        self.decide(waiting).map(|decision| decision.queue)
    }

    fn decide(&mut self, waiting: &SchedulerView<'_>) -> Option<Decision> {
        let erases = self.erases;
        among_classes(waiting, erases, || self.user(waiting))
    }
}
