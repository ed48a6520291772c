//! Recovery after a power cut: the reads of recovery are simulated step by step, through the dies and the interconnect.
//!
//! The drive is rebuilt with all dies and paths idle. The reads of a step are known when the step begins. Several reads for each plane of a die are
//! enqueued ahead, so that all planes can be busy. Computing time of the controller is ignored \[choice\].

use crate::config::Config;
use crate::datapath::{ArrayOutcome, Datapath, DeliveredTransfer, GrantOutcome, IssueOutcome, PageSource};
use crate::error::RunError;
use crate::fabric::{FabricInfo, TransferPhase};
use crate::flash::geometry::Geometry;
use crate::ids::{BlockId, DieId, Lpn, PlaneId, TransactionId};
use crate::kernel::Kernel;
use crate::kernel::event::{Event, WakeToken};
use crate::kernel::model::{Model, Probed};
use crate::persistence::{Recovered, Scan, ScanRead};
use crate::results::counters::{RecoveryReads, RecoveryReport, RecoverySteps};
use crate::schedule::purpose::Purpose;
use crate::schedule::queues::PlaneMasks;
use crate::schedule::transaction::{Owner, Transaction, TransactionClass};

/// Number of reads in flight or queued for each plane of a die, so that its planes are always busy.
const READS_PER_PLANE: u32 = 4;

/// Reads of one step of the recovery: the reads still to be enqueued, and the number of reads whose data has arrived.
struct ScanReads {
    geometry: Geometry,
    /// For each die, the reads that have not been enqueued yet.
    waiting: Vec<std::vec::IntoIter<ScanRead>>,
    arrived: u64,
}

impl ScanReads {
    fn new(geometry: &Geometry, reads: &[ScanRead]) -> ScanReads {
        let mut waiting = vec![Vec::new(); geometry.dies() as usize];
        for &read in reads {
            waiting[geometry.die_of_plane(geometry.plane_of(read.ppn)).index()].push(read);
        }
        let waiting = waiting.into_iter().map(Vec::into_iter).collect();
        ScanReads { geometry: geometry.clone(), waiting, arrived: 0 }
    }

    /// Enqueues the next read of a die, and tries to issue it. Does nothing if no read is left.
    fn issue(&mut self, die: DieId, datapath: &mut Datapath<Probed>, kernel: &mut Kernel<Probed>) {
        let Some(ScanRead { ppn, is_whole }) = self.waiting[die.index()].next() else { return };
        let bytes = if is_whole { self.geometry.page_size } else { self.geometry.sector_size };
        let plane = self.geometry.plane_of(ppn);
        let mut transaction = Transaction::new(Purpose::MapRead, Owner::FIRMWARE, Lpn(0), plane, ppn, bytes);
        transaction.account.begin(kernel.now());
        let id = datapath.queues.transactions.insert(transaction);
        let die = datapath.enqueue(id, datapath.queues.transaction(id).purpose, kernel);
        self.try_issue(die, datapath, kernel);
    }

    /// Issues the next operation of a die if the die is free. A recovery never holds transactions back.
    fn try_issue(&self, die: DieId, datapath: &mut Datapath<Probed>, kernel: &mut Kernel<Probed>) {
        if let IssueOutcome::Each(first, count) = datapath.try_issue(die, self, kernel) {
            for die in (first.0..first.0 + count).map(DieId) {
                let _ = datapath.try_issue_of_die(die, self, kernel);
            }
        }
    }

    /// Requests a path for the data in the page register of a die, if there is data to send.
    fn send_register(die: DieId, datapath: &mut Datapath<Probed>, kernel: &mut Kernel<Probed>) {
        if datapath.dies.mark_sending(die) {
            datapath.request_data_path(die, None, kernel);
        }
    }
}

/// Answers of a recovery to the queries that the datapath makes to the controller. No page moves, and there are no writes or collections.
impl<M: Model> PageSource<M> for ScanReads {
    fn is_current(&self, _transaction: &Transaction) -> bool {
        true
    }

    fn keeps_plane(&self, _write: TransactionId, _datapath: &Datapath<M>) -> bool {
        true
    }

    fn may_join(&self, _lead: &Transaction, _other: &Transaction) -> bool {
        true
    }

    fn next_page(&self, _transaction: &Transaction) -> Option<(BlockId, u32)> {
        None
    }

