//! TBM, twin block management (IEEE CAL 2016; a baseline of Maximizing Bandwidth Management FTL, section V): the planes of a die
//! use, collect and erase the same blocks together. [`crate::ftl`] says how blocks are used; here is when.
//!
//! - A write goes to the die that allocation gives, and in it to the plane that is furthest behind, counting what waits there \[choice\].
//! - The planes of a die are collected at once. A page read from one of them is programmed in the plane that is furthest behind, so
//!   that valid pages are spread evenly; when all have moved, one erase takes the blocks of all planes.

use crate::config::{self, Clash, Config};
use crate::flash::geometry::Geometry;
use crate::ftl::{Ftl, FtlRules, Stream};
use crate::ids::PlaneId;
use crate::schedule::transaction::Class;

use super::{AnyPolicy, FirmwarePolicy, Placing, PolicyEvent, PolicyFacts, planes_work_together, refused};

pub static FACTS: PolicyFacts = PolicyFacts {
    kind: config::FirmwarePolicy::Tbm,
    build: |_, geometry| Box::new(Tbm::new(geometry)),
    ftl_rules: |_, rules| FtlRules { moves_share_write_block: true, twin_blocks: true, ..rules },
    clashes,
};

/// It has the planes of a die work together, and use, collect and erase the same blocks.
fn clashes(config: &Config, geometry: Option<&Geometry>) -> Vec<Clash> {
    let mut clashes = planes_work_together(config);
    if config.gc.copyback {
        let why = "which spreads moved pages over the planes of a die, and gc.copyback keeps them in their plane";
        clashes.push(refused(config, "gc.copyback", why, "set gc.copyback to false"));
    }
    if config.gc.r#move.leaves_the_chip() {
        let why = format!("which keeps moved pages in their die, and gc.move is `{}`", config.gc.r#move);
        clashes.push(refused(config, "gc.move", &why, "set gc.move to \"through-controller\""));
    }
    let Some(geometry) = geometry else { return clashes };
    if config.replication.enabled && geometry.dies() > 1 {
        let message = "replication.enabled is true, and ftl.policy is `tbm`, which programs the planes of a die together: a copy is one page \
                       of one plane";
        let clash = Clash::new(&["replication.enabled", "ftl.policy"], message.to_owned());
        clashes.push(clash.help("set ftl.policy to another one, or replication.enabled to false"));
    }
    let Ok(namespaces) = config.namespaces(geometry) else { return clashes };
    let divides = namespaces.iter().find(|space| {
        let has = |plane: u32| space.has_plane(geometry, PlaneId(plane));
        (0..geometry.planes()).any(|plane| has(plane) != has(plane / geometry.planes_per_die * geometry.planes_per_die))
    });
    if let Some(space) = divides {
        let key = format!("namespace.{}.planes", space.name);
        let why = format!("which uses all planes of a die together, and {key} divides them");
        clashes.push(refused(config, &key, &why, &format!("leave {key} away")));
    }
    clashes
}

/// Programs that wait for planes.
///
/// Moved pages are spread by themselves: while they go to the reserve, writes wait that take none of it.
#[derive(Clone, Debug)]
struct Tbm {
    /// By plane: writes that have not got their page.
    writes: Vec<u32>,
    /// By plane: moved pages that have not got theirs.
    moves: Vec<u32>,
    gathers: bool,
}

impl Tbm {
    fn new(geometry: &Geometry) -> Tbm {
        let none = vec![0; geometry.planes() as usize];
        Tbm { writes: none.clone(), moves: none, gathers: geometry.gathers() }
    }
}

impl FirmwarePolicy for Tbm {
    fn copied(&self) -> Option<AnyPolicy> {
        Some(Box::new(self.clone()))
    }

    fn placing(&self) -> Placing {
        Placing::Beside
    }

    fn place_write(&mut self, plane: PlaneId, stream: Stream, ftl: &Ftl) -> PlaneId {
        let Tbm { writes, moves, .. } = self;
        // Where programs gather, writes fill those of their own.
        let moves = |twin: PlaneId| if self.gathers { 0 } else { moves[twin.index()] };
        let behind = ftl.twin_behind(plane, stream, |twin| writes[twin.index()] + moves(twin));
        writes[behind.index()] += 1;
        behind
    }

    fn place_move(&mut self, plane: PlaneId, stream: Stream, ftl: &Ftl) -> PlaneId {
        let moves = &mut self.moves;
        let behind = ftl.twin_behind(plane, stream, |twin| moves[twin.index()]);
        moves[behind.index()] += 1;
        behind
    }

    fn tell(&mut self, event: PolicyEvent<'_>) {
        if let PolicyEvent::PageTaken(class, plane) = event {
            let waiting = if class == Class::CollectProgram { &mut self.moves } else { &mut self.writes };
            let waiting = &mut waiting[plane.index()];
            *waiting = waiting.saturating_sub(1);
        }
    }
}
