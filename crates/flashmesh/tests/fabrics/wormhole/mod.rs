//! The wormhole network against single flits, against BookSim 2, and at saturation.

mod booksim;
mod exact;
mod oracle;
mod saturation;
