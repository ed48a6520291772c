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
//! The paper leaves open, and is decided here \[choice\]: dies work by themselves, so that a chip is free when one of its dies is, and
//! takes at once what its free dies take. A die that lies apart from equal pointers takes the planes that are behind. Channels, chips and
//! dies that are alike take [turns], so that a drive with little to do is written to evenly, too. When no die is
//! idle, those without a program under way take writes behind their reads, so that none waits for ever.

mod areas;
mod bound;
mod channel_max_subs;
mod dispatch;
mod programs;
mod reallocation;
mod turns;

use std::collections::VecDeque;

use crate::config::Config;
use crate::datapath::Datapath;
use crate::flash::geometry::Geometry;
use crate::ids::{ChannelId, DieId, Lpn, PlaneId, TransactionId};
use crate::kernel::Kernel;
use crate::kernel::model::Model;
use crate::schedule::transaction::{Class, Transaction};

use super::Firmware;
use super::policy::AnyPolicy;

use areas::Areas;
use bound::BoundWrites;
use programs::Programs;
use turns::Turns;

/// The state of MBM.
#[derive(Debug)]
pub(super) struct Mbm {
    geometry: Geometry,
    rules: crate::config::Mbm,
    /// With RS.
    areas: Option<Areas>,
    /// Writes that may go anywhere, in the order of arrival.
    writes: VecDeque<TransactionId>,
    bound: BoundWrites,
    programs: Programs,
    /// By channel: pages that requests read there.
    reads: Vec<u32>,
    /// By channel: whether the chip that takes the fewest pages had its turn, since writes waited last.
    least_had_turn: Vec<bool>,
    turns: Turns,
    /// Pages of the request that is being read that go elsewhere, with their planes.
    planned: Vec<(Lpn, PlaneId)>,
    /// Reallocated pages that wait for their programs.
    reallocations: u32,
    /// Whether waiting writes may go on.
    pub(super) is_due: bool,
}

impl Mbm {
    pub(super) fn new(config: &Config, geometry: &Geometry) -> Mbm {
        let rules = config.mbm.clone();
        let page = geometry.page_size.as_u64();
        let area_pages = match rules.area_size {
            Some(size) => (size.as_u64() / page).clamp(1, u64::from(u32::MAX)) as u32,
            None => geometry.dies(),
        };
        let channels = geometry.channels as usize;
        Mbm {
            areas: rules.rs.then(|| Areas::new(area_pages, geometry.logical_pages)),
            rules,
            writes: VecDeque::new(),
            bound: BoundWrites::new(geometry.dies()),
            programs: Programs::none(geometry.dies(), geometry.channels),
            reads: vec![0; channels],
            least_had_turn: vec![false; channels],
            turns: Turns::new(geometry),
            planned: Vec::new(),
            reallocations: 0,
            is_due: false,
            geometry: geometry.clone(),
        }
    }

    /// Whether a read may join another one that leads: pages of one request (RS).
    pub(super) fn joins(&self, lead: &Transaction, other: &Transaction) -> bool {
        !self.rules.rs || lead.class != Class::UserRead || lead.request == other.request
    }

    fn channel_of(&self, die: DieId) -> ChannelId {
        self.geometry.channel_of(self.geometry.chip_of(die))
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
        let die = self.geometry.die_of_plane(plane);
        self.programs.end(die, self.channel_of(die));
        self.is_due = true;
    }
}

impl Firmware {
    fn mbm(&mut self) -> Option<&mut Mbm> {
        match &mut self.policy {
            AnyPolicy::Mbm(mbm) => Some(mbm),
            _ => None,
        }
    }

    /// Takes a write into the queue of those that wait for a chip; gives whether it did. Counts reads.
    #[inline]
    pub(super) fn is_held<M: Model>(
        &mut self,
        id: TransactionId,
        datapath: &mut Datapath<M>,
        kernel: &Kernel<M>,
    ) -> bool {
        if !matches!(self.policy, AnyPolicy::Mbm(_)) {
            return false;
        }
        self.hold(id, datapath, kernel)
    }

    fn hold<M: Model>(&mut self, id: TransactionId, datapath: &mut Datapath<M>, kernel: &Kernel<M>) -> bool {
        let Transaction { class, lpn, plane, .. } = *datapath.transaction(id);
        let home = self.geometry.die_of_plane(self.ftl.static_plane(lpn));
        let Some(mbm) = self.mbm() else { return false };
        match class {
            Class::UserRead => {
                let channel = mbm.channel_of_plane(plane);
                mbm.reads[channel] += 1;
                false
            }
            Class::UserProgram => {
                datapath.transaction_mut(id).account.begin(kernel.now());
                if mbm.areas.as_ref().is_some_and(|areas| areas.is_read_intensive(lpn)) {
                    mbm.bind(home, id);
                } else {
                    mbm.writes.push_back(id);
                    mbm.is_due = true;
                }
                true
            }
            _ => false,
        }
    }

    /// A read leaves its die, or the queue of it.
    #[inline]
    pub(super) fn read_ended<M: Model>(&mut self, id: TransactionId, datapath: &Datapath<M>) {
        let Some(mbm) = self.mbm() else { return };
        let Transaction { class, plane, .. } = *datapath.transaction(id);
        if class == Class::UserRead {
            let channel = mbm.channel_of_plane(plane);
            mbm.reads[channel] = mbm.reads[channel].saturating_sub(1);
        }
    }

    /// A page that requests, or the device cache, wrote to `plane` has been programmed.
    #[inline]
    pub(super) fn write_ended(&mut self, plane: PlaneId) {
        if let Some(mbm) = self.mbm() {
            mbm.write_left(plane);
        }
    }

    /// A transaction is taken out of the queue of its die, since the host is gone.
    pub(super) fn write_taken_out<M: Model>(&mut self, id: TransactionId, datapath: &Datapath<M>) {
        let Transaction { class, plane, .. } = *datapath.transaction(id);
        if class == Class::UserProgram {
            self.write_ended(plane);
        }
        self.read_ended(id, datapath);
    }

    /// Takes the writes that requests wait for out of those that wait for a chip.
    pub(super) fn take_held_of_requests<M: Model>(&mut self, datapath: &Datapath<M>) -> Vec<TransactionId> {
        let Some(mbm) = self.mbm() else { return Vec::new() };
        let is_of_request = |&id: &TransactionId| datapath.transaction(id).request.is_some();
        let mut taken = Vec::new();
        mbm.bound.take(is_of_request, &mut taken);
        taken.extend(mbm.writes.iter().copied().filter(is_of_request));
        mbm.writes.retain(|id| !is_of_request(id));
        taken
    }
}
