//! Operations: from the grant of a command path to the end of the array work.

mod array;
mod array_steps;
mod choose;
mod grant;
mod multi_plane;
mod start;

pub use array::Ended;
pub use grant::Next;
pub use start::Beginning;

pub(super) use array_steps::ArraySteps;
pub(super) use grant::GrantedPath;
pub(super) use multi_plane::page_may_join;
