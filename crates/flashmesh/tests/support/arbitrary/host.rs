//! Random hosts: interfaces, links, queues and replay modes.

use flashmesh::config::{
    Host, InterfaceKind, Nvme, Priority, Queue, QueueArbitration, ReadData, Replay, ReplayMode, Sata, SataTransport,
};
use flashmesh::units::{Bytes, Rate};
use proptest::option;
use proptest::prelude::*;
use proptest::sample::select;

use super::time_us;

#[derive(Clone, Debug)]
pub struct Attached {
    pub host: Host,
    pub nvme: Nvme,
    pub sata: Sata,
    pub queue: Queue,
    pub replay: Replay,
}

fn link() -> impl Strategy<Value = Host> {
    let rate = select(vec![Rate::from_bytes_per_second(500_000_000), Rate::UNLIMITED]);
    let packets = (option::of(select(vec![128u64, 8192])), 0..=28u64);
    (rate, 1..=8u32, packets).prop_map(|(link_rate, lanes, (payload, overhead))| Host {
        link_rate,
        lanes,
        packet_payload: payload.map(Bytes::new),
        packet_overhead: Bytes::new(overhead),
        ..Host::default()
    })
}

fn nvme() -> impl Strategy<Value = Nvme> {
    let limits = (prop_oneof![1..=8u32, Just(512)], option::of(1..=8u32), option::of(1..=4u32));
    (limits, select(QueueArbitration::ALL), 1..=4u32).prop_map(
        |((fetch_size, commands_max, completion_depth), arbitration, arbitration_burst)| Nvme {
            fetch_size,
            commands_max,
            completion_depth,
            arbitration,
            arbitration_burst,
            ..Nvme::default()
        },
    )
}

fn sata() -> impl Strategy<Value = Sata> {
    (1..=32u32, time_us(0..=5), select(SataTransport::ALL)).prop_map(|(ncq_depth, processing_delay, transport)| Sata {
        ncq_depth,
        processing_delay,
        transport,
    })
}

fn replay() -> impl Strategy<Value = Replay> {
    let modes = select(vec![ReplayMode::Open, ReplayMode::Stress, ReplayMode::Closed]);
    (modes, select(vec![0.5, 1.0, 3.0]), 1..=48u32, 1..=6u32, time_us(0..=200)).prop_map(
        |(mode, time_scale, outstanding, threads, think_time)| Replay {
            mode,
            time_scale,
            outstanding,
            threads,
            think_time,
            ..Default::default()
        },
    )
}

pub fn host() -> impl Strategy<Value = Attached> {
    // The direct interface is drawn most often, because it delays requests least and so loads the drive most.
    let kind =
        prop_oneof![3 => Just(InterfaceKind::Direct), 2 => Just(InterfaceKind::Nvme), 1 => Just(InterfaceKind::Sata)];
    let interface = (kind, select(ReadData::ALL), 1..=64u32, option::of(2..=40u64));
    (interface, link(), nvme(), sata(), select(Priority::ALL), replay()).prop_map(
        |((interface, read_data, queue_depth, transfer_max), link, nvme, sata, priority, replay)| Attached {
            host: Host {
                interface,
                read_data,
                queue_depth,
                transfer_max: transfer_max.map(|kib| Bytes::new(kib * 1024)),
                ..link
            },
            nvme,
            sata,
            queue: Queue { priority, ..Default::default() },
            replay,
        },
    )
}
