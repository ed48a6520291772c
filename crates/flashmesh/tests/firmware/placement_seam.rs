//! User-defined allocators and victim selectors: the calls that they receive, and drives that stay consistent whatever they return.

use std::ops::Range;
use std::sync::{Arc, Mutex};

use flashmesh::config::{
    ArrayLevel, Config, FirmwarePolicy, Indices, Namespace, PreconditionKind, ReplayMode, WriteBinding,
};
use flashmesh::engine::random::SimRng;
use flashmesh::flash::geometry::Geometry;
use flashmesh::ftl::OpenBlockKind;
use flashmesh::ftl::allocation::{Allocator, DriveView, PageRead, PageWrite, StaticOrder};
use flashmesh::ftl::collection::{Candidates, VictimSelector};
use flashmesh::ids::{DieId, Lpn, PlaneId, StreamId};
use flashmesh::measure::report::Report;
use flashmesh::policy::{PlacementView, WritePlacer};
use flashmesh::simulation::{Control, Simulation};
use flashmesh::units::{Bytes, Time};
use flashmesh::workload::IoRequest;

use crate::support::drives::*;

/// Calls that an allocator received. `placed` and `read` end with the number of pages of the request and the index of the page in it.
#[derive(Clone, Debug, Default, PartialEq)]
struct Told {
    placed: Vec<(Lpn, u32, u32)>,
    read: Vec<(Lpn, PlaneId, u32, u32)>,
    withdrawn: Vec<(Lpn, PlaneId)>,
    committed: Vec<(Lpn, PlaneId)>,
    /// Number of outstanding transactions of die 0 at each placement.
    outstanding: Vec<usize>,
}

/// Allocator that places successive writes on `planes` in turn.
struct Scripted {
    told: Arc<Mutex<Told>>,
    planes: Vec<PlaneId>,
    next: usize,
    /// Answer to [`Allocator::keeps_plane`], which is called when a placed write is granted a path; if `false`, the write is placed again.
    stays: bool,
}

impl Allocator for Scripted {
    fn place(&mut self, write: &PageWrite, drive: &DriveView<'_>) -> PlaneId {
        let part = write.request.expect("the write belongs to a request");
        assert_eq!(write.stream, Some(StreamId(0)));
        let mut told = self.told.lock().expect("no other thread panicked");
        told.placed.push((write.lpn, part.pages, part.position));
        told.outstanding.push(drive.outstanding(DieId(0)));
        self.next += 1;
        self.planes[(self.next - 1) % self.planes.len()]
    }

    fn on_committed(&mut self, lpn: Lpn, plane: PlaneId) {
        self.told.lock().expect("no other thread panicked").committed.push((lpn, plane));
    }

    fn keeps_plane(&self, _: &PageWrite, _: PlaneId, drive: &DriveView<'_>) -> bool {
        assert!(drive.load().is_some(), "a running drive has a load view");
        self.stays
    }

    fn on_withdrawn(&mut self, lpn: Lpn, plane: PlaneId) {
        self.told.lock().expect("no other thread panicked").withdrawn.push((lpn, plane));
    }

    fn on_read(&mut self, read: &PageRead) {
        let part = read.request.expect("the read belongs to a request");
        let mut told = self.told.lock().expect("no other thread panicked");
        told.read.push((read.lpn, read.plane, part.pages, part.position));
    }
}

fn run_with(config: &Config, requests: Vec<IoRequest>, allocator: Box<dyn Allocator + Send>) -> (Report, Simulation) {
    let mut simulation =
        Simulation::with_source(config, Box::new(Listed(requests.into()))).expect("the drive can be built");
    simulation.set_allocator(allocator);
    simulation.enable_checks();
    let report = simulation.run(&Control::default()).expect("the run ends without a violation");
    (report, simulation)
}

fn scripted(requests: Vec<IoRequest>, planes: &[u32], stays: bool) -> (Told, Simulation) {
    let told = Arc::new(Mutex::new(Told::default()));
    let planes = planes.iter().copied().map(PlaneId).collect();
    let allocator = Scripted { told: Arc::clone(&told), planes, next: 0, stays };
    let (_, simulation) = run_with(&bare_drive(), requests, Box::new(allocator));
    let told = told.lock().expect("no other thread panicked").clone();
    (told, simulation)
}

