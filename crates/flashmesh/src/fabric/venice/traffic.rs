//! Traffic of the transfers over circuits.

use crate::fabric::{LinkUsage, Payload, TransferPhase};
use crate::ids::LinkId;
use crate::units::Time;

/// Usage of each link, indexed by link, and total number of link crossings of all transfers.
#[derive(Clone, Debug)]
pub(super) struct Traffic {
    usage: Vec<LinkUsage>,
    hops: u64,
}

impl Traffic {
    pub fn new(links: u32) -> Traffic {
        Traffic { usage: vec![LinkUsage::default(); links as usize], hops: 0 }
    }

    /// Counts a transfer of `payload` in `phase`, which starts at `now` and takes `duration`, on each link of `circuit`.
    #[inline]
    pub fn count(&mut self, circuit: &[LinkId], phase: TransferPhase, payload: Payload, now: Time, duration: Time) {
        for link in circuit {
            self.usage[link.index()].count(phase, payload, now, duration);
        }
        self.hops += circuit.len() as u64;
    }

    pub fn usage(&self) -> &[LinkUsage] {
        &self.usage
    }

    /// Returns the total number of link crossings of all transfers.
    pub fn hops(&self) -> u64 {
        self.hops
    }
}
