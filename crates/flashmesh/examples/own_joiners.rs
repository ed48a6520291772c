//! Example of a user-defined scheduler that chooses a lead, the transaction that starts an operation, and its joiners on other planes. It joins reads
//! of two planes at the same page offset, anywhere in the queues.
//!
//! [`Scheduler::decide`] sees the queues and states of all dies, and may choose any transaction of a queue. A policy that also dispatches
//! chooses the die that requests a path next.

use flashmesh::config::{Config, PreconditionKind};
use flashmesh::ids::TransactionId;
use flashmesh::placement::Geometry;
use flashmesh::scheduler::{
    ChosenJoiners, Decision, Joiners, OutOfOrder, QueueId, Scheduler, SchedulerView, TransactionClass,
};
use flashmesh::simulation::{Control, Simulation};

/// Scheduler that joins reads of two planes at the same page offset, anywhere in the queues; without such a pair it chooses like [`OutOfOrder`].
struct Pairs {
    geometry: Geometry,
    otherwise: OutOfOrder,
}

impl Scheduler for Pairs {
    fn choose(&mut self, waiting: &SchedulerView<'_>) -> Option<QueueId> {
        self.otherwise.choose(waiting)
    }

    fn decide(&mut self, waiting: &SchedulerView<'_>) -> Option<Decision> {
        // The decision concerns one die, but a policy may inspect the queues of all dies.
        for die in waiting.dies() {
            let mut seen: Vec<(QueueId, TransactionId, u32)> = Vec::new();
            for (queue, id, read) in waiting.load().queued(die, TransactionClass::UserRead) {
                let offset = self.geometry.page_in_block(read.from);
                let partner = seen.iter().find(|(other, _, at)| other.plane != queue.plane && *at == offset);
                if let Some(&(lead_queue, lead, _)) = partner {
                    let mut joiners = ChosenJoiners::default();
                    joiners.push(queue.plane, id);
                    return Some(Decision { queue: lead_queue, lead: Some(lead), joiners: Joiners::These(joiners) });
                }
                seen.push((queue, id, offset));
            }
        }
        self.choose(waiting).map(Decision::from)
    }
}

fn main() {
    // Hundreds of random reads wait at each of four dies. Earlier writes have scattered the pages.
    let mut config = Config::default();
    config.geometry.channels = 2;
    config.geometry.chips_per_channel = 2;
    config.geometry.blocks_per_plane = 64;
    config.precondition.kind = PreconditionKind::Random;
    config.host.queue_depth = 1024;
    config.replay.outstanding = 1024;
    config.workload.requests = Some(20_000);

    let run = |policy: Option<Pairs>| {
        let mut simulation = Simulation::new(&config).expect("the drive can be built");
        if let Some(policy) = policy {
            simulation.set_scheduler(Box::new(policy));
        }
        simulation.enable_checks();
        simulation.run(&Control::default()).expect("every request completes without a violation")
    };
    let geometry = Geometry::new(&config.geometry).expect("the geometry is valid");
    let (plain, paired) = (run(None), run(Some(Pairs { geometry, otherwise: OutOfOrder::default() })));
    println!(
        "multi-plane operations: {} out of order, {} in pairs",
        plain.flash.multi_plane_operations, paired.flash.multi_plane_operations
    );
    assert!(paired.flash.multi_plane_operations > 2 * plain.flash.multi_plane_operations);
}
