//! Age bound of the scheduling policies: a request that has waited for `schedule.age-bound` precedes all younger ones. Each choice of a policy is
//! checked, over every interconnect, on drives with many conflicts and on random drives, also with power cuts.
//!
//! `FLASHMESH_DRIVES` sets the number of random drives per policy and interconnect, `FLASHMESH_SEED` their seed.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use flashmesh::config::{
    Config, EraseOrder, FabricKind, FirmwarePolicy, InterfaceKind, PreconditionKind, ReplayMode, SchedulePolicy,
    Suspension,
};
use flashmesh::flash::geometry::Geometry;
use flashmesh::ids::DieId;
use flashmesh::measure::report::Report;
use flashmesh::schedule::transaction::{Transaction, TransactionClass};
use flashmesh::schedule::{AnyScheduler, Decision, DispatchView, QueueId, Scheduler, SchedulerView};
use flashmesh::simulation::{Control, Simulation};
use flashmesh::units::Time;
use flashmesh::workload::IoRequest;
use proptest::strategy::{Strategy, ValueTree};

use crate::power_cuts::{journaling, runner, setting};
use crate::scheduling::{busy, one_channel};
use crate::support::cases::cases;
use crate::support::drives::Listed;

const US: fn(u64) -> Time = Time::from_us;
const BOUNDED: [SchedulePolicy; 4] =
    [SchedulePolicy::OutOfOrder, SchedulePolicy::Sprinkler, SchedulePolicy::Paq, SchedulePolicy::Fair];
/// Default number of random drives per policy and interconnect.
const DRIVES: u32 = 3;
/// Value of `schedule.age-bound` that is never reached.
const NO_BOUND: Time = Time::from_ms(1_000_000);

/// Checked choices of a policy in a run.
#[derive(Debug, Default)]
struct Seen {
    /// Choices made while a request was overdue and requests waited in more than one queue.
    owed: u64,
    /// First violation of the bound, if any.
    broken: Option<String>,
}

/// Scheduling policy whose choices are checked against its age bound.
struct Watched {
    policy: AnyScheduler,
    erases: EraseOrder,
    bound: Time,
    /// Whether the last choice of the die passed over an overdue request. Two such choices in a row violate the bound.
    passed: BTreeMap<DieId, bool>,
    seen: Arc<Mutex<Seen>>,
}

impl Watched {
    /// Returns whether waiting firmware work (map accesses, erases or GC) precedes all requests.
    fn firmware_goes_first(&self, waiting: &SchedulerView<'_>) -> bool {
        let any = |classes: &[TransactionClass]| classes.iter().any(|&class| waiting.is_ready(class));
        let puts_erases_off = self.erases == EraseOrder::Last && !waiting.space_is_out();
        let collection: &[TransactionClass] = if puts_erases_off {
            &[TransactionClass::CollectRead, TransactionClass::CollectProgram]
        } else {
            &TransactionClass::INTERNAL
        };
        any(&[TransactionClass::MapRead, TransactionClass::MapProgram])
            || (self.erases == EraseOrder::First && waiting.is_ready(TransactionClass::Erase))
            || (waiting.collection_first() && any(collection))
    }

    /// Returns the queue that must be served next, and the longest wait of a request. `None` if no request is overdue, only one queue has requests,
    /// or firmware work goes first.
    fn owed(&self, waiting: &SchedulerView<'_>) -> Option<(QueueId, Time)> {
        let heads = || waiting.heads(TransactionClass::UserRead).chain(waiting.heads(TransactionClass::UserProgram));
        if heads().nth(1).is_none() || self.firmware_goes_first(waiting) {
            return None;
        }
        let waited = |transaction: &Transaction| waiting.now() - transaction.account.queued();
        let longest = heads().map(|(_, transaction)| waited(transaction)).max()?;
        let oldest = heads().min_by_key(|(_, transaction)| transaction.order)?;
        (longest >= self.bound).then_some((oldest.0, longest))
    }
}

impl Scheduler for Watched {
    fn choose(&mut self, waiting: &SchedulerView<'_>) -> Option<QueueId> {
        self.policy.choose(waiting)
    }