    fn has_page<'a>(
        &self,
        _class: TransactionClass,
        _plane: PlaneId,
        _heads: impl Iterator<Item = &'a Transaction>,
    ) -> bool {
        false
    }

    fn shares_open_block(&self) -> bool {
        true
    }

    fn has_shared_page(&self, _plane: PlaneId) -> bool {
        false
    }

    fn shares_block(&self, _lead: &Transaction, _other: &Transaction) -> bool {
        false
    }

    fn writes_slc(&self, _plane: PlaneId) -> bool {
        false
    }

    fn has_unread_pages(&self, _plane: PlaneId) -> bool {
        false
    }

    fn writes_wait(&self, _die: DieId) -> bool {
        false
    }

    fn collection_waits(&self, _die: DieId) -> bool {
        false
    }

    fn collection_first(&self, _die: DieId) -> bool {
        false
    }

    fn collects_for_space(&self, _die: DieId) -> bool {
        false
    }

    fn may_suspend(&self) -> bool {
        true
    }

    fn may_hold_programs(&self, _ready: &PlaneMasks, _waiting: &PlaneMasks) -> bool {
        false
    }

    fn listed_pages(&self, _read: &Transaction) -> usize {
        0
    }
}

/// Rebuilt drive on which a recovery reads pages.
struct Recovery {
    geometry: Geometry,
    kernel: Kernel<Probed>,
    datapath: Datapath<Probed>,
}

impl Recovery {
    /// Simulates one step of the recovery: all of `reads`. Returns the duration of the step in picoseconds.
    ///
    /// # Errors
    /// If events run out before all reads have arrived.
    fn read(&mut self, reads: &[ScanRead]) -> Result<u64, RunError> {
        let started = self.kernel.now();
        let mut source = ScanReads::new(&self.geometry, reads);
        for _ in 0..self.geometry.planes_per_die * READS_PER_PLANE {
            for die in (0..self.geometry.dies()).map(DieId) {
                source.issue(die, &mut self.datapath, &mut self.kernel);
            }
        }
        self.settle(&mut source);
        while source.arrived < reads.len() as u64 {
            let Some(event) = self.next_event() else {
                let left = reads.len() - source.arrived as usize;
                return Err(RunError::Stalled { at: self.kernel.now(), in_flight: left });
            };
            self.handle(event, &mut source);
            self.settle(&mut source);
        }
        Ok((self.kernel.now() - started).as_ps())
    }

    fn next_event(&mut self) -> Option<Event> {
        if let Some(wake_at) = self.datapath.interconnect.next_wake(&self.kernel) {
            self.kernel.advance_to(wake_at);
            return Some(Event::FabricWake(WakeToken(0)));
        }
        let due = self.kernel.advance()?;
        Some(self.kernel.dequeue(due))
    }

    fn handle(&mut self, event: Event, source: &mut ScanReads) {
        let Recovery { kernel, datapath, .. } = self;
        match event {
            Event::CommandDelivered(asker) => self.delivered(TransferPhase::Command, asker, source),
            Event::DataDelivered(asker) => self.delivered(TransferPhase::DataOut, asker, source),
            Event::FabricWake(token) => datapath.interconnect.wake(token, kernel),
            Event::ArrayEnd(die) => {
                if let ArrayOutcome::Read = datapath.array_end(die, kernel) {
                    source.try_issue(die, datapath, kernel);
                    ScanReads::send_register(die, datapath, kernel);
                }
            }
            Event::Resumed(die) => source.try_issue(die, datapath, kernel),
            // Events of programs and of the host do not occur during recovery.
            _ => {}
        }
    }

    fn delivered(&mut self, phase: TransferPhase, asker: DieId, source: &mut ScanReads) {
        let Recovery { kernel, datapath, .. } = self;
        match datapath.delivered(phase, asker, kernel) {
            DeliveredTransfer::Command(die) => {
                let _ = datapath.issue_beside_array(die, source, kernel);
            }
            DeliveredTransfer::Data { die, read, held } => {
                source.try_issue(die, datapath, kernel);
                ScanReads::send_register(die, datapath, kernel);
                // Companions are the other mapping units that the same operation read from the page.
                let mut arrived = Some(read);
                while let Some(read) = arrived {
                    arrived = datapath.queues.transactions.companion(read);
                    datapath.queues.transactions.remove(read);
                    source.arrived += 1;
                    source.issue(die, datapath, kernel);
                }
                if let Some(grant) = held {
                    datapath.interconnect.release(grant, kernel);
                }
            }
        }
    }

