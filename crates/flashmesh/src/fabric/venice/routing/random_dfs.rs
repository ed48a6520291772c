//! Random depth-first search: Venice without its preference for minimal paths.

use super::super::ports::PortSet;
use super::RoutingAlgorithm;

/// The routing that takes any open port.
#[derive(Clone, Copy, Debug)]
pub struct RandomDfs;

impl RoutingAlgorithm for RandomDfs {
    #[inline]
    fn candidates(&self, _nearer: PortSet, open: PortSet) -> PortSet {
        open
    }
}
