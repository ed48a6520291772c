//! Alternation (turns) of collection with the destage of stripes from the device cache (`cache.destage-stripe`).

use crate::config::Config;
use crate::controller::Context;
use crate::controller::follow_ups::FollowUp;
use crate::controller::shared::Shared;
use crate::flash::geometry::Geometry;
use crate::ftl::Ftl;
use crate::ids::{DieId, PlaneId};
use crate::kernel::model::Model;

use super::{Collections, ask_dies_of_superblock, is_urgent};

/// Whether any plane is nearly out of space, for each set of planes that share superblocks. Cached, because it is needed at each issue and a set can
/// have hundreds of planes. Empty if collection and writes do not take turns.
#[derive(Clone, Debug)]
pub(super) struct ShortOfSpace(Vec<bool>);

impl ShortOfSpace {
    pub(super) fn new(config: &Config, geometry: &Geometry) -> ShortOfSpace {
        ShortOfSpace(vec![false; if config.gc_alternates_with_destage() { geometry.planes() as usize } else { 0 }])
    }

    /// Updates whether the planes that share superblocks with `plane` are short of space, after a collection has begun there or has freed blocks.
    pub(super) fn changed(&mut self, plane: PlaneId, ftl: &Ftl) {
        if let Some(is_short) = self.0.get_mut(ftl.blocks().superblocks().index_of(plane) as usize) {
            *is_short = ftl.blocks().superblocks().members(plane).any(|plane| ftl.is_urgent(plane));
        }
    }

    /// Updates whether the planes of `set` are short of space, after a program took pages of `planes`. Returns whether they became short of space by
    /// this.
    fn taken(&mut self, mut planes: impl Iterator<Item = PlaneId>, set: usize, ftl: &Ftl) -> bool {
        let Some(is_short) = self.0.get_mut(set).filter(|is_short| !**is_short) else { return false };
        *is_short = planes.any(|plane| ftl.is_urgent(plane));
        *is_short
    }

    fn is_short(&self, set: usize) -> bool {
        self.0.get(set).is_some_and(|&is_short| is_short)
    }
}

impl Collections {
    /// Returns whether foreground collection on `die` must wait: it is the turn of writes, or collection owes too few page moves. Collection never
    /// waits if a plane of the die, or of its superblocks, is nearly out of space, or if writes there wait for a fold.
    pub fn waits_for_turn(&self, die: DieId, shared: &Shared) -> bool {
        if !shared.foreground.is_on(die) || !self.pace.holds_collection(shared.planes_of(die)) {
            return false;
        }
        let ftl = &shared.ftl;
        let goes_on = if ftl.blocks().has_twins() {
            let first = shared.geometry.first_plane(die);
            self.short.is_short(set_of(die, shared))
                || ftl.blocks().superblock_planes(first).any(|plane| ftl.waits_for_fold(plane))
        } else {
            is_urgent(die, shared)
        };
        !goes_on
    }

    /// Updates whether the superblocks of `die` are short of space, after a program has begun on `die`.
    pub fn program_began<M: Model>(&mut self, die: DieId, cx: &mut Context<'_, M>) {
        let shared = &cx.shared;
        if shared.ftl.blocks().has_twins()
            && self.short.taken(shared.planes_of(die), set_of(die, shared), &shared.ftl)
            && self.pace.takes_turns()
        {
            ask_dies_of_superblock(shared.geometry.first_plane(die), cx);
        }
    }

    /// Begins the turn of collection, before a stripe is destaged, if collections owe page moves. Returns whether the turn has begun.
    pub fn begin_turn<M: Model>(&mut self, cx: &mut Context<'_, M>) -> bool {
        let begins = self.pace.begin_turn(cx.kernel.now());
        if begins {
            (0..cx.shared.geometry.dies()).for_each(|die| cx.push(FollowUp::TryIssue(DieId(die))));
        }
        begins
    }

    /// Cancels the page moves that the collection of `plane` owes, because all valid pages have moved: the next stripe need not wait for the erase.
    pub(super) fn moved_all<M: Model>(&mut self, plane: PlaneId, cx: &mut Context<'_, M>) {
        if self.pace.takes_turns() {
            self.pace.end(plane);
            self.end_turn(cx);
        }
    }

    /// Ends the turn of collection if no collection is behind (owes enough page moves), so that the next stripe can be destaged.
    pub(super) fn end_turn<M: Model>(&mut self, cx: &mut Context<'_, M>) {
        if let Some(time) = self.pace.end_turn(cx.kernel.now()) {
            let gc = &mut cx.shared.counters.gc;
            gc.turns += 1;
            gc.turns_ps += time.as_ps();
            cx.push(FollowUp::SettleCache);
        }
    }
}

/// Returns the index of the set of planes that share superblocks with the planes of `die`.
fn set_of(die: DieId, shared: &Shared) -> usize {
    shared.ftl.blocks().superblocks().index_of(shared.geometry.first_plane(die)) as usize
}