    fn decide(&mut self, waiting: &SchedulerView<'_>) -> Option<Decision> {
        let owed = self.owed(waiting);
        let decision = self.policy.decide(waiting);
        if let (Some((owed, waited)), Some(decision)) = (owed, &decision) {
            let passes = decision.queue != owed || decision.lead.is_some();
            let passed = self.passed.insert(waiting.first_die(), passes).unwrap_or_default();
            let mut seen = self.seen.lock().expect("no other thread panicked");
            seen.owed += 1;
            if passes && passed {
                let now = waiting.now();
                let told = || format!("at {now} {owed:?} has waited {waited}, and two went before it: {decision:?}");
                seen.broken.get_or_insert_with(told);
            }
        }
        decision
    }

    fn dispatches(&self) -> bool {
        self.policy.dispatches()
    }

    fn next_die(&mut self, dispatch: &DispatchView<'_>) -> Option<DieId> {
        self.policy.next_die(dispatch)
    }

    fn queue_changed(&mut self, die: DieId) {
        self.policy.queue_changed(die);
    }
}

/// Runs a drive with all oracles enabled and checks each choice of its policy against `bound`. Returns the report and the checked choices.
fn watch(config: &Config, bound: Time, mut simulation: Simulation) -> (Report, Seen) {
    let geometry = Geometry::new(&config.geometry).expect("the geometry is valid");
    let seen = Arc::<Mutex<Seen>>::default();
    let policy = AnyScheduler::new(config, &geometry);
    let (erases, passed) = (config.schedule.erases, BTreeMap::new());
    simulation.set_scheduler(Box::new(Watched { policy, erases, bound, passed, seen: seen.clone() }));
    simulation.enable_checks();
    let report = simulation.run(&Control::default()).unwrap_or_else(|error| panic!("{error}\n{}", config.to_toml()));
    let seen = std::mem::take(&mut *seen.lock().expect("no other thread panicked"));
    (report, seen)
}

fn watch_configured(config: &Config, bound: Time) -> (Report, Seen) {
    watch(config, bound, Simulation::new(config).expect("the drive can be built"))
}

#[track_caller]
fn assert_kept(seen: &Seen, config: &Config) {
    assert_eq!(seen.broken, None, "{}", config.to_toml());
}

/// Returns a drive of two dies with reads always pending, and some writes.
fn saturated(policy: SchedulePolicy) -> Config {
    let mut config = one_channel(2, 1, 2);
    config.schedule.policy = policy;
    config.replay.mode = ReplayMode::Stress;
    config.replay.outstanding = 64;
    config.workload.read_share = 0.95;
    config.workload.requests = Some(20_000);
    config.precondition.kind = PreconditionKind::None;
    config
}

#[test]
fn no_request_waits_longer_than_the_bound_of_the_policy_allows() {
    let bound = US(500);
    for policy in BOUNDED {
        let mut config = saturated(policy);
        config.schedule.age_bound = bound;
        let (report, seen) = watch_configured(&config, bound);
        assert_kept(&seen, &config);
        // An overdue read waits only for older transactions. Reads and programs alternate, and at worst all 64 outstanding requests are on its die.
        let [read, write] = [10 + 3_000 + 4_096, 10 + 4_096 + 100_000].map(Time::from_ns);
        let most = bound + (write + read) * 64;
        let slowest = report.latency_ps.all.expect("there are requests").max;
        assert!(slowest <= most.as_ps(), "{policy}: {slowest} ps, at most {most}");
        assert_eq!(report.requests, 20_000);
    }
}

#[test]
fn a_policy_that_breaks_its_bound_is_caught() {
    for policy in BOUNDED {
        let mut config = saturated(policy);
        config.schedule.age_bound = NO_BOUND;
        let (_, seen) = watch_configured(&config, US(500));
        assert!(seen.broken.is_some_and(|told| told.contains("two went before it")), "{policy}");
    }
}

