//! Preconditioned states cached in a folder. Runs that load a state have the same reports as runs that prepare it, and errors of the folder do not
//! fail a run.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use flashmesh::config::{Config, PreconditionKind};
use flashmesh::ftl::PreparedDrives;
use flashmesh::ids::Lpn;
use flashmesh::simulation::{Control, Simulation};
use flashmesh::states::StateFolder;
use flashmesh::units::Bytes;
use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::{Config as Runner, RngAlgorithm, TestRng, TestRunner};
use tempfile::TempDir;

use crate::support::arbitrary;
use crate::support::cases::cases;

const GIB: Bytes = Bytes::new(1 << 30);

/// Returns a store that saves every preconditioned state in `folder`, even if it was computed quickly.
fn drives(folder: &Path) -> PreparedDrives {
    drives_within(folder, GIB)
}

fn drives_within(folder: &Path, limit: Bytes) -> PreparedDrives {
    PreparedDrives::default().without_sharing().with_folder(StateFolder::new(folder, limit).with_writes_min(0))
}

fn states(folder: &Path) -> Vec<PathBuf> {
    let mut paths: Vec<PathBuf> = fs::read_dir(folder)
        .into_iter()
        .flatten()
        .map(|entry| entry.expect("the folder can be read").path())
        .filter(|path| path.extension().is_some_and(|ending| ending == "state"))
        .collect();
    paths.sort();
    paths
}

/// Returns a small drive filled by random overwrites, changed by `overrides`.
fn full(overrides: &[&str]) -> Config {
    let text = "geometry.channels = 2\ngeometry.chips-per-channel = 2\ngeometry.blocks-per-plane = 32\ngeometry.pages-per-block = 64\n\
                geometry.over-provisioning = 0.3\nprecondition.kind = \"random\"\nworkload.requests = 1_000\nworkload.read-share = 0.3\n";
    let overrides: Vec<String> = overrides.iter().map(|&text| text.to_owned()).collect();
    Config::from_str(text, "drive.toml", &overrides).expect("the configuration is valid")
}

/// Returns the physical page of every logical page at the start of the run (`None` if unmapped), and the report without wall-clock time and memory.
fn outcome(config: &Config, drives: &PreparedDrives) -> (Vec<Option<u32>>, String) {
    let mut simulation = Simulation::prepared(config, None, drives).expect("the drive can be built");
    let ftl = simulation.ftl();
    ftl.audit().expect("the tables agree");
    let pages = (0..simulation.geometry().logical_pages).map(Lpn);
    let places = pages.map(|lpn| simulation.ftl().lookup(lpn).map(|ppn| ppn.0)).collect();
    let report = simulation.run(&Control::default()).unwrap_or_else(|error| panic!("{error}\n{}", config.to_toml()));
    let mut report = report.to_json();
    for key in ["wall_s", "requests_per_wall_s", "peak_rss_bytes"] {
        report.as_object_mut().expect("a report is an object").remove(key);
    }
    (places, report.to_string())
}

fn own(config: &Config) -> (Vec<Option<u32>>, String) {
    outcome(config, &PreparedDrives::default().without_sharing())
}

