//! What was sent over a path has arrived.

use crate::fabric::{Cause, Fabric, Grant, TransferPhase};
use crate::ids::{DieId, TransactionId};
use crate::kernel::Kernel;
use crate::kernel::model::Model;
use crate::kernel::probe::Notice;
use crate::schedule::account::Stall;
use crate::schedule::transaction::Transaction;
use crate::units::Time;

use super::{Datapath, PageSource};

/// The data of a page has arrived.
#[derive(Clone, Copy, Debug)]
pub struct Arrived {
    /// The transaction.
    pub read: TransactionId,
    /// The path, to be [released](Datapath::release) when the firmware has acted on the data.
    pub held: Option<Grant>,
}

impl<M: Model> Datapath<M> {
    /// Command and data have reached the die, or read data the controller or another chip: what was sent over the path that `asker` got for
    /// `phase`. Gives what has arrived of a read.
    #[inline(always)]
    pub fn delivered<S: PageSource<M>>(
        &mut self,
        phase: TransferPhase,
        asker: DieId,
        source: &mut S,
        kernel: &mut Kernel<M>,
    ) -> Option<Arrived> {
        let path = self.units[asker.index()].path.paths[phase.index()];
        let grant = Grant { die: asker, phase, path };
        kernel.tell(|| Notice::Delivered(grant));
        let stalled = self.interconnect.fabric.stalled(grant);
        if stalled > Time::ZERO {
            self.count_stall(grant, stalled);
        }
        let die = self.die_of(grant);
        let unit = &mut self.units[grant.die.index()];
        let least = unit.path.least[grant.phase.index()];
        let done = if M::FULL && die != grant.die { &mut self.units[die.index()].work } else { &mut unit.work };
        match phase {
            TransferPhase::Command => {
                done.commands += least;
                self.release(grant, kernel);
                self.start_array(die, stalled, source, kernel);
                None
            }
            TransferPhase::DataOut | TransferPhase::Copy => {
                done.data += least;
                if M::RANKS_DATA && self.rules.asks_before_release() {
                    let read = self.data_arrived(die, stalled, source, kernel);
                    Some(Arrived { read, held: Some(grant) })
                } else {
                    self.release(grant, kernel);
                    let read = self.data_arrived(die, stalled, source, kernel);
                    Some(Arrived { read, held: None })
                }
            }
        }
    }

    /// A transfer that was blocked in the network did not have its path free, even when it could start at once.
    fn count_stall(&mut self, grant: Grant, stalled: Time) {
        let waited = self.units[grant.die.index()].path.waited[grant.phase.index()];
        self.counters.transfers_free -= u64::from(!waited);
        self.counters.conflicts.count(Cause::Link, stalled);
    }

    /// The data of one plane has reached the controller, or another chip.
    #[inline(always)]
    fn data_arrived<S: PageSource<M>>(
        &mut self,
        die: DieId,
        stalled: Time,
        source: &mut S,
        kernel: &mut Kernel<M>,
    ) -> TransactionId {
        let now = kernel.now();
        let mut is_by_another = false;
        if stalled > Time::ZERO {
            let asker = self.asker(die);
            let path = &mut self.units[asker.index()].path;
            path.causes.insert(Cause::Link);
            is_by_another = !path.behind_itself[TransferPhase::DataOut.index()];
            self.units[die.index()]
                .state
                .count_path_wait(stalled)
                .expect("data arrives from a register that holds some");
        }
        let state = &mut self.units[die.index()].state;
        let id = state.data_left(now).expect("data arrives from a register that holds some");
        kernel.tell(|| Notice::DataLeft(die));
        if M::MEASURES {
            self.tell_left(id, kernel);
        }
        let transaction = &mut self.transactions[id];
        transaction.account.left(now, Stall { time: stalled, is_by_another });
        if M::FULL && transaction.is_copied {
            let Transaction { from, plane, .. } = *transaction;
            kernel.tell(|| Notice::PageCopied(from, plane));
        }
        self.try_issue(die, source, kernel);
        self.send_register(die, source, kernel);
        id
    }
}
