//! `[pnssd]`

use crate::config::choices::choices;
use crate::config::section::section;

choices! {
    /// What the controllers of pnSSD drive.
    Controllers {
        /// Each channel has a controller of its own: two controllers for each row.
        Independent = "independent",
        /// Controller i drives horizontal channel i and vertical channel i, one of them at a time.
        Shared = "shared",
    }
}

section! {
    /// The horizontal and vertical channels of pnSSD, and their controllers.
    Pnssd, "pnssd", with "fabric.kind" = ["\"pnssd\""] but for [] {
        /// What the controllers drive.
        controllers: Controllers = Controllers::Independent, needs plain;
        /// Whether the data of a transfer goes half over each channel of the chip when both are free.
        split_page: bool = false, needs plain;
    }
}
