//! Large meshes with links out of service, and several scouts at the same time.

use flashmesh::config::{Revisits, Routing, TieBreak};
use flashmesh::engine::random::SimRng;
use flashmesh::fabric::venice::{CircuitNetwork, ScoutAction};
use flashmesh::ids::{ChannelId, ChipId, LinkId};
use proptest::prelude::*;
use proptest::sample::select;

use super::grid::{Grid, Watch, network};

/// Returns a mesh in which each link is out of service with probability `out_of_16` / 16.
fn damaged(
    rows: u32,
    columns: u32,
    routing: Routing,
    (tie_break, revisits): (TieBreak, Revisits),
    out_of_16: u32,
    random: &mut SimRng,
) -> (CircuitNetwork, Grid) {
    let mut network = network(rows, columns, routing, tie_break, revisits);
    let mut grid = Grid::new(network.mesh());
    for position in 0..grid.ends.len() {
        if random.below(16) < out_of_16 {
            network.set_out_of_service(grid.link(position), true);
            grid.out[position] = true;
        }
    }
    (network, grid)
}

/// Asserts that every reserved link is either held by exactly one controller or out of service.
fn assert_owners(network: &CircuitNetwork, grid: &Grid) {
    let mut owners = vec![0; network.mesh().links() as usize];
    for controller in 0..grid.rows {
        network.held_links(ChannelId(controller)).for_each(|link| owners[link.index()] += 1);
    }
    for (position, out) in grid.out.iter().enumerate() {
        owners[grid.link(position).index()] += u32::from(*out);
    }
    for (number, owners) in (0..).zip(owners).skip(grid.rows as usize) {
        assert_eq!(owners, u32::from(network.is_reserved(LinkId(number))), "link {number}");
    }
}

proptest! {
    #[test]
    fn a_lone_scout_finds_what_its_algorithm_can_find(
        (rows, columns) in (1..=16u32, 1..=16u32),
        routing in select(Routing::ALL),
        tie_break in select(TieBreak::ALL),
        revisits in select(Revisits::ALL),
        out_of_16 in 0..=12u32,
        seed in any::<u64>(),
    ) {
        let mut random = SimRng::new(seed);
        let (mut network, grid) = damaged(rows, columns, routing, (tie_break, revisits), out_of_16, &mut random);
        let mut watch = Watch::new(&grid, revisits);
        for _ in 0..16 {
            let (controller, target) = (random.below(rows), random.below(rows * columns));
            let found = watch.search(&mut network, controller, target);
            let reachable = grid.reachable(controller * columns);
            prop_assert_eq!(found.is_some(), grid.has_path(routing, controller, target, &reachable));
            if let Some(hops) = found {
                grid.assert_is_circuit(&network, controller, target, hops);
                network.release(ChannelId(controller));
            }
            grid.assert_nothing_else_is_taken(&network);
        }
    }

    #[test]
    fn racing_scouts_share_no_link_and_all_end(
        (rows, columns) in (1..=16u32, 1..=16u32),
        routing in select(Routing::ALL),
        tie_break in select(TieBreak::ALL),
        revisits in select(Revisits::ALL),
        out_of_16 in 0..=6u32,
        seed in any::<u64>(),
    ) {
        let mut random = SimRng::new(seed);
        let (mut network, grid) = damaged(rows, columns, routing, (tie_break, revisits), out_of_16, &mut random);
        let mut watches = vec![Watch::new(&grid, revisits); rows as usize];
        // By controller: the target of its scout in flight, and the target of its circuit; `None` without a scout or a circuit.
        let (mut scouts, mut circuits) = (vec![None; rows as usize], vec![None; rows as usize]);
        let operations = 400;
        for operation in 0.. {
            // After `operations` steps no new scout starts. The loop ends when every scout has finished and every circuit is torn down.
            let ending = operation > operations;
            if ending && scouts.iter().chain(&circuits).all(Option::is_none) {
                break;
            }
            let controller = random.below(rows);
            let (scout, circuit) = (&mut scouts[controller as usize], &mut circuits[controller as usize]);
            match (*scout, *circuit) {
                (None, None) if ending => {}
                (None, None) => {
                    let target = random.below(rows * columns);
                    watches[controller as usize].restart();
                    network.launch(ChannelId(controller), ChipId(target));
                    *scout = Some(target);
                }
                (None, Some(_)) => {
                    if ending || random.below(8) == 0 {
                        network.release(ChannelId(controller));
                        *circuit = None;
                    }
                }
                (Some(target), _) => match watches[controller as usize].step(&mut network, controller) {
                    ScoutAction::Forward | ScoutAction::Back => {}
                    ScoutAction::Failed => *scout = None,
                    ScoutAction::Reached { hops } => {
                        grid.assert_is_circuit(&network, controller, target, hops);
                        *circuit = scout.take();
                    }
                },
            }
            if operation % 8 == 0 {
                assert_owners(&network, &grid);
            }
        }
        grid.assert_nothing_else_is_taken(&network);
    }
}
