//! Placement for the policies with superblocks. The next page goes to the plane whose write pointer is furthest behind.

use crate::config::{Config, ConfigConflict, MovedPages};
use crate::flash::geometry::Geometry;
use crate::ftl::{Ftl, OpenBlockKind, Superblocks};
use crate::ids::PlaneId;
use crate::schedule::transaction::TransactionClass;

use super::{AnyPolicy, FirmwarePolicy, PlacementStage, PolicyEvent, joint_plane_conflicts, policy_conflict};

/// Placement of pages over planes that share superblocks: the plane with the fewest whole programs in its open blocks takes the next page. Pages that
/// are placed but not allocated a physical page yet count as written.
///
/// Moved pages are counted separately from host writes, because moves can proceed while host writes wait: only moves may use the reserve.
#[derive(Clone, Debug)]
pub(super) struct SharedBlockPlacement {
    superblocks: Superblocks,
    writes: PendingPrograms,
    moves: PendingPrograms,
    gathers: bool,
    /// Whether pending moves count for host writes: both share open blocks, and a program has one page.
    counts_moves: bool,
}

/// Pages that are placed and have no physical page yet: either moved pages, or host writes and translation pages.
#[derive(Clone, Debug)]
struct PendingPrograms {
    /// Number of pages without a physical page yet, indexed by plane.
    count: Vec<u32>,
    /// Plane of the last page placed in each set of planes that share superblocks, with its [progress](crate::ftl::BlockManager::twin_progress)
    /// (whole programs) at that time; `None` before the first page. If programs gather several mapping units, further pages go to the same plane
    /// until its progress changes, because its program is then full.
    last: Vec<Option<(PlaneId, u32)>>,
}

impl PendingPrograms {
    fn new(geometry: &Geometry, superblocks: Superblocks) -> PendingPrograms {
        PendingPrograms { count: vec![0; geometry.planes() as usize], last: vec![None; superblocks.count() as usize] }
    }
}

impl SharedBlockPlacement {
    /// Creates the placement for superblocks over the planes of `dies` dies each.
    pub(super) fn new(config: &Config, geometry: &Geometry, dies: u32) -> SharedBlockPlacement {
        let superblocks = Superblocks::new(geometry, dies);
        let none = PendingPrograms::new(geometry, superblocks);
        let gathers = geometry.gathers_units();
        let counts_moves = !gathers && config.moved_pages() == MovedPages::WriteBlock;
        SharedBlockPlacement { superblocks, writes: none.clone(), moves: none, gathers, counts_moves }
    }

    /// Returns the plane for the next page of kind `stream`: the plane with the fewest whole programs, among those that share superblocks with
    /// `plane`. Pages without a physical page count as written. If programs gather several mapping units, returns the plane of the previous page
    /// until its program is full, except for translation pages.
    fn plane_behind(&mut self, is_move: bool, plane: PlaneId, stream: OpenBlockKind, ftl: &Ftl) -> PlaneId {
        let SharedBlockPlacement { superblocks, writes, moves, gathers, counts_moves } = self;
        let set = superblocks.index_of(plane) as usize;
        let (waiting, beside) = if is_move { (moves, None) } else { (writes, Some(moves)) };
        // Pending moves count for host writes as well if the two share open blocks page by page, except in the SLC cache.
        let beside = beside.filter(|_| *counts_moves && stream != OpenBlockKind::Slc);
        let progress = |twin: PlaneId| {
            let beside = beside.as_ref().map_or(0, |moves| moves.count[twin.index()]);
            ftl.blocks().twin_progress(twin, stream, waiting.count[twin.index()] + beside)
        };
        let may_keep = *gathers && !stream.is_translation();
        let kept = waiting.last[set].filter(|&(plane, at)| may_keep && progress(plane) == at);
        let (behind, at) = kept.unwrap_or_else(|| {
            let by_progress = superblocks.members(plane).map(|twin| (twin, progress(twin)));
            by_progress.min_by_key(|&(_, at)| at).unwrap_or((plane, 0))
        });
        if may_keep {
            waiting.last[set] = Some((behind, at));
        }
        behind
    }
}

impl FirmwarePolicy for SharedBlockPlacement {
    fn snapshot(&self) -> Option<AnyPolicy> {
        Some(AnyPolicy::other(self.clone()))
    }

