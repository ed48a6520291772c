//! Oracles: invariants of the simulation, checked by code that is independent of the simulator's.
//!
//! The oracles receive the notices of a run as a probe, keep their own model of the drive, and compare. They are always on in tests, and in any run
//! with `--check`. Each oracle is a module.
//!
//! The flash array, in `array`:
//!
//! - `addresses`: the geometry of the drive agrees with the configuration;
//! - `dies`: a die does one operation at a time, for the time of its kind and pages, suspensions included;
//! - `planes`: planes join an operation as the multi-plane rule allows, each with one page;
//! - `programs`: the units of a page or word line are programmed by one operation between erases;
//! - `pages`: a page is programmed once between erases, in order, within the size of its block, and no erase destroys a newest version;
//! - `parity`: parity of superblocks follows every N - 1 data programs on a die, once.
//!
//! Transfers over the interconnect, in `transfers`:
//!
//! - `links`: a link is used for one die at a time, to which it leads, and no link stays held without need;
//! - `searches`: a scout (path search) of Venice that meets no other scout has the outcome that a flood fill predicts;
//! - `paths`: a path carries one transfer at a time, and every byte sent arrives once;
//! - `holds`: with `fabric.hold-path` a transaction keeps its path until it ends, and then releases it;
//! - `commands`: a command matches its operation and takes the configured time, and a transfer over a channel takes the time of its bytes;
//! - `data`: the data of a program comes with its command or was copied from another chip, and read data leaves with the requested size.
//!
//! The address map, in `map`:
//!
//! - `mapping`: the map of the translation layer is a bijection and agrees with the array;
//! - `entries`: map entries are read before use, and written back before they are dropped;
//! - `durability`: after a power cut recovery finds all programmed pages, and confirmed deallocations stay in effect.
//!
//! Host requests, in `host`:
//!
//! - `queues`: host queues do not overflow, and commands are fetched once and in order;
//! - `namespaces`: a request stays within its namespace, whose pages lie on the planes bound to it;
//! - `requests`: every request completes once, with all of its pages, and a flush after the writes before it;
//! - `freshness`: every read returns the newest version, and no write is lost.
//!
//! Other parts of the drive:
//!
//! - `cache`: the device cache returns no stale data and loses none;
//! - `cores`: a core of the controller does one job at a time, in order of arrival, and every command, completion and move had its job;
//! - `clock`: time never decreases;
//! - `energy`: the energy in the report is the sum over the observed events.
//!
//! The oracles share no arithmetic with the simulator: addresses, times and ranges come from `arithmetic`, which depends only on the configuration.

mod arithmetic;
mod array;
mod cache;
mod clock;
mod cores;
mod energy;
pub mod expected_fabrics;
#[cfg(test)]
mod histories;
mod hooks;
mod host;
mod id_vec;
mod map;
mod probe;
mod read_parts;
#[cfg(test)]
mod slc_faults;
mod transfers;

use rustc_hash::FxHashSet;

use crate::config::Config;
use crate::error::{RunError, Violation};
use crate::flash::geometry::Geometry;
use crate::ftl::Ftl;
use crate::ids::{DieId, LinkId, Lpn, Ppn, RequestId};
pub use crate::kernel::probe::{FabricEndState, Origin};
use crate::power::energy::PowerReport;
use crate::units::Time;

use arithmetic::{ArrayTree, SlcArea, in_units, pages_per_unit, units_per_page};
use array::dies::Dies;
use array::pages::Pages;
use array::parity::Parity;
use array::planes::Planes;
use array::programs::Programs;
use cache::Cache;
use clock::Clock;
use cores::Cores;
use energy::Energy;
use expected_fabrics::ExpectedFabric;
use host::freshness::Freshness;
use host::namespaces::Namespaces;
pub(crate) use host::queues::Queues;
use host::requests::Requests;
use map::durability::Durability;
use map::entries::Entries;
use map::mapping::Mapping;
use transfers::commands::Commands;
use transfers::data::Data;
use transfers::holds::Holds;
use transfers::links::Links;
use transfers::paths::Paths;

/// All oracles (independent checks) of a run.
///
/// The hooks must be called in the order of events. [`Oracles::verdict`] returns the first violation; later ones are ignored, because the models may
/// be wrong after the first.
#[derive(Clone, Debug)]
pub struct Oracles {
    homes: ArrayTree,
    slc: SlcArea,
    units_per_page: u32,
    pages_per_unit: u32,
    clock: Clock,
    links: Links,
    paths: Paths,
    holds: Holds,
    commands: Commands,
    cores: Cores,
    data: Data,
    dies: Dies,
    planes: Planes,
    programs: Programs,
    pages: Pages,
    parity: Parity,
    durability: Durability,
    freshness: Freshness,
    cache: Option<Cache>,
    mapping: Mapping,
    namespaces: Namespaces,
    entries: Entries,
    queues: Queues,
    requests: Requests,
    energy: Energy,
    /// Pages that the array must read as a whole for a request that covers only a part of the page.
    whole: FxHashSet<(RequestId, Lpn)>,
    violation: Option<Violation>,
}

impl Oracles {
    /// Creates the oracles (independent checks) of a drive that has not run yet, and checks `geometry`.
    #[cfg(any(test, feature = "internals"))]
    pub fn new(geometry: &Geometry, config: &Config) -> Oracles {
        Oracles::with_expected(expected_fabrics::expected_of(config.fabric.kind), geometry, config)
    }

