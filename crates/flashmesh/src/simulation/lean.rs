//! Which instance of the drive runs a configuration.

use crate::config::{
    Arbitration, Config, DieStart, EraseOrder, FirmwarePolicy, InterfaceKind, KindOrder, Move, Priorities, Schedule,
    SchedulePolicy, Suspension, WarmUp, WriteBinding,
};
use crate::error::RunError;
use crate::fabric::{AnyFabric, Pnssd, SharedChannels, nossd::Nossd, venice::Venice};
use crate::firmware::Firmware;
use crate::flash::geometry::Geometry;
use crate::host::interface::AnyInterface;
use crate::kernel::model::{Equipped, Full, Lean, Model, Probed, Queued, Scheduled, Unprobed};
use crate::measure::report::Report;
use crate::units::Bytes;
use crate::workload::WorkloadSummary;

use super::Control;
use super::drive::Drive;

/// A drive in one of its instances.
pub(super) enum AnyDrive {
    Full(Box<Drive<Full>>),
    ProbedChannels(Box<Drive<Probed<SharedChannels>>>),
    Unprobed(Box<Drive<Unprobed<AnyFabric>>>),
    UnprobedChannels(Box<Drive<Unprobed<SharedChannels>>>),
    ScheduledChannels(Box<Drive<Scheduled<SharedChannels>>>),
    Queued(Box<Drive<Queued<SharedChannels>>>),
    SharedChannels(Box<Drive<Lean<SharedChannels>>>),
    Pnssd(Box<Drive<Lean<Pnssd>>>),
    Nossd(Box<Drive<Lean<Nossd>>>),
    Venice(Box<Drive<Lean<Venice>>>),
    EquippedChannels(Box<Drive<Equipped<SharedChannels>>>),
    EquippedPnssd(Box<Drive<Equipped<Pnssd>>>),
    EquippedNossd(Box<Drive<Equipped<Nossd>>>),
    EquippedVenice(Box<Drive<Equipped<Venice>>>),
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
            AnyDrive::ProbedChannels($drive) => $does,
            AnyDrive::Unprobed($drive) => $does,
            AnyDrive::UnprobedChannels($drive) => $does,
            AnyDrive::ScheduledChannels($drive) => $does,
            AnyDrive::Queued($drive) => $does,
            AnyDrive::SharedChannels($drive) => $does,
            AnyDrive::Pnssd($drive) => $does,
            AnyDrive::Nossd($drive) => $does,
            AnyDrive::Venice($drive) => $does,
            AnyDrive::EquippedChannels($drive) => $does,
            AnyDrive::EquippedPnssd($drive) => $does,
            AnyDrive::EquippedNossd($drive) => $does,
            AnyDrive::EquippedVenice($drive) => $does,
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

    /// Whether it tests every feature at run time.
    pub fn is_full(&self) -> bool {
        with_drive!(self, drive => drive.is_full())
    }

    /// Turns the full drive into the instance with least beside what it uses; `is_standard` says that all policies are those of the configuration.
    pub fn make_lean(&mut self, is_standard: bool) {
        match std::mem::replace(self, AnyDrive::Between) {
            AnyDrive::Full(drive) if drive.kernel.is_probed() => *self = probed(*drive),
            AnyDrive::Full(drive) => *self = lean(*drive, is_standard),
            other => *self = other,
        }
    }
}

/// Whether a drive uses nothing that [`Equipped`] ones lack, whatever its interconnect.
fn is_equipped(config: &Config) -> bool {
    let Schedule { policy, order, erases, .. } = config.schedule;
    (policy, order, erases) == (SchedulePolicy::OutOfOrder, KindOrder::ReadFirst, EraseOrder::WithCollection)
        && is_equipped_but_for_scheduling(config)
}

/// The same for [`Scheduled`] ones.
fn is_equipped_but_for_scheduling(config: &Config) -> bool {
    let Config { schedule, flash, ftl, gc, geometry, .. } = config;
    schedule.priorities == Priorities::Off
        && config.suspension() == Suspension::Off
        && ftl.policy == FirmwarePolicy::Page
        && (flash.die_interleaving && flash.die_start == DieStart::Independent || geometry.dies_per_chip == 1)
        && !ftl.allocation.is_dynamic()
        && gc.r#move == Move::ThroughController
        && !config.replication.enabled
        && !config.persistence.has_journal()
        && config.power.cut.is_none()
}

