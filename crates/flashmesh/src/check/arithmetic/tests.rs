//! Tests that the arithmetic of the oracles agrees with the independent arithmetic of the drive.

use proptest::prelude::*;
use proptest::sample::select;

use super::*;
use crate::cache::Sectors;
use crate::check::expected_fabrics::expected_of;
use crate::config::{self, Allocation, Config, FabricKind, Indices, Namespace, PageTypes};
use crate::fabric::{self, AnyFabric, Fabric, Grant, Outbox, Payload, TransferKind, TransferPhase};
use crate::flash::die::OperationKind;
use crate::flash::geometry::Geometry;
use crate::flash::timing::{OperationPageTypes, Timing};
use crate::ftl::allocation::{ORDERS, StaticOrder};
use crate::ftl::{Partition, TranslationPages};
use crate::ids::{BlockId, DieId, Lpn, PathId, PlaneId, Ppn};
use crate::units::{Bytes, Rate, Time};
use crate::workload::{IoRequest, RequestKind};

fn geometry() -> impl Strategy<Value = config::Geometry> {
    let shape = (1..=9u32, 1..=9u32, 1..=5u32, 1..=8u32, 5..=900u32, 1..=700u32);
    let page = (0..=9u32, prop_oneof![Just(0u64), 1..=3000u64], any::<bool>());
    let space = prop_oneof![(0.05..0.5f64).prop_map(Err), (1..=1000u64).prop_map(Ok)];
    let any = (shape, page, space).prop_map(|(shape, (page_shift, spare, is_coarse), space)| {
        let (channels, chips_per_channel, dies_per_chip, planes_per_die, blocks_per_plane, pages_per_block) = shape;
        let mut geometry = config::Geometry {
            channels,
            chips_per_channel,
            dies_per_chip,
            planes_per_die,
            blocks_per_plane,
            pages_per_block,
            page_size: Bytes::new(512 << page_shift),
            page_spare: Bytes::new(spare),
            sector_size: Bytes::new(if is_coarse && page_shift >= 3 { 4096 } else { 512 }),
            ..config::Geometry::default()
        };
        match space {
            Err(over_provisioning) => geometry.over_provisioning = over_provisioning,
            Ok(thousandths) => {
                let blocks = u64::from(blocks_per_plane - 4) * thousandths / 1000;
                let planes = u64::from(channels * chips_per_channel * dies_per_chip * planes_per_die);
                let pages = (blocks * planes * u64::from(pages_per_block)).max(1);
                // The capacity is not a whole number of pages, so that both sides must round it.
                geometry.capacity = Some(geometry.page_size * pages + Bytes::new(pages % 512));
            }
        }
        geometry
    });
    any.prop_filter("it can be simulated", |geometry| Geometry::new(geometry).is_ok())
}

fn of(geometry: &config::Geometry) -> (Geometry, ArrayTree, PageSplit) {
    let drive = Geometry::new(geometry).expect("geometries that cannot be simulated were filtered out");
    let config = crate::config::Config { geometry: geometry.clone(), ..Default::default() };
    (drive, ArrayTree::new(geometry), PageSplit::new(&config))
}

fn request(cuts: &PageSplit, random: (u64, u64), kind: RequestKind) -> IoRequest {
    let (sector, sectors) = (cuts.sector_size(), cuts.capacity().as_u64() / cuts.sector_size().as_u64());
    let first = random.0 % sectors;
    let size = sector * (1 + random.1 % (sectors - first).min(200));
    IoRequest { arrival: Time::ZERO, kind, offset: sector * first, size, stream: 0 }
}

fn command_times() -> impl Strategy<Value = Option<config::TimesByPlanes>> {
    let steps = proptest::collection::vec(0..=900u64, 1..=8);
    proptest::option::of(steps.prop_map(|steps| {
        let mut time = 0;
        let rising = steps.into_iter().map(|step| {
            time += step;
            Time::from_ns(time)
        });
        config::TimesByPlanes(rising.collect())
    }))
}

