//! MQSim's drive, its habits included, as values of the configuration.

use flashmesh::config::{
    Arbitration, Config, Destage, FirstTouch, InterfaceKind, MultiPlane, Priorities, ProgramOrder, ReadData,
    ReplayMode, Times, WriteBackRead, WriteBinding,
};
use flashmesh::units::{Bytes, Rate, Time};

use crate::xml::{number, tag};

fn per_planes(first: u64, more: u64) -> Option<Times> {
    Some(Times(vec![Time::from_ns(first), Time::from_ns(first + more)]))
}

/// Sectors of a flow of `flows` on every plane.
pub fn sectors_per_plane(device: &str, flows: u64) -> u64 {
    let sectors = number(device, "Block_No_Per_Plane")
        * number(device, "Page_No_Per_Block")
        * (number(device, "Page_Capacity") / 512);
    let over_provisioning: f64 = tag(device, "Overprovisioning_Ratio").parse().expect("a share");
    (sectors as f64 * (1.0 - over_provisioning) / flows as f64) as u64
}

/// The drive that the text of a device file describes.
pub fn drive(device: &str) -> Config {
    let mut config = Config::default();
    let ns = |name| Time::from_ns(number(device, name));
    let count = |name| number(device, name) as u32;

    let geometry = &mut config.geometry;
    geometry.channels = count("Flash_Channel_Count");
    geometry.chips_per_channel = count("Chip_No_Per_Channel");
    geometry.dies_per_chip = count("Die_No_Per_Chip");
    geometry.planes_per_die = count("Plane_No_Per_Die");
    geometry.blocks_per_plane = count("Block_No_Per_Plane");
    geometry.pages_per_block = count("Page_No_Per_Block");
    geometry.page_size = Bytes::new(number(device, "Page_Capacity"));

    let flash = &mut config.flash;
    flash.read_time = ns("Page_Read_Latency_LSB") + Time::from_ns(20);
    flash.program_time = ns("Page_Program_Latency_LSB");
    flash.erase_time = ns("Block_Erase_Latency");
    flash.read_command_time = per_planes(290, 650);
    flash.program_command_time = per_planes(361, 816);
    flash.erase_command_time = per_planes(220, 700);
    flash.multi_plane = MultiPlane::SameOffset;
    flash.die_interleaving = false;
    flash.partial_program = true;
    flash.program_order = ProgramOrder::Any;
    config.ftl.write_binding = WriteBinding::Early;
    config.ftl.first_touch = FirstTouch::WriteBlock;

    let nanoseconds_per_byte = 1000 / number(device, "Channel_Transfer_Rate");
    // Rounded up, so that the time of a sector is exact when it is rounded up.
    config.fabric.channel_rate = Rate::from_bytes_per_second(1_000_000_000_u64.div_ceil(nanoseconds_per_byte));
    config.fabric.arbitration = Arbitration::DataFirstRoundRobin;
    config.schedule.lookahead = 65_535;
    if tag(device, "Transaction_Scheduling_Policy") == "PRIORITY_OUT_OF_ORDER" {
        config.schedule.priorities = Priorities::Weighted;
    }
    if tag(device, "Ideal_Mapping_Table") == "false" {
        let mapping = &mut config.mapping;
        mapping.cache_capacity = Some(Bytes::new(number(device, "CMT_Capacity")));
        mapping.entry_size = Bytes::new(7);
        mapping.read_size = Some(Bytes::new(512));
        mapping.write_back_read = WriteBackRead::Always;
        mapping.write_back_read_size = Some(Bytes::ZERO);
        mapping.write_back_is_use = true;
        mapping.write_back_buffer = Bytes::from_kib(1 << 20);
    }

    let host = &mut config.host;
    host.interface = InterfaceKind::Nvme;
    host.queue_depth = count("IO_Queue_Depth") - 1;
    host.lanes = count("PCIe_Lane_Count");
    host.link_rate = Rate::from_bytes_per_second(1_000_000_000);
    host.packet_payload = Some(Bytes::new(128));
    host.packet_overhead = Bytes::new(28);
    host.submission_size = Bytes::new(72);
    host.completion_size = Bytes::new(16);
    host.read_data = ReadData::Request;
    config.nvme.fetch_size = count("Queue_Fetch_Size");
    config.nvme.doorbell_size = Bytes::new(2);
    config.nvme.read_request_size = Bytes::new(4);
    config.replay.mode = ReplayMode::Open;
    config
}

/// Puts the cache of a device file into the drive.
pub fn add_cache(config: &mut Config, device: &str) {
    let geometry = &config.geometry;
    let chips = u64::from(geometry.channels) * u64::from(geometry.chips_per_channel);
    let planes = chips * u64::from(geometry.dies_per_chip) * u64::from(geometry.planes_per_die);
    let burst = 2 * number(device, "Data_Cache_DRAM_Data_Busrt_Size");
    let ns = |name| Time::from_ns(number(device, name));
    let cache = &mut config.cache;
    cache.capacity = Bytes::new(number(device, "Data_Cache_Capacity"));
    cache.destage = Destage::FirstWrite;
    cache.destage_limit = Some(geometry.page_size * planes);
    cache.keep_destaged = false;
    cache.keep_unwritten = false;
    cache.row_size = Bytes::new(number(device, "Data_Cache_DRAM_Row_Size"));
    cache.burst = Bytes::new(burst);
    cache.data_rate = Rate::from_bytes_per_second(burst * number(device, "Data_Cache_DRAM_Data_Rate") * 1_000_000);
    cache.row_to_column_delay = ns("Data_Cache_DRAM_tRCD");
    cache.column_latency = ns("Data_Cache_DRAM_tCL");
    cache.row_precharge = ns("Data_Cache_DRAM_tRP");
}
