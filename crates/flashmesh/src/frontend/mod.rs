//! Requests between host and drive: issue, admission, division into pages, completion, measurement.
//!
//! The host *issues* a request: its command crosses the link. The drive *admits* or refuses it, and requests its pages from the
//! [controller](crate::controller), which returns finished pages as [`CompletedWork`](crate::controller::CompletedWork). After the last page the drive *responds*; the
//! request *completes* when the completion reaches the host.

mod completed_work;
mod cores;
mod flush;
mod held_commands;
mod host_side;
mod power_cut;
mod split_reads;
mod submit;

use crate::config::{Config, InterfaceKind};
use crate::controller::Controller;
use crate::error::RunError;
use crate::flash::geometry::Geometry;
use crate::host::interface::AnyInterface;
use crate::host::source::RequestSource;
use crate::kernel::Kernel;
use crate::kernel::event::{Event, lane};
use crate::kernel::model::{Model, Probed};
use crate::measure::cache::PowerCutReport;
use crate::measure::request_budget::RequestBudget;
use crate::units::{Bytes, Time};
use crate::workload::WorkloadSummary;

pub use host_side::{Counters, HostSide, HostStream, open};

use flush::Flushes;
use held_commands::HeldCommands;
use power_cut::{Ending, PowerCut};
use split_reads::SplitReads;

/// Settings of the configuration that affect the admission of requests, and the end of the run.
#[derive(Clone, Debug)]
struct Rules {
    is_sata: bool,
    transfer_max: Option<Bytes>,
    flushes_at_end: bool,
    power_cut: Option<Time>,
    capacitors: bool,
}

/// The host, and the drive's side of the requests: admission, flushes, held commands, and the end of the run.
#[derive(Clone)]
pub struct Frontend<M: Model> {
    pub host: HostSide<M>,
    config: Box<Config>,
    geometry: Geometry,
    rules: Rules,
    flushes: Flushes,
    held: HeldCommands,
    split_reads: SplitReads,
    ending: Ending,
    power_cut: Option<Box<PowerCut>>,
}

/// A view of a [`Frontend`] without its model (compiled variant of the run), so that the code of reports is compiled only once.
#[derive(Clone, Copy)]
pub struct FrontendStats<'a> {
    pub counters: &'a Counters,
    pub streams: &'a [HostStream],
    /// Interface between host and drive.
    pub interface: &'a AnyInterface,
    /// Report of the power cut; `None` if there was none.
    pub power_cut: Option<&'a PowerCutReport>,
}

impl<'a> FrontendStats<'a> {
    /// Returns the workload summary of the only stream; `None` if there are several, or the configuration names no workload.
    pub fn summary(self) -> Option<&'a WorkloadSummary> {
        match self.streams {
            [stream] => stream.summary.as_ref(),
            _ => None,
        }
    }
}

impl Frontend<Probed> {
    /// Builds the host side of the drive in `config`, with one of `sources` for each stream.
    ///
    /// # Errors
    /// If the numbers of sources and streams differ, or the namespaces do not fit the drive.
    pub fn new(
        config: &Config,
        geometry: &Geometry,
        sources: Vec<RequestSource>,
    ) -> Result<Frontend<Probed>, RunError> {
        let host = HostSide::new(config, geometry, sources)?;
        Ok(Frontend {
            config: Box::new(config.clone()),
            geometry: geometry.clone(),
            rules: Rules {
                is_sata: config.host.interface == InterfaceKind::Sata,
                transfer_max: config.host.transfer_max,
                flushes_at_end: config.cache.flush_at_end,
                power_cut: config.power.cut,
                capacitors: config.power.capacitors,
            },
            flushes: Flushes::new(host.namespaces.count()),
            held: HeldCommands::new(config),
            split_reads: SplitReads::default(),
            ending: Ending::default(),
            power_cut: None,
            host,
        })
    }

    /// Makes the run end when the requests to measure after the warm-up (`goal`) have completed.
    pub fn set_goal(&mut self, goal: RequestBudget) {
        self.host.set_goal(goal, &self.config);
    }

    /// Prepares the frontend for a stepped drive: stores completions for the caller, and defers the flush at the end of the run until
    /// [`close`](Self::close).
    pub fn open_for_submissions(&mut self) {
        self.host.open_for_submissions();
        self.rules.flushes_at_end = false;
    }

    /// Converts the frontend to model `N` (a variant of the simulation, compiled for one set of features).
    pub fn into_model<N: Model>(self) -> Frontend<N> {
        Frontend {
            host: self.host.into_model(&self.config),
            config: self.config,
            geometry: self.geometry,
            rules: self.rules,
            flushes: self.flushes,
            held: self.held,
            split_reads: self.split_reads,
            ending: self.ending,
            power_cut: self.power_cut,
        }
    }
}

impl<M: Model> Frontend<M> {
    /// Issues the first requests of the streams of the first phase, and schedules the power cut, if one is configured.
    ///
    /// # Errors
    /// If a workload cannot be read.
    pub fn start(&mut self, controller: &Controller, kernel: &mut Kernel<M>) -> Result<(), RunError> {
        self.host.start_phases(controller, kernel)?;
        if let Some(at) = self.rules.power_cut {
            kernel.schedule(lane::ARRIVAL, at, Event::PowerCut);
        }
        Ok(())
    }

    /// Returns a view of counters, streams and interface, for reports.
    pub fn figures(&self) -> FrontendStats<'_> {
        FrontendStats {
            counters: &self.host.counters,
            streams: &self.host.streams,
            interface: &self.host.interface,
            power_cut: self.power_cut.as_ref().map(|cut| &cut.report),
        }
    }

    /// Allows the flush at the end of the run, because no more requests are submitted.
    pub fn close(&mut self) {
        self.rules.flushes_at_end = self.config.cache.flush_at_end;
    }
}
