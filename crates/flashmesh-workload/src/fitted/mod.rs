//! Fitted profiles: compact descriptions of traces, from which traces of any length are generated.
//!
//! Fitting and generation use the same kind of [`history::History`] of earlier requests. Fitting describes each request relative
//! to the history (the end of a run, a page used four times that was touched about 60 requests ago, a fresh page), counts the
//! descriptions per segment of consecutive requests and discards the addresses. Generation draws the descriptions of a segment in
//! another order and chooses, with a history of its own requests, an address that matches each description.

mod addresses;
mod classes;
mod file;
mod fit;
mod fitted_profile;
mod history;
mod pages;
mod segments;
mod shuffle_bag;
mod source;

pub use fit::{PROFILE_BYTES_MAX, fit, fit_requests};
pub use fitted_profile::FittedProfile;
pub use source::FittedSource;
