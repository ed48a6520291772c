//! What the scouts did.

use serde::Serialize;

/// Counts over all scouts of a network.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Counters {
    /// Scouts sent.
    pub sent: u64,
    /// Scouts that came back without a path.
    pub failed: u64,
    /// Links that scouts crossed in search of a path, forward and backtracking; not the way back over a reserved one.
    pub steps: u64,
    /// Steps forward over a port that does not lead nearer to the destination.
    pub misroutes: u64,
    /// Steps back to the upstream router, or to the controller.
    pub backtracks: u64,
    /// Circuits set up, by the number of their links: that of the controller, those between routers, and that of the chip.
    pub circuit_lengths: Vec<u64>,
}

impl Counters {
    /// Counts a circuit of `links`.
    #[inline]
    pub(super) fn circuit(&mut self, links: u32) {
        let links = links as usize;
        if self.circuit_lengths.len() <= links {
            self.circuit_lengths.resize(links + 1, 0);
        }
        self.circuit_lengths[links] += 1;
    }
}
