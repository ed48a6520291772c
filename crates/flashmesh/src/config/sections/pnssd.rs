//! The section `[pnssd]` of a configuration: its parameters, and the types of their values.

use crate::config::choices::choices;
use crate::config::section::section;

choices! {
    /// The channels that a controller of pnSSD drives.
    Controllers {
        /// One channel per controller: two controllers for each row.
        Independent = "independent",
        /// Two channels per controller: controller i drives horizontal channel i and vertical channel i, one of them at a time.
        Shared = "shared",
    }
}

section! {
    /// The horizontal and vertical channels of pnSSD, and their controllers.
    Pnssd, "pnssd", with "fabric.kind" = ["\"pnssd\""] but for [] {
        /// Channels that a controller drives.
        controllers: Controllers = Controllers::Independent, needs plain;
        /// Whether the data of a transfer is split evenly over both channels of the chip if both are free.
        split_page: bool = false, needs plain;
    }
}
