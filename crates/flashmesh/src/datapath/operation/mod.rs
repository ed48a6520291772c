//! Operations: from the grant of a command path to the end of the array work.

mod array;
mod array_steps;
mod grant;
mod grant_at_chip;
mod lead;
mod rules;
mod start;

pub use array::ArrayOutcome;
pub use grant::GrantOutcome;
pub use start::NewOperation;

pub(super) use grant::GrantedPath;
pub(super) use rules::OperationRules;
