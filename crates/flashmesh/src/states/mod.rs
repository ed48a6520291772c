//! Prepared drive states, stored in a folder between runs. A state is found by a hash of all its inputs, and verified when read. The total size of
//! the states is bounded.
//!
//! Each state is a file named by its [`StateKey`]. The key includes the version of the format and the sources of this build, so that no build reads a
//! state of another build. A file is written under a temporary name and then renamed, so several processes may share a folder. A problem with the
//! folder causes a note to the user, and the state is prepared anew.

mod bits;
mod file;
mod folder;

pub use bits::{BitReader, BitWriter, bits_for};
pub use file::{StateKey, StateSummary, StoredState};
pub use folder::StateFolder;
