//! The section `[namespace.NAME]` of a configuration.

use super::Indices;
use crate::config::section::section;
use crate::units::Bytes;

section! {
    /// A namespace: a part of the space that the host sees. Namespaces follow one another in the order of the text.
    Namespace, "namespace.NAME" {
        /// Capacity, rounded down to whole pages.
        capacity: Option<Bytes> = None, unset "an equal share of what the other namespaces leave",
            in Bytes::new(512)..=Bytes::new(1 << 50), needs plain;
        /// Channels that hold the pages of the namespace.
        channels: Option<Indices> = None, unset "all", in 0..=1023, needs plain;
        /// Chips of each channel that hold the pages of the namespace.
        ways: Option<Indices> = None, unset "all", in 0..=1023, needs plain;
        /// Dies of each chip that hold the pages of the namespace.
        dies: Option<Indices> = None, unset "all", in 0..=63, needs plain;
        /// Planes of each die that hold the pages of the namespace.
        planes: Option<Indices> = None, unset "all", in 0..=7, needs plain;
    }
}
