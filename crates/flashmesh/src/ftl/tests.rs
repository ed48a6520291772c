//! Tests of the blocks and collections of one plane.

use super::testing::one_plane;
use super::*;
use crate::ids::{BlockId, PlaneId};

fn drive(threshold: f64) -> Ftl {
    let mut config = Config::default();
    config.gc.threshold = threshold;
    one_plane(config)
}

const PLANE: PlaneId = PlaneId(0);
const HOST: OpenBlockKind = OpenBlockKind::SHARED;

fn write(ftl: &mut Ftl, lpn: u32) {
    let ppn = ftl.allocate(PLANE, HOST).unwrap();
    ftl.commit_write(Lpn(lpn), ppn);
}

#[test]
fn a_block_is_full_once_all_its_programs_have_ended_in_any_order() {
    let mut ftl = drive(0.02);
    let allocated: Vec<Ppn> = (0..20).map(|_| ftl.allocate(PLANE, HOST).unwrap()).collect();
    for (lpn, &ppn) in allocated.iter().enumerate().rev() {
        assert_eq!(ftl.blocks.state(BlockId(0)), BlockState::Open);
        assert_eq!(ftl.lookup(Lpn(lpn as u32)), None, "a page is not valid before its program has finished");
        ftl.commit_write(Lpn(lpn as u32), ppn);
        assert_eq!(ftl.blocks.state(BlockId(1)) == BlockState::Full, lpn <= 8);
        ftl.audit().unwrap();
    }
    assert_eq!(ftl.blocks.state(BlockId(0)), BlockState::Full);
}

#[test]
fn a_small_plane_is_collected_while_the_host_still_has_pages() {
    // The threshold, 2 % of 128 pages, is less than one block. Collection nevertheless begins when fewer than two blocks of 8 pages are free: the
    // last block, kept for collection, and one more.
    let mut ftl = drive(0.02);
    (0..13 * 8).for_each(|i| write(&mut ftl, i % 80));
    assert!(!ftl.needs_collection(PLANE));
    (0..9).for_each(|i| write(&mut ftl, i));
    assert!(ftl.needs_collection(PLANE) && !ftl.is_urgent(PLANE));
    (9..16).for_each(|i| write(&mut ftl, i));
    assert_eq!(ftl.blocks.free_pages(PLANE), 8, "only the reserve is left");
    assert!(ftl.needs_collection(PLANE) && ftl.is_urgent(PLANE));
    assert_eq!(ftl.allocate(PLANE, HOST), None);
    assert!(ftl.allocate(PLANE, OpenBlockKind::Collection).is_some());
}

#[test]
fn no_block_is_collected_if_all_pages_of_full_blocks_are_valid() {
    // All 80 logical pages are valid, in 10 of 16 blocks. The 48 free pages are below the threshold of 64, but a collection would gain nothing, so
    // none must begin.
    let mut ftl = drive(0.5);
    (0..80).for_each(|lpn| write(&mut ftl, lpn));
    assert!(ftl.blocks.free_pages(PLANE) < 64);
    assert!(!ftl.needs_collection(PLANE));
    assert_eq!(ftl.begin_collection(PLANE), None);
    assert!(ftl.deallocate(Lpn(17)) && !ftl.deallocate(Lpn(17)));
    assert!(ftl.needs_collection(PLANE));
    assert_eq!(ftl.begin_collection(PLANE), Some(vec![BlockId(2)]));
}

#[test]
fn a_page_rewritten_during_its_move_is_committed_as_invalid() {
    let mut ftl = drive(0.5);
    (0..80).for_each(|lpn| write(&mut ftl, lpn));
    ftl.deallocate(Lpn(0));
    let victim = ftl.begin_collection(PLANE).unwrap()[0];
    let (page, lpn) = ftl.next_valid_page(victim, 0).unwrap();
    let (from, to) = (Ppn(page), ftl.allocate(PLANE, OpenBlockKind::Collection).unwrap());
    write(&mut ftl, lpn.0);
    let newest = ftl.lookup(lpn);
    assert!(!ftl.commit_move(lpn, from, to));
    assert_eq!(ftl.lookup(lpn), newest);
    ftl.audit().unwrap();
}

#[test]
fn writes_and_deallocations_count_as_changes_after_a_read_of_an_unmapped_page() {
    let mut ftl = one_plane(Config::default());
    ftl.default_location_for_read(Lpn(0));
    assert_eq!(counted(&mut ftl), [0, 1, 2, 3, 4]);
}

#[test]
fn first_writes_count_as_changes_only_after_a_read_of_an_unmapped_page() {
    assert_eq!(counted(&mut one_plane(Config::default())), [0, 0, 0, 1, 2]);
}

/// Returns the map change counter at the start and after each of these steps: write pages 0 and 1, rewrite page 0, deallocate page 1.
fn counted(ftl: &mut Ftl) -> Vec<u64> {
    let mut seen = vec![ftl.mapping.changes()];
    for lpn in [Lpn(0), Lpn(1), Lpn(0)] {
        let ppn = ftl.allocate(PlaneId(0), OpenBlockKind::Incoming).expect("the plane has space");
        ftl.commit(lpn, ppn);
        seen.push(ftl.mapping.changes());
    }
    ftl.deallocate(Lpn(1));
    seen.push(ftl.mapping.changes());
    seen
}
