//! `[precondition]`

use crate::config::choices::choices;
use crate::config::section::section;
use crate::units::Share;

choices! {
    /// The state of the drive before the first request.
    PreconditionKind {
        /// Nothing written.
        None = "none",
        /// Every logical page written once, in order.
        Sequential = "sequential",
        /// Uniform random writes until garbage collection has reached its steady state.
        Random = "random",
    }
}

section! {
    /// Preconditioning: the state of the drive before the first request.
    Precondition, "precondition" {
        /// Way in which the drive was written before the run.
        kind: PreconditionKind = PreconditionKind::None, needs plain;
        /// Share of the logical space that was written, from its start.
        fill: f64 as Share = 1.0, in 0.0..=1.0, with "kind" = ["\"sequential\"", "\"random\""], needs plain;
    }
}
