//! Counters of the scouts.

use crate::quantities;

quantities! {
    /// Work of the scouts of Venice.
    #[derive(Default, Eq)]
    Counters as "Scouts" {
        /// Scouts sent.
        sent: u64, in "scouts";
        /// Of `sent`, scouts that came back without a path.
        failed: u64, in "scouts";
        /// Paths, each of a command or of data, whose first scout failed (Venice, ISCA 2023, Fig 13).
        failed_first: u64, in "paths";
        /// Links that scouts crossed in search of a path, forward and back; not the way back over a reserved path.
        steps: u64, in "steps";
        /// Of `steps`, steps forward over a link that does not lead nearer to the chip.
        misroutes: u64, in "steps";
        /// Of `steps`, steps back to the router or controller that the scout came from.
        backtracks: u64, in "steps";
        /// Circuits set up, by their number of links: element n counts circuits of n links, including the links of the
        /// controller and the chip.
        circuit_lengths: Vec<u64>, in "circuits";
    }
}

impl Counters {
    /// Counts a circuit of `links` links.
    #[inline]
    pub(super) fn circuit(&mut self, links: u32) {
        let links = links as usize;
        if self.circuit_lengths.len() <= links {
            self.circuit_lengths.resize(links + 1, 0);
        }
        self.circuit_lengths[links] += 1;
    }
}
