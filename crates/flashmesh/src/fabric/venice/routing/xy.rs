//! Dimension-order routing: Venice without path diversity.

use super::super::mesh::Place;
use super::super::ports::{Port, Ports};
use super::RoutingAlgorithm;

/// First along the row, then along the column: one path, free or not.
#[derive(Clone, Copy, Debug)]
pub struct Xy;

impl RoutingAlgorithm for Xy {
    #[inline]
    fn candidates(&self, here: Place, target: Place, open: Ports) -> Ports {
        const HORIZONTAL: Ports = Ports::of(Port::East).with(Ports::of(Port::West));
        let minimal = here.towards(target);
        let first = if here.column == target.column { minimal } else { minimal.and(HORIZONTAL) };
        first.and(open)
    }
}
