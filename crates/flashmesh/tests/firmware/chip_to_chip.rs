//! GC that moves pages directly from chip to chip, without the controllers (Network-on-SSD, CAL 2012, section 3.4).

use flashmesh::config::{Allocation, Config, FabricKind, PageMove};
use flashmesh::fabric::layout::LinkKind;
use flashmesh::measure::report::Report;
use flashmesh::simulation::{Control, Simulation};
use flashmesh::units::{Bytes, Rate, Time};
use flashmesh::workload::IoRequest;

use crate::support::drives::{
    Listed, PAGE, assert_within, bare_drive, completions, read, run_checked, run_source, steady_drive, write,
};

/// Returns a drive of 2 rows of 2 chips, each of one plane of 8 blocks of 4 pages, with a capacity of 3 blocks per plane.
fn small_drive() -> Config {
    let mut config = bare_drive();
    config.fabric.kind = FabricKind::Pnssd;
    config.geometry.channels = 2;
    config.geometry.chips_per_channel = 2;
    config.geometry.planes_per_die = 1;
    config.geometry.blocks_per_plane = 8;
    config.geometry.pages_per_block = 4;
    config.geometry.capacity = Some(Bytes::new(4 * 12 * PAGE));
    config.gc.r#move = PageMove::ChipToChip;
    config
}

/// Returns writes to chip 0, a millisecond apart. All but the last fill six blocks; the first block keeps one valid page, the others two. The last
/// write makes GC collect the first block.
fn writes_until_one_page_moves() -> Vec<IoRequest> {
    let blocks = [[0, 1, 1, 1], [1, 2, 2, 2], [3, 4, 4, 4], [5, 6, 6, 6], [7, 8, 8, 8], [9, 10, 10, 10]];
    let pages = blocks.into_iter().flatten().chain([11]);
    pages.zip(0..).map(|(page, n)| write(page * 4, 1, Time::from_ms(n))).collect()
}

#[test]
fn a_move_takes_a_read_a_transfer_between_the_chips_and_a_program_without_data() {
    let rate = Rate::from_bytes_per_second(1_200_000_000);
    let (control, page) = (rate.time_for(Bytes::new(8)), rate.time_for(Bytes::new(PAGE + 12)));
    let on_die = Time::from_ns(20);
    let sense = control + on_die + Time::from_us(3) + on_die;
    let program = on_die + Time::from_us(100);
    let erase = control + on_die + Time::from_ms(1);
    for (r#move, data_of_program) in [(PageMove::ChipToChip, Time::ZERO), (PageMove::ThroughController, page)] {
        let mut config = small_drive();
        config.gc.r#move = r#move;
        let mut requests = writes_until_one_page_moves();
        // The read of another page of chip 0 arrives while the victim is erased, and waits for the erase.
        let last_write = requests[24].arrival + control + page + program;
        requests.push(read(4, 1, last_write + Time::from_us(500)));
        let done = completions(&config, requests);
        assert_eq!(done[24], last_write);
        let moved = last_write + sense + page + (control + data_of_program + program);
        assert_eq!(done[25], moved + erase + sense + page, "{}", r#move);
    }
}

#[test]
fn a_moved_page_crosses_the_vertical_channel_once_and_no_controller() {
    let mut requests = writes_until_one_page_moves();
    // The read arrives after the page has moved to chip 2 (row 1, column 0), and keeps the run going until the move has ended.
    requests.push(read(0, 1, Time::from_ms(30)));
    let (report, _) = run_source(&small_drive(), Listed(requests.into()));
    assert_eq!((report.gc.pages_moved, report.gc.pages_copied), (1, 1));
    assert_eq!(report.links.bytes_between_chips, [0, 0, PAGE, 0]);
    assert_eq!(report.links.bytes_to_chips, [25 * PAGE, 0, 0, 0]);
    // The data of the read is sent over the channel of row 1, the row of chip 2.
    assert_eq!(report.links.bytes_from_chips, [0, PAGE, 0, 0]);
}

#[test]
fn the_chip_of_the_victim_serves_reads_while_another_one_programs() {
    let mut requests = writes_until_one_page_moves();
    let after_the_copy = requests[24].arrival + Time::from_us(120);
    requests.push(read(4, 1, after_the_copy));
    let latency = |r#move: PageMove| {
        let mut config = small_drive();
        config.gc.r#move = r#move;
        completions(&config, requests.clone())[25] - after_the_copy
    };
    assert!(latency(PageMove::ChipToChip) < Time::from_us(7));
    assert!(latency(PageMove::ThroughController) > Time::from_us(50));
}

