//! The flash array: its shape, its timing, and what each die is doing.

pub mod die;
pub mod divisor;
pub mod geometry;
pub mod namespace;
mod operation;
pub mod page_type;
pub mod timing;
