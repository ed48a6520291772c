//! The parameters of a run. Defaults are those of the `z-nand` preset.

use std::path::PathBuf;

use crate::units::{Bytes, Rate, Time};

/// Everything that decides a run.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Config {
    /// The number every random choice of a run grows from.
    pub seed: u64,
    /// The array of chips.
    pub geometry: Geometry,
    /// The latencies and abilities of the flash chips.
    pub flash: Flash,
    /// The network between controllers and chips.
    pub fabric: Fabric,
    /// Which waiting transaction a die runs next.
    pub schedule: Schedule,
    /// Where a page lives.
    pub ftl: Ftl,
    /// Garbage collection.
    pub gc: Gc,
    /// Wear levelling.
    pub wear: Wear,
    /// The queue pair and the link to the host.
    pub host: Host,
    /// The state of the drive before the first request.
    pub precondition: Precondition,
    /// Where requests come from.
    pub workload: Workload,
    /// When requests are issued.
    pub replay: Replay,
}

/// `[geometry]`
#[derive(Clone, Debug, PartialEq)]
pub struct Geometry {
    /// Channels of the bus; rows of chips in any fabric. 1..=1024
    pub channels: u32,
    /// Chips on a channel; columns of chips in any fabric. 1..=1024
    pub chips_per_channel: u32,
    /// Dies in a chip. 1..=64
    pub dies_per_chip: u32,
    /// Planes in a die. 1..=8
    pub planes_per_die: u32,
    /// Blocks in a plane. 4..=1048576
    pub blocks_per_plane: u32,
    /// Pages in a block. 1..=65535
    pub pages_per_block: u32,
    /// User data in a page; a power of two, 512 B to 256 KiB.
    pub page_size: Bytes,
    /// Metadata and parity that travel with a whole page; a part of a page takes its share along. 0..=64KiB
    pub page_spare: Bytes,
    /// The host's addressing unit; divides the page size. 512 B or 4 KiB
    pub sector_size: Bytes,
    /// Space the host sees; by default all pages less the over-provisioning.
    pub capacity: Option<Bytes>,
    /// Share of all pages that the host does not see. 0.01..=0.9
    pub over_provisioning: f64,
}

impl Default for Geometry {
    fn default() -> Self {
        Geometry {
            channels: 8,
            chips_per_channel: 8,
            dies_per_chip: 1,
            planes_per_die: 2,
            blocks_per_plane: 1024,
            pages_per_block: 768,
            page_size: Bytes::from_kib(4),
            page_spare: Bytes::ZERO,
            sector_size: Bytes::new(512),
            capacity: None,
            over_provisioning: 0.07,
        }
    }
}

/// When planes of a die may join in one operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MultiPlane {
    /// Never.
    Off,
    /// When kind and page offset in the block agree (papers 000 and 001).
    SameOffset,
    /// When kind, block and page offset agree (paper 003).
    SameBlockAndOffset,
}

/// Which operations a read may suspend.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Suspension {
    /// None.
    Off,
    /// Programs.
    Program,
    /// Erases.
    Erase,
    /// Programs and erases.
    Both,
}

/// `[flash]`
#[derive(Clone, Debug, PartialEq)]
pub struct Flash {
    /// Array read time tR. 1ps..
    pub read_time: Time,
    /// Array program time tPROG.
    pub program_time: Time,
    /// Block erase time tBERS.
    pub erase_time: Time,
    /// Time a command and its address take on the path.
    pub command_time: Time,
    /// Time each further plane of a multi-plane command adds on the path; by default the command time.
    pub command_time_per_extra_plane: Option<Time>,
    /// When planes of a die join in one operation.
    pub multi_plane: MultiPlane,
    /// Whether a die is free once data is in its cache register (after tR), not only when the data has left.
    pub read_cache: bool,
    /// Which operations a waiting host read suspends.
    pub suspension: Suspension,
    /// From the suspend command until the array is free.
    pub suspend_time: Time,
    /// From the resume command until the operation goes on.
    pub resume_time: Time,
    /// How often one operation may be suspended. 1..
    pub suspensions_max: u32,
    /// An operation with no more than this left is let finish.
    pub suspend_remaining_min: Time,
}

