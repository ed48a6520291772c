//! What a link carried: the counters every interconnect keeps alike.

use crate::units::{Bytes, Time};

use super::{Leg, Payload};

/// What one link (a channel, a wire bundle between routers, the pins of a chip) carried.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LinkUsage {
    /// Time with bytes on the move.
    pub busy: Time,
    /// Bytes towards the chips.
    pub bytes_in: Bytes,
    /// Bytes from the chips to controllers.
    pub bytes_out: Bytes,
    /// Bytes from chip to chip.
    pub bytes_across: Bytes,
}

impl LinkUsage {
    /// Counts one transfer of `duration`.
    #[inline]
    pub fn count(&mut self, leg: Leg, payload: Payload, duration: Time) {
        self.busy += duration;
        match leg {
            Leg::Command => self.bytes_in += payload.bytes,
            Leg::DataOut => self.bytes_out += payload.bytes,
            Leg::Copy => self.bytes_across += payload.bytes,
        }
    }
}
