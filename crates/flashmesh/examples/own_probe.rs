//! Example of a user-defined probe, which counts the reads that each die serves.
//!
//! A [`Probe`] is notified of events in a run (listed in [`Notice`]) and changes nothing.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use flashmesh::config::Config;
use flashmesh::ids::DieId;
use flashmesh::probe::{Notice, OperationKind, Probe};
use flashmesh::simulation::{Control, Simulation};
use flashmesh::units::Time;

/// Number of pages read so far by each die.
#[derive(Clone, Default)]
struct ReadsPerDie(Arc<Mutex<BTreeMap<DieId, usize>>>);

impl Probe for ReadsPerDie {
    fn notify(&mut self, _now: Time, notice: &Notice<'_>) {
        if let Notice::OperationBegan(die, _, OperationKind::Read, planes) = *notice {
            *self.0.lock().expect("no other thread panicked").entry(die).or_default() += planes;
        }
    }
}

fn main() {
    let mut config = Config::default();
    config.workload.requests = Some(10_000);
    let plain =
        Simulation::new(&config).expect("the drive can be built").run(&Control::default()).expect("the run succeeds");

    let reads = ReadsPerDie::default();
    let mut simulation = Simulation::new(&config).expect("the drive can be built");
    simulation.add_probe(Box::new(reads.clone()));
    let report = simulation.run(&Control::default()).expect("every request completes");

    let reads = reads.0.lock().expect("no other thread panicked");
    println!(
        "{} dies served {} to {} reads",
        reads.len(),
        reads.values().min().expect("dies served reads"),
        reads.values().max().expect("dies served reads")
    );
    assert_eq!(reads.values().sum::<usize>(), 10_000, "every 4 KiB read is one page of one die");
    assert!(reads.len() == 64 && reads.values().all(|&pages| pages > 100), "random reads spread over all dies");
    assert_eq!(report.makespan_ps, plain.makespan_ps, "a probe changes nothing");
}
