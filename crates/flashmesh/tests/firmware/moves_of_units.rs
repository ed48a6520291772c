//! GC with several mapping units per program: chip-to-chip moves, Clean packets and moves within a plane, compared with arithmetic.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex};

use flashmesh::config::{
    Config, FabricKind, InjectionPolicy, PageMove, PageTypes, Persistence, PersistencePolicy, ProgramUnit,
    SchedulePolicy, Sizes,
};
use flashmesh::fabric::TransferKind;
use flashmesh::kernel::probe::{Notice, Probe};
use flashmesh::measure::report::Report;
use flashmesh::simulation::{Control, Simulation};
use flashmesh::units::{Bytes, Rate, Time};
use flashmesh::workload::IoRequest;

use crate::support::drives::{
    Listed, PAGE, assert_within, bare_drive, completions, read, run_checked, steady_drive, write,
};

/// Size of a mapping unit, a quarter of a page.
const UNIT: u64 = PAGE;
const READ: Time = Time::from_us(3);
const PROGRAM: Time = Time::from_us(100);
const ERASE: Time = Time::from_ms(1);

/// Returns a drive of 2 rows of 2 chips, each of one plane of 16 blocks of 4 pages of 4 mapping units, with a capacity of 6 blocks per plane.
fn small_drive(kind: FabricKind) -> Config {
    let mut config = bare_drive();
    config.fabric.kind = kind;
    config.geometry.channels = 2;
    config.geometry.chips_per_channel = 2;
    config.geometry.planes_per_die = 1;
    config.geometry.blocks_per_plane = 16;
    config.geometry.pages_per_block = 4;
    config.geometry.page_size = Bytes::new(4 * UNIT);
    config.geometry.capacity = Some(Bytes::new(4 * 96 * UNIT));
    config.ftl.mapping_unit = Some(Bytes::new(UNIT));
    config.nossd.injection = InjectionPolicy::Nearest;
    config
}

/// Mapping units that are overwritten repeatedly, so their earlier copies are invalid.
const AGAIN: [u64; 4] = [90, 91, 92, 93];

/// Returns the host programs of chip 0, each as four mapping units. They fill fourteen blocks: the first with `first`, which keeps few units valid,
/// the others with six valid units each. One more program makes GC collect the first block.
fn programs(first: [[u64; 4]; 4]) -> Vec<[u64; 4]> {
    let others = (0..13).flat_map(|block| {
        let unit = |number: u64| 6 + 6 * block + number;
        [[unit(0), unit(1), unit(2), unit(3)], [unit(4), unit(5), AGAIN[0], AGAIN[1]], AGAIN, AGAIN]
    });
    first.into_iter().chain(others).chain([AGAIN]).collect()
}

/// Returns [`programs`] whose first block has valid mapping units only in `first` and `second`, except for units of [`AGAIN`].
fn with_valid(first: [u64; 4], second: [u64; 4]) -> Vec<[u64; 4]> {
    programs([first, second, AGAIN, AGAIN])
}

/// Returns the logical address of mapping unit `unit` of chip 0. Consecutive groups of four units are on consecutive chips of the four.
fn place(unit: u64) -> u64 {
    unit / 4 * 16 + unit % 4
}

fn at(number: usize) -> Time {
    Time::from_ms(10 * number as u64)
}

/// Returns the host writes for `programs`, and the arrival time of the last program. Programs are ten milliseconds apart; their four writes arrive
/// together.
fn requests(programs: &[[u64; 4]]) -> (Vec<IoRequest>, Time) {
    let writes =
        programs.iter().enumerate().flat_map(|(number, units)| units.map(|unit| write(place(unit), 1, at(number))));
    (writes.collect(), at(programs.len() - 1))
}

/// Messages on the network between chips and controllers during a run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Sent {
    reads: u32,
    copybacks: u32,
    /// Mapping units in each transfer between chips.
    copies: Vec<u64>,
    /// Mapping units in each data transfer from a chip to a controller.
    data: Vec<u64>,
    /// Program commands sent without data, because the page buffer of the die already holds it.
    bare_programs: u32,
    acknowledgements: u32,
}

struct Messages(Arc<Mutex<Sent>>);

