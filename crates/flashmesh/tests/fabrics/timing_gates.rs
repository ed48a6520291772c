//! Timing gates of a die: an action is refused one picosecond before state and timing allow it, and accepted from that time on.

use flashmesh::config::{Config, Suspension};
use flashmesh::flash::die::{Die, DieError, DieRules, Operation, OperationKind, PlaneTransactions};
use flashmesh::flash::timing::{OperationPageTypes, Timing};
use flashmesh::ids::TransactionId;
use flashmesh::units::Time;

const PICOSECOND: Time = Time::from_ps(1);
const KINDS: [OperationKind; 4] =
    [OperationKind::Read, OperationKind::Program, OperationKind::Erase, OperationKind::Copyback];

fn us(microseconds: u64) -> Time {
    Time::from_us(microseconds)
}

/// Returns the timing of the `venice-z-nand` chips: tR 3 us, tPROG 100 us, tBERS 1 ms.
fn timing() -> Timing {
    Timing::new(&Config::default(), Time::ZERO)
}

fn rules(read_cache: bool, suspension: Suspension) -> DieRules {
    DieRules { read_cache, suspension, suspensions_max: 2, suspend_interval: Time::ZERO, suspend_remaining_min: us(10) }
}

fn plain() -> DieRules {
    rules(false, Suspension::Off)
}

fn operation(kind: OperationKind, planes: u32, now: Time) -> Operation {
    let mut joined = PlaneTransactions::one(TransactionId(0));
    (1..planes).for_each(|plane| joined.join(TransactionId(plane)));
    let (pages, internal) = (OperationPageTypes::default(), false);
    Operation {
        kind,
        internal,
        started: now,
        array_time: timing().array_time(kind, pages),
        page_types: pages,
        planes: joined,
    }
}

/// Starts an operation at `now` on a die that accepts it. Returns the end of its array time.
fn begin(die: &mut Die, rules: &DieRules, kind: OperationKind, planes: u32, now: Time) -> Time {
    die.begin(rules, operation(kind, planes, now), now).expect("the die accepts the operation");
    let (_, until) = die.start_array(now).expect("the command arrived");
    until
}

/// Asserts that the die refuses every kind of operation at `now`, with the error `Busy(busy_until)`.
#[track_caller]
fn assert_refuses(die: &mut Die, rules: &DieRules, now: Time, busy_until: Time) {
    assert!(!die.accepts(rules));
    for kind in KINDS {
        assert_eq!(die.begin(rules, operation(kind, 1, now), now), Err(DieError::Busy(busy_until)), "{kind:?}");
    }
}

#[test]
fn an_array_ends_after_the_time_of_its_kind_and_not_a_picosecond_before() {
    let times = [us(3), us(100), us(1000), us(103)];
    for (kind, time) in KINDS.into_iter().zip(times) {
        let mut die = Die::default();
        let until = begin(&mut die, &plain(), kind, 1, us(7));
        assert_eq!(until, us(7) + time, "{kind:?}");
        assert_eq!(die.finish_array(until - PICOSECOND).err(), Some(DieError::Busy(until)), "{kind:?}");
        assert!(!die.ends_at(until - PICOSECOND) && die.ends_at(until) && !die.ends_at(until + PICOSECOND));
        assert_eq!(die.finish_array(until).map(|operation| operation.kind), Ok(kind));
        assert_eq!(die.finish_array(until).err(), Some(DieError::WrongPhase), "an array ends once");
    }
}

#[test]
fn a_die_refuses_another_operation_from_its_grant_until_its_array_ends() {
    for kind in [OperationKind::Program, OperationKind::Erase, OperationKind::Copyback] {
        let mut die = Die::default();
        die.begin(&plain(), operation(kind, 1, us(0)), us(0)).expect("an idle die accepts");
        // While the command is being sent, the end of the operation is unknown.
        assert_refuses(&mut die, &plain(), us(0), Time::MAX);
        let (_, until) = die.start_array(us(1)).expect("the command arrived");
        assert_refuses(&mut die, &plain(), until - PICOSECOND, until);
        die.finish_array(until).expect("the array time has passed");
        assert_eq!(begin(&mut die, &plain(), OperationKind::Read, 1, until), until + us(3));
    }
}

