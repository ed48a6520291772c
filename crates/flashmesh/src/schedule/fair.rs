//! Fair: on each die, the stream goes next that the others slow down most.
//!
//! After FLIN (Tavakkol et al., ISCA 2018), which reorders the transactions in the queue of a chip so that the slowdowns of the streams
//! become equal. The slowdown of a stream is the time that it takes with others over the time that it would take alone; FLIN estimates the
//! latter as the former less the time for which others were in the way.
//!
//! Decided here:
//! - Of FLIN's three stages only the idea of the first is modelled: no priorities among streams, no budget that balances reads with writes.
//! - A die counts for each stream the time of its operations, and of the operations of others that were chosen while it had something
//!   waiting. Their sum over the former is its slowdown on this die; the waiting for its own earlier transactions is none. Times are
//!   `flash.read-time` and `flash.program-time`. Both counts are halved when a stream has had 64 programs' time, so that old times are
//!   forgotten.
//! - Of the streams with something ready the one with the largest slowdown goes, of equal ones the one that waits longest; of the stream
//!   its oldest read, else its oldest write. Others may join it on other planes. The whole queue of the die is looked at.
//! - What has waited for `schedule.age-bound` goes before all others of its die. Work of the firmware goes before or after requests as with
//!   the other policies, and counts for no stream.

use crate::config::{Config, EraseOrder};
use crate::flash::geometry::Geometry;
use crate::ids::TransactionId;
use crate::units::Time;

use super::precedence::{among_classes, late};
use super::transaction::{Class, Owner, Transaction};
use super::{Choice, Decision, Joiners, Scheduler, Waiting};

/// Program times after which the counts of a stream are halved.
const MEMORY: u64 = 64;

#[derive(Clone, Debug)]
pub struct Fair {
    erases: EraseOrder,
    age_bound: Time,
    read: Time,
    program: Time,
    streams: usize,
    shares: Vec<Share>,
    /// By stream: its next transaction.
    next: Vec<Option<Next>>,
}

#[derive(Clone, Copy, Debug, Default)]
struct Share {
    own: Time,
    /// Time of other streams' transactions while it waited.
    others: Time,
}

impl Share {
    /// Whether it is slowed down more: `others / own` is larger, infinite without own time.
    fn is_slower(&self, than: &Share) -> bool {
        let product = |one: Time, other: Time| u128::from(one.as_ps()) * u128::from(other.as_ps());
        match (self.own == Time::ZERO, than.own == Time::ZERO) {
            (true, true) => self.others > than.others,
            (new, other_new) if new != other_new => new,
            _ => product(self.others, than.own) > product(than.others, self.own),
        }
    }
}

#[derive(Clone, Copy, Debug)]
struct Next {
    queue: Choice,
    lead: TransactionId,
    /// Reads first, then by arrival.
    rank: (bool, u64),
    /// Arrival number of its oldest transaction.
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
            shares: vec![Share::default(); geometry.dies() as usize * streams],
            next: vec![None; streams],
        }
    }

    /// Finds the next transaction of each stream on these dies.
    fn look(&mut self, waiting: &Waiting<'_>) {
        self.next.fill(None);
        for class in [Class::UserRead, Class::UserProgram] {
            waiting.each_queued(class, |queue, lead, &Transaction { owner: Owner { stream, .. }, order, .. }| {
                let found = Next { queue, lead, rank: (class == Class::UserProgram, order), oldest: order };
                let next = self.next[stream.index()].get_or_insert(found);
                let oldest = next.oldest.min(order);
                *next = Next { oldest, ..if found.rank < next.rank { found } else { *next } };
            });
        }
    }

    fn user(&mut self, waiting: &Waiting<'_>) -> Option<Decision> {
        let base = waiting.first_die().index() * self.streams;
        self.look(waiting);
        let late = late(waiting, self.age_bound);
        let of_late = late
            .and_then(|queue| waiting.load().queued_first(queue.die, queue.class, 1).find(|found| found.0 == queue));
        let (stream, decision) = match (late, of_late) {
            (Some(queue), Some((_, _, transaction))) => (transaction.owner.stream.index(), queue.into()),
            _ => {
                let shares = &self.shares[base..base + self.streams];
                let found = self.next.iter().enumerate().filter_map(|(stream, next)| Some((stream, (*next)?)));
                let (stream, next) = found.reduce(|best, other| {
                    let (one, than) = (&shares[other.0], &shares[best.0]);
                    let is_equal = !one.is_slower(than) && !than.is_slower(one);
                    let goes = if is_equal { other.1.oldest < best.1.oldest } else { one.is_slower(than) };
                    if goes { other } else { best }
                })?;
                (stream, Decision { queue: next.queue, lead: Some(next.lead), joiners: Joiners::First })
            }
        };
        let time = if decision.queue.class == Class::UserRead { self.read } else { self.program };
        for (other, next) in self.next.iter().enumerate() {
            let share = &mut self.shares[base + other];
            if other == stream {
                share.own += time;
            } else if next.is_some() {
                share.others += time;
            }
            if share.own > self.program * MEMORY {
                *share = Share {
                    own: Time::from_ps(share.own.as_ps() / 2),
                    others: Time::from_ps(share.others.as_ps() / 2),
                };
            }
        }
        Some(decision)
    }
}

impl Scheduler for Fair {
    fn choose(&mut self, waiting: &Waiting<'_>) -> Option<Choice> {
        self.decide(waiting).map(|decision| decision.queue)
    }

    fn decide(&mut self, waiting: &Waiting<'_>) -> Option<Decision> {
        let erases = self.erases;
        among_classes(waiting, erases, || self.user(waiting))
    }
}
