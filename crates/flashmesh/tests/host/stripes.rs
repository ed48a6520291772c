//! Destage stripes of the device cache (`cache.destage-stripe`). Stripe programs alternate with GC turns, in which GC moves pages and no stripe is
//! programmed.

use flashmesh::config::{Config, FirmwarePolicy};
use flashmesh::measure::report::Report;
use flashmesh::simulation::{Control, Simulation};
use flashmesh::units::{Bytes, Time};
use flashmesh::workload::{IoRequest, RequestKind};

use crate::support::drives::*;

const PAGE: Bytes = Bytes::from_kib(4);

/// Returns a drive of four dies with a cache of 16 pages and stripes of eight pages.
fn striped() -> Config {
    let mut config = config_of(
        "[geometry]\nchannels = 2\nchips-per-channel = 2\ndies-per-chip = 1\nplanes-per-die = 1\nblocks-per-plane = 64\npages-per-block = 64\n\
         page-size = \"4KiB\"\nover-provisioning = 0.25\n[replay]\nmode = \"open\"\n\
         [cache]\ncapacity = \"64KiB\"\nhigh-mark = 0\nlow-mark = 0\nkeep-destaged = false\n",
    );
    config.cache.destage_stripe = Some(PAGE * 8);
    config
}

fn checked(config: &Config) -> Report {
    let mut simulation = Simulation::new(config).expect("the drive can be built");
    simulation.enable_checks();
    simulation.run(&Control::default()).expect("no oracle reports a violation")
}

/// Runs page writes, a flush at `flush` if given, and a much later read. Returns the number of programs, and of dirty pages at the end.
fn programs_after(writes: u64, flush: Option<Time>) -> (u64, u64) {
    let ms = Time::from_ms;
    let mut requests: Vec<_> = (0..writes).map(|page| write(page, 1, Time::from_us(50 * page))).collect();
    requests.extend(flush.map(|at| request(RequestKind::Flush, 0, 0, at)));
    requests.push(read(1000, 1, ms(100)));
    let (report, _) = run_source(&striped(), Listed(requests.into()));
    (report.flash.user_programs, report.cache.expect("the cache is enabled").dirty_pages_end)
}

#[test]
fn pages_go_to_flash_when_they_make_a_stripe() {
    for writes in [1, 7, 8, 9, 15, 16, 23, 24] {
        assert_eq!(programs_after(writes, None), (writes / 8 * 8, writes % 8), "{writes} writes");
    }
}

#[test]
fn a_flush_has_fewer_go() {
    assert_eq!(programs_after(11, Some(Time::from_ms(50))), (11, 0));
}

/// Eight writes, the last at 7 ms, fill a stripe, which is on flash a millisecond later.
#[test]
fn a_page_written_again_before_its_stripe_leaves_goes_with_it_as_it_was_written_last() {
    let cut_at = |at: Time, flushed: Option<Time>| {
        let mut config = striped();
        config.power.cut = Some(at);
        config.power.capacitors = false;
        let ms = Time::from_ms;
        // Page 0 is first written in one sector and then as a whole, page 1 in two different sectors.
        let sector = |at: u64, arrival| IoRequest {
            offset: Bytes::new(512 * at),
            size: Bytes::new(512),
            ..write(0, 1, arrival)
        };
        let mut requests = vec![sector(3, ms(0)), write(0, 1, ms(1)), sector(8 + 5, ms(1)), sector(8 + 2, ms(1))];
        requests.extend((2..8).map(|page| write(page, 1, ms(page))));
        requests.extend(flushed.map(|at| request(RequestKind::Flush, 0, 0, at)));
        requests.push(read(1000, 1, ms(100)));
        requests.sort_by_key(|request| request.arrival);
        let (report, _) = run_source(&config, Listed(requests.into()));
        let cut = report.power_cut.expect("the power was cut");
        (report.flash.user_programs, cut.dirty_pages, cut.pages_lost, cut.bytes_lost)
    };
    let before = Time::from_us(5500);
    assert_eq!(cut_at(before, None), (0, 6, 6, 5 * PAGE.as_u64() + 2 * 512));
    assert_eq!(cut_at(Time::from_ms(9), None), (8, 0, 0, 0));
    assert_eq!(cut_at(before, Some(Time::from_us(4500))), (5, 1, 1, PAGE.as_u64()));
}

#[test]
fn a_stripe_that_could_never_be_whole_is_refused_with_the_key_to_raise() {
    let refused = |change: fn(&mut Config)| {
        let mut config = striped();
        change(&mut config);
        let error = config.validate().expect_err("the stripe size is refused").to_string();
        assert!(error.contains("no stripe would ever be whole"), "{error}");
        error
    };
    assert!(refused(|config| config.cache.destage_stripe = Some(PAGE * 17)).contains("raise cache.capacity"));
    assert!(refused(|config| config.cache.destages_max = Some(7)).contains("raise cache.destages-max"));
    assert!(refused(|config| config.cache.destage_limit = Some(PAGE * 7)).contains("raise cache.destage-limit"));
}

