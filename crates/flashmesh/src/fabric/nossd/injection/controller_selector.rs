//! Attachment of controllers to routers, and choice of the controller that sends a command or receives a reply.

use crate::config::{self, ControllerPlacement, InjectionPolicy, LeastLoadedTies, NossdTopology, ReplyPolicy};
use crate::engine::random::SimRng;
use crate::engine::round_robin::cyclic;
use crate::fabric::wormhole::{Grid, RouterId, TerminalId, Topology, TopologyError};
use crate::flash::geometry::Geometry;
use crate::ids::ChipId;

use super::terminals::{Endpoint, TerminalNumbering};

/// Combined with the seed of a run, so that the draws among tied controllers are independent of other random choices.
const SEED_OF_TIES: u64 = 0x6e6f_7373_642d_7469;

/// Returns the grid of the routers of `topology`. Each of the `rows` x `columns` chips has a router.
fn grid(topology: NossdTopology, rows: u32, columns: u32) -> Grid {
    match topology {
        NossdTopology::Mesh => Grid::mesh(rows, columns),
        NossdTopology::Torus => Grid::torus(rows, columns),
        NossdTopology::Ring => Grid::ring(rows * columns),
    }
}

/// Returns the router to which each of `rows` controllers is attached, indexed by controller. The grid has `rows` rows and `columns` columns.
fn attachments(placement: ControllerPlacement, rows: u32, columns: u32) -> Vec<RouterId> {
    let router = |row: u32, column: u32| RouterId(row * columns + column);
    match placement {
        ControllerPlacement::OneSided => (0..rows).map(|row| router(row, 0)).collect(),
        ControllerPlacement::AllSided => (0..rows)
            .map(|controller| {
                // Controllers go to the west, east, north and south side in turn. On each side they occupy consecutive routers around the middle
                // (Design for Scalability in Enterprise SSDs, PACT 2014, Fig 10).
                let (side, rank) = (controller % 4, controller / 4);
                let on_side = rows / 4 + u32::from(side < rows % 4);
                let along = |length: u32| (length / 2 + rank + length - (on_side / 2) % length) % length;
                match side {
                    0 => router(along(rows), 0),
                    1 => router(along(rows), columns - 1),
                    2 => router(0, along(columns)),
                    _ => router(rows - 1, along(columns)),
                }
            })
            .collect(),
    }
}

/// Builds the topology of a drive, with one terminal for each local channel: first the channels of the chips, then the channels of the controllers.
///
/// # Errors
/// If the drive has more chips or local channels than a network supports.
pub(in super::super) fn topology(config: &config::Nossd, geometry: &Geometry) -> Result<Topology, TopologyError> {
    let (rows, columns) = (geometry.channels, geometry.chips_per_channel);
    let routers = u64::from(rows) * u64::from(columns);
    if routers > crate::fabric::wormhole::ROUTERS_MAX.into() {
        return Err(TopologyError::Size { routers, terminals: routers + u64::from(rows) });
    }
    let (terminals, attachments) =
        (TerminalNumbering::new(config, geometry), attachments(config.placement, rows, columns));
    let router = |end: Endpoint| match end {
        Endpoint::Chip(chip) => RouterId(chip),
        Endpoint::Controller(controller) => attachments[controller as usize],
    };
    let attached =
        terminals.endpoints().flat_map(|end| std::iter::repeat_n(router(end), terminals.channels(end) as usize));
    Topology::new(grid(config.topology, rows, columns), attached.collect())
}

/// State of the policies that choose the controller of a command: the round-robin position, and the random numbers that break ties.
#[derive(Clone, Debug)]
pub(in super::super) struct InjectionState {
    /// Controller that round robin chooses next.
    next: u32,
    random: SimRng,
}

impl InjectionState {
    /// Creates the state before the first command of a run. `seed` is the seed of the run.
    pub(in super::super) fn new(seed: u64) -> InjectionState {
        InjectionState { next: 0, random: SimRng::new(seed ^ SEED_OF_TIES) }
    }

    /// Returns the controller that round robin chooses next among `count`, and moves the round-robin position to the one after it.
    fn take(&mut self, count: u32) -> u32 {
        let next = (self.next + 1) % count;
        std::mem::replace(&mut self.next, next)
    }
}

/// Policies that choose the controllers of commands and replies, with the hop counts that the policies need.
#[derive(Clone, Debug)]
pub(in super::super) struct ControllerSelector {
    terminals: TerminalNumbering,
    count: u32,
    injection: InjectionPolicy,
    threshold: u32,
    ties: LeastLoadedTies,
    reply: ReplyPolicy,
    /// Number of links between routers from each controller to each chip, indexed by chip x number of controllers + controller.
    hops_in: Vec<u32>,
    /// Nearest controller of each chip, and number of links between routers on the way to it, indexed by chip. A tie goes to the lowest number.
    nearest_out: Vec<(u32, u32)>,
}

