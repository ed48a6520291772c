use super::*;
use crate::config::{Routing, TieBreak};
use crate::engine::random::SimRng;

/// Sends a scout from the upper controller of a 2 x 3 mesh to the upper right chip, with both links to the last column out of service. `gets_free`
/// restores the upper link before the seventh step. Returns the number of steps (links crossed), and the last action.
fn cut_off(revisits: Revisits, gets_free: bool) -> (u64, ScoutAction) {
    let mesh = Mesh::new(2, 3);
    let tie_break = TieBreaker::new(TieBreak::Lfsr, 1);
    let mut network = CircuitNetwork::new(mesh, AnyRouting::new(Routing::Venice), tie_break, revisits);
    let [upper, lower] = [0, 1].map(|row| mesh.link(MeshCoord { row, column: 1 }, Port::East));
    [upper, lower].into_iter().for_each(|link| network.set_out_of_service(link, true));
    network.launch(ChannelId(0), ChipId(2));
    loop {
        let step = network.step(ChannelId(0));
        if matches!(step, ScoutAction::Reached { .. } | ScoutAction::Failed) {
            assert!(network.counters().circuit_lengths.iter().sum::<u64>() == 1 || network.is_empty());
            return (network.counters().steps, step);
        }
        if gets_free && network.counters().steps == 6 {
            network.set_out_of_service(upper, false);
        }
    }
}

#[test]
fn a_router_sends_a_scout_once_over_each_port_and_sees_it_three_more_times() {
    // The first two columns have routers A B above and D C below. The scout visits A, B, C and D, backtracks because A is reserved, and visits C, B,
    // A and D. With unused ports only, D has no port left, and the scout returns over A: 10 links. With three revisits it goes on to C, B and C, then
    // returns over D and A: 14 links.
    assert_eq!(cut_off(Revisits::UnusedPorts, false), (10, ScoutAction::Failed));
    assert_eq!(cut_off(Revisits::ThreeTimes, false), (14, ScoutAction::Failed));
    // With three revisits the scout is at B again in step 10, after the link from B was restored, and reaches the chip in step 11 over A, D, C and B:
    // five links.
    assert_eq!(cut_off(Revisits::UnusedPorts, true), (10, ScoutAction::Failed));
    assert_eq!(cut_off(Revisits::ThreeTimes, true), (11, ScoutAction::Reached { hops: 5 }));
}

#[test]
fn a_walk_is_as_many_steps_as_there_is_time_for() {
    const HOP: Time = Time::from_ns(2);
    let mut random = SimRng::new(3);
    for case in 0..200 {
        let mesh = Mesh::new(1 + random.below(7), 1 + random.below(7));
        let new = || {
            let tie_break = TieBreaker::new(TieBreak::ALL[case / 4 % TieBreak::ALL.len()], 9);
            let revisits = Revisits::ALL[case / 8 % Revisits::ALL.len()];
            CircuitNetwork::new(mesh, AnyRouting::new(Routing::ALL[case % Routing::ALL.len()]), tie_break, revisits)
        };
        let (mut walked, mut stepped) = (new(), new());
        for link in mesh.mesh_links().filter(|_| random.below(3) == 0).collect::<Vec<_>>() {
            walked.set_out_of_service(link, true);
            stepped.set_out_of_service(link, true);
        }
        for _ in 0..10 {
            let (controller, target) = (ChannelId(random.below(mesh.rows())), ChipId(random.below(mesh.routers())));
            walked.launch(controller, target);
            stepped.launch(controller, target);
            let mut due = Time::from_ns(1);
            loop {
                let until = due + Time::from_ns(u64::from(random.below(20)));
                let (last, end) = walked.run_scout(controller, due, HOP, until);
                let mut step = stepped.step(controller);
                while due + HOP <= until && !matches!(step, ScoutAction::Reached { .. } | ScoutAction::Failed) {
                    due += HOP;
                    step = stepped.step(controller);
                }
                assert_eq!((last, end), (due, step));
                assert_eq!(walked.counters(), stepped.counters());
                assert!(walked.held_links(controller).eq(stepped.held_links(controller)));
                assert_eq!(walked.last_held_link(controller).0, stepped.held_links(controller).count());
                assert_eq!(walked.last_held_link(controller).1, stepped.held_links(controller).last());
                match end {
                    ScoutAction::Forward | ScoutAction::Back => due += HOP,
                    ScoutAction::Failed => break,
                    ScoutAction::Reached { .. } => {
                        walked.release(controller);
                        stepped.release(controller);
                        break;
                    }
                }
            }
        }
        assert!(walked.counters().sent == 10 && walked.mesh_is_as(&stepped));
    }
}

impl CircuitNetwork {
    /// Compares the busy ports and LFSRs of all routers, and the marks of all scouts.
    fn mesh_is_as(&self, other: &CircuitNetwork) -> bool {
        let state = |router: &Router| (router.busy, router.lfsr);
        let marks = |network: &CircuitNetwork| network.packets.iter().flat_map(|packet| packet.marks.clone()).collect();
        let (own, others): (Vec<_>, Vec<_>) = (marks(self), marks(other));
        self.routers.iter().map(state).eq(other.routers.iter().map(state)) && own == others
    }
}