impl Probe for Messages {
    fn notify(&mut self, _now: Time, notice: &Notice<'_>) {
        let mut sent = self.0.lock().expect("no other thread panicked");
        match notice {
            Notice::Sent(_, _, payload, _) => match payload.kind {
                TransferKind::Read => sent.reads += 1,
                TransferKind::Copyback => sent.copybacks += 1,
                TransferKind::ChipToChipData => sent.copies.push(payload.bytes.as_u64() / UNIT),
                TransferKind::Data => sent.data.push(payload.bytes.as_u64() / UNIT),
                TransferKind::Program => sent.bare_programs += u32::from(payload.bytes == Bytes::ZERO),
                TransferKind::Erase => {}
            },
            Notice::AcknowledgementSent(..) => sent.acknowledgements += 1,
            _ => {}
        }
    }
}

/// Runs `requests` and a much later write, with all oracles enabled. Returns the report and the messages.
fn run_told(config: &Config, mut requests: Vec<IoRequest>) -> (Report, Sent) {
    requests.push(write(5, 1, Time::from_ms(2000)));
    let sent = Arc::new(Mutex::new(Sent::default()));
    let mut simulation =
        Simulation::with_source(config, Box::new(Listed(requests.into()))).expect("the drive can be built");
    simulation.enable_checks();
    simulation.add_probe(Box::new(Messages(sent.clone())));
    let report = simulation.run(&Control::default()).expect("the run ends without a violation");
    let sent = sent.lock().expect("no other thread panicked").clone();
    (report, sent)
}

/// The victim has three valid mapping units in its first page and one in its second. Together they fill one program.
#[test]
fn units_of_two_pages_cross_by_themselves_and_are_programmed_at_once() {
    let rate = Rate::from_bytes_per_second(1_200_000_000);
    let (control, data) = (rate.time_for(Bytes::new(8)), |units: u64| rate.time_for(Bytes::new(units * UNIT + 12)));
    let on_die = Time::from_ns(20);
    let sense = control + on_die + READ + on_die;
    let program = on_die + PROGRAM;
    let erase = control + on_die + ERASE;
    for (r#move, data_of_program) in [(PageMove::ChipToChip, Time::ZERO), (PageMove::ThroughController, data(4))] {
        let mut config = small_drive(FabricKind::Pnssd);
        config.gc.r#move = r#move;
        let (mut requests, last) = requests(&with_valid([0, 1, 2, AGAIN[0]], [3, AGAIN[1], AGAIN[2], AGAIN[3]]));
        let last_write = last + control + data(4) + program;
        // The read of another mapping unit of chip 0 arrives while the victim is erased, and waits for the erase.
        requests.push(read(place(20), 1, last_write + Time::from_us(500)));
        let done = completions(&config, requests.clone());
        assert_eq!(done[requests.len() - 2], last_write, "{move}");
        let moved = last_write + (sense + data(3)) + (sense + data(1)) + (control + data_of_program + program);
        assert_eq!(done[requests.len() - 1], moved + erase + sense + data(1), "{move}");
    }
}

#[test]
fn the_bytes_between_chips_are_those_of_the_valid_units() {
    let mut config = small_drive(FabricKind::Pnssd);
    config.gc.r#move = PageMove::ChipToChip;
    let (requests, _) = requests(&with_valid([0, 1, 2, AGAIN[0]], [3, AGAIN[1], AGAIN[2], AGAIN[3]]));
    let (report, sent) = run_told(&config, requests.clone());
    assert_eq!((report.gc.collections, report.gc.pages_moved, report.gc.pages_copied), (1, 4, 4));
    assert_eq!(report.flash.units_skipped, 3, "the last write fills one unit of its program");
    assert_eq!((sent.reads, sent.copies, sent.data, sent.bare_programs), (2, vec![3, 1], vec![], 1));
    assert_eq!(report.links.bytes_between_chips.iter().sum::<u64>(), 4 * UNIT);
    // The four mapping units have moved to chip 2, in the same column, and are read there.
    let later = requests.into_iter().chain([read(0, 1, Time::from_ms(1900))]).collect();
    let (report, _) = run_told(&config, later);
    assert_eq!(report.links.bytes_from_chips, [0, UNIT, 0, 0]);
}

/// Five mapping units are valid. The three of the first page and one of the second fill a program on another chip. The page buffer of that chip, the
/// only other one of the column, is then in use, so the fifth is programmed in its own plane.
#[test]
fn a_page_whose_units_go_to_two_places_is_sensed_once_and_leaves_in_parts() {
    let mut config = small_drive(FabricKind::Pnssd);
    config.gc.r#move = PageMove::ChipToChip;
    let (requests, _) = requests(&with_valid([0, 1, 2, AGAIN[0]], [3, 4, AGAIN[1], AGAIN[2]]));
    let (report, sent) = run_told(&config, requests);
    assert_eq!((report.gc.pages_moved, report.gc.pages_copied), (5, 4));
    assert_eq!((sent.reads, sent.copies, sent.data, sent.bare_programs), (2, vec![3, 1], vec![1], 1));
    assert_eq!(report.flash.units_skipped, 3 + 3);
}