#[test]
fn an_allocator_is_told_of_requests_reads_and_load() {
    let at = Time::from_us(1_000);
    let (told, simulation) = scripted(vec![write(10, 3, Time::ZERO), read(11, 2, at)], &[0, 0, 5], true);
    assert_eq!(told.placed, [(Lpn(10), 3, 0), (Lpn(11), 3, 1), (Lpn(12), 3, 2)]);
    assert_eq!(told.outstanding, [0, 1, 2], "earlier pages wait for the die or are being programmed there");
    assert_eq!(told.read, [(Lpn(11), PlaneId(0), 2, 0), (Lpn(12), PlaneId(5), 2, 1)]);
    let mut committed = told.committed.clone();
    committed.sort();
    assert_eq!(committed, [(Lpn(10), PlaneId(0)), (Lpn(11), PlaneId(0)), (Lpn(12), PlaneId(5))]);
    assert_eq!(told.withdrawn, []);
    let plane = |lpn| simulation.ftl().lookup(Lpn(lpn)).map(|ppn| simulation.geometry().plane_of(ppn));
    assert_eq!([10, 11, 12].map(plane), [PlaneId(0), PlaneId(0), PlaneId(5)].map(Some));
}

#[test]
fn a_write_that_does_not_stay_is_placed_once_more_when_it_could_be_programmed() {
    let (told, simulation) = scripted(vec![write(10, 1, Time::ZERO)], &[0, 7], false);
    assert_eq!(told.placed, [(Lpn(10), 1, 0), (Lpn(10), 1, 0)]);
    assert_eq!((told.withdrawn, told.committed), (vec![(Lpn(10), PlaneId(0))], vec![(Lpn(10), PlaneId(7))]));
    let at = simulation.ftl().lookup(Lpn(10)).expect("the page was written");
    assert_eq!(simulation.geometry().plane_of(at), PlaneId(7));
}

/// Allocator that places every page on one plane, even if the plane is full.
struct OnePlane;

impl Allocator for OnePlane {
    fn place(&mut self, _: &PageWrite, _: &DriveView<'_>) -> PlaneId {
        PlaneId(3)
    }

    fn on_committed(&mut self, _: Lpn, _: PlaneId) {}
}

fn small_drive() -> Config {
    let mut config = bare_drive();
    config.geometry.channels = 2;
    config.geometry.chips_per_channel = 2;
    config.geometry.blocks_per_plane = 16;
    config.geometry.pages_per_block = 8;
    config.geometry.over_provisioning = 0.4;
    config
}

#[test]
fn an_allocator_that_overfills_a_plane_is_given_another_one() {
    let config = small_drive();
    let pages = u64::from(Geometry::new(&config.geometry).expect("the geometry is valid").logical_pages);
    let all = (0..3 * pages).map(|number| write(number * 7 % pages, 1, Time::from_us(20 * number))).collect();
    let (report, simulation) = run_with(&config, all, Box::new(OnePlane));
    assert_eq!(report.flash.user_programs, 3 * pages);
    let (ftl, geometry) = (simulation.ftl(), simulation.geometry());
    let plane_of = |lpn| ftl.lookup(Lpn(lpn)).map(|ppn| geometry.plane_of(ppn));
    let pages_on = |plane| (0..pages as u32).filter(|&lpn| plane_of(lpn) == Some(PlaneId(plane))).count();
    assert!(pages_on(3) > pages_on(0), "the allocator's choice is used while the plane has room");
    ftl.audit().expect("the tables agree");
}

