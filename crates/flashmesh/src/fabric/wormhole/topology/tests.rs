use super::*;

/// Returns the topology of a grid with a terminal on every router, and a second one on each router of the first column.
fn topology(grid: Grid) -> Topology {
    let chips = (0..grid.rows * grid.columns).map(RouterId);
    let controllers = (0..grid.rows).map(|row| RouterId(row * grid.columns));
    Topology::new(grid, chips.chain(controllers).collect()).expect("the grid is small")
}

fn every_grid() -> impl Iterator<Item = Grid> {
    let wraps = [(false, false), (true, false), (false, true), (true, true)];
    (1..=9).flat_map(move |rows| {
        (1..=9).flat_map(move |columns| {
            wraps.map(|(wraps_rows, wraps_columns)| Grid { rows, columns, wraps_rows, wraps_columns })
        })
    })
}

fn pairs(topology: &Topology) -> impl Iterator<Item = (TerminalId, TerminalId)> {
    let count = topology.terminals();
    (0..count).flat_map(move |from| (0..count).map(move |to| (TerminalId(from), TerminalId(to))))
}

#[test]
fn no_topology_has_a_cycle_of_links_that_wait_for_each_other() {
    for grid in every_grid() {
        let topology = topology(grid);
        let mut waits_for = vec![std::collections::BTreeSet::new(); topology.links() as usize];
        for (from, to) in pairs(&topology) {
            let path: Vec<LinkId> = topology.path(from, to).collect();
            for pair in path.windows(2) {
                waits_for[pair[0].index()].insert(pair[1]);
            }
        }
        // Topological sort: remove each link that no remaining link waits for. Links on a cycle would remain, and `taken` would be too small.
        let mut waiting = vec![0; waits_for.len()];
        waits_for.iter().flatten().for_each(|link| waiting[link.index()] += 1);
        let mut free: Vec<usize> = (0..waiting.len()).filter(|&link| waiting[link] == 0).collect();
        let mut taken = 0;
        while let Some(link) = free.pop() {
            taken += 1;
            for next in &waits_for[link] {
                waiting[next.index()] -= 1;
                if waiting[next.index()] == 0 {
                    free.push(next.index());
                }
            }
        }
        assert_eq!(taken, waits_for.len(), "{grid:?}");
    }
}

#[test]
fn every_path_leads_to_its_terminal_by_the_shortest_way_the_rule_allows() {
    for grid in every_grid() {
        let topology = topology(grid);
        for (from, to) in pairs(&topology) {
            let path: Vec<LinkId> = topology.path(from, to).collect();
            assert_eq!(path.len() as u32, topology.hops(from, to) + 2, "{grid:?} from {from:?} to {to:?}");
            assert_eq!(path.last(), Some(&topology.ejection(to)));
            let mut visited = Vec::new();
            topology.for_each_link(from, to, |link| visited.push(link));
            assert_eq!(visited, path);
        }
    }
    let ring = topology(Grid::ring(8));
    let hops = |from, to| ring.hops(TerminalId(from), TerminalId(to));
    // The wraparound link, between routers 0 and 7, is used only by routes that start at one of them and are shorter over it. So 0 to 6 has 2 links
    // instead of 6, but 0 to 4 has 4 either way, and routes from 1 and 6 do not use the link.
    assert_eq!([hops(0, 6), hops(0, 4), hops(7, 1), hops(1, 7), hops(6, 0)], [2, 4, 2, 6, 6]);
    let torus = topology(Grid::torus(5, 5));
    assert_eq!(torus.hops(TerminalId(0), TerminalId(24)), 2);
}

#[test]
fn the_reverse_of_a_link_leads_back() {
    for grid in every_grid() {
        let topology = topology(grid);
        for (router, way) in (0..grid.rows * grid.columns).flat_map(|router| WAYS.map(|way| (router, way))) {
            let link = topology.outgoing[router as usize][way as usize];
            if link != NO_LINK {
                let back = topology.reverse(link).expect("every link between routers has one");
                assert_eq!(topology.router_at_end(back), RouterId(router), "{grid:?}");
                assert_eq!(topology.reverse(back), Some(link));
            }
        }
    }
}

#[test]
fn a_network_without_routers_or_with_a_lost_terminal_is_an_error() {
    let size = |routers, terminals| Err(TopologyError::Size { routers, terminals });
    assert_eq!(Topology::new(Grid::mesh(0, 4), vec![RouterId(0)]).map(|_| ()), size(0, 1));
    assert_eq!(Topology::new(Grid::mesh(2, 2), Vec::new()).map(|_| ()), size(4, 0));
    assert_eq!(
        Topology::new(Grid::mesh(u32::MAX, u32::MAX), vec![RouterId(0)]).map(|_| ()),
        size(u64::from(u32::MAX) * u64::from(u32::MAX), 1)
    );
    let lost = Topology::new(Grid::ring(4), vec![RouterId(3), RouterId(4)]);
    assert_eq!(lost.map(|_| ()), Err(TopologyError::NoRouter(TerminalId(1))));
}
