//! MBM (Maximizing Bandwidth Management FTL Based on Read and Write Asymmetry of Flash Memory): writes are dispatched for plane parallelism, reads
//! for short response times. Each of its four techniques has a switch of its own ([`crate::config::Mbm`]).
//!
//! - **WS**, write strategy (section IV.A). Moved pages have an open block of their own in each plane, so that the write pointers of the planes of a
//!   die stay equal. Writes wait in one queue of the drive and are dispatched in groups. A group is limited by [`channel_max_subs`] for its channel,
//!   and by the pages that a chip can program at once.
//! - **RS**, read strategy (section IV.B). Reads of host requests join in one operation only if they belong to one request. An area (range of logical
//!   pages) that a long request reads is read-intensive. Writes to a read-intensive area are spread evenly ("we will distribute them into all
//!   corresponding dies of the area averagely"). Each goes to the free die with the fewest pages of the area ([`area_writes`]). If a long request
//!   finds its pages unevenly spread, they are rewritten ([`reallocation`]).
//! - **MCS**, Minimizing Chip consumption Strategy (section IV.C). Among the free chips of a channel, the one with the least parallelism (pages
//!   programmed at once) is served first, then those with the most.
//! - **Suspension** of programs and erases is implemented by the dies (`mbm.suspension`).
//!
//! If dies start together (`flash.die-start`), a chip is free when all of its dies are free, and its parallelism is the sum over its dies. One
//! transaction covers several dies and planes, as in the paper. Without die interleaving (`flash.die-interleaving = false`), the parallelism of a
//! chip is that of one die.
//!
//! If programs write several mapping units (`ftl.mapping-unit`, `flash.program-unit`), a subrequest of the paper is one program in one plane
//! \[choice\]. `Channel_Max_Subs` and the parallelism of chips count programs; numbers of units to read or to write are converted to programs. A
//! chosen plane takes the writes of one program. If fewer writes are waiting, they go to a plane of an unused die, where further writes fill the
//! program before other planes take any. Programs start at page boundaries, so write pointers that are equal in units are equal in pages.
//!
//! Choices where the paper is silent \[choice\]: if dies work independently, a chip is free when one of its dies is, and its parallelism is the sum
//! over its free dies. If the write pointers of a die differ, the die takes writes on the planes that are behind. Equal channels, chips and dies are
//! served in [round-robin](round_robin) order, so that a lightly loaded drive is written evenly, too. If no die is idle, writes go to dies that read
//! and have no program in flight, so that no write waits for ever.

mod area_writes;
mod areas;
mod channel_max_subs;
mod dispatch;
mod fill;
mod filling_programs;
mod pinned_writes;
mod planes;
mod programs;
mod reallocation;
mod round_robin;

use std::collections::VecDeque;
use std::ops::Range;

use rustc_hash::FxHashMap;

use crate::config::{self, Allocation, AreaRule, AreaWrites, Config};
use crate::flash::geometry::Geometry;
use crate::ftl::{Ftl, FtlRules};
use crate::ids::{ChannelId, DieId, Lpn, PlaneId, Ppn, TransactionId};
use crate::schedule::purpose::Purpose;
use crate::schedule::transaction::{Transaction, TransactionClass};
use crate::units::Bytes;

use super::{
    AnyPolicy, DispatchedWrites, FirmwarePolicy, PlacementStage, PolicyEvent, PolicyInfo, PolicyView,
    joint_plane_conflicts,
};

use area_writes::PendingAreaWrites;
use areas::Areas;
use dispatch::DispatchRound;
use filling_programs::FillingPrograms;
use pinned_writes::PinnedWrites;
use programs::{PlaneLocation, ProgramsInFlight};
use round_robin::RoundRobin;

pub static INFO: PolicyInfo = PolicyInfo {
    kind: config::FirmwarePolicy::Mbm,
    build: |config, geometry| AnyPolicy::other(Mbm::new(config, geometry)),
    // The policy chooses the planes of host writes; all other pages go to their planes of the static order.
    ftl_rules: |config, rules| FtlRules {
        allocation: Allocation::Static(config.ftl.static_order()),
        allows_other_planes: true,
        moves_share_write_block: !config.mbm.ws,
        equal_write_pointers: config.mbm.ws,
        ..rules
    },
    conflicts: |config, _| joint_plane_conflicts(config, 1),
};

