//! Faults injected into the tables, each of which the audit must report.

use super::*;
use crate::config::{self, Allocation, Config, Indices, Namespace};
use crate::flash::geometry::Geometry;
use crate::ftl::blocks::{BlockEntry, BlockState};
use crate::ftl::map::mapping::Mapping;
use crate::ftl::{FtlRules, IdleDies, OpenBlockKind};
use crate::ids::Lpn;
use crate::units::Bytes;

/// Creates a drive that was never written.
fn fresh() -> (Ftl, Geometry) {
    let mut config = Config::default();
    config.geometry = config::Geometry {
        channels: 1,
        chips_per_channel: 1,
        blocks_per_plane: 12,
        pages_per_block: 70,
        over_provisioning: 0.5,
        ..config::Geometry::default()
    };
    let geometry = Geometry::new(&config.geometry).unwrap();
    (Ftl::new(&geometry, &config, FtlRules::new(&config)), geometry)
}

fn drive() -> Ftl {
    let (mut ftl, geometry) = fresh();
    let idle = IdleDies::new(1);
    for i in 0..3 * geometry.logical_pages {
        ftl.untimed().write(Lpn(i * 7 % (geometry.logical_pages - 1)), &idle);
    }
    ftl.audit().unwrap();
    ftl
}

/// Injects a fault into a consistent drive and asserts that the audit reports a text that contains `expected`.
fn finds(expected: &str, inject: impl FnOnce(&mut Ftl)) {
    let mut ftl = drive();
    inject(&mut ftl);
    let found = ftl.audit().expect_err("the fault was not found");
    assert!(found.contains(expected), "{found}");
}

#[test]
fn two_logical_pages_at_one_location_are_found() {
    finds("which holds Lpn(4)", |ftl| {
        let ppn = ftl.lookup(Lpn(4)).unwrap();
        ftl.mapping.set(Lpn(2), ppn);
        ftl.mapping.set(Lpn(4), ppn);
    });
}

#[test]
fn a_mapped_page_that_is_not_valid_is_found() {
    finds("which is not valid", |ftl| {
        let ppn = ftl.lookup(Lpn(4)).unwrap();
        ftl.invalidate(ppn);
    });
}

#[test]
fn a_valid_page_that_is_mapped_elsewhere_is_found() {
    finds("which is elsewhere", |ftl| {
        ftl.mapping.clear(Lpn(4));
    });
}

#[test]
fn wrong_counts_are_found() {
    finds("free pages", |ftl| ftl.blocks.accounts.plane_mut(PlaneId(0)).free_pages += 1);
    finds("valid pages", |ftl| ftl.blocks.accounts.plane_mut(PlaneId(0)).valid_pages += 1);
    finds("invalid pages in full blocks", |ftl| ftl.blocks.accounts.plane_mut(PlaneId(0)).invalid_pages += 1);
    finds("being collected", |ftl| ftl.blocks.accounts.plane_mut(PlaneId(1)).collecting += 1);
    finds("erase count", |ftl| {
        let wear = &mut ftl.blocks.accounts.plane_mut(PlaneId(1)).wear;
        wear.set(wear.max_erases() + 1, wear.min_erases());
    });
}

#[test]
fn a_block_in_two_states_is_found() {
    finds("free list", |ftl| {
        let block = ftl.blocks.accounts.plane_mut(PlaneId(0)).open.get(OpenBlockKind::SHARED).block;
        ftl.blocks.accounts.plane_mut(PlaneId(0)).free.push(block, 0);
    });
    finds("free list", |ftl| {
        let block = ftl.blocks.accounts.plane_mut(PlaneId(0)).free.pop().unwrap();
        ftl.blocks.accounts.table_mut().open(block, false);
        ftl.blocks.accounts.plane_mut(PlaneId(0)).free.push(block, 0);
    });
}

#[test]
fn a_free_block_of_another_plane_is_found() {
    finds("of another plane", |ftl| {
        let block = ftl.blocks.accounts.plane_mut(PlaneId(1)).free.pop().expect("the plane has a free block");
        ftl.blocks.accounts.plane_mut(PlaneId(0)).free.push(block, 0);
    });
}

#[test]
fn a_valid_page_of_a_block_that_was_never_opened_is_found() {
    let (mut ftl, geometry) = fresh();
    ftl.audit().expect("the drive is fresh");
    let last = BlockId(geometry.blocks() - 1);
    ftl.blocks.accounts.table_mut().set_valid(last, geometry.ppn(last, 3));
    let found = ftl.audit().expect_err("the fault was not found");
    assert!(found.contains("1 valid pages, 0 programmed"), "{found}");
}

#[test]
fn a_bit_that_is_set_for_a_block_that_was_never_opened_is_found() {
    let (mut ftl, geometry) = fresh();
    ftl.untimed().write(Lpn(3), &IdleDies::new(geometry.dies()));
    ftl.audit().expect("the drive is sound");
    ftl.blocks.accounts.table_mut().entry(BlockId(geometry.blocks() - 1)).valid[0] |= 1;
    let found = ftl.audit().expect_err("the fault was not found");
    assert!(found.contains("0 valid pages, 1 in the bitmap"), "{found}");
}

#[test]
fn a_page_beyond_the_drive_is_found() {
    finds("beyond the drive", |ftl| {
        let pages = ftl.geometry.pages();
        let mut mapping = Mapping::new(ftl.geometry.logical_pages, pages + 1);
        mapping.set(Lpn(3), Ppn(pages));
        ftl.mapping = mapping;
    });
}

