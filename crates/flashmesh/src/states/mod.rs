//! Prepared drive states, stored in a folder between runs. They are found by a hash of all their inputs, bounded in total size, and verified when
//! read.
//!
//! Each state is a file named by its [`StateKey`]. The key includes the version of the format and the sources of this build, so that no build reads a
//! state of another one. A file is written under a temporary name and then renamed, so several processes may share a folder. A problem with the
//! folder is noted, and the state is then prepared anew.

mod bits;
mod file;
mod folder;

pub use bits::{BitReader, BitWriter, bits_for};
pub use file::{About, Kept, StateKey};
pub use folder::StateFolder;