impl ControllerSelector {
    pub(in super::super) fn new(
        config: &config::Nossd,
        geometry: &Geometry,
        topology: &Topology,
    ) -> ControllerSelector {
        let (chips, count) = (geometry.chips(), geometry.channels);
        let terminals = TerminalNumbering::new(config, geometry);
        let terminal = |controller: u32| terminals.first_terminal(Endpoint::Controller(controller));
        let chip_terminal = |chip: u32| terminals.first_terminal(Endpoint::Chip(chip));
        let hops_out = |chip, controller| topology.hops(chip_terminal(chip), terminal(controller));
        ControllerSelector {
            terminals,
            count,
            injection: config.injection,
            threshold: config.injection_threshold,
            ties: config.least_loaded_ties,
            reply: config.reply,
            hops_in: (0..chips)
                .flat_map(|chip| (0..count).map(move |controller| (chip, controller)))
                .map(|(chip, controller)| topology.hops(terminal(controller), chip_terminal(chip)))
                .collect(),
            nearest_out: (0..chips)
                .map(|chip| (0..count).map(|controller| (hops_out(chip, controller), controller)).min())
                .map(|nearest| nearest.map_or((0, 0), |(hops, controller)| (controller, hops)))
                .collect(),
        }
    }

    /// Returns the terminal of the first local channel of `controller`. This terminal identifies the port of the controller.
    pub(in super::super) fn terminal(&self, controller: u32) -> TerminalId {
        self.terminals.first_terminal(Endpoint::Controller(controller))
    }

    /// Returns the terminal of the first local channel of `chip`. This terminal identifies the port of the chip.
    pub(in super::super) fn terminal_of_chip(&self, chip: ChipId) -> TerminalId {
        self.terminals.first_terminal(Endpoint::Chip(chip.0))
    }

    /// Returns the terminals of all local channels of the endpoint (chip or controller) whose first terminal is `first`.
    pub(in super::super) fn local_channels(&self, first: TerminalId) -> impl Iterator<Item = TerminalId> + use<> {
        (first.0..first.0 + self.terminals.channels(self.terminals.endpoint_at(first))).map(TerminalId)
    }

    /// Returns the local channel with the smallest `key`, of the chip or controller whose first terminal is `first`. A tie goes to the first channel.
    pub(in super::super) fn channel_with_min(&self, first: TerminalId, key: impl Fn(TerminalId) -> u32) -> TerminalId {
        self.local_channels(first).min_by_key(|terminal| key(*terminal)).unwrap_or(first)
    }

    /// Returns whether `terminal` belongs to a controller; otherwise it belongs to a chip.
    pub(in super::super) fn is_controller(&self, terminal: TerminalId) -> bool {
        self.controller_at(terminal).is_some()
    }

    /// Returns the controller to which `terminal` belongs; `None` if it belongs to a chip.
    pub(in super::super) fn controller_at(&self, terminal: TerminalId) -> Option<u32> {
        match self.terminals.endpoint_at(terminal) {
            Endpoint::Chip(_) => None,
            Endpoint::Controller(controller) => Some(controller),
        }
    }

    pub(in super::super) fn terminals(&self) -> TerminalNumbering {
        self.terminals
    }

    /// Returns the controller that sends the next command to `chip`, and updates `state`. `load` returns the load of a controller, such as its queue
    /// length.
    pub(in super::super) fn command_controller(
        &self,
        chip: ChipId,
        state: &mut InjectionState,
        load: impl Fn(u32) -> u32,
    ) -> u32 {
        let hops = &self.hops_in[(chip.0 * self.count) as usize..][..self.count as usize];
        let controllers = hops.iter().zip(0..);
        let chosen = match self.injection {
            InjectionPolicy::RoundRobin => Some(state.take(self.count)),
            InjectionPolicy::NearestElseRoundRobin => {
                let nearest = controllers.map(|(&hops, at)| (hops, at)).min().map_or(0, |best| best.1);
                Some(if load(nearest) == 0 { nearest } else { state.take(self.count) })
            }
            InjectionPolicy::Nearest => controllers.map(|(&hops, at)| (hops, at)).min().map(|best| best.1),
            InjectionPolicy::LeastLoaded => self.least_loaded(hops, state, load),
            InjectionPolicy::NearestUnderThreshold => controllers
                .map(|(&hops, at)| {
                    let load = load(at);
                    let is_loaded = load >= self.threshold;
                    (if is_loaded { (is_loaded, load, hops) } else { (is_loaded, hops, 0) }, at)
                })
                .min()
                .map(|best| best.1),
        };
        chosen.unwrap_or(0)
    }

