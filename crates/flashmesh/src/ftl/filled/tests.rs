//! What is computed is what the tables of the map would say.

use std::ops::Range;
use std::sync::Arc;

use super::*;
use crate::config::{Config, Precondition, PreconditionKind};
use crate::engine::random::SimRng;
use crate::ftl::{Ftl, FtlRules, IdleDies};
use crate::ids::BlockId;

fn config_of(text: &str) -> Config {
    Config::from_str(text, "drive.toml", &[]).unwrap_or_else(|error| panic!("{error}"))
}

/// The drive of `text`, filled, with its map in tables and computed.
fn filled(text: &str, superblock_dies: Option<u32>, precondition: Precondition) -> [Ftl; 2] {
    let config = config_of(text);
    let geometry = Geometry::of(&config).expect("the geometry is possible");
    let rules =
        FtlRules { superblock_dies, moves_share_write_block: superblock_dies.is_some(), ..FtlRules::new(&config) };
    [false, true].map(|is_computed| {
        let mut ftl = Ftl::new(&geometry, &config, rules);
        ftl.precondition_watched(&precondition, 42, is_computed, None, &|_| {});
        assert_eq!(ftl.mapping.is_computed(), is_computed);
        ftl
    })
}

/// Where each logical page is, and what each valid page holds.
fn map_of(ftl: &Ftl) -> (Vec<Option<Ppn>>, Vec<(Ppn, Lpn)>) {
    ftl.audit().expect("the tables agree");
    let places: Vec<Option<Ppn>> = (0..ftl.mapping.logical_pages()).map(|lpn| ftl.lookup(Lpn(lpn))).collect();
    for (lpn, place) in (0..).map(Lpn).zip(&places) {
        assert_eq!(ftl.is_mapped(lpn), place.is_some(), "{lpn:?}");
    }
    let table = ftl.blocks.table();
    let blocks = (0..ftl.geometry.blocks()).map(BlockId);
    let valid = blocks.flat_map(|block| table.valid_offsets(block).map(move |page| ftl.geometry.ppn(block, page)));
    (places, valid.map(|ppn| (ppn, ftl.mapping.lpn_at(ppn))).collect())
}

const DRIVE: &str = "
[geometry]
channels = 2
chips-per-channel = 2
planes-per-die = 2
blocks-per-plane = 24
pages-per-block = 16
page-size = '16KiB'
over-provisioning = 0.45
";

const UNITS: &str = "[ftl]\nmapping-unit = '4KiB'\n";

const NAMESPACES: &str = "
[stream.a.queue]
namespace = 'x'
[stream.b.queue]
namespace = 'y'
[namespace.x]
capacity = '3MiB'
[namespace.y]
capacity = '7MiB'
";

#[test]
fn pages_are_where_the_tables_of_the_map_would_say_they_are() {
    let map = "[mapping]\ncache-capacity = '1KiB'\n";
    let drives = [
        (String::from(DRIVE), None),
        (format!("{DRIVE}{UNITS}"), None),
        (format!("{DRIVE}{UNITS}"), Some(1)),
        (format!("{DRIVE}{UNITS}"), Some(4)),
        (format!("{DRIVE}{NAMESPACES}"), None),
        (format!("{DRIVE}{UNITS}{NAMESPACES}"), Some(2)),
        (format!("{DRIVE}{map}"), None),
    ];
    for (text, superblock_dies) in drives {
        for kind in [PreconditionKind::Sequential, PreconditionKind::Random] {
            for fill in [0.3, 0.77, 1.0] {
                let [stored, mut computed] = filled(&text, superblock_dies, Precondition { kind, fill });
                let said = format!("{superblock_dies:?} {kind:?} {fill} {text}");
                let expected = map_of(&stored);
                assert_eq!(map_of(&computed), expected, "{said}");
                computed.mapping.store_all();
                assert!(!computed.mapping.is_computed());
                assert_eq!(map_of(&computed), expected, "{said}");
            }
        }
    }
}