#[test]
fn random_drives_begin_alike_whether_their_state_is_computed_written_or_read() {
    let folder = TempDir::new().expect("a temporary folder can be created");
    let mut runner = TestRunner::new_with_rng(Runner::default(), TestRng::from_seed(RngAlgorithm::ChaCha, &[11; 32]));
    let (mut tried, mut kept) = (0, 0);
    let drives_tried = cases(60) as usize;
    while tried < drives_tried {
        let mut config = arbitrary::drive().new_tree(&mut runner).expect("a drive can be drawn").current();
        config.precondition.kind = PreconditionKind::Random;
        config.workload.requests = Some(60);
        if config.validate().is_err() || !config.stream.is_empty() {
            continue;
        }
        // All drives share the folder. If the cache key omitted a parameter, a changed drive would load the state of the first.
        let changed = {
            let mut config = config.clone();
            match tried % 4 {
                0 => config.seed += 1,
                1 => {
                    config.gc.victim =
                        flashmesh::config::VictimPolicy::ALL[tried % flashmesh::config::VictimPolicy::ALL.len()]
                }
                2 => config.precondition.fill *= 0.5,
                _ => config.wear.dynamic = !config.wear.dynamic,
            }
            config
        };
        for config in [config, changed] {
            if config.validate().is_err() {
                continue;
            }
            let alone = own(&config);
            let before = states(folder.path()).len();
            for way in ["written", "read"] {
                let drives = drives(folder.path());
                assert_eq!(outcome(&config, &drives), alone, "{way}\n{}", config.to_toml());
                assert_eq!(drives.take_warnings(), Vec::<String>::new());
            }
            kept += usize::from(states(folder.path()).len() > before);
        }
        tried += 1;
    }
    assert!(kept > drives_tried * 4 / 3, "{kept} states were kept");
}

#[test]
fn a_state_is_read_by_every_drive_with_such_planes_and_by_no_other() {
    let folder = TempDir::new().expect("a temporary folder can be created");
    let kept = |overrides: &[&str]| {
        outcome(&full(overrides), &drives(folder.path()));
        states(folder.path()).len()
    };
    assert_eq!(kept(&[]), 1);
    // These keys affect only the run after preconditioning, so no second state is stored.
    for other in ["workload.read-share=0.9", "flash.read-time=9us", "fabric.kind=ideal", "host.link-rate=1GB/s"] {
        assert_eq!(kept(&[other]), 1, "{other}");
    }
    let others =
        ["seed=2", "gc.victim=fifo", "geometry.over-provisioning=0.31", "precondition.fill=0.9", "wear.dynamic=false"];
    for (number, other) in others.into_iter().enumerate() {
        assert_eq!(kept(&[other]), 2 + number, "{other}");
    }
}

#[test]
fn a_damaged_state_is_removed_with_a_note_and_made_anew() {
    let folder = TempDir::new().expect("a temporary folder can be created");
    let config = full(&[]);
    let alone = own(&config);
    outcome(&config, &drives(folder.path()));
    let [path] = <[PathBuf; 1]>::try_from(states(folder.path())).expect("exactly one state is in the folder");
    let sound = fs::read(&path).expect("the state can be read");
    let flipped = |at: usize| {
        let mut bytes = sound.clone();
        bytes[at] ^= 0x10;
        bytes
    };
    let head = sound.iter().position(|&byte| byte == b'\n').expect("the state has a first line");
    let mut damaged =
        vec![Vec::new(), b"\n\n\n".to_vec(), sound[..sound.len() - 1].to_vec(), sound[..head + 9].to_vec()];
    damaged.push([sound.as_slice(), b"more"].concat());
    damaged.extend([3, head + 20, sound.len() - 2, sound.len() / 2, sound.len() * 3 / 4].map(flipped));
    for (number, bytes) in damaged.into_iter().enumerate() {
        fs::write(&path, bytes).expect("the file can be written");
        let drives = drives(folder.path());
        assert_eq!(outcome(&config, &drives), alone, "damage {number}");
        let notes = drives.take_warnings();
        assert!(
            matches!(notes.as_slice(), [note] if note.contains("removed") && note.contains("anew")),
            "{number}: {notes:?}"
        );
        assert_eq!(outcome(&config, &drives), alone, "damage {number}");
        assert_eq!(drives.take_warnings(), Vec::<String>::new(), "the new state is valid");
    }
}

#[test]
fn a_folder_that_cannot_be_made_is_a_note() {
    let folder = TempDir::new().expect("a temporary folder can be created");
    let file = folder.path().join("file");
    fs::write(&file, "no folder").expect("the file can be written");
    let drives = drives(&file.join("states"));
    assert_eq!(outcome(&full(&[]), &drives), own(&full(&[])));
    let notes = drives.take_warnings();
    assert!(!notes.is_empty() && notes.iter().all(|note| note.contains("file/states")), "{notes:?}");
}

