//! Random mapping units and program units, added to random drives.

use flashmesh::config::{
    Config, FirmwarePolicy, FirstTouch, PageMove, PageTypes, ProgramUnit, Suspension, WriteBinding, WriteStreams,
};
use flashmesh::flash::geometry::Geometry;
use flashmesh::units::{Bytes, Time};
use proptest::prelude::*;
use proptest::sample::select;

use super::super::partitions;

/// Random mapping unit (units per page, or pages per unit) and program unit.
#[derive(Clone, Debug)]
pub struct Units {
    per_page: u64,
    pages: u64,
    program_unit: ProgramUnit,
    gather_timeout: Time,
    is_paced: bool,
    is_twin: bool,
    is_wide: bool,
}

pub fn units() -> impl Strategy<Value = Units> {
    let timeout = (0..=600u64).prop_map(Time::from_us);
    let choices = (any::<bool>(), any::<bool>(), any::<bool>());
    // Pairs (units per page, pages per unit).
    let sizes = vec![(1u64, 1u64), (2, 1), (4, 1), (8, 1), (1, 2), (1, 4), (1, 8)];
    (select(sizes), select(ProgramUnit::ALL), timeout, choices).prop_map(
        |((per_page, pages), program_unit, gather_timeout, (is_paced, is_twin, is_wide))| Units {
            per_page,
            pages,
            program_unit,
            gather_timeout,
            is_paced,
            is_twin,
            is_wide,
        },
    )
}

impl Units {
    /// Sets these units in `config` and disables features that exclude them. Keeps the capacity. Leaves `config` unchanged if the result would be
    /// invalid.
    pub fn fit(&self, config: &mut Config) {
        let before = config.clone();
        self.divide(config);
        if config.validate().is_err() {
            *config = before;
        }
    }

    /// Like [`fit`](Self::fit), but without the TBM and superblock policies.
    pub fn fit_alone(self, config: &mut Config) {
        Units { is_twin: false, ..self }.fit(config);
    }

    fn divide(&self, config: &mut Config) {
        let geometry = &mut config.geometry;
        let (page, sector) = (geometry.page_size, geometry.sector_size);
        let per_page = self.per_page.min(page.as_u64() / sector.as_u64());
        let unit = Bytes::new(page.as_u64() / per_page) * self.pages;
        config.ftl.mapping_unit = (unit != page).then_some(unit);
        if self.program_unit == ProgramUnit::WordLine && config.flash.page_types != PageTypes::One {
            config.flash.program_unit = ProgramUnit::WordLine;
            config.flash.middle_page_program_time = None;
            config.flash.upper_page_program_time = None;
            config.flash.top_page_program_time = None;
        }
        let pages = config.pages_per_program();
        if self.pages > 1 {
            self.enlarge(config);
        }
        if config.units_per_program() == 1 {
            return;
        }
        // Blocks have at least two word lines: a block of one would rarely be worth collecting.
        config.geometry.pages_per_block =
            config.geometry.pages_per_block.next_multiple_of(pages.max(self.pages as u32)).max(2 * pages);
        config.ftl.gather_timeout = self.gather_timeout;
        if config.gc.r#move == PageMove::Clean && config.nossd.half_duplex {
            // A buffer must hold the page list of a Clean packet (a move of a whole block to another chip).
            let units = config.geometry.pages_per_block * config.units_per_page() / config.pages_per_unit();
            let list = config.nossd.read_request_flits + 4 * units;
            config.nossd.buffer_flits = config.nossd.buffer_flits.max(list);
        }
        config.gc.paced = self.is_paced && config.gc.preemptible;
        config.mapping.read_size = None;
        config.mapping.write_back_read_size = None;
        config.mapping.stored_entry_size = config.mapping.stored_entry_size.min(unit);
        let planes = u64::from(config.geometry.planes_per_die);
        if config.cache.capacity > Bytes::ZERO {
            config.cache.capacity = config.cache.capacity.max(page * (u64::from(pages) * planes));
        }
        let divides_planes = config.namespace.iter().any(|(_, space)| space.planes.is_some());
        let is_plain = config.ftl.policy == FirmwarePolicy::Page;
        if self.is_twin && planes > 1 && is_plain && !divides_planes {
            config.ftl.policy = if self.is_wide { FirmwarePolicy::Superblock } else { FirmwarePolicy::Tbm };
            config.ftl.write_binding = WriteBinding::Late;
            config.ftl.first_touch = FirstTouch::Home;
            config.ftl.write_streams = WriteStreams::Shared;
            config.gc.copyback = false;
            config.gc.r#move = PageMove::ThroughController;
        }
        self.spare(config);
        // A program that holds its path would block the read that is to suspend it.
        if config.suspension() != Suspension::Off {
            config.fabric.hold_path = config.fabric.hold_path.without_programs();
        }
    }

    /// Enlarges blocks and buffers for mapping units of several pages.
    fn enlarge(&self, config: &mut Config) {
        let in_unit = self.pages as u32 * if config.slc.is_on() { config.pages_per_word_line() } else { 1 };
        let unit = config.mapping_unit();
        // Blocks keep their number of mapping units.
        config.geometry.pages_per_block *= self.pages as u32;
        config.geometry.pages_per_block = config.geometry.pages_per_block.next_multiple_of(in_unit);
        config.geometry.capacity = config.geometry.capacity.map(|capacity| capacity * self.pages);
        if config.cache.capacity > Bytes::ZERO {
            config.cache.capacity = config.cache.capacity * self.pages;
        }
        config.mapping.read_size = config.mapping.read_size.map(|size| size.min(unit));
        self.spare(config);
    }

    fn spare(&self, config: &mut Config) {
        while Geometry::from_config(config).is_err() || partitions::surplus(config) < 0 {
            config.geometry.blocks_per_plane += 1;
        }
    }
}
