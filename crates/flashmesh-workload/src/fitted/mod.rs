//! Profiles fitted to traces: bounded descriptions of traces, and traces of any length generated from them.
//!
//! A fit and a source share one [`history::History`] of the requests so far. The fit describes each request by it (the end of a
//! run, a page used four times that was touched about 60 requests ago, a fresh page), counts the descriptions in segments of
//! consecutive requests and forgets the addresses. The source draws the descriptions of a segment in another order and chooses, in
//! a history of its own, an address of the same description.

mod addresses;
mod bag;
mod classes;
mod file;
mod fit;
mod history;
mod model;
mod pages;
mod segments;
mod source;

pub use fit::{PROFILE_BYTES_MAX, fit, fit_requests};
pub use model::Model;
pub use source::FittedSource;