impl Default for Flash {
    fn default() -> Self {
        Flash {
            read_time: Time::from_us(3),
            program_time: Time::from_us(100),
            erase_time: Time::from_ms(1),
            command_time: Time::from_ns(10),
            command_time_per_extra_plane: None,
            multi_plane: MultiPlane::SameOffset,
            read_cache: false,
            suspension: Suspension::Off,
            suspend_time: Time::from_us(5),
            resume_time: Time::from_us(5),
            suspensions_max: 16,
            suspend_remaining_min: Time::from_us(10),
        }
    }
}

/// How bytes get from a controller to a chip.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FabricKind {
    /// One half-duplex channel per row of chips.
    Bus,
    /// A private channel per chip: no path is ever shared.
    Ideal,
}

/// Who gets a channel when several wait for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Arbitration {
    /// Commands (with the data they carry) before data out.
    CommandFirst,
    /// Data out before commands.
    DataFirst,
    /// Whoever waits longest.
    OldestFirst,
    /// The next die in cyclic order.
    RoundRobin,
}

/// `[fabric]`
#[derive(Clone, Debug, PartialEq)]
pub struct Fabric {
    /// The interconnect.
    pub kind: FabricKind,
    /// Rate of one channel.
    pub channel_rate: Rate,
    /// Who gets a channel when several wait.
    pub arbitration: Arbitration,
}

impl Default for Fabric {
    fn default() -> Self {
        Fabric {
            kind: FabricKind::Bus,
            channel_rate: Rate::from_bytes_per_second(1_200_000_000),
            arbitration: Arbitration::CommandFirst,
        }
    }
}

/// Which waiting transaction a die runs next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SchedulePolicy {
    /// Reads before writes before erases, in any order of arrival.
    OutOfOrder,
    /// In the order of arrival.
    Fifo,
}

/// `[schedule]`
#[derive(Clone, Debug, PartialEq)]
pub struct Schedule {
    /// The policy.
    pub policy: SchedulePolicy,
    /// How many waiting reads of another plane are searched for one that can join a multi-plane read. 1..
    pub lookahead: u32,
}

impl Default for Schedule {
    fn default() -> Self {
        Schedule { policy: SchedulePolicy::OutOfOrder, lookahead: 32 }
    }
}

/// One level of the array, as static allocation orders them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Level {
    /// C
    Channel,
    /// W: a chip of a channel.
    Way,
    /// D
    Die,
    /// P
    Plane,
}

/// Which plane a logical page goes to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Allocation {
    /// By the logical page number; the first level varies fastest. Text form: the four initials, "CWDP".
    Static([Level; 4]),
    /// Round-robin over idle dies. Text form: "dynamic".
    Dynamic,
}

/// `[ftl]`
#[derive(Clone, Debug, PartialEq)]
pub struct Ftl {
    /// Which plane a written page goes to; a page read before it was written is placed by the static order
    /// (CWDP when dynamic).
    pub allocation: Allocation,
}

impl Default for Ftl {
    fn default() -> Self {
        Ftl { allocation: Allocation::Static([Level::Channel, Level::Way, Level::Die, Level::Plane]) }
    }
}

/// Which block is collected.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum VictimPolicy {
    /// The block with the fewest valid pages; ties to the lowest block.
    Greedy,
    /// The best of d random blocks (RGA).
    DChoices,
    /// Any block.
    Random,
    /// A random block with at least one invalid page.
    RandomP,
    /// A random block with at least the over-provisioned share of its pages invalid.
    RandomPp,
    /// The block that was filled first.
    Fifo,
}

/// `[gc]`
#[derive(Clone, Debug, PartialEq)]
pub struct Gc {
    /// Which block is collected.
    pub victim: VictimPolicy,
    /// d of `d-choices`. 1..=1024
    pub d: u32,
    /// A plane is collected when its share of free pages falls below this. 0.0..=0.5
    pub threshold: f64,
    /// Below this share of free pages collection goes before user requests even when preemptible. 0.0..=0.5
    pub hard_threshold: f64,
    /// Whether user requests go before the transactions of a collection.
    pub preemptible: bool,
    /// Whether pages move inside their plane without leaving the chip.
    pub copyback: bool,
    /// A plane of an idle die is collected when its share of free pages falls below this; 0 turns it off. 0.0..=0.9
    pub background_threshold: f64,
}

