//! Firmware policies on random drives, with all oracles enabled.

use std::sync::{Arc, Mutex};

use flashmesh::check::Oracles;
use flashmesh::config::{Config, FirmwarePolicy, MovedPages};
use flashmesh::error::RunError;
use flashmesh::flash::die::OperationKind;
use flashmesh::ids::{BlockId, Lpn, PlaneId};
use flashmesh::kernel::probe::{Notice, Origin, Probe};
use flashmesh::measure::report::Report;
use flashmesh::policy;
use flashmesh::policy::PolicyEvent;
use flashmesh::schedule::transaction::{Transaction, TransactionClass};
use flashmesh::simulation::{Control, Simulation};
use flashmesh::units::{Bytes, Time};
use proptest::prelude::*;

use crate::support::arbitrary;
use crate::support::arbitrary::{Case, policies};
use crate::support::cases::cases;
use crate::support::drives;
use crate::support::drives::{Kept, Listed};

/// Returns a strategy that draws a drive with the given policy, and its requests.
fn under(policy: FirmwarePolicy) -> impl Strategy<Value = Case> {
    let cases = (arbitrary::case(), policies::managed(vec![policy])).prop_map(|(mut case, managed)| {
        managed.put(&mut case.config);
        case
    });
    // A drive with one spare block per plane too few for the policy is drawn again.
    cases.prop_filter(
        "the policy needs more spare blocks",
        |case| !matches!(case.config.validate(), Err(error) if error.to_string().contains("blocks to spare")),
    )
}

fn run(case: &Case) -> Report {
    let text = || case.config.to_toml();
    case.config.validate().unwrap_or_else(|error| panic!("{error}\n{}", text()));
    let source = Listed(case.requests.iter().copied().collect());
    let mut simulation = Simulation::with_source(&case.config, Box::new(source)).expect("the drive can be built");
    simulation.enable_checks();
    let kept = Kept::default();
    simulation.set_request_sink(Box::new(kept.clone()));
    let report = simulation.run(&Control::default()).unwrap_or_else(|error| panic!("{error}\n{}", text()));
    simulation.ftl().audit().unwrap_or_else(|error| panic!("{error}\n{}", text()));
    report
}

proptest! {
    #![proptest_config(ProptestConfig { cases: cases(150), failure_persistence: None, max_shrink_iters: 200, ..ProptestConfig::default() })]

    #[test]
    fn pages_may_be_moved_to_either_open_block(case in under(FirmwarePolicy::Page)) {
        prop_assert_eq!(run(&case).requests, case.requests.len() as u64);
    }

    #[test]
    fn tbm_keeps_what_every_drive_promises(case in under(FirmwarePolicy::Tbm)) {
        prop_assert_eq!(run(&case).requests, case.requests.len() as u64);
    }

    #[test]
    fn superblocks_keep_what_every_drive_promises(case in under(FirmwarePolicy::Superblock)) {
        prop_assert_eq!(run(&case).requests, case.requests.len() as u64);
    }

    #[test]
    fn mbm_keeps_what_every_drive_promises(case in under(FirmwarePolicy::Mbm)) {
        prop_assert_eq!(run(&case).requests, case.requests.len() as u64);
    }
}

/// Probe that forwards all notices to the oracles, one of them falsified, which an oracle must detect.
struct Lying {
    oracles: Oracles,
    lie: Lie,
    is_told: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Lie {
    /// Wrong logical page in the notice of a moved or reallocated page.
    OtherContent,
    /// Second notice of the same program.
    Twice,
    /// Missing notice of an erase.
    NotErased,
}

impl Probe for Lying {
    fn notify(&mut self, now: Time, notice: &Notice<'_>) {
        let lie = if self.is_told { None } else { Some(self.lie) };
        match (lie, notice) {
            (Some(Lie::OtherContent), &Notice::PageProgrammed(ppn, lpn, origin @ Origin::Moved(_))) => {
                self.is_told = true;
                self.oracles.notify(now, &Notice::PageProgrammed(ppn, Lpn(lpn.0 ^ 1), origin));
            }
            (Some(Lie::Twice), Notice::PageProgrammed(_, _, Origin::Moved(_))) => {
                self.is_told = true;
                self.oracles.notify(now, notice);
                self.oracles.notify(now, notice);
            }
            (Some(Lie::NotErased), Notice::BlockErased(_)) => self.is_told = true,
            _ => self.oracles.notify(now, notice),
        }
    }

