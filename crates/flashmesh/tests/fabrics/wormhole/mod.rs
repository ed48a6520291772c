//! Tests of the wormhole network: comparisons with a simulation of single flits and with the simulator BookSim 2, and the network at saturation.

mod booksim;
mod exact;
mod oracle;
mod saturation;
