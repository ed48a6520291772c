//! `[namespace.NAME]`

use super::Indices;
use crate::config::section::section;
use crate::units::Bytes;

section! {
    /// A part of the space that the host sees. Such parts follow one another in the order of the text.
    Namespace, "namespace.NAME" {
        /// Its space, rounded down to whole pages.
        capacity: Option<Bytes> = None, unset "an equal share of what the other namespaces leave",
            in Bytes::new(512)..=Bytes::new(1 << 50), needs plain;
        /// The channels that its pages live on.
        channels: Option<Indices> = None, unset "all", in 0..=1023, needs plain;
        /// The chips of each channel that its pages live on.
        ways: Option<Indices> = None, unset "all", in 0..=1023, needs plain;
        /// The dies of each chip that its pages live on.
        dies: Option<Indices> = None, unset "all", in 0..=63, needs plain;
        /// The planes of each die that its pages live on.
        planes: Option<Indices> = None, unset "all", in 0..=7, needs plain;
    }
}
