//! What the circuits carried, as it is reported.

use crate::fabric::{LinkUsage, Payload, TransferPhase};
use crate::ids::LinkId;
use crate::units::Time;

/// The use of each link, and the links of all transfers together.
#[derive(Clone, Debug)]
pub(super) struct Traffic {
    usage: Vec<LinkUsage>,
    hops: u64,
}

impl Traffic {
    /// Nothing went over any of so many links.
    pub fn new(links: u32) -> Traffic {
        Traffic { usage: vec![LinkUsage::default(); links as usize], hops: 0 }
    }

    /// `payload` goes over all links of `circuit` from `now` on, for `duration`.
    #[inline]
    pub fn count(&mut self, circuit: &[LinkId], phase: TransferPhase, payload: Payload, now: Time, duration: Time) {
        for link in circuit {
            self.usage[link.index()].count(phase, payload, now, duration);
        }
        self.hops += circuit.len() as u64;
    }

    /// The use of each link.
    pub fn usage(&self) -> &[LinkUsage] {
        &self.usage
    }

    /// Links of all transfers together.
    pub fn hops(&self) -> u64 {
        self.hops
    }
}
