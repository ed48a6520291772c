//! A custom selector between two copies of a page: the replica serves a read only if its die has no other read.
//!
//! With `[replication]`, pages that collide repeatedly have a replica on another die. [`ReplicaSelector`] decides which of the two serves a read when it
//! is dispatched. The default takes the die with fewer outstanding reads.

use flashmesh::config::{Config, Pattern};
use flashmesh::ids::Lpn;
use flashmesh::policy::{ReadLocation, ReplicaChoice, ReplicaSelector};
use flashmesh::report::ReplicationCounts;
use flashmesh::simulation::{Control, Simulation};
use flashmesh::units::Bytes;

/// Selector of the replica if its die has no outstanding read and the die of the original has one.
struct IdleCopies;

impl ReplicaSelector for IdleCopies {
    fn choose(&mut self, _lpn: Lpn, original: ReadLocation, replica: ReadLocation) -> ReplicaChoice {
        if original.outstanding > 0 && replica.outstanding == 0 {
            ReplicaChoice::Replica
        } else {
            ReplicaChoice::Original
        }
    }
}

fn main() {
    // 64 pages on the 8 dies of one row, so that all other dies have nothing to read.
    let mut config = Config::default();
    config.replication.enabled = true;
    config.workload.requests = Some(50_000);
    config.workload.footprint = Some(Bytes::from_kib(2 << 10));
    config.workload.pattern = Pattern::HotStride;
    config.workload.hot_traffic = 1.0;
    config.replay.outstanding = 16;

    let run = |selector: Option<IdleCopies>| {
        let mut simulation = Simulation::new(&config).expect("the drive can be built");
        if let Some(selector) = selector {
            simulation.set_replica_selector(Box::new(selector));
        }
        simulation.enable_checks();
        let report = simulation.run(&Control::default()).expect("every request completes and no oracle speaks");
        report.replication.expect("it is enabled").counts
    };
    let (fewest, idle) = (run(None), run(Some(IdleCopies)));
    assert!(fewest.made > 0 && idle.made > 0);
    let share = |counts: &ReplicationCounts| counts.reads_of_copies as f64 / counts.reads as f64;
    println!("reads of copies: {:.2} by queue length, {:.2} on idle dies", share(&fewest), share(&idle));
    assert!(share(&idle) > 0.0 && share(&idle) < share(&fewest));
}