/// Runs uniform random writes on a drive of 4 x 4 chips in steady state.
fn random_writes(kind: FabricKind, r#move: PageMove, allocation: Option<Allocation>) -> Report {
    let mut config = steady_drive(kind, 0.2);
    config.gc.r#move = r#move;
    if let Some(allocation) = allocation {
        config.ftl.allocation = allocation;
    }
    config.workload.read_share = 0.0;
    config.workload.requests = Some(50_000);
    run_checked(&config)
}

/// Claim K10 of docs/reproduction (Network-on-SSD, CAL 2012): no page that GC moves from chip to chip crosses a controller.
#[test]
fn the_controllers_move_no_page_that_goes_from_chip_to_chip() {
    let report = random_writes(FabricKind::Pnssd, PageMove::ChipToChip, None);
    let (gc, links) = (&report.gc, &report.links);
    let pages = |bytes: &[u64]| bytes.iter().sum::<u64>() as f64 / PAGE as f64;
    // Many pages stay on their chip, because every possible destination plane has more valid pages, no free page, or another move pending. A vertical
    // channel leads to only 3 other chips, NoSSD to 15.
    assert!(gc.pages_copied > gc.pages_moved / 5, "{gc:?}");
    assert_eq!(pages(&links.bytes_between_chips[..4]), 0.0, "horizontal channels carry no moved page");
    assert_within("from chip to chip", pages(&links.bytes_between_chips), gc.pages_copied as f64, 0.02);
    let through = (gc.pages_moved - gc.pages_copied) as f64;
    let programs = report.flash.user_programs as f64 + through;
    assert_within("to the chips", pages(&links.bytes_to_chips), programs, 0.001);
    assert_within("from the chips", pages(&links.bytes_from_chips), through, 0.02);
}

#[test]
fn the_links_of_the_controllers_of_nossd_carry_no_page_that_goes_from_chip_to_chip() {
    let report = random_writes(FabricKind::Nossd, PageMove::ChipToChip, None);
    let (gc, links) = (&report.gc, &report.links);
    assert!(gc.pages_copied > gc.pages_moved / 3, "{gc:?}");
    let over = |kind: LinkKind, bytes: &[u64]| {
        let of_kind = links.kinds.iter().zip(bytes).filter(|(other, _)| **other == kind);
        of_kind.map(|(_, bytes)| bytes).sum::<u64>() as f64 / PAGE as f64
    };
    assert_eq!(over(LinkKind::Controller, &links.bytes_between_chips), 0.0);
    // Each moved page leaves one chip and enters another, so the links of both chips count it.
    let copied = 2.0 * gc.pages_copied as f64;
    assert_within("from chip to chip", over(LinkKind::Chip, &links.bytes_between_chips), copied, 0.02);
    let through = (gc.pages_moved - gc.pages_copied) as f64;
    let programs = report.flash.user_programs as f64 + through;
    assert_within("to the chips", over(LinkKind::Controller, &links.bytes_to_chips), programs, 0.001);
    assert_within("from the chips", over(LinkKind::Controller, &links.bytes_from_chips), through, 0.02);
}

/// Pages move between chips with little and with much free space in every plane, and write amplification does not rise.
#[test]
fn pages_move_from_chip_to_chip_whatever_space_there_is_and_amplify_writes_no_more() {
    for over_provisioning in [0.15, 0.3] {
        let [chip_to_chip, through] = [PageMove::ChipToChip, PageMove::ThroughController].map(|r#move| {
            let mut config = steady_drive(FabricKind::Nossd, over_provisioning);
            config.geometry.chips_per_channel = 8;
            config.gc.r#move = r#move;
            config.workload.read_share = 0.0;
            config.workload.requests = Some(40_000);
            let mut simulation = Simulation::new(&config).expect("the drive can be built");
            simulation.run(&Control::default()).expect("the run succeeds")
        });
        let gc = &chip_to_chip.gc;
        assert!(gc.pages_copied > gc.pages_moved / 4, "{over_provisioning}: {gc:?}");
        let amplification = |report: &Report| report.write_amplification.expect("the host wrote");
        let (copied, moved) = (amplification(&chip_to_chip), amplification(&through));
        assert!(copied < 1.05 * moved, "{over_provisioning}: {copied} and {moved}");
    }
}

#[test]
fn where_pages_move_to_does_not_change_how_many_are_moved() {
    for allocation in [None, Some(Allocation::Dynamic)] {
        let amplification =
            |r#move| random_writes(FabricKind::Pnssd, r#move, allocation).write_amplification.expect("the host wrote");
        let (chip_to_chip, through) = (amplification(PageMove::ChipToChip), amplification(PageMove::ThroughController));
        assert_within("write amplification", chip_to_chip, through, 0.05);
    }
}
