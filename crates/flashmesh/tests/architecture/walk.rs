//! Recorder of the calls between source folders in a run. The call stack is captured whenever the drive calls an injected part: a probe, a firmware
//! policy or an interconnect.

use std::backtrace::Backtrace;
use std::cell::RefCell;
use std::fmt;
use std::ops::Range;

use flashmesh::config::{Config, FabricKind};
use flashmesh::fabric::{
    AnyFabric, Fabric, FabricInfo, Grant, Layout, LinkUsage, Outbox, Payload, SendOutcome, TransferPhase, info_of,
};
use flashmesh::ids::{DieId, LinkId, PlaneId};
use flashmesh::placement::{Ftl, Geometry, OpenBlockKind};
use flashmesh::policy::{FirmwarePolicy, PlacementStage, PolicyEvent};
use flashmesh::probe::{Notice, Probe};
use flashmesh::simulation::{Control, Simulation};
use flashmesh::units::{Bytes, Time};

use crate::drawing::Message;

/// Folders in the diagrams. All other folders below the event loop call none of these.
const ROOMS: [&str; 4] = ["frontend", "controller", "datapath", "fabric"];

/// Function call from code in the source folder `from` to code in the source folder `to`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Call {
    pub from: String,
    pub to: String,
}

impl fmt::Display for Call {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} to {}", self.from, self.to)
    }
}

/// Stack frame: a source folder (`room`) and a file in it. `file` is empty for calls of [`Watched`], which stands for the folder `fabric` although
/// its source is this test.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Place {
    room: String,
    file: String,
}

/// Call stacks in order of simulated time, each from the outermost call to the innermost.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Walk(Vec<Vec<Place>>);

impl Walk {
    pub fn calls(&self) -> impl Iterator<Item = Call> {
        self.0.iter().flat_map(|stack| calls_of(stack))
    }

    /// Returns the index of the first call stack, from index `from` on, that contains every file and the call named in `message`.
    pub fn find(&self, message: &Message, from: usize) -> Option<usize> {
        (from..self.0.len()).find(|&at| {
            let stack = &self.0[at];
            let has_file =
                |file: &String| stack.iter().any(|place| message.rooms.contains(&place.room) && place.file == *file);
            message.files.iter().all(has_file)
                && message.call.as_ref().is_none_or(|call| calls_of(stack).any(|each| each == *call))
        })
    }
}

impl fmt::Display for Walk {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for stack in &self.0 {
            let places: Vec<_> = stack.iter().map(|place| format!("{}/{}", place.room, place.file)).collect();
            writeln!(f, "{}", places.join(" > "))?;
        }
        Ok(())
    }
}

fn calls_of(stack: &[Place]) -> impl Iterator<Item = Call> {
    stack
        .windows(2)
        .filter(|pair| pair[0].room != pair[1].room)
        .map(|pair| Call { from: pair[0].room.clone(), to: pair[1].room.clone() })
}

thread_local! {
    /// Stacks recorded in this thread. A run stays in the thread that started it.
    static WALK: RefCell<Walk> = RefCell::default();
}

/// Records the current call stack, unless it equals the last one. `innermost` adds a frame for that folder.
fn keep(innermost: Option<&str>) {
    let mut stack = places(&Backtrace::force_capture().to_string());
    stack.extend(innermost.map(|room| Place { room: room.to_owned(), file: String::new() }));
    WALK.with_borrow_mut(|walk| {
        if !stack.is_empty() && walk.0.last() != Some(&stack) {
            walk.0.push(stack);
        }
    });
}

/// Probe that records the call stack at each notice.
struct Told;

impl Probe for Told {
    fn notify(&mut self, _now: Time, _notice: &Notice<'_>) {
        keep(None);
    }
}

/// Firmware policy that records the call stack at each call, and otherwise behaves like the page policy.
struct Asked;

impl FirmwarePolicy for Asked {
    fn placement_stage(&self) -> PlacementStage {
        PlacementStage::AfterAllocator
    }

    fn place_write(&mut self, plane: PlaneId, _stream: OpenBlockKind, _ftl: &Ftl) -> PlaneId {
        keep(None);
        plane
    }

    fn plan_read(&mut self, _pages: Range<u32>, _bytes: Bytes, _ftl: &Ftl) {
        keep(None);
    }

    fn notify(&mut self, _event: PolicyEvent<'_>) {
        keep(None);
    }
}

/// Bus that records the call stack at each acquire, send and release.
#[derive(Debug)]
struct Watched(AnyFabric);

impl Fabric for Watched {
    fn acquire(&mut self, die: DieId, phase: TransferPhase, now: Time, outbox: &mut Outbox) {
        keep(Some("fabric"));
        self.0.acquire(die, phase, now, outbox);
    }

    fn send(&mut self, grant: Grant, payload: Payload, now: Time, outbox: &mut Outbox) -> SendOutcome {
        keep(Some("fabric"));
        self.0.send(grant, payload, now, outbox)
    }

    fn release(&mut self, grant: Grant, now: Time, outbox: &mut Outbox) {
        keep(Some("fabric"));
        self.0.release(grant, now, outbox);
    }

    fn layout(&self) -> &Layout {
        self.0.layout()
    }

    fn usage(&self) -> &[LinkUsage] {
        self.0.usage()
    }

    fn controller_busy_times(&self, now: Time) -> Vec<Time> {
        self.0.controller_busy_times(now)
    }

    fn hops(&self) -> u64 {
        self.0.hops()
    }

    fn held_links(&self) -> Vec<(LinkId, DieId)> {
        self.0.held_links()
    }
}

fn watched() -> FabricInfo {
    let build = |config: &Config, geometry: &Geometry| {
        let bus = (info_of(FabricKind::Bus).build)(config, geometry)?;
        Ok(AnyFabric::Custom(Box::new(Watched(bus))))
    };
    FabricInfo { build, ..info_of(FabricKind::Bus).clone() }
}

/// Returns the source files in a printed backtrace, from the outermost call to the innermost. The backtrace lists the innermost call first, with one
/// line `at FILE:LINE:COLUMN` per call with a known file.
fn places(printed: &str) -> Vec<Place> {
    let mut found: Vec<Place> = printed
        .lines()
        .filter_map(|line| line.trim().strip_prefix("at ")?.rsplit_once("/src/"))
        .filter_map(|(_, path)| path.split(':').next()?.split_once('/'))
        .filter(|(room, _)| ROOMS.contains(room))
        .map(|(room, file)| Place { room: room.to_owned(), file: file.to_owned() })
        .collect();
    found.reverse();
    found.dedup();
    found
}

/// Records the call stacks of one request of one page, a read with probability `read_share`. Returns `None` if the tests were compiled without line
/// numbers, as for coverage.
pub fn recorded(read_share: f64) -> Option<Walk> {
    if !Backtrace::force_capture().to_string().contains("tests/architecture/walk.rs") {
        eprintln!("skipped: compiled without line numbers, so no call can be placed");
        return None;
    }
    let mut config = Config::default();
    config.workload.requests = Some(1);
    config.workload.read_share = read_share;
    WALK.take();
    let mut simulation =
        Simulation::with_interconnect(&config, Box::leak(Box::new(watched()))).expect("the drive can be built");
    simulation.set_firmware_policy(Box::new(Asked));
    simulation.add_probe(Box::new(Told));
    simulation.run(&Control::default()).expect("the run succeeds");
    Some(WALK.take())
}
