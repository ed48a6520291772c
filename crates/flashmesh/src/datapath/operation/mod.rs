//! Operations: from the grant of a command path to the end of the array work.

mod array;
mod array_steps;
mod choose;
mod grant;
mod grant_at_chip;
mod start;

pub use array::ArrayOutcome;
pub use grant::GrantOutcome;
pub use start::NewOperation;

use array_steps::ArraySteps;
pub(super) use grant::GrantedPath;
