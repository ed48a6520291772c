//! Minimal adaptive routing: the routing of Venice without detours.

use super::super::mesh::ports::PortSet;
use super::RoutingAlgorithm;

/// Routing by any open port that leads nearer to the destination. A search tries all minimal paths, so it finds a free one if there is any.
#[derive(Clone, Copy, Debug)]
pub struct MinimalAdaptive;

impl RoutingAlgorithm for MinimalAdaptive {
    #[inline]
    fn candidates(&self, nearer: PortSet, open: PortSet) -> PortSet {
        nearer.intersection(open)
    }
}
