//! Programs of pages, written or moved, step by step: the choice of the plane, the allocation of the page, and the commit.

mod commit;
mod pages;
mod placement;
pub(super) mod untimed;
