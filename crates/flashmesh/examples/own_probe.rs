//! A custom probe that counts the reads of each die.
//!
//! A [`Probe`] is notified of the events of a run (see [`Notice`]) and changes nothing.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use flashmesh::config::Config;
use flashmesh::ids::DieId;
use flashmesh::probe::{Notice, OperationKind, Probe};
use flashmesh::simulation::{Control, Simulation};
use flashmesh::units::Time;

/// Number of pages read from each die.
#[derive(Clone, Default)]
struct ReadsPerDie(Arc<Mutex<BTreeMap<DieId, usize>>>);

impl Probe for ReadsPerDie {
    fn notify(&mut self, _now: Time, notice: &Notice<'_>) {
        if let Notice::OperationBegan(die, OperationKind::Read, planes) = *notice {
            *self.0.lock().expect("nobody panics with it").entry(die).or_default() += planes;
        }
    }
}

fn main() {
    let mut config = Config::default();
    config.workload.requests = Some(10_000);
    let plain = Simulation::new(&config).expect("the drive can be built").run(&Control::default()).expect("it runs");

    let reads = ReadsPerDie::default();
    let mut simulation = Simulation::new(&config).expect("the drive can be built");
    simulation.add_probe(Box::new(reads.clone()));
    let report = simulation.run(&Control::default()).expect("every request completes");

    let reads = reads.0.lock().expect("nobody panics with it");
    println!(
        "{} dies served {} to {} reads",
        reads.len(),
        reads.values().min().expect("dies"),
        reads.values().max().expect("dies")
    );
    assert_eq!(reads.values().sum::<usize>(), 10_000, "every 4 KiB read is one page of one die");
    assert!(reads.len() == 64 && reads.values().all(|&pages| pages > 100), "random reads spread over all dies");
    assert_eq!(report.makespan_ps, plain.makespan_ps, "a probe changes nothing");
}
