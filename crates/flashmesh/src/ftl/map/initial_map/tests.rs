//! Comparison of the computed map of a preconditioned drive with a map stored in tables.

use std::sync::Arc;

use super::*;
use crate::config::{MovedPages, Precondition, PreconditionKind};
use crate::engine::random::SimRng;
use crate::ftl::precondition::{self, InitialConditions};
use crate::ftl::testing::{DRIVE, config_of};
use crate::ftl::{Ftl, FtlRules, IdleDies};
use crate::ids::BlockId;

/// Preconditions two drives: one stores its map in tables, the other computes it.
fn preconditioned(text: &str, superblock_dies: Option<u32>, kind: Precondition) -> [Ftl; 2] {
    let config = config_of(text, &["workload.read-share=50%"]);
    let geometry = Geometry::from_config(&config).expect("the geometry is valid");
    let writes = &config.expected_writes();
    let moves_share_write_block = superblock_dies.is_some() && config.gc.moved_pages != Some(MovedPages::OwnBlock);
    let rules = FtlRules { superblock_dies, moves_share_write_block, ..FtlRules::new(&config) };
    [false, true].map(|is_computed| {
        let mut ftl = Ftl::new(&geometry, &config, rules);
        precondition::apply(&mut ftl, &kind, 42, InitialConditions { is_computed, writes }, None, &|_| {});
        assert_eq!(ftl.mapping.is_computed(), is_computed);
        ftl
    })
}

/// Returns the location of each logical page (`None` if unmapped), and the logical page of each valid physical page.
fn map_of(ftl: &Ftl) -> (Vec<Option<Ppn>>, Vec<(Ppn, Lpn)>) {
    ftl.audit().expect("the tables agree");
    let places: Vec<Option<Ppn>> = (0..ftl.mapping.logical_pages()).map(|lpn| ftl.lookup(Lpn(lpn))).collect();
    for (lpn, place) in (0..).map(Lpn).zip(&places) {
        assert_eq!(ftl.mapping.is_mapped(lpn), place.is_some(), "{lpn:?}");
    }
    let table = ftl.blocks.accounts.table();
    let blocks = (0..ftl.geometry.blocks()).map(BlockId);
    let valid =
        blocks.flat_map(|block| table.valid_offsets(block).into_iter().map(move |page| ftl.geometry.ppn(block, page)));
    (places, valid.map(|ppn| (ppn, ftl.mapping.lpn_at(ppn))).collect())
}

const UNITS: &str = "[ftl]\nmapping-unit = '4KiB'\n";

const DYNAMIC: &str = "allocation = 'dynamic'\n";

const OWN_BLOCKS: &str = "[gc]\nmoved-pages = 'own-block'\n";

const LONG_WRITES: &str = "[workload]\nrequest-size = '16KiB'\n";

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
fn the_computed_map_equals_the_map_in_tables() {
    let map = "[mapping]\ncache-capacity = '1KiB'\n";
    let drives = [
        (String::from(DRIVE), None),
        (format!("{DRIVE}{UNITS}"), None),
        (format!("{DRIVE}{UNITS}"), Some(1)),
        (format!("{DRIVE}{UNITS}"), Some(4)),
        (format!("{DRIVE}{UNITS}{OWN_BLOCKS}"), Some(1)),
        (format!("{DRIVE}{UNITS}{OWN_BLOCKS}"), Some(4)),
        (format!("{DRIVE}{UNITS}{LONG_WRITES}"), None),
        (format!("{DRIVE}{UNITS}{DYNAMIC}"), None),
        (format!("{DRIVE}{UNITS}{DYNAMIC}{LONG_WRITES}"), Some(1)),
        (format!("{DRIVE}{UNITS}{DYNAMIC}{NAMESPACES}"), Some(2)),
        (format!("{DRIVE}{UNITS}{LONG_WRITES}"), Some(1)),
        (format!("{DRIVE}{NAMESPACES}"), None),
        (format!("{DRIVE}{UNITS}{NAMESPACES}"), Some(2)),
        (format!("{DRIVE}{map}"), None),
    ];
    for (text, superblock_dies) in drives {
        for kind in [PreconditionKind::Sequential, PreconditionKind::Random] {
            for fill in [0.3, 0.77, 1.0] {
                let [stored, mut computed] =
                    preconditioned(&text, superblock_dies, Precondition { kind, fill, ..Precondition::default() });
                let said = format!("{superblock_dies:?} {kind:?} {fill} {text}");
                let expected = map_of(&stored);
                assert_eq!(map_of(&computed), expected, "{said}");
                computed.mapping.materialize_all();
                assert!(!computed.mapping.is_computed());
                assert_eq!(map_of(&computed), expected, "{said}");
            }
        }
    }
}

