//! Held paths of all interconnects, compared with a simple model that serves path requests first come, first served.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex};

use flashmesh::config::{Arbitration, Config, Controllers, FabricKind, HoldPath, InjectionPolicy, Service};
use flashmesh::engine::random::SimRng;
use flashmesh::kernel::probe::{Notice, Probe};
use flashmesh::simulation::{Control, Simulation};
use flashmesh::units::{Bytes, Rate, Time};
use flashmesh::workload::{IoRequest, RequestKind};

use crate::support::drives::*;

const READ: Time = Time::from_us(3);
const PROGRAM: Time = Time::from_us(100);
const COMMAND: Time = Time::from_ns(10);
const ON_DIE: Time = Time::from_ns(20);

/// Hold of a path: die, start and end.
type Holding = (u64, Time, Time);

/// Path request of a page: delay after the previous hold or the arrival (`after`), alternative paths (`ways`, sets of link names), and hold time
/// (`kept`).
struct Stage {
    after: Time,
    ways: Vec<BTreeSet<String>>,
    kept: Time,
}

struct Page {
    die: u64,
    arrival: Time,
    stages: Vec<Stage>,
    /// Time from the end of the last hold to the completion of the page.
    after: Time,
}

/// Computes the completion time of each page, and all holds. Path requests are served in order, over the first path without a link that is held, or
/// that an earlier request waits for.
fn naive(pages: &[Page]) -> (Vec<Time>, BTreeSet<Holding>) {
    let mut asks: Vec<(Time, usize, usize)> =
        pages.iter().enumerate().map(|(at, page)| (page.arrival + page.stages[0].after, at, 0)).collect();
    let (mut taken, mut done) = (Vec::<(Time, BTreeSet<String>)>::new(), vec![Time::ZERO; pages.len()]);
    let mut holdings = BTreeSet::new();
    while !asks.is_empty() {
        asks.sort_unstable();
        let mut moments: Vec<Time> = asks.iter().map(|ask| ask.0).chain(taken.iter().map(|(end, _)| *end)).collect();
        moments.sort_unstable();
        let served = moments.into_iter().find_map(|now| {
            let mut claimed: BTreeSet<String> =
                taken.iter().filter(|(end, _)| *end > now).flat_map(|(_, way)| way.clone()).collect();
            for (at, &(_, page, stage)) in asks.iter().enumerate().filter(|(_, ask)| ask.0 <= now) {
                let ways = &pages[page].stages[stage].ways;
                match ways.iter().find(|way| way.is_disjoint(&claimed)) {
                    Some(way) => return Some((at, way.clone(), now)),
                    None => claimed.extend(ways.iter().flatten().cloned()),
                }
            }
            None
        });
        let (at, way, now) = served.expect("the first request is served once all paths are released");
        let (_, number, stage) = asks.remove(at);
        let page = &pages[number];
        let end = now + page.stages[stage].kept;
        holdings.insert((page.die, now, end));
        taken.push((end, way));
        match page.stages.get(stage + 1) {
            Some(next) => asks.push((end + next.after, number, stage + 1)),
            None => done[number] = end + page.after,
        }
    }
    (done, holdings)
}

/// Transfer times of a command, of a command with a page of data (`program`) and of a page of data; `on_die` is the packet handling on the die.
struct Times {
    command: Time,
    program: Time,
    data: Time,
    on_die: Time,
}

/// Returns the latency of a NoSSD packet without contention, in cycles of 1 ns: 1 for the request, 4 per router, 1 per flit.
fn packet(hops: u64, flits: u64) -> Time {
    Time::from_ns(1 + 4 * (hops + 1) + flits)
}

fn times(kind: FabricKind, column: u64) -> Times {
    let rate = Rate::from_bytes_per_second(1_200_000_000);
    let signals = |bytes| rate.time_for(Bytes::new(bytes));
    let packets = |rate: Rate| {
        let (command, data) = (rate.time_for(Bytes::new(8)), rate.time_for(Bytes::new(PAGE + 12)));
        Times { command, program: command + data, data, on_die: ON_DIE }
    };
    match kind {
        FabricKind::Bus | FabricKind::Ideal => {
            Times { command: COMMAND, program: COMMAND + signals(PAGE), data: signals(PAGE), on_die: Time::ZERO }
        }
        FabricKind::Pssd => packets(Rate::from_bytes_per_second(2_400_000_000)),
        FabricKind::Pnssd => packets(rate),
        FabricKind::Nossd => {
            let [command, data] = [8, 9 * 512].map(|flits| packet(column, flits));
            Times { command, program: data, data, on_die: Time::ZERO }
        }
        FabricKind::Venice => {
            // Round trip of the scout over `column + 1` links; the circuit also includes the link to the chip.
            let (scout, links) = (Time::from_ns(4 * (column + 1)), Time::from_ns(column + 2));
            let data = scout + links + Time::from_ns(PAGE);
            Times { command: scout + links + COMMAND, program: data + COMMAND, data, on_die: Time::ZERO }
        }
    }
}

