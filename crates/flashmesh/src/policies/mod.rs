//! Firmware policies: one folder each, with its [facts](PolicyFacts), and one line in [`POLICIES`].
//!
//! A policy decides where pages go and when; it owns no page and knows no time. All that TBM and MBM do beside the page policy stands in
//! their folders.

mod mbm;
mod page;
mod placed;
mod sprinkler;
mod superblock;
mod tbm;
mod together;

use std::ops::Range;

use auto_impl::auto_impl;
use enum_dispatch::enum_dispatch;

use crate::config::{self, Clash, Config, MovedPages, WriteBinding, WriteStreams};
use crate::flash::geometry::Geometry;
use crate::ftl::allocation::IdleDies;
use crate::ftl::{Ftl, FtlRules, Stream};
use crate::ids::{Lpn, PlaneId, TransactionId};
use crate::schedule::load::Load;
use crate::schedule::transaction::{Class, Transaction};
use crate::units::Bytes;

pub use placed::{Placed, PlacingView, WritePlacer};

/// Who chooses the planes of pages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Placing {
    /// The allocator.
    Allocator,
    /// The allocator, and then [`FirmwarePolicy::place_write`].
    Beside,
    /// [`FirmwarePolicy::due`], as a write leaves the queue of those that the policy holds.
    Late,
}

