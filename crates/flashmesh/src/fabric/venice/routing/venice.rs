//! The routing of Venice: non-minimal and fully adaptive.

use super::super::mesh::ports::PortSet;
use super::RoutingAlgorithm;

/// Algorithm 1 of Venice, ISCA 2023, section 4.3: any open port that leads nearer to the destination; if there is none, any open port.
#[derive(Clone, Copy, Debug)]
pub struct VeniceRouting;

impl RoutingAlgorithm for VeniceRouting {
    #[inline]
    fn candidates(&self, nearer: PortSet, open: PortSet) -> PortSet {
        let minimal = nearer.intersection(open);
        if minimal.is_empty() { open } else { minimal }
    }
}
