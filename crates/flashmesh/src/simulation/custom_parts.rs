//! User-supplied parts that replace or extend the configured ones: policies, sinks, probes and oracles (checks of the run).

use crate::check::Oracles;
use crate::check::expected_fabrics::{self, ExpectedFabric};
use crate::controller::replica::replica_selector::ReplicaSelector;
use crate::error::RunError;
use crate::fabric::nossd::{PacketRouting, PacketRoutingError};
use crate::fabric::venice::routing::RoutingAlgorithm;
use crate::fabric::{ArbitrationPolicy, Fabric, FabricError, FabricInfo};
use crate::ftl::allocation::Allocator;
use crate::ftl::collection::VictimSelector;
use crate::kernel::probe::{Probe, Scope};
use crate::measure::request_log::RequestSink;
use crate::policies::{FirmwarePolicy, WritePlacer};
use crate::schedule::{AnyScheduler, Scheduler};

use super::instances::CustomPart;
use super::{Fault, Simulation};

impl Simulation {
    fn inject(&mut self, injected: CustomPart) {
        self.needs.inject(injected);
        self.policies.extend(injected.key());
    }

    /// Sets the error through which user-supplied parts can end the run. A part that raises it ends the run with [`RunError::Policy`] after the
    /// current event.
    ///
    /// # Panics
    /// If the drive has already run.
    pub fn set_fault(&mut self, fault: Fault) {
        self.inject(CustomPart::Fault);
        self.unstarted_drive().fault = fault;
    }

    /// Replaces the configured routing of scouts (packets of Venice that search for a path) with a user-supplied one.
    ///
    /// # Errors
    /// If the interconnect has no scouts.
    ///
    /// # Panics
    /// If the drive has already run.
    pub fn set_routing(&mut self, routing: &dyn RoutingAlgorithm) -> Result<(), RunError> {
        self.inject(CustomPart::Routing);
        let datapath = &mut self.unstarted_drive().backend.datapath;
        if datapath.interconnect.fabric.set_routing(routing) {
            return Ok(());
        }
        Err(unable(datapath.interconnect.info, "policy.routing", "sends no scouts", "choose fabric.kind = \"venice\""))
    }

    /// Replaces the XY routing of NoSSD packets with a user-supplied one, which is evaluated now for every router and destination.
    ///
    /// # Errors
    /// If the interconnect does not send packets from router to router, packets would not reach their destinations, or the network could deadlock.
    ///
    /// # Panics
    /// If the drive has already run.
    pub fn set_packet_routing(&mut self, routing: &dyn PacketRouting) -> Result<(), PacketRoutingError> {
        self.inject(CustomPart::PacketRouting);
        let drive = self.unstarted_drive();
        let (config, geometry, datapath) = (&drive.config, &drive.geometry, &mut drive.backend.datapath);
        if datapath.interconnect.fabric.set_packet_routing(config, geometry, routing)? {
            return Ok(());
        }
        let why = "has no packets that go from router to router";
        Err(unfit(datapath.interconnect.info, "policy.hops", why, "choose fabric.kind = \"nossd\"").into())
    }

    /// Replaces the arbitration of channels and controllers (`fabric.arbitration`) with a user-supplied one.
    ///
    /// # Errors
    /// If `fabric.arbitration` does not apply to the interconnect.
    ///
    /// # Panics
    /// If the drive has already run.
    pub fn set_arbiter(&mut self, policy: Box<dyn ArbitrationPolicy + Send>) -> Result<(), RunError> {
        self.inject(CustomPart::Arbiter);
        let datapath = &mut self.unstarted_drive().backend.datapath;
        if datapath.interconnect.fabric.set_arbitration_policy(policy) {
            return Ok(());
        }
        let kinds = "choose fabric.kind = \"bus\", \"pssd\", \"pnssd\" or \"ideal\"";
        Err(unable(
            datapath.interconnect.info,
            "policy.arbiter",
            "has no channels that dies wait for by fabric.arbitration",
            kinds,
        ))
    }

    /// Replaces the configured scheduling policy with a user-supplied one.
    ///
    /// # Panics
    /// If the drive has already run.
    pub fn set_scheduler(&mut self, scheduler: Box<dyn Scheduler + Send>) {
        self.inject(CustomPart::Scheduler);
        let drive = self.unstarted_drive();
        drive.backend.datapath.scheduling.set_scheduler(AnyScheduler::Custom(scheduler));
        if drive.config.policy.scheduler.is_some() {
            drive.backend.datapath.scheduling.leave_order_to_scheduler();
        }
    }

    /// Replaces the page policy with a user-supplied firmware policy. The initial state still follows the configuration.
    ///
    /// # Panics
    /// If the drive has already run, or the configuration has another policy than `page`.
    pub fn set_firmware_policy(&mut self, policy: Box<dyn FirmwarePolicy + Send>) {
        self.inject(CustomPart::FirmwarePolicy);
        let drive = self.unstarted_drive();
        let configured = drive.config.ftl.policy;
        assert_eq!(configured.name(), "page", "a policy takes the place of `page`: set ftl.policy to it");
        drive.backend.controller.set_policy(policy);
    }

