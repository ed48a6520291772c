//! The section `[workload]` of a configuration: its parameters, and the types of their values.

use std::path::PathBuf;

use super::Sizes;
use crate::units::{Bytes, Share, Time};
use flashmesh_base::config::choices::choices;
use flashmesh_base::config::section::section;

choices! {
    /// The source of requests.
    WorkloadKind {
        /// A synthetic pattern, described by the other keys.
        Synthetic = "synthetic",
        /// A job of fio: requests to one or several files, in one or several passes.
        Job = "job",
        /// A named published workload, or a mix of several; implied by the key `profile`.
        Profile = "profile",
        /// A trace file; implied by the key `trace`.
        Trace = "trace",
        /// A profile fitted to a trace, from which requests are drawn; implied by the key `fitted`.
        Fitted = "fitted",
    }
}

choices! {
    /// The address pattern of a synthetic workload.
    Pattern {
        /// Consecutive addresses, from the start of the footprint. In closed replay, each thread has its own part of the footprint.
        Sequential = "sequential",
        /// Uniform random blocks of `alignment`.
        Random = "random",
        /// Zipf distribution over the blocks of `alignment`, whose ranks are scattered over the footprint.
        Zipf = "zipf",
        /// A hot region at the start of the footprint that receives `hot-traffic` of the requests.
        HotCold = "hot-cold",
        /// Every `hot-stride`-th block of `alignment` is hot. The hot blocks together receive `hot-traffic` of the requests.
        HotStride = "hot-stride",
        /// Zones of the footprint, each with its share of the requests (`zones`).
        Zoned = "zoned",
        /// Pareto: a share h (`pareto-share`) of the blocks receives a share 1 - h of the requests. The same holds within these blocks, at every
        /// scale. Blocks are scattered over the footprint.
        Pareto = "pareto",
        /// Approximately normal distribution over blocks that are scattered over the footprint.
        Normal = "normal",
    }
}

choices! {
    /// The rule that selects the file of the next request of a job.
    FileOrder {
        /// Each file of the job in turn, one request at a time.
        RoundRobin = "round-robin",
        /// A random file of the job for each request.
        Random = "random",
        /// One file of the job until its end, then the next.
        Sequential = "sequential",
    }
}

choices! {
    /// The address of requests of a job between two random draws (`run-length`).
    RunKind {
        /// Each request starts at the end of the last request of the same kind (read, write or deallocation).
        Sequential = "sequential",
        /// Each request has the address of the last request of the same kind (read, write or deallocation).
        Identical = "identical",
    }
}

choices! {
    /// The arrival process.
    ArrivalKind {
        /// Constant interarrival times.
        Constant = "constant",
        /// Exponential interarrival times (Poisson arrivals).
        Exponential = "exponential",
        /// Bursts of `burst-length` requests that arrive together, with exponential times between bursts.
        Burst = "burst",
    }
}

choices! {
    /// The kinds of the requests in a burst of a profile.
    BurstKinds {
        /// A kind drawn for each request, by the share of reads.
        Mixed = "mixed",
        /// A kind drawn for each burst, by the share of reads: all requests of a burst are reads, or all are writes.
        Alike = "alike",
    }
}

choices! {
    /// The placement of the members of a mix on the drive.
    MixPlacement {
        /// A separate range for each member, in the order of the members.
        Apart = "apart",
        /// Overlapping ranges that all begin at `footprint-start`.
        Shared = "shared",
    }
}