    /// Returns the least loaded controller; `nossd.least-loaded-ties` breaks ties. `hops` has the number of links between routers from each
    /// controller to the chip. `None` only if there are no controllers.
    fn least_loaded(&self, hops: &[u32], state: &mut InjectionState, load: impl Fn(u32) -> u32) -> Option<u32> {
        let controllers = hops.iter().zip(0..);
        match self.ties {
            LeastLoadedTies::Nearest => controllers.map(|(&hops, at)| ((load(at), hops), at)).min().map(|best| best.1),
            LeastLoadedTies::Lowest => (0..self.count).min_by_key(|&at| load(at)),
            LeastLoadedTies::RoundRobin => {
                let chosen = cyclic(state.next, self.count).min_by_key(|&at| load(at))?;
                state.next = (chosen + 1) % self.count;
                Some(chosen)
            }
            LeastLoadedTies::Random => {
                let least = (0..self.count).map(&load).min()?;
                let equal: Vec<u32> = (0..self.count).filter(|&at| load(at) == least).collect();
                equal.get(state.random.below(equal.len() as u32) as usize).copied()
            }
        }
    }

    /// Returns the controller that receives the reply (data or acknowledgement) of `chip` to a command from controller `sender`.
    pub(in super::super) fn reply_controller(&self, chip: ChipId, sender: u32) -> u32 {
        match self.reply {
            ReplyPolicy::Sender => sender,
            ReplyPolicy::Nearest => self.nearest_out[chip.index()].0,
        }
    }

    /// Returns the number of links between routers from the nearest controller to `chip`.
    pub(in super::super) fn min_hops_in(&self, chip: ChipId) -> u32 {
        let hops = &self.hops_in[(chip.0 * self.count) as usize..][..self.count as usize];
        hops.iter().copied().min().unwrap_or(0)
    }

