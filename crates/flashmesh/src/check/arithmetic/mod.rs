//! Addresses, times and ranges, from the configuration alone.
//!
//! What the simulator computes with shifts, tables and counts made before the run, this computes anew by plain division, page by
//! page and plane by plane, so that an error in the one is not in the other. Nothing here calls the arithmetic of the drive;
//! only the names of things (ids, units) and the declared parameters are shared.

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
