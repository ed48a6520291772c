//! Random small drives and workloads for tests of whole drives.
#![allow(missing_docs)]

mod cache;
mod cores;
mod flash;
mod host;
mod interconnect;
mod mapping;
pub mod policies;
pub mod slc;
mod stripes;
pub mod units;

use flashmesh::config::{
    Allocation, ArrayLevel, Config, FirmwarePolicy, FirstTouch, Ftl, HomeOrder, MovedPages, PageMove, PreconditionKind,
    ProgramOrder, Suspension, VictimPolicy, WriteBinding,
};
use flashmesh::units::{Bytes, Time};
use flashmesh::workload::{IoRequest, RequestKind};
use proptest::option;
use proptest::prelude::*;
use proptest::sample::select;

use super::partitions::{division, first_capacity};
use cache::cache;
use cores::cores;
use flash::{flash, read_planes_alone, schedule};
use host::{Attached, host};
use interconnect::interconnect;
use mapping::mapping;

#[derive(Clone, Debug)]
pub struct Case {
    pub config: Config,
    pub requests: Vec<IoRequest>,
}

fn order() -> impl Strategy<Value = [ArrayLevel; 4]> {
    Just(ArrayLevel::ALL.to_vec())
        .prop_shuffle()
        .prop_map(|levels| levels.try_into().expect("the vector has four levels"))
}

fn home_order() -> impl Strategy<Value = HomeOrder> {
    order().prop_map(HomeOrder)
}

/// Returns a strategy that draws one of the 24 static orders, or a dynamic allocation.
fn allocation() -> impl Strategy<Value = Allocation> {
    prop_oneof![4 => order().prop_map(Allocation::Static), 1 => Just(Allocation::Dynamic), 1 => Just(Allocation::FreeChannel)]
}

fn ftl() -> impl Strategy<Value = Ftl> {
    (allocation(), home_order(), select(WriteBinding::ALL), select(FirstTouch::ALL)).prop_map(
        |(allocation, home_order, write_binding, first_touch)| Ftl {
            allocation,
            home_order: if allocation.is_dynamic() { home_order } else { Ftl::default().home_order },
            write_binding,
            first_touch: if write_binding == WriteBinding::Early { first_touch } else { FirstTouch::Home },
            ..Ftl::default()
        },
    )
}

pub fn time_us(range: std::ops::RangeInclusive<u64>) -> impl Strategy<Value = Time> {
    range.prop_map(Time::from_us)
}

fn geometry() -> impl Strategy<Value = flashmesh::config::Geometry> {
    let shape = (1..=3u32, 1..=3u32, 1..=2u32, 1..=4u32, 8..=24u32, 4..=16u32);
    let page = (select(vec![1u64, 4, 16]), select(vec![0u64, 224]));
    // Surplus over the minimum over-provisioning of a drive: blocks per plane, and pages of the whole drive.
    let space = (0..=3u32, 0..=3u32);
    (shape, page, space).prop_map(|(shape, (page_kib, spare), (extra_blocks, missing_pages))| {
        let (channels, chips_per_channel, dies_per_chip, planes_per_die, blocks_per_plane, pages_per_block) = shape;
        let planes = channels * chips_per_channel * dies_per_chip * planes_per_die;
        let logical = planes * (blocks_per_plane - 4 - extra_blocks) * pages_per_block - missing_pages;
        let mut geometry = flashmesh::config::Geometry {
            channels,
            chips_per_channel,
            dies_per_chip,
            planes_per_die,
            blocks_per_plane,
            pages_per_block,
            page_size: Bytes::from_kib(page_kib),
            page_spare: Bytes::new(spare),
            ..Default::default()
        };
        geometry.capacity = Some(geometry.page_size * u64::from(logical));
        geometry
    })
}

