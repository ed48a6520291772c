use super::*;
use crate::config::{Config, PageTypes, SlcRegion};
use crate::flash::geometry::Geometry;
use crate::ftl::{BlockState, FtlRules, IdleDies};
use crate::ids::{Lpn, Ppn, StreamId};
use crate::units::Bytes;

const PLANE: PlaneId = PlaneId(0);

/// Creates a drive of one plane with 20 blocks of 12 TLC pages, a capacity of 8 blocks, and an SLC cache of three
/// blocks of four pages.
fn drive(fold_threshold: f64) -> Ftl {
    made(&config_of(fold_threshold))
}

fn config_of(fold_threshold: f64) -> Config {
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
    config
}

fn made(config: &Config) -> Ftl {
    config.validate().expect("the configuration is valid");
    let geometry = Geometry::from_config(config).expect("the geometry is valid");
    Ftl::new(&geometry, config, FtlRules::new(config))
}

fn cache(ftl: &mut Ftl, pages: std::ops::Range<u32>) {
    for lpn in pages.map(Lpn) {
        let ppn = ftl.allocate(PLANE, OpenBlockKind::Slc).expect("the cache has a page");
        ftl.commit_write(lpn, ppn);
        ftl.audit().expect("the tables agree");
    }
}

/// Returns the only block of a fold (without superblocks).
fn only(blocks: Vec<BlockId>) -> BlockId {
    let [block] = blocks[..] else { panic!("one block is folded at a time: {blocks:?}") };
    block
}

/// Folds one block completely. Returns the number of pages moved; `None` if no fold can begin.
fn fold(ftl: &mut Ftl) -> Option<u32> {
    let block = only(ftl.begin_fold(PLANE)?);
    Some(move_out(ftl, block))
}

fn move_out(ftl: &mut Ftl, block: BlockId) -> u32 {
    let (mut moved, mut from_page) = (0, 0);
    while let Some((page, lpn)) = ftl.next_valid_page(block, from_page) {
        let from = ftl.geometry.ppn(block, page);
        let stream = ftl.move_block_kind(from);
        assert_eq!(stream == OpenBlockKind::Fold, ftl.geometry.is_slc(block));
        let to = ftl.allocate_move(PLANE, stream).expect("the fold has a free page");
        assert!(ftl.commit_move(lpn, from, to));
        (moved, from_page) = (moved + 1, page + 1);
        ftl.audit().expect("the tables agree");
    }
    ftl.finish_erase(block);
    ftl.audit().expect("the tables agree");
    moved
}

#[test]
fn slc_blocks_take_a_third_of_their_pages_and_do_not_count_as_free_pages() {
    let mut ftl = drive(0.0);
    let free = ftl.blocks.free_pages(PLANE);
    assert_eq!(free, 17 * 12);
    for number in 0..12 {
        let expected = Ppn((17 + number / 4) * 12 + number % 4);
        let told = ftl.blocks.next_page_offset(PLANE, OpenBlockKind::Slc);
        assert_eq!(told, Some((BlockId(expected.0 / 12), expected.0 % 12)));
        assert_eq!(ftl.allocate(PLANE, OpenBlockKind::Slc), Some(expected));
    }
    assert!(!ftl.blocks.has_slc_page(PLANE));
    assert_eq!((ftl.allocate(PLANE, OpenBlockKind::Slc), ftl.blocks.free_pages(PLANE)), (None, free));
}

#[test]
fn blocks_are_folded_by_valid_pages_and_ties_in_order_of_filling() {
    let mut ftl = drive(0.0);
    cache(&mut ftl, 0..12);
    (5..8).for_each(|lpn| assert!(ftl.deallocate(Lpn(lpn))));
    assert_eq!([fold(&mut ftl), fold(&mut ftl)], [Some(1), Some(4)]);
    let first = ftl.geometry.block_of(ftl.lookup(Lpn(0)).expect("the page was written"));
    assert!(!ftl.geometry.is_slc(first), "block 17 was filled before block 19");
    assert_eq!([fold(&mut ftl), fold(&mut ftl)], [Some(4), None]);
    assert_eq!((ftl.blocks.valid_pages_of_drive(), ftl.blocks.has_slc_page(PLANE)), (9, true));
}

#[test]
fn no_block_is_folded_up_to_the_fold_threshold() {
    let mut ftl = drive(0.7);
    cache(&mut ftl, 0..8);
    assert_eq!(fold(&mut ftl), None);
    cache(&mut ftl, 8..12);
    assert_eq!([fold(&mut ftl), fold(&mut ftl)], [Some(4), None]);
}

#[test]
fn a_fold_keeps_its_next_block_from_the_host() {
    let mut ftl = drive(0.0);
    cache(&mut ftl, 0..4);
    // Leaves two blocks free: the reserve, and one that the host could open.
    while ftl.blocks.accounts.plane(PLANE).free.len() > 2 {
        assert!(ftl.allocate(PLANE, OpenBlockKind::SHARED).is_some());
    }
    for _ in 0..11 {
        assert!(ftl.allocate(PLANE, OpenBlockKind::SHARED).is_some());
    }
    let block = only(ftl.begin_fold(PLANE).expect("a block is free for the fold"));
    assert_eq!(ftl.allocate(PLANE, OpenBlockKind::SHARED), None, "the fold reserves the block");
    for lpn in (0..4).map(Lpn) {
        let from = ftl.lookup(lpn).expect("the page was written");
        let to = ftl.allocate_move(PLANE, OpenBlockKind::Fold).expect("the fold has a free page");
        assert!(ftl.commit_move(lpn, from, to));
    }
    ftl.finish_erase(block);
    cache(&mut ftl, 0..4);
    // The first fold used 4 of 12 pages of its destination block. Two more folds of 4 pages fit, although no further block can be opened.
    assert_eq!(ftl.blocks.accounts.plane(PLANE).free.len(), 1);
    assert_eq!(fold(&mut ftl), Some(4));
    cache(&mut ftl, 0..4);
    assert_eq!(fold(&mut ftl), Some(4));
    cache(&mut ftl, 0..4);
    assert_eq!(fold(&mut ftl), None, "the pages have no destination");
}

