//! The journal and the checkpoints of the map with timed flash operations ([`crate::persistence`] says what they hold).
//!
//! Their programs are those of translation pages: they go to blocks of their own in each plane, before other transactions of their die.

use crate::config::Config;
use crate::datapath::Datapath;
use crate::ids::{BlockId, Lpn, Ppn, RequestId};
use crate::kernel::Kernel;
use crate::kernel::model::Model;
use crate::persistence::{Action, Persistence, Programmed};

use super::{Done, Firmware};

/// The journal, and who waits for it.
#[derive(Debug)]
pub(super) struct Journaling {
    pub state: Box<Persistence>,
    /// Whether capacitors write the buffer to flash when the power is cut, so that no flush waits for that.
    has_capacitors: bool,
}

impl Journaling {
    pub(super) fn new(config: &Config, state: Box<Persistence>) -> Journaling {
        Journaling { state, has_capacitors: config.power.capacitors }
    }
}

impl Firmware {
    /// What of the map is on flash, where it does not survive a cut of the power by itself.
    pub fn persistence(&self) -> Option<&Persistence> {
        self.power_loss.journaling.as_ref().map(|journaling| &*journaling.state)
    }

    #[inline]
    pub(super) fn persist(&mut self, log: impl FnOnce(&mut Persistence)) {
        if let Some(journaling) = &mut self.power_loss.journaling {
            log(&mut journaling.state);
        }
    }

    /// The array has programmed `ppn` with a page of the host.
    #[inline]
    pub(super) fn persist_program(&mut self, lpn: Lpn, ppn: Ppn, what: Programmed) {
        self.persist(|state| state.programmed(lpn, ppn, what));
    }

    /// The array has erased a block.
    #[inline]
    pub(super) fn persist_erase(&mut self, block: BlockId) {
        self.persist(|state| state.erased(block));
    }

    /// Whether `page`, a translation page, is one that the cache of the map reads and writes.
    pub(super) fn is_of_map_cache(&self, page: Lpn) -> bool {
        self.map.is_some() && self.persistence().is_none_or(|state| state.is_of_map(page))
    }

    /// The array has programmed a translation page.
    pub(super) fn count_map_program(&mut self, page: Lpn) {
        let is_of_journal = self.persistence().is_some_and(|state| state.is_of_journal(page));
        self.counters.flash.map_programs += u64::from(!is_of_journal);
        self.counters.flash.journal_programs += u64::from(is_of_journal);
        self.persist(|state| state.program_ended(page));
    }

    /// Has the pages programmed that the journal or a checkpoint wants on flash, and lets flushes go on.
    #[inline]
    pub(super) fn settle_journal<M: Model>(&mut self, datapath: &mut Datapath<M>, kernel: &mut Kernel<M>) {
        if M::FULL && self.power_loss.journaling.is_some() {
            self.write_journal(datapath, kernel);
        }
    }

    #[inline(never)]
    fn write_journal<M: Model>(&mut self, datapath: &mut Datapath<M>, kernel: &mut Kernel<M>) {
        while let Some(action) =
            self.power_loss.journaling.as_mut().and_then(|journaling| journaling.state.next_action())
        {
            match (action, &mut self.map) {
                (Action::Checkpoint(page), Some(map))
                    if self
                        .power_loss
                        .journaling
                        .as_ref()
                        .is_some_and(|journaling| journaling.state.is_of_map(page)) =>
                {
                    map.cache.write_back(page);
                    self.settle_map(datapath, kernel);
                }
                (Action::Journal(page) | Action::Checkpoint(page), _) => {
                    self.program_system_page(page, datapath, kernel);
                }
            }
        }
        while let Some(waiter) =
            self.power_loss.journaling.as_mut().and_then(|journaling| journaling.state.take_flushed())
        {
            self.done.push(Done::Flush(waiter));
        }
    }

    /// All that the device cache had to write for a flush is on flash: the flush is done when the journal is there as well, which
    /// with capacitors it counts as being until the power is cut.
    pub(super) fn data_flushed(&mut self, waiter: Option<RequestId>) {
        match &mut self.power_loss.journaling {
            Some(Journaling { state, has_capacitors })
                if state.has_unwritten() && (waiter.is_none() || !*has_capacitors) =>
            {
                state.flush(waiter);
            }
            _ => self.done.push(Done::Flush(waiter)),
        }
    }
}