/// A page takes longer to read than to program, so the page buffer of the other chip is free again when the third page of the victim has been read.
/// The one valid mapping unit of this page fills no program there, and joins the unit of the second page that waits in its own plane.
#[test]
fn the_last_unit_is_programmed_with_one_that_waits_in_its_own_plane() {
    let mut config = small_drive(FabricKind::Pnssd);
    config.gc.r#move = PageMove::ChipToChip;
    config.flash.read_time = PROGRAM * 2;
    let (requests, _) = requests(&programs([
        [0, 1, 2, AGAIN[0]],
        [3, 4, AGAIN[1], AGAIN[2]],
        [5, AGAIN[3], AGAIN[0], AGAIN[1]],
        AGAIN,
    ]));
    let (report, sent) = run_told(&config, requests);
    assert_eq!((report.gc.collections, report.gc.pages_moved, report.gc.pages_copied), (1, 6, 4));
    assert_eq!((sent.reads, sent.copies, sent.data, sent.bare_programs), (3, vec![3, 1], vec![1, 1], 1));
    assert_eq!(report.flash.units_skipped, 2 + 3);
}

/// On NoSSD three other chips are reachable, so the last of the five mapping units is programmed on another chip too.
#[test]
fn the_last_program_of_a_victim_is_in_part_empty_wherever_it_goes() {
    let mut config = small_drive(FabricKind::Nossd);
    config.gc.r#move = PageMove::ChipToChip;
    let (requests, _) = requests(&with_valid([0, 1, 2, AGAIN[0]], [3, 4, AGAIN[1], AGAIN[2]]));
    let (report, sent) = run_told(&config, requests);
    assert_eq!((report.gc.pages_moved, report.gc.pages_copied), (5, 5));
    assert_eq!((sent.reads, sent.copies, sent.data, sent.bare_programs), (2, vec![3, 1, 1], vec![], 2));
    assert_eq!(report.flash.units_skipped, 3 + 3);
}

/// Returns the latency of a packet without contention, in cycles of 1 ns: 1 for the request, 4 per router, 1 per flit.
fn alone(hops: u64, flits: u64) -> Time {
    Time::from_ns(1 + 4 * (hops + 1) + flits)
}

/// Returns the number of flits of `units` mapping units with their metadata, in packets of 512 flits including header flits.
fn flits(config: &Config, units: u64) -> u64 {
    let bytes = units * UNIT + units * config.nossd.metadata.as_u64();
    512 * bytes.div_ceil(512 - u64::from(config.nossd.data_header_flits))
}

/// Four of the five mapping units fill a program. The fifth stays in the page register until that program has ended.
#[test]
fn a_clean_senses_each_page_once_and_programs_what_has_gathered() {
    let mut config = small_drive(FabricKind::Nossd);
    config.gc.r#move = PageMove::Clean;
    let (mut requests, last) = requests(&with_valid([0, 1, 2, AGAIN[0]], [3, 4, AGAIN[1], AGAIN[2]]));
    let data = |units| alone(1, flits(&config, units));
    let begins = last + alone(0, flits(&config, 4)) + PROGRAM;
    let packet = alone(0, 8 + 5 * 4);
    let told = begins + packet + READ + data(3) + READ + data(1) + PROGRAM + data(1) + PROGRAM + alone(1, 4);
    let writes = requests.clone();
    // The read of another mapping unit of the chip arrives as the Clean starts, and waits until the victim is erased.
    requests.push(read(place(20), 1, begins + Time::from_us(50)));
    let done = completions(&config, requests);
    let erased = told + alone(0, 8) + ERASE;
    assert_eq!(
        done.last(),
        Some(&(erased + alone(0, 8) + READ + alone(0, flits(&config, 1)))),
        "CleanAck at {told}, started at {begins}"
    );
    let programs = writes.len() as u32 / 4 + 1;
    let (report, sent) = run_told(&config, writes);
    assert_eq!((report.gc.pages_moved, report.gc.pages_copied, report.flash.units_skipped), (5, 5, 3 + 3));
    // One Clean packet moves all mapping units. Its CleanAck adds to the acknowledgements of the host programs and of the erase.
    assert_eq!((sent.reads, sent.copies, sent.bare_programs), (1, vec![3, 1, 1], 0));
    assert_eq!(sent.acknowledgements, programs + 2);
}