#[test]
fn an_allocator_has_its_way_up_to_the_share_of_a_namespace_on_a_plane() {
    let mut config = small_drive();
    for (name, pages, channels) in [("narrow", 80, vec![0]), ("wide", 160, vec![0, 1])] {
        let capacity = Some(Bytes::new(PAGE) * pages);
        let namespace = Namespace { capacity, channels: Some(Indices::new(channels)), ..Namespace::default() };
        config.namespace.push((name.to_owned(), namespace));
    }
    // Pages placed by preconditioning count towards the limit of their namespace too.
    config.precondition.kind = PreconditionKind::Sequential;
    let requests = (0..240).map(|number| write(number * 7 % 80, 1, Time::from_us(50 * number))).collect();
    let (_, simulation) = run_with(&config, requests, Box::new(OnePlane));
    let (ftl, geometry) = (simulation.ftl(), simulation.geometry());
    let is_there = |&lpn: &u32| geometry.plane_of(ftl.location(Lpn(lpn))) == PlaneId(3);
    let on_plane = [0..80, 80..240].map(|pages: Range<u32>| pages.filter(is_there).count());
    // An even spread has 20 pages of each namespace per plane. Of the other 88, 40 (five blocks) stay spare, and a namespace may take a quarter of
    // the remaining 48: at most 32 in all. Only the first namespace is written.
    assert!((21..=32).contains(&on_plane[0]), "the allocator's choice is used while the plane has room: {on_plane:?}");
    assert_eq!(on_plane[1], 20);
    ftl.audit().expect("the tables agree");
}

#[test]
fn an_allocator_does_not_leave_the_planes_of_a_namespace() {
    let mut config = small_drive();
    let on_first =
        Namespace { capacity: Some(Bytes::new(PAGE) * 100), channels: Some(Indices::new([0])), ..Namespace::default() };
    config.namespace.push(("a".to_owned(), on_first));
    let requests = (0..100).map(|page| write(page, 1, Time::from_us(100 * page))).collect();
    // Plane 6 is on channel 1, outside the namespace on channel 0 (planes 0 to 3), so it is not used.
    let elsewhere = Scripted { told: Arc::default(), planes: vec![PlaneId(6)], next: 0, stays: true };
    let (_, simulation) = run_with(&config, requests, Box::new(elsewhere));
    let planes = (0..100).map(|lpn| simulation.geometry().plane_of(simulation.ftl().location(Lpn(lpn))));
    assert!(planes.into_iter().all(|plane| plane.0 < 4));
}

/// Reimplementation of static allocation.
struct ByNumber(StaticOrder);

impl Allocator for ByNumber {
    fn place(&mut self, write: &PageWrite, _: &DriveView<'_>) -> PlaneId {
        self.0.plane_of(write.lpn)
    }

    fn on_committed(&mut self, _: Lpn, _: PlaneId) {}
}

/// Reimplementation of the greedy victim policy.
struct MostInvalid;

impl VictimSelector for MostInvalid {
    fn select(&mut self, candidates: &Candidates<'_>, _: &mut SimRng) -> Option<u32> {
        candidates.most_invalid()
    }
}

/// Runs `simulation`. Returns its report without the fields that differ between equal runs.
fn report_of(simulation: &mut Simulation) -> serde_json::Value {
    let mut json = simulation.run(&Control::default()).expect("every request completes").to_json();
    let fields = json.as_object_mut().expect("a report is an object");
    ["wall_s", "requests_per_wall_s", "peak_rss_bytes"].iter().for_each(|varies| drop(fields.remove(*varies)));
    json
}

#[test]
fn policies_from_outside_that_do_what_the_configured_ones_do_give_the_same_results() {
    let mut config = small_drive();
    config.precondition.kind = PreconditionKind::Random;
    config.workload.read_share = 0.3;
    config.workload.requests = Some(4_000);
    // With four requests outstanding no plane is ever full, so no placement is overridden.
    config.replay.mode = ReplayMode::Closed;
    config.replay.outstanding = 4;
    let report = |own: bool| {
        let mut simulation = Simulation::new(&config).expect("the drive can be built");
        if own {
            let geometry = Geometry::new(&config.geometry).expect("the geometry is valid");
            simulation.set_allocator(Box::new(ByNumber(StaticOrder::new(&geometry, ArrayLevel::ALL))));
            simulation.set_victim_selector(Box::new(MostInvalid));
        }
        report_of(&mut simulation)
    };
    let (configured, own) = (report(false), report(true));
    assert!(configured["gc"]["pages_moved"].as_u64() > Some(0), "GC moves pages");
    assert_eq!(configured, own);
}

