//! pnSSD and NoSSD with paths held during array operations, compared with arithmetic and with a simple model of whole pages.

use std::collections::BTreeSet;

use flashmesh::config::{
    Config, ControllerPlacement, ControllerQueues, Controllers, FabricKind, HoldPath, InjectionPolicy, Interleave,
    NossdTopology, ReplyPolicy,
};
use flashmesh::engine::random::SimRng;
use flashmesh::units::{Bytes, Rate, Time};
use flashmesh::workload::{IoRequest, RequestKind};

use crate::support::drives::*;

const READ: Time = Time::from_us(3);
const PROGRAM: Time = Time::from_us(100);
const ROWS: u64 = 8;

fn drive(kind: FabricKind) -> Config {
    let mut config = bare_drive();
    config.fabric.kind = kind;
    config.fabric.hold_path = HoldPath::Always;
    config.nossd.injection = InjectionPolicy::Nearest;
    config
}

/// Returns the latency of a NoSSD packet without contention, in cycles of 1 ns: 1 for the request, 4 per router, 1 per flit.
fn alone(hops: u64, flits: u64) -> Time {
    Time::from_ns(1 + 4 * (hops + 1) + flits)
}

/// Consecutive pages are on consecutive rows: page 8 n is in row 0 and column n.
#[test]
fn reads_of_a_row_of_nossd_take_turns_from_command_to_data() {
    let whole = |hops| alone(hops, 8) + READ + alone(hops, 9 * 512);
    let reads = || [0, 8, 16].map(|page| read(page, 1, Time::ZERO));
    let expected = [whole(0), whole(0) + whole(1), whole(0) + whole(1) + whole(2)];
    assert_eq!(latencies(&drive(FabricKind::Nossd), reads()), expected);
    let mut released = drive(FabricKind::Nossd);
    released.fabric.hold_path = HoldPath::Never;
    assert!(latencies(&released, reads())[2] < expected[2] - READ);
    // With two channels per chip and per controller, reads of chips 0 and 1 run in parallel. Chips 1 and 2 still take turns on the only link between
    // the first two routers.
    let mut config = drive(FabricKind::Nossd);
    (config.nossd.chip_channels, config.nossd.controller_channels) = (2, 2);
    assert_eq!(latencies(&config, [0, 8].map(|page| read(page, 1, Time::ZERO))), [whole(0), whole(1)]);
    assert_eq!(latencies(&config, [8, 16].map(|page| read(page, 1, Time::ZERO))), [whole(1), whole(1) + whole(2)]);
}

#[test]
fn every_transfer_over_held_paths_counts_the_links_that_it_crosses() {
    // A read makes two transfers: command and data. Column 3 is three router links away. NoSSD also counts the links of the controller and of the
    // chip.
    let links = |kind, page| run_source(&drive(kind), Listed([read(page, 1, Time::ZERO)].into())).0.links;
    let counted = |kind, page| (links(kind, page).hops, links(kind, page).hops_mean);
    assert_eq!(counted(FabricKind::Bus, 24), (2, Some(1.0)));
    assert_eq!(counted(FabricKind::Pnssd, 24), (2, Some(1.0)));
    assert_eq!(counted(FabricKind::Nossd, 0), (4, Some(2.0)));
    assert_eq!(counted(FabricKind::Nossd, 24), (10, Some(5.0)));
}

#[test]
fn a_read_waits_for_the_acknowledgement_of_a_program_on_its_row() {
    let program = alone(0, 9 * 512) + PROGRAM + alone(0, 4);
    let expected = program + alone(1, 8) + READ + alone(1, 9 * 512) - Time::from_ns(1);
    let requests = [write(0, 1, Time::ZERO), read(8, 1, Time::from_ns(1))];
    assert_eq!(latencies(&drive(FabricKind::Nossd), requests), [program, expected]);
}

#[test]
fn two_reads_of_a_row_of_pnssd_have_a_channel_each_and_a_third_of_both_waits() {
    let rate = Rate::from_bytes_per_second(1_200_000_000);
    let (control, page) = (rate.time_for(Bytes::new(8)), rate.time_for(Bytes::new(PAGE + 12)));
    let whole = control + Time::from_ns(40) + READ + page;
    // Chips (0, 0) and (1, 1) use the channel of their row, chip (0, 1) that of its column.
    let reads = [0, 8, 9].map(|page| read(page, 1, Time::ZERO));
    assert_eq!(latencies(&drive(FabricKind::Pnssd), reads), [whole; 3]);
    let reads = [0, 8, 16, 1, 17].map(|page| read(page, 1, Time::ZERO));
    // Chip (1, 0) uses the channel of its row. Chip (1, 2) waits, because column 2 is held by chip (0, 2) and row 1 by chip (1, 0).
    assert_eq!(latencies(&drive(FabricKind::Pnssd), reads), [whole, whole, whole, whole, whole * 2]);
}

