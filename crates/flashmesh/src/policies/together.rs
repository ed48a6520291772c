//! Policies whose planes use the same blocks together: the page that comes next goes to the plane that is furthest behind.

use crate::config::{Clash, Config};
use crate::flash::geometry::Geometry;
use crate::ftl::{Ftl, Stream, Superblocks};
use crate::ids::PlaneId;
use crate::schedule::transaction::Class;

use super::{AnyPolicy, FirmwarePolicy, Placing, PolicyEvent, planes_work_together, refused};

/// Programs that wait for planes.
///
/// Moved pages are spread by themselves: while they go to the reserve, writes wait that take none of it.
#[derive(Clone, Debug)]
pub(super) struct Together {
    superblocks: Superblocks,
    writes: Waiting,
    moves: Waiting,
    gathers: bool,
}

/// Programs of one kind.
#[derive(Clone, Debug)]
struct Waiting {
    /// By plane: those that have not got their page.
    count: Vec<u32>,
    /// By set of planes: where the last one went, and how far the plane was, in programs. Where programs gather the plane stays the one
    /// furthest behind until it has got there.
    last: Vec<Option<(PlaneId, u32)>>,
}

impl Waiting {
    fn new(geometry: &Geometry, superblocks: Superblocks) -> Waiting {
        Waiting { count: vec![0; geometry.planes() as usize], last: vec![None; superblocks.count() as usize] }
    }
}

impl Together {
    /// Superblocks over so many dies each.
    pub(super) fn new(geometry: &Geometry, dies: u32) -> Together {
        let superblocks = Superblocks::new(geometry, dies);
        let none = Waiting::new(geometry, superblocks);
        Together { superblocks, writes: none.clone(), moves: none, gathers: geometry.gathers() }
    }

    /// The plane that takes the next page, of those that share superblocks with `plane`.
    fn behind(&mut self, is_move: bool, plane: PlaneId, stream: Stream, ftl: &Ftl) -> PlaneId {
        let Together { superblocks, writes, moves, gathers } = self;
        let set = superblocks.index_of(plane) as usize;
        let (waiting, beside) = if is_move { (moves, None) } else { (writes, Some(moves)) };
        // Where programs gather, and in the SLC cache, writes fill those of their own.
        let beside = beside.filter(|_| !*gathers && stream != Stream::Slc);
        let progress = |twin: PlaneId| {
            let beside = beside.as_ref().map_or(0, |moves| moves.count[twin.index()]);
            ftl.twin_progress(twin, stream, waiting.count[twin.index()] + beside)
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
        waiting.count[behind.index()] += 1;
        behind
    }
}

impl FirmwarePolicy for Together {
    fn copied(&self) -> Option<AnyPolicy> {
        Some(AnyPolicy::other(self.clone()))
    }

    fn placing(&self) -> Placing {
        Placing::Beside
    }

    fn place_write(&mut self, plane: PlaneId, stream: Stream, ftl: &Ftl) -> PlaneId {
        self.behind(false, plane, stream, ftl)
    }

    fn place_move(&mut self, plane: PlaneId, stream: Stream, ftl: &Ftl) -> PlaneId {
        self.behind(true, plane, stream, ftl)
    }

    fn tell(&mut self, event: PolicyEvent<'_>) {
        if let PolicyEvent::PageTaken(class, plane) = event {
            let waiting = if class == Class::CollectProgram { &mut self.moves } else { &mut self.writes };
            let waiting = &mut waiting.count[plane.index()];
            *waiting = waiting.saturating_sub(1);
        }
    }
}

/// What superblocks over so many dies cannot go together with.
pub(super) fn clashes(config: &Config, geometry: Option<&Geometry>, dies: u32) -> Vec<Clash> {
    let mut clashes = planes_work_together(config, dies);
    let together = if dies == 1 { "the planes of a die" } else { "the planes of a superblock" };
    if config.gc.copyback {
        let why = format!("which spreads moved pages over {together}, and gc.copyback keeps them in their plane");
        clashes.push(refused(config, "gc.copyback", &why, "set gc.copyback to false"));
    }
    if config.gc.r#move.leaves_the_chip() {
        let why =
            format!("which moves pages to {together} through the controller, and gc.move is `{}`", config.gc.r#move);
        clashes.push(refused(config, "gc.move", &why, "set gc.move to \"through-controller\""));
    }
    let Some(geometry) = geometry else { return clashes };
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
        clashes.push(refused(config, &key, &why, &format!("leave {key} away")));
    }
    clashes
}
