//! MBM (Maximizing Bandwidth Management FTL Based on Read and Write Asymmetry of Flash Memory): writes look for parallel planes, reads
//! for short responses. Each part has a switch of its own ([`crate::config::Mbm`]).
//!
//! - **WS** (section IV.A). Moved pages have an open block of their own in each plane, so that the write pointers of the planes of a
//!   die stay equal. Writes wait in one queue of the drive. As many of them as [`channel_max_subs`] lets a channel have, and as a chip
//!   takes at once, go to it together.
//! - **RS** (section IV.B). Reads of planes join for one request only. An area that a long request reads is read-intensive: what is
//!   written there goes to the die of its static order, and what a long request finds unevenly spread is laid out anew
//!   ([`reallocation`]).
//! - **MCS** (section IV.C). Of the free chips of a channel, the one that takes the fewest pages at once comes first, then those that
//!   take the most.
//! - **Suspension** of programs and erases is that of the dies (`mbm.suspension`).
//!
//! Where dies begin together (`flash.die-start`), a chip is free when all of its dies are, and takes at once what all of them take: several
//! dies and several planes by one transaction, as in the paper. Where they take turns (`flash.die-interleaving = false`) it takes what one
//! die takes.
//!
//! Where programs write several mapping units (`ftl.mapping-unit`, `flash.program-unit`), a subrequest of the paper is what one program writes in
//! a plane \[choice\]: `Channel_Max_Subs` and the parallelism of chips count programs, and as many units that are read, or wait, as one takes are
//! one. A plane that is chosen takes as many writes as its program. Writes that fill none go to a die by themselves, whose plane gathers: the next
//! writes go there first. Programs begin where pages do, so that write pointers that are equal in units are so in pages.
//!
//! The paper leaves open, and is decided here \[choice\]: where dies work by themselves, a chip is free when one of its dies is, and
//! takes at once what its free dies take. A die that lies apart from equal pointers takes the planes that are behind. Channels, chips and
//! dies that are alike take [turns], so that a drive with little to do is written to evenly, too. When no die is
//! idle, those without a program under way take writes behind their reads, so that none waits for ever.

mod areas;
mod bound;
mod channel_max_subs;
mod dispatch;
mod fill;
mod gathering;
mod planes;
mod programs;
mod reallocation;
mod turns;

use std::collections::VecDeque;
use std::ops::Range;

use rustc_hash::FxHashMap;

use crate::config::{self, Allocation, AreaRule, Config};
use crate::flash::geometry::Geometry;
use crate::ftl::{Ftl, FtlRules};
use crate::ids::{ChannelId, DieId, Lpn, PlaneId, Ppn, TransactionId};
use crate::schedule::transaction::{Class, Transaction};
use crate::schedule::work::Work;
use crate::units::Bytes;

use super::{AnyPolicy, Due, FirmwarePolicy, Placing, PolicyEvent, PolicyFacts, PolicyView, planes_work_together};

use areas::Areas;
use bound::BoundWrites;
use dispatch::Round;
use gathering::GatheringPlanes;
use programs::{Place, Programs};
use turns::Turns;

pub static FACTS: PolicyFacts = PolicyFacts {
    kind: config::FirmwarePolicy::Mbm,
    build: |config, geometry| AnyPolicy::other(Mbm::new(config, geometry)),
    // It chooses the planes of what the host writes; the rest goes by the static order.
    ftl_rules: |config, rules| FtlRules {
        allocation: Allocation::Static(config.ftl.static_order()),
        pages_leave_their_plane: true,
        moves_share_write_block: !config.mbm.ws,
        equal_write_pointers: config.mbm.ws,
        ..rules
    },
    clashes: |config, _| planes_work_together(config, 1),
};

/// When a chip takes writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Chips {
    /// Each die by itself.
    ByDie,
    /// All dies at once, when all of them are free.
    AllDies,
    /// One die at a time, when all of them are free.
    OneDie,
}

impl Chips {
    fn new(config: &Config, geometry: &Geometry) -> Chips {
        if geometry.dies_per_chip > 1 && !config.flash.die_interleaving {
            Chips::OneDie
        } else if config.dies_start_together() {
            Chips::AllDies
        } else {
            Chips::ByDie
        }
    }
}

/// The state of MBM.
#[derive(Clone, Debug)]
pub(super) struct Mbm {
    geometry: Geometry,
    rules: crate::config::Mbm,
    /// With RS.
    areas: Option<Areas>,
    /// Writes that may go anywhere, in the order of arrival.
    writes: VecDeque<TransactionId>,
    bound: BoundWrites,
    gathering: GatheringPlanes,
    programs: Programs,
    /// By channel: pages that requests read there.
    reads: Vec<u32>,
    /// By channel: whether the chip that takes the fewest pages had its turn, since writes waited last.
    least_had_turn: Vec<bool>,
    turns: Turns,
    chips: Chips,
    /// Pages of the request that is being read that go elsewhere, with their planes.
    planned: Vec<(Lpn, PlaneId)>,
    /// The reads that bring them.
    reading: FxHashMap<TransactionId, PlaneId>,
    /// Reallocated pages that wait for their programs.
    reallocations: u32,
    /// Whether waiting writes may go on.
    is_due: bool,
}