fn config() -> impl Strategy<Value = Config> {
    let own = || proptest::option::of((1..=400u64).prop_map(Time::from_us));
    let pages = (select(PageTypes::ALL), own(), own(), own(), own(), own(), own());
    let commands = (0..=50u64, proptest::option::of(0..=50u64), command_times(), command_times(), command_times());
    let channel = (select(FabricKind::ALL), prop_oneof![1..=(1u64 << 40), Just(u64::MAX)], 0..=64u64, 0..=30u64);
    (pages, commands, channel).prop_map(|(pages, commands, (kind, rate, bytes, decoding))| {
        let mut config = Config::default();
        let flash = &mut config.flash;
        (
            flash.page_types,
            flash.middle_page_read_time,
            flash.upper_page_read_time,
            flash.middle_page_program_time,
            flash.upper_page_program_time,
            flash.top_page_read_time,
            flash.top_page_program_time,
        ) = pages;
        let (command, extra, read, program, erase) = commands;
        flash.command_time = Time::from_ns(command);
        flash.command_time_per_extra_plane = extra.map(Time::from_ns);
        (flash.read_command_time, flash.program_command_time, flash.erase_command_time) = (read, program, erase);
        config.fabric.kind = kind;
        config.fabric.channel_rate = Rate::from_bytes_per_second(rate);
        let packets = &mut config.packets;
        (packets.control_packet, packets.data_header, packets.data_crc) =
            (Bytes::new(bytes), Bytes::new(bytes / 2), Bytes::new(bytes / 3));
        packets.on_die_controller_time = Time::from_ns(decoding);
        config
    })
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn pages_live_where_the_drive_says(geometry in geometry(), random in prop::collection::vec(any::<u32>(), 20)) {
        let (drive, homes, cuts) = of(&geometry);
        let counts = (drive.chips() as usize, drive.dies() as usize, drive.planes() as usize);
        prop_assert_eq!(counts, (homes.chips(), homes.dies(), homes.planes()));
        prop_assert_eq!((u64::from(drive.blocks()), u64::from(drive.pages())), (homes.blocks(), homes.pages()));
        prop_assert_eq!((drive.logical_pages, drive.capacity()), (cuts.logical_pages(), cuts.capacity()));
        let corners = [0, drive.pages() - 1];
        for ppn in random.into_iter().map(|number| number % drive.pages()).chain(corners).map(Ppn) {
            let (block, plane) = (drive.block_of(ppn), drive.plane_of(ppn));
            let die = drive.die_of_plane(plane);
            let chip = drive.chip_of(die);
            let page = drive.page_in_block(ppn);
            prop_assert_eq!((block, plane, page), (homes.block_of(ppn), homes.plane_of(ppn), homes.page_in_block(ppn)));
            prop_assert_eq!((die, die), (homes.die_of(ppn), homes.die_of_plane(plane)));
            prop_assert_eq!((chip, chip), (homes.chip_of_die(die), homes.chip_of_plane(plane)));
            prop_assert_eq!(drive.channel_of(chip), homes.channel_of_die(die));
            prop_assert_eq!(drive.plane_of_block(block), plane);
            prop_assert_eq!((drive.ppn(block, page), homes.ppn(block, page)), (ppn, ppn));
            prop_assert_eq!(drive.first_block(plane), homes.block(plane, 0));
            prop_assert_eq!(homes.block(plane, homes.block_in_plane(block)), block);
            let position = [
                drive.channel_of(chip).0,
                chip.0 % drive.chips_per_channel,
                die.0 % drive.dies_per_chip,
                drive.plane_in_die(plane),
            ];
            prop_assert_eq!(homes.position(plane), position);
            let dies: Vec<DieId> = homes.dies_of(chip).collect();
            let first = chip.0 * drive.dies_per_chip;
            prop_assert_eq!(dies, (first..first + drive.dies_per_chip).map(DieId).collect::<Vec<_>>());
            let first = drive.ppn(block, 0).0;
            let pages: Vec<Ppn> = homes.pages_of(BlockId(block.0)).collect();
            prop_assert_eq!(pages, (first..first + drive.pages_per_block).map(Ppn).collect::<Vec<_>>());
        }
    }

    #[test]
    fn requests_are_cut_as_the_drive_cuts_them(
        geometry in geometry(),
        random in prop::collection::vec(any::<(u64, u64)>(), 20),
    ) {
        let (drive, _, cuts) = of(&geometry);
        // Sectors are tracked only by the device cache, which limits their number per page.
        let has_cache = cuts.sectors() <= Sectors::MAX;
        for random in random {
            let io = request(&cuts, random, RequestKind::Read);
            let end = io.offset + io.size;
            let (first, last) = (drive.lpn_of(io.offset), drive.lpn_of(end - Bytes::new(1)));
            let extent = cuts.extent(&io);
            prop_assert_eq!(extent.pages().collect::<Vec<_>>(), (first.0..=last.0).map(Lpn).collect::<Vec<_>>());
            prop_assert_eq!((cuts.page_at(io.offset), extent.len()), (first, (last.0 - first.0) as usize + 1));
            let mut total = Bytes::ZERO;
            for (at, lpn) in extent.pages().enumerate() {
                let start = drive.page_size * u64::from(lpn.0);
                let covered = end.min(start + drive.page_size) - io.offset.max(start);
                prop_assert_eq!((extent.page(at), extent.position(lpn)), (lpn, Some(at)));
                prop_assert_eq!(cuts.bytes(&io, lpn), covered);
                prop_assert_eq!(extent.is_partial(lpn), covered < drive.page_size);
                if has_cache {
                    prop_assert_eq!(drive.sector_size * u64::from(cuts.touched(&io, lpn).count()), covered);
                }
                prop_assert!(at == 0 || at + 1 == extent.len() || !extent.is_partial(lpn));
                total += covered;
            }
            prop_assert_eq!(total, io.size);
            if has_cache {
                let within = drive.sector_size * u64::from(cuts.touched(&io, first).first());
                prop_assert_eq!(within, io.offset - drive.page_size * u64::from(first.0));
            }
            prop_assert_eq!((extent.position(Lpn(last.0 + 1)), cuts.bytes(&io, Lpn(last.0 + 1))), (None, Bytes::ZERO));
        }
    }

    #[test]
    fn the_array_and_its_commands_take_the_times_of_the_drive(config in config()) {
        let times = ExpectedTimes::new(expected_of(config.fabric.kind), &config);
        let timing = Timing::new(&config, fabric::info_of(config.fabric.kind).on_die_controller_time(&config));
        for kind in OperationKind::ALL {
            for (read, programmed) in (0..20).flat_map(|read| (0..20).map(move |programmed| (read, programmed))) {
                let pages = OperationPageTypes { read: timing.page_type(|| read), programmed: timing.page_type(|| programmed) };
                prop_assert_eq!(timing.array_time(kind, pages), times.array(kind, PageAt::Native(read), PageAt::Native(programmed)));
            }
            for planes in 1..=8 {
                prop_assert_eq!(timing.command_time(kind, planes as usize), times.command(kind, planes));
            }
        }
    }

    #[test]
    fn a_channel_takes_the_time_of_the_drive(
        config in config(),
        bytes in prop_oneof![Just(0u64), 0..=4_000_000u64],
        planes in 1..=8u32,
    ) {
        let times = ExpectedTimes::new(expected_of(config.fabric.kind), &config);
        let commands = [(TransferKind::Read, 10), (TransferKind::Program, 20), (TransferKind::Erase, 30), (TransferKind::Copyback, 40)];
        for (message, command) in commands.into_iter().chain([(TransferKind::Data, 0)]) {
            let payload = Payload { kind: message, planes, command_time: Time::from_ns(command), bytes: Bytes::new(bytes) };
            let Some(expected) = times.on_channel(payload) else {
                prop_assert!(matches!(config.fabric.kind, FabricKind::Pnssd | FabricKind::Nossd | FabricKind::Venice));
                return Ok(());
            };
            let geometry = Geometry::new(&config.geometry).expect("the default geometry is valid");
            let mut fabric = AnyFabric::new(&config, &geometry).expect("a channel fits any drive");
            let mut outbox = Outbox::default();
            fabric.acquire(DieId(0), TransferPhase::Command, Time::ZERO, &mut outbox);
            let grant = Grant { die: DieId(0), phase: TransferPhase::Command, path: PathId(0) };
            prop_assert_eq!(fabric.send(grant, payload, Time::ZERO, &mut outbox).min_duration, expected);
        }
    }

    #[test]
    fn translation_pages_are_numbered_as_in_the_drive(
        geometry in geometry(),
        entry_size in prop_oneof![1..=16u64, 1..=4096u64],
        random in prop::collection::vec(any::<u32>(), 20),
    ) {
        let mut config = Config { geometry, ..Config::default() };
        prop_assert!(MapPages::new(&config).is_none());
        config.mapping.cache_capacity = Some(Bytes::new(64));
        config.mapping.stored_entry_size = Bytes::new(entry_size);
        let (drive, ..) = of(&config.geometry);
        let expected = TranslationPages::new(&drive, &config).expect("the map is on flash");
        let pages = MapPages::new(&config).expect("the map is on flash");
        prop_assert_eq!(pages.all(), expected.all());
        let corners = [0, drive.logical_pages - 1];
        for lpn in random.into_iter().map(|number| number % drive.logical_pages).chain(corners).map(Lpn) {
            let page = pages.page_of(lpn);
            prop_assert_eq!(page, expected.page_of(lpn));
            let entries = pages.entries_of(page);
            prop_assert_eq!(entries.start.0..entries.end.0, expected.entries_of(page));
            prop_assert!(entries.contains(&lpn) && pages.contains(page) && !pages.contains(lpn));
        }
    }

    #[test]
    fn namespaces_have_the_pages_and_the_planes_of_the_drive(
        geometry in geometry(),
        given in prop::collection::vec((prop::option::of(1..=40u64), prop::option::of(any::<[u8; 4]>())), 0..=5),
    ) {
        let mut config = Config { geometry, ..Config::default() };
        let (drive, homes, cuts) = of(&config.geometry);
        let counts = [drive.channels, drive.chips_per_channel, drive.dies_per_chip, drive.planes_per_die];
        for (index, (share, sets)) in given.into_iter().enumerate() {
            let set = |level: usize| {
                let bits = sets?[level];
                let units: Vec<u32> = (0..counts[level]).filter(|unit| bits >> (unit % 8) & 1 != 0).collect();
                (!units.is_empty()).then(|| Indices::new(units))
            };
            let [channels, ways, dies, planes] = [0, 1, 2, 3].map(set);
            // The capacity is not a whole number of pages, so that both sides must round it.
            let capacity = share.map(|share| {
                let pages = (u64::from(drive.logical_pages) * share / 100).max(1);
                cuts.page_size() * pages + Bytes::new(share)
            });
            config.namespace.push((format!("n{index}"), Namespace { capacity, channels, ways, dies, planes }));
        }
        let Ok(expected) = config.namespaces(&drive) else {
            return Err(TestCaseError::reject("they do not fit the drive"));
        };
        let found = spaces(&config);
        prop_assert_eq!(found.len(), expected.len());
        for (space, namespace) in found.iter().zip(&expected) {
            prop_assert_eq!(&space.name, &namespace.name);
            let start = cuts.page_at(namespace.start).0;
            let pages = namespace.capacity.as_u64() / cuts.page_size().as_u64();
            prop_assert_eq!(space.pages.clone(), start..start + pages as u32);
            let planes = (0..homes.planes() as u32).map(PlaneId);
            let planes: Vec<bool> = planes.map(|plane| namespace.has_plane(&drive, plane)).collect();
            prop_assert_eq!(&space.planes, &planes);
        }
    }

    #[test]
    fn pages_that_hold_nothing_are_read_where_the_drive_reads_them(
        geometry in geometry(),
        given in prop::collection::vec((1..=40u64, prop::option::of(any::<[u8; 4]>())), 0..=4),
        order in select([ORDERS.map(Allocation::Static).to_vec(), vec![Allocation::Dynamic, Allocation::FreeChannel]].concat()),
        random in prop::collection::vec(any::<u32>(), 20),
    ) {
        let mut config = Config { geometry, ..Config::default() };
        config.ftl.allocation = order;
        let (drive, ..) = of(&config.geometry);
        config.namespace = given.into_iter().enumerate().map(|given| namespace(&drive, given)).collect();
        let Ok(partition) = Partition::new(&drive, &config) else {
            return Err(TestCaseError::reject("they do not fit the drive"));
        };
        let is_overfull = |plane| partition.pages_when_full(PlaneId(plane)) > drive.pages_per_plane();
        prop_assume!(!(0..drive.planes()).any(is_overfull));
        let ends = config.namespaces(&drive).expect("the namespaces fit the drive");
        let pages = ends.iter().map(|space| drive.lpn_of(space.start + space.capacity).0).max().unwrap_or(0);
        let homes = Unwritten::new(&config);
        let expected = StaticOrder::with_partition(&drive, &partition);
        for lpn in random.into_iter().map(|number| number % pages.max(1)).chain([0, pages.max(1) - 1]).map(Lpn) {
            prop_assert_eq!(homes.default_location(lpn), Some(expected.default_location_of(lpn)), "{:?}", lpn);
        }
        prop_assert_eq!(homes.default_location(Lpn(pages)), None);
    }
}

