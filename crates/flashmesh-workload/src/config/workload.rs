//! `[workload]`

use std::path::PathBuf;

use super::Sizes;
use crate::units::{Bytes, Share, Time};
use flashmesh_base::config::choices::choices;
use flashmesh_base::config::section::section;

choices! {
    /// Where requests come from.
    WorkloadKind {
        /// The pattern described by the other keys.
        Synthetic = "synthetic",
        /// The requests of a job of fio: files, a position for each direction, passes and a random map.
        Job = "job",
        /// A named published workload, or a mix of several; implied by `profile`.
        Profile = "profile",
        /// A file; implied by `trace`.
        Trace = "trace",
        /// Requests drawn from a profile fitted to a trace; implied by `fitted`.
        Fitted = "fitted",
    }
}

choices! {
    /// Where the requests of a synthetic workload go.
    Pattern {
        /// One after the other, from the start of the footprint (each thread in its own part of it).
        Sequential = "sequential",
        /// Uniform.
        Random = "random",
        /// Zipf over the blocks of `alignment`, ranks scattered over the footprint.
        Zipf = "zipf",
        /// A hot region gets `hot-traffic` of the requests.
        HotCold = "hot-cold",
        /// Every `hot-stride`-th block of `alignment` is hot; these get `hot-traffic` of the requests.
        HotStride = "hot-stride",
        /// Zones of the footprint, each with its share of the requests (`zones`).
        Zoned = "zoned",
        /// The first `pareto-share` of the blocks get the rest of the requests, at every scale; blocks scattered over the footprint.
        Pareto = "pareto",
        /// Near a normal distribution, its blocks scattered over the footprint.
        Normal = "normal",
    }
}

choices! {
    /// Which file the next request of a job goes to.
    FileOrder {
        /// The next one after each request.
        RoundRobin = "round-robin",
        /// Any of them.
        Random = "random",
        /// The same one until it is at its end.
        Sequential = "sequential",
    }
}

choices! {
    /// Where the requests of a job go between two draws of a place (`run-length`).
    RunKind {
        /// Each behind the last one of its direction.
        Sequential = "sequential",
        /// To the place of the last one of its direction.
        Identical = "identical",
    }
}

choices! {
    /// How arrivals are spaced.
    ArrivalKind {
        /// At constant distance.
        Constant = "constant",
        /// Exponential (Poisson arrivals).
        Exponential = "exponential",
        /// Bursts of `burst-length` back to back, exponential in between.
        Burst = "burst",
    }
}

choices! {
    /// What the requests of a burst of a profile ask.
    BurstKinds {
        /// Each on its own, by the share of reads.
        Mixed = "mixed",
        /// All the same: bursts that read, by the share of reads, and bursts that write.
        Alike = "alike",
    }
}

choices! {
    /// Where the members of a mix lie.
    MixPlacement {
        /// Each in a range of its own, in the order of the members.
        Apart = "apart",
        /// All from `footprint-start`, overlapping.
        Shared = "shared",
    }
}

