//! Statistics for reports, independent of the compiled variant of the simulation (the model), so that the code of reports is compiled only once.

use crate::datapath::dies::DieEntry;
use crate::datapath::{Counters, TransferCounts};
use crate::fabric::{Fabric, FabricInfo};
use crate::measure::lower_bound::DieWork;
use crate::power::energy::DriveActivity;
use crate::units::Time;

/// Fabric and dies of a [`Datapath`](super::Datapath), with counts of transfers, operations and suspensions, for reports.
#[derive(Clone, Copy)]
pub struct DatapathStats<'a> {
    pub fabric: &'a dyn Fabric,
    pub info: &'static FabricInfo,
    pub transfers: &'a TransferCounts,
    pub counters: &'a Counters,
    pub dies: &'a [DieEntry],
    pub(super) has_read_cache: bool,
    pub(super) dies_take_turns: bool,
    /// Number of suspensions of programs and erases.
    pub suspensions: u64,
}

impl<'a> DatapathStats<'a> {
    /// Returns the operations and transfers up to `end`, for the power model.
    pub fn activity(self, end: Time) -> DriveActivity<'a> {
        DriveActivity {
            work: self.counters.work,
            info: self.info,
            layout: self.fabric.layout(),
            usage: self.fabric.usage(),
            dies: self.dies.len() as u32,
            end,
        }
    }

    pub fn work(self) -> Vec<DieWork> {
        self.dies.iter().map(|entry| entry.all_work(self.has_read_cache())).collect()
    }

    /// Returns whether a chip executes one operation at a time.
    pub fn dies_take_turns(self) -> bool {
        self.dies_take_turns
    }

    /// Returns whether the array can sense the next page while the data of the previous page is in the register (`flash.read-cache`).
    pub fn has_read_cache(self) -> bool {
        self.has_read_cache
    }
}
