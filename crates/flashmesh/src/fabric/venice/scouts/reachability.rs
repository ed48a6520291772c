//! Prediction, by a flood fill over the free links, of the outcome of a search that meets no other scout.

use crate::fabric::venice::mesh::MeshCoord;
use crate::fabric::venice::mesh::ports::{Port, PortSet};
use crate::fabric::venice::routing::RoutingAlgorithm;
use crate::fabric::{ScoutSearch, SearchPrediction};
use crate::ids::{ChannelId, ChipId, DieId};

use super::network::CircuitNetwork;

/// Returns the `free` ports that a scout for `target` tries at router `here` before it backtracks, if none leads to a path.
fn tried_ports(network: &CircuitNetwork, here: MeshCoord, target: MeshCoord, free: PortSet) -> PortSet {
    let mut left = free;
    loop {
        let candidates = network.routing().candidates(here.productive_ports(target), left);
        if candidates.is_empty() {
            return free.difference(left);
        }
        left = left.difference(candidates);
    }
}

/// Predicts the search of a scout that `controller` sends to chip `target` now: whether it finds a path, otherwise the number of steps to its
/// failure. Assumes that no other scout or teardown changes the links during the search.
///
/// A failing scout crosses its controller link, and every link that its algorithm tries at any reachable router, exactly once forward and once back.
/// If routers count visits, a scout may also cross a link from both ends. Then there are only bounds: it visits each reachable router, and crosses
/// each link at most once forward and once back from either end.
pub(super) fn predict_search(network: &CircuitNetwork, controller: ChannelId, target: ChipId) -> SearchPrediction {
    let mesh = *network.mesh();
    let goal = mesh.coord_of(target);
    let mut tried_at = vec![PortSet::NONE; mesh.routers() as usize];
    let mut is_reached = vec![false; mesh.routers() as usize];
    let (mut links, mut ports_tried, mut found) = (0, 0, false);
    let mut wave = vec![mesh.entry_coord(controller)];
    is_reached[mesh.chip(wave[0]).index()] = true;
    while let Some(here) = wave.pop() {
        let free = network.free_ports(here);
        if here == goal {
            found |= free.contains(Port::Chip);
            continue;
        }
        let ports = tried_ports(network, here, goal, free.intersection(PortSet::MESH));
        tried_at[mesh.chip(here).index()] = ports;
        ports_tried += u64::from(ports.len());
        for port in Port::MESH.into_iter().filter(|port| ports.contains(*port)) {
            let beyond = here.neighbour(port);
            let number = mesh.chip(beyond).index();
            // Count a link that is tried from both ends only once: at the end that is processed first.
            links += u64::from(!tried_at[number].contains(port.opposite()));
            if !std::mem::replace(&mut is_reached[number], true) {
                wave.push(beyond);
            }
        }
    }
    if found {
        return SearchPrediction::Finds;
    }
    let routers = is_reached.iter().filter(|is_reached| **is_reached).count() as u64;
    let (least, most) = if network.counts_visits() { (routers - 1, ports_tried) } else { (links, links) };
    SearchPrediction::Fails { least: 2 * least + 2, most: 2 * most + 2 }
}

/// A scout, the only one in flight, whose search is compared with its prediction.
#[derive(Clone, Copy, Debug)]
pub(in super::super) struct WatchedScout {
    controller: ChannelId,
    die: DieId,
    verdict: SearchPrediction,
    steps: u64,
}

impl WatchedScout {
    /// Starts to watch a scout that `controller` sends now for `die` on chip `target`, and predicts its outcome. No other scout may be in flight.
    pub fn new(network: &CircuitNetwork, controller: ChannelId, die: DieId, target: ChipId) -> WatchedScout {
        WatchedScout { controller, die, verdict: predict_search(network, controller, target), steps: 0 }
    }

    /// Counts a step of the scout of `controller`. `ended` is whether a path was found; `None` if the search continues. If this ends the search of
    /// the watched scout, returns the search with its prediction, otherwise `None`.
    pub fn step(&mut self, controller: ChannelId, ended: Option<bool>) -> Option<ScoutSearch> {
        if controller != self.controller {
            return None;
        }
        self.steps += 1;
        ended.map(|found| ScoutSearch { die: self.die, prediction: self.verdict, found, steps: self.steps })
    }
}

#[cfg(test)]
mod tests {
    use super::super::network::ScoutAction;
    use super::super::tie_break::TieBreaker;
    use super::*;
    use crate::config::{Revisits, Routing, TieBreak};
    use crate::engine::random::SimRng;
    use crate::fabric::venice::mesh::Mesh;
    use crate::fabric::venice::routing::AnyRouting;

    #[test]
    fn a_scout_alone_does_what_the_flood_fill_says() {
        let mut random = SimRng::new(11);
        let (mut failed, mut found, mut most_apart) = (0, 0, 0);
        for case in 0..400 {
            let (rows, columns) = (1 + random.below(9), 1 + random.below(9));
            let routing = Routing::ALL[case % Routing::ALL.len()];
            let tie_break = TieBreaker::new(TieBreak::ALL[case / 4 % TieBreak::ALL.len()], 5);
            let revisits = Revisits::ALL[case / 8 % Revisits::ALL.len()];
            let mut network =
                CircuitNetwork::new(Mesh::new(rows, columns), AnyRouting::new(routing), tie_break, revisits);
            let mesh = *network.mesh();
            let out_of_16 = random.below(12);
            let out: Vec<_> = mesh.mesh_links().filter(|_| random.below(16) < out_of_16).collect();
            out.iter().for_each(|link| network.set_out_of_service(*link, true));
            for _ in 0..20 {
                let (controller, target) = (ChannelId(random.below(rows)), ChipId(random.below(mesh.routers())));
                let expected = predict_search(&network, controller, target);
                network.launch(controller, target);
                let mut steps = 0;
                let step = loop {
                    steps += 1;
                    match network.step(controller) {
                        ScoutAction::Forward | ScoutAction::Back => {}
                        end => break end,
                    }
                };
                if step == ScoutAction::Failed {
                    let SearchPrediction::Fails { least, most } = expected else {
                        panic!("{routing}: a failure was not predicted")
                    };
                    assert!((least..=most).contains(&steps), "{routing}: {steps}, {least} to {most}");
                    most_apart = most_apart.max(steps - least);
                    failed += 1;
                } else {
                    assert_eq!(expected, SearchPrediction::Finds, "{routing}");
                    network.release(controller);
                    found += 1;
                }
            }
        }
        assert!(failed > 1000 && found > 1000, "{failed} failed, {found} found");
        assert!(most_apart > 0, "no scout has crossed a link in both directions");
    }
}
