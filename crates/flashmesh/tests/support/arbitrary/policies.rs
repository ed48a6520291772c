//! Random firmware policies, added to random drives with the policy `page`.

use flashmesh::config::{
    AreaRule, AreaWrites, Config, FirmwarePolicy, FirstTouch, Mbm, McsBegins, MovedPages, PageMove, ParityShare,
    ReallocationTrigger, Schedule, Suspension, WriteBinding, WriteStreams,
};
use proptest::prelude::*;
use proptest::sample::{Index, select};

/// Random firmware policy with its settings.
#[derive(Clone, Debug)]
pub struct Managed {
    policy: FirmwarePolicy,
    moved_pages: MovedPages,
    mbm: Mbm,
    /// Read threshold of MBM, in pages; `area` is in pages as well.
    threshold: u64,
    area: u64,
    has_parity: bool,
    divisor: Index,
}

/// Returns a strategy that draws one of `policies`, with random settings.
pub fn managed(policies: Vec<FirmwarePolicy>) -> impl Strategy<Value = Managed> {
    let parts = (any::<bool>(), any::<bool>(), any::<bool>(), select(Suspension::ALL));
    let reads = (1..=6u64, 1..=40u64, select(vec![0u32, 4, 64]), select(MovedPages::ALL));
    let readings = (any::<bool>(), select(McsBegins::ALL), select(AreaRule::ALL));
    let layouts = (select(AreaWrites::ALL), select(ReallocationTrigger::ALL));
    let drawn = (select(policies), parts, reads, readings, layouts, any::<Index>());
    drawn.prop_map(|(policy, parts, reads, readings, (area_writes, reallocation_trigger), divisor)| {
        let (ws, rs, mcs, suspension) = parts;
        let (threshold, area, reallocations_max, moved_pages) = reads;
        let (reads_before_collection, mcs_begins, area_rule) = readings;
        let mbm = Mbm {
            ws,
            rs,
            mcs,
            suspension,
            reallocations_max,
            reads_before_collection,
            mcs_begins,
            area_rule,
            area_writes,
            reallocation_trigger,
            ..Mbm::default()
        };
        Managed { policy, moved_pages, mbm, threshold, area, has_parity: ws, divisor }
    })
}

impl Managed {
    /// Sets this policy in `config`, or leaves `config` unchanged if the result is invalid.
    pub fn fit(&self, config: &mut Config) {
        let before = config.clone();
        self.put(config);
        if config.validate().is_err() {
            *config = before;
        }
    }

    /// Sets this policy in `config`, and the keys that it requires. The planes may still lack a spare block.
    pub fn put(&self, config: &mut Config) {
        config.ftl.policy = self.policy;
        match self.policy {
            FirmwarePolicy::Page => config.gc.moved_pages = Some(self.moved_pages),
            FirmwarePolicy::Sprinkler => {
                config.gc.moved_pages = Some(self.moved_pages);
                // Sprinkler brings its own scheduler, so `[schedule]` must keep its defaults.
                config.schedule = Schedule::default();
            }
            FirmwarePolicy::Tbm => {
                config.gc.moved_pages = Some(self.moved_pages);
                work_together(config);
            }
            FirmwarePolicy::Superblock => {
                config.gc.moved_pages = Some(self.moved_pages);
                work_together(config);
                self.put_superblocks(config);
            }
            FirmwarePolicy::Mbm => {
                config.gc.moved_pages = None;
                work_together(config);
                self.put_mbm(config);
            }
        }
    }

    fn put_superblocks(&self, config: &mut Config) {
        let least = if config.geometry.planes_per_die == 1 { 2 } else { 1 };
        let widths = divisors(least..=config.dies(), config.dies());
        config.superblock.dies = Some(*self.divisor.get(&widths)).filter(|&dies| dies < config.dies());
        let dies = config.superblock_dies();
        let shares = divisors(2..=dies, dies);
        if self.has_parity && !shares.is_empty() {
            let without = config.clone();
            config.ftl.parity = Some(ParityShare(*self.divisor.get(&shares)));
            if config.validate().is_err() {
                *config = without;
            }
        }
    }

    fn put_mbm(&self, config: &mut Config) {
        let page = config.geometry.page_size;
        config.mbm =
            Mbm { read_threshold: page * self.threshold, area_size: Some(page * self.area), ..self.mbm.clone() };
        if config.suspension() != Suspension::Off {
            config.fabric.hold_path = config.fabric.hold_path.without_programs();
        }
    }
}

fn divisors(range: std::ops::RangeInclusive<u32>, of: u32) -> Vec<u32> {
    range.filter(|divisor| of.is_multiple_of(*divisor)).collect()
}

/// Gives the drive several planes per die if the policy needs planes or dies that work together.
fn work_together(config: &mut Config) {
    if config.geometry.planes_per_die == 1 && (config.ftl.policy != FirmwarePolicy::Superblock || config.dies() == 1) {
        // Scale the capacity, so that each plane keeps its number of logical pages.
        config.geometry.planes_per_die = 2;
        let pages = config.geometry.capacity.map(|capacity| capacity.as_u64() / config.geometry.page_size.as_u64());
        config.geometry.capacity = pages.map(|pages| config.geometry.page_size * (2 * pages));
    }
    config.ftl.write_binding = WriteBinding::Late;
    config.ftl.first_touch = FirstTouch::Home;
    config.ftl.write_streams = WriteStreams::Shared;
    if config.ftl.policy != FirmwarePolicy::Mbm {
        config.gc.copyback = false;
        config.gc.r#move = PageMove::ThroughController;
        config.namespace.clear();
        config.queue.namespace = None;
        config.stream.iter_mut().for_each(|stream| stream.queue.namespace = None);
    }
}
