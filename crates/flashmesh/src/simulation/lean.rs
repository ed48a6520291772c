//! Which instance of the drive runs a configuration.

use crate::config::{
    Allocation, Arbitration, Config, EraseOrder, InterfaceKind, KindOrder, Move, Priorities, SchedulePolicy,
    Suspension, WarmUp, WriteBinding,
};
use crate::error::RunError;
use crate::fabric::{AnyFabric, Fabric, Pnssd, SharedChannels, nossd::Nossd, venice::Venice};
use crate::firmware::Firmware;
use crate::flash::geometry::Geometry;
use crate::host::interface::AnyInterface;
use crate::kernel::model::{Full, Lean};
use crate::measure::report::Report;
use crate::units::Bytes;
use crate::workload::WorkloadSummary;

use super::Control;
use super::drive::Drive;

/// A drive in one of its instances.
pub(super) enum AnyDrive {
    Full(Box<Drive<Full>>),
    SharedChannels(Box<Drive<Lean<SharedChannels>>>),
    Pnssd(Box<Drive<Lean<Pnssd>>>),
    Nossd(Box<Drive<Lean<Nossd>>>),
    Venice(Box<Drive<Lean<Venice>>>),
    /// While it becomes another one.
    Between,
}

/// What is the same in all instances.
pub(super) struct Parts<'a> {
    pub firmware: &'a Firmware,
    pub geometry: &'a Geometry,
    pub summaries: Vec<(&'a str, Option<&'a WorkloadSummary>)>,
}

/// Does the same with whatever instance it is.
macro_rules! with_drive {
    ($any:expr, $drive:ident => $does:expr) => {
        match $any {
            AnyDrive::Full($drive) => $does,
            AnyDrive::SharedChannels($drive) => $does,
            AnyDrive::Pnssd($drive) => $does,
            AnyDrive::Nossd($drive) => $does,
            AnyDrive::Venice($drive) => $does,
            AnyDrive::Between => unreachable!("a drive becomes another one at once"),
        }
    };
}

impl AnyDrive {
    /// What is the same in all instances.
    pub fn parts(&self) -> Parts<'_> {
        with_drive!(self, drive => Parts {
            firmware: &drive.firmware,
            geometry: &drive.geometry,
            summaries: drive.frontend.summaries().collect(),
        })
    }

    /// Runs it.
    pub fn run(&mut self, control: &Control) -> Result<Report, RunError> {
        with_drive!(self, drive => drive.run(control))
    }

    /// WeightedRoundRobin a drive that uses nothing beyond what a plain one does into the instance for its interconnect.
    pub fn make_lean(&mut self) {
        match std::mem::replace(self, AnyDrive::Between) {
            AnyDrive::Full(drive) if is_plain(&drive.config) => *self = lean(*drive),
            other => *self = other,
        }
    }
}

/// Whether a drive uses nothing that only the full instance has.
fn is_plain(config: &Config) -> bool {
    let Config { host, cache, mapping, measure, schedule, flash, ftl, gc, geometry, .. } = config;
    host.interface == InterfaceKind::Direct
        && cache.capacity == Bytes::ZERO
        && mapping.cache_capacity.is_none()
        && (measure.warm_up, measure.epoch) == (WarmUp::None, None)
        && schedule.policy == SchedulePolicy::OutOfOrder
        && schedule.order == KindOrder::ReadFirst
        && schedule.erases == EraseOrder::WithCollection
        && schedule.priorities == Priorities::Off
        && schedule.age_bound.is_none()
        && flash.suspension == Suspension::Off
        && (flash.die_interleaving || geometry.dies_per_chip == 1)
        && ftl.allocation != Allocation::Dynamic
        && ftl.write_binding == WriteBinding::Late
        && gc.r#move == Move::ThroughController
        && config.fabric.arbitration != Arbitration::DataFirstRoundRobin
}

/// The instance for the interconnect of a plain drive.
fn lean(drive: Drive<Full>) -> AnyDrive {
    let kind = drive.datapath.fabric();
    match kind {
        AnyFabric::SharedChannels(_) => AnyDrive::SharedChannels(Box::new(resolve(drive, |fabric| match fabric {
            AnyFabric::SharedChannels(rows) => rows,
            _ => unreachable!("looked at before"),
        }))),
        AnyFabric::Pnssd(_) => AnyDrive::Pnssd(Box::new(resolve(drive, |fabric| match fabric {
            AnyFabric::Pnssd(pnssd) => pnssd,
            _ => unreachable!("looked at before"),
        }))),
        AnyFabric::Nossd(_) => AnyDrive::Nossd(Box::new(resolve(drive, |fabric| match fabric {
            AnyFabric::Nossd(nossd) => nossd,
            _ => unreachable!("looked at before"),
        }))),
        AnyFabric::Venice(_) => AnyDrive::Venice(Box::new(resolve(drive, |fabric| match fabric {
            AnyFabric::Venice(venice) => venice,
            _ => unreachable!("looked at before"),
        }))),
    }
}

fn resolve<F: Fabric + 'static>(drive: Drive<Full>, fabric: impl FnOnce(AnyFabric) -> F) -> Drive<Lean<F>> {
    Drive {
        config: drive.config,
        geometry: drive.geometry,
        kernel: drive.kernel.into_model(),
        frontend: drive.frontend.into_model(|interface| match interface {
            AnyInterface::Direct(direct) => direct,
            _ => unreachable!("a plain drive has the direct interface"),
        }),
        firmware: drive.firmware,
        datapath: drive.datapath.into_model(fabric),
    }
}