    /// Sets a user-supplied placer, which chooses the planes of written pages instead of [`FirmwarePolicy::place_write`] of the configured policy.
    /// The initial state still follows the configuration.
    ///
    /// # Panics
    /// If the drive has already run, or the configuration has the policy `mbm`, which places writes in another way.
    pub fn set_write_placer(&mut self, placer: Box<dyn WritePlacer + Send>) {
        self.inject(CustomPart::WritePlacer);
        self.unstarted_drive().backend.controller.set_write_placer(placer);
    }

    /// Sets a user-supplied selector, which chooses between original and replica for each read of a replicated page. Never called without
    /// `replication.enabled`, because then no page has a replica.
    ///
    /// # Panics
    /// If the drive has already run.
    pub fn set_replica_selector(&mut self, selector: Box<dyn ReplicaSelector + Send>) {
        self.inject(CustomPart::ReplicaSelector);
        if let Some(replication) = self.unstarted_drive().backend.controller.replication_mut() {
            replication.set_selector(selector);
        }
    }

    /// Replaces the configured allocator with a user-supplied one. Pages that preconditioning has placed stay there.
    ///
    /// # Panics
    /// If the drive has already run.
    pub fn set_allocator(&mut self, allocator: Box<dyn Allocator + Send>) {
        self.inject(CustomPart::Allocator);
        let drive = self.unstarted_drive();
        drive.backend.datapath.dies.track_idle();
        drive.backend.controller.set_allocator(allocator);
    }

    /// Replaces the configured victim selection of garbage collection with a user-supplied one. Preconditioning has already used the configured one.
    ///
    /// # Panics
    /// If the drive has already run.
    pub fn set_victim_selector(&mut self, selector: Box<dyn VictimSelector + Send>) {
        self.inject(CustomPart::VictimSelector);
        self.unstarted_drive().backend.controller.set_victim_selector(selector);
    }

    /// Sets the sink that receives the record of every completed request.
    ///
    /// # Panics
    /// If the drive has already run.
    pub fn set_request_sink(&mut self, sink: Box<dyn RequestSink>) {
        self.needs.inject(CustomPart::RequestSink);
        self.unstarted_drive().frontend.host.set_request_sink(sink);
    }

    /// Adds a probe, which receives notices during the run.
    ///
    /// # Panics
    /// If the drive has already run.
    pub fn add_probe(&mut self, probe: Box<dyn Probe + Send>) {
        self.needs.inject(CustomPart::Probe(probe.scope()));
        let drive = self.unstarted_drive();
        if probe.scope() == Scope::All {
            drive.backend.datapath.interconnect.record_link_uses();
            drive.backend.controller.record_changes();
        }
        drive.backend.kernel.add_probe(probe);
    }

    /// Enables the oracles (independent checks of the run): the run fails at the first violation. Over an interconnect of an unknown kind, the run
    /// fails at once; use [`Simulation::enable_checks_of`] there.
    ///
    /// # Panics
    /// If the drive has already run.
    pub fn enable_checks(&mut self) {
        let drive = self.unstarted_drive();
        let kind = drive.backend.datapath.interconnect.info.name;
        let oracles = match expected_fabrics::expected_fabric(kind) {
            Some(expected) => Oracles::with_expected(expected, &drive.geometry, &drive.config),
            None => Oracles::of_unknown(kind, &drive.geometry, &drive.config),
        };
        self.add_oracles(oracles);
    }

    /// Enables the oracles (independent checks of the run) for a drive over a user-supplied interconnect. `expected` are the properties that the
    /// interconnect must have.
    ///
    /// # Panics
    /// If the drive has already run.
    pub fn enable_checks_of(&mut self, expected: &ExpectedFabric) {
        let drive = self.unstarted_drive();
        let oracles = Oracles::with_expected(expected, &drive.geometry, &drive.config);
        self.add_oracles(oracles);
    }

    fn add_oracles(&mut self, oracles: Oracles) {
        // The oracles look up every page in their audit. Lookups in a stored map are faster than computing the locations.
        self.unstarted_drive().backend.controller.store_map();
        self.add_probe(Box::new(oracles));
    }
}

/// Returns the error for a user-supplied policy, set by the key `key`, that the interconnect cannot use. `why` is the reason, `help` the remedy.
fn unable(info: &FabricInfo, key: &'static str, why: &str, help: &str) -> RunError {
    unfit(info, key, why, help).into()
}

fn unfit(info: &FabricInfo, key: &'static str, why: &str, help: &str) -> FabricError {
    let message = format!("{key} does not act on fabric.kind = {}, which {why}", info.name);
    FabricError { keys: vec![key, "fabric.kind"], message, help: format!("leave it out, or {help}") }
}