/// Returns the alternative paths to a chip and those back, each a set of link names.
fn ways(kind: FabricKind, controllers: Controllers, (row, column): (u64, u64)) -> [Vec<BTreeSet<String>>; 2] {
    let set = |names: Vec<String>| BTreeSet::from_iter(names);
    let both = |ways: Vec<BTreeSet<String>>| [ways.clone(), ways];
    match kind {
        FabricKind::Bus | FabricKind::Pssd => both(vec![set(vec![format!("row {row}")])]),
        FabricKind::Ideal => both(vec![set(vec![format!("chip {row} {column}")])]),
        FabricKind::Venice => both(vec![set(vec!["controller".to_owned()])]),
        FabricKind::Pnssd => {
            let way = |name: &str, number: u64| match controllers {
                Controllers::Independent => set(vec![format!("{name} {number}")]),
                Controllers::Shared => set(vec![format!("controller {number}")]),
            };
            both(vec![way("row", row), way("column", column)])
        }
        FabricKind::Nossd => {
            let back: Vec<String> = (0..=column).map(|link| format!("from {row} {link}")).collect();
            let there = (0..=column).map(|link| format!("to {row} {link}"));
            let ends = [format!("to chip {row} {column}"), format!("to router {row}")];
            let answer: BTreeSet<String> =
                back.into_iter().chain([format!("from chip {row} {column}"), format!("to controller {row}")]).collect();
            let command = there.chain(ends).chain(answer.iter().cloned()).collect();
            [vec![command], vec![answer]]
        }
    }
}

fn page(config: &Config, request: &IoRequest) -> Page {
    let (kind, rule) = (config.fabric.kind, config.fabric.hold_path);
    let rows = u64::from(config.geometry.channels);
    let number = request.offset.as_u64() / PAGE;
    let (row, column) = (number % rows, number / rows);
    let Times { command, program, data, on_die } = times(kind, column);
    let [there, back] = ways(kind, config.pnssd.controllers, (row, column));
    let is_nossd = kind == FabricKind::Nossd;
    // Venice reserves a circuit for each transfer. If the circuit is held for the whole read, the second scout is saved.
    let again = if kind == FabricKind::Venice { Time::from_ns(4 * (column + 1)) } else { Time::ZERO };
    let acknowledgement = if is_nossd { packet(column, 4) } else { Time::ZERO };
    let stage = |after, ways: &Vec<BTreeSet<String>>, kept| Stage { after, ways: ways.clone(), kept };
    let (read, sensed) = (request.kind == RequestKind::Read, on_die + READ + on_die);
    let (stages, after) = match (read, rule) {
        (true, HoldPath::Always | HoldPath::Reads) => {
            (vec![stage(Time::ZERO, &there, command + sensed + data - again)], Time::ZERO)
        }
        (true, _) => (vec![stage(Time::ZERO, &there, command), stage(sensed, &back, data)], Time::ZERO),
        (false, HoldPath::Always | HoldPath::Programs) => {
            (vec![stage(Time::ZERO, &there, program + on_die + PROGRAM + acknowledgement)], Time::ZERO)
        }
        (false, _) if is_nossd => {
            (vec![stage(Time::ZERO, &there, program), stage(PROGRAM, &back, acknowledgement)], Time::ZERO)
        }
        (false, _) => (vec![stage(Time::ZERO, &there, program)], on_die + PROGRAM),
    };
    let die = row * u64::from(config.geometry.chips_per_channel) + column;
    Page { die, arrival: request.arrival, stages, after }
}

/// Probe that records which die held a link, from when to when.
#[derive(Clone, Default)]
struct Uses(Arc<Mutex<BTreeSet<Holding>>>);