choices! {
    /// Layout of a trace file.
    TraceFormat {
        /// Found from the first lines.
        Auto = "auto",
        /// MSR Cambridge CSV.
        Msr = "msr",
        /// MSR Cambridge CSV cut down to time, type, offset and size.
        MsrShort = "msr-short",
        /// The ASCII family of SSDSim, DiskSim and MQSim: time, device, sector, sectors, type.
        Ascii = "ascii",
        /// fio iolog, version 2 or 3.
        FioIolog = "fio-iolog",
        /// SPC, as the UMass repository publishes it.
        Spc = "spc",
        /// SYSTOR '17 CSV.
        Systor = "systor",
        /// The text that blkparse prints by default.
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
    /// Which event of a blkparse log stands for the request.
    BlkparseEvent {
        /// Q: the request reached the block layer.
        Queue = "queue",
        /// D: the driver sent it to the drive.
        Issue = "issue",
        /// C: the drive completed it.
        Complete = "complete",
    }
}

choices! {
    /// Meaning of the number of a `wait` in a fio iolog of version 2.
    IologWait {
        /// Microseconds behind the previous wait, as fio's manual says.
        AfterPrevious = "after-previous-us",
        /// Milliseconds from the start of the log, as fio 3.33 replays.
        SinceStart = "since-start-ms",
    }
}

choices! {
    /// Requests of a trace that reach beyond the drive.
    Beyond {
        /// They are rejected before the run, and counted.
        Reject = "reject",
        /// Their addresses wrap around.
        Wrap = "wrap",
        /// The drive gets them, and answers with LBA Out of Range.
        Send = "send",
    }
}

choices! {
    /// The unit of time stamps of the ASCII family.
    TraceTimeUnit {
        /// Picoseconds.
        Picoseconds = "ps",
        /// Nanoseconds.
        Nanoseconds = "ns",
        /// Microseconds.
        Microseconds = "us",
        /// Milliseconds.
        Milliseconds = "ms",
        /// Seconds.
        Seconds = "s",
    }
}

choices! {
    /// Which type of the ASCII family is a read.
    TracePolarity {
        /// 1 is a read, 0 a write.
        ReadIsOne = "read-is-1",
        /// 0 is a read, 1 a write.
        ReadIsZero = "read-is-0",
    }
}

choices! {
    /// What offsets and sizes of the ASCII family count.
    TraceAddressUnit {
        /// Sectors of 512 B.
        Sectors = "sectors",
        /// Bytes.
        Bytes = "bytes",
    }
}

/// No drive is larger.
const SPACE_MAX: Bytes = Bytes::new(1 << 50);
/// Bounded, since a request is cut into pages at once.
const REQUEST_SIZE_MAX: Bytes = Bytes::from_kib(64 << 10);

section! {
    /// Where requests come from.
    Workload, "workload" {
        /// Where requests come from.
        kind: WorkloadKind = WorkloadKind::Synthetic, needs plain;
        /// Name of the profile or mix; `flashmesh profiles` lists them. A mix of one's own is written `src2_1 + 2*proj_3 + hm_0@50us`:
        /// profiles with a factor to their published rate, or with a mean time between arrivals.
        profile: Option<String> = None, unset "no profile", needs plain;
        /// The trace file; relative to the configuration file.
        trace: Option<PathBuf> = None, unset "no trace", needs plain;
        /// The profile that `flashmesh trace profile` fitted to a trace; relative to the configuration file.
        fitted: Option<PathBuf> = None, unset "no fitted profile", needs plain;
        /// Layout of the trace file.
        format: TraceFormat = TraceFormat::Auto, with "kind" = ["\"trace\""], needs plain;
        /// The unit of time stamps of the ASCII family; other formats fix theirs. An open replay needs it said, as nothing in such a
        /// file tells it.
        time_unit: Option<TraceTimeUnit> = None, unset "ns", with "kind" = ["\"trace\""], needs plain;
        /// What offsets and sizes of the ASCII family count.
        address_unit: TraceAddressUnit = TraceAddressUnit::Sectors, with "kind" = ["\"trace\""],
            with "format" = ["\"auto\"", "\"ascii\""], needs plain;
        /// Which type of the ASCII family is a read.
        polarity: TracePolarity = TracePolarity::ReadIsOne, with "kind" = ["\"trace\""], needs plain;
        /// Which event of a blkparse log stands for the request; one that is missing in the log gives no request.
        blkparse_event: BlkparseEvent = BlkparseEvent::Issue, with "kind" = ["\"trace\""],
            with "format" = ["\"auto\"", "\"blkparse\""], needs plain;
        /// Meaning of the number of a `wait` in a fio iolog of version 2. fio's manual and fio differ; later versions of the format have
        /// time stamps instead.
        iolog_wait: IologWait = IologWait::AfterPrevious, with "kind" = ["\"trace\""],
            with "format" = ["\"auto\"", "\"fio-iolog\""], needs plain;
        /// What becomes of requests of a trace that reach beyond the drive. A fitted profile that spans more than the drive is squeezed
        /// onto it with `wrap`.
        beyond: Beyond = Beyond::Reject, with "kind" = ["\"trace\"", "\"fitted\""], needs plain;
        /// Whether a trace may be out of order within the window in which it is sorted, however many lines are. They are counted.
        sort: bool = false, with "kind" = ["\"trace\""], needs plain;
        /// Whether flushes of a fio iolog or a blkparse log are requests, instead of being ignored.
        flushes: bool = false, with "kind" = ["\"trace\""], needs plain;
        /// Share of lines of a trace that may be unusable before the run refuses; the option `--tolerate` sets 1.
        tolerate: f64 as Share = 0.01, in 0.0..=1.0, needs plain;
        /// Requests to issue.
        requests: Option<u64> = None, unset "all of a trace, and as many of a fitted profile; 100,000 of a synthetic workload or a profile, fewer where the published trace has fewer",
            in 1..=1_000_000_000_000, needs plain;
        /// Where requests go.
        pattern: Pattern = Pattern::Random, with "kind" = ["\"synthetic\"", "\"job\""], needs plain;
        /// Share of requests that read.
        read_share: f64 as Share = 1.0, in 0.0..=1.0, with "kind" = ["\"synthetic\"", "\"job\""], needs plain;
        /// Share of requests that deallocate; taken from the writes.
        deallocate_share: f64 as Share = 0.0, in 0.0..=1.0, with "kind" = ["\"synthetic\"", "\"job\""], needs plain;
        /// Share of requests that flush; taken from the writes.
        flush_share: f64 as Share = 0.0, in 0.0..=1.0, with "kind" = ["\"synthetic\""], needs plain;
        /// Share of requests that write zeroes; taken from the writes.
        write_zeroes_share: f64 as Share = 0.0, in 0.0..=1.0, with "kind" = ["\"synthetic\""], needs plain;
        /// Sizes of requests.
        request_size: Sizes = Sizes(vec![(Bytes::from_kib(4), 1.0)]), in Bytes::new(512)..=REQUEST_SIZE_MAX, with "kind" = ["\"synthetic\"", "\"job\""],
            needs plain;
        /// Requests begin at multiples of this.
        alignment: Option<Bytes> = None, unset "the smallest request size; what a profile assumes", in Bytes::new(512)..=SPACE_MAX, with "kind" = ["\"synthetic\"", "\"job\"", "\"profile\""], needs plain;
        /// Share of requests that begin at any sector of their block of `alignment`, not at its start.
        unaligned_share: f64 as Share = 0.0, in 0.0..=1.0, with "kind" = ["\"profile\""], needs plain;
        /// Where the footprint begins.
        footprint_start: Bytes = Bytes::ZERO, in Bytes::ZERO..=SPACE_MAX, with "kind" = ["\"synthetic\"", "\"job\"", "\"profile\""], needs plain;
        /// How much of the drive is touched.
        footprint: Option<Bytes> = None, unset "all of the drive; what a profile assumes", in Bytes::new(512)..=SPACE_MAX, with "kind" = ["\"synthetic\"", "\"job\"", "\"profile\""], needs plain;
        /// Where the members of a mix lie.
        mix_placement: MixPlacement = MixPlacement::Apart, with "kind" = ["\"profile\""], needs plain;
        /// Skew of the Zipf pattern.
        zipf_theta: f64 = 0.99, in 0.0..=5.0, with "kind" = ["\"synthetic\"", "\"job\""], with "pattern" = ["\"zipf\""], needs plain;
        /// Share of the footprint that is hot.
        hot_footprint: f64 as Share = 0.2, in 0.0..=1.0, with "kind" = ["\"synthetic\""], with "pattern" = ["\"hot-cold\""], needs plain;
        /// One in how many blocks is hot. With static allocation CWDP, blocks of a page and a stride of as many blocks as there are
        /// channels, the hot blocks are those of one row of chips.
        hot_stride: u32 = 8, in 2..=1_000_000, with "kind" = ["\"synthetic\""], with "pattern" = ["\"hot-stride\""], needs plain;
        /// Share of requests that go to what is hot.
        hot_traffic: f64 as Share = 0.8, in 0.0..=1.0, with "kind" = ["\"synthetic\""], with "pattern" = ["\"hot-cold\"", "\"hot-stride\""],
            needs plain;
        /// Zones of the footprint, from its start on: the percentage of the requests that go to each over the percentage of the footprint
        /// that it covers, such as `50/5:30/15:20/80`.
        zones: Option<String> = None, unset "no zones", with "kind" = ["\"synthetic\"", "\"job\""], with "pattern" = ["\"zoned\""], needs plain;
        /// Share of the footprint that gets all but this share of the requests: 0.2 is the rule of 80 to 20.
        pareto_share: f64 = 0.2, in 0.001..=0.999, with "kind" = ["\"synthetic\"", "\"job\""], with "pattern" = ["\"pareto\""], needs plain;
        /// Share of the footprint over which draws are spread evenly around those of twelve uniform draws.
        normal_deviation: f64 as Share = 0.0, in 0.0..=1.0, with "kind" = ["\"synthetic\"", "\"job\""], with "pattern" = ["\"normal\""], needs plain;
        /// Sizes of the writes of a job, where they differ from those of its reads.
        write_size: Option<Sizes> = None, unset "as `request-size`", in Bytes::new(512)..=REQUEST_SIZE_MAX, with "kind" = ["\"job\""], needs plain;
        /// Sizes of the deallocations of a job, where they differ from those of its reads.
        deallocate_size: Option<Sizes> = None, unset "as `request-size`", in Bytes::new(512)..=REQUEST_SIZE_MAX, with "kind" = ["\"job\""], needs plain;
        /// Whether random requests of a job cover every block of the footprint once in a pass before one is covered again.
        random_map: bool = false, with "kind" = ["\"job\""], with "pattern" = ["\"random\""], needs plain;
        /// Bytes of one pass of a job over its files. Without it positions and the random map begin anew wherever they end.
        pass_size: Option<Bytes> = None, unset "no passes: `requests` or the stop time ends the job", in Bytes::new(512)..=SPACE_MAX, with "kind" = ["\"job\""], needs plain;
        /// Passes of a job.
        passes: u64 = 1, in 1..=1_000_000_000_000, with "kind" = ["\"job\""], with "pass-size" != [""], needs plain;
        /// Whether every pass of a job draws the requests of the first one again.
        same_passes: bool = false, with "kind" = ["\"job\""], with "pass-size" != [""], needs plain;
        /// Files of a job: equal parts of the footprint, each with its own positions.
        files: u32 = 1, in 1..=65_536, with "kind" = ["\"job\""], needs plain;
        /// Which file the next request goes to.
        file_order: FileOrder = FileOrder::RoundRobin, with "kind" = ["\"job\""], needs plain;
        /// Writes of a job from one flush to the next; flushes come on top of its requests.
        flush_every: Option<u32> = None, unset "no flushes", in 1..=1_000_000_000, with "kind" = ["\"job\""], needs plain;
        /// Whether a job deallocates each place before it writes there; its shares of kinds do not count then.
        deallocate_first: bool = false, with "kind" = ["\"job\""], needs plain;
        /// Requests of a random job from one draw of a place to the next.
        run_length: u32 = 1, in 1..=1_000_000_000, with "kind" = ["\"job\""], needs plain;
        /// Where the requests between two draws go.
        run_kind: RunKind = RunKind::Sequential, with "kind" = ["\"job\""], needs plain;
        /// Share of the draws of a random job that are drawn; the rest go on behind the last request of their direction.
        random_share: f64 as Share = 1.0, in 0.0..=1.0, with "kind" = ["\"job\""], needs plain;
        /// Bytes that a sequential job leaves out behind each request.
        skip: Bytes = Bytes::ZERO, in Bytes::ZERO..=SPACE_MAX, with "kind" = ["\"job\""], needs plain;
        /// Bytes that a sequential job covers before it leaves out `skip`.
        skip_after: Option<Bytes> = None, unset "one request", in Bytes::new(512)..=SPACE_MAX, with "kind" = ["\"job\""], needs plain;
        /// Whether `skip` goes towards the start of the file.
        skip_back: bool = false, with "kind" = ["\"job\""], needs plain;
        /// How arrivals are spaced (they matter in open replay only).
        arrivals: Option<ArrivalKind> = None, unset "exponential; what a profile assumes", with "kind" = ["\"synthetic\"", "\"job\"", "\"profile\""],
            needs plain;
        /// Mean time between arrivals; of a mix, of all its members together.
        interarrival: Option<Time> = None, unset "10us; what is published of a profile or a mix", in Time::ZERO..=Time::from_ms(1_000_000), with "kind" = ["\"synthetic\"", "\"job\"", "\"profile\""], needs plain;
        /// Requests in a burst.
        burst_length: Option<u32> = None, unset "1; what a profile assumes", in 1..=1_000_000, with "kind" = ["\"synthetic\"", "\"profile\""], with "arrivals" = ["\"burst\""], needs plain;
        /// How often on average two pages that are read together are read together again: bursts of a profile come again, to the same places.
        pair_repetition: Option<f64> = None, unset "what is published of a profile; 1 where nothing is", in 1.0..=100_000.0, with "kind" = ["\"profile\""], needs plain;
        /// Whether the requests of a burst all read or all write. Bursts of one kind come again as that kind.
        burst_kinds: BurstKinds = BurstKinds::Mixed, with "kind" = ["\"profile\""], needs plain;
    }
}