/// Returns the first block of plane 0 in `state`.
fn block_in(ftl: &Ftl, state: BlockState) -> BlockId {
    let mut blocks = ftl.blocks.accounts.table().blocks_of_plane(PlaneId(0));
    blocks.find(|&block| ftl.blocks.state(block) == state).expect("a block is in this state")
}

/// Injects a fault into the table entries of the first block of plane 0 in `state`, and asserts that the audit reports a text that contains
/// `expected`.
fn finds_in_a_block(expected: &str, state: BlockState, inject: impl FnOnce(&mut BlockEntry<'_>)) {
    finds(expected, |ftl| {
        let block = block_in(ftl, state);
        inject(&mut ftl.blocks.accounts.table_mut().entry(block));
    });
}

#[test]
fn tables_of_a_block_that_contradict_each_other_are_found() {
    finds_in_a_block("pages, 70 in the bitmap", BlockState::Full, |tables| {
        tables.valid.copy_from_slice(&[u64::MAX, 0b11_1111]);
        *tables.valid_pages = 69;
    });
    finds("bits are set beyond the last page", |ftl| {
        let mut blocks = ftl.blocks.accounts.table().blocks_of_plane(PlaneId(0));
        let block =
            blocks.find(|&block| ftl.blocks.accounts.table().invalid_pages(block) > 0).expect("pages were overwritten");
        let tables = ftl.blocks.accounts.table_mut().entry(block);
        tables.valid[1] |= 1 << 63;
        *tables.valid_pages += 1;
    });
    finds_in_a_block("data lies among translation pages", BlockState::Full, |tables| *tables.translation = 1);
    finds_in_a_block("only a full block is a candidate", BlockState::Full, |tables| *tables.filled = 0);
    finds_in_a_block("only a candidate counts invalid pages", BlockState::Open, |tables| *tables.invalid_pages = 1);
    finds_in_a_block("its invalid pages are not those that it counts", BlockState::Full, |tables| {
        *tables.invalid_pages += 1;
    });
    finds_in_a_block("allocated pages programmed", BlockState::Open, |tables| *tables.programmed_pages += 1);
    finds_in_a_block("it is not full", BlockState::Full, |tables| *tables.programmed_pages -= 1);
    finds_in_a_block("it holds programmed pages", BlockState::Free, |tables| *tables.programmed_pages = 1);
}

#[test]
fn an_open_block_with_every_page_programmed_and_an_opened_one_that_is_not_open_are_found() {
    finds("every page is programmed", |ftl| {
        let block = block_in(ftl, BlockState::Full);
        let tables = ftl.blocks.accounts.table_mut().entry(block);
        (*tables.state, *tables.filled, *tables.invalid_pages) = (BlockState::Open as u16, 0, 0);
    });
    finds("only an open block has pages left to allocate", |ftl| {
        let block = ftl.blocks.accounts.plane_mut(PlaneId(0)).open.get(OpenBlockKind::SHARED).block;
        *ftl.blocks.accounts.table_mut().entry(block).state = BlockState::Collecting as u16;
    });
}

#[test]
fn a_full_block_less_erased_than_the_least_of_its_plane_is_found() {
    finds("is less erased than the least erased full block of its plane", |ftl| {
        let wear = &mut ftl.blocks.accounts.plane_mut(PlaneId(0)).wear;
        wear.set(wear.max_erases(), u32::MAX);
    });
}

/// Creates a drive of two channels, each bound to a namespace of its own. Page 3, of the first namespace, is written.
fn divided() -> Ftl {
    let mut config = Config::default();
    config.geometry = config::Geometry {
        channels: 2,
        chips_per_channel: 1,
        planes_per_die: 1,
        blocks_per_plane: 16,
        pages_per_block: 8,
        capacity: Some(Bytes::from_kib(4 * 64)),
        ..config::Geometry::default()
    };
    config.ftl.allocation = Allocation::Dynamic;
    let space = |channel: u32| Namespace {
        capacity: Some(Bytes::from_kib(4 * 32)),
        channels: Some(Indices::new([channel])),
        ..Namespace::default()
    };
    config.namespace = vec![("a".to_owned(), space(0)), ("b".to_owned(), space(1))];
    let geometry = Geometry::new(&config.geometry).expect("the geometry is valid");
    let mut ftl = Ftl::new(&geometry, &config, FtlRules::new(&config));
    let ppn = ftl.allocate(PlaneId(0), OpenBlockKind::SHARED).expect("the plane has space");
    ftl.allocation.on_placed(Lpn(3), PlaneId(0));
    ftl.commit_write(Lpn(3), ppn);
    ftl.audit().expect("the tables agree");
    ftl
}

#[test]
fn a_page_on_a_plane_of_another_namespace_is_found() {
    let mut ftl = divided();
    let ppn = ftl.allocate(PlaneId(1), OpenBlockKind::SHARED).expect("the plane has space");
    ftl.allocation.on_placed(Lpn(5), PlaneId(1));
    ftl.commit_write(Lpn(5), ppn);
    let found = ftl.audit().expect_err("the fault is found");
    assert!(found.contains("Lpn(5) is mapped to PlaneId(1), which is not a plane of its namespace"), "{found}");
}

#[test]
fn a_plane_whose_pages_of_a_part_are_miscounted_is_found() {
    let mut ftl = divided();
    ftl.allocation.on_moved(Lpn(3), None, Some(PlaneId(0)));
    let found = ftl.audit().expect_err("the fault is found");
    assert!(found.contains("on PlaneId(0): told Some(2), counted 1"), "{found}");
}