choices! {
    /// The format of a trace file.
    TraceFormat {
        /// Format detected from the first lines of the file.
        Auto = "auto",
        /// MSR Cambridge CSV.
        Msr = "msr",
        /// MSR Cambridge CSV, shortened to time, type, offset and size.
        MsrShort = "msr-short",
        /// The ASCII family of SSDSim, DiskSim and MQSim: time, device, sector, sectors, type.
        Ascii = "ascii",
        /// fio iolog, version 2 or 3.
        FioIolog = "fio-iolog",
        /// SPC, as the UMass repository publishes it.
        Spc = "spc",
        /// SYSTOR '17 CSV.
        Systor = "systor",
        /// The default text output of blkparse.
        Blkparse = "blkparse",
        /// CloudPhysics vscsi, binary records of version 1.
        Vscsi1 = "vscsi1",
        /// CloudPhysics vscsi, binary records of version 2.
        Vscsi2 = "vscsi2",
        /// The text that Windows DiskMon saves.
        Diskmon = "diskmon",
        /// Alibaba block traces.
        Alibaba = "alibaba",
        /// Tencent block storage traces.
        Tencent = "tencent",
        /// FIU traces.
        Fiu = "fiu",
        /// The CSV of libCacheSim.
        LibcachesimCsv = "libcachesim-csv",
        /// The binary format oracleGeneral of libCacheSim.
        OracleGeneral = "oracle-general",
        /// SRT traces of HP Laboratories, as the tools of DataSeries print them.
        Srt = "srt",
    }
}

choices! {
    /// The event of a blkparse log that counts as the request.
    BlkparseEvent {
        /// Event Q: the request reached the block layer.
        Queue = "queue",
        /// Event D: the driver issued the request to the drive.
        Issue = "issue",
        /// Event C: the drive completed the request.
        Complete = "complete",
    }
}

choices! {
    /// The meaning of the number in a `wait` of a fio iolog of version 2.
    IologWait {
        /// Number of microseconds after the previous wait, as fio's manual says.
        AfterPrevious = "after-previous-us",
        /// Number of milliseconds from the start of the log, as fio 3.33 replays it.
        SinceStart = "since-start-ms",
    }
}

choices! {
    /// The treatment of trace requests that end beyond the drive.
    Beyond {
        /// Requests beyond the drive are rejected before the run, and counted.
        Reject = "reject",
        /// Requests beyond the drive are wrapped: the address is taken modulo the capacity.
        Wrap = "wrap",
        /// Requests beyond the drive are sent to it, and complete with the status LBA Out of Range.
        Send = "send",
    }
}

choices! {
    /// The unit of time stamps in the ASCII family.
    TraceTimeUnit {
        /// Time stamps in picoseconds.
        Picoseconds = "ps",
        /// Time stamps in nanoseconds.
        Nanoseconds = "ns",
        /// Time stamps in microseconds.
        Microseconds = "us",
        /// Time stamps in milliseconds.
        Milliseconds = "ms",
        /// Time stamps in seconds.
        Seconds = "s",
    }
}

choices! {
    /// The meaning of the type field in the ASCII family.
    TracePolarity {
        /// 1 is a read, 0 a write.
        ReadIsOne = "read-is-1",
        /// 0 is a read, 1 a write.
        ReadIsZero = "read-is-0",
    }
}

choices! {
    /// The unit of offsets and sizes in the ASCII family.
    TraceAddressUnit {
        /// Offsets and sizes in sectors of 512 B.
        Sectors = "sectors",
        /// Offsets and sizes in bytes.
        Bytes = "bytes",
    }
}

/// The size of the largest drive.
const SPACE_MAX: Bytes = Bytes::new(1 << 50);
/// The largest request. Bounded, because a request is split into pages all at once.
const REQUEST_SIZE_MAX: Bytes = Bytes::from_kib(64 << 10);

