//! Example of a user-defined scheduler: reads go first, but a write that has waited for 200 us precedes them.
//!
//! The interface is [`Scheduler`], which documents the calls to a policy and its possible answers. On a die that always has a pending read, a
//! policy that serves reads first starves writes.

use flashmesh::config::Config;
use flashmesh::scheduler::{OutOfOrder, QueueId, Scheduler, SchedulerView, TransactionClass};
use flashmesh::simulation::{Control, Simulation};
use flashmesh::units::Time;

/// Scheduler in which a write that has waited for `limit` goes first; otherwise it chooses like [`OutOfOrder`].
#[derive(Debug)]
struct Deadline {
    limit: Time,
    otherwise: OutOfOrder,
}

impl Scheduler for Deadline {
    fn choose(&mut self, waiting: &SchedulerView<'_>) -> Option<QueueId> {
        let is_late = |choice: &QueueId| {
            waiting
                .heads(choice.class)
                .any(|(head, write)| head == *choice && waiting.now() - write.account.queued() >= self.limit)
        };
        waiting.oldest(TransactionClass::UserProgram).filter(is_late).or_else(|| self.otherwise.choose(waiting))
    }
}

fn main() {
    // Nearly all requests are reads, thirty-two for every die, so that every die always has a pending read.
    let mut config = Config::default();
    config.replay.outstanding = 2048;
    config.workload.read_share = 0.98;
    config.workload.requests = Some(40_000);

    let write_p99 = |policy: Option<Deadline>| {
        let mut simulation = Simulation::new(&config).expect("the drive can be built");
        if let Some(policy) = policy {
            simulation.set_scheduler(Box::new(policy));
        }
        simulation.enable_checks();
        let report = simulation.run(&Control::default()).expect("every request completes without a violation");
        assert_eq!(report.requests, 40_000);
        report.latency_ps.write.expect("writes completed").p99
    };
    let deadline = Deadline { limit: Time::from_us(200), otherwise: OutOfOrder::default() };
    let (starved, bounded) = (write_p99(None), write_p99(Some(deadline)));
    println!("p99 of writes: {} us out of order, {} us with a deadline", starved / 1_000_000, bounded / 1_000_000);
    assert!(bounded * 2 < starved, "the deadline bounds the wait");
}
