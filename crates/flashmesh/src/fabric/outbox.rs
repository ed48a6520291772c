//! Output of a fabric: grants, events, and records for observers.

use crate::ids::{ChannelId, ChipId, DieId, LinkId};
use crate::names;
use crate::units::Time;

use super::{Cause, FabricEvent, Grant};

/// A granted path, with the history of the request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GrantRecord {
    /// Die, phase and path of the grant.
    pub grant: Grant,
    /// Start of the successful attempt. The die waited until then; path setup took the time from then on.
    pub since: Time,
    /// Resource that blocked the first attempt; meaningless if the first attempt succeeded.
    pub cause: Cause,
}

/// The use of a link by one transfer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LinkUse {
    /// Link that was used.
    pub link: LinkId,
    /// The die whose transfer held the link.
    pub die: DieId,
    /// Start of the use.
    pub from: Time,
    /// End of the use.
    pub until: Time,
}

/// Outcome that a flood fill over the free links predicts for a search.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SearchPrediction {
    /// The search finds a path.
    Finds,
    /// The search fails.
    Fails {
        /// Minimum number of links that the search crosses.
        least: u64,
        /// Maximum number of links that the search crosses.
        most: u64,
    },
}

/// An ended search for a path, during which no other search reserved or released links.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ScoutSearch {
    /// Die for which a path was searched.
    pub die: DieId,
    /// Predicted outcome.
    pub prediction: SearchPrediction,
    /// Whether the search found a path.
    pub found: bool,
    /// Number of links that the search crossed.
    pub steps: u64,
}

names! {
    /// A move of a scout of Venice.
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

/// A step of a scout of Venice.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ScoutStep {
    /// Start of the step, which lasts until the next step.
    pub at: Time,
    /// Controller that launched the scout.
    pub controller: ChannelId,
    /// Destination of the scout.
    pub die: DieId,
    /// Move of the scout.
    pub step: ScoutMove,
    /// Chip of the router to which the scout moves, or where it is; `None` at its controller.
    pub to: Option<ChipId>,
}

/// Output of a fabric: grants, events, and records for observers.
#[derive(Clone, Debug)]
pub struct Outbox {
    /// New grants, in order.
    pub grants: Vec<GrantRecord>,
    /// Number of the batch of transactions that are being queued; 0 outside of batches.
    pub batch: u32,
    /// Events to schedule.
    pub events: Vec<(Time, FabricEvent)>,
    /// Time of the next wake-up with token 0; [`Time::MAX`] if none is due. A wake-up precedes all other events of its time, whenever they were
    /// scheduled. So results do not depend on how far ahead a fabric simulates.
    pub wake_at: Time,
    /// End of the lookahead. No event of the drive is due before this time, so a woken fabric can simulate its own activity up to it at once.
    pub lookahead_until: Time,
    /// Ended uses of links; `None` unless an oracle, or another probe that receives every notice, is attached.
    pub link_uses: Option<Vec<LinkUse>>,
    /// Steps of scouts, in order; recorded only if `link_uses` is `Some`.
    pub scout_steps: Vec<ScoutStep>,
    /// Ended searches for paths; recorded only if `link_uses` is `Some`.
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
    /// Records the use of `link` for `die` between two times, if `link_uses` is `Some`.
    #[inline]
    pub fn record_use(&mut self, link: LinkId, die: DieId, from: Time, until: Time) {
        if let Some(uses) = &mut self.link_uses {
            uses.push(LinkUse { link, die, from, until });
        }
    }

    /// Returns whether there are records for observers.
    #[inline]
    pub fn has_records(&self) -> bool {
        let Some(uses) = &self.link_uses else { return false };
        !(uses.is_empty() && self.scout_steps.is_empty() && self.searches.is_empty())
    }
}
