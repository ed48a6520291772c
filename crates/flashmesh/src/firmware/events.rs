//! What the datapath gives back, and what follows from it.

use crate::datapath::Datapath;
use crate::fabric::TransferPhase;
use crate::ids::{AcknowledgementId, DieId};
use crate::kernel::Kernel;
use crate::kernel::model::Model;

use super::Firmware;

impl Firmware {
    /// What was sent over the path that `asker` got for `phase` has arrived.
    #[inline(always)]
    pub fn delivered<M: Model>(
        &mut self,
        phase: TransferPhase,
        asker: DieId,
        datapath: &mut Datapath<M>,
        kernel: &mut Kernel<M>,
    ) {
        if let Some(arrived) = datapath.delivered(phase, asker, self, kernel) {
            self.read_done(arrived.read, datapath, kernel);
            if let Some(grant) = arrived.held {
                datapath.release(grant, kernel);
            }
        }
    }

    /// The data that left the die of `asker` has reached another chip. Kept out of line, since few drives do that.
    #[inline(never)]
    pub fn copy_delivered<M: Model>(&mut self, asker: DieId, datapath: &mut Datapath<M>, kernel: &mut Kernel<M>) {
        self.delivered(TransferPhase::Copy, asker, datapath, kernel);
    }

    /// The array of a die is done, unless its operation was suspended since.
    #[inline(always)]
    pub fn array_end<M: Model>(&mut self, die: DieId, datapath: &mut Datapath<M>, kernel: &mut Kernel<M>) {
        let Some(ended) = datapath.array_end(die, self, kernel) else { return };
        for &id in ended.operation.transactions() {
            self.commit(id, datapath, kernel);
            if !ended.is_acknowledged_later {
                self.conclude(id, datapath, kernel);
            }
        }
        if ended.is_acknowledged_later {
            datapath.acknowledge(die, ended.operation, kernel);
        }
        self.settle_journal(datapath, kernel);
        datapath.try_issue(die, self, kernel);
    }

    /// The array of a die works again after a suspension, and may be suspended anew.
    pub fn resumed<M: Model>(&mut self, die: DieId, datapath: &mut Datapath<M>, kernel: &mut Kernel<M>) {
        datapath.try_issue(die, self, kernel);
    }

    /// The controller has been told that an operation is done.
    pub fn acknowledged<M: Model>(
        &mut self,
        id: AcknowledgementId,
        datapath: &mut Datapath<M>,
        kernel: &mut Kernel<M>,
    ) {
        let (die, operation) = datapath.acknowledged(id, kernel);
        for &id in operation.transactions() {
            datapath.count_acknowledgement(id, kernel.now());
            self.conclude(id, datapath, kernel);
        }
        // Programs that were held back may go on: a block is free, or a collection no longer goes before them.
        datapath.try_issue(die, self, kernel);
    }
}
