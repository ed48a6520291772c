//! Clean packets: one Clean moves the valid pages of a block to another chip, and one CleanAck reports the end (Network-on-SSD, CAL 2012,
//! section 3.4).

use std::sync::{Arc, Mutex};

use flashmesh::config::{Allocation, Config, FabricKind, InjectionPolicy, PageMove};
use flashmesh::fabric::TransferKind;
use flashmesh::kernel::probe::{Notice, Probe};
use flashmesh::measure::report::Report;
use flashmesh::simulation::{Control, Simulation};
use flashmesh::units::{Bytes, Time};
use flashmesh::workload::IoRequest;

use crate::support::drives::{Listed, PAGE, bare_drive, completions, read, run_checked, steady_drive, write};

const READ: Time = Time::from_us(3);
const PROGRAM: Time = Time::from_us(100);
const ERASE: Time = Time::from_ms(1);

/// Returns a drive of 2 rows of 2 chips, each of one plane of 9 blocks of 4 pages, with a capacity of 4 blocks per plane. Flits take 1 ns, and each
/// row uses its own controller.
fn small_drive() -> Config {
    let mut config = bare_drive();
    config.fabric.kind = FabricKind::Nossd;
    config.nossd.injection = InjectionPolicy::Nearest;
    config.geometry.channels = 2;
    config.geometry.chips_per_channel = 2;
    config.geometry.planes_per_die = 1;
    config.geometry.blocks_per_plane = 9;
    config.geometry.pages_per_block = 4;
    config.geometry.capacity = Some(Bytes::new(4 * 16 * PAGE));
    config.gc.r#move = PageMove::Clean;
    config
}

/// Returns the logical page that is page `number` of chip 0.
fn page(number: u64) -> u64 {
    number * 4
}

/// Returns writes to chip 0, ten milliseconds apart. All but the last fill seven blocks with two valid pages each. The last write makes GC collect
/// the first block, which holds pages 0 and 1.
fn writes_until_two_pages_move() -> Vec<IoRequest> {
    let blocks = (0..7).map(|block| [2 * block, 2 * block + 1, 2 * block + 1, 2 * block + 1]);
    let pages = blocks.flatten().chain([14]);
    pages.zip(0..).map(|(number, n)| write(page(number), 1, Time::from_ms(10 * n))).collect()
}

/// Returns the latency of a packet without contention, in cycles of 1 ns: 1 for the request, 4 per router, 1 per flit.
fn alone(hops: u64, flits: u64) -> Time {
    Time::from_ns(1 + 4 * (hops + 1) + flits)
}

/// Returns when GC starts (the last write is programmed) and when the controller receives the CleanAck. The Clean packet moves both pages to chip 1,
/// next to chip 0.
fn clean() -> (Time, Time) {
    let data = 9 * 512;
    let begins = Time::from_ms(10 * 28) + alone(0, data) + PROGRAM;
    let packet = alone(0, 8 + 2 * 4);
    let one = READ + alone(1, data) + PROGRAM;
    (begins, begins + packet + one + one + alone(1, 4))
}

#[test]
fn a_clean_takes_one_packet_the_reads_the_transfers_the_programs_and_one_acknowledgement() {
    let (begins, told) = clean();
    let mut requests = writes_until_two_pages_move();
    // The read of another page of chip 0 arrives after the Clean has started.
    requests.push(read(page(5), 1, begins + Time::from_us(50)));
    let erased = told + alone(0, 8) + ERASE;
    let done = completions(&small_drive(), requests.clone());
    assert_eq!(done[28], begins + alone(0, 4), "the last write");
    assert_eq!(
        done[29],
        erased + alone(0, 8) + READ + alone(0, 9 * 512),
        "a read of the die waits until the block is erased"
    );
    let mut config = small_drive();
    config.gc.preemptible = true;
    let done = completions(&config, requests);
    assert_eq!(
        done[29],
        told + alone(0, 8) + READ + alone(0, 9 * 512),
        "a read that goes first waits for the CleanAck"
    );
}

#[test]
fn a_read_of_a_page_that_has_moved_waits_for_the_acknowledgement_and_goes_to_its_new_place() {
    let (begins, told) = clean();
    let mut requests = writes_until_two_pages_move();
    // The read arrives when page 0 is programmed on chip 1, but page 1 is not.
    requests.push(read(page(0), 1, begins + Time::from_us(150)));
    // A read of another chip does not wait for the Clean move.
    let elsewhere = begins + Time::from_us(160);
    requests.push(read(page(3) + 1, 1, elsewhere));
    let done = completions(&small_drive(), requests);
    assert_eq!(done[29], told + alone(1, 8) + READ + alone(1, 9 * 512));
    assert!(done[30] < elsewhere + Time::from_us(15), "{}", done[30] - elsewhere);
}

#[test]
fn the_controller_that_sent_a_clean_hears_of_its_end_though_another_one_is_nearer() {
    let (begins, told) = clean();
    let mut requests = writes_until_two_pages_move();
    requests.push(read(page(0), 1, begins + Time::from_us(150)));
    // Shifted by one page, all requests go to the first chip of row 1. The Clean moves the pages to the first chip of row 0, whose controller reads
    // them.
    for request in &mut requests {
        request.offset += Bytes::new(PAGE);
    }
    let done = completions(&small_drive(), requests);
    assert_eq!(done[29], told + alone(0, 8) + READ + alone(0, 9 * 512));
}

