//! Addresses, times and ranges, computed from the configuration alone.
//!
//! The simulator computes these with shifts, tables and precomputed counts. This module computes them anew by plain division, page by page and plane
//! by plane, so that they do not share errors. It calls no arithmetic of the drive: it shares only types (ids, units) and the declared parameters.

mod cuts;
mod homes;
mod slc;
mod spaces;
#[cfg(test)]
mod tests;
mod times;
mod translation;
mod units;
mod unwritten;

pub(super) use cuts::{Cuts, Extent};
pub(super) use homes::Homes;
pub(super) use slc::{PageAt, SlcArea};
pub(super) use spaces::{Space, space_of_stream, spaces};
pub(super) use times::Times;
pub(super) use translation::MapPages;
pub(super) use units::{in_units, pages_per_unit, parity_stripe, units_per_page, units_per_program};
pub(super) use unwritten::Unwritten;