#[test]
fn writes_and_deallocations_change_computed_and_stored_maps_alike() {
    let drives = [("", None), ("", Some(1)), ("", Some(4)), (OWN_BLOCKS, Some(4)), (DYNAMIC, None), (DYNAMIC, Some(4))];
    for (settings, superblock_dies) in drives {
        for kind in [PreconditionKind::Sequential, PreconditionKind::Random] {
            let text = format!("{DRIVE}{UNITS}{settings}");
            let mut drives = preconditioned(&text, superblock_dies, Precondition { kind, ..Precondition::default() });
            drives.iter_mut().for_each(Ftl::end_initial_collections);
            for step in 0..20 {
                for ftl in &mut drives {
                    let (idle, mut random) = (IdleDies::new(ftl.geometry.dies()), SimRng::new(step));
                    for _ in 0..200 {
                        let lpn = Lpn(random.below(ftl.geometry.logical_pages));
                        if random.below(4) == 0 {
                            ftl.deallocate(lpn);
                        } else {
                            ftl.untimed().write(lpn, &idle);
                        }
                    }
                }
                let [stored, computed] = &drives;
                assert_eq!(map_of(stored), map_of(computed), "{superblock_dies:?} {kind:?}");
            }
            // Storing the computed entries in tables must not change entries written since the preconditioning.
            let [stored, computed] = &mut drives;
            computed.mapping.materialize_all();
            assert_eq!(map_of(stored), map_of(computed), "{superblock_dies:?} {kind:?}");
        }
    }
}

/// A sample with blocks of 128 pages is copied three times into blocks of 384 pages. The computed map must equal locations computed here.
#[test]
fn copies_of_a_sample_are_interleaved_in_blocks_by_groups_of_pages() {
    const COPIES: u32 = 3;
    const GROUP: u32 = 16;
    const PAGES: u32 = 200;
    let config = config_of(DRIVE, &["geometry.pages-per-block=384"]);
    let geometry = Geometry::from_config(&config).expect("the geometry is valid");
    let ftl = Ftl::new(&geometry, &config, FtlRules::new(&config));
    let order = ftl.allocation.static_order();
    let range = 0..geometry.planes() * (COPIES * PAGES - 50);
    let mut random = SimRng::new(8);
    let mut map = InitialMap::empty(&geometry, order, std::slice::from_ref(&range));
    let mut expected = Vec::new();
    for share in order.shares(&range) {
        // Put the logical pages of the sample at random physical pages of its four blocks.
        let mut physical: Vec<u32> = (0..4 * 128).collect();
        for at in (1..physical.len()).rev() {
            physical.swap(at, random.below(at as u32 + 1) as usize);
        }
        let offset = |ppn: &u32| ppn / 128 * 384 + ppn % 128 / GROUP * GROUP * COPIES + ppn % GROUP;
        let offsets: Vec<u32> = physical[..PAGES as usize].iter().map(offset).collect();
        let permutations: Vec<Permutation> = (0..COPIES).map(|_| Permutation::new(PAGES, 1, &mut random)).collect();
        let first_page = geometry.ppn(geometry.first_block(share.plane), 0);
        let images = (0..)
            .zip(&permutations)
            .flat_map(|(copy, permutation)| (0..PAGES).map(move |i| (copy, permutation.image(i))));
        let copied: Vec<Ppn> =
            images.map(|(copy, page)| Ppn(first_page.0 + copy * GROUP + offsets[page as usize])).collect();
        let used = share.count as usize;
        expected.extend(share.pages().zip(copied.iter().copied()));
        let state = Arc::new(PlaneImage::new(offsets, 4 * 128, Interleaving::new(COPIES, GROUP), 128));
        let group = PlaneGroup::copies(state, first_page, [share], permutations);
        assert!(group.unused().eq(copied[used..].iter().copied()) && copied.len() - used == 50);
        map.add(group);
    }
    let mut pages = Vec::new();
    map.in_batches(|batch| pages.append(batch));
    assert_eq!(pages, expected);
    assert_eq!(expected.len(), range.len());
    for (lpn, ppn) in expected {
        assert_eq!((map.get(lpn), map.lpn_at(ppn)), (Some(ppn), Some(lpn)));
    }
    assert_eq!(map.get(Lpn(range.end)), None);
}
