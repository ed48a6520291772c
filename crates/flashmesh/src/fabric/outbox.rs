//! What a fabric answers.

use crate::ids::{ChannelId, ChipId, DieId, LinkId};
use crate::names;
use crate::units::Time;

use super::{Cause, FabricEvent, Grant};

/// A path was granted, with what came before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Granted {
    /// The grant.
    pub grant: Grant,
    /// When the try began that found the path: the die waited until then, and from then on the path was set up.
    pub since: Time,
    /// What was in the way of the first try; means nothing when that was the one that found the path.
    pub cause: Cause,
}

/// A link was held from one time to another for one transfer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LinkUse {
    /// The link.
    pub link: LinkId,
    /// The die it was held for.
    pub die: DieId,
    /// From when.
    pub from: Time,
    /// Until when.
    pub until: Time,
}

/// What a flood fill over the free links says of a search for a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// It finds one.
    Finds,
    /// It fails.
    Fails {
        /// After crossing so many links at least.
        least: u64,
        /// After crossing so many links at most.
        most: u64,
    },
}

/// A search for a path ended, during which nothing but the search itself took or freed a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Search {
    /// The die it was for.
    pub die: DieId,
    /// What was to be expected of it.
    pub verdict: Verdict,
    /// Whether it found a path.
    pub found: bool,
    /// Links it crossed.
    pub steps: u64,
}

names! {
    /// What a scout of Venice does.
    ScoutMove {
        /// It leaves its controller.
        Sent = "sent",
        /// It reserved a link and goes over it.
        Forward = "forward",
        /// It found no way on, and goes back over the link it came by, which it frees.
        Back = "back",
        /// It reserved the pins of the chip: the circuit stands, and it goes back over it to its controller.
        Found = "found",
        /// It is back at its controller without a path.
        Failed = "failed",
    }
}

/// A scout of Venice moved.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ScoutStep {
    /// When: what it does takes from then until its next step.
    pub at: Time,
    /// Whose scout it is.
    pub controller: ChannelId,
    /// The die it looks for a path to.
    pub die: DieId,
    /// What it does.
    pub step: ScoutMove,
    /// The chip of the router that it goes to, or is at; `None` when that is its controller.
    pub to: Option<ChipId>,
}

/// What a fabric answers.
#[derive(Clone, Debug)]
pub struct Outbox {
    /// Paths granted now, in order.
    pub grants: Vec<Granted>,
    /// What is to happen later.
    pub events: Vec<(Time, FabricEvent)>,
    /// When the fabric is to be woken, with token 0; later than any event when it is not. It comes before every event of that time, whenever
    /// it was asked for, so that results do not depend on how far ahead a fabric looks.
    pub wake_at: Time,
    /// No event of the drive comes before this time: what a fabric that is woken does by itself until then, it may do
    /// at once.
    pub quiet_until: Time,
    /// The uses of links that ended, kept only while an oracle looks.
    pub uses: Option<Vec<LinkUse>>,
    /// What scouts did, in order, only while a probe looks.
    pub steps: Vec<ScoutStep>,
    /// The searches that ended, only while an oracle looks.
    pub searches: Vec<Search>,
}

impl Default for Outbox {
    fn default() -> Outbox {
        Outbox {
            grants: Vec::new(),
            events: Vec::new(),
            wake_at: Time::MAX,
            quiet_until: Time::ZERO,
            uses: None,
            steps: Vec::new(),
            searches: Vec::new(),
        }
    }
}

impl Outbox {
    /// A link was in use until now.
    #[inline]
    pub fn used(&mut self, link: LinkId, die: DieId, from: Time, until: Time) {
        if let Some(uses) = &mut self.uses {
            uses.push(LinkUse { link, die, from, until });
        }
    }

    /// Whether there is anything to tell those who look on.
    #[inline]
    pub fn has_seen(&self) -> bool {
        let Some(uses) = &self.uses else { return false };
        !(uses.is_empty() && self.steps.is_empty() && self.searches.is_empty())
    }
}
