//! Exhaustive searches on small meshes: every set of reserved links, every controller and every target.
//!
//! The sets are complete for meshes of up to 12 links (all up to 3 x 3, 2 x 4 and 4 x 2); on 3 x 4, 4 x 3 and 4 x 4 they have up to 4 reserved
//! links. The ignored test is also complete for 3 x 4 and 4 x 3, and has up to 6 reserved links on 4 x 4.

use flashmesh::config::{Revisits, Routing, TieBreak};
use flashmesh::ids::{ChannelId, LinkId};

use super::grid::{Grid, SIGHTINGS_MAX, Watch, network};

/// Counts over all scout searches in a mesh; `sightings_most` is the most visits of a scout to one router.
#[derive(Debug, Default)]
struct Tally {
    searches: u64,
    found: u64,
    sightings_most: u32,
}

/// Searches from every controller for every target, with every set of at most `reserved_max` reserved links, and counts the results.
fn search_everywhere(
    (rows, columns): (u32, u32),
    reserved_max: usize,
    routing: Routing,
    (tie_break, revisits): (TieBreak, Revisits),
) -> Tally {
    let mut network = network(rows, columns, routing, tie_break, revisits);
    let mut grid = Grid::new(network.mesh());
    let mut watch = Watch::new(&grid, revisits);
    let mut tally = Tally::default();
    let links = grid.ends.len();
    assert!(network.mesh().mesh_links().eq((0..links).map(|position| grid.link(position))));
    for set in 0..1u32 << links {
        if set.count_ones() as usize > reserved_max {
            continue;
        }
        for position in 0..links {
            let out = set & 1 << position != 0;
            if grid.out[position] != out {
                network.set_out_of_service(grid.link(position), out);
                grid.out[position] = out;
            }
        }
        for controller in 0..rows {
            let reachable = grid.reachable(controller * columns);
            for target in 0..rows * columns {
                let found = watch.search(&mut network, controller, target);
                let case = || format!("{rows} x {columns}, {routing}, set {set:b}, {controller} to {target}");
                let expected = grid.has_path(routing, controller, target, &reachable);
                assert_eq!(found.is_some(), expected, "{}", case());
                if let Some(hops) = found {
                    grid.assert_is_circuit(&network, controller, target, hops);
                    network.release(ChannelId(controller));
                    tally.found += 1;
                }
                assert!(network.is_free(ChannelId(controller)), "{}", case());
                tally.searches += 1;
                tally.sightings_most = tally.sightings_most.max(watch.sightings_most());
            }
        }
        grid.assert_nothing_else_is_taken(&network);
    }
    tally
}

fn search_all_meshes(
    routing: Routing,
    (tie_break, revisits): (TieBreak, Revisits),
    reserved_max: impl Fn(usize) -> usize,
) -> Tally {
    let mut all = Tally::default();
    for rows in 1..=4 {
        for columns in 1..=4 {
            let links = (rows * (columns - 1) + (rows - 1) * columns) as usize;
            let tally = search_everywhere((rows, columns), reserved_max(links), routing, (tie_break, revisits));
            all.searches += tally.searches;
            all.found += tally.found;
            all.sightings_most = all.sightings_most.max(tally.sightings_most);
        }
    }
    println!("{routing}, {tie_break}, {revisits}: {all:?}");
    all
}

fn up_to_four_links_of_the_larger_meshes(links: usize) -> usize {
    if links <= 12 { links } else { 4 }
}

#[test]
fn venice_finds_a_path_whenever_one_exists_and_leaves_nothing_when_not() {
    let tally = search_all_meshes(
        Routing::Venice,
        (TieBreak::Lfsr, Revisits::UnusedPorts),
        up_to_four_links_of_the_larger_meshes,
    );
    // The limit is reached: a scout visits some router four times.
    assert_eq!(tally.sightings_most, SIGHTINGS_MAX);
    assert!(tally.found < tally.searches);
}

#[test]
fn venice_finds_a_path_whenever_one_exists_where_a_router_is_entered_by_a_port_and_left_by_it_later() {
    let limits = (TieBreak::Lfsr, Revisits::ThreeTimes);
    let tally = search_all_meshes(Routing::Venice, limits, up_to_four_links_of_the_larger_meshes);
    assert_eq!(tally.sightings_most, SIGHTINGS_MAX);
}

#[test]
fn venice_finds_a_path_whenever_one_exists_with_fair_routers_too() {
    search_all_meshes(
        Routing::Venice,
        (TieBreak::Uniform, Revisits::UnusedPorts),
        up_to_four_links_of_the_larger_meshes,
    );
}

#[test]
fn a_random_search_finds_a_path_whenever_one_exists() {
    for revisits in Revisits::ALL {
        search_all_meshes(Routing::RandomDfs, (TieBreak::Lfsr, *revisits), up_to_four_links_of_the_larger_meshes);
    }
}

#[test]
fn minimal_adaptive_finds_a_minimal_path_whenever_one_exists() {
    for revisits in Revisits::ALL {
        search_all_meshes(Routing::MinimalAdaptive, (TieBreak::Lfsr, *revisits), up_to_four_links_of_the_larger_meshes);
    }
}

#[test]
fn xy_succeeds_when_its_one_path_is_free() {
    for revisits in Revisits::ALL {
        search_all_meshes(Routing::Xy, (TieBreak::Lfsr, *revisits), up_to_four_links_of_the_larger_meshes);
    }
}

#[test]
#[ignore = "takes minutes: run it when the search changes"]
fn all_algorithms_around_larger_sets_of_reserved_links() {
    for routing in Routing::ALL {
        for tie_break in TieBreak::ALL {
            for revisits in Revisits::ALL {
                search_all_meshes(*routing, (*tie_break, *revisits), |links| if links <= 17 { links } else { 6 });
            }
        }
    }
}

#[test]
fn a_scout_for_a_chip_whose_link_is_taken_looks_at_every_way_there_and_fails() {
    let meshes = [(1, 1), (2, 3), (4, 4)];
    for ((rows, columns), revisits) in
        meshes.into_iter().flat_map(|mesh| Revisits::ALL.iter().map(move |it| (mesh, *it)))
    {
        let mut network = network(rows, columns, Routing::Venice, TieBreak::Lfsr, revisits);
        let grid = Grid::new(network.mesh());
        let mut watch = Watch::new(&grid, revisits);
        for target in 0..rows * columns {
            let link = LinkId(network.mesh().links() - network.mesh().routers() + target);
            network.set_out_of_service(link, true);
            for controller in 0..rows {
                assert_eq!(watch.search(&mut network, controller, target), None);
            }
            network.set_out_of_service(link, false);
            grid.assert_nothing_else_is_taken(&network);
        }
    }
}