/// Message counts of a run on the network between chips and controllers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Told {
    reads: u32,
    programs: u32,
    erases: u32,
    copies: u32,
    acknowledgements: u32,
}

struct Messages(Arc<Mutex<Told>>);

impl Probe for Messages {
    fn notify(&mut self, _now: Time, notice: &Notice<'_>) {
        let mut told = self.0.lock().expect("no other thread panicked");
        match notice {
            Notice::Sent(_, _, payload, _) => match payload.kind {
                TransferKind::Read => told.reads += 1,
                TransferKind::Program => told.programs += 1,
                TransferKind::Erase => told.erases += 1,
                TransferKind::ChipToChipData => told.copies += 1,
                TransferKind::Copyback | TransferKind::Data => {}
            },
            Notice::AcknowledgementSent(..) => told.acknowledgements += 1,
            _ => {}
        }
    }
}

#[test]
fn two_pages_take_one_command_and_one_acknowledgement() {
    let told = |r#move: PageMove| {
        let mut config = small_drive();
        config.gc.r#move = r#move;
        let mut requests = writes_until_two_pages_move();
        requests.push(write(page(5) + 1, 1, Time::from_ms(400)));
        let told = Arc::new(Mutex::new(Told::default()));
        let source = Box::new(Listed(requests.into()));
        let mut simulation = Simulation::with_source(&config, source).expect("the drive can be built");
        simulation.enable_checks();
        simulation.add_probe(Box::new(Messages(told.clone())));
        simulation.run(&Control::default()).expect("the run ends without a violation");
        *told.lock().expect("no other thread panicked")
    };
    // Acknowledged are 30 host writes and the erase; the Clean counts as one read, with one CleanAck for both pages. Chip-to-chip moves take a read
    // and an acknowledged program per page.
    let expected = Told { reads: 1, programs: 30, erases: 1, copies: 2, acknowledgements: 30 + 1 + 1 };
    assert_eq!(told(PageMove::Clean), expected);
    assert_eq!(told(PageMove::ChipToChip), Told { reads: 2, programs: 32, acknowledgements: 30 + 2 + 1, ..expected });
}

/// The host writes a page while a Clean moves it, before or after its copy is programmed. The copy is invalid.
#[test]
fn a_page_that_is_written_while_it_moves_is_read_where_the_host_wrote_it() {
    let (begins, told) = clean();
    for kind in [write(page(1), 1, begins + Time::from_us(20)), write(page(0), 1, begins + Time::from_us(150))] {
        let mut requests = writes_until_two_pages_move();
        requests.push(kind);
        requests
            .push(IoRequest { arrival: told + Time::from_ms(5), ..read(kind.offset.as_u64() / PAGE, 1, Time::ZERO) });
        let done = completions(&small_drive(), requests);
        // The write waits until the Clean releases its die. The later read finds the page where the write put it, on chip 0.
        assert!(done[29] > told, "{}", done[29]);
        assert_eq!(done[30], told + Time::from_ms(5) + alone(0, 8) + READ + alone(0, 9 * 512));
    }
}

/// Runs uniform random requests on a drive of 4 x 4 chips in steady state, with the given over-provisioning.
fn saturated(r#move: PageMove, over_provisioning: f64, change: impl Fn(&mut Config)) -> Report {
    let mut config = steady_drive(FabricKind::Nossd, over_provisioning);
    config.gc.r#move = r#move;
    config.workload.read_share = 0.3;
    config.workload.requests = Some(30_000);
    change(&mut config);
    run_checked(&config)
}

#[test]
fn most_pages_move_by_clean_whatever_space_there_is_and_amplify_writes_no_more() {
    for over_provisioning in [0.15, 0.3] {
        let [clean, through] =
            [PageMove::Clean, PageMove::ThroughController].map(|r#move| saturated(r#move, over_provisioning, |_| ()));
        assert!(clean.gc.pages_copied > clean.gc.pages_moved / 2, "{over_provisioning}: {:?}", clean.gc);
        let amplification = |report: &Report| report.write_amplification.expect("the host wrote");
        let (copied, moved) = (amplification(&clean), amplification(&through));
        assert!(copied < 1.05 * moved, "{over_provisioning}: {copied} and {moved}");
    }
}

/// Every die both sends and receives moved pages. A cycle of dies that wait for each other would deadlock the run.
#[test]
fn a_saturated_drive_whose_dies_all_clean_comes_to_its_end() {
    let options: [fn(&mut Config); 5] = [
        |config| config.geometry.dies_per_chip = 2,
        |config| config.flash.read_cache = true,
        |config| {
            config.flash.suspension = flashmesh::config::Suspension::Both;
            config.gc.preemptible = true;
            config.gc.background_threshold = 0.1;
        },
        |config| config.ftl.allocation = Allocation::Dynamic,
        |config| {
            config.geometry.dies_per_chip = 2;
            config.flash.die_start = flashmesh::config::DieStart::Together;
        },
    ];
    for option in options {
        let report = saturated(PageMove::Clean, 0.2, |config| {
            config.workload.requests = Some(8_000);
            option(config);
        });
        assert!(report.gc.pages_copied > 0);
    }
}
