//! The section `[precondition]` of a configuration: its parameters, and the types of their values.

use crate::config::choices::choices;
use crate::config::section::section;
use crate::units::Share;

choices! {
    /// The state of the drive before the first request.
    PreconditionKind {
        /// Nothing is written before the first request.
        None = "none",
        /// Logical pages written once each, in order.
        Sequential = "sequential",
        /// Uniform random writes until garbage collection has reached its steady state.
        Random = "random",
        /// Blocks full of invalid pages, as many as fit before the first collection. Valid pages are spread evenly over these blocks, so
        /// that each collection moves equally many pages, and few if `fill` is small.
        Aged = "aged",
    }
}

section! {
    /// Preconditioning: the state of the drive before the first request.
    Precondition, "precondition" {
        /// Way in which the drive was written before the run.
        kind: PreconditionKind = PreconditionKind::None, needs plain;
        /// Share of the logical space that was written, from the start of the space. With `kind = "aged"`, share of the logical space with
        /// valid data.
        fill: f64 as Share = 1.0, in 0.0..=1.0, with "kind" = ["\"sequential\"", "\"random\"", "\"aged\""], needs plain;
        /// Share of the pages of each plane that were programmed, in whole blocks. Capped so that no plane needs garbage collection yet; the default
        /// fills each plane up to this cap.
        written: f64 as Share = 1.0, in 0.0..=1.0, with "kind" = ["\"aged\""], needs plain;
    }
}
