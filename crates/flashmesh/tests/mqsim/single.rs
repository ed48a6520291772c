//! One request at a time, to the nanosecond: every part of the way from the doorbell to the completion.

use flashmesh::config::{Allocation, Config, Level, ReplayMode};
use flashmesh::units::{Bytes, Time};
use flashmesh::workload::{IoRequest, RequestKind};

use crate::drive::drive;
use crate::drives::{Listed, run_source};

/// 8 lanes of 1 GB/s, channels of 1000 MT/s, tR of 3 us.
const DEVICE: &str = "
    <PCIe_Lane_Bandwidth>1.0</PCIe_Lane_Bandwidth> <PCIe_Lane_Count>8</PCIe_Lane_Count>
    <IO_Queue_Depth>65535</IO_Queue_Depth> <Queue_Fetch_Size>512</Queue_Fetch_Size>
    <Ideal_Mapping_Table>true</Ideal_Mapping_Table>
    <Transaction_Scheduling_Policy>OUT_OF_ORDER</Transaction_Scheduling_Policy>
    <Flash_Channel_Count>8</Flash_Channel_Count> <Channel_Transfer_Rate>1000</Channel_Transfer_Rate>
    <Chip_No_Per_Channel>8</Chip_No_Per_Channel> <Die_No_Per_Chip>1</Die_No_Per_Chip>
    <Plane_No_Per_Die>2</Plane_No_Per_Die> <Block_No_Per_Plane>64</Block_No_Per_Plane>
    <Page_No_Per_Block>768</Page_No_Per_Block> <Page_Capacity>4096</Page_Capacity>
    <Page_Read_Latency_LSB>3000</Page_Read_Latency_LSB> <Page_Program_Latency_LSB>100000</Page_Program_Latency_LSB>
    <Block_Erase_Latency>1000000</Block_Erase_Latency>
";

/// The head doorbell of the request before and the own one; a read request; the entry; the completion.
const DOORBELLS: u64 = 4 + 4;
const READ_REQUEST: u64 = 4;
const ENTRY: u64 = 13;
const COMPLETION: u64 = 6;

/// The same with one chip, so that consecutive pages are on its two planes.
fn one_chip() -> Config {
    let mut config = drive(DEVICE);
    config.geometry.channels = 1;
    config.geometry.chips_per_channel = 1;
    config.ftl.allocation = Allocation::Static([Level::Plane, Level::Channel, Level::Way, Level::Die]);
    config
}

/// The latency of a request of `pages` pages behind another one like it.
fn latency(mut config: Config, kind: RequestKind, pages: u64) -> Time {
    config.replay.mode = ReplayMode::Stress;
    config.replay.outstanding = 1;
    let size = config.geometry.page_size * pages;
    let request = |at: u64| IoRequest { arrival: Time::ZERO, kind, offset: size * at, size, stream: 0 };
    let (_, records) = run_source(&config, Listed((0..2).map(request).collect()));
    assert_eq!(records[1].offset, size);
    records[1].completed - records[1].arrival
}

#[test]
fn a_read_of_one_page() {
    let expected = DOORBELLS + READ_REQUEST + ENTRY + 290 + 3_020 + 4_096 + 624 + COMPLETION;
    assert_eq!(expected, 8_061);
    assert_eq!(latency(drive(DEVICE), RequestKind::Read, 1), Time::from_ns(expected));
}

#[test]
fn a_write_of_one_page() {
    let data = READ_REQUEST + 624;
    let expected = DOORBELLS + READ_REQUEST + ENTRY + data + 361 + 4_096 + 100_000 + COMPLETION;
    assert_eq!(expected, 105_116);
    assert_eq!(latency(drive(DEVICE), RequestKind::Write, 1), Time::from_ns(expected));
}

#[test]
fn a_read_over_two_planes_of_a_chip() {
    let expected = DOORBELLS + READ_REQUEST + ENTRY + 290 + 650 + 3_020 + 2 * 4_096 + 1_248 + COMPLETION;
    assert_eq!(expected, 13_431);
    assert_eq!(latency(one_chip(), RequestKind::Read, 2), Time::from_ns(expected));
}

#[test]
fn a_write_of_sixteen_pages_on_one_chip() {
    let data = READ_REQUEST + 9_984;
    let program = 361 + 816 + 2 * 4_096 + 100_000;
    let expected = DOORBELLS + READ_REQUEST + ENTRY + data + 8 * program + COMPLETION;
    assert_eq!(expected, 884_971);
    assert_eq!(latency(one_chip(), RequestKind::Write, 16), Time::from_ns(expected));
}

#[test]
fn a_partial_write_reads_what_is_missing_first() {
    let mut config = drive(DEVICE);
    config.replay.mode = ReplayMode::Stress;
    config.replay.outstanding = 1;
    let write = |sectors: u64| {
        let size = Bytes::new(512 * sectors);
        IoRequest { arrival: Time::ZERO, kind: RequestKind::Write, offset: Bytes::ZERO, size, stream: 0 }
    };
    let (_, records) = run_source(&config, Listed([8, 3].map(write).into()));
    // Three sectors are 12 packets of 128 B with 28 B each: 1872 B over 8 lanes.
    let data = READ_REQUEST + 234;
    let flash = 290 + 3_020 + 5 * 512 + 361 + 3 * 512 + 100_000;
    let expected = DOORBELLS + READ_REQUEST + ENTRY + data + flash + COMPLETION;
    assert_eq!(records[1].completed - records[1].arrival, Time::from_ns(expected));
}
