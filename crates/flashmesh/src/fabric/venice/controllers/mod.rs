//! Flash controllers and chip pins: the path requests that wait for them, and the choice of the request that is served next.

pub(super) mod chip_pins;
pub(super) mod circuit_quota;
mod controller_assignment;
pub(super) mod flash_controller;
pub(super) mod flash_controllers;
mod free_controllers;
pub(super) mod path_queue;