fn collection() -> impl Strategy<Value = (flashmesh::config::Gc, flashmesh::config::Wear)> {
    let victim = select(VictimPolicy::ALL);
    // GC thresholds of at most 16 %, which is below the over-provisioning of any drawn drive: at least 4 of 24 blocks.
    let shares = (0..=16u32, 0..=16u32, select(vec![0u32, 17, 50, 90]));
    let wear = (any::<bool>(), any::<bool>(), 1..=4u32);
    let moves = (any::<bool>(), select(MovedPages::ALL));
    (victim, 1..=8u32, shares, any::<bool>(), moves, wear).prop_map(
        |(victim, d, (low, high, background), preemptible, moves, (dynamic, static_levelling, static_threshold))| {
            let (copyback, moved_pages) = moves;
            let share = |percent: u32| f64::from(percent) / 100.0;
            let gc = flashmesh::config::Gc {
                victim,
                d,
                threshold: share(low.max(high)),
                hard_threshold: share(low.min(high)),
                preemptible,
                r#move: PageMove::ThroughController,
                moved_pages: Some(moved_pages),
                copyback,
                background_threshold: share(background),
                ..Default::default()
            };
            (gc, flashmesh::config::Wear { dynamic, static_levelling, static_threshold })
        },
    )
}

pub fn drive() -> impl Strategy<Value = Config> {
    let precondition = (select(PreconditionKind::ALL), select(vec![0.1, 0.5, 1.0]), select(vec![0.4, 0.9, 1.0]));
    let array = (geometry(), mapping(), cache(), division(), cores());
    (0..1000u64, array, flash(), interconnect(), schedule(), ftl(), collection(), host(), precondition).prop_map(
        |(seed, array, flash, interconnect, schedule, ftl, (gc, wear), attached, (kind, fill, written))| {
            let (geometry, mapping, cache, division, firmware) = array;
            let Attached { host, nvme, sata, queue, replay } = attached;
            let mut config = Config {
                seed,
                geometry,
                flash,
                gc,
                wear,
                host,
                nvme,
                sata,
                firmware,
                queue,
                replay,
                ..Config::default()
            };
            interconnect.fit(&mut config);
            mapping.fit(&mut config);
            cache.fit(&mut config);
            config.schedule = schedule;
            config.ftl = ftl;
            if config.ftl.write_binding == WriteBinding::Early {
                config.flash.program_order = ProgramOrder::Any;
                config.geometry.blocks_per_plane += 1;
            }
            config.precondition.kind = kind;
            config.precondition.fill = fill;
            config.precondition.written = written;
            division.fit(&mut config);
            // A program that holds its path would block the read that is to suspend it.
            if config.suspension() != Suspension::Off {
                config.fabric.hold_path = config.fabric.hold_path.without_programs();
            }
            config
        },
    )
}

#[derive(Clone, Copy, Debug)]
struct Sketch {
    kind: RequestKind,
    /// First page, in 65536ths of the footprint.
    at: u16,
    /// Offset in the first page, in sectors.
    into: u64,
    pages: u64,
    sectors: i64,
    gap: Time,
    is_beyond: bool,
}

fn sketch() -> impl Strategy<Value = Sketch> {
    let kind = prop_oneof![
        4 => Just(RequestKind::Read),
        8 => Just(RequestKind::Write),
        1 => Just(RequestKind::Deallocate),
        1 => Just(RequestKind::Flush),
        1 => Just(RequestKind::WriteZeroes),
    ];
    let partial = prop_oneof![2 => Just((0, 0)), 1 => (0..=3u64, -1..=3i64)];
    let is_beyond = proptest::bool::weighted(0.02);
    (kind, any::<u16>(), partial, 1..=6u64, 0..=100u64, is_beyond).prop_map(
        |(kind, at, (into, sectors), pages, gap, is_beyond)| Sketch {
            kind,
            at,
            into,
            pages,
            sectors,
            gap: Time::from_us(gap),
            is_beyond,
        },
    )
}

/// Converts a sketch to a request within the first `pages` pages of the first namespace, or beyond the `capacity` of that namespace.
fn fit(config: &Config, capacity: Bytes, pages: u64, sketch: &Sketch, arrival: Time) -> IoRequest {
    if sketch.kind == RequestKind::Flush {
        return IoRequest { arrival, kind: sketch.kind, offset: Bytes::ZERO, size: Bytes::ZERO, stream: 0 };
    }
    let (page, sector) = (config.mapping_unit().as_u64(), config.geometry.sector_size.as_u64());
    let end = pages * page;
    let first = u64::from(sketch.at) * pages / 65536;
    let offset = (first * page + sketch.into * sector).min(end - sector);
    let size = (sketch.pages * page).saturating_add_signed(sketch.sectors * sector as i64);
    let size = size.clamp(sector, end - offset);
    let offset = if sketch.is_beyond { offset + capacity.as_u64() } else { offset };
    IoRequest { arrival, kind: sketch.kind, offset: Bytes::new(offset), size: Bytes::new(size), stream: 0 }
}

