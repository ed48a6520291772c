//! Rules for path requests, derived from the configuration.

use crate::config::{Arbitration, Config};
use crate::fabric::FabricInfo;

#[derive(Clone, Copy, Debug)]
pub(in super::super) struct PathRules {
    /// Channel arbitration (`fabric.arbitration`); `CommandFirst` for interconnects that do not support this option.
    arbitration: Arbitration,
    /// Whether the fabric is notified of the host request of each path request (`venice.circuits-per-request`).
    pub(super) announces_requests: bool,
}

impl PathRules {
    pub(super) fn new(config: &Config, info: &FabricInfo) -> PathRules {
        PathRules {
            arbitration: if info.supports_arbitration() {
                config.fabric.arbitration
            } else {
                Arbitration::CommandFirst
            },
            announces_requests: config.venice.circuits_per_request.is_some(),
        }
    }

    /// Returns whether channel arbitration depends on the owner (request, GC or map) of the data that leaves a die.
    #[inline]
    pub(super) fn arbitrates_by_owner(self) -> bool {
        self.arbitration.is_data_first_by_chip()
    }

    /// Returns whether a die that has sent data requests its next path before it releases the current one, so that arbitration at the release
    /// considers it.
    #[inline]
    pub(in super::super) fn requests_before_release(self) -> bool {
        self.arbitration.is_data_first_by_chip() || self.arbitration == Arbitration::NextCommandFirst
    }
}
