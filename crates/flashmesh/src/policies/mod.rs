//! Firmware policies. Each has its own folder, and an entry in [`POLICIES`], its [info](PolicyInfo).
//!
//! A policy decides on which planes pages are written, and when. It holds no page data and has no clock. The folder of a policy contains everything
//! that distinguishes the policy from the page policy.

mod custom_placement;
mod mbm;
mod page;
mod shared_blocks;
mod sprinkler;
mod superblock;
mod tbm;

use std::ops::Range;

use auto_impl::auto_impl;
use enum_dispatch::enum_dispatch;

use crate::config::{self, Config, ConfigConflict, MovedPages, WriteBinding};
use crate::flash::geometry::Geometry;
use crate::ftl::allocation::IdleDies;
use crate::ftl::{Ftl, FtlRules, OpenBlockKind};
use crate::ids::{Lpn, PlaneId, TransactionId};
use crate::schedule::load::LoadView;
use crate::schedule::transaction::{Transaction, TransactionClass};
use crate::units::Bytes;

pub use custom_placement::{CustomPlacement, PlacementView, WritePlacer};

/// Stage of a write at which the plane of the write is chosen, and the component that chooses it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PlacementStage {
    /// Arrival of the write: the allocator chooses the plane.
    Allocator,
    /// Arrival of the write: the allocator chooses a plane, which [`FirmwarePolicy::place_write`] can replace by another one.
    AfterAllocator,
    /// Dispatch of a held write: [`FirmwarePolicy::dispatch_held`] chooses the plane.
    AtDispatch,
}