    fn settle(&mut self, source: &mut ScanReads) {
        let Recovery { kernel, datapath, .. } = self;
        loop {
            let mut has_acted = false;
            while datapath.scheduling.dispatches()
                && let Some(die) = datapath.dispatch(kernel)
            {
                source.try_issue(die, datapath, kernel);
                datapath.scheduling.dispatched();
                has_acted = true;
            }
            if datapath.interconnect.has_output() {
                has_acted = true;
                let mut next = 0;
                while let Some(granted) = datapath.interconnect.next_grant(&mut next) {
                    if let GrantOutcome::TryIssue(die) = datapath.handle_grant(granted, source, kernel) {
                        source.try_issue(die, datapath, kernel);
                    }
                }
                datapath.interconnect.clear_grants(kernel);
            }
            if !has_acted {
                return;
            }
        }
    }
}

/// Simulates the reads of `scan` on an idle drive. Returns the report of the recovery, with the durations of its steps and the counts of `recovered`.
///
/// # Errors
/// If the drive cannot be built, or events run out before all reads have arrived.
pub(super) fn report(
    config: &Config,
    geometry: &Geometry,
    info: &'static FabricInfo,
    scan: &Scan,
    recovered: &Recovered,
) -> Result<RecoveryReport, RunError> {
    let datapath = Datapath::new(config, geometry, info)?;
    let mut recovery = Recovery { geometry: geometry.clone(), kernel: Kernel::default(), datapath };
    let of_map: Vec<ScanRead> = scan.map.iter().chain(&scan.journal).copied().collect();
    let steps = RecoverySteps {
        blocks_ps: recovery.read(&scan.blocks)?,
        system_ps: recovery.read(&scan.translation)?,
        map_ps: recovery.read(&of_map)?,
        open_ps: recovery.read(&scan.open)?,
    };
    Ok(RecoveryReport {
        duration_ps: steps.blocks_ps + steps.system_ps + steps.map_ps + steps.open_ps,
        steps,
        reads: RecoveryReads {
            blocks: scan.blocks.len() as u64,
            system: scan.translation.len() as u64,
            map: scan.map.len() as u64,
            journal: scan.journal.len() as u64,
            open: scan.open.len() as u64,
        },
        entries_replayed: recovered.entries,
        pages_found: recovered.pages_found,
        copies_found: recovered.replica_count(),
        pages_lost: recovered.pages_lost,
        deallocations_lost: recovered.deallocations_lost,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::FabricKind;
    use crate::fabric::{Fabric, Outbox, info_of};
    use crate::units::Time;

    /// Checks a step of five reads: two end on channel 0, and three wait for channel 1, which another die holds for ever.
    #[test]
    fn a_recovery_whose_reads_do_not_all_arrive_is_stalled_with_those_that_are_left() {
        let mut config = Config::default();
        config.fabric.kind = FabricKind::Bus;
        config.geometry.channels = 2;
        let geometry = Geometry::from_config(&config).expect("the geometry is valid");
        let datapath = Datapath::new(&config, &geometry, info_of(config.fabric.kind)).expect("the drive can be built");
        let mut recovery = Recovery { geometry: geometry.clone(), kernel: Kernel::default(), datapath };
        let dies_per_channel = geometry.dies() / 2;
        let blocking = DieId(2 * dies_per_channel - 1);
        let fabric = &mut recovery.datapath.interconnect.fabric;
        fabric.acquire(blocking, TransferPhase::Command, Time::ZERO, &mut Outbox::default());
        let page_of = |die: u32, page: u32| geometry.ppn(geometry.first_block(geometry.first_plane(DieId(die))), page);
        let on_dies = [(0, 0), (1, 0), (dies_per_channel, 0), (dies_per_channel, 1), (dies_per_channel + 1, 0)];
        let reads = on_dies.map(|(die, page)| ScanRead { ppn: page_of(die, page), is_whole: true });
        let error = recovery.read(&reads).expect_err("three reads wait for ever");
        assert!(matches!(error, RunError::Stalled { in_flight: 3, .. }), "{error}");
    }
}