    fn placement_stage(&self) -> PlacementStage {
        PlacementStage::AfterAllocator
    }

    fn place_write(&mut self, plane: PlaneId, stream: OpenBlockKind, ftl: &Ftl) -> PlaneId {
        self.plane_behind(false, plane, stream, ftl)
    }

    fn placed(&mut self, plane: PlaneId) {
        self.writes.count[plane.index()] += 1;
    }

    fn place_move(&mut self, plane: PlaneId, stream: OpenBlockKind, ftl: &Ftl) -> PlaneId {
        let behind = self.plane_behind(true, plane, stream, ftl);
        self.moves.count[behind.index()] += 1;
        behind
    }

    fn notify(&mut self, event: PolicyEvent<'_>) {
        if let PolicyEvent::PageAllocated(class, plane) = event {
            let waiting = if class == TransactionClass::CollectProgram { &mut self.moves } else { &mut self.writes };
            let waiting = &mut waiting.count[plane.index()];
            *waiting = waiting.saturating_sub(1);
        }
    }
}

/// Returns the conflicts between superblocks over `dies` dies and other settings; empty if there are none. `geometry` is `None` if the
/// geometry is invalid.
pub(super) fn conflicts(config: &Config, geometry: Option<&Geometry>, dies: u32) -> Vec<ConfigConflict> {
    let mut clashes = joint_plane_conflicts(config, dies);
    let together = if dies == 1 { "the planes of a die" } else { "the planes of a superblock" };
    if config.gc.copyback {
        let why = format!("which spreads moved pages over {together}, and gc.copyback keeps them in their plane");
        clashes.push(policy_conflict(config, "gc.copyback", &why, "set gc.copyback to false"));
    }
    if config.gc.r#move.crosses_chips() {
        let why =
            format!("which moves pages to {together} through the controller, and gc.move is `{}`", config.gc.r#move);
        clashes.push(policy_conflict(config, "gc.move", &why, "set gc.move to \"through-controller\""));
    }
    let Some(geometry) = geometry else { return clashes };
    clashes.extend(own_block_conflict(config, geometry));
    if !geometry.dies().is_multiple_of(dies) {
        return clashes;
    }
    let superblocks = Superblocks::new(geometry, dies);
    let Ok(namespaces) = config.namespaces(geometry) else { return clashes };
    let divides = namespaces.iter().find(|space| {
        let has = |plane: PlaneId| space.has_plane(geometry, plane);
        (0..geometry.planes()).map(PlaneId).any(|plane| superblocks.members(plane).any(|twin| has(twin) != has(plane)))
    });
    if let Some(space) = divides {
        let key = format!("namespace.{}.planes", space.name);
        let why = format!("which uses all of {together} at once, and {key} divides them");
        clashes.push(policy_conflict(config, &key, &why, &format!("leave {key} away")));
    }
    clashes
}

/// Least number of programs of a block if moved pages have superblocks of their own and programs gather several mapping units \[choice\]. The last
/// programs of a victim are partly empty in all planes of a die, so that the reserve may not hold a victim of few programs: collections of small drives
/// failed with 4 to 12 programs a block, and none with 32.
const OWN_BLOCK_PROGRAMS_MIN: u32 = 32;

/// Returns the conflict between moved pages in superblocks of their own and blocks of few programs; `None` if there is none.
fn own_block_conflict(config: &Config, geometry: &Geometry) -> Option<ConfigConflict> {
    let programs = geometry.pages_per_block / geometry.units_per_program.max(1);
    if config.moved_pages() == MovedPages::WriteBlock || !geometry.gathers_units() || programs >= OWN_BLOCK_PROGRAMS_MIN
    {
        return None;
    }
    let message = format!(
        "gc.moved-pages is `own-block` with superblocks, which needs blocks of {OWN_BLOCK_PROGRAMS_MIN} programs or more, \
         and a block of geometry.pages-per-block is {programs}"
    );
    Some(
        ConfigConflict::new(&["gc.moved-pages", "geometry.pages-per-block"], message)
            .with_help("raise geometry.pages-per-block, or set gc.moved-pages to \"write-block\""),
    )
}