/// An event that is reported to a policy.
#[derive(Clone, Copy, Debug)]
pub enum PolicyEvent<'a> {
    /// A page read of the request last passed to [`plan_read`](FirmwarePolicy::plan_read) is created.
    ReadBegins(TransactionId, Lpn),
    /// The data of a user read has left its die, or the read was removed from the queue of its die (page moved or deallocated, or power cut).
    ReadEnded(&'a Transaction),
    /// A user read is cancelled, because a power cut ended its request.
    ReadCancelled(TransactionId),
    /// A program of this class was allocated its physical page on this plane, which the policy [can
    /// choose](crate::schedule::purpose::Purpose::is_placed_by_policy); or the move of a page to this plane was cancelled.
    PageAllocated(TransactionClass, PlaneId),
    /// A page that the policy [rewrites](FirmwarePolicy::rewrite_plane) has been programmed.
    Rewritten,
    /// The controller was notified that the program of a host write, of a destage or of a rewrite by the policy has ended.
    WriteEnded(&'a Transaction),
    /// A write is cancelled: either a rewrite whose page has changed, or a queued write whose request a power cut ended.
    WriteCancelled(&'a Transaction),
    /// A die became idle, or a victim on the die was erased, so that planes of the die may have free pages again.
    DieIdle,
}

/// State of the drive for a policy that can dispatch held writes.
pub struct PolicyView<'a> {
    /// Flash translation layer of the drive. The policy records the planes of dispatched writes here ([`Ftl::record_placement`]).
    pub ftl: &'a mut Ftl,
    /// Dies that execute nothing and have no pending transactions; tracked only if the allocation uses them.
    pub idle: &'a IdleDies,
    /// Queues and activity of the dies.
    pub load: LoadView<'a>,
}

/// Result of a round of dispatch: writes released from the queues of a policy, and planes without free pages.
#[derive(Debug, Default)]
pub struct DispatchedWrites {
    /// Dispatched writes with their planes, in the order of dispatch.
    pub dispatched: Vec<(TransactionId, PlaneId)>,
    /// Cancelled rewrites (see [`rewrite_plane`](FirmwarePolicy::rewrite_plane)): no plane of their die has space.
    pub dropped: Vec<TransactionId>,
    /// Planes without a free page for host writes, which may need GC.
    pub full_planes: Vec<PlaneId>,
}

/// A firmware policy: when and on which planes the firmware writes pages. The default methods are the page policy: each plane is written and
/// collected on its own; writes go to the plane that the allocator chooses, without delay.
///
/// # Contract
/// - The policy is deterministic: equal calls in equal order return equal results.
/// - The policy preserves the guarantees of a drive: whatever it returns, each read gets the newest version, each write is programmed once, and no
///   plane runs out of pages.
/// - Each write that the policy [holds](FirmwarePolicy::try_hold) is dispatched once, by [`dispatch_held`](FirmwarePolicy::dispatch_held), after a
///   finite time. `dispatch_held` is called again when a write in flight ends, so the policy must not hold all writes if none is in flight.
/// - The policy places dispatched writes with [`Ftl::record_placement`], on a plane that [has room](Ftl::has_room).
#[enum_dispatch]
#[auto_impl(Box)]
pub trait FirmwarePolicy {
    /// Returns whether pages that GC or wear levelling moves go to an open block of their own or to that of host writes. Called once, before the run.
    fn moved_pages(&self) -> MovedPages {
        MovedPages::OwnBlock
    }

    /// Returns when, and by which component, the planes of host writes are chosen. Constant during a run.
    fn placement_stage(&self) -> PlacementStage {
        PlacementStage::Allocator
    }

    /// Returns the plane for a page of kind `stream` that the allocator placed on `plane`. Called under [`PlacementStage::AfterAllocator`]. If the
    /// returned plane has no room, `plane` is used.
    fn place_write(&mut self, plane: PlaneId, _stream: OpenBlockKind, _ftl: &Ftl) -> PlaneId {
        plane
    }

    /// Notifies the policy of the final plane of a page passed to [`place_write`](FirmwarePolicy::place_write): the returned plane, or if that plane
    /// had no room, the plane chosen by the allocator.
    fn placed(&mut self, _plane: PlaneId) {}

    /// Returns the plane to which GC or wear levelling moves a page of kind `stream` out of `plane`: a plane of the same die, or one that shares
    /// superblocks with `plane`.
    fn place_move(&mut self, plane: PlaneId, _stream: OpenBlockKind, _ftl: &Ftl) -> PlaneId {
        plane
    }

    /// Notifies the policy that a request of `bytes` is about to read the logical pages `pages`.
    fn plan_read(&mut self, _pages: Range<u32>, _bytes: Bytes, _ftl: &Ftl) {}

    /// Returns whether the policy holds `transaction`, which is ready for its die, until [`dispatch_held`](FirmwarePolicy::dispatch_held) dispatches
    /// it. If false, the transaction is queued at its die at once. Called for reads as well, but only writes may be held.
    fn try_hold(&mut self, _id: TransactionId, _transaction: &Transaction, _ftl: &Ftl) -> bool {
        false
    }

    /// Returns whether held writes may be ready for dispatch. If so, [`dispatch_held`](FirmwarePolicy::dispatch_held) must be called.
    fn may_dispatch(&self) -> bool {
        false
    }

    /// Removes and returns the held writes to dispatch at once. May be empty; the other writes stay held.
    fn dispatch_held(&mut self, _drive: &mut PolicyView<'_>) -> DispatchedWrites {
        DispatchedWrites::default()
    }

    /// Removes the held writes for which `is_taken` holds, without dispatching them, and returns them.
    fn withdraw_held(&mut self, _is_taken: &dyn Fn(TransactionId) -> bool) -> Vec<TransactionId> {
        Vec::new()
    }

    /// Returns the plane on which to rewrite the page that `read` has transferred to the controller for a request; `None` if the page is
    /// not to be rewritten. The rewrite may go to any plane of the same die.
    fn rewrite_plane(&mut self, _read: TransactionId) -> Option<PlaneId> {
        None
    }

    /// Returns whether the read `other` may join the read operation led by `lead`, if their addresses allow it.
    fn may_join(&self, _lead: &Transaction, _other: &Transaction) -> bool {
        true
    }

    /// Notifies the policy of an event in the drive. Does nothing by default.
    fn notify(&mut self, _event: PolicyEvent<'_>) {}

    /// Returns a clone of the policy for a snapshot of the drive; `None` if the policy cannot be cloned.
    fn snapshot(&self) -> Option<AnyPolicy> {
        None
    }
}

impl Clone for AnyPolicy {
    fn clone(&self) -> AnyPolicy {
        self.snapshot().expect("only drives with policies that can be copied are copied")
    }
}

/// A built-in or custom policy. The page policy, which most drives have, is called without dynamic dispatch.
#[enum_dispatch(FirmwarePolicy)]
pub enum AnyPolicy {
    Page(page::PagePolicy),
    Other(Box<dyn FirmwarePolicy + Send>),
}

impl AnyPolicy {
    /// Returns whether this is the page policy, which uses the defaults of [`FirmwarePolicy`] throughout. Also true for `ftl.policy = "sprinkler"`,
    /// which differs only in the scheduler.
    #[inline(always)]
    pub fn is_page(&self) -> bool {
        matches!(self, AnyPolicy::Page(_))
    }

    fn other(policy: impl FirmwarePolicy + Send + 'static) -> AnyPolicy {
        AnyPolicy::Other(Box::new(policy))
    }
}

/// Properties of a policy that are known before a run.
pub struct PolicyInfo {
    pub kind: config::FirmwarePolicy,
    pub build: fn(&Config, &Geometry) -> AnyPolicy,
    /// Returns the rules of the translation layer under this policy, given the configured rules.
    pub ftl_rules: fn(&Config, FtlRules) -> FtlRules,
    /// Returns the conflicts between the policy and other settings of the configuration; empty if there are none.
    pub(crate) conflicts: fn(&Config, Option<&Geometry>) -> Vec<ConfigConflict>,
}

/// Properties of all policies, in the order of [`config::FirmwarePolicy`].
static POLICIES: [&PolicyInfo; config::FirmwarePolicy::ALL.len()] =
    [&page::INFO, &tbm::INFO, &mbm::INFO, &sprinkler::INFO, &superblock::INFO];

fn info_of(kind: config::FirmwarePolicy) -> &'static PolicyInfo {
    POLICIES.into_iter().find(|info| info.kind == kind).expect("each kind has its info")
}

/// Creates the page policy, on which custom policies can build.
pub fn page_policy() -> AnyPolicy {
    AnyPolicy::Page(page::PagePolicy)
}

/// Creates the policy named by `ftl.policy`.
pub fn build_policy(config: &Config, geometry: &Geometry) -> AnyPolicy {
    (info_of(config.ftl.policy).build)(config, geometry)
}

/// Returns the rules of the translation layer for the policy named by `ftl.policy`.
pub fn ftl_rules(config: &Config) -> FtlRules {
    (info_of(config.ftl.policy).ftl_rules)(config, FtlRules::new(config))
}

/// Returns the conflicts between the policy named by `ftl.policy` and other settings; empty if there are none. `geometry` is `None` if the geometry
/// is invalid.
pub(crate) fn conflicts(config: &Config, geometry: Option<&Geometry>) -> Vec<ConfigConflict> {
    (info_of(config.ftl.policy).conflicts)(config, geometry)
}

/// Returns the conflicts between other settings and a policy that writes the planes of `dies` dies together; empty if there are none.
fn joint_plane_conflicts(config: &Config, dies: u32) -> Vec<ConfigConflict> {
    let mut clashes = Vec::new();
    if dies == 1 && config.geometry.planes_per_die < 2 {
        let key = "geometry.planes-per-die";
        let why = "which has the planes of a die work together, and geometry.planes-per-die is 1";
        clashes.push(policy_conflict(config, key, why, "raise geometry.planes-per-die to 2 or more"));
    }
    if config.ftl.write_binding == WriteBinding::Early {
        let why = "which chooses the plane of a write, and ftl.write-binding `early` gives it a page before";
        clashes.push(policy_conflict(config, "ftl.write-binding", why, "set ftl.write-binding to \"late\""));
    }
    if config.ftl.write_streams.separates_streams() {
        let why = "which has planes write at one pointer, and ftl.write-streams is `per-stream`";
        clashes.push(policy_conflict(config, "ftl.write-streams", why, "set ftl.write-streams to \"shared\""));
    }
    clashes
}

fn policy_conflict(config: &Config, key: &str, why: &str, help: &str) -> ConfigConflict {
    let message = format!("ftl.policy is `{}`, {why}", config.ftl.policy);
    ConfigConflict::new(&[key, "ftl.policy"], message).with_help(&format!("{help}, or choose another ftl.policy"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_kind_of_policy_has_its_facts() {
        for kind in config::FirmwarePolicy::ALL {
            assert_eq!(info_of(*kind).kind, *kind);
        }
    }
}