#[test]
fn the_bound_holds_over_every_interconnect_with_collection_suspension_and_replication() {
    let bound = US(200);
    for policy in BOUNDED {
        for (at, &fabric) in FabricKind::ALL.iter().enumerate() {
            let mut config = busy(policy, fabric, InterfaceKind::Direct);
            config.schedule.age_bound = bound;
            config.flash.suspension = if at % 2 == 0 { Suspension::Both } else { Suspension::Off };
            config.replication.enabled = at % 3 == 0;
            // Copies of replicated pages need one more spare block in each plane.
            config.geometry.over_provisioning = 0.4;
            config.validate().unwrap_or_else(|error| panic!("{policy} over {fabric}: {error}"));
            let (report, seen) = watch_configured(&config, bound);
            assert_kept(&seen, &config);
            let late = report.flash.overdue_reads + report.flash.overdue_programs;
            assert!(report.gc.erases > 0 && late > 0, "{policy} over {fabric}: {late} overdue");
        }
    }
}

/// Random drive with the given policy and interconnect, its requests, and the time of the power cut in thousandths of the run.
type Drawn = (Config, Vec<IoRequest>, u32);

/// Draws random drive `number`, independently of earlier draws.
fn draw(policy: SchedulePolicy, fabric: FabricKind, number: u64) -> Drawn {
    let mut runner = runner(setting("FLASHMESH_SEED").unwrap_or(1), number);
    loop {
        let drive = (journaling(), 0..=300u64).new_tree(&mut runner).expect("a drive can be drawn").current();
        let ((mut config, requests, moments), bound) = drive;
        config.schedule.policy = policy;
        config.schedule.age_bound = US(bound);
        // The firmware policy Sprinkler overrides `schedule.policy` with its own scheduler.
        let is_own = config.ftl.policy == FirmwarePolicy::Sprinkler;
        if config.fabric.kind == fabric && !is_own && config.validate().is_ok() {
            return (config, requests, moments[0]);
        }
    }
}

/// Runs the drive to the end, then again with a power cut, and checks both runs against `bound`.
fn watch_drawn((config, requests, moment): &Drawn, bound: Time) -> [Seen; 2] {
    let run = |config: &Config| {
        let source = Listed(requests.iter().copied().collect());
        watch(config, bound, Simulation::with_source(config, Box::new(source)).expect("the drive can be built"))
    };
    let (whole, seen) = run(config);
    let mut cut = config.clone();
    cut.power.cut = Some(Time::from_ps(whole.makespan_ps / 1000 * u64::from(*moment)));
    [seen, run(&cut).1]
}

#[test]
fn the_bound_holds_on_random_drives_whose_power_is_cut_and_is_found_broken_without_it() {
    let drives = setting("FLASHMESH_DRIVES").unwrap_or(cases(DRIVES).into());
    let work = |first: usize| {
        let mut caught = BTreeMap::new();
        for (at, policy) in BOUNDED.into_iter().enumerate().skip(first).step_by(2) {
            for (&fabric, number) in FabricKind::ALL.iter().flat_map(|fabric| (0..drives).map(move |n| (fabric, n))) {
                let mut drawn = draw(policy, fabric, number + drives * at as u64);
                let bound = drawn.0.schedule.age_bound;
                let (owed, caught) = caught.entry(policy.to_string()).or_insert((0, 0));
                for seen in watch_drawn(&drawn, bound) {
                    assert_kept(&seen, &drawn.0);
                    *owed += seen.owed;
                }
                drawn.0.schedule.age_bound = NO_BOUND;
                *caught += watch_drawn(&drawn, bound).iter().filter(|seen| seen.broken.is_some()).count();
            }
        }
        caught
    };
    let seen = std::thread::scope(|scope| {
        let workers = [0, 1].map(|first| scope.spawn(move || work(first)));
        workers.into_iter().flat_map(|worker| worker.join().expect("every bound holds")).collect::<BTreeMap<_, _>>()
    });
    println!("{seen:?}");
    for (policy, (owed, _)) in &seen {
        assert!(3 * owed > 100 * drives, "{policy}: {owed} choices");
    }
    let caught: usize = seen.values().map(|(_, caught)| caught).sum();
    assert!(caught > 0, "no run without a bound is caught: {seen:?}");
}