#[test]
fn what_is_not_on_its_way_does_not_start() {
    let mut die = Die::default();
    assert_eq!(die.start_array(us(0)).err(), Some(DieError::WrongPhase));
    begin(&mut die, &plain(), OperationKind::Read, 1, us(0));
    assert_eq!(die.start_array(us(1)).err(), Some(DieError::WrongPhase));
    assert_eq!(die.finish_sending(us(2)).err(), Some(DieError::WrongPhase), "the data is not in the register yet");
}

#[test]
fn a_die_without_a_cache_refuses_until_the_data_of_its_last_plane_has_left() {
    let mut die = Die::default();
    let until = begin(&mut die, &plain(), OperationKind::Read, 2, us(0));
    die.finish_array(until).expect("the array time has passed");
    assert_refuses(&mut die, &plain(), us(4), Time::MAX);
    die.finish_sending(us(5)).expect("the data of the first plane leaves");
    assert_refuses(&mut die, &plain(), us(6), Time::MAX);
    die.finish_sending(us(7)).expect("the data of the second plane leaves");
    assert_eq!(begin(&mut die, &plain(), OperationKind::Program, 1, us(7)), us(107));
    assert_eq!(die.finish_sending(us(8)).err(), Some(DieError::WrongPhase), "no data is left");
}

#[test]
fn a_cache_takes_the_next_operation_when_the_array_ends_and_one_more_read_only() {
    let rules = rules(true, Suspension::Off);
    let mut die = Die::default();
    let first = begin(&mut die, &rules, OperationKind::Read, 1, us(0));
    assert_refuses(&mut die, &rules, first - PICOSECOND, first);
    die.finish_array(first).expect("the array time has passed");
    let second = begin(&mut die, &rules, OperationKind::Read, 1, first);
    assert_refuses(&mut die, &rules, second - PICOSECOND, second);
    die.finish_array(second).expect("the array time has passed");
    // The register still holds the first page, so the second page cannot leave the array and the die stays busy.
    assert_refuses(&mut die, &rules, us(20), Time::MAX);
    die.finish_sending(us(21)).expect("the first page leaves");
    assert_eq!(begin(&mut die, &rules, OperationKind::Read, 1, us(21)), us(24));
}

#[test]
fn an_operation_is_suspended_while_more_than_the_least_is_left_and_not_at_it() {
    let rules = rules(false, Suspension::Both);
    for (kind, until) in [(OperationKind::Program, us(100)), (OperationKind::Erase, us(1000))] {
        let mut die = Die::default();
        begin(&mut die, &rules, kind, 1, us(0));
        let latest = until - us(10) - PICOSECOND;
        assert!(!die.may_suspend(&rules, latest + PICOSECOND));
        assert_eq!(die.suspend(&rules, latest + PICOSECOND), Err(DieError::NotSuspendable), "{kind:?}");
        assert_eq!(die.suspend(&rules, latest), Ok(Time::ZERO), "{kind:?}");
        assert!(die.has_suspended() && die.accepts(&rules));
        // The resumption takes 5 us; 10 us and a picosecond of array time remain.
        assert_eq!(die.resume(&rules, until, us(5)), Ok(until + us(15) + PICOSECOND));
    }
}

#[test]
fn only_what_the_rules_name_is_suspended() {
    let allowed = [
        (Suspension::Off, [false, false]),
        (Suspension::Program, [true, false]),
        (Suspension::Erase, [false, true]),
        (Suspension::Both, [true, true]),
    ];
    for (suspension, [program, erase]) in allowed {
        let rules = rules(false, suspension);
        for (kind, allowed) in KINDS.into_iter().zip([false, program, erase, false]) {
            let mut die = Die::default();
            begin(&mut die, &rules, kind, 1, us(0));
            assert_eq!(die.suspend(&rules, PICOSECOND).is_ok(), allowed, "{suspension:?} of a {kind:?}");
        }
    }
}

