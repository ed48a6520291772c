//! Programs under way that the policy sent.

use crate::ids::{ChannelId, DieId};

/// How many there are on each die, and on each channel.
#[derive(Clone, Debug)]
pub(super) struct Programs {
    of_die: Vec<u32>,
    of_channel: Vec<u32>,
}

impl Programs {
    /// None anywhere.
    pub(super) fn none(dies: u32, channels: u32) -> Programs {
        Programs { of_die: vec![0; dies as usize], of_channel: vec![0; channels as usize] }
    }

    /// One goes to `die` of `channel`.
    pub(super) fn begin(&mut self, die: DieId, channel: ChannelId) {
        self.of_die[die.index()] += 1;
        self.of_channel[channel.index()] += 1;
    }

    /// A program of `die` on `channel` has ended, which the policy need not have sent.
    pub(super) fn end(&mut self, die: DieId, channel: ChannelId) {
        for count in [&mut self.of_die[die.index()], &mut self.of_channel[channel.index()]] {
            *count = count.saturating_sub(1);
        }
    }

    /// Whether there is none on `die`.
    pub(super) fn is_without(&self, die: DieId) -> bool {
        self.of_die[die.index()] == 0
    }

    /// Whether there is none anywhere.
    pub(super) fn is_none(&self) -> bool {
        self.of_channel.iter().all(|&count| count == 0)
    }

    /// How many there are on each channel.
    pub(super) fn by_channel(&self) -> &[u32] {
        &self.of_channel
    }
}
