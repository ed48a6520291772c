//! The section `[area]` of a configuration.

use crate::config::section::section;

section! {
    /// Area of the parts of the drive, which has no effect on times.
    Area, "area" {
        /// Area of a die in mm2: 100 for a chip of one die (Venice, ISCA 2023, section 6.6), 72 for a chip of 4 GB (Design for Scalability, PACT
        /// 2014, section 5.5).
        die_mm2: f64 = 100.0, in 1.0..=10_000.0, needs plain;
    }
}