/// What a policy is told.
#[derive(Clone, Copy, Debug)]
pub enum PolicyEvent<'a> {
    /// A read of a page begins, for a request that was [planned](FirmwarePolicy::plan_read).
    ReadBegins(TransactionId, Lpn),
    /// A read leaves its die, or the queue of it.
    ReadEnded(&'a Transaction),
    /// A read is given up.
    ReadDropped(TransactionId),
    /// A program that waited for a plane has its page, or is dropped.
    PageTaken(Class, PlaneId),
    /// The array has programmed a page that the policy had [rewritten](FirmwarePolicy::rewrites).
    Rewritten,
    /// A page that requests, or the device cache, wrote has been programmed, and the controller knows.
    WriteEnded(&'a Transaction),
    /// A write is not programmed: its page has changed, or the host is gone.
    WriteDropped(&'a Transaction),
    /// A die has nothing to do, or space again.
    DieIdle,
}

/// The drive, as a policy sees it when writes may leave its queues.
pub struct PolicyView<'a> {
    /// Where pages are.
    pub ftl: &'a mut Ftl,
    /// Dies with nothing to do, where the allocation looks for such.
    pub idle: &'a IdleDies,
    /// What waits for the dies, and what they do.
    pub load: Load<'a>,
}

/// What leaves the queues of a policy.
#[derive(Debug, Default)]
pub struct Due {
    /// Writes with the planes that they go to, in this order.
    pub sent: Vec<(TransactionId, PlaneId)>,
    /// Rewritten pages that find no room where they were to go.
    pub dropped: Vec<TransactionId>,
    /// Planes without a page for the host: they may have to be collected.
    pub full: Vec<PlaneId>,
}

/// How the firmware uses the state machines of the translation layer. The defaults are the page policy: each plane is written and
/// collected by itself, as the allocator says, at once.
///
/// # Contract
/// - It is deterministic: the same calls in the same order give the same answers.
/// - It changes nothing of what a drive promises: whatever it answers, each read gives the newest version, each write is
///   programmed once, and no plane runs out of pages.
/// - A write that it [holds](FirmwarePolicy::hold) it sends once, by [`due`](FirmwarePolicy::due), after a finite time: while one of
///   its writes is under way the end of that asks again, so it may not hold all of them.
/// - It places a write that it sends with [`Ftl::place_write_on`], on a plane that [has room](Ftl::has_room).
#[enum_dispatch]
#[auto_impl(Box)]
pub trait FirmwarePolicy {
    /// Which open block of its plane takes a page that collection or wear levelling moves; asked once, before the run.
    fn moved_pages(&self) -> MovedPages {
        MovedPages::OwnBlock
    }

    /// Who chooses the planes of pages; always the same.
    fn placing(&self) -> Placing {
        Placing::Allocator
    }

    /// The plane that a page goes to which the allocator placed on `plane`, into an open block of `stream`; asked where
    /// [`Placing::Beside`] is said. One without room for it stands for `plane`.
    fn place_write(&mut self, plane: PlaneId, _stream: Stream, _ftl: &Ftl) -> PlaneId {
        plane
    }

    /// A page for which [`place_write`](FirmwarePolicy::place_write) was asked goes to `plane`: its answer, unless that has no room for it.
    fn placed(&mut self, _plane: PlaneId) {}

    /// The plane that takes a page moved out of `plane`: of the same die, or of those that use the same blocks.
    fn place_move(&mut self, plane: PlaneId, _stream: Stream, _ftl: &Ftl) -> PlaneId {
        plane
    }

    /// A request is about to read these logical pages, `bytes` in all.
    fn plan_read(&mut self, _pages: Range<u32>, _bytes: Bytes, _ftl: &Ftl) {}

    /// A transaction could go to its die now: whether it is a write that the policy keeps until it is [due](FirmwarePolicy::due).
    fn hold(&mut self, _id: TransactionId, _transaction: &Transaction, _ftl: &Ftl) -> bool {
        false
    }

    /// Whether writes that are held may go on.
    fn is_due(&self) -> bool {
        false
    }

    /// Takes the writes that may go on out of those that are held.
    fn due(&mut self, _drive: &mut PolicyView<'_>) -> Due {
        Due::default()
    }

    /// Takes those out of the writes that are held of which `is_taken` says so.
    fn take_held(&mut self, _is_taken: &dyn Fn(TransactionId) -> bool) -> Vec<TransactionId> {
        Vec::new()
    }

    /// The data of a read for a request is in the controller: the plane on whose die its page is to be written anew.
    fn rewrites(&mut self, _read: TransactionId) -> Option<PlaneId> {
        None
    }

    /// Whether a read may join another one of the same die that leads, when their addresses let them.
    fn joins(&self, _lead: &Transaction, _other: &Transaction) -> bool {
        true
    }

    /// Something has happened.
    fn tell(&mut self, _event: PolicyEvent<'_>) {}

    /// The same policy in the same state, for a snapshot of the drive; none where it cannot be copied.
    fn copied(&self) -> Option<AnyPolicy> {
        None
    }
}

impl Clone for AnyPolicy {
    fn clone(&self) -> AnyPolicy {
        self.copied().expect("only drives with policies that can be copied are copied")
    }
}

/// A policy of any kind. The page policy, which most drives have, is called directly.
#[enum_dispatch(FirmwarePolicy)]
pub enum AnyPolicy {
    Page(page::Page),
    Other(Box<dyn FirmwarePolicy + Send>),
}

impl AnyPolicy {
    /// Whether it is the page policy, whose methods do nothing.
    #[inline(always)]
    pub fn is_page(&self) -> bool {
        matches!(self, AnyPolicy::Page(_))
    }

    fn other(policy: impl FirmwarePolicy + Send + 'static) -> AnyPolicy {
        AnyPolicy::Other(Box::new(policy))
    }
}

/// All that is known of a policy before a run.
pub struct PolicyFacts {
    pub kind: config::FirmwarePolicy,
    pub build: fn(&Config, &Geometry) -> AnyPolicy,
    /// What it asks of the translation layer, which else follows these rules.
    pub ftl_rules: fn(&Config, FtlRules) -> FtlRules,
    /// What it cannot go together with.
    pub(crate) clashes: fn(&Config, Option<&Geometry>) -> Vec<Clash>,
}

/// The policies, in the order of their kinds.
static POLICIES: [&PolicyFacts; config::FirmwarePolicy::ALL.len()] =
    [&page::FACTS, &tbm::FACTS, &mbm::FACTS, &sprinkler::FACTS, &superblock::FACTS];

fn facts(kind: config::FirmwarePolicy) -> &'static PolicyFacts {
    POLICIES.into_iter().find(|facts| facts.kind == kind).expect("each kind has its facts")
}

/// The page policy, in whose place another one comes.
pub fn page_policy() -> AnyPolicy {
    AnyPolicy::Page(page::Page)
}

/// The policy that `config` names.
pub fn policy_of(config: &Config, geometry: &Geometry) -> AnyPolicy {
    (facts(config.ftl.policy).build)(config, geometry)
}

/// What the policy that `config` names asks of the translation layer.
pub fn ftl_rules(config: &Config) -> FtlRules {
    (facts(config.ftl.policy).ftl_rules)(config, FtlRules::new(config))
}

/// What the policy that `config` names cannot go together with.
pub(crate) fn clashes(config: &Config, geometry: Option<&Geometry>) -> Vec<Clash> {
    (facts(config.ftl.policy).clashes)(config, geometry)
}

/// What a policy cannot go together with that writes the planes of `dies` dies together.
fn planes_work_together(config: &Config, dies: u32) -> Vec<Clash> {
    let mut clashes = Vec::new();
    if dies == 1 && config.geometry.planes_per_die < 2 {
        let key = "geometry.planes-per-die";
        let why = "which has the planes of a die work together, and geometry.planes-per-die is 1";
        clashes.push(refused(config, key, why, "raise geometry.planes-per-die to 2 or more"));
    }
    if config.ftl.write_binding == WriteBinding::Early {
        let why = "which chooses the plane of a write, and ftl.write-binding `early` gives it a page before";
        clashes.push(refused(config, "ftl.write-binding", why, "set ftl.write-binding to \"late\""));
    }
    if config.ftl.write_streams == WriteStreams::PerStream {
        let why = "which has planes write at one pointer, and ftl.write-streams is `per-stream`";
        clashes.push(refused(config, "ftl.write-streams", why, "set ftl.write-streams to \"shared\""));
    }
    clashes
}

fn refused(config: &Config, key: &str, why: &str, help: &str) -> Clash {
    let message = format!("ftl.policy is `{}`, {why}", config.ftl.policy);
    Clash::new(&[key, "ftl.policy"], message).help(&format!("{help}, or choose another ftl.policy"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_kind_of_policy_has_its_facts() {
        for kind in config::FirmwarePolicy::ALL {
            assert_eq!(facts(*kind).kind, *kind);
        }
    }
}