    /// Creates the oracles (independent checks) of a drive whose interconnect should have the properties `expected`, and checks `geometry`.
    pub fn with_expected(expected: &ExpectedFabric, geometry: &Geometry, config: &Config) -> Oracles {
        let mut oracles = Oracles {
            homes: ArrayTree::new(&in_units(config)),
            slc: SlcArea::new(config),
            units_per_page: units_per_page(config),
            pages_per_unit: pages_per_unit(config),
            clock: Clock::default(),
            links: Links::new(expected, config),
            paths: Paths::default(),
            holds: Holds::new(config.fabric.hold_path),
            commands: Commands::new(expected, config),
            cores: Cores::new(config),
            data: Data::new(config),
            dies: Dies::new(expected, config),
            planes: Planes::new(config),
            programs: Programs::new(config),
            pages: Pages::new(config),
            parity: Parity::new(config),
            durability: Durability::default(),
            freshness: Freshness::new(config),
            cache: Cache::new(config),
            mapping: Mapping::new(&config.geometry),
            namespaces: Namespaces::new(config),
            entries: Entries::new(config),
            queues: Queues::new(
                config,
                &config.streams().iter().map(|stream| stream.queue.priority).collect::<Vec<_>>(),
            ),
            requests: Requests::new(config),
            energy: Energy::new(expected, config),
            whole: FxHashSet::default(),
            violation: None,
        };
        oracles.judge(array::addresses::NAME, array::addresses::audit(geometry, config), Time::ZERO);
        oracles
    }

    /// Creates oracles (checks of a run) that report a violation at once, because they have no expectations of the interconnect `kind`.
    pub(crate) fn of_unknown(kind: &str, geometry: &Geometry, config: &Config) -> Oracles {
        let mut oracles = Oracles::with_expected(&expected_fabrics::UNKNOWN, geometry, config);
        let message = format!(
            "the oracles know nothing of interconnects of the kind `{kind}`: enable them by Simulation::enable_checks_of, with what \
             is to be expected of it"
        );
        oracles.judge("kinds", Err(message), Time::ZERO);
        oracles
    }

    #[cfg(test)]
    pub fn violation(&self) -> Option<&Violation> {
        self.violation.as_ref()
    }

    /// Returns the result of all checks so far.
    ///
    /// # Errors
    /// The first violation that an oracle found.
    pub fn verdict(&self) -> Result<(), RunError> {
        match &self.violation {
            Some(violation) => Err(RunError::Check(violation.clone())),
            None => Ok(()),
        }
    }

    fn judge(&mut self, oracle: &'static str, outcome: Result<(), String>, at: Time) {
        if let Err(message) = outcome
            && self.violation.is_none()
        {
            self.violation = Some(Violation { at, oracle, message });
        }
    }

    pub fn event(&mut self, at: Time) {
        let outcome = self.clock.moved(at);
        self.judge(Clock::NAME, outcome, at);
        let outcome = self.cores.moved(at);
        self.judge(Cores::NAME, outcome, at);
        let outcome = self.holds.moved(at);
        self.judge(Holds::NAME, outcome, at);
    }

    pub fn settled(&mut self, ftl: &Ftl, now: Time) {
        let outcome = self.planes.settled();
        self.judge(Planes::NAME, outcome, now);
        let outcome = self.entries.settled();
        self.judge(Entries::NAME, outcome, now);
        let outcome =
            self.mapping.settled(&mut self.pages, |lpn| ftl.lookup(lpn), |lpn| ftl.replica_of(lpn), || ftl.audit());
        self.judge(Mapping::NAME, outcome, now);
    }

    /// Runs the final checks of a run. `held` are the links that are held at the end, each with the die that holds it. `complete` is false
    /// if the run was cancelled.
    pub fn finish(&mut self, ftl: &Ftl, held: &[(LinkId, DieId)], complete: bool, now: Time) {
        let outcome = self.links.finish(held, |die| self.dies.chip_works(die));
        self.judge(Links::NAME, outcome, now);
        let mut pages = self.pages.touched();
        pages.extend(self.pages.replicated());
        let outcome = self.pages.replicas_agree(&pages, |lpn| ftl.replica_of(lpn));
        self.judge(Mapping::NAME, outcome, now);
        self.finish_with(|lpn| ftl.lookup(lpn), || ftl.audit(), complete, now);
    }

    pub fn reported(&mut self, power: &PowerReport, links: FabricEndState<'_>, now: Time) {
        let outcome = self.energy.finish(power, links, now);
        self.judge(Energy::NAME, outcome, now);
    }

    fn finish_with(
        &mut self,
        lookup: impl Fn(Lpn) -> Option<Ppn>,
        audit: impl FnOnce() -> Result<(), String>,
        complete: bool,
        now: Time,
    ) {
        if complete {
            let outcome = self.requests.finish();
            self.judge(Requests::NAME, outcome, now);
            let outcome = self.paths.finish();
            self.judge(Paths::NAME, outcome, now);
        }
        let outcome = self.planes.settled();
        self.judge(Planes::NAME, outcome, now);
        let outcome = self.namespaces.finish(&lookup);
        self.judge(Namespaces::NAME, outcome, now);
        let outcome = self.mapping.finish(&self.pages, lookup, audit);
        self.judge(Mapping::NAME, outcome, now);
    }
}