    /// Returns the number of links between routers from `chip` to the nearest controller.
    pub(in super::super) fn min_hops_out(&self, chip: ChipId) -> u32 {
        self.nearest_out[chip.index()].1
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Config;

    fn controllers(config: &config::Nossd) -> (ControllerSelector, InjectionState) {
        let geometry = Geometry::new(&Config::default().geometry).expect("the default drive is possible");
        let topology = topology(config, &geometry).expect("64 chips");
        (ControllerSelector::new(config, &geometry, &topology), InjectionState::new(1))
    }

    #[test]
    fn controllers_are_spread_around_the_middle_of_all_sides() {
        let routers = |rows, columns| attachments(ControllerPlacement::AllSided, rows, columns);
        let place = |row: u32, column: u32| RouterId(row * 8 + column);
        let expected =
            [place(3, 0), place(3, 7), place(0, 3), place(7, 3), place(4, 0), place(4, 7), place(0, 4), place(7, 4)];
        assert_eq!(routers(8, 8), expected);
        // In a 2 x 3 mesh the two controllers are in the middle row, 1, at the west and the east side. In a 16 x 1 mesh four controllers share the
        // only router of the north side.
        assert_eq!(routers(2, 3), [RouterId(3), RouterId(5)]);
        assert!(routers(16, 1).iter().all(|router| router.0 < 16));
    }

    /// Returns the controllers chosen for `count` successive commands to `chip`. Each command adds 1 to `load` of its controller.
    fn chosen(
        (controllers, state): &mut (ControllerSelector, InjectionState),
        chip: u32,
        load: &mut [u32; 8],
        count: usize,
    ) -> Vec<u32> {
        let one = |_| {
            let controller =
                controllers.command_controller(ChipId(chip), state, |controller| load[controller as usize]);
            load[controller as usize] += 1;
            controller
        };
        (0..count).map(one).collect()
    }

    #[test]
    fn the_nearest_controller_is_the_one_of_the_row() {
        let mut controllers = controllers(&config::Nossd { injection: InjectionPolicy::Nearest, ..Default::default() });
        for chip in 0..64 {
            assert_eq!(chosen(&mut controllers, chip, &mut [9; 8], 1), [chip / 8]);
            assert_eq!(controllers.0.min_hops_in(ChipId(chip)), chip % 8);
            assert_eq!(controllers.0.min_hops_out(ChipId(chip)), chip % 8);
        }
    }

    #[test]
    fn round_robin_takes_one_after_the_other() {
        let config = config::Nossd { injection: InjectionPolicy::RoundRobin, ..Default::default() };
        let mut controllers = controllers(&config);
        assert_eq!(chosen(&mut controllers, 20, &mut [0; 8], 10), [0, 1, 2, 3, 4, 5, 6, 7, 0, 1]);
    }

    #[test]
    fn round_robin_begins_where_the_nearest_controller_is_taken() {
        let config = config::Nossd { injection: InjectionPolicy::NearestElseRoundRobin, ..Default::default() };
        let mut controllers = controllers(&config);
        // Chip 20 is in row 2, so the idle controller 2 is nearest. The next commands go to controllers in turn from 0 on; the commands to chip 7, in
        // row 0, continue at 5.
        assert_eq!(chosen(&mut controllers, 20, &mut [0; 8], 6), [2, 0, 1, 2, 3, 4]);
        assert_eq!(chosen(&mut controllers, 7, &mut [0; 8], 2), [0, 5]);
    }

    #[test]
    fn local_channels_are_terminals_side_by_side() {
        let config = config::Nossd { chip_channels: 4, controller_channels: 3, ..Default::default() };
        let (controllers, _) = controllers(&config);
        let third = controllers.terminal_of_chip(ChipId(3));
        assert_eq!((third, controllers.local_channels(third).count()), (TerminalId(12), 4));
        let last = controllers.terminal(7);
        assert_eq!((last, controllers.local_channels(last).count()), (TerminalId(4 * 64 + 3 * 7), 3));
        for terminal in controllers.local_channels(last) {
            assert!(controllers.is_controller(terminal));
            assert_eq!(controllers.controller_at(terminal), Some(7));
        }
        assert_eq!(
            (controllers.is_controller(TerminalId(255)), controllers.controller_at(TerminalId(255))),
            (false, None)
        );
    }

    #[test]
    fn least_loaded_avoids_what_is_busy_and_prefers_what_is_near() {
        let config = config::Nossd { injection: InjectionPolicy::LeastLoaded, ..Default::default() };
        let mut controllers = controllers(&config);
        // Chip 20 is in row 2. Commands go to the nearest idle controller: 2, then 1 and 3 (equally near), then 0. Once 3 is idle again, it is
        // nearest.
        let mut load = [0; 8];
        assert_eq!(chosen(&mut controllers, 20, &mut load, 4), [2, 1, 3, 0]);
        load[3] = 0;
        assert_eq!(chosen(&mut controllers, 20, &mut load, 1), [3]);
    }

    #[test]
    fn ties_of_the_least_loaded_follow_their_key() {
        let with = |least_loaded_ties| {
            let injection = InjectionPolicy::LeastLoaded;
            controllers(&config::Nossd { injection, least_loaded_ties, ..Default::default() })
        };
        // The idle controllers 1, 3, 4 and 6 get the first four commands under every rule; then all loads are 1. `Lowest` chooses 0, `RoundRobin` 7.
        // Chip 20 is in row 2, so 1 and 3 are nearest.
        let load = [1, 0, 1, 0, 0, 1, 0, 1];
        let first = |ties, count| chosen(&mut with(ties), 20, &mut load.clone(), count);
        assert_eq!(first(LeastLoadedTies::Nearest, 4), [1, 3, 4, 6]);
        assert_eq!(first(LeastLoadedTies::Lowest, 5), [1, 3, 4, 6, 0]);
        assert_eq!(first(LeastLoadedTies::RoundRobin, 5), [1, 3, 4, 6, 7]);
        let mut random = with(LeastLoadedTies::Random);
        let mut times = [0_u32; 8];
        (0..4_000).for_each(|_| times[chosen(&mut random, 20, &mut load.clone(), 1)[0] as usize] += 1);
        for (controller, (&times, load)) in times.iter().zip(load).enumerate() {
            // Each of the four idle controllers gets a quarter of the 4000 draws, within five standard deviations (137).
            let expected = if load == 0 { 1_000 } else { 0 };
            assert!(times.abs_diff(expected) <= if load == 0 { 137 } else { 0 }, "{controller}: {times}");
        }
    }

    #[test]
    fn under_a_threshold_the_nearest_is_taken_and_over_it_the_least_loaded() {
        let injection = InjectionPolicy::NearestUnderThreshold;
        let mut controllers = controllers(&config::Nossd { injection, injection_threshold: 2, ..Default::default() });
        let mut load = [0; 8];
        let expected = [0, 0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5, 6, 6, 7, 7, 0];
        assert_eq!(chosen(&mut controllers, 0, &mut load, 17), expected);
        load[5] = 0;
        assert_eq!(chosen(&mut controllers, 0, &mut load, 3), [5, 5, 1]);
    }

    #[test]
    fn a_chip_answers_the_sender_or_the_nearest() {
        let sender = controllers(&config::Nossd::default());
        assert_eq!(sender.0.reply_controller(ChipId(20), 7), 7);
        let nearest = controllers(&config::Nossd { reply: ReplyPolicy::Nearest, ..Default::default() });
        assert_eq!(nearest.0.reply_controller(ChipId(20), 7), 2);
    }
}