/// Creates namespace `index` with `share` percent of the drive. `sets` restricts it to some channels, ways, dies and planes, as one bit mask per
/// level; an empty mask allows all.
fn namespace(drive: &Geometry, (index, (share, sets)): (usize, (u64, Option<[u8; 4]>))) -> (String, Namespace) {
    let counts = [drive.channels, drive.chips_per_channel, drive.dies_per_chip, drive.planes_per_die];
    let set = |level: usize| {
        let bits = sets?[level];
        let units: Vec<u32> = (0..counts[level]).filter(|unit| bits >> (unit % 8) & 1 != 0).collect();
        (!units.is_empty()).then(|| Indices::new(units))
    };
    let [channels, ways, dies, planes] = [0, 1, 2, 3].map(set);
    let pages = (u64::from(drive.logical_pages) * share / 100).max(1);
    let capacity = Some(drive.page_size * pages);
    (format!("n{index}"), Namespace { capacity, channels, ways, dies, planes })
}

#[test]
fn streams_use_the_namespaces_that_they_name() {
    let mut config = Config::default();
    assert_eq!(space_of_stream(&config), [0]);
    config.namespace = ["a", "b"].map(|name| (name.to_owned(), Namespace::default())).into();
    let template = config.streams().remove(0);
    for name in [Some("b"), None, Some("a")] {
        let mut stream = template.clone();
        stream.queue.namespace = name.map(str::to_owned);
        config.stream.push(stream);
    }
    assert_eq!(space_of_stream(&config), [1, 0, 0]);
}
