//! Example of a user-defined interconnect in one file: a crossbar, over which any controller reaches any chip, compared with the bus.
//!
//! The interface is the trait [`Fabric`], which documents its contract. [`FabricInfo`] describes the kind to the rest of the simulator, such as
//! the keys of `[fabric]` that it supports. Oracles check the run, with [`ExpectedFabric`] for what they cannot derive.

use std::collections::VecDeque;
use std::error::Error;

use flashmesh::config::{Config, HoldPath, PageMove, Pattern};
use flashmesh::ids::{DieId, LinkId, PathId};
use flashmesh::interconnect::{
    AnyFabric, Cause, ExpectedFabric, Fabric, FabricInfo, Grant, GrantRecord, Layout, Link, LinkKind, LinkUsage,
    LinksToDie, Outbox, Payload, RouterPlacement, SendOutcome, TransferPhase, TransferTiming,
};
use flashmesh::simulation::{Control, Simulation};
use flashmesh::units::{Rate, Time};

static CROSSBAR: FabricInfo = FabricInfo {
    name: "crossbar",
    caption: "Every controller reaches every chip. Whoever waits longest gets the next controller that is free.",
    sections: &[],
    used_keys: &["fabric.channel-rate"],
    // Dies do not wait for a channel of a crossbar, so `fabric.arbitration` has no effect and is refused.
    accepted_unused_keys: &[],
    moves: &[PageMove::ThroughController],
    build_held: None,
    die_controllers: false,
    routers: RouterPlacement::None,
    router_power: |power| power.router_power,
    check: |_| Ok(()),
    build: |config, _geometry| Ok(AnyFabric::Custom(Box::new(Crossbar::new(config)))),
};

const EXPECTED: ExpectedFabric = ExpectedFabric {
    name: CROSSBAR.name,
    links: LinksToDie::Several,
    transfer: TransferTiming::Signals,
    decodes_on_die: false,
    buffers_in_routers: false,
};

#[derive(Debug)]
struct Crossbar {
    rate: Rate,
    layout: Layout,
    usage: Vec<LinkUsage>,
    /// By controller: the die that it serves, and the start of the service; `None` if the controller is free.
    serves: Vec<Option<(DieId, Time)>>,
    waiting: VecDeque<(DieId, TransferPhase)>,
    transfers: u64,
}

impl Crossbar {
    fn new(config: &Config) -> Crossbar {
        let controllers = config.geometry.channels;
        let link = |number| Link { kind: LinkKind::Controller, name: format!("controller {number}") };
        Crossbar {
            rate: config.fabric.channel_rate,
            layout: Layout {
                links: (0..controllers).map(link).collect(),
                wires: 8 * controllers,
                controllers,
                routers: 0,
            },
            usage: vec![LinkUsage::default(); controllers as usize],
            serves: vec![None; controllers as usize],
            waiting: VecDeque::new(),
            transfers: 0,
        }
    }

    /// Grants free controllers to waiting dies, in order of their requests, until one of both runs out.
    fn serve(&mut self, now: Time, outbox: &mut Outbox) {
        while let Some(free) = self.serves.iter().position(Option::is_none) {
            let Some((die, phase)) = self.waiting.pop_front() else { return };
            self.serves[free] = Some((die, now));
            let grant = Grant { die, phase, path: PathId(free as u32) };
            outbox.grants.push(GrantRecord { grant, since: now, cause: Cause::Controller });
        }
    }
}

impl Fabric for Crossbar {
    fn acquire(&mut self, die: DieId, phase: TransferPhase, now: Time, outbox: &mut Outbox) {
        self.waiting.push_back((die, phase));
        self.serve(now, outbox);
    }

    fn send(&mut self, grant: Grant, payload: Payload, now: Time, _outbox: &mut Outbox) -> SendOutcome {
        let takes = payload.command_time + self.rate.time_for(payload.bytes);
        self.usage[grant.path.index()].count(grant.phase, payload, now, takes);
        self.transfers += 1;
        SendOutcome { arrival: Some(now + takes), min_duration: takes }
    }

    fn release(&mut self, grant: Grant, now: Time, outbox: &mut Outbox) {
        if let Some((die, since)) = self.serves[grant.path.index()].take() {
            outbox.record_use(LinkId(grant.path.0), die, since, now);
        }
        self.serve(now, outbox);
    }

    fn layout(&self) -> &Layout {
        &self.layout
    }

    fn usage(&self) -> &[LinkUsage] {
        &self.usage
    }

    fn controller_busy_times(&self, now: Time) -> Vec<Time> {
        self.usage.iter().map(|link| link.busy_until(now)).collect()
    }

    fn hops(&self) -> u64 {
        self.transfers
    }

    fn held_links(&self) -> Vec<(LinkId, DieId)> {
        let held = (0..).zip(&self.serves).filter_map(|(at, serves)| Some((LinkId(at), serves.as_ref()?.0)));
        held.collect()
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    // Half of all reads go to one row of chips, for which the bus has a single channel.
    let mut config = Config::default();
    config.geometry.blocks_per_plane = 64;
    config.workload.pattern = Pattern::HotStride;
    config.workload.hot_traffic = 0.5;
    config.workload.requests = Some(10_000);
    config.replay.outstanding = 1024;

    let mut bus = Simulation::new(&config)?;
    bus.enable_checks();
    let bus = bus.run(&Control::default())?;

    let mut crossbar = Simulation::with_interconnect(&config, &CROSSBAR)?;
    crossbar.enable_checks_of(&EXPECTED);
    let crossbar = crossbar.run(&Control::default())?;

    println!("bus {:.0} IOPS, crossbar {:.0} IOPS", bus.iops, crossbar.iops);
    assert!(crossbar.iops > 2.0 * bus.iops, "every controller serves the hot row");

    // An option that the interconnect does not support is refused.
    config.fabric.hold_path = HoldPath::Always;
    let refused = Simulation::with_interconnect(&config, &CROSSBAR).err().ok_or("a crossbar cannot hold its paths")?;
    println!("{refused}");
    Ok(())
}