section! {
    /// Workload: the source of requests, their kinds, sizes, addresses and arrivals.
    Workload, "workload" {
        /// Source of requests.
        kind: WorkloadKind = WorkloadKind::Synthetic, needs plain;
        /// Name of the profile or mix; `flashmesh profiles` lists them. A custom mix is written `src2_1 + 2*proj_3 + hm_0@50us`: profiles with a
        /// factor on their published arrival rate, or with a mean time between arrivals.
        profile: Option<String> = None, unset "no profile", needs plain;
        /// Path of the trace file, relative to the configuration file.
        trace: Option<PathBuf> = None, unset "no trace", needs plain;
        /// Path of the profile that `flashmesh trace profile` fitted to a trace, relative to the configuration file.
        fitted: Option<PathBuf> = None, unset "no fitted profile", needs plain;
        /// Format of the trace file.
        format: TraceFormat = TraceFormat::Auto, with "kind" = ["\"trace\""], needs plain;
        /// Unit of time stamps in the ASCII family; other formats have a fixed unit. An open replay of the ASCII family requires the key, because
        /// such a file does not state its unit.
        time_unit: Option<TraceTimeUnit> = None, unset "ns", with "kind" = ["\"trace\""], needs plain;
        /// Unit of offsets and sizes in the ASCII family.
        address_unit: TraceAddressUnit = TraceAddressUnit::Sectors, with "kind" = ["\"trace\""],
            with "format" = ["\"auto\"", "\"ascii\""], needs plain;
        /// Meaning of the type field in the ASCII family.
        polarity: TracePolarity = TracePolarity::ReadIsOne, with "kind" = ["\"trace\""], needs plain;
        /// Event of a blkparse log that counts as the request. A request without this event in the log is left out.
        blkparse_event: BlkparseEvent = BlkparseEvent::Issue, with "kind" = ["\"trace\""],
            with "format" = ["\"auto\"", "\"blkparse\""], needs plain;
        /// Meaning of the number in a `wait` of a fio iolog of version 2, in which fio's manual and fio differ. Version 3 has time stamps instead.
        iolog_wait: IologWait = IologWait::AfterPrevious, with "kind" = ["\"trace\""],
            with "format" = ["\"auto\"", "\"fio-iolog\""], needs plain;
        /// Treatment of trace requests that end beyond the drive. With `wrap`, a fitted profile whose addresses exceed the drive is compressed onto
        /// it.
        beyond: Beyond = Beyond::Reject, with "kind" = ["\"trace\"", "\"fitted\""], needs plain;
        /// Whether any number of lines out of order is accepted, if the sorting window can sort them. The report counts such lines.
        sort: bool = false, with "kind" = ["\"trace\""], needs plain;
        /// Whether flushes of a fio iolog or a blkparse log are requests; otherwise they are ignored.
        flushes: bool = false, with "kind" = ["\"trace\""], needs plain;
        /// Share of lines of a trace that may be unusable; above this share the run is refused. The option `--tolerate` sets 1.
        tolerate: f64 as Share = 0.01, in 0.0..=1.0, needs plain;
        /// Number of requests to issue.
        requests: Option<u64> = None, unset "all of a trace, and as many of a fitted profile; 100,000 of a synthetic workload or a profile, fewer where the published trace has fewer",
            in 1..=1_000_000_000_000, needs plain;
        /// Address pattern.
        pattern: Pattern = Pattern::Random, with "kind" = ["\"synthetic\"", "\"job\""], needs plain;
        /// Share of the requests that are reads.
        read_share: f64 as Share = 1.0, in 0.0..=1.0, with "kind" = ["\"synthetic\"", "\"job\""], needs plain;
        /// Share of the requests that are deallocations; taken from the writes.
        deallocate_share: f64 as Share = 0.0, in 0.0..=1.0, with "kind" = ["\"synthetic\"", "\"job\""], needs plain;
        /// Share of the requests that are flushes; taken from the writes.
        flush_share: f64 as Share = 0.0, in 0.0..=1.0, with "kind" = ["\"synthetic\""], needs plain;
        /// Share of the requests that write zeroes; taken from the writes.
        write_zeroes_share: f64 as Share = 0.0, in 0.0..=1.0, with "kind" = ["\"synthetic\""], needs plain;
        /// Size of the requests, or sizes with weights.
        request_size: Sizes = Sizes(vec![(Bytes::from_kib(4), 1.0)]), in Bytes::new(512)..=REQUEST_SIZE_MAX, with "kind" = ["\"synthetic\"", "\"job\""],
            needs plain;
        /// Block size of the footprint: requests begin at multiples of this.
        alignment: Option<Bytes> = None, unset "the smallest request size; what a profile assumes", in Bytes::new(512)..=SPACE_MAX, with "kind" = ["\"synthetic\"", "\"job\"", "\"profile\""], needs plain;
        /// Share of the requests that begin at a random sector of their block of `alignment`, not at its start.
        unaligned_share: f64 as Share = 0.0, in 0.0..=1.0, with "kind" = ["\"profile\""], needs plain;
        /// Offset of the start of the footprint.
        footprint_start: Bytes = Bytes::ZERO, in Bytes::ZERO..=SPACE_MAX, with "kind" = ["\"synthetic\"", "\"job\"", "\"profile\""], needs plain;
        /// Size of the footprint: the range of the drive that requests address.
        footprint: Option<Bytes> = None, unset "all of the drive; what a profile assumes", in Bytes::new(512)..=SPACE_MAX, with "kind" = ["\"synthetic\"", "\"job\"", "\"profile\""], needs plain;
        /// Placement of the members of a mix on the drive.
        mix_placement: MixPlacement = MixPlacement::Apart, with "kind" = ["\"profile\""], needs plain;
        /// Skew of the Zipf pattern; 0 is uniform.
        zipf_theta: f64 = 0.99, in 0.0..=5.0, with "kind" = ["\"synthetic\"", "\"job\""], with "pattern" = ["\"zipf\""], needs plain;
        /// Share of the footprint that is hot.
        hot_footprint: f64 as Share = 0.2, in 0.0..=1.0, with "kind" = ["\"synthetic\""], with "pattern" = ["\"hot-cold\""], needs plain;
        /// Distance from one hot block to the next, in blocks: with 8, one block in 8 is hot. With static allocation in the order CWDP, blocks of one
        /// page and a stride equal to the number of channels, the hot blocks are those of one row of chips.
        hot_stride: u32 = 8, in 2..=1_000_000, with "kind" = ["\"synthetic\""], with "pattern" = ["\"hot-stride\""], needs plain;
        /// Share of the requests that address hot blocks.
        hot_traffic: f64 as Share = 0.8, in 0.0..=1.0, with "kind" = ["\"synthetic\""], with "pattern" = ["\"hot-cold\"", "\"hot-stride\""],
            needs plain;
        /// Zones of the footprint, in order from its start. Each zone is written as its percentage of the requests, a slash, and its percentage of
        /// the footprint: `50/5:30/15:20/80`.
        zones: Option<String> = None, unset "no zones", with "kind" = ["\"synthetic\"", "\"job\""], with "pattern" = ["\"zoned\""], needs plain;
        /// Share h of the footprint that receives a share 1 - h of the requests: 0.2 is the 80/20 rule.
        pareto_share: f64 = 0.2, in 0.001..=0.999, with "kind" = ["\"synthetic\"", "\"job\""], with "pattern" = ["\"pareto\""], needs plain;
        /// Width of the uniform deviation from the mean of twelve uniform draws, as a share of the footprint.
        normal_deviation: f64 as Share = 0.0, in 0.0..=1.0, with "kind" = ["\"synthetic\"", "\"job\""], with "pattern" = ["\"normal\""], needs plain;
        /// Sizes of the writes of a job, if they differ from those of its reads.
        write_size: Option<Sizes> = None, unset "as `request-size`", in Bytes::new(512)..=REQUEST_SIZE_MAX, with "kind" = ["\"job\""], needs plain;
        /// Sizes of the deallocations of a job, if they differ from those of its reads.
        deallocate_size: Option<Sizes> = None, unset "as `request-size`", in Bytes::new(512)..=REQUEST_SIZE_MAX, with "kind" = ["\"job\""], needs plain;
        /// Whether random requests of a job cover every block of the footprint once per pass before any block is covered again.
        random_map: bool = false, with "kind" = ["\"job\""], with "pattern" = ["\"random\""], needs plain;
        /// Bytes of one pass of a job over its files. If unset, positions and the random map restart when they reach their end.
        pass_size: Option<Bytes> = None, unset "no passes: `requests` or the stop time ends the job", in Bytes::new(512)..=SPACE_MAX, with "kind" = ["\"job\""], needs plain;
        /// Number of passes of a job.
        passes: u64 = 1, in 1..=1_000_000_000_000, with "kind" = ["\"job\""], with "pass-size" != [""], needs plain;
        /// Whether every pass of a job repeats the requests of the first one.
        same_passes: bool = false, with "kind" = ["\"job\""], with "pass-size" != [""], needs plain;
        /// Number of files of a job: equal parts of the footprint, each with its own positions.
        files: u32 = 1, in 1..=65_536, with "kind" = ["\"job\""], needs plain;
        /// Rule that selects the file of the next request.
        file_order: FileOrder = FileOrder::RoundRobin, with "kind" = ["\"job\""], needs plain;
        /// Requests to a file before the next file is selected.
        file_run: u32 = 1, in 1..=1_000_000_000, with "kind" = ["\"job\""], with "file-order" = ["\"round-robin\"", "\"random\""], needs plain;
        /// Weights of the files of a job for the random order, a colon between two: `5:3:2`.
        file_weights: Option<String> = None, unset "equal weights", with "kind" = ["\"job\""], with "file-order" = ["\"random\""], needs plain;
        /// Writes of a job from one flush to the next. Flushes are in addition to its requests. As in fio, a mix flushes again after each read until
        /// its next write.
        flush_every: Option<u32> = None, unset "no flushes", in 1..=1_000_000_000, with "kind" = ["\"job\""], needs plain;
        /// Whether a flush of each file follows each pass of a job. The flushes of a pass that the stop time ends are left out.
        flush_last: bool = false, with "kind" = ["\"job\""], needs plain;
        /// Whether a job deallocates each range before writing that range. The shares of kinds are then ignored.
        deallocate_first: bool = false, with "kind" = ["\"job\""], needs plain;
        /// Requests of a random job from one random draw of an address to the next.
        run_length: u32 = 1, in 1..=1_000_000_000, with "kind" = ["\"job\""], needs plain;
        /// Address of the requests between two draws.
        run_kind: RunKind = RunKind::Sequential, with "kind" = ["\"job\""], needs plain;
        /// Share of the draws of a random job that are random; the others continue after the last request of their direction.
        random_share: f64 as Share = 1.0, in 0.0..=1.0, with "kind" = ["\"job\""], needs plain;
        /// Share of the draws of the writes of a random job that are random, if it differs from that of the reads.
        write_random_share: Option<f64> = None, unset "as `random-share`", in 0.0..=1.0, with "kind" = ["\"job\""], needs plain;
        /// Bytes that a sequential job skips after each request.
        skip: Bytes = Bytes::ZERO, in Bytes::ZERO..=SPACE_MAX, with "kind" = ["\"job\""], needs plain;
        /// Bytes that a sequential job covers before it skips `skip` bytes.
        skip_after: Option<Bytes> = None, unset "one request", in Bytes::new(512)..=SPACE_MAX, with "kind" = ["\"job\""], needs plain;
        /// Whether `skip` goes towards the start of the file.
        skip_back: bool = false, with "kind" = ["\"job\""], needs plain;
        /// Arrival process; only open replay uses it.
        arrivals: Option<ArrivalKind> = None, unset "exponential; what a profile assumes", with "kind" = ["\"synthetic\"", "\"job\"", "\"profile\""],
            needs plain;
        /// Mean time between arrivals; for a mix, between the arrivals of all members together.
        interarrival: Option<Time> = None, unset "10us; what is published of a profile or a mix", in Time::ZERO..=Time::from_ms(1_000_000), with "kind" = ["\"synthetic\"", "\"job\"", "\"profile\""], needs plain;
        /// Requests in a burst.
        burst_length: Option<u32> = None, unset "1; what a profile assumes", in 1..=1_000_000, with "kind" = ["\"synthetic\"", "\"profile\""], with "arrivals" = ["\"burst\""], needs plain;
        /// Mean number of times that a pair of pages is read together, including the first. Above 1, bursts of a profile recur at the same
        /// addresses.
        pair_repetition: Option<f64> = None, unset "what is published of a profile; 1 where nothing is", in 1.0..=100_000.0, with "kind" = ["\"profile\""], needs plain;
        /// Whether all requests of a burst have the same kind. If so, a burst recurs with its kind.
        burst_kinds: BurstKinds = BurstKinds::Mixed, with "kind" = ["\"profile\""], needs plain;
    }
}
