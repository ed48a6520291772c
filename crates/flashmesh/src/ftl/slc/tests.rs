use super::*;
use crate::config::{Config, PageTypes};
use crate::flash::geometry::Geometry;
use crate::ftl::{FtlRules, IdleDies};
use crate::ids::{Lpn, StreamId};
use crate::units::Bytes;

const PLANE: PlaneId = PlaneId(0);

/// One plane of 20 blocks of 12 TLC pages, of which the host sees 8, with three blocks of four pages in its cache.
fn drive(fold_threshold: f64) -> Ftl {
    let mut config = Config::default();
    config.geometry.channels = 1;
    config.geometry.chips_per_channel = 1;
    config.geometry.planes_per_die = 1;
    config.geometry.blocks_per_plane = 20;
    config.geometry.pages_per_block = 12;
    config.geometry.capacity = Some(Bytes::from_kib(4) * (8 * 12));
    config.flash.page_types = PageTypes::Tlc;
    config.slc.blocks_per_plane = 3;
    config.slc.fold_threshold = fold_threshold;
    config.validate().expect("the drive is possible");
    let geometry = Geometry::of(&config).expect("the geometry is possible");
    Ftl::new(&geometry, &config, FtlRules::new(&config))
}

fn cache(ftl: &mut Ftl, pages: std::ops::Range<u32>) {
    for lpn in pages.map(Lpn) {
        let ppn = ftl.allocate(PLANE, Stream::Slc).expect("the cache has a page");
        ftl.commit_write(lpn, ppn);
        ftl.audit().expect("the tables agree");
    }
}

/// Folds one block; gives how many pages moved.
fn fold(ftl: &mut Ftl) -> Option<u32> {
    let block = ftl.begin_fold(PLANE)?;
    let (mut moved, mut from_page) = (0, 0);
    while let Some((page, lpn)) = ftl.next_valid_page(block, from_page) {
        let from = ftl.geometry.ppn(block, page);
        let stream = ftl.stream_of_move(from);
        assert_eq!(stream, Stream::Fold);
        let to = ftl.allocate_move(PLANE, stream).expect("a fold has its place");
        assert!(ftl.commit_move(lpn, from, to));
        (moved, from_page) = (moved + 1, page + 1);
        ftl.audit().expect("the tables agree");
    }
    ftl.finish_erase(block);
    ftl.audit().expect("the tables agree");
    Some(moved)
}

#[test]
fn the_last_blocks_of_a_plane_take_a_third_of_their_pages_and_free_pages_are_counted_outside_them() {
    let mut ftl = drive(0.0);
    let free = ftl.free_pages(PLANE);
    assert_eq!(free, 17 * 12);
    for number in 0..12 {
        let expected = Ppn((17 + number / 4) * 12 + number % 4);
        let told = ftl.next_page_offset(PLANE, Stream::Slc);
        assert_eq!(told, Some((BlockId(expected.0 / 12), expected.0 % 12)));
        assert_eq!(ftl.allocate(PLANE, Stream::Slc), Some(expected));
    }
    assert!(!ftl.has_slc_page(PLANE));
    assert_eq!((ftl.allocate(PLANE, Stream::Slc), ftl.free_pages(PLANE)), (None, free));
}

#[test]
fn the_block_with_the_fewest_valid_pages_is_folded_first_and_of_equals_the_one_filled_first() {
    let mut ftl = drive(0.0);
    cache(&mut ftl, 0..12);
    (5..8).for_each(|lpn| assert!(ftl.deallocate(Lpn(lpn))));
    assert_eq!([fold(&mut ftl), fold(&mut ftl)], [Some(1), Some(4)]);
    let first = ftl.geometry.block_of(ftl.lookup(Lpn(0)).expect("it was written"));
    assert!(!ftl.geometry.is_slc(first), "block 17 was filled before block 19");
    assert_eq!([fold(&mut ftl), fold(&mut ftl)], [Some(4), None]);
    assert_eq!((ftl.mapped_pages(), ftl.has_slc_page(PLANE)), (9, true));
}

#[test]
fn nothing_is_folded_up_to_the_share_that_may_be_full() {
    let mut ftl = drive(0.7);
    cache(&mut ftl, 0..8);
    assert_eq!(fold(&mut ftl), None);
    cache(&mut ftl, 8..12);
    assert_eq!([fold(&mut ftl), fold(&mut ftl)], [Some(4), None]);
}

#[test]
fn a_fold_keeps_the_block_that_it_goes_on_in_from_the_host() {
    let mut ftl = drive(0.0);
    cache(&mut ftl, 0..4);
    // One block is the reserve, the other is left.
    while ftl.blocks.plane(PLANE).free.len() > 2 {
        assert!(ftl.allocate(PLANE, Stream::SHARED).is_some());
    }
    for _ in 0..11 {
        assert!(ftl.allocate(PLANE, Stream::SHARED).is_some());
    }
    let block = ftl.begin_fold(PLANE).expect("there is a place");
    assert_eq!(ftl.allocate(PLANE, Stream::SHARED), None, "the fold keeps it");
    for lpn in (0..4).map(Lpn) {
        let from = ftl.lookup(lpn).expect("it was written");
        let to = ftl.allocate_move(PLANE, Stream::Fold).expect("a fold has its place");
        assert!(ftl.commit_move(lpn, from, to));
    }
    ftl.finish_erase(block);
    cache(&mut ftl, 0..4);
    // What is left of the block takes the next fold, though no other can be opened.
    assert_eq!(ftl.blocks.plane(PLANE).free.len(), 1);
    assert_eq!(fold(&mut ftl), Some(4));
    cache(&mut ftl, 0..4);
    assert_eq!(fold(&mut ftl), Some(4));
    cache(&mut ftl, 0..4);
    assert_eq!(fold(&mut ftl), None, "there is no place for the pages");
}

#[test]
fn a_full_drive_is_written_through_its_cache_without_end() {
    let mut ftl = drive(0.0);
    let mut random = crate::engine::random::SimRng::new(3);
    let idle = IdleDies::new(1);
    for number in 0..5_000 {
        let lpn = Lpn(random.below(96));
        if ftl.has_slc_page(PLANE) {
            cache(&mut ftl, lpn.0..lpn.0 + 1);
        } else {
            ftl.write_untimed_by(StreamId(0), lpn, &idle);
        }
        if number % 7 == 0 {
            fold(&mut ftl);
        }
    }
    ftl.audit().expect("the tables agree");
    let erases: u32 = (17..20).map(|block| ftl.erase_count(BlockId(block))).sum();
    assert!(erases > 500, "{erases} folds");
}

#[test]
fn a_cached_block_outside_the_cache_is_found() {
    let mut ftl = drive(0.0);
    cache(&mut ftl, 0..4);
    *ftl.blocks.table_mut().entry(BlockId(17)).state = BlockState::Full as u8;
    assert!(ftl.audit().is_err());
}
