//! Chip-to-chip moves with several mapping units per program: units gather in the page buffer of the destination chip until a program is full.
//!
//! - The units of a program are chosen when the first unit leaves its register: this unit and the next valid units of the victim, up to a full
//!   program. If the units of a page have different destinations, the page is transferred in parts.
//! - The program runs when all of its units have arrived. Units that the host overwrites meanwhile are not programmed, and their places stay empty.
//! - The last units of a victim may not fill a program. They go to another chip only if no other units of the victim wait in their own plane for a
//!   full program. So each victim causes at most one partly filled program, as without chip-to-chip moves \[choice\]. A collection thus wastes less
//!   space than it frees.
//! - Units that no other chip accepts are moved through the controller, and gather in their own plane.

use rustc_hash::FxHashMap;

use crate::controller::Context;
use crate::controller::follow_ups::FollowUp;
use crate::controller::shared::Shared;
use crate::fabric::Fabric;
use crate::ftl::OpenBlockKind;
use crate::ids::{BlockId, Lpn, PlaneId, Ppn, TransactionId};
use crate::kernel::model::Model;
use crate::schedule::purpose::{MoveRoute, Purpose};

/// A program on another chip that still gathers mapping units of a victim.
#[derive(Clone, Debug)]
struct RemoteProgram {
    /// Plane of the victim block whose mapping units the program gathers.
    source: PlaneId,
    /// Mapping units that the program expects, but that have not left the source die yet.
    expected: Vec<(Ppn, Lpn)>,
    /// Number of mapping units in flight from the source die.
    in_flight: u32,
    /// Mapping units in the page buffer of the destination chip.
    arrived: Vec<TransactionId>,
}

/// Programs on other chips that still gather mapping units of victims.
#[derive(Clone, Debug, Default)]
pub struct RemotePrograms {
    /// Programs that still gather mapping units, by their destination plane.
    by_plane: FxHashMap<PlaneId, RemoteProgram>,
    /// For each plane with a victim, the destination plane of the program that still expects mapping units of the victim.
    open: FxHashMap<PlaneId, PlaneId>,
    /// For each plane with a victim, the victim block and the number of its mapping units that were moved through the controller.
    through_controller: FxHashMap<PlaneId, (BlockId, u32)>,
}

impl RemotePrograms {
    /// Returns the destination of the first mapping units of `reads`, which leave a register together: a plane on another chip, or `None`
    /// for the controller. Also returns the number of these units.
    pub fn destination<M: Model>(
        &mut self,
        reads: &[TransactionId],
        cx: &mut Context<'_, M>,
    ) -> (Option<PlaneId>, usize) {
        let units: Vec<(Ppn, Lpn)> = reads
            .iter()
            .map(|&id| {
                let read = cx.datapath.queues.transaction(id);
                (read.from, read.lpn)
            })
            .collect();
        let source = cx.shared.geometry.plane_of(units[0].0);
        let to = self.open.get(&source).copied().or_else(|| self.open_for(source, &units, cx));
        let program = to.and_then(|to| self.by_plane.get_mut(&to));
        let expects = |unit: &(Ppn, Lpn)| program.as_ref().is_some_and(|program| program.expected.contains(unit));
        let goes = expects(&units[0]);
        let count = units.iter().take_while(|unit| expects(unit) == goes).count();
        let Some(program) = program.filter(|_| goes) else {
            let block = cx.shared.geometry.block_of(units[0].0);
            let through = self.through_controller.entry(source).or_insert((block, 0));
            *through = (block, if through.0 == block { through.1 } else { 0 } + count as u32);
            return (None, count);
        };
        program.expected.retain(|unit| !units[..count].contains(unit));
        program.in_flight += count as u32;
        if program.expected.is_empty() {
            self.open.remove(&source);
        }
        (to, count)
    }

    /// Chooses a plane on another chip for the next program of mapping units of the victim in plane `source`, which begins with `units`; `None` if no
    /// plane accepts the units.
    fn open_for<M: Model>(
        &mut self,
        source: PlaneId,
        units: &[(Ppn, Lpn)],
        cx: &mut Context<'_, M>,
    ) -> Option<PlaneId> {
        let Shared { geometry, ftl, .. } = &mut *cx.shared;
        let (first, program) = (units[0].0, geometry.units_per_program as usize);
        let block = geometry.block_of(first);
        // Replicas stay on their die, so only the original of a page moves to another chip.
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
        let fabric = &cx.datapath.interconnect.fabric;
        let to = ftl.incoming_pages().admit(&lpns, source, |from, to| fabric.supports_chip_to_chip(from, to))?;
        self.by_plane.insert(to, RemoteProgram { source, expected, in_flight: 0, arrived: Vec::new() });
        self.open.insert(source, to);
        Some(to)
    }

    /// Handles the arrival of a mapping unit at its destination plane, and enqueues the program there if no more units will arrive.
    pub fn arrived<M: Model>(&mut self, id: TransactionId, cx: &mut Context<'_, M>) {
        let to = cx.datapath.queues.transaction(id).plane;
        let program = self.by_plane.get_mut(&to).expect("a unit goes where it is expected");
        program.in_flight -= 1;
        program.arrived.push(id);
        self.run_if_complete(to, cx);
    }

    /// Enqueues the program that expects mapping units of the victim in plane `source`, if no more units will arrive. If none has arrived, drops the
    /// program and returns its plane; otherwise returns `None`.
    pub fn run_if_all_arrived<M: Model>(&mut self, source: PlaneId, cx: &mut Context<'_, M>) -> Option<PlaneId> {
        let to = *self.open.get(&source)?;
        self.run_if_complete(to, cx)
    }

    /// Enqueues the program of plane `to` if no more mapping units will arrive. If none has arrived, drops the program and returns `to`; otherwise
    /// returns `None`.
    fn run_if_complete<M: Model>(&mut self, to: PlaneId, cx: &mut Context<'_, M>) -> Option<PlaneId> {
        let program = self.by_plane.get(&to)?;
        if program.in_flight > 0 || program.expected.iter().any(|(ppn, lpn)| cx.shared.ftl.is_at(*lpn, *ppn)) {
            return None;
        }
        let RemoteProgram { source, arrived, .. } = self.by_plane.remove(&to)?;
        if self.open.get(&source) == Some(&to) {
            self.open.remove(&source);
        }
        cx.shared.ftl.incoming_pages().set_count(to, arrived.len() as u32);
        for &id in &arrived {
            cx.datapath.queues.transaction_mut(id).purpose = Purpose::CollectProgram(MoveRoute::Chip);
        }
        if arrived.is_empty() {
            return Some(to);
        }
        let lead = cx.datapath.queues.transactions.chain_operation(&arrived);
        cx.push(FollowUp::Enqueue(lead));
        None
    }

    /// Returns whether mapping units of `block` may move to other chips. Translation pages and pages of the SLC cache may not.
    pub fn may_leave(block: BlockId, shared: &Shared) -> bool {
        shared.ftl.move_block_kind(shared.geometry.ppn(block, 0)) == OpenBlockKind::Collection
    }
}
