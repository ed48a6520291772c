//! Random depth-first search: the routing of Venice without its preference for minimal paths.

use super::super::mesh::ports::PortSet;
use super::RoutingAlgorithm;

/// Routing by any open port, whether or not it leads nearer to the destination.
#[derive(Clone, Copy, Debug)]
pub struct RandomDfs;

impl RoutingAlgorithm for RandomDfs {
    #[inline]
    fn candidates(&self, _nearer: PortSet, open: PortSet) -> PortSet {
        open
    }
}
