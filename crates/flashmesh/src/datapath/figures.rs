//! What the datapath has done, for reports: the same for every model, so that those are compiled once.

use crate::fabric::{Fabric, Facts};
use crate::flash::die::Die;
use crate::measure::lower_bound::DieWork;
use crate::power::energy::Activity;
use crate::units::Time;

use super::rules::Rules;
use super::{Counters, DieUnit};

/// A view of a [`Datapath`](super::Datapath).
#[derive(Clone, Copy)]
pub struct Figures<'a> {
    pub fabric: &'a dyn Fabric,
    /// The kind of the interconnect.
    pub facts: &'static Facts,
    pub counters: &'a Counters,
    pub(super) units: &'a [DieUnit],
    pub(super) rules: &'a Rules,
}

impl<'a> Figures<'a> {
    /// What drew power up to `end`.
    pub fn activity(self, end: Time) -> Activity<'a> {
        Activity {
            work: self.counters.work,
            facts: self.facts,
            layout: self.fabric.layout(),
            usage: self.fabric.usage(),
            dies: self.units.len() as u32,
            end,
        }
    }

    /// The dies.
    pub fn dies(self) -> impl ExactSizeIterator<Item = &'a Die> {
        self.units.iter().map(|unit| &unit.state)
    }

    /// What each die did.
    pub fn work(self) -> Vec<DieWork> {
        self.units.iter().map(|unit| unit.work).collect()
    }

    /// Whether a chip takes one operation at a time, for one of several dies.
    pub fn dies_take_turns(self) -> bool {
        self.rules.dies_take_turns
    }

    /// Whether the array of a die is free once its data is in the register.
    pub fn has_read_cache(self) -> bool {
        self.rules.die.read_cache
    }
}
