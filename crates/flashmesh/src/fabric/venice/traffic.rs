//! Traffic of the circuits.

use crate::fabric::{LinkUsage, Payload, TransferPhase};
use crate::ids::LinkId;
use crate::units::Time;

/// Usage of each link, and the number of links crossed by all transfers.
#[derive(Clone, Debug)]
pub(super) struct Traffic {
    usage: Vec<LinkUsage>,
    hops: u64,
}

impl Traffic {
    /// Creates counters for `links` links.
    pub fn new(links: u32) -> Traffic {
        Traffic { usage: vec![LinkUsage::default(); links as usize], hops: 0 }
    }

    /// Counts `payload` on all links of `circuit` from `now` on, for `duration`.
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

    /// Returns the number of links crossed by all transfers.
    pub fn hops(&self) -> u64 {
        self.hops
    }
}