/// Returns a full drive of 16 dies with one random write every `interval_us`. A stripe is one program per die; the cache holds a stripe and `room`
/// pages. `takes_turns` enables stripes.
fn full_drive(interval_us: u64, room: u64, takes_turns: bool) -> Config {
    let mut config = config_of(&format!(
        "[geometry]\nchannels = 4\nchips-per-channel = 4\ndies-per-chip = 1\nplanes-per-die = 1\nblocks-per-plane = 64\npages-per-block = 64\n\
         page-size = \"4KiB\"\nover-provisioning = 0.25\n[precondition]\nkind = \"random\"\n[ftl]\npolicy = \"superblock\"\n[superblock]\ndies = 16\n\
         [gc]\nthreshold = 0.1\nhard-threshold = 0.02\npreemptible = true\npaced = true\n\
         [workload]\nread-share = 0\nrequests = 6000\narrivals = \"constant\"\ninterarrival = \"{interval_us}us\"\n[replay]\nmode = \"open\"\n\
         [cache]\ncapacity = \"64KiB\"\nhigh-mark = 0\nlow-mark = 0\nkeep-destaged = false\n"
    ));
    config.cache.capacity = PAGE * (16 + room);
    config.cache.destage_stripe = takes_turns.then_some(PAGE * 16);
    config
}

/// Each move is a read and a program of one die. Dies do nothing else during a GC turn, so turns are longer than the moves of a die.
#[test]
fn collection_moves_pages_in_its_turns_alone() {
    let config = full_drive(40, 64, true);
    let report = checked(&config);
    let (gc, flash) = (&report.gc, &report.flash);
    let stripes = flash.user_programs / 16;
    assert!(gc.turns > stripes / 2 && gc.turns <= stripes + 1, "{} turns, {stripes} stripes", gc.turns);
    let move_ps = (config.flash.read_time + config.flash.program_time).as_ps();
    let least = gc.pages_moved * move_ps / 16;
    assert!(gc.turns_ps > least, "{} ps in turns, {least} ps of moves on each die", gc.turns_ps);
    assert_eq!(checked(&full_drive(40, 64, false)).gc.turns, 0);
}

/// No write waits if the cache has space for the writes that arrive during a GC turn. Otherwise the longest wait is a turn and a program, less the
/// time to fill the space beside the stripe.
#[test]
fn writes_wait_for_what_a_turn_takes_longer_than_filling_the_room_beside_the_stripe() {
    let waits = |room| {
        let report = checked(&full_drive(60, room, true));
        let gc = &report.gc;
        let turn = Time::from_ps(gc.turns_ps / gc.turns);
        let longest = Time::from_ps(report.latency_ps.write.as_ref().expect("writes completed").max);
        (report.cache.expect("the cache is enabled").waits, turn, longest)
    };
    assert_eq!(waits(400).0, 0);
    let (few, turn, longest) = waits(4);
    assert!(few > 0);
    let stall = turn + Time::from_us(100) - Time::from_us(60 * 4);
    assert!(longest > stall, "{longest} at most, expected {stall} for a mean turn of {turn}");
    let (fewer, _, shorter) = waits(12);
    assert!(fewer < few && shorter < longest, "{fewer} of {few} wait, for at most {shorter} and {longest}");
}

#[test]
fn without_superblocks_each_plane_takes_its_turn_too() {
    let mut config = full_drive(40, 64, true);
    config.ftl.policy = FirmwarePolicy::Page;
    let report = checked(&config);
    assert!(report.gc.turns > 100 && report.gc.erases > 0, "{} turns", report.gc.turns);
}

/// Pages from other chips can use up the free pages of a plane whose GC waits for its turn. Their arrival must start GC, because nothing else wakes a
/// die whose writes are blocked.
#[test]
fn arrivals_from_other_chips_that_use_up_a_plane_end_the_wait_of_its_collection() {
    let drive = |seed| {
        let mut config = config_of(
            "[geometry]\nchannels = 3\nchips-per-channel = 2\ndies-per-chip = 1\nplanes-per-die = 1\nblocks-per-plane = 16\npages-per-block = 4\n\
             page-size = \"4KiB\"\nover-provisioning = 0.5\n[precondition]\nkind = \"random\"\n[flash]\nprogram-order = \"any\"\n[fabric]\nkind = \"nossd\"\n\
             [ftl]\nwrite-binding = \"early\"\n[gc]\nthreshold = 0.2\nhard-threshold = 0.05\npreemptible = true\npaced = true\nmove = \"clean\"\n\
             [workload]\nread-share = 0\nrequests = 3000\n[replay]\noutstanding = 46\n\
             [cache]\ncapacity = \"32KiB\"\nhigh-mark = 0\nlow-mark = 0\nkeep-destaged = false\n",
        );
        config.seed = seed;
        config.cache.destage_stripe = Some(PAGE);
        config
    };
    let turns = (40..80).map(|seed| {
        let mut simulation = Simulation::new(&drive(seed)).unwrap_or_else(|error| panic!("seed {seed}: {error}"));
        let report = simulation.run(&Control::default()).unwrap_or_else(|error| panic!("seed {seed}: {error}"));
        report.gc.turns
    });
    assert!(turns.sum::<u64>() > 0);
}