/// Request in the model: arrival, alternative paths to the chip (`ways`, sets of link names), and the hold time of each path (`kept`).
struct Page {
    arrival: Time,
    ways: Vec<BTreeSet<String>>,
    kept: Vec<Time>,
}

/// Computes the completion times in the model. Requests are served in order of arrival, over the first path without a link that is held, or that an
/// earlier request waits for.
fn naive(pages: &[Page]) -> Vec<Time> {
    let mut done: Vec<Option<(Time, BTreeSet<String>)>> = pages.iter().map(|_| None).collect();
    loop {
        let ends = done.iter().flatten().map(|(end, _)| *end);
        let mut moments: Vec<Time> = pages.iter().map(|page| page.arrival).chain(ends).collect();
        moments.sort_unstable();
        // Finds the earliest time at which a waiting page can be served.
        let served = moments.into_iter().find_map(|now| {
            let mut taken: BTreeSet<String> =
                done.iter().flatten().filter(|(end, _)| *end > now).flat_map(|(_, way)| way.clone()).collect();
            for (at, page) in pages.iter().enumerate().filter(|(_, page)| page.arrival <= now) {
                if done[at].is_some() {
                    continue;
                }
                match page.ways.iter().position(|way| way.is_disjoint(&taken)) {
                    Some(way) => return Some((at, way, now)),
                    None => taken.extend(page.ways.iter().flatten().cloned()),
                }
            }
            None
        });
        let Some((at, way, now)) = served else { break };
        done[at] = Some((now + pages[at].kept[way], pages[at].ways[way].clone()));
    }
    done.into_iter().map(|end| end.expect("all pages are served").0).collect()
}

/// Returns the links between routers that a packet crosses, along the row and then along the column.
fn links((row, column): (u64, u64), (to_row, to_column): (u64, u64)) -> Vec<String> {
    let step = |at: u64, to: u64| if at < to { at + 1 } else { at - 1 };
    let (mut at, mut links) = ((row, column), Vec::new());
    while at != (to_row, to_column) {
        let next = if at.1 != to_column { (at.0, step(at.1, to_column)) } else { (step(at.0, to_row), at.1) };
        links.push(format!("{at:?} to {next:?}"));
        at = next;
    }
    links
}

fn pages_of_nossd(requests: &[IoRequest], injection: InjectionPolicy) -> Vec<Page> {
    let page = |(number, request): (u64, &IoRequest)| {
        let page = request.offset.as_u64() / PAGE;
        let (row, column) = (page % ROWS, page / ROWS);
        let controller = if injection == InjectionPolicy::Nearest { row } else { number % ROWS };
        let mut way = BTreeSet::from([format!("controller {controller}"), format!("chip {page}")]);
        way.extend(links((controller, 0), (row, column)));
        way.extend(links((row, column), (controller, 0)));
        let hops = row.abs_diff(controller) + column;
        let kept = match request.kind {
            RequestKind::Read => alone(hops, 8) + READ + alone(hops, 9 * 512),
            _ => alone(hops, 9 * 512) + PROGRAM + alone(hops, 4),
        };
        Page { arrival: request.arrival, ways: vec![way], kept: vec![kept] }
    };
    (0..).zip(requests).map(page).collect()
}

fn pages_of_pnssd(requests: &[IoRequest], controllers: Controllers) -> Vec<Page> {
    let rate = Rate::from_bytes_per_second(1_200_000_000);
    let (control, data) = (rate.time_for(Bytes::new(8)), rate.time_for(Bytes::new(PAGE + 12)));
    let on_die = Time::from_ns(20);
    let page = |request: &IoRequest| {
        let page = request.offset.as_u64() / PAGE;
        let (row, column) = (page % ROWS, page / ROWS);
        let way = |name: &str, number: u64| match controllers {
            Controllers::Independent => BTreeSet::from([format!("{name} {number}")]),
            Controllers::Shared => BTreeSet::from([format!("{name} {number}"), format!("controller {number}")]),
        };
        let kept = match request.kind {
            RequestKind::Read => control + on_die + READ + on_die + data,
            _ => control + data + on_die + PROGRAM,
        };
        Page { arrival: request.arrival, ways: vec![way("row", row), way("column", column)], kept: vec![kept; 2] }
    };
    requests.iter().map(page).collect()
}

