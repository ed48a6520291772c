//! What the firmware makes of the state machines of the translation layer: the seam, and the registry of policies.

use crate::config::{Config, MovedPages};
use crate::flash::geometry::Geometry;
use crate::ids::PlaneId;
use crate::schedule::transaction::{Class, Transaction};

use super::mbm::Mbm;
use super::tbm::Tbm;

/// A firmware policy of a library user ([`Simulation::set_firmware_policy`](crate::simulation::Simulation::set_firmware_policy)).
///
/// # Contract
/// - It is deterministic: the same calls in the same order give the same answers.
/// - It changes nothing of what a drive promises: whatever it answers, each read gives the newest version, each write is
///   programmed once, and no plane runs out of pages.
pub trait FirmwarePolicy {
    /// Which open block of its plane takes a page that collection or wear levelling moves; asked once, before the run.
    fn moved_pages(&self) -> MovedPages {
        MovedPages::OwnBlock
    }

    /// Whether a read may join another one of the same die that leads, when their addresses let them.
    fn joins(&self, lead: &Transaction, other: &Transaction) -> bool {
        let _ = (lead, other);
        true
    }
}

/// The policies, one line each.
pub(super) enum AnyPolicy {
    /// Each plane is written and collected by itself.
    Page,
    Tbm(Tbm),
    Mbm(Box<Mbm>),
    /// One of the caller's own, for trying it out before it has a name in the configuration.
    Custom(Box<dyn FirmwarePolicy + Send>),
}

impl AnyPolicy {
    /// The policy that `config` names.
    pub(super) fn new(config: &Config, geometry: &Geometry) -> AnyPolicy {
        match config.ftl.policy {
            crate::config::FirmwarePolicy::Page | crate::config::FirmwarePolicy::Sprinkler => AnyPolicy::Page,
            crate::config::FirmwarePolicy::Tbm => AnyPolicy::Tbm(Tbm::new(geometry)),
            crate::config::FirmwarePolicy::Mbm => AnyPolicy::Mbm(Box::new(Mbm::new(config, geometry))),
        }
    }

    #[inline]
    pub(super) fn joins(&self, lead: &Transaction, other: &Transaction) -> bool {
        match self {
            AnyPolicy::Page | AnyPolicy::Tbm(_) => true,
            AnyPolicy::Mbm(mbm) => mbm.joins(lead, other),
            AnyPolicy::Custom(policy) => policy.joins(lead, other),
        }
    }

    /// A program that waited for `plane` has its page, or is dropped.
    #[inline]
    pub(super) fn page_taken(&mut self, class: Class, plane: PlaneId) {
        if let AnyPolicy::Tbm(tbm) = self {
            tbm.page_taken(class, plane);
        }
    }

    /// A die has nothing to do, or space again: waiting writes may go on.
    #[inline]
    pub(super) fn die_idle(&mut self) {
        if let AnyPolicy::Mbm(mbm) = self {
            mbm.is_due = true;
        }
    }
}