/// Condition under which the dies of a chip take writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ChipDispatch {
    /// Each die takes writes when it is free, whatever the other dies do.
    ByDie,
    /// All dies of the chip take writes together, when all dies of the chip are free.
    AllDies,
    /// One die of the chip takes writes at a time, when all dies of the chip are free.
    OneDie,
}

impl ChipDispatch {
    fn new(config: &Config, geometry: &Geometry) -> ChipDispatch {
        if geometry.dies_per_chip > 1 && !config.flash.die_interleaving {
            ChipDispatch::OneDie
        } else if config.dies_start_together() {
            ChipDispatch::AllDies
        } else {
            ChipDispatch::ByDie
        }
    }
}

/// The MBM policy: writes held until their dispatch, programs in flight, and round-robin pointers.
#[derive(Clone, Debug)]
pub(super) struct Mbm {
    geometry: Geometry,
    rules: crate::config::Mbm,
    /// Read-intensive areas (ranges of logical pages that long requests read); `None` if RS (read strategy) is off.
    areas: Option<Areas>,
    /// Waiting writes that are not pinned to a die, in order of arrival.
    writes: VecDeque<TransactionId>,
    area_writes: PendingAreaWrites,
    pinned: PinnedWrites,
    filling_programs: FillingPrograms,
    programs: ProgramsInFlight,
    /// Number of page reads of host requests that are queued or in progress at dies, indexed by channel.
    reads: Vec<u32>,
    /// Whether the chip of each channel with the least parallelism (programs that it can start at once) was already served since MCS last began anew
    /// (`mbm.mcs-begins`).
    least_had_turn: Vec<bool>,
    round_robin: RoundRobin,
    chips: ChipDispatch,
    /// Pages of the read request last passed to `plan_read` that must be rewritten, each with its target plane.
    planned: Vec<(Lpn, PlaneId)>,
    /// Reads in progress of pages that are to be rewritten, each with the target plane of its page.
    reading: FxHashMap<TransactionId, PlaneId>,
    /// Number of pages whose rewrite (by [`reallocation`]) waits for dispatch or is in flight.
    reallocations: u32,
    /// Whether a round of dispatch is due, because an event may allow waiting writes to be dispatched.
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
            area_writes: PendingAreaWrites::default(),
            pinned: PinnedWrites::new(geometry.dies()),
            filling_programs: FillingPrograms::default(),
            programs: ProgramsInFlight::new(geometry),
            reads: vec![0; channels],
            least_had_turn: vec![false; channels],
            round_robin: RoundRobin::new(geometry),
            chips: ChipDispatch::new(config, geometry),
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

    fn planes_of(&self, die: DieId) -> impl Iterator<Item = PlaneId> + use<> {
        let first = self.geometry.first_plane(die).0;
        (first..first + self.geometry.planes_per_die).map(PlaneId)
    }

    fn location_of(&self, plane: PlaneId) -> PlaneLocation {
        let die = self.geometry.die_of_plane(plane);
        PlaneLocation { plane, die, channel: self.channel_of(die) }
    }

    fn channel_of_plane(&self, plane: PlaneId) -> usize {
        self.channel_of(self.geometry.die_of_plane(plane)).index()
    }

    fn has_waiting(&self) -> bool {
        !self.pinned.is_empty() || !self.writes.is_empty() || !self.area_writes.is_empty()
    }

    /// Removes a programmed or cancelled write from the writes in flight, and makes another round of dispatch due.
    fn remove_write(&mut self, write: &Transaction) {
        if matches!(write.purpose, Purpose::HostWrite(_)) {
            self.area_writes.end(write.lpn);
        }
        self.programs.end(self.location_of(write.plane));
        self.is_due = true;
    }
}

impl FirmwarePolicy for Mbm {
    fn snapshot(&self) -> Option<AnyPolicy> {
        Some(AnyPolicy::other(self.clone()))
    }

