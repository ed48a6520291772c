//! Writes, step by step: the choice of the plane, the allocation of the page, and the commit of the finished program.

mod commit;
mod pages;
mod placement;
pub(super) mod untimed;
