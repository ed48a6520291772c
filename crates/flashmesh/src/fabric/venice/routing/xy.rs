//! Dimension-order (XY) routing: the search of Venice along a single path.

use super::super::mesh::ports::{Port, PortSet};
use super::RoutingAlgorithm;

/// Routing first along the row, then along the column: a single path. The search fails if any link of that path is busy.
#[derive(Clone, Copy, Debug)]
pub struct Xy;

impl RoutingAlgorithm for Xy {
    #[inline]
    fn candidates(&self, nearer: PortSet, open: PortSet) -> PortSet {
        const HORIZONTAL: PortSet = PortSet::from_port(Port::East).union(PortSet::from_port(Port::West));
        let along_the_row = nearer.intersection(HORIZONTAL);
        let first = if along_the_row.is_empty() { nearer } else { along_the_row };
        first.intersection(open)
    }
}
