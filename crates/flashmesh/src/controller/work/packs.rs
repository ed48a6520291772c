//! Mapping units that go from chip to chip gather in the page buffer of the other chip until they fill a program.
//!
//! - Which units run as one program is decided when the first of them leaves its register: those and the next valid ones of the victim, as many
//!   as a program writes. A page whose units go to several places leaves in parts.
//! - The program runs when all of them have come. Those that the host writes meanwhile are left out; a place stays empty for each.
//! - What is left of a victim at its end and fills no program goes to another chip only where no units of the victim have gone through the
//!   controller and wait for others in their own plane: of each victim one program at most is in part empty, as where all go through the
//!   controller \[choice\]. So a collection gives up fewer units than its victim has invalid ones, and frees space.
//! - Units that no plane takes go through the controller, and gather in their plane.

use rustc_hash::FxHashMap;

use crate::controller::Context;
use crate::controller::shared::Shared;
use crate::controller::steps::Step;
use crate::fabric::Fabric;
use crate::ftl::Stream;
use crate::ids::{BlockId, Lpn, PlaneId, Ppn, TransactionId};
use crate::kernel::model::Model;
use crate::schedule::work::{Route, Work};

/// The units of one program that go to another chip.
#[derive(Clone, Debug)]
struct Pack {
    /// The plane of the victim.
    source: PlaneId,
    /// Those that have not left the victim.
    expected: Vec<(Ppn, Lpn)>,
    /// How many are on their way.
    on_way: u32,
    /// Those that lie in the page buffer.
    arrived: Vec<TransactionId>,
}

/// All of them.
#[derive(Clone, Debug, Default)]
pub struct Packs {
    /// By the plane that they go to.
    by_plane: FxHashMap<PlaneId, Pack>,
    /// By the plane of the victim: where those go that have not left it.
    open: FxHashMap<PlaneId, PlaneId>,
    /// By the plane of the victim: its block, and how many units of that have gone through the controller.
    through_controller: FxHashMap<PlaneId, (BlockId, u32)>,
}

impl Packs {
    /// The plane of another chip that the first units of `reads` go to, of a page that leaves its register, when there is one, and how many of
    /// them go the same way.
    pub fn destination<M: Model>(
        &mut self,
        reads: &[TransactionId],
        cx: &mut Context<'_, M>,
    ) -> (Option<PlaneId>, usize) {
        let units: Vec<(Ppn, Lpn)> = reads
            .iter()
            .map(|&id| {
                let read = cx.datapath.transaction(id);
                (read.from, read.lpn)
            })
            .collect();
        let source = cx.shared.geometry.plane_of(units[0].0);
        let to = self.open.get(&source).copied().or_else(|| self.open_for(source, &units, cx));
        let pack = to.and_then(|to| self.by_plane.get_mut(&to));
        let expects = |unit: &(Ppn, Lpn)| pack.as_ref().is_some_and(|pack| pack.expected.contains(unit));
        let goes = expects(&units[0]);
        let count = units.iter().take_while(|unit| expects(unit) == goes).count();
        let Some(pack) = pack.filter(|_| goes) else {
            let block = cx.shared.geometry.block_of(units[0].0);
            let through = self.through_controller.entry(source).or_insert((block, 0));
            *through = (block, if through.0 == block { through.1 } else { 0 } + count as u32);
            return (None, count);
        };
        pack.expected.retain(|unit| !units[..count].contains(unit));
        pack.on_way += count as u32;
        if pack.expected.is_empty() {
            self.open.remove(&source);
        }
        (to, count)
    }

    /// Chooses a plane for the first units of a victim in `source` that have not left it, as many as a program writes, beginning with `units`.
    fn open_for<M: Model>(
        &mut self,
        source: PlaneId,
        units: &[(Ppn, Lpn)],
        cx: &mut Context<'_, M>,
    ) -> Option<PlaneId> {
        let Shared { geometry, ftl, .. } = &mut *cx.shared;
        let (first, program) = (units[0].0, geometry.units_per_program as usize);
        let block = geometry.block_of(first);
        // Copies of pages stay on their die.
        let is_original = |&(ppn, lpn): &(Ppn, Lpn)| ftl.lookup(lpn) == Some(ppn);
        if !is_original(&units[0]) {
            return None;
        }
        let mut expected: Vec<(Ppn, Lpn)> = Vec::with_capacity(program);
        let mut at = geometry.page_in_block(first);
        while expected.len() < program
            && let Some((page, lpn)) = ftl.next_valid_page(block, at)
        {
            expected.extend(Some((geometry.ppn(block, page), lpn)).filter(is_original));
            at = page + 1;
        }
        let of_block = |&(other, count): &(BlockId, u32)| other == block && count % program as u32 > 0;
        if expected.len() < program && self.through_controller.get(&source).is_some_and(of_block) {
            return None;
        }
        let lpns: Vec<Lpn> = expected.iter().map(|(_, lpn)| *lpn).collect();
        let fabric = cx.datapath.fabric();
        let to = ftl.admit_program(&lpns, source, |from, to| fabric.copies(from, to))?;
        self.by_plane.insert(to, Pack { source, expected, on_way: 0, arrived: Vec::new() });
        self.open.insert(source, to);
        Some(to)
    }

    /// A unit has come to the page buffer of its plane.
    pub fn arrived<M: Model>(&mut self, id: TransactionId, cx: &mut Context<'_, M>) -> Option<PlaneId> {
        let to = cx.datapath.transaction(id).plane;
        let pack = self.by_plane.get_mut(&to).expect("a unit goes where it is expected");
        pack.on_way -= 1;
        pack.arrived.push(id);
        self.run_if_complete(to, cx)
    }

    /// What the victim of `source` has not sent is read no more, or was written meanwhile: no program waits for it.
    pub fn look_at<M: Model>(&mut self, source: PlaneId, cx: &mut Context<'_, M>) -> Option<PlaneId> {
        let to = *self.open.get(&source)?;
        self.run_if_complete(to, cx)
    }

    /// Queues the program of a plane whose units have all come; gives the plane where there is nothing to program any more.
    fn run_if_complete<M: Model>(&mut self, to: PlaneId, cx: &mut Context<'_, M>) -> Option<PlaneId> {
        let pack = self.by_plane.get(&to)?;
        if pack.on_way > 0 || pack.expected.iter().any(|(ppn, lpn)| cx.shared.ftl.is_at(*lpn, *ppn)) {
            return None;
        }
        let Pack { source, arrived, .. } = self.by_plane.remove(&to)?;
        if self.open.get(&source) == Some(&to) {
            self.open.remove(&source);
        }
        cx.shared.ftl.expect_pages(to, arrived.len() as u32);
        for &id in &arrived {
            cx.datapath.transaction_mut(id).work = Work::CollectProgram(Route::Chip);
        }
        if arrived.is_empty() {
            return Some(to);
        }
        let lead = cx.datapath.run_together(&arrived);
        cx.then(Step::Enqueue(lead));
        None
    }

    /// Whether units of the block may go to other chips: not translation pages, nor what is folded.
    pub fn may_leave(block: BlockId, shared: &Shared) -> bool {
        shared.ftl.stream_of_move(shared.geometry.ppn(block, 0)) == Stream::Collection
    }
}
