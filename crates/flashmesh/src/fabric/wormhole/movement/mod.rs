//! Movement of flits over granted links: the general case, and fast paths for packets that nothing stops.

mod cut_through;
mod known_path;
mod run_movement;