/// Returns a strategy that draws a drive and up to 399 requests to a part of its first namespace.
pub fn case() -> impl Strategy<Value = Case> {
    with_independent_planes(case_of(1..400))
}

/// Like [`case`], but most drives have mapping units smaller than a page, or programs of word lines.
pub fn case_in_units() -> impl Strategy<Value = Case> {
    let mbm = option::weighted(0.3, policies::managed(vec![FirmwarePolicy::Mbm]));
    let drive = (drive(), units::units(), mbm).prop_map(|(mut config, units, mbm)| {
        units.fit(&mut config);
        if let Some(mbm) = mbm.filter(|_| config.ftl.policy == FirmwarePolicy::Page) {
            mbm.fit(&mut config);
        }
        config
    });
    case_on(drive, 1..400)
}

/// Like [`case`], but drives move pages from chip to chip if they can, and most program several mapping units at once.
pub fn case_that_sends_units() -> impl Strategy<Value = Case> {
    let drawn = (drive(), units::units(), any::<bool>());
    let drive = drawn.prop_map(|(mut config, units, cleans)| {
        interconnect::send_pages(&mut config, cleans);
        units.fit_alone(&mut config);
        config
    });
    case_on(drive, 1..400)
}

/// Like [`case`], but most drives have an SLC cache.
pub fn case_with_slc() -> impl Strategy<Value = Case> {
    let managed = option::weighted(0.6, policies::managed(FirmwarePolicy::ALL.to_vec()));
    let drawn = (drive(), option::weighted(0.5, units::units()), managed, slc::slc());
    let drive = drawn.prop_map(|(mut config, units, managed, slc)| {
        if let Some(units) = units {
            units.fit(&mut config);
        }
        if let Some(managed) = managed {
            managed.fit(&mut config);
        }
        slc.fit(&mut config);
        config
    });
    case_on(drive, 1..400)
}

/// Returns a strategy that draws a drive, and a number of requests in the given range to a part of its first namespace.
pub fn case_of(requests: std::ops::Range<usize>) -> impl Strategy<Value = Case> {
    case_on(drive(), requests)
}

/// Returns a strategy like `cases`, in which planes read independently in a fifth of the drives.
pub fn with_independent_planes(cases: impl Strategy<Value = Case>) -> impl Strategy<Value = Case> {
    (cases, option::weighted(0.2, at_once_max())).prop_map(|(case, independent)| match independent {
        Some(at_once_max) => on_independent_planes(case, at_once_max),
        None => case,
    })
}

/// Returns a strategy like `cases`, in which planes read independently in all drives with several planes per die.
pub fn all_on_independent_planes(cases: impl Strategy<Value = Case>) -> impl Strategy<Value = Case> {
    (cases, at_once_max()).prop_map(|(case, at_once_max)| on_independent_planes(case, at_once_max))
}

fn at_once_max() -> impl Strategy<Value = Option<u32>> {
    option::of(1..=3u32)
}

fn on_independent_planes(mut case: Case, at_once_max: Option<u32>) -> Case {
    if case.config.geometry.planes_per_die > 1 {
        read_planes_alone(&mut case.config, at_once_max);
    }
    case
}

fn case_on(drive: impl Strategy<Value = Config>, requests: std::ops::Range<usize>) -> impl Strategy<Value = Case> {
    let stripes = option::weighted(0.3, (0..=10u64, any::<bool>()));
    let drawn = (drive, proptest::collection::vec(sketch(), requests), 1..=100u64, stripes);
    drawn.prop_map(|(mut config, sketches, percent, stripes)| {
        if let Some((tenths, is_paced)) = stripes {
            stripes::send(&mut config, tenths, is_paced);
        }
        let capacity = first_capacity(&config);
        let pages = capacity.as_u64() / config.mapping_unit().as_u64();
        let footprint = (pages * percent).div_ceil(100);
        let mut arrival = Time::ZERO;
        let requests = sketches
            .iter()
            .map(|sketch| {
                arrival += sketch.gap;
                fit(&config, capacity, footprint, sketch, arrival)
            })
            .collect();
        Case { config, requests }
    })
}
