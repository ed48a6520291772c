//! Example of a user-defined replica selector: the copy of a page serves a read only if the die of the copy has no other read.
//!
//! With `[replication]`, pages that collide repeatedly have a copy on another die. [`ReplicaSelector`] decides which of the two serves a read
//! when the read is dispatched. The default chooses the die with fewer outstanding reads.

use flashmesh::config::{Config, Pattern};
use flashmesh::ids::Lpn;
use flashmesh::policy::{ReadLocation, ReplicaChoice, ReplicaSelector};
use flashmesh::report::ReplicationCounts;
use flashmesh::simulation::{Control, Simulation};
use flashmesh::units::Bytes;

/// Replica selector that chooses the copy if the copy's die has no outstanding read and the original's die has one.
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
    // All 64 pages are on the 8 dies of one row, and the dies of other rows hold only copies.
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
        let report = simulation.run(&Control::default()).expect("every request completes without a violation");
        report.replication.expect("replication is enabled").counts
    };
    let (fewest, idle) = (run(None), run(Some(IdleCopies)));
    assert!(fewest.made > 0 && idle.made > 0);
    let share = |counts: &ReplicationCounts| counts.reads_of_copies as f64 / counts.reads as f64;
    println!("reads of copies: {:.2} by queue length, {:.2} on idle dies", share(&fewest), share(&idle));
    assert!(share(&idle) > 0.0 && share(&idle) < share(&fewest));
}
