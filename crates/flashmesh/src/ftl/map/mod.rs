//! The map: location of each logical page, computed or in tables, and the translation pages that store the map on flash.

mod default_location;
pub(super) mod initial_map;
pub(super) mod mapping;
pub(super) mod translation;