impl Mbm {
    fn new(config: &Config, geometry: &Geometry) -> Mbm {
        let rules = config.mbm.clone();
        let page = geometry.page_size.as_u64();
        let area_pages = match rules.area_size {
            Some(size) => (size.as_u64() / page).clamp(1, u64::from(u32::MAX)) as u32,
            None => geometry.dies() * geometry.units_per_page,
        };
        let channels = geometry.channels as usize;
        Mbm {
            areas: rules.rs.then(|| Areas::new(area_pages, geometry.logical_pages)),
            rules,
            writes: VecDeque::new(),
            bound: BoundWrites::new(geometry.dies()),
            gathering: GatheringPlanes::default(),
            programs: Programs::none(geometry),
            reads: vec![0; channels],
            least_had_turn: vec![false; channels],
            turns: Turns::new(geometry),
            chips: Chips::new(config, geometry),
            planned: Vec::new(),
            reading: FxHashMap::default(),
            reallocations: 0,
            is_due: false,
            geometry: geometry.clone(),
        }
    }

    fn channel_of(&self, die: DieId) -> ChannelId {
        self.geometry.channel_of(self.geometry.chip_of(die))
    }

    fn place_of(&self, plane: PlaneId) -> Place {
        let die = self.geometry.die_of_plane(plane);
        Place { plane, die, channel: self.channel_of(die) }
    }

    fn channel_of_plane(&self, plane: PlaneId) -> usize {
        self.channel_of(self.geometry.die_of_plane(plane)).index()
    }

    fn has_waiting(&self) -> bool {
        !self.bound.is_empty() || !self.writes.is_empty()
    }

    fn bind(&mut self, die: DieId, id: TransactionId) {
        self.bound.push(die, id);
        self.is_due = true;
    }

    fn write_left(&mut self, plane: PlaneId) {
        self.programs.end(self.place_of(plane));
        self.is_due = true;
    }
}

impl FirmwarePolicy for Mbm {
    fn copied(&self) -> Option<AnyPolicy> {
        Some(AnyPolicy::other(self.clone()))
    }

    fn placing(&self) -> Placing {
        Placing::Late
    }

    fn plan_read(&mut self, pages: Range<u32>, bytes: Bytes, ftl: &Ftl) {
        self.planned.clear();
        let Some(areas) = &mut self.areas else { return };
        let is_long = bytes > self.rules.read_threshold;
        if is_long || self.rules.area_rule == AreaRule::LatestRead {
            areas.mark(&pages, is_long);
        }
        if !is_long {
            return;
        }
        if self.reallocations + pages.len() as u32 > self.rules.reallocations_max {
            return;
        }
        let places: Vec<(Lpn, Ppn)> = pages.map(Lpn).filter_map(|lpn| ftl.lookup(lpn).map(|ppn| (lpn, ppn))).collect();
        let moves = reallocation::moves(&self.geometry, &places);
        self.planned = moves.into_iter().map(|(lpn, die)| (lpn, self.geometry.first_plane(die))).collect();
    }

    fn hold(&mut self, id: TransactionId, transaction: &Transaction, ftl: &Ftl) -> bool {
        let Transaction { lpn, plane, .. } = *transaction;
        match transaction.work {
            Work::Reallocate => {
                self.reallocations += 1;
                self.bind(self.geometry.die_of_plane(plane), id);
                true
            }
            Work::HostWrite(_) if self.areas.as_ref().is_some_and(|areas| areas.is_read_intensive(lpn)) => {
                let home = self.geometry.die_of_plane(ftl.static_plane(lpn));
                self.bind(home, id);
                true
            }
            Work::HostWrite(_) => {
                self.writes.push_back(id);
                self.is_due = true;
                true
            }
            work if work.class() == Class::UserRead => {
                let channel = self.channel_of_plane(plane);
                self.reads[channel] += 1;
                false
            }
            _ => false,
        }
    }

    #[inline]
    fn is_due(&self) -> bool {
        self.is_due && self.has_waiting()
    }

    fn due(&mut self, drive: &mut PolicyView<'_>) -> Due {
        self.is_due = false;
        let due = Round { mbm: self, drive, due: Due::default() }.run();
        self.reallocations -= due.dropped.len() as u32;
        due
    }

    fn take_held(&mut self, is_taken: &dyn Fn(TransactionId) -> bool) -> Vec<TransactionId> {
        let mut taken = Vec::new();
        self.bound.take(|&id| is_taken(id), &mut taken);
        taken.extend(self.writes.iter().copied().filter(|&id| is_taken(id)));
        self.writes.retain(|&id| !is_taken(id));
        taken
    }

    fn rewrites(&mut self, read: TransactionId) -> Option<PlaneId> {
        self.reading.remove(&read)
    }

    /// Pages of one request (RS).
    fn joins(&self, lead: &Transaction, other: &Transaction) -> bool {
        !self.rules.rs || lead.class() != Class::UserRead || lead.owner.request == other.owner.request
    }

    fn tell(&mut self, event: PolicyEvent<'_>) {
        match event {
            PolicyEvent::ReadBegins(id, lpn) => {
                if let Some(&(_, plane)) = self.planned.iter().find(|&&(planned, _)| planned == lpn) {
                    self.reading.insert(id, plane);
                }
            }
            PolicyEvent::ReadEnded(read) => {
                if read.class() == Class::UserRead {
                    let channel = self.channel_of_plane(read.plane);
                    self.reads[channel] = self.reads[channel].saturating_sub(1);
                }
            }
            PolicyEvent::ReadDropped(id) => {
                self.reading.remove(&id);
            }
            PolicyEvent::Rewritten => self.reallocations -= 1,
            PolicyEvent::WriteEnded(write) => self.write_left(write.plane),
            PolicyEvent::WriteDropped(write) => {
                self.reallocations -= u32::from(write.work == Work::Reallocate);
                self.gathering.dropped(write.plane);
                self.write_left(write.plane);
            }
            PolicyEvent::DieIdle => self.is_due = true,
            PolicyEvent::PageTaken(Class::UserProgram, plane) => self.gathering.begins(plane),
            PolicyEvent::PageTaken(..) => {}
        }
    }
}
