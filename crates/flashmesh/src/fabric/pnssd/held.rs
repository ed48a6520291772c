//! pnSSD with channels that are held through the operation of the array: each die has two ways, one over each of its channels.

use crate::config::Config;
use crate::flash::geometry::Geometry;
use crate::ids::{DieId, LinkId};
use crate::units::Time;

use super::super::framing::Durations;
use super::super::held_paths::{HeldPaths, Way, Ways};
use super::super::layout::{Layout, LinkKind, Part, Passage};
use super::super::{Cause, LinkUsage, Outbox, Payload, Sent, TransferPhase};
use super::grid::{Grid, Side};

/// The channels of a square array, and their controllers.
#[derive(Debug)]
pub struct Channels {
    grid: Grid,
    usage: Vec<LinkUsage>,
    /// By controller.
    busy: Vec<Time>,
    durations: Durations,
    hops: u64,
    layout: Layout,
}

impl HeldPaths<Channels> {
    /// The channels of pnSSD.
    pub(in super::super) fn pnssd(config: &Config, geometry: &Geometry) -> HeldPaths<Channels> {
        let grid = Grid::new(geometry, config.pnssd.controllers);
        let channels = Channels {
            usage: vec![LinkUsage::default(); grid.channels() as usize],
            busy: vec![Time::ZERO; grid.controllers() as usize],
            durations: Durations::packets(&config.packets, config.fabric.channel_rate),
            hops: 0,
            layout: grid.layout(),
            grid,
        };
        HeldPaths::new(channels, geometry.dies())
    }
}

impl Ways for Channels {
    fn parts(&self) -> u32 {
        self.grid.channels() + self.grid.controllers()
    }

    fn of(&mut self, die: DieId, _load: &dyn Fn(u32) -> u32) -> Vec<Way> {
        let controllers = self.grid.channels();
        let way = |side: Side| Way { parts: vec![side.link.0, controllers + side.controller], number: side.link.0 };
        self.grid.sides(die).map(way).to_vec()
    }

    fn cause(&self, ways: &[Way], is_taken: &dyn Fn(u32) -> bool) -> Cause {
        let has_free_channel = ways.iter().any(|way| !is_taken(way.parts[0]));
        if has_free_channel { Cause::Controller } else { Cause::Channel }
    }

    fn time(&mut self, _die: DieId, _way: u32, payload: Payload, now: Time) -> Sent {
        let least = self.durations.of(payload);
        Sent { delivered: Some(now + least), least }
    }

    fn count(
        &mut self,
        die: DieId,
        way: u32,
        phase: TransferPhase,
        payload: Payload,
        since: Time,
        outbox: &mut Outbox,
    ) {
        let duration = self.durations.of(payload);
        let link = LinkId(way);
        self.hops += 1;
        self.usage[link.index()].count(phase, payload, since, duration);
        self.busy[self.grid.controller_of(link) as usize] += duration;
        outbox.used(link, die, since, since + duration);
    }

    /// The controller has waited for the end: it knows at once.
    fn acknowledged(&mut self, _die: DieId, _way: u32, now: Time) -> Time {
        now
    }

    fn count_acknowledgement(&mut self, _die: DieId, _way: u32, _since: Time, _outbox: &mut Outbox) {}

    fn layout(&self) -> &Layout {
        &self.layout
    }

    fn passages(&self) -> Vec<Passage> {
        let links = self.layout.of_kind(LinkKind::Channel).collect();
        vec![Passage { part: Part::Controllers, links, at_once: self.busy.len() as u32 }]
    }

    fn usage(&self) -> &[LinkUsage] {
        &self.usage
    }

    fn controllers_busy(&self, _now: Time) -> Vec<Time> {
        self.busy.clone()
    }

    fn hops(&self) -> u64 {
        self.hops
    }
}