/// The first page has only valid mapping units and moves by copyback. The single valid unit of the second page passes through the controller.
#[test]
fn a_page_whose_units_are_all_valid_moves_within_its_plane_and_others_are_packed() {
    let mut config = small_drive(FabricKind::Bus);
    config.gc.copyback = true;
    let (mut writes, last) = requests(&with_valid([0, 1, 2, 3], [AGAIN[1], 4, AGAIN[0], AGAIN[2]]));
    let (report, sent) = run_told(&config, writes.clone());
    assert_eq!((report.gc.pages_moved, report.gc.pages_copied, report.flash.units_skipped), (5, 0, 3 + 3));
    assert_eq!((sent.copybacks, sent.reads, sent.data), (1, 1, vec![1]));
    // The moves consist of a copyback with its array time, a read of the remaining mapping unit, and a program with the data of a whole page.
    let rate = Rate::from_bytes_per_second(1_200_000_000);
    let (command, data) = (Time::from_ns(10), |units: u64| rate.time_for(Bytes::new(units * UNIT)));
    let last_write = last + command + data(4) + PROGRAM;
    writes.push(read(place(20), 1, last_write + Time::from_us(700)));
    let done = completions(&config, writes);
    let moved = last_write + (command + READ + PROGRAM) + (command + READ + data(1)) + (command + data(4) + PROGRAM);
    assert_eq!(done.last(), Some(&(moved + command + ERASE + command + READ + data(1))));
}

/// The three pages of a word line are sensed one after the other, and programmed in one step.
#[test]
fn a_word_line_moves_within_its_plane_as_a_whole() {
    let mut config = small_drive(FabricKind::Bus);
    config.gc.copyback = true;
    config.geometry.page_size = Bytes::new(PAGE);
    config.geometry.pages_per_block = 12;
    config.geometry.capacity = Some(Bytes::new(4 * 84 * PAGE));
    config.ftl.mapping_unit = None;
    config.flash.page_types = PageTypes::Tlc;
    config.flash.program_unit = ProgramUnit::WordLine;
    config.flash.middle_page_read_time = Some(Time::from_us(5));
    config.flash.upper_page_read_time = Some(Time::from_us(9));
    // A program has three pages of one mapping unit each, so the fourth unit of each listed program is left out. Every fourth logical page is on chip
    // 0.
    let programs = with_valid([0, 1, 2, 3], [4, AGAIN[1], AGAIN[2], AGAIN[3]]);
    let written: BTreeSet<u64> = programs.iter().flat_map(|units| units[..3].to_vec()).collect();
    let page = |unit: u64| 4 * written.range(..unit).count() as u64;
    let of_program =
        |(number, units): (usize, &[u64; 4])| units.map(|unit| write(page(unit), 1, at(number)))[..3].to_vec();
    let writes: Vec<IoRequest> = programs.iter().enumerate().flat_map(of_program).collect();
    let (report, sent) = run_told(&config, writes.clone());
    assert_eq!((report.gc.collections, report.gc.pages_moved), (1, 4));
    assert_eq!((sent.copybacks, sent.reads, sent.data), (1, 1, vec![1]));
    let last = writes.last().expect("there are writes").arrival;
    let rate = Rate::from_bytes_per_second(1_200_000_000);
    let (command, data) = (Time::from_ns(10), |pages: u64| rate.time_for(Bytes::new(pages * PAGE)));
    let last_write = last + command + data(3) + PROGRAM;
    let senses = READ + Time::from_us(5) + Time::from_us(9);
    let moved = last_write + (command + senses + PROGRAM) + (command + READ + data(1)) + (command + data(3) + PROGRAM);
    let mut timed = writes;
    // A lower page of another word line, which is sensed in [`READ`].
    timed.push(read(page(12), 1, last_write + Time::from_us(700)));
    let done = completions(&config, timed);
    assert_eq!(done.last(), Some(&(moved + command + ERASE + command + READ + data(1))));
}

/// Runs random writes of mapping units on a full drive of 4 x 4 chips, in a configuration changed by `change`.
fn random_writes(kind: FabricKind, change: impl Fn(&mut Config)) -> Report {
    let mut config = steady_drive(kind, 0.3);
    config.geometry.page_size = Bytes::new(4 * UNIT);
    config.ftl.mapping_unit = Some(Bytes::new(UNIT));
    config.workload.read_share = 0.0;
    config.workload.request_size = Sizes(vec![(Bytes::new(UNIT), 1.0)]);
    config.workload.requests = Some(60_000);
    change(&mut config);
    run_checked(&config)
}