#[test]
fn a_filled_drive_goes_on_as_with_its_map_in_tables() {
    for superblock_dies in [None, Some(1), Some(4)] {
        for kind in [PreconditionKind::Sequential, PreconditionKind::Random] {
            let text = format!("{DRIVE}{UNITS}");
            let mut drives = filled(&text, superblock_dies, Precondition { kind, fill: 1.0 });
            for step in 0..20 {
                for ftl in &mut drives {
                    let (idle, mut random) = (IdleDies::new(ftl.geometry.dies()), SimRng::new(step));
                    for _ in 0..200 {
                        let lpn = Lpn(random.below(ftl.geometry.logical_pages));
                        if random.below(4) == 0 {
                            ftl.deallocate(lpn);
                        } else {
                            ftl.write_untimed(lpn, &idle);
                        }
                    }
                }
                let [stored, computed] = &drives;
                assert_eq!(map_of(stored), map_of(computed), "{superblock_dies:?} {kind:?}");
            }
            // What was written meanwhile stays as it is.
            let [stored, computed] = &mut drives;
            computed.mapping.store_all();
            assert_eq!(map_of(stored), map_of(computed), "{superblock_dies:?} {kind:?}");
        }
    }
}

/// Blocks of 384 pages on two planes, copied three times each from a sample with blocks of 128.
#[test]
fn several_copies_of_a_sample_follow_each_other_by_words_of_64_pages() {
    const TIMES: u32 = 3;
    let text = "
[geometry]
channels = 1
chips-per-channel = 1
planes-per-die = 2
blocks-per-plane = 8
pages-per-block = 384
over-provisioning = 0.5
";
    let geometry = Geometry::of(&config_of(text)).expect("it is possible");
    let config = config_of(text);
    let ftl = Ftl::new(&geometry, &config, FtlRules::new(&config));
    let order = ftl.allocation.static_order();
    let range: Range<u32> = 0..1_100;
    let mut random = SimRng::new(8);
    // The sample: 200 pages, at random places of the blocks of a plane.
    let shape = SampleShape { pages: 200, times: TIMES, pages_per_block: 128 };
    let mut filled = Filled::none(&geometry, order, std::slice::from_ref(&range));
    let mut expected = vec![None; range.len()];
    let mut left_expected = Vec::new();
    let mut left = Vec::new();
    for share in order.shares(&range) {
        let plane = share.plane;
        let mut physical: Vec<u32> = (0..4 * 128).collect();
        for at in (1..physical.len()).rev() {
            physical.swap(at, random.below(at as u32 + 1) as usize);
        }
        let mut pages = vec![0; physical.len()];
        let place = |ppn: u32| ppn / 128 * 384 + ppn % 128 / 64 * 64 * TIMES + ppn % 64;
        let places: Vec<u32> = physical[..200].iter().map(|&ppn| place(ppn)).collect();
        (0..200).for_each(|lpn| pages[physical[lpn as usize] as usize] = lpn);
        let state = Arc::new(SampleState { places: places.clone(), pages });
        let names: Vec<Renaming> = (0..TIMES).map(|_| Renaming::new(200, &mut random)).collect();
        let first_page = geometry.ppn(geometry.first_block(plane), 0);
        let mut own = share.pages();
        for (copy, names) in (0..).zip(&names) {
            for simulated in names.images() {
                let ppn = Ppn(first_page.0 + copy * 64 + places[simulated as usize]);
                match own.next() {
                    Some(lpn) => expected[lpn.index()] = Some(ppn),
                    None => left_expected.push(ppn),
                }
            }
        }
        left.extend(filled.add_copies((shape, state), first_page, vec![share], names));
    }
    assert_eq!(left, left_expected);
    assert_eq!(left.len(), 2 * 600 - range.len());
    for (lpn, place) in range.map(Lpn).zip(expected) {
        assert_eq!(filled.place_of(lpn), place);
        assert_eq!(filled.page_at(place.expect("all pages have a place")), Some(lpn));
    }
    assert_eq!(filled.place_of(Lpn(1_100)), None);
}
