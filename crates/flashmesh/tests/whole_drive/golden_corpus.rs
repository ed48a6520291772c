//! Results of random drives compared with stored hashes, to detect any change of results in a refactoring.
//!
//! After an intended change of results or of the drawn cases, `make golden-corpus` rewrites the hashes.

use std::panic::{AssertUnwindSafe, catch_unwind};

use flashmesh::simulation::{Control, Simulation};
use proptest::strategy::{Strategy, ValueTree};
use proptest::test_runner::{Config as Runner, RngAlgorithm, TestRng, TestRunner};
use serde_json::Value;
use sha2::{Digest, Sha256};

use crate::support::arbitrary::{self, Case};
use crate::support::cases::cases;
use crate::support::drives::Listed;

/// Hexadecimal hashes of the reports, one line for each drive of the corpus.
const HASHES: &str = include_str!("golden_corpus.txt");
const DRIVES: u32 = 2_300;
/// Drives before this number read planes only together; later ones read them independently.
const JOINT_DRIVES: u32 = 2_000;
const WORKERS: u32 = 3;

/// Report fields that depend on the machine, or on keys without an effect.
const UNSTABLE: [&str; 4] = ["wall_s", "requests_per_wall_s", "peak_rss_bytes", "config_hash"];

/// Draws drive `number` of the corpus, independently of other draws.
fn draw(number: u32) -> Case {
    let mut seed = [0; 32];
    seed[..4].copy_from_slice(&number.to_le_bytes());
    let mut runner = TestRunner::new_with_rng(Runner::default(), TestRng::from_seed(RngAlgorithm::ChaCha, &seed));
    let strategy = match number % 5 {
        0 | 1 => arbitrary::case_of(1..100).boxed(),
        2 => arbitrary::case_in_units().boxed(),
        3 => arbitrary::case_with_slc().boxed(),
        _ => arbitrary::case_that_sends_units().boxed(),
    };
    let strategy = match number {
        0..JOINT_DRIVES => strategy,
        _ => arbitrary::all_on_independent_planes(strategy).boxed(),
    };
    strategy.new_tree(&mut runner).expect("a case can be drawn").current()
}

/// Runs a drive and returns the hash of its report.
fn hash(case: &Case) -> String {
    let source = Box::new(Listed(case.requests.iter().copied().collect()));
    let mut simulation = Simulation::with_source(&case.config, source).expect("drawn drives are sound");
    let report = simulation.run(&Control::default()).expect("the run ends");
    let Value::Object(mut report) = report.to_json() else { panic!("a report is an object") };
    UNSTABLE.iter().for_each(|field| assert!(report.remove(*field).is_some(), "the report has no {field}"));
    let digest = Sha256::digest(Value::Object(report).to_string());
    digest[..8].iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Hashes every `step`th drive of the corpus, on several threads. Returns the hashes with the numbers of their drives, in order.
fn hashes(step: u32) -> Vec<(u32, String)> {
    let of_worker = |first: u32| {
        let numbers = (first * step..DRIVES).step_by((WORKERS * step) as usize);
        let hash_of = |number| {
            let case = draw(number);
            let hash = catch_unwind(AssertUnwindSafe(|| hash(&case)));
            hash.unwrap_or_else(|_| panic!("drive {number} stops:\n{}", case.config.to_toml()))
        };
        numbers.map(|number| (number, hash_of(number))).collect::<Vec<_>>()
    };
    let mut all: Vec<(u32, String)> = std::thread::scope(|scope| {
        let workers: Vec<_> = (0..WORKERS).map(|first| scope.spawn(move || of_worker(first))).collect();
        workers.into_iter().flat_map(|worker| worker.join().expect("every drive runs to its end")).collect()
    });
    all.sort_unstable();
    all
}

#[test]
fn random_drives_give_the_stored_results() {
    if std::env::var_os("FLASHMESH_WRITE_GOLDEN_CORPUS").is_some() {
        let file = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/whole_drive/golden_corpus.txt");
        let text: String = hashes(1).into_iter().map(|(_, hash)| hash + "\n").collect();
        return std::fs::write(file, text).expect("the checkout can be written");
    }
    let stored: Vec<&str> = HASHES.lines().collect();
    assert_eq!(stored.len(), DRIVES as usize, "golden_corpus.txt is not whole");
    let step = (DRIVES / cases(DRIVES)).max(1);
    let differing: Vec<u32> = hashes(step)
        .into_iter()
        .filter(|(number, hash)| stored[*number as usize] != hash)
        .map(|(number, _)| number)
        .collect();
    if let Some(&first) = differing.first() {
        panic!(
            "the results of {} drives changed; if they were meant to, run `make golden-corpus`. The first is drive {first}:\n{}",
            differing.len(),
            draw(first).config.to_toml()
        );
    }
}