    fn check_run(&self) -> Result<(), RunError> {
        self.oracles.verdict()
    }
}

/// Probe that records the number of planes of each erase.
#[derive(Clone, Default)]
struct Erases(Arc<Mutex<Vec<usize>>>);

impl Probe for Erases {
    fn notify(&mut self, _now: Time, notice: &Notice<'_>) {
        if let Notice::OperationBegan(_, _, OperationKind::Erase, planes) = *notice {
            self.0.lock().expect("no other thread panicked").push(planes);
        }
    }
}

/// Returns a small full drive under random reads and writes of 16 KiB.
fn busy(policy: FirmwarePolicy) -> Config {
    let text = format!(
        "[geometry]\nchannels = 2\nchips-per-channel = 2\ndies-per-chip = 1\nplanes-per-die = 2\nblocks-per-plane = 24\n\
         pages-per-block = 16\nover-provisioning = 0.3\n[ftl]\npolicy = \"{policy}\"\n[precondition]\nkind = \"random\"\n\
         [workload]\nread-share = 0.3\nrequests = 6000\nrequest-size = \"16KiB\"\n[replay]\noutstanding = 16\n"
    );
    let mut config = drives::config_of(&text);
    config.mbm.read_threshold = Bytes::from_kib(8);
    config
}

#[test]
fn a_lie_about_what_a_policy_did_makes_an_oracle_speak() {
    for policy in [FirmwarePolicy::Tbm, FirmwarePolicy::Mbm] {
        for lie in [Lie::OtherContent, Lie::Twice, Lie::NotErased] {
            let config = busy(policy);
            let mut simulation = Simulation::new(&config).expect("the drive can be built");
            let oracles = Oracles::new(simulation.geometry(), &config);
            simulation.add_probe(Box::new(Lying { oracles, lie, is_told: false }));
            let error = simulation.run(&Control::default()).expect_err("an oracle reports a violation");
            assert!(matches!(error, RunError::Check(_)), "{policy} {lie:?}: {error}");
        }
    }
}

#[test]
fn tbm_erases_the_blocks_of_all_planes_together_and_mbm_does_not() {
    for (policy, all) in [(FirmwarePolicy::Tbm, true), (FirmwarePolicy::Mbm, false)] {
        let mut simulation = Simulation::new(&busy(policy)).expect("the drive can be built");
        let erases = Erases::default();
        simulation.add_probe(Box::new(erases.clone()));
        simulation.run(&Control::default()).expect("every request completes");
        simulation.ftl().audit().expect("the tables agree");
        let planes = erases.0.lock().expect("no other thread panicked");
        assert!(planes.len() > 20);
        assert_eq!(planes.iter().all(|&planes| planes == 2), all, "{policy}");
    }
}

#[test]
fn the_blocks_of_a_superblock_are_erased_on_all_its_dies_at_the_same_time() {
    for dies in [1, 2, 4] {
        let mut config = busy(FirmwarePolicy::Superblock);
        config.superblock.dies = Some(dies);
        // Each die starts its erase after its last page move, and an erase takes much longer than everything else, so the erases of a superblock
        // overlap.
        config.flash.erase_time = Time::from_ms(20);
        let mut simulation = Simulation::new(&config).expect("the drive can be built");
        let erases = Erased::default();
        simulation.add_probe(Box::new(erases.clone()));
        simulation.enable_checks();
        simulation.run(&Control::default()).expect("no oracle reports a violation");
        simulation.ftl().audit().expect("the tables agree");
        let ended = erases.0.lock().expect("no other thread panicked");
        assert!(ended.len() > 20);
        let mut by_position = std::collections::BTreeMap::<(u32, u32), Vec<Time>>::new();
        for &(block, at) in ended.iter() {
            let (plane, position) =
                (block.0 / config.geometry.blocks_per_plane, block.0 % config.geometry.blocks_per_plane);
            let set = plane / 2 % (4 / dies);
            by_position.entry((set, position)).or_default().push(at);
        }
        for times in by_position.values() {
            for together in times.chunks(2 * dies as usize) {
                assert_eq!(together.len(), 2 * dies as usize);
                let (first, last) = (together[0], together[together.len() - 1]);
                assert!(last - first < Time::from_ms(1), "{dies}: from {first} to {last}");
            }
        }
    }
}

/// The static order puts all written pages on the first plane, so the spread is due to the superblock policy.
#[test]
fn writes_go_to_all_dies_of_a_superblock_in_turn() {
    for dies in [1, 2, 4] {
        let mut config = busy(FirmwarePolicy::Superblock);
        config.superblock.dies = Some(dies);
        config.precondition = flashmesh::config::Precondition::default();
        let writes = (0..64).map(|number| drives::write(number % 8 * 8, 1, Time::from_ms(number))).collect();
        config.replay.mode = flashmesh::config::ReplayMode::Open;
        config.geometry.page_size = Bytes::from_kib(4);
        let mut simulation =
            Simulation::with_source(&config, Box::new(Listed(writes))).expect("the drive can be built");
        simulation.enable_checks();
        simulation.run(&Control::default()).expect("no oracle reports a violation");
        let used = |plane| 24 * 16 - simulation.ftl().blocks().free_pages(PlaneId(plane));
        let expected = |plane: u32| if (plane / 2).is_multiple_of(4 / dies) { 64 / (2 * dies) } else { 0 };
        let (used, expected): (Vec<u32>, Vec<u32>) = (0..8).map(|plane| (used(plane), expected(plane))).unzip();
        assert_eq!(used, expected, "{dies} dies");
    }
}

/// Probe that records the erased blocks and the times of the erases.
#[derive(Clone, Default)]
struct Erased(Arc<Mutex<Vec<(BlockId, Time)>>>);

impl Probe for Erased {
    fn notify(&mut self, now: Time, notice: &Notice<'_>) {
        if let Notice::BlockErased(block) = *notice {
            self.0.lock().expect("no other thread panicked").push((block, now));
        }
    }
}

/// User-defined policy that overrides whether reads join, and where moved pages go.
struct Own {
    joins: bool,
    moved_pages: MovedPages,
}

impl policy::FirmwarePolicy for Own {
    fn moved_pages(&self) -> MovedPages {
        self.moved_pages
    }