impl Default for Gc {
    fn default() -> Self {
        Gc {
            victim: VictimPolicy::Greedy,
            d: 10,
            threshold: 0.02,
            hard_threshold: 0.005,
            preemptible: false,
            copyback: false,
            background_threshold: 0.0,
        }
    }
}

/// `[wear]`
#[derive(Clone, Debug, PartialEq)]
pub struct Wear {
    /// Whether the least erased free block is opened next; otherwise the one freed first.
    pub dynamic: bool,
    /// Whether cold blocks are moved when erase counts of a plane drift apart.
    pub static_levelling: bool,
    /// The difference in erase counts that starts a move. 1..
    pub static_threshold: u32,
}

impl Default for Wear {
    fn default() -> Self {
        Wear { dynamic: true, static_levelling: false, static_threshold: 100 }
    }
}

/// `[host]`
#[derive(Clone, Debug, PartialEq)]
pub struct Host {
    /// Requests the drive holds at once; later ones wait on the host. 1..=65535
    pub queue_depth: u32,
    /// Rate of the link, in each direction.
    pub link_rate: Rate,
    /// Bytes of a submission entry, host to drive, for each request.
    pub submission_size: Bytes,
    /// Bytes of a completion entry, drive to host, for each request.
    pub completion_size: Bytes,
}

impl Default for Host {
    fn default() -> Self {
        Host {
            queue_depth: 1024,
            link_rate: Rate::from_bytes_per_second(8_000_000_000),
            submission_size: Bytes::new(64),
            completion_size: Bytes::new(16),
        }
    }
}

/// The state of the drive before the first request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PreconditionKind {
    /// Nothing was ever written.
    None,
    /// Every logical page was written once, in order.
    Sequential,
    /// Uniform random writes went on until garbage collection reached its steady state.
    Random,
}

/// `[precondition]`
#[derive(Clone, Debug, PartialEq)]
pub struct Precondition {
    /// How the drive was written.
    pub kind: PreconditionKind,
    /// Share of the logical space that was written, from its start. 0.0..=1.0
    pub fill: f64,
}

impl Default for Precondition {
    fn default() -> Self {
        Precondition { kind: PreconditionKind::None, fill: 1.0 }
    }
}

/// Where requests come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WorkloadKind {
    /// The pattern described by the other keys. (Text: "synthetic")
    Synthetic,
    /// A named profile of a published workload. (Text: "profile", or implied by `profile = `)
    Profile,
    /// A file. (Text: "trace", or implied by `trace = `)
    Trace,
}

/// Where the requests of a synthetic workload go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pattern {
    /// One after the other, from the start of the footprint (each thread in its own part of it).
    Sequential,
    /// Uniform.
    Random,
    /// Zipf over the blocks of `alignment`, ranks scattered over the footprint.
    Zipf,
    /// A hot region gets `hot-traffic` of the requests.
    HotCold,
}

/// How arrivals are spaced.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ArrivalKind {
    /// At constant distance.
    Constant,
    /// Exponential (Poisson arrivals).
    Exponential,
    /// Bursts of `burst-length` back to back, exponential in between.
    Burst,
}

/// A distribution of sizes: each with its weight. Text: "4KiB" or [["4KiB", 0.7], ["64KiB", 0.3]].
#[derive(Clone, Debug, PartialEq)]
pub struct Sizes(pub Vec<(Bytes, f64)>);

/// Layout of a trace file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TraceFormat {
    /// Found from the first lines. Text: "auto"
    Auto,
    /// MSR Cambridge CSV. Text: "msr"
    Msr,
    /// The ASCII family of SSDSim, DiskSim and MQSim: time, device, sector, sectors, type. Text: "ascii"
    Ascii,
    /// fio iolog, version 2 or 3. Text: "fio-iolog"
    FioIolog,
}

/// The unit of time stamps of the ASCII family.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TraceTimeUnit {
    /// ps
    Picoseconds,
    /// ns
    Nanoseconds,
    /// us
    Microseconds,
    /// ms
    Milliseconds,
    /// s
    Seconds,
}

