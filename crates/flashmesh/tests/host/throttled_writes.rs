//! Throttling of writes while the drive is short of free space (`cache.throttle-interval`).

use flashmesh::config::{self, Config, Suspension};
use flashmesh::measure::bound::Resource;
use flashmesh::measure::report::Report;
use flashmesh::simulation::{Control, Simulation};
use flashmesh::units::Time;

use crate::device_cache::{COMMAND, DRAM, PROGRAM, READ, TRANSFER, cached, measured};
use crate::support::drives::*;

/// Returns a full drive of `dies` dies with a cache of 64 pages, under random page writes, 32 outstanding. While the drive is throttled, writes are
/// at least `interval` apart; 0 disables the throttle.
fn full_drive(dies: u32, interval: Time) -> Config {
    let mut config = config_of(&format!(
        "[geometry]\nchannels = {dies}\nchips-per-channel = 1\ndies-per-chip = 1\nplanes-per-die = 1\nblocks-per-plane = 64\npages-per-block = 64\n\
         over-provisioning = 0.25\n[precondition]\nkind = \"random\"\n[cache]\ncapacity = \"256KiB\"\nhigh-mark = 0\nlow-mark = 0\nkeep-destaged = false\n\
         [workload]\nread-share = 0\nrequests = 6000\n[replay]\noutstanding = 32\n"
    ));
    // `gc.paced` moves pages in proportion to the writes.
    (config.gc.preemptible, config.gc.paced) = (true, true);
    config.cache.throttle_interval = interval;
    config
}

fn run(config: &Config) -> (Report, Vec<Time>) {
    let mut simulation = Simulation::new(config).expect("the drive can be built");
    simulation.enable_checks();
    let kept = Kept::default();
    simulation.set_request_sink(Box::new(kept.clone()));
    let report = simulation.run(&Control::default()).expect("no oracle reports a violation");
    let mut completed: Vec<Time> =
        kept.0.lock().expect("no other thread panicked").iter().map(|record| record.completed).collect();
    completed.sort_unstable();
    (report, completed)
}

/// The only die runs GC most of the time, and writes then enter the cache at the throttle interval. Between two victims they enter freely.
#[test]
fn writes_come_in_at_the_interval_while_all_dies_collect() {
    let (free, _) = run(&full_drive(1, Time::ZERO));
    let interval = Time::from_ps(free.makespan_ps / 6000 * 3 / 2);
    let (slowed, completed) = run(&full_drive(1, interval));
    let at_interval = completed.windows(2).filter(|pair| pair[1] - pair[0] == interval).count();
    assert!(at_interval > 3000, "{at_interval} of 6000 writes entered {interval} after the previous one");
    // Some throttled writes find the cache full after the interval, and enter later.
    let throttled = slowed.cache.expect("the cache is enabled").throttled;
    assert!(throttled >= at_interval as u64, "{throttled} waited, {at_interval} entered at the interval");
    assert_eq!(free.cache.expect("the cache is enabled").throttled, 0);
}

/// A full cache admits writes in bursts, one per erase. A throttle slightly below the write rate of the drive admits them evenly.
#[test]
fn throttled_writes_wait_about_as_long_as_each_other() {
    let spread = |report: &Report| {
        let latency = report.latency_ps.write.as_ref().expect("writes completed");
        latency.p99 as f64 / latency.p50 as f64
    };
    let (free, _) = run(&full_drive(8, Time::ZERO));
    // The interval is scaled by the share of dies that run GC, which is rarely all of them.
    let (slowed, _) = run(&full_drive(8, Time::from_ps(free.makespan_ps / 6000 * 16 / 10)));
    assert!(spread(&slowed) < spread(&free) * 0.6, "{} and {}", spread(&slowed), spread(&free));
    assert!((slowed.makespan_ps as f64) < free.makespan_ps as f64 * 1.1);
}

/// Throttling starts when the share `cache.throttle-share` of the dies runs GC for lack of space. A share of zero throttles always.
#[test]
fn a_threshold_throttles_from_its_share_of_collecting_dies_on() {
    let interval = Time::from_us(200);
    let throttled = |share| {
        let mut config = full_drive(8, interval);
        config.cache.throttle_share = share;
        let (report, _) = run(&config);
        (report.cache.expect("the cache is enabled").throttled, report.makespan_ps)
    };
    let (always, makespan_ps) = throttled(Some(0.0));
    assert!(makespan_ps >= 5999 * interval.as_ps(), "all writes enter at the interval: {makespan_ps} ps");
    let [half, all] = [Some(0.5), Some(1.0)].map(|share| throttled(share).0);
    assert!(always > half && half > all, "{always} writes waited with a share of 0, {half} with 0.5, {all} with 1");
}

/// The drive could program twice as many pages, so the throttle is the bottleneck.
#[test]
fn a_throttle_that_always_delays_bounds_the_run() {
    let bound = |interval| {
        let mut config = full_drive(8, interval);
        config.cache.throttle_share = (interval > Time::ZERO).then_some(0.0);
        let (report, _) = run(&config);
        (report.bound.resource, report.makespan_ps)
    };
    let (free, makespan_ps) = bound(Time::ZERO);
    let (throttled, _) = bound(Time::from_ps(makespan_ps / 6000 * 2));
    assert_eq!((free == Resource::Throttle, throttled), (false, Resource::Throttle));
}

/// With `cache.suspend-when-full = false`, a read suspends the program of the first write while the throttle delays the second write, unless the
/// cache is nearly full.
#[test]
fn a_throttled_write_keeps_reads_from_suspending_only_where_the_cache_is_nearly_full() {
    let arrival = Time::from_us(50);
    let read_latency = |pages| {
        let mut config = cached(pages);
        (config.geometry.channels, config.geometry.chips_per_channel, config.geometry.planes_per_die) = (1, 1, 1);
        (config.cache.high_mark, config.cache.low_mark) = (0.0, 0.0);
        (config.cache.throttle_interval, config.cache.throttle_share) = (Time::from_ms(10), Some(0.0));
        config.cache.suspend_when_full = false;
        config.flash.suspension = Suspension::Both;
        measured(&config, [write(1, 1, Time::ZERO), write(2, 1, Time::from_us(20)), read(4, 1, arrival)]).1[2]
    };
    let own = COMMAND + READ + TRANSFER;
    assert_eq!(read_latency(8), config::Flash::default().suspend_time + own);
    // The write copies the page to DRAM, and the destage reads it from there.
    let program_end = DRAM * 2 + COMMAND + TRANSFER + PROGRAM;
    assert_eq!(read_latency(1), program_end - arrival + own);
}

#[test]
fn a_drive_with_space_slows_nothing_down() {
    let latencies = |interval| {
        let mut config = full_drive(2, interval);
        config.precondition = flashmesh::config::Precondition::default();
        config.workload.requests = Some(500);
        run(&config).1
    };
    assert_eq!(latencies(Time::ZERO), latencies(Time::from_ms(1)));
}
