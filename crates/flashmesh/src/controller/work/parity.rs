//! Parity of superblocks (`ftl.parity`), as drives keep it against the loss of a die (RAIN).
//!
//! With 1/N a die programs parity once for N - 1 programs of data, right after the last of them: over the same planes, with as much data from
//! the controller. The dies of a superblock take turns. A parity program waits for no other die, since the controller has the sum of what it sent so far
//! \[choice\]. Parity holds no mapping units: a block has as many fewer pages for data ([`Config::unit_geometry`]).

use crate::config::{Config, MultiPlane};
use crate::controller::Context;
use crate::controller::steps::Step;
use crate::flash::geometry::Geometry;
use crate::ftl::Superblocks;
use crate::ids::{Lpn, PlaneId, Ppn};
use crate::kernel::model::Model;
use crate::kernel::probe::Notice;
use crate::schedule::transaction::Transaction;
use crate::schedule::work::Work;

/// When dies program parity.
#[derive(Clone, Debug)]
pub struct Parity {
    /// Programs of data for one of parity.
    data_programs: u32,
    superblocks: Superblocks,
    /// Whether the planes of a die are programmed together.
    by_die: bool,
}

impl Parity {
    /// `None` where the drive has no parity.
    pub fn new(config: &Config, geometry: &Geometry) -> Option<Parity> {
        let programs = config.parity_stripe()?;
        let by_die = geometry.gathers() && config.flash.multi_plane != MultiPlane::Off;
        Some(Parity {
            data_programs: programs - 1,
            superblocks: Superblocks::new(geometry, config.superblock_dies()),
            by_die,
        })
    }

    /// Whether the program that ends with `last` is followed by one of parity.
    fn follows(&self, last: Ppn, geometry: &Geometry) -> bool {
        let die = geometry.die_of_plane(geometry.plane_of(last));
        let row = geometry.page_in_block(last) / geometry.units_per_program_of(geometry.block_of(last));
        (row + 1 + self.superblocks.turn_of(die)).is_multiple_of(self.data_programs)
    }

    /// A program of data begins, in planes where its last units are these: parity follows, where it is its turn.
    pub fn program_began<M: Model>(&self, last_of_planes: &[Ppn], cx: &mut Context<'_, M>) {
        let geometry = &cx.shared.geometry;
        let first = last_of_planes[0];
        let units = geometry.units_per_program_of(geometry.block_of(first));
        if !self.follows(first, geometry) {
            return;
        }
        let program = |plane: PlaneId, last: Ppn| {
            let in_plane = last.0 % geometry.pages_per_plane() / units * units + units - 1;
            Step::Own {
                work: Work::Parity,
                lpn: Lpn(0),
                from: Ppn(plane.0 * geometry.pages_per_plane() + in_plane),
                plane,
            }
        };
        let steps: Vec<Step> = if self.by_die {
            let die = geometry.die_of_plane(geometry.plane_of(first));
            cx.shared.planes_of(die).map(|plane| program(plane, first)).collect()
        } else {
            last_of_planes.iter().map(|&last| program(geometry.plane_of(last), last)).collect()
        };
        steps.into_iter().for_each(|step| cx.then(step));
    }
}

/// Gives a program of parity its place: beside the data that it follows.
pub fn place(transaction: &mut Transaction) {
    transaction.to = transaction.from;
}

/// The array has programmed parity.
pub fn programmed<M: Model>(to: Ppn, cx: &mut Context<'_, M>) {
    cx.kernel.tell(|| Notice::ParityProgrammed(to));
    let geometry = &cx.shared.geometry;
    let units = geometry.units_per_program_of(geometry.block_of(to));
    cx.shared.counters.flash.parity_programs += u64::from(units);
}
