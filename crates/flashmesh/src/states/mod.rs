//! States of drives that are kept in a folder between runs: found by what decides them, bounded in size, never trusted further than they check out.
//!
//! A state is a file of its own, named by the hash of what decides it: [`StateKey`] counts the version of the format and the sources of this
//! build as well, so that no build reads what another one wrote. Files are written beside their place and renamed, so many processes may use
//! one folder. What goes wrong with it is noted, and costs the time to prepare the state anew.

mod bits;
mod file;
mod folder;

pub use bits::{BitReader, BitWriter, bits_for};
pub use file::{About, Kept, StateKey};
pub use folder::StateFolder;