    fn may_join(&self, _: &Transaction, _: &Transaction) -> bool {
        self.joins
    }
}

/// User-defined policy that overrides nothing.
struct AsItIs;

impl policy::FirmwarePolicy for AsItIs {}

#[test]
fn a_policy_from_outside_decides_which_reads_join_and_where_moved_pages_go() {
    let run = |read_share: f64, own: Option<Box<dyn policy::FirmwarePolicy + Send>>| {
        let mut config = busy(FirmwarePolicy::Page);
        config.workload.read_share = read_share;
        let mut simulation = Simulation::new(&config).expect("the drive can be built");
        own.into_iter().for_each(|own| simulation.set_firmware_policy(own));
        simulation.enable_checks();
        let report = simulation.run(&Control::default()).expect("no oracle reports a violation");
        simulation.ftl().audit().expect("the tables agree");
        (report.makespan_ps, report.latency_ps, report.gc.pages_moved, report.flash.multi_plane_operations)
    };
    let own = |joins, moved_pages| -> Option<Box<dyn policy::FirmwarePolicy + Send>> {
        Some(Box::new(Own { joins, moved_pages }))
    };
    for read_share in [0.3, 1.0] {
        assert_eq!(run(read_share, None), run(read_share, Some(Box::new(AsItIs))));
    }
    let (.., joined) = run(1.0, own(true, MovedPages::OwnBlock));
    let (.., apart) = run(1.0, own(false, MovedPages::OwnBlock));
    assert!(joined > 0 && apart == 0, "{joined} and {apart} operations on both planes");
    let (_, _, moved, _) = run(0.3, own(true, MovedPages::OwnBlock));
    assert_ne!(moved, run(0.3, own(true, MovedPages::WriteBlock)).2, "the destination of moved pages affects GC");
}

/// User-defined policy that counts the pages allocated to programs whose plane a policy can choose, of the host and of GC.
struct Counting(Arc<Mutex<[u64; 2]>>);

impl policy::FirmwarePolicy for Counting {
    fn notify(&mut self, event: PolicyEvent<'_>) {
        if let PolicyEvent::PageAllocated(class, _) = event {
            let of_collection = class == TransactionClass::CollectProgram;
            self.0.lock().expect("no other thread panicked")[usize::from(of_collection)] += 1;
        }
    }
}

/// A page that moves by copyback stays in its plane, whatever the policy.
#[test]
fn a_policy_hears_of_the_pages_of_programs_that_it_can_place_and_of_no_copyback() {
    for copyback in [false, true] {
        let mut config = busy(FirmwarePolicy::Page);
        config.gc.copyback = copyback;
        let mut simulation = Simulation::new(&config).expect("the drive can be built");
        let counted = Arc::new(Mutex::new([0; 2]));
        simulation.set_firmware_policy(Box::new(Counting(counted.clone())));
        let report = simulation.run(&Control::default()).expect("the run succeeds");
        let moved = report.gc.pages_moved;
        assert!(moved > 100, "{moved} pages moved");
        let [of_host, of_collection] = *counted.lock().expect("no other thread panicked");
        assert_eq!(of_host, report.flash.user_programs, "copyback = {copyback}");
        assert_eq!(of_collection, if copyback { 0 } else { moved }, "copyback = {copyback}");
    }
}

/// Tests that moved pages fit into the reserve although many of them are superseded while they wait for a program: a superseded page does not keep the
/// pages behind it out of the row of its die, which would then skip their units. The blocks have four programs.
#[test]
fn superseded_moves_do_not_use_up_the_reserve_of_superblocks_with_few_programs() {
    let text = r#"
        seed = 2728
        [geometry]
        channels = 2
        chips-per-channel = 1
        dies-per-chip = 2
        planes-per-die = 4
        blocks-per-plane = 24
        pages-per-block = 12
        page-size = "16KiB"
        over-provisioning = 0.46
        [flash]
        page-types = "tlc"
        program-unit = "word-line"
        [ftl]
        policy = "superblock"
        gather-timeout = "0us"
        [gc]
        victim = "random-p"
        preemptible = true
        [workload]
        pattern = "hot-cold"
        read-share = 0.0
        request-size = "16KiB"
        requests = 4000
        [precondition]
        kind = "random"
        [host]
        queue-depth = 8
    "#;
    let config = Config::from_str(text, "drive.toml", &[]).expect("the configuration is valid");
    let mut simulation = Simulation::new(&config).expect("the drive is valid");
    simulation.enable_checks();
    let report = simulation.run(&Control::default()).expect("the run succeeds");
    assert!(report.gc.collections > 100 && report.gc.pages_moved > 1_000, "{:?}", report.gc);
}

#[test]
fn superblocks_of_few_programs_are_refused_if_moved_pages_have_blocks_of_their_own() {
    let parsed = |pages: u32, moved: &str| {
        let units = ["ftl.policy=superblock", "ftl.mapping-unit=4KiB", "geometry.page-size=16KiB"].map(String::from);
        let settings = [format!("geometry.pages-per-block={pages}"), format!("gc.moved-pages={moved}")];
        Config::from_str("", "drive.toml", &[&units[..], &settings].concat())
    };
    let error = parsed(31, "own-block").expect_err("a block has 31 programs").to_string();
    assert!(error.contains("gc.moved-pages") && error.contains("geometry.pages-per-block is 31"), "{error}");
    assert!(parsed(32, "own-block").is_ok() && parsed(31, "write-block").is_ok());
}

#[test]
fn a_policy_is_refused_where_it_makes_no_sense() {
    let cases = [
        ("tbm", "geometry.planes-per-die=1", "geometry.planes-per-die"),
        ("mbm", "geometry.planes-per-die=1", "geometry.planes-per-die"),
        ("tbm", "gc.copyback=true", "gc.copyback"),
        ("mbm", "ftl.write-streams=per-stream", "ftl.write-streams"),
        ("superblock", "superblock.dies=3", "superblock.dies"),
        ("superblock", "gc.move=chip-to-chip", "gc.move"),
    ];
    for (policy, setting, key) in cases {
        let settings = [format!("ftl.policy={policy}"), setting.to_owned()];
        let error = Config::from_str("", "drive.toml", &settings).expect_err("the policy is refused").to_string();
        assert!(error.contains(key) && error.contains(policy) && error.contains("ftl.policy"), "{error}");
    }
}
