//! Oracles of transfers over the interconnect: links, path searches, paths, and the commands and data that paths carry.

pub(super) mod commands;
pub(super) mod data;
pub(super) mod holds;
pub(super) mod links;
pub(super) mod paths;
pub(super) mod searches;