#[test]
fn a_full_drive_sends_its_units_from_chip_to_chip_and_the_controllers_move_the_others() {
    let report = random_writes(FabricKind::Pnssd, |config| config.gc.r#move = PageMove::ChipToChip);
    let (gc, links) = (&report.gc, &report.links);
    let units = |bytes: &[u64]| bytes.iter().sum::<u64>() as f64 / UNIT as f64;
    assert!(gc.pages_moved > 20_000 && gc.pages_copied > gc.pages_moved / 8, "{gc:?}");
    assert_within("from chip to chip", units(&links.bytes_between_chips), gc.pages_copied as f64, 0.02);
    assert_within("from the chips", units(&links.bytes_from_chips), (gc.pages_moved - gc.pages_copied) as f64, 0.02);
    let through = random_writes(FabricKind::Pnssd, |_| ());
    let amplification = |report: &Report| report.write_amplification.expect("the host wrote");
    assert_within("write amplification", amplification(&report), amplification(&through), 0.1);
}

/// These policies often pass over the move at the head of a queue, whose mapping unit the host may overwrite meanwhile.
#[test]
fn each_victim_starts_one_partial_program_at_most_whatever_the_scheduler_chooses() {
    for policy in [SchedulePolicy::OutOfOrder, SchedulePolicy::Sprinkler] {
        let report = random_writes(FabricKind::Nossd, |config| {
            config.gc.r#move = PageMove::Clean;
            config.schedule.policy = policy;
            config.workload.requests = Some(20_000);
            // With the long timeout every host program is full.
            config.ftl.gather_timeout = Time::from_ms(1_000);
            config.replay.outstanding = 512;
        });
        let (erases, skipped) = (report.gc.erases, report.flash.units_skipped);
        assert!(erases > 300 && skipped <= 3 * erases, "{policy}: {skipped} units skipped, {erases} erases");
    }
}

#[test]
fn a_full_drive_that_copies_back_moves_as_much_as_one_that_does_not() {
    let [within, through] =
        [true, false].map(|copyback| random_writes(FabricKind::Bus, |config| config.gc.copyback = copyback));
    let from = |report: &Report| report.links.bytes_from_chips.iter().sum::<u64>() / UNIT;
    assert!(from(&within) < from(&through), "{} and {} units", from(&within), from(&through));
    let amplification = |report: &Report| report.write_amplification.expect("the host wrote");
    assert_within("write amplification", amplification(&within), amplification(&through), 0.05);
}

#[test]
fn what_was_acknowledged_is_found_after_a_cut_in_the_midst_of_moves() {
    for (kind, copyback, r#move) in [
        (FabricKind::Pnssd, false, PageMove::ChipToChip),
        (FabricKind::Nossd, false, PageMove::Clean),
        (FabricKind::Bus, true, PageMove::ThroughController),
    ] {
        let cut = |at: Option<Time>| {
            random_writes(kind, |config| {
                config.gc.copyback = copyback;
                config.gc.r#move = r#move;
                config.workload.requests = Some(6_000);
                config.power.cut = at;
                config.persistence = Persistence { policy: PersistencePolicy::Journal, ..Persistence::default() };
            })
        };
        let whole = cut(None);
        assert!(whole.gc.pages_moved > 1_000, "{move}: {:?}", whole.gc);
        for share in [3, 5, 8] {
            let report = cut(Some(Time::from_ps(whole.makespan_ps / 10 * share)));
            let recovery = report.power_cut.expect("the power was cut").recovery.expect("the drive has a journal");
            assert_eq!(recovery.pages_lost, 0, "{move}, {share} tenths");
        }
    }
}

/// A mapping unit of two pages is sent as a whole, and its program writes both pages.
#[test]
fn a_unit_of_several_pages_crosses_whole() {
    let report = random_writes(FabricKind::Pnssd, |config| {
        config.gc.r#move = PageMove::ChipToChip;
        config.geometry.page_size = Bytes::new(PAGE);
        config.geometry.pages_per_block = 64;
        config.ftl.mapping_unit = Some(Bytes::new(2 * PAGE));
        config.workload.request_size = Sizes(vec![(Bytes::new(2 * PAGE), 1.0)]);
        config.workload.requests = Some(20_000);
    });
    let (gc, links) = (&report.gc, &report.links);
    assert!(gc.pages_copied > gc.pages_moved / 8, "{gc:?}");
    let between = links.bytes_between_chips.iter().sum::<u64>() as f64;
    assert_within("from chip to chip", between, (gc.pages_copied * 2 * PAGE) as f64, 0.02);
}
