//! Counters of the scouts.

use crate::quantities;

quantities! {
    /// Counts of the steps and results of scouts.
    #[derive(Default, Eq)]
    Counters as "Scouts" {
        /// Number of scouts sent.
        sent: u64, in "scouts";
        /// Number of scouts, out of `sent`, that returned without a path.
        failed: u64, in "scouts";
        /// Number of paths (each for a command or for data) whose first scout failed (Venice, ISCA 2023, Fig 13).
        failed_first: u64, in "paths";
        /// Number of links that scouts crossed in search of a path, forward and back. Returns over a reserved path are not counted.
        steps: u64, in "steps";
        /// Number of steps, out of `steps`, forward over a link that does not lead nearer to the chip.
        misroutes: u64, in "steps";
        /// Number of steps, out of `steps`, back to the previous router or to the controller.
        backtracks: u64, in "steps";
        /// Number of circuits by length: element n counts circuits of n links, including the links of the controller and of the chip.
        circuit_lengths: Vec<u64>, in "circuits";
    }
}

impl Counters {
    /// Counts a reserved circuit with `links` links, including controller link and chip link.
    #[inline]
    pub(in super::super) fn circuit(&mut self, links: u32) {
        let links = links as usize;
        if self.circuit_lengths.len() <= links {
            self.circuit_lengths.resize(links + 1, 0);
        }
        self.circuit_lengths[links] += 1;
    }
}
