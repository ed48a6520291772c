//! Random chips and schedulers with all options.

use flashmesh::config::{
    Config, DieStart, EraseOrder, Flash, HoldPath, KindOrder, MultiPlane, PageTypes, Priorities, Schedule,
    SchedulePolicy, Suspension, SuspensionScope, TimesByPlanes,
};
use flashmesh::units::Time;
use proptest::option;
use proptest::prelude::*;
use proptest::sample::select;

use super::time_us;

/// Multi-plane modes in which planes start together. `with_independent_planes` draws independent reads.
const JOINT_PLANES: &[MultiPlane] = &[MultiPlane::Off, MultiPlane::SameOffset, MultiPlane::SameBlockAndOffset];

/// Makes the planes of a drive read independently, at most `at_once_max` at once; `None` sets no limit.
pub fn read_planes_alone(config: &mut Config, at_once_max: Option<u32>) {
    config.flash.multi_plane = MultiPlane::Independent;
    config.flash.plane_reads_max = at_once_max;
    config.flash.die_start = DieStart::Independent;
    config.fabric.hold_path = HoldPath::Never;
}

/// Returns a strategy that mostly draws `None`, and otherwise times for operations on 1, 2, ... planes, in ascending order.
fn times() -> impl Strategy<Value = Option<TimesByPlanes>> {
    let sorted = |mut times: Vec<u64>| {
        times.sort_unstable();
        TimesByPlanes(times.into_iter().map(Time::from_ns).collect())
    };
    option::weighted(0.3, proptest::collection::vec(0..=900u64, 1..=4).prop_map(sorted))
}

fn latencies() -> impl Strategy<Value = Flash> {
    let array = (1..=60u64, 20..=300u64, 100..=1500u64);
    let own = || option::of((1..=400u64).prop_map(Time::from_us));
    let pages = (select(PageTypes::ALL), own(), own(), own(), own(), own(), own());
    let commands = (0..=50u64, option::of(0..=50u64), times(), times(), times());
    (array, pages, commands).prop_map(|((read, program, erase), pages, commands)| {
        let (page_types, middle_page_read_time, upper_page_read_time, middle_page_program_time, upper, top_read, top) =
            pages;
        let (command, extra, read_command_time, program_command_time, erase_command_time) = commands;
        Flash {
            read_time: Time::from_us(read),
            program_time: Time::from_us(program),
            erase_time: Time::from_us(erase),
            page_types,
            middle_page_read_time,
            upper_page_read_time,
            middle_page_program_time,
            upper_page_program_time: upper,
            top_page_read_time: top_read,
            top_page_program_time: top,
            command_time: Time::from_ns(command),
            command_time_per_extra_plane: extra.map(Time::from_ns),
            read_command_time,
            program_command_time,
            erase_command_time,
            ..Flash::default()
        }
    })
}

pub fn flash() -> impl Strategy<Value = Flash> {
    let suspension = (select(Suspension::ALL), time_us(0..=10), time_us(0..=10), 1..=4u32, time_us(0..=20));
    let interleaving = (proptest::bool::weighted(0.7), select(DieStart::ALL), select(SuspensionScope::ALL));
    let abilities = (select(JOINT_PLANES), any::<bool>(), interleaving, any::<bool>());
    (latencies(), suspension, abilities).prop_map(|(latencies, suspension, abilities)| {
        let (suspension, suspend_time, resume_time, suspensions_max, suspend_remaining_min) = suspension;
        let (multi_plane, read_cache, (die_interleaving, die_start, suspension_scope), partial_program) = abilities;
        Flash {
            partial_program,
            die_interleaving,
            die_start,
            multi_plane,
            // Without die interleaving a chip accepts no command while it holds data, so a cache register is useless.
            read_cache: read_cache && die_interleaving,
            suspension,
            suspension_scope,
            suspend_time,
            resume_time,
            suspensions_max,
            suspend_remaining_min,
            // Derived, not drawn: another draw would change all later values of a seed.
            suspend_interval: if resume_time == Time::from_us(7) {
                suspend_remaining_min + Time::from_us(1)
            } else {
                Time::ZERO
            },
            ..latencies
        }
    })
}

pub fn schedule() -> impl Strategy<Value = Schedule> {
    let options = (select(KindOrder::ALL), select(EraseOrder::ALL), select(Priorities::ALL), time_us(0..=2_000));
    (select(SchedulePolicy::ALL), options, 1..=8u32).prop_map(
        |(policy, (order, erases, priorities, age_bound), lookahead)| Schedule {
            policy,
            order,
            erases,
            priorities,
            age_bound,
            lookahead,
            ..Schedule::default()
        },
    )
}