/// Returns reads and writes of pages on different chips, which arrive at random times below `within`.
fn requests(seed: u64, count: usize, within: Time) -> Vec<IoRequest> {
    let mut random = SimRng::new(seed);
    let mut chips: Vec<u64> = (0..64).collect();
    for at in (1..chips.len()).rev() {
        chips.swap(at, random.below(at as u32 + 1) as usize);
    }
    let nanoseconds = (within.as_ps() / 1000) as u32;
    let mut arrivals: Vec<u32> = (0..count).map(|_| random.below(nanoseconds)).collect();
    arrivals.sort_unstable();
    let kind = |random: &mut SimRng| if random.below(3) == 0 { RequestKind::Write } else { RequestKind::Read };
    let pairs = chips.into_iter().zip(arrivals);
    pairs.map(|(chip, arrival)| request(kind(&mut random), chip, 1, Time::from_ns(arrival.into()))).collect()
}

#[test]
fn completions_are_those_of_a_naive_model_of_whole_pages() {
    let mut waited = 0;
    for seed in 0..8 {
        let requests = requests(seed, 56, Time::from_us(if seed % 2 == 0 { 40 } else { 400 }));
        for injection in [InjectionPolicy::Nearest, InjectionPolicy::RoundRobin] {
            let mut config = drive(FabricKind::Nossd);
            config.nossd.injection = injection;
            let pages = pages_of_nossd(&requests, injection);
            let expected = naive(&pages);
            assert_eq!(completions(&config, requests.clone()), expected, "{injection}, seed {seed}");
            let late = |(page, done): (&Page, &Time)| page.arrival + page.kept[0] < *done;
            waited += pages.iter().zip(&expected).filter(|each| late(*each)).count();
        }
        for controllers in [Controllers::Independent, Controllers::Shared] {
            let mut config = drive(FabricKind::Pnssd);
            config.pnssd.controllers = controllers;
            let expected = naive(&pages_of_pnssd(&requests, controllers));
            assert_eq!(completions(&config, requests.clone()), expected, "{controllers}, seed {seed}");
        }
    }
    assert!(waited > 8 * 56, "{waited}");
}

#[test]
fn every_saturated_drive_whose_paths_are_held_comes_to_an_end_with_no_oracle_speaking() {
    let injections = InjectionPolicy::ALL.iter().copied().cycle();
    for (number, injection) in (0..60).zip(injections) {
        let kind = if number % 3 == 0 { FabricKind::Pnssd } else { FabricKind::Nossd };
        let mut config = drive_with_held_paths(number, kind);
        config.pnssd.controllers = if number % 2 == 0 { Controllers::Independent } else { Controllers::Shared };
        let nossd = &mut config.nossd;
        nossd.topology = NossdTopology::ALL[number as usize % NossdTopology::ALL.len()];
        nossd.injection = injection;
        nossd.reply = ReplyPolicy::ALL[number as usize / 2 % 2];
        nossd.placement = ControllerPlacement::ALL[number as usize / 4 % 2];
        nossd.controller_queues = ControllerQueues::ALL[number as usize / 3 % 2];
        nossd.chip_channels = [1, 2, 4][number as usize / 5 % 3];
        nossd.controller_channels = [4, 1, 2][number as usize / 3 % 3];
        nossd.half_duplex = number % 4 == 1;
        nossd.interleave = if nossd.half_duplex { Interleave::Flits } else { Interleave::Packets };
        nossd.keep_runs = number % 4 == 1 || number % 7 == 0;
        config.geometry.channels = 1 + number % 4;
        config.geometry.chips_per_channel = if number % 3 == 0 { 1 + number % 4 } else { 1 + number / 3 % 3 };
        assert_eq!(run_checked(&config).requests, 400);
    }
}

#[test]
fn what_does_not_go_with_held_paths_is_an_error_with_a_remedy() {
    for (text, message) in [
        ("fabric.kind = \"pnssd\"\npnssd.split-page = true\n", "pnssd.split-page moves its data over two"),
        ("fabric.kind = \"nossd\"\ngc.move = \"clean\"\n", "needs one to another chip"),
    ] {
        let text = format!("{text}fabric.hold-path = true\n");
        let error = Config::from_str(&text, "held.toml", &[]).expect_err("the configuration is refused").to_string();
        assert!(error.contains(message), "{error}");
    }
}
