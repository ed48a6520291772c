//! Tests of the path between controllers and dies: interconnects, packet networks, scouts, and die timing.
#![allow(missing_docs)]

#[path = "../support/mod.rs"]
mod support;

mod closed_form;
mod flash_path;
mod held_meshes;
mod held_model;
mod held_paths;
mod independent_planes;
mod interconnects;
mod nossd;
mod outputs;
mod own_fabric;
mod page_types;
mod recordings;
mod suspension;
mod timing_gates;
mod venice_drive;
mod venice_scouts;
mod wormhole;
