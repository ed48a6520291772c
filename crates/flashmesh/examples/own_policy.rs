//! Example of a user-defined firmware policy in one file: writes are held until a die is idle, and then dispatched together, as many as the die
//! has planes.
//!
//! Run with `cargo run --release --example own_policy`.
//!
//! A policy defines who places pages (`placement_stage`), which writes it holds (`try_hold`), and where it dispatches them (`dispatch_held`).
//! The defaults of all methods of `FirmwarePolicy` are the page policy. To give a policy a name in the configuration, move it into a folder of
//! `crates/flashmesh/src/policies` and add a line to `policy_of` there.

use std::collections::VecDeque;

use flashmesh::config::Config;
use flashmesh::ids::{DieId, PlaneId, TransactionId};
use flashmesh::placement::{Ftl, Geometry};
use flashmesh::policy::{DispatchedWrites, FirmwarePolicy, PlacementStage, PolicyEvent, PolicyView};
use flashmesh::scheduler::{Purpose, Transaction};
use flashmesh::simulation::{Control, Simulation};

/// Firmware policy that holds writes until a die is idle.
struct WholeDies {
    geometry: Geometry,
    held: VecDeque<TransactionId>,
    /// Die considered first at the next dispatch.
    next: u32,
    /// Number of dispatched writes in flight.
    under_way: u32,
    /// Whether a new dispatch may succeed: since the last one a write was held, a write ended, or a die became idle.
    has_changed: bool,
}

impl WholeDies {
    fn new(geometry: Geometry) -> WholeDies {
        WholeDies { geometry, held: VecDeque::new(), next: 0, under_way: 0, has_changed: false }
    }

    fn planes_of(&self, die: DieId) -> impl Iterator<Item = PlaneId> + use<> {
        let first = self.geometry.first_plane(die).0;
        (first..first + self.geometry.planes_per_die).map(PlaneId)
    }

    fn send(&mut self, plane: PlaneId, due: &mut DispatchedWrites) {
        due.dispatched.extend(self.held.pop_front().map(|id| (id, plane)));
        self.under_way += 1;
    }
}

impl FirmwarePolicy for WholeDies {
    fn placement_stage(&self) -> PlacementStage {
        PlacementStage::AtDispatch
    }

    fn try_hold(&mut self, id: TransactionId, transaction: &Transaction, _ftl: &Ftl) -> bool {
        let is_write = matches!(transaction.purpose, Purpose::HostWrite(_));
        if is_write {
            self.held.push_back(id);
            self.has_changed = true;
        }
        is_write
    }

    fn may_dispatch(&self) -> bool {
        self.has_changed && !self.held.is_empty()
    }

    fn dispatch_held(&mut self, drive: &mut PolicyView<'_>) -> DispatchedWrites {
        self.has_changed = false;
        let (mut due, dies, first) = (DispatchedWrites::default(), self.geometry.dies(), self.next);
        for die in (0..dies).map(|step| DieId((first + step) % dies)) {
            if !drive.load.is_idle(die) {
                continue;
            }
            for plane in self.planes_of(die) {
                let Some(lpn) = self.held.front().map(|&id| drive.load.transaction(id).lpn) else { return due };
                let stream = drive.ftl.blocks().host_block_kind(plane, None);
                if drive.ftl.blocks().next_page_offset(plane, stream).is_none() {
                    due.full_planes.push(plane);
                } else if drive.ftl.has_room(lpn, plane) {
                    drive.ftl.record_placement(lpn, plane);
                    self.send(plane, &mut due);
                    self.next = die.0 + 1;
                }
            }
        }
        // Every end of a write causes another dispatch. With none in flight, dispatch one held write to the plane of its page, where it waits.
        if self.under_way == 0
            && let Some(lpn) = self.held.front().map(|&id| drive.load.transaction(id).lpn)
        {
            let plane = drive.ftl.place_write(lpn, drive.idle);
            self.send(plane, &mut due);
        }
        due
    }

    fn withdraw_held(&mut self, is_taken: &dyn Fn(TransactionId) -> bool) -> Vec<TransactionId> {
        let (taken, kept): (VecDeque<_>, VecDeque<_>) = self.held.drain(..).partition(|&id| is_taken(id));
        self.held = kept;
        Vec::from(taken)
    }

    fn notify(&mut self, event: PolicyEvent<'_>) {
        match event {
            PolicyEvent::WriteEnded(_) | PolicyEvent::WriteCancelled(_) => {
                self.under_way = self.under_way.saturating_sub(1);
                self.has_changed = true;
            }
            PolicyEvent::DieIdle => self.has_changed = true,
            _ => {}
        }
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let settings = [
        "geometry.channels=4",
        "geometry.chips-per-channel=2",
        "geometry.blocks-per-plane=64",
        "geometry.over-provisioning=0.2",
        "precondition.kind=random",
        "replay.outstanding=16",
        "workload.requests=20000",
        "workload.read-share=0.3",
        "workload.request-size=16KiB",
    ];
    let config = Config::from_str("preset = \"venice-z-nand\"", "own_policy", &settings.map(String::from))?;
    for is_own in [false, true] {
        let mut simulation = Simulation::new(&config)?;
        if is_own {
            let policy = WholeDies::new(simulation.geometry().clone());
            simulation.set_firmware_policy(Box::new(policy));
        }
        simulation.enable_checks();
        let report = simulation.run(&Control::default())?;
        assert_eq!(report.measured.map(|measured| measured.window.requests), Some(20_000));
        println!(
            "{}: {:.0} requests a second, {} operations of several planes",
            if is_own { "whole dies" } else { "page" },
            report.iops,
            report.flash.multi_plane_operations,
        );
    }
    Ok(())
}