#[test]
fn a_full_drive_never_runs_out_of_space_with_a_cache() {
    let mut ftl = drive(0.0);
    let mut random = crate::engine::random::SimRng::new(3);
    let idle = IdleDies::new(1);
    for number in 0..5_000 {
        let lpn = Lpn(random.below(96));
        if ftl.blocks.has_slc_page(PLANE) {
            cache(&mut ftl, lpn.0..lpn.0 + 1);
        } else {
            ftl.untimed().write_by(StreamId(0), lpn, &idle);
        }
        if number % 7 == 0 {
            fold(&mut ftl);
        }
    }
    ftl.audit().expect("the tables agree");
    let erases: u32 = (17..20).map(|block| ftl.blocks.erase_count(BlockId(block))).sum();
    assert!(erases > 500, "{erases} folds");
}

/// Creates a drive like that of `drive`, but with a dynamic cache of at most `blocks` blocks.
fn dynamic_drive(blocks: u32) -> Ftl {
    made(&dynamic_config(blocks))
}

fn dynamic_config(blocks: u32) -> Config {
    let mut config = config_of(0.0);
    config.slc.region = SlcRegion::Dynamic;
    config.slc.blocks_per_plane = blocks;
    config
}

#[test]
fn a_dynamic_slc_block_borrows_a_free_block_and_returns_it_erased() {
    let mut ftl = dynamic_drive(3);
    assert_eq!(
        (ftl.blocks.free_pages(PLANE), ftl.blocks.next_page_offset(PLANE, OpenBlockKind::Slc)),
        (20 * 12, Some((BlockId(20), 0)))
    );
    cache(&mut ftl, 0..5);
    assert_eq!(ftl.blocks.free_pages(PLANE), 18 * 12);
    assert_eq!(fold(&mut ftl), Some(4));
    // Of two lent blocks the fold returned one. It also opened another block and used 4 of its 12 pages.
    assert_eq!(ftl.blocks.free_pages(PLANE), 18 * 12 + 8);
    let erases: Vec<u32> =
        (0..20).map(|block| ftl.blocks.erase_count(BlockId(block))).filter(|&erases| erases > 0).collect();
    assert_eq!(erases, [1]);
}

#[test]
fn a_plane_lends_no_block_if_that_would_trigger_a_collection() {
    let mut ftl = dynamic_drive(20);
    // Of 20 blocks the plane keeps two for the GC threshold, one for folds and one in reserve. The 16 lent blocks have 4 SLC pages each.
    cache(&mut ftl, 0..16 * 4);
    assert!(!ftl.blocks.has_slc_page(PLANE) && !ftl.is_short(PLANE));
    assert_eq!(ftl.blocks.free_pages(PLANE), 4 * 12);
}

#[test]
fn a_full_drive_folds_lent_blocks_before_it_is_collected() {
    let mut config = dynamic_config(20);
    config.gc.background_threshold = 0.4;
    let mut ftl = made(&config);
    let mut random = crate::engine::random::SimRng::new(3);
    let (mut folds, mut cached) = (0, 0);
    for number in 0..5_000 {
        // At every hundredth write the die is idle, so that a background collection can run.
        while number % 100 == 0 && ftl.needs_background_collection(PLANE) {
            let Some(blocks) = ftl.begin_collection(PLANE) else { break };
            move_out(&mut ftl, only(blocks));
        }
        let lpn = Lpn(random.below(96));
        if ftl.blocks.has_slc_page(PLANE) {
            cache(&mut ftl, lpn.0..lpn.0 + 1);
            cached += 1;
            continue;
        }
        while let Some(blocks) = ftl.begin_fold_for_space(PLANE) {
            let block = only(blocks);
            move_out(&mut ftl, block);
            folds += 1;
        }
        ftl.untimed().write_by(StreamId(0), lpn, &IdleDies::new(1));
        ftl.audit().expect("the tables agree");
    }
    assert!(folds > 100 && cached > 500, "{folds} folds, {cached} writes to the cache");
}

#[test]
fn the_audit_detects_a_lent_block_in_use() {
    let mut ftl = dynamic_drive(3);
    cache(&mut ftl, 0..1);
    ftl.audit().expect("the tables agree");
    *ftl.blocks.accounts.table_mut().entry(BlockId(0)).state = BlockState::Free as u16;
    assert!(ftl.audit().is_err());
}

#[test]
fn the_audit_detects_an_slc_block_in_a_wrong_state() {
    let mut ftl = drive(0.0);
    cache(&mut ftl, 0..4);
    *ftl.blocks.accounts.table_mut().entry(BlockId(17)).state = BlockState::Full as u16;
    assert!(ftl.audit().is_err());
}