/// Which type of the ASCII family is a read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TracePolarity {
    /// 1 is a read, 0 a write. Text: "read-is-1"
    ReadIsOne,
    /// 0 is a read, 1 a write. Text: "read-is-0"
    ReadIsZero,
}

/// `[workload]`
#[derive(Clone, Debug, PartialEq)]
pub struct Workload {
    /// Where requests come from.
    pub kind: WorkloadKind,
    /// Name of the profile.
    pub profile: Option<String>,
    /// The trace file; relative to the configuration file.
    pub trace: Option<PathBuf>,
    /// Layout of the trace file.
    pub format: TraceFormat,
    /// The unit of time stamps of the ASCII family; other formats fix theirs.
    pub time_unit: TraceTimeUnit,
    /// Which type of the ASCII family is a read.
    pub polarity: TracePolarity,
    /// Whether addresses beyond the drive wrap around, instead of being rejected.
    pub wrap: bool,
    /// Share of lines of a trace that may be unusable before the run refuses. 0.01; `--tolerate` sets 1.
    pub tolerate: f64,
    /// Requests to issue; all of a trace by default, for a profile or a synthetic workload 100,000.
    pub requests: Option<u64>,
    /// Where requests go.
    pub pattern: Pattern,
    /// Share of requests that read. 0.0..=1.0
    pub read_share: f64,
    /// Share of requests that deallocate; taken from the writes. 0.0..=1.0
    pub deallocate_share: f64,
    /// Sizes of requests.
    pub request_size: Sizes,
    /// Requests begin at multiples of this; by default the smallest request size.
    pub alignment: Option<Bytes>,
    /// Where the footprint begins.
    pub footprint_start: Bytes,
    /// How much of the drive is touched; all of it by default.
    pub footprint: Option<Bytes>,
    /// Skew of the Zipf pattern. 0.0..=5.0
    pub zipf_theta: f64,
    /// Share of the footprint that is hot. 0.0..=1.0
    pub hot_footprint: f64,
    /// Share of requests that go to the hot region. 0.0..=1.0
    pub hot_traffic: f64,
    /// How arrivals are spaced (they matter in open replay only).
    pub arrivals: ArrivalKind,
    /// Mean time between arrivals.
    pub interarrival: Time,
    /// Requests in a burst. 1..
    pub burst_length: u32,
}

impl Default for Workload {
    fn default() -> Self {
        Workload {
            kind: WorkloadKind::Synthetic,
            profile: None,
            trace: None,
            format: TraceFormat::Auto,
            time_unit: TraceTimeUnit::Nanoseconds,
            polarity: TracePolarity::ReadIsOne,
            wrap: false,
            tolerate: 0.01,
            requests: None,
            pattern: Pattern::Random,
            read_share: 1.0,
            deallocate_share: 0.0,
            request_size: Sizes(vec![(Bytes::from_kib(4), 1.0)]),
            alignment: None,
            footprint_start: Bytes::ZERO,
            footprint: None,
            zipf_theta: 0.99,
            hot_footprint: 0.2,
            hot_traffic: 0.8,
            arrivals: ArrivalKind::Exponential,
            interarrival: Time::from_us(10),
            burst_length: 1,
        }
    }
}

/// When requests are issued.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReplayMode {
    /// At their arrival times (scaled).
    Open,
    /// Arrival times ignored: always `outstanding` in flight.
    Stress,
    /// Each of `threads` issues its next request `think-time` after its last one completed.
    Closed,
}

/// `[replay]`
#[derive(Clone, Debug, PartialEq)]
pub struct Replay {
    /// When requests are issued.
    pub mode: ReplayMode,
    /// Open: arrival times are multiplied by this. 0.000001..=1000000
    pub time_scale: f64,
    /// Stress: requests in flight. 1..=65535
    pub outstanding: u32,
    /// Closed: independent issuers. 1..=65535
    pub threads: u32,
    /// Closed: from a completion to the next request of the thread.
    pub think_time: Time,
}

impl Default for Replay {
    fn default() -> Self {
        Replay { mode: ReplayMode::Stress, time_scale: 1.0, outstanding: 64, threads: 1, think_time: Time::ZERO }
    }
}
