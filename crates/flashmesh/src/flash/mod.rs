//! The flash array: its shape, its timing, and what each die is doing.

pub mod geometry;
