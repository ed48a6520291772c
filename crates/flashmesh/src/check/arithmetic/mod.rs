//! Addresses, times and ranges, computed from the configuration alone.
//!
//! The simulator computes these with shifts, tables and precomputed counts. This module computes them anew by plain division, page by page and plane
//! by plane, so that they do not share errors. It calls no arithmetic of the drive: it shares only types (ids, units) and the declared parameters.

mod array_tree;
mod expected_times;
mod mapping_units;
mod namespace_spans;
mod page_split;
mod slc;
#[cfg(test)]
mod tests;
mod translation;
mod unwritten;

pub(super) use array_tree::ArrayTree;
pub(super) use expected_times::ExpectedTimes;
pub(super) use mapping_units::{in_units, pages_per_unit, parity_stripe, units_per_page, units_per_program};
pub(super) use namespace_spans::{NamespaceSpan, space_of_stream, spaces};
pub(super) use page_split::{Extent, PageSplit};
pub(super) use slc::{PageAt, SlcArea};
pub(super) use translation::MapPages;
pub(super) use unwritten::Unwritten;
