//! Output of a fabric: grants, events, and records for probes (observers of a run).

use crate::ids::{ChannelId, ChipId, DieId, LinkId};
use crate::names;
use crate::units::Time;

use super::{Cause, FabricEvent, Grant};

/// A granted path, with the reason and the end of the wait for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GrantRecord {
    /// Die, phase and path that were granted.
    pub grant: Grant,
    /// Start of the successful attempt to set up the path, and end of the wait. Only with Venice scouts does the set-up take time.
    pub since: Time,
    /// Resource that blocked the first attempt to set up the path; meaningless if that attempt succeeded.
    pub cause: Cause,
}

/// The use of a link by one transfer, or by the scout that reserves a circuit for the transfer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LinkUse {
    /// Link that was used.
    pub link: LinkId,
    /// Die for which the link was held.
    pub die: DieId,
    /// Start of the use: the reservation or grant of the link; in a packet network, the crossing of the packet's head.
    pub from: Time,
    /// End of the use: the release of the link; in a packet network, the end of the crossing of the packet's tail.
    pub until: Time,
}

/// Outcome of the search of a Venice scout (a packet that searches and reserves a path), predicted at its launch by a flood fill over the free links.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SearchPrediction {
    /// The scout finds a path.
    Finds,
    /// The scout finds no path.
    Fails {
        /// Minimum number of links that the scout crosses, forward and back, until it returns to its controller.
        least: u64,
        /// Maximum number of links that the scout crosses, forward and back, until it returns to its controller.
        most: u64,
    },
}

/// An ended search of a Venice scout (a packet that searches and reserves a path), with its predicted outcome for comparison. No other scout was in
/// flight meanwhile, and no circuit was torn down.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ScoutSearch {
    /// Die for which the scout searched a path.
    pub die: DieId,
    /// Outcome predicted when the scout was launched.
    pub prediction: SearchPrediction,
    /// Whether the scout found a path.
    pub found: bool,
    /// Number of links that the scout crossed, forward and back. If it found a path, its return over the path is not counted.
    pub steps: u64,
}

names! {
    /// A move of a Venice scout, a packet that searches and reserves a path.
    ScoutMove {
        /// The scout leaves its controller.
        Sent = "sent",
        /// The scout reserves a link and crosses it.
        Forward = "forward",
        /// The scout backtracks over its link of arrival, which is released.
        Back = "back",
        /// The scout reserves the chip pins. The circuit is complete, and the scout returns over it to its controller.
        Found = "found",
        /// The scout is back at its controller without a path.
        Failed = "failed",
    }
}

/// A step of a Venice scout (a packet that searches and reserves a path), for probes (observers of a run).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ScoutStep {
    /// Start of the step, at the router or controller where the scout decides. The move lasts until the next step.
    pub at: Time,
    /// Controller that launched the scout.
    pub controller: ChannelId,
    /// Die for which the scout searches a path.
    pub die: DieId,
    /// Move of the scout.
    pub step: ScoutMove,
    /// Chip of the router that the scout moves to, or at which it found the path; `None` at the controller.
    pub to: Option<ChipId>,
}

/// Output of a fabric: grants, events, and records for probes (observers of a run).
#[derive(Clone, Debug)]
pub struct Outbox {
    /// New grants, in order. The simulation removes them and lets the dies send.
    pub grants: Vec<GrantRecord>,
    /// Number of the current batch: path requests made together, such as for the pages of one host request; 0 outside of a batch. Used only by
    /// `fabric.arbitration = "data-first-together"`.
    pub batch: u32,
    /// Events of the fabric, each with its time. The simulation removes and schedules them.
    pub events: Vec<(Time, FabricEvent)>,
    /// Time of the next call of [`Fabric::wake`](super::Fabric::wake) with token 0; [`Time::MAX`] if none is needed. The call precedes all other
    /// events of that time, so the lookahead of a fabric does not affect results.
    pub wake_at: Time,
    /// Time before which no event of the drive is due. A woken fabric can simulate its own activity up to this time at once.
    pub lookahead_until: Time,
    /// Uses of links that have ended; `None` unless a probe that needs them is attached, such as an oracle (a probe that checks the run).
    pub link_uses: Option<Vec<LinkUse>>,
    /// Steps of the scouts of Venice, in order; recorded only if `link_uses` is `Some`.
    pub scout_steps: Vec<ScoutStep>,
    /// Ended scout searches whose outcome was predicted; recorded only if `link_uses` is `Some`.
    pub searches: Vec<ScoutSearch>,
}

impl Default for Outbox {
    fn default() -> Outbox {
        Outbox {
            grants: Vec::new(),
            batch: 0,
            events: Vec::new(),
            wake_at: Time::MAX,
            lookahead_until: Time::ZERO,
            link_uses: None,
            scout_steps: Vec::new(),
            searches: Vec::new(),
        }
    }
}

impl Outbox {
    /// Adds the use of `link` for `die` between the times `from` and `until`, if `link_uses` is `Some`.
    pub fn record_use(&mut self, link: LinkId, die: DieId, from: Time, until: Time) {
        if let Some(uses) = &mut self.link_uses {
            uses.push(LinkUse { link, die, from, until });
        }
    }

    /// Returns whether the outbox has link uses, scout steps or searches, which the simulation passes to the probes.
    pub fn has_records(&self) -> bool {
        let Some(uses) = &self.link_uses else { return false };
        !(uses.is_empty() && self.scout_steps.is_empty() && self.searches.is_empty())
    }
}
