//! What was sent over a path has arrived.

use crate::fabric::{Cause, Fabric, Grant, TransferPhase};
use crate::ids::{DieId, TransactionId};
use crate::kernel::Kernel;
use crate::kernel::model::Model;
use crate::kernel::probe::Notice;
use crate::schedule::account::Stall;
use crate::schedule::transaction::Transaction;
use crate::units::Time;

use super::Datapath;

/// What has arrived.
#[derive(Clone, Copy, Debug)]
pub enum Arrived {
    /// A command, with its data: the array of the die works. [`Datapath::issue_beside_array`] follows.
    Command(DieId),
    /// The data of a page, of which nothing is left in the register of its die: that may want its next operation, and sends on.
    Data {
        die: DieId,
        read: TransactionId,
        /// The path, to be [released](Datapath::release) when the controller has acted on the data.
        held: Option<Grant>,
    },
}

impl<M: Model> Datapath<M> {
    /// Command and data have reached the die, or read data the controller or another chip: what was sent over the path that `asker` got for
    /// `phase`.
    #[inline(always)]
    pub fn delivered(&mut self, phase: TransferPhase, asker: DieId, kernel: &mut Kernel<M>) -> Arrived {
        let path = self.units[asker].path.paths[phase.index()];
        let grant = Grant { die: asker, phase, path };
        kernel.tell(|| Notice::Delivered(grant));
        let stalled = self.interconnect.fabric.stalled(grant);
        if stalled > Time::ZERO {
            self.count_stall(grant, stalled);
        }
        let die = self.die_of(grant);
        let unit = &mut self.units[grant.die];
        let least = unit.path.least[grant.phase.index()];
        let done = if M::ALL_FEATURES && die != grant.die { &mut self.units[die].work } else { &mut unit.work };
        match phase {
            TransferPhase::Command => {
                done.commands += least;
                self.release(grant, kernel);
                self.start_array(die, stalled, kernel);
                Arrived::Command(die)
            }
            TransferPhase::DataOut | TransferPhase::Copy => {
                done.data += least;
                if self.rules.asks_before_release() {
                    let read = self.data_arrived(die, stalled, kernel);
                    Arrived::Data { die, read, held: Some(grant) }
                } else {
                    self.release(grant, kernel);
                    let read = self.data_arrived(die, stalled, kernel);
                    Arrived::Data { die, read, held: None }
                }
            }
        }
    }

    /// A transfer that was blocked in the network did not have its path free, even when it could start at once.
    fn count_stall(&mut self, grant: Grant, stalled: Time) {
        let waited = self.units[grant.die].path.waited[grant.phase.index()];
        self.counters.transfers_free -= u64::from(!waited);
        self.counters.conflicts.count(Cause::Link, stalled);
    }

    /// The data of one plane has reached the controller, or another chip.
    #[inline(always)]
    fn data_arrived(&mut self, die: DieId, stalled: Time, kernel: &mut Kernel<M>) -> TransactionId {
        let now = kernel.now();
        let mut is_by_another = false;
        if stalled > Time::ZERO {
            let asker = self.asker(die);
            let path = &mut self.units[asker].path;
            path.causes.insert(Cause::Link);
            is_by_another = !path.behind_itself[TransferPhase::DataOut.index()];
            self.units[die].state.count_path_wait(stalled).expect("data arrives from a register that holds some");
        }
        let rest = if M::ALL_FEATURES { self.parts.take_rest(die) } else { None };
        let state = &mut self.units[die].state;
        let id = match rest {
            Some(rest) => state.part_left(rest).expect("data arrives from a register that holds some"),
            None => {
                let id = state.data_left(now).expect("data arrives from a register that holds some");
                kernel.tell(|| Notice::DataLeft(die));
                id
            }
        };
        self.tell_left(id, kernel);
        let stall = Stall { time: stalled, is_by_another };
        let mut companion = self.companion(id);
        while let Some(id) = companion {
            self.tell_left(id, kernel);
            self.transactions[id].account.left(now, stall);
            companion = self.companion(id);
        }
        let transaction = &mut self.transactions[id];
        transaction.account.left(now, stall);
        if M::ALL_FEATURES && transaction.work.leaves_chip() {
            for id in self.with_companions(id) {
                let Transaction { from, plane, .. } = self.transactions[id];
                kernel.tell(|| Notice::PageCopied(from, plane));
            }
        }
        id
    }
}