/// Placer that accepts every plane. `most` is the largest number of writes seen waiting for a page of one plane.
struct Waiting {
    most: Arc<Mutex<u32>>,
}

impl WritePlacer for Waiting {
    fn place_write(&mut self, plane: PlaneId, _: OpenBlockKind, planes: &PlacementView<'_>) -> PlaneId {
        let mut most = self.most.lock().expect("no other thread panicked");
        *most = planes.writes_waiting(plane).max(*most);
        plane
    }
}

#[test]
fn a_placer_sees_no_more_writes_without_a_page_than_are_outstanding() {
    for binding in [WriteBinding::Late, WriteBinding::Early] {
        let mut config = small_drive();
        config.ftl.write_binding = binding;
        config.workload.read_share = 0.0;
        config.workload.requests = Some(2_000);
        (config.replay.mode, config.replay.outstanding) = (ReplayMode::Stress, 4);
        let mut simulation = Simulation::new(&config).expect("the drive can be built");
        let most = Arc::new(Mutex::new(0));
        simulation.set_write_placer(Box::new(Waiting { most: Arc::clone(&most) }));
        simulation.run(&Control::default()).expect("every request completes");
        let most = *most.lock().expect("no other thread panicked");
        assert!(most <= 4, "{most} writes waited for a page, with 4 outstanding, at {binding} binding");
    }
}

/// Placer that accepts every plane.
struct Keeping;

impl WritePlacer for Keeping {
    fn place_write(&mut self, plane: PlaneId, _: OpenBlockKind, _: &PlacementView<'_>) -> PlaneId {
        plane
    }
}

/// The superblock policies spread writes over planes whose blocks fill together. A placer that disturbed this would leave partly filled programs
/// waiting for `ftl.gather-timeout`.
#[test]
fn a_placer_that_keeps_all_planes_gives_the_results_of_the_configured_policy() {
    const UNIT: u64 = PAGE / 4;
    for (policy, stripe) in [(FirmwarePolicy::Tbm, None), (FirmwarePolicy::Superblock, Some(64))] {
        let mut config = small_drive();
        config.ftl.policy = policy;
        config.ftl.mapping_unit = Some(Bytes::new(UNIT));
        config.cache.capacity = Bytes::new(PAGE) * 128;
        config.cache.destage_stripe = stripe.map(|units| Bytes::new(UNIT) * units);
        config.precondition.kind = PreconditionKind::Random;
        config.workload.read_share = 0.2;
        config.workload.requests = Some(4_000);
        // With four requests outstanding no plane is ever full, so no placement is overridden.
        (config.replay.mode, config.replay.outstanding) = (ReplayMode::Closed, 4);
        let report = |placer: bool| {
            let mut simulation = Simulation::new(&config).unwrap_or_else(|error| panic!("{error}"));
            if placer {
                simulation.set_write_placer(Box::new(Keeping));
            }
            report_of(&mut simulation)
        };
        let (configured, placed) = (report(false), report(true));
        assert!(configured["gc"]["pages_moved"].as_u64() > Some(0), "GC moves pages");
        assert!(configured == placed, "{policy:?}: {} and {} ps", configured["makespan_ps"], placed["makespan_ps"]);
    }
}

/// Victim selector that chooses a block that is no candidate.
struct NoCandidate;

impl VictimSelector for NoCandidate {
    fn select(&mut self, candidates: &Candidates<'_>, _: &mut SimRng) -> Option<u32> {
        (0..16).find(|&position| !candidates.contains(position))
    }
}

#[test]
#[should_panic(expected = "which is no candidate")]
fn a_victim_that_is_no_candidate_is_refused() {
    let mut config = small_drive();
    config.precondition.kind = PreconditionKind::Random;
    config.workload.read_share = 0.0;
    config.workload.requests = Some(1_000);
    let mut simulation = Simulation::new(&config).expect("the drive can be built");
    simulation.set_victim_selector(Box::new(NoCandidate));
    simulation.run(&Control::default()).expect("the panic comes first");
}