/// Whether a drive uses nothing beyond what plain drives do, whatever its interface and its interconnect.
fn is_plain(config: &Config) -> bool {
    let Config { cache, mapping, measure, .. } = config;
    is_equipped(config)
        && cache.capacity == Bytes::ZERO
        && mapping.cache_capacity.is_none()
        && (measure.warm_up, measure.epoch) == (WarmUp::None, None)
        && !measure.collisions
}

/// Whether a plain drive also uses what only [`Queued`] ones have.
fn is_queued(config: &Config) -> bool {
    config.host.interface != InterfaceKind::Direct
        || config.ftl.write_binding != WriteBinding::Late
        || matches!(config.fabric.arbitration, Arbitration::DataFirstRoundRobin | Arbitration::NextCommandFirst)
}

/// Takes what is known to be there out of an enum.
macro_rules! taken {
    ($any:ident :: $kind:ident) => {
        |any| match any {
            $any::$kind(known) => known,
            _ => unreachable!("looked at before"),
        }
    };
}

/// A drive whose interconnect is known to be of a kind.
macro_rules! over {
    ($drive:ident, $kind:ident, $interface:expr) => {
        Box::new(resolve($drive, taken!(AnyFabric::$kind), $interface))
    };
}

/// The instance with probes.
fn probed(drive: Drive<Full>) -> AnyDrive {
    match drive.datapath.fabric() {
        AnyFabric::SharedChannels(_) => AnyDrive::ProbedChannels(over!(drive, SharedChannels, |interface| interface)),
        _ => AnyDrive::Full(Box::new(drive)),
    }
}

/// The instance with least beside what a drive uses.
fn lean(drive: Drive<Full>, is_standard: bool) -> AnyDrive {
    let is_equipped = is_standard && is_equipped(&drive.config);
    let is_plain = is_equipped && is_plain(&drive.config);
    let is_lean = is_plain && !is_queued(&drive.config);
    let (direct, any) = (taken!(AnyInterface::Direct), |interface| interface);
    match (drive.datapath.fabric(), drive.config.host.interface) {
        (AnyFabric::SharedChannels(_), InterfaceKind::Nvme) if is_plain => {
            AnyDrive::Queued(over!(drive, SharedChannels, taken!(AnyInterface::Nvme)))
        }
        (AnyFabric::SharedChannels(_), _) if is_lean => AnyDrive::SharedChannels(over!(drive, SharedChannels, direct)),
        (AnyFabric::Pnssd(_), _) if is_lean => AnyDrive::Pnssd(over!(drive, Pnssd, direct)),
        (AnyFabric::Nossd(_), _) if is_lean => AnyDrive::Nossd(over!(drive, Nossd, direct)),
        (AnyFabric::Venice(_), _) if is_lean => AnyDrive::Venice(over!(drive, Venice, direct)),
        (AnyFabric::SharedChannels(_), _) if is_equipped => {
            AnyDrive::EquippedChannels(over!(drive, SharedChannels, any))
        }
        (AnyFabric::Pnssd(_), _) if is_equipped => AnyDrive::EquippedPnssd(over!(drive, Pnssd, any)),
        (AnyFabric::Nossd(_), _) if is_equipped => AnyDrive::EquippedNossd(over!(drive, Nossd, any)),
        (AnyFabric::Venice(_), _) if is_equipped => AnyDrive::EquippedVenice(over!(drive, Venice, any)),
        (AnyFabric::SharedChannels(_), _) if is_standard && is_equipped_but_for_scheduling(&drive.config) => {
            AnyDrive::ScheduledChannels(over!(drive, SharedChannels, any))
        }
        (AnyFabric::SharedChannels(_), _) => AnyDrive::UnprobedChannels(over!(drive, SharedChannels, any)),
        // Not resolved when this is compiled, or seldom used.
        _ => AnyDrive::Unprobed(Box::new(resolve(drive, |fabric| fabric, any))),
    }
}

fn resolve<M: Model>(
    drive: Drive<Full>,
    fabric: impl FnOnce(AnyFabric) -> M::Fabric,
    interface: impl FnOnce(AnyInterface) -> M::Interface,
) -> Drive<M> {
    Drive {
        config: drive.config,
        geometry: drive.geometry,
        kernel: drive.kernel.into_model(),
        frontend: drive.frontend.into_model(interface),
        firmware: drive.firmware,
        datapath: drive.datapath.into_model(fabric),
        at_cut: None,
    }
}