#[test]
fn the_states_used_longest_ago_go_first_when_the_folder_is_full() {
    let folder = TempDir::new().expect("a temporary folder can be created");
    let seeds: Vec<Config> = (0..4).map(|seed| full(&[&format!("seed={seed}")])).collect();
    outcome(&seeds[0], &drives(folder.path()));
    let bytes = fs::metadata(&states(folder.path())[0]).expect("the state exists").len();
    let limit = Bytes::new(bytes * 5 / 2);
    let aged = |seconds: u64| {
        for path in states(folder.path()) {
            let file = fs::File::options().append(true).open(path).expect("the state can be opened");
            let time = file.metadata().and_then(|about| about.modified()).expect("the file has a modification time");
            file.set_modified(time - Duration::from_secs(seconds)).expect("the time can be set");
        }
    };
    aged(1_000);
    let first = states(folder.path());
    outcome(&seeds[1], &drives_within(folder.path(), limit));
    aged(1_000);
    // The first state is read once more. So the second state is the least recently used, and is deleted when the third is stored.
    outcome(&seeds[0], &drives_within(folder.path(), limit));
    outcome(&seeds[2], &drives_within(folder.path(), limit));
    let kept = states(folder.path());
    assert_eq!(kept.len(), 2);
    assert!(kept.contains(&first[0]), "the first state was used later than the second");
    let tight = drives_within(folder.path(), Bytes::new(bytes / 2));
    outcome(&seeds[3], &tight);
    let notes = tight.take_warnings();
    assert!(matches!(notes.as_slice(), [note] if note.contains("larger than the limit")), "{notes:?}");
    assert_eq!(states(folder.path()), kept);
}

#[test]
fn many_runs_at_once_may_use_one_folder() {
    let folder = TempDir::new().expect("a temporary folder can be created");
    let alone = own(&full(&[]));
    std::thread::scope(|scope| {
        for _ in 0..6 {
            scope.spawn(|| {
                for _ in 0..4 {
                    let drives = drives(folder.path());
                    assert_eq!(outcome(&full(&[]), &drives), alone);
                    assert_eq!(drives.take_warnings(), Vec::<String>::new());
                }
            });
        }
    });
    assert_eq!(states(folder.path()).len(), 1);
    assert_eq!(fs::read_dir(folder.path()).expect("the folder can be read").count(), 1, "no unfinished file remains");
}

#[test]
fn states_are_listed_and_cleared_by_their_age() {
    let folder = TempDir::new().expect("a temporary folder can be created");
    for seed in ["seed=1", "seed=2"] {
        outcome(&full(&[seed]), &drives(folder.path()));
    }
    fs::write(folder.path().join("stray.state"), "what somebody put there").expect("the file can be written");
    fs::write(folder.path().join("notes.txt"), "what is no state").expect("the file can be written");
    let kept = StateFolder::new(folder.path(), GIB);
    let listed = kept.list();
    assert_eq!(listed.len(), 3);
    let sound: Vec<_> = listed.iter().filter(|state| state.is_current).collect();
    assert_eq!(sound.len(), 2);
    for state in sound {
        let about = state.about.as_ref().expect("the state describes itself");
        assert!(about.drive.starts_with("configuration "), "{}", about.drive);
        assert_eq!(about.capacity_bytes, outcome_capacity());
        assert!(state.used_s >= about.made_s);
    }
    let old = states(folder.path())[0].clone();
    let file = fs::File::options().append(true).open(&old).expect("the state can be opened");
    file.set_modified(SystemTime::now() - Duration::from_secs(7_200)).expect("the time can be set");
    assert_eq!(kept.clear(Duration::from_secs(3_600)).expect("the old state can be removed").0, 1);
    assert!(!old.exists());
    assert_eq!(kept.clear(Duration::ZERO).expect("all states can be removed").0, 2);
    assert!(folder.path().join("notes.txt").exists(), "other files stay");
}

fn outcome_capacity() -> u64 {
    Simulation::new(&full(&[])).expect("the drive can be built").geometry().capacity().as_u64()
}
