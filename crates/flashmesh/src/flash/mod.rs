//! The flash array: its shape, its timing, and what each die is doing.

pub mod die;
mod divisor;
pub mod geometry;
pub mod namespace;
pub mod page_type;
pub mod timing;
