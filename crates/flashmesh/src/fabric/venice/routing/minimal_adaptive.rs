//! Minimal adaptive routing: Venice without detours.

use super::super::ports::Ports;
use super::RoutingAlgorithm;

/// Routing that takes any open port that leads nearer. It searches all minimal paths, so it finds a free one if there is any.
#[derive(Clone, Copy, Debug)]
pub struct MinimalAdaptive;

impl RoutingAlgorithm for MinimalAdaptive {
    #[inline]
    fn candidates(&self, nearer: Ports, open: Ports) -> Ports {
        nearer.and(open)
    }
}