    fn placement_stage(&self) -> PlacementStage {
        PlacementStage::AtDispatch
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
        let moves = reallocation::pages_to_move(&self.geometry, self.rules.reallocation_trigger, &places);
        self.planned = moves.into_iter().map(|(lpn, die)| (lpn, self.geometry.first_plane(die))).collect();
    }

    fn try_hold(&mut self, id: TransactionId, transaction: &Transaction, ftl: &Ftl) -> bool {
        let Transaction { lpn, plane, .. } = *transaction;
        match transaction.purpose {
            Purpose::Reallocate => {
                self.reallocations += 1;
                self.pinned.push(self.geometry.die_of_plane(plane), id);
                self.is_due = true;
                true
            }
            Purpose::HostWrite(_) => {
                let is_of_area = self.areas.as_ref().is_some_and(|areas| areas.is_read_intensive(lpn));
                match self.rules.area_writes {
                    _ if !is_of_area => self.writes.push_back(id),
                    AreaWrites::FewestPages => self.area_writes.push(id),
                    AreaWrites::StaticDie => {
                        self.pinned.push(self.geometry.die_of_plane(ftl.static_order().plane_of(lpn)), id)
                    }
                }
                self.is_due = true;
                true
            }
            work if work.class() == TransactionClass::UserRead => {
                let channel = self.channel_of_plane(plane);
                self.reads[channel] += 1;
                false
            }
            _ => false,
        }
    }

    fn may_dispatch(&self) -> bool {
        self.is_due && self.has_waiting()
    }

    fn dispatch_held(&mut self, drive: &mut PolicyView<'_>) -> DispatchedWrites {
        self.is_due = false;
        let due = DispatchRound { mbm: self, drive, due: DispatchedWrites::default() }.run();
        self.reallocations -= due.dropped.len() as u32;
        due
    }

    fn withdraw_held(&mut self, is_taken: &dyn Fn(TransactionId) -> bool) -> Vec<TransactionId> {
        let mut taken = Vec::new();
        self.pinned.remove_where(|&id| is_taken(id), &mut taken);
        self.area_writes.remove_where(|&id| is_taken(id), &mut taken);
        taken.extend(self.writes.iter().copied().filter(|&id| is_taken(id)));
        self.writes.retain(|&id| !is_taken(id));
        taken
    }

    fn rewrite_plane(&mut self, read: TransactionId) -> Option<PlaneId> {
        self.reading.remove(&read)
    }

    /// Returns whether two reads may join in one operation. With RS (read strategy), reads of host requests join only within one request.
    fn may_join(&self, lead: &Transaction, other: &Transaction) -> bool {
        !self.rules.rs || lead.class() != TransactionClass::UserRead || lead.owner.request == other.owner.request
    }

    fn notify(&mut self, event: PolicyEvent<'_>) {
        match event {
            PolicyEvent::ReadBegins(id, lpn) => {
                if let Some(&(_, plane)) = self.planned.iter().find(|&&(planned, _)| planned == lpn) {
                    self.reading.insert(id, plane);
                }
            }
            PolicyEvent::ReadEnded(read) => {
                if read.class() == TransactionClass::UserRead {
                    let channel = self.channel_of_plane(read.plane);
                    self.reads[channel] = self.reads[channel].saturating_sub(1);
                }
            }
            PolicyEvent::ReadCancelled(id) => {
                self.reading.remove(&id);
            }
            PolicyEvent::Rewritten => self.reallocations -= 1,
            PolicyEvent::WriteEnded(write) => self.remove_write(write),
            PolicyEvent::WriteCancelled(write) => {
                self.reallocations -= u32::from(write.purpose == Purpose::Reallocate);
                self.filling_programs.remove_write(write.plane);
                self.remove_write(write);
            }
            PolicyEvent::DieIdle => self.is_due = true,
            PolicyEvent::PageAllocated(TransactionClass::UserProgram, plane) => {
                self.filling_programs.on_program_start(plane)
            }
            PolicyEvent::PageAllocated(..) => {}
        }
    }
}
