//! Parity of superblocks (`ftl.parity`), which protects a drive against the loss of a die (RAIN).
//!
//! With parity 1/N, a die programs parity after every N - 1 data programs: on the same planes, with as much data from the controller. The dies of a
//! superblock take turns. A parity program does not wait for other dies, because the controller keeps the parity of the data sent so far \[choice\].
//! Parity contains no mapping units: a block has fewer pages for data instead ([`Config::unit_geometry`]).

use crate::config::{Config, MultiPlane};
use crate::controller::follow_ups::FollowUp;
use crate::controller::shared::Shared;
use crate::controller::{Backend, Context};
use crate::flash::geometry::Geometry;
use crate::ftl::Superblocks;
use crate::ids::{BlockId, Lpn, PlaneId, Ppn, TransactionId};
use crate::kernel::model::Model;
use crate::kernel::probe::Notice;
use crate::schedule::purpose::Purpose;
use crate::schedule::transaction::Transaction;

use super::kind::Kind;

/// The schedule of parity programs.
#[derive(Clone, Debug)]
pub struct Parity {
    /// Number of data programs between two parity programs.
    data_programs: u32,
    superblocks: Superblocks,
    /// Whether the planes of a die are programmed together, in one operation.
    by_die: bool,
}

impl Parity {
    /// Creates the schedule; `None` if the drive has no parity.
    pub fn new(config: &Config, geometry: &Geometry) -> Option<Parity> {
        let programs = config.parity_stripe()?;
        let by_die = geometry.gathers_units() && config.flash.multi_plane != MultiPlane::Off;
        Some(Parity {
            data_programs: programs - 1,
            superblocks: Superblocks::new(geometry, config.superblock_dies()),
            by_die,
        })
    }

    /// Returns whether a parity program must follow the data program whose last mapping unit is at `last`.
    fn follows(&self, last: Ppn, geometry: &Geometry) -> bool {
        let die = geometry.die_of_plane(geometry.plane_of(last));
        let row = geometry.page_in_block(last) / geometry.units_per_program_of(geometry.block_of(last));
        (row + 1 + self.superblocks.index_in_superblock(die)).is_multiple_of(self.data_programs)
    }

    /// Adds a parity program if one must follow the data program that begins now. `last_of_planes` contains the location of the last
    /// mapping unit that the data program writes on each plane.
    pub fn program_began<M: Model>(&self, last_of_planes: &[Ppn], cx: &mut Context<'_, M>) {
        let geometry = &cx.shared.geometry;
        let first = last_of_planes[0];
        let units = geometry.units_per_program_of(geometry.block_of(first));
        if !self.follows(first, geometry) {
            return;
        }
        let program = |plane: PlaneId, last: Ppn| {
            let in_plane = last.0 % geometry.pages_per_plane() / units * units + units - 1;
            FollowUp::Own {
                work: Purpose::Parity,
                lpn: Lpn(0),
                from: Ppn(plane.0 * geometry.pages_per_plane() + in_plane),
                plane,
            }
        };
        let steps: Vec<FollowUp> = if self.by_die {
            let die = geometry.die_of_plane(geometry.plane_of(first));
            cx.shared.planes_of(die).map(|plane| program(plane, first)).collect()
        } else {
            last_of_planes.iter().map(|&last| program(geometry.plane_of(last), last)).collect()
        };
        steps.into_iter().for_each(|step| cx.push(step));
    }
}

/// A parity program allocates no page, because parity contains no mapping units. Its address is only a label: that of the last mapping unit of the
/// preceding data program.
impl Kind for Parity {
    fn programmed<M: Model>(id: TransactionId, _: Purpose, backend: &mut Backend<M>) {
        let cx = &mut backend.context();
        let to = cx.datapath.queues.transaction(id).to;
        cx.kernel.notify(|| Notice::ParityProgrammed(to));
        let geometry = &cx.shared.geometry;
        let units = geometry.units_per_program_of(geometry.block_of(to));
        cx.shared.counters.flash.parity_programs += u64::from(units);
    }

    fn next_page(program: &Transaction, shared: &Shared) -> Option<(BlockId, u32)> {
        Some((shared.geometry.block_of(program.from), shared.geometry.page_in_block(program.from)))
    }

    fn allocate(program: &Transaction, _: &mut Shared) -> Option<Ppn> {
        Some(program.from)
    }
}