#[test]
fn a_command_on_its_way_is_not_suspended() {
    let rules = rules(false, Suspension::Both);
    let mut die = Die::default();
    die.begin(&rules, operation(OperationKind::Program, 1, us(0)), us(0)).expect("an idle die accepts");
    assert_eq!(die.suspend(&rules, us(1)), Err(DieError::NotSuspendable));
}

#[test]
fn progress_before_a_suspension_is_kept_to_the_picosecond() {
    let rules = rules(false, Suspension::Both);
    let mut die = Die::default();
    begin(&mut die, &rules, OperationKind::Program, 1, us(0));
    let first_piece = us(30) + Time::from_ps(123);
    die.suspend(&rules, first_piece).expect("enough array time is left");
    let until = die.resume(&rules, us(200), us(5)).expect("the die is idle");
    assert_eq!(until, us(205) + (us(100) - first_piece));
    assert_eq!(die.finish_array(until - PICOSECOND).err(), Some(DieError::Busy(until)));
    assert!(die.finish_array(until).is_ok());
}

#[test]
fn a_resumed_operation_is_suspended_again_once_it_goes_on_and_only_so_often() {
    let rules = rules(false, Suspension::Both);
    let mut die = Die::default();
    begin(&mut die, &rules, OperationKind::Program, 1, us(0));
    die.suspend(&rules, us(20)).expect("the first suspension is allowed");
    die.resume(&rules, us(50), us(5)).expect("the die is idle");
    assert_eq!(
        die.suspend(&rules, us(55) - PICOSECOND),
        Err(DieError::NotSuspendable),
        "the operation is still resuming"
    );
    assert_eq!(die.suspend(&rules, us(55)), Ok(Time::ZERO), "the second suspension is allowed");
    assert_eq!(die.resume(&rules, us(60), us(5)), Ok(us(65) + us(80)));
    assert_eq!(die.suspend(&rules, us(70)), Err(DieError::NotSuspendable), "a third suspension exceeds the limit");
}

#[test]
fn a_suspended_operation_resumes_only_when_the_reads_are_over() {
    let rules = rules(false, Suspension::Both);
    let mut die = Die::default();
    assert_eq!(die.resume(&rules, us(0), us(5)), Err(DieError::WrongPhase), "nothing is suspended");
    begin(&mut die, &rules, OperationKind::Erase, 1, us(0));
    die.suspend(&rules, us(100)).expect("enough array time is left");
    let read = begin(&mut die, &rules, OperationKind::Read, 1, us(100));
    assert_eq!(die.resume(&rules, read - PICOSECOND, us(5)), Err(DieError::Busy(read)));
    die.finish_array(read).expect("the array time has passed");
    assert_eq!(die.resume(&rules, read, us(5)), Err(DieError::Busy(Time::MAX)), "the data has not left");
    die.finish_sending(us(110)).expect("the data leaves");
    assert_eq!(die.resume(&rules, us(110), us(5)), Ok(us(115) + us(900)));
}

#[test]
fn a_full_register_keeps_an_operation_from_being_suspended() {
    let rules = rules(true, Suspension::Both);
    let mut die = Die::default();
    let read = begin(&mut die, &rules, OperationKind::Read, 1, us(0));
    die.finish_array(read).expect("the array time has passed");
    begin(&mut die, &rules, OperationKind::Program, 1, read);
    assert_eq!(die.suspend(&rules, us(10)), Err(DieError::NotSuspendable));
    die.finish_sending(us(11)).expect("the data leaves");
    assert_eq!(die.suspend(&rules, us(11)), Ok(Time::ZERO));
}