impl Probe for Uses {
    fn notify(&mut self, _now: Time, notice: &Notice<'_>) {
        if let Notice::LinkUsed(used) = *notice {
            let mut uses = self.0.lock().expect("no other thread panicked");
            uses.insert((used.die.0.into(), used.from, used.until));
        }
    }
}

/// Simulates `requests`. Returns their completion times in order of issue, and all holds.
fn simulated(config: &Config, requests: &[IoRequest]) -> (Vec<Time>, BTreeSet<Holding>) {
    let source = Listed(requests.iter().copied().collect());
    let mut simulation = Simulation::with_source(config, Box::new(source)).expect("the drive can be built");
    let (kept, uses) = (Kept::default(), Uses::default());
    simulation.enable_checks();
    simulation.set_request_sink(Box::new(kept.clone()));
    simulation.add_probe(Box::new(uses.clone()));
    simulation.run(&Control::default()).expect("the run ends without a violation");
    let mut records = kept.0.lock().expect("no other thread panicked").clone();
    records.sort_by_key(|record| record.id);
    let uses = uses.0.lock().expect("no other thread panicked").clone();
    (records.iter().map(|record| record.completed).collect(), uses)
}

/// Returns reads and writes of pages on different chips, in order of arrival, at random times below `within` ns.
fn requests(random: &mut SimRng, chips: u64, within: u32) -> Vec<IoRequest> {
    let mut pages: Vec<u64> = (0..chips).collect();
    for at in (1..pages.len()).rev() {
        pages.swap(at, random.below(at as u32 + 1) as usize);
    }
    let mut arrivals: Vec<u32> = pages.iter().map(|_| random.below(within)).collect();
    arrivals.sort_unstable();
    arrivals.dedup();
    let kind = |random: &mut SimRng| if random.below(3) == 0 { RequestKind::Write } else { RequestKind::Read };
    let pairs = pages.into_iter().zip(arrivals);
    pairs.map(|(page, arrival)| request(kind(random), page, 1, Time::from_ns(arrival.into()))).collect()
}

#[test]
fn paths_are_held_when_the_naive_model_says_so() {
    let (mut random, mut waited) = (SimRng::new(5), 0);
    for case in 0..40 {
        for kind in FabricKind::ALL.iter().copied() {
            let rule = HoldPath::ALL[1 + case % 3];
            let mut config = bare_drive();
            config.fabric.kind = kind;
            config.fabric.hold_path = rule;
            if !matches!(kind, FabricKind::Nossd | FabricKind::Venice) {
                config.fabric.arbitration = Arbitration::OldestFirst;
            }
            config.nossd.injection = InjectionPolicy::Nearest;
            config.venice.service = Service::LongestFirst;
            config.pnssd.controllers = Controllers::ALL[case % Controllers::ALL.len()];
            // With a single controller no two scouts of Venice compete, so the model can ignore scouts.
            config.geometry.channels = if kind == FabricKind::Venice { 1 } else { 2 + random.below(3) };
            config.geometry.chips_per_channel =
                if kind == FabricKind::Pnssd { config.geometry.channels } else { 2 + random.below(4) };
            let chips = config.geometry.channels * config.geometry.chips_per_channel;
            let within = if case % 2 == 0 { 4_000 } else { 100_000 };
            let requests = requests(&mut random, chips.into(), within);
            let pages: Vec<Page> = requests.iter().map(|request| page(&config, request)).collect();
            let (done, holdings) = naive(&pages);
            let (completed, uses) = simulated(&config, &requests);
            let name = format!("{kind}, {rule}, case {case}");
            assert_eq!(completed, done, "{name}");
            // A scout reserves the links of a circuit one by one, so the hold times of its links differ in their start. Starts are ignored on Venice.
            let since = |(die, from, until): Holding| {
                if kind == FabricKind::Venice { (die, Time::ZERO, until) } else { (die, from, until) }
            };
            let [uses, holdings] = [uses, holdings].map(|all| all.into_iter().map(since).collect::<BTreeSet<_>>());
            assert_eq!(uses, holdings, "{name}");
            waited += pages
                .iter()
                .zip(&done)
                .filter(|(page, done)| {
                    let alone: Time = page.stages.iter().map(|stage| stage.after + stage.kept).sum();
                    page.arrival + alone + page.after < **done
                })
                .count();
        }
    }
    assert!(waited > 500, "{waited}");
}
