//! Minimal adaptive routing: Venice without its detours.

use super::super::ports::Ports;
use super::RoutingAlgorithm;

/// Any open port that leads nearer. It searches all minimal paths, so it finds one whenever one is free.
#[derive(Clone, Copy, Debug)]
pub struct MinimalAdaptive;

impl RoutingAlgorithm for MinimalAdaptive {
    #[inline]
    fn candidates(&self, nearer: Ports, open: Ports) -> Ports {
        nearer.and(open)
    }
}
