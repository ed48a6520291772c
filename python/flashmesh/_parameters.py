"""The parameters of a configuration, typed.

Generated from the declarations in crates/flashmesh/src/config by `cargo run -p flashmesh --example generate`.

    >>> from flashmesh._parameters import Config, Fabric
    >>> Config(preset="venice-z-nand", fabric=Fabric(kind="ideal")).to_toml_tables()
    {'preset': 'venice-z-nand', 'fabric': {'kind': 'ideal'}}
"""

from __future__ import annotations

import os
from collections.abc import Mapping as AnyMapping
from collections.abc import Sequence
from dataclasses import dataclass, fields, is_dataclass
from datetime import timedelta
from typing import Any, Literal, TypeAlias

from flashmesh.suggesting import suggesting

__all__ = [
    "Area",
    "Bytes",
    "Cache",
    "CacheDestage",
    "CacheRowPolicy",
    "CacheSharing",
    "CacheStall",
    "CacheWrites",
    "Config",
    "Current",
    "Fabric",
    "FabricArbitration",
    "FabricChannelLoad",
    "FabricHoldPath",
    "FabricKind",
    "Firmware",
    "Flash",
    "FlashDieStart",
    "FlashMultiPlane",
    "FlashPageTypes",
    "FlashProgramOrder",
    "FlashProgramUnit",
    "FlashSuspension",
    "FlashSuspensionScope",
    "Ftl",
    "FtlAllocation",
    "FtlFirstTouch",
    "FtlHomeOrder",
    "FtlPolicy",
    "FtlWriteBinding",
    "FtlWriteStreams",
    "Gc",
    "GcMove",
    "GcMovedPages",
    "GcVictim",
    "Geometry",
    "Host",
    "HostInterface",
    "HostReadData",
    "Indices",
    "Mapping",
    "MappingFill",
    "MappingSharing",
    "MappingWriteBackRead",
    "Mbm",
    "MbmAreaRule",
    "MbmMcsBegins",
    "MbmSuspension",
    "Measure",
    "MeasurePrecisionOf",
    "MeasureWarmUp",
    "Namespace",
    "Nossd",
    "NossdArbitration",
    "NossdControllerQueues",
    "NossdInjection",
    "NossdInterleave",
    "NossdPagePackets",
    "NossdPlacement",
    "NossdReply",
    "NossdSlotReuse",
    "NossdTopology",
    "Nvme",
    "NvmeArbitration",
    "Packets",
    "Persistence",
    "PersistencePolicy",
    "Pnssd",
    "PnssdControllers",
    "Policy",
    "Power",
    "Precondition",
    "PreconditionKind",
    "Preset",
    "Queue",
    "QueueCaching",
    "QueuePriority",
    "Rate",
    "Replay",
    "ReplayLatencyStart",
    "ReplayMode",
    "Replication",
    "ReplicationCountedReads",
    "Sata",
    "SataTransport",
    "Schedule",
    "ScheduleErases",
    "ScheduleOrder",
    "SchedulePolicy",
    "SchedulePriorities",
    "Share",
    "Sizes",
    "Slc",
    "SlcRegion",
    "SlcWhenFull",
    "Stream",
    "Superblock",
    "Time",
    "Times",
    "Venice",
    "VeniceRetry",
    "VeniceRevisits",
    "VeniceRouting",
    "VeniceService",
    "VeniceTieBreak",
    "Voltage",
    "Wattage",
    "Wear",
    "Workload",
    "WorkloadAddressUnit",
    "WorkloadArrivals",
    "WorkloadBeyond",
    "WorkloadBlkparseEvent",
    "WorkloadBurstKinds",
    "WorkloadFileOrder",
    "WorkloadFormat",
    "WorkloadIologWait",
    "WorkloadKind",
    "WorkloadMixPlacement",
    "WorkloadPattern",
    "WorkloadPolarity",
    "WorkloadRunKind",
    "WorkloadTimeUnit",
]

Time: TypeAlias = str | float | timedelta
"""A time with its unit, "3us" or "12.5ns"; a number is in seconds, 3e-6."""

Bytes: TypeAlias = str
"""A size with its unit: "4KiB" (1024 B each), "4kB" (1000 B each)."""

Rate: TypeAlias = str
"""A rate with its unit: "1.2GB/s"; or "unlimited"."""

Wattage: TypeAlias = str
"""A power with its unit: "1.08mW"."""

Current: TypeAlias = str
"""A current with its unit: "25mA"."""

Voltage: TypeAlias = str
"""A voltage with its unit: "3.3V"."""

Share: TypeAlias = float | str
"""A share of a whole: 0.07 or "7%"."""

Sizes: TypeAlias = Bytes | Sequence[tuple[Bytes, float]]
"""A size, or sizes with their weights: [("4KiB", 0.7), ("64KiB", 0.3)]."""

Indices: TypeAlias = str | int | Sequence[int]
"""A set of numbers, counted from 0: "0-3,6" or [0, 1, 2, 3, 6]."""

Times: TypeAlias = Time | Sequence[Time]
"""A time, or times for one plane, for two, and so on: ["290ns", "940ns"]."""

Preset: TypeAlias = Literal[
    "venice-z-nand",
    "venice-pm9a3",
    "enterprise-slc",
    "nossd12",
    "mbm",
    "samsung-pm9a3",
    "sk-hynix-pe8110",
    "solidigm-p5520",
    "kioxia-cm7-r",
    "collisions",
    "z-nand",
    "pm9a3",
]
"""The drives that come with the simulator; at the end names that some had before."""

FlashPageTypes: TypeAlias = Literal["one", "mlc", "tlc", "qlc"]
"""How the pages of a block differ in their array times; an operation takes as long as its slowest page."""

FlashProgramUnit: TypeAlias = Literal["page", "word-line"]
"""What one program writes in a plane. With `word-line` the data of all its pages comes with the command, and
`program-time` is the time of a word line.
"""

FlashDieStart: TypeAlias = Literal["independent", "together"]
"""When dies that work side by side begin an operation. Those of NoSSD manage their own operations (PACT 2014, section
5.5), and are independent.
"""

FlashMultiPlane: TypeAlias = Literal["off", "same-offset", "same-block-and-offset"]
"""When planes of a die join in one operation."""

FlashProgramOrder: TypeAlias = Literal["in-order", "any"]
"""In which order the chips let the pages of a block be programmed."""

FlashSuspension: TypeAlias = Literal["off", "program", "erase", "both"]
"""Which operations a waiting host read suspends."""

FlashSuspensionScope: TypeAlias = Literal["die", "chip"]
"""Whether a read suspends its own die alone, or all dies of a chip that begin together and are busy together. A chip
goes on with what is suspended when no read waits for any of its dies. All of it has to be suspendable.
"""

FabricKind: TypeAlias = Literal["bus", "pssd", "pnssd", "nossd", "venice", "ideal"]
"""The interconnect."""

FabricChannelLoad: TypeAlias = Literal["none", "chips"]
"""Whether the chips on a channel slow it down. A network between chips has two routers on each link, and no such load.
"""

FabricHoldPath: TypeAlias = Literal["false", "true", "reads", "programs"]
"""Which transactions hold their path (a channel, or a circuit of links) from the command to the last byte of the data,
or to the end of a program or erase, rather than only while bytes move.
"""

FabricArbitration: TypeAlias = Literal[
    "command-first",
    "next-command-first",
    "data-first",
    "oldest-first",
    "round-robin",
    "data-first-round-robin",
]
"""Who gets a channel when several wait."""

PnssdControllers: TypeAlias = Literal["independent", "shared"]
"""What the controllers drive."""

NossdSlotReuse: TypeAlias = Literal["same-cycle", "next-cycle"]
"""When the slot of a flit that leaves a buffer can be used again."""

NossdTopology: TypeAlias = Literal["mesh", "torus", "ring"]
"""How the routers of the chips are connected."""

NossdInterleave: TypeAlias = Literal["packets", "flits"]
"""What of two directions takes turns on a link, and what follows what on an output."""

NossdPlacement: TypeAlias = Literal["one-sided", "all-sided"]
"""Where the controllers are attached."""

NossdInjection: TypeAlias = Literal[
    "nearest",
    "round-robin",
    "nearest-else-round-robin",
    "least-loaded",
    "nearest-under-threshold",
]
"""Which controller sends a command; Network-on-SSD, CAL 2012 calls the nearest the trivial choice, Design for
Scalability, PACT 2014 takes them in turn.
"""

NossdControllerQueues: TypeAlias = Literal["dies", "packets"]
"""What waits at a controller."""

NossdReply: TypeAlias = Literal["sender", "nearest"]
"""Which controller a chip answers."""

NossdArbitration: TypeAlias = Literal["round-robin", "fifo", "oldest"]
"""Which packet a router serves next on a link."""

NossdPagePackets: TypeAlias = Literal["fixed", "one"]
"""What a page is sent in."""

VeniceRouting: TypeAlias = Literal["venice", "minimal-adaptive", "xy", "random-dfs"]
"""How a scout finds its way."""

VeniceTieBreak: TypeAlias = Literal["lfsr", "uniform"]
"""How a router draws one of several ports."""

VeniceRevisits: TypeAlias = Literal["unused-ports", "three-times"]
"""Over which of its ports a router sends a scout that it has seen before."""

VeniceRetry: TypeAlias = Literal["on-teardown", "immediate", "next-controller"]
"""What a die does whose scout has found no path."""

VeniceService: TypeAlias = Literal["own-row-first", "longest-first"]
"""Which die goes first when a controller gets free."""

SchedulePolicy: TypeAlias = Literal["out-of-order", "fifo", "sprinkler", "paq", "fair"]
"""How a die chooses among the transactions that wait for it."""

ScheduleOrder: TypeAlias = Literal["read-first", "write-first", "arrival"]
"""Which kind of request goes first. The read that a write of a part of a page needs is a read."""

ScheduleErases: TypeAlias = Literal["with-collection", "first", "last"]
"""When erases go. Space is nearly out below `gc.hard-threshold`, and where a write finds no page."""

SchedulePriorities: TypeAlias = Literal["off", "strict", "weighted"]
"""What priorities of requests do. With them on, only transactions of the same priority join in a multi-plane operation.
A policy in Python sees priorities where this is not `off`, and says itself what they do.
"""

FtlPolicy: TypeAlias = Literal["page", "tbm", "mbm", "sprinkler", "superblock"]
"""What the firmware makes of the state machines of the translation layer
([firmware-policies.md](firmware-policies.md)).
"""

FtlAllocation: TypeAlias = Literal[
    "CWDP",
    "CWPD",
    "CDWP",
    "CDPW",
    "CPWD",
    "CPDW",
    "WCDP",
    "WCPD",
    "WDCP",
    "WDPC",
    "WPCD",
    "WPDC",
    "DCWP",
    "DCPW",
    "DWCP",
    "DWPC",
    "DPCW",
    "DPWC",
    "PCWD",
    "PCDW",
    "PWCD",
    "PWDC",
    "PDCW",
    "PDWC",
    "dynamic",
    "free-channel",
]
"""Which plane a written page goes to. A page that holds nothing has its home by the static order (`home-order` when
dynamic).
"""

FtlHomeOrder: TypeAlias = Literal[
    "CWDP",
    "CWPD",
    "CDWP",
    "CDPW",
    "CPWD",
    "CPDW",
    "WCDP",
    "WCPD",
    "WDCP",
    "WDPC",
    "WPCD",
    "WPDC",
    "DCWP",
    "DCPW",
    "DWCP",
    "DWPC",
    "DPCW",
    "DPWC",
    "PCWD",
    "PCDW",
    "PWCD",
    "PWDC",
    "PDCW",
    "PDWC",
]
"""The static order of a dynamic allocation: where pages lie that it does not place, which hold nothing or were written
before the run.
"""

FtlWriteBinding: TypeAlias = Literal["late", "early"]
"""When a write of a request gets its page in the plane. Early, planes of a die join in a program when pages that were
handed out agree, as deep in their queues as `schedule.lookahead`, and the read that a write of a part of a page needs
does not cost the write its turn.
"""

FtlFirstTouch: TypeAlias = Literal["home", "write-block"]
"""What becomes of a page that is read before it was written."""

FtlWriteStreams: TypeAlias = Literal["shared", "per-stream"]
"""Which open block of its plane a written page goes to."""

MappingSharing: TypeAlias = Literal["shared", "per-stream"]
"""Who shares the cache."""

MappingFill: TypeAlias = Literal["entry", "page"]
"""What of a translation page stays in the cache once it was read."""

MappingWriteBackRead: TypeAlias = Literal["when-missing", "always"]
"""When a translation page that is to be written back is read first."""

PersistencePolicy: TypeAlias = Literal["ideal", "journal"]
"""How the map survives a cut of the power."""

MbmSuspension: TypeAlias = Literal["off", "program", "erase", "both"]
"""Which operations a waiting host read suspends under this policy, in place of `flash.suspension`."""

MbmMcsBegins: TypeAlias = Literal["each-allocation", "once-until-drained"]
"""How often MCS begins with the chip that takes the fewest pages."""

MbmAreaRule: TypeAlias = Literal["latest-read", "any-read"]
"""Which reads decide whether an area is read-intensive."""

SlcRegion: TypeAlias = Literal["static", "dynamic"]
"""Which blocks they are."""

SlcWhenFull: TypeAlias = Literal["bypass", "fold"]
"""What becomes of a write that finds the cache of its plane full. With `fold` the fold that makes room begins at once
and goes before reads, so that a drive whose cache is full writes each page twice at the rate at which it folds.
"""

GcVictim: TypeAlias = Literal["greedy", "d-choices", "random", "random-p", "random-pp", "fifo"]
"""Which block is collected."""

GcMove: TypeAlias = Literal["through-controller", "chip-to-chip", "clean"]
"""How a valid page moves."""

GcMovedPages: TypeAlias = Literal["own-block", "write-block"]
"""Which open block of its plane takes a page that collection moves."""

ReplicationCountedReads: TypeAlias = Literal["host", "all"]
"""Which reads collide: are outstanding, make pairs, and trigger copies. The other ones are counted beside them."""

HostInterface: TypeAlias = Literal["direct", "nvme", "sata"]
"""How commands and data cross."""

HostReadData: TypeAlias = Literal["page", "request"]
"""When the data of a read goes to the host."""

NvmeArbitration: TypeAlias = Literal["round-robin", "weighted"]
"""From which queue the controller fetches next."""

SataTransport: TypeAlias = Literal["frames", "doorbells"]
"""What lies between the adapter and the drive."""

CacheSharing: TypeAlias = Literal["shared", "per-stream"]
"""How streams share it."""

CacheWrites: TypeAlias = Literal["back", "through"]
"""When a write that the cache takes completes."""

CacheDestage: TypeAlias = Literal["watermark", "eviction", "first-write"]
"""Which dirty pages go to flash, and when."""

CacheStall: TypeAlias = Literal["writes", "commands"]
"""What waits while a write waits for room, or since writes are slowed down."""

CacheRowPolicy: TypeAlias = Literal["closed", "open"]
"""What becomes of a row after an access."""

PreconditionKind: TypeAlias = Literal["none", "sequential", "random"]
"""How the drive was written."""

MeasureWarmUp: TypeAlias = Literal["none", "auto", "requests", "time", "steady"]
"""What ends the warm-up, behind which the results have a window of their own."""

MeasurePrecisionOf: TypeAlias = Literal[
    "iops",
    "bandwidth",
    "mean",
    "p50",
    "p95",
    "p99",
    "p99.9",
    "write-amplification",
]
"""The figure that `precision` is of."""

WorkloadKind: TypeAlias = Literal["synthetic", "job", "profile", "trace", "fitted"]
"""Where requests come from."""

WorkloadFormat: TypeAlias = Literal[
    "auto",
    "msr",
    "msr-short",
    "ascii",
    "fio-iolog",
    "spc",
    "systor",
    "blkparse",
    "vscsi1",
    "vscsi2",
    "diskmon",
    "alibaba",
    "tencent",
    "fiu",
    "libcachesim-csv",
    "oracle-general",
    "srt",
]
"""Layout of the trace file."""

WorkloadTimeUnit: TypeAlias = Literal["ps", "ns", "us", "ms", "s"]
"""The unit of time stamps of the ASCII family; other formats fix theirs. An open replay needs it said, as nothing in
such a file tells it.
"""

WorkloadAddressUnit: TypeAlias = Literal["sectors", "bytes"]
"""What offsets and sizes of the ASCII family count."""

WorkloadPolarity: TypeAlias = Literal["read-is-1", "read-is-0"]
"""Which type of the ASCII family is a read."""

WorkloadBlkparseEvent: TypeAlias = Literal["queue", "issue", "complete"]
"""Which event of a blkparse log stands for the request; one that is missing in the log gives no request."""

WorkloadIologWait: TypeAlias = Literal["after-previous-us", "since-start-ms"]
"""Meaning of the number of a `wait` in a fio iolog of version 2. fio's manual and fio differ; later versions of the
format have time stamps instead.
"""

WorkloadBeyond: TypeAlias = Literal["reject", "wrap", "send"]
"""What becomes of requests of a trace that reach beyond the drive. A fitted profile that spans more than the drive is
squeezed onto it with `wrap`.
"""

WorkloadPattern: TypeAlias = Literal[
    "sequential",
    "random",
    "zipf",
    "hot-cold",
    "hot-stride",
    "zoned",
    "pareto",
    "normal",
]
"""Where requests go."""

WorkloadMixPlacement: TypeAlias = Literal["apart", "shared"]
"""Where the members of a mix lie."""

WorkloadFileOrder: TypeAlias = Literal["round-robin", "random", "sequential"]
"""Which file the next request goes to."""

WorkloadRunKind: TypeAlias = Literal["sequential", "identical"]
"""Where the requests between two draws go."""

WorkloadArrivals: TypeAlias = Literal["constant", "exponential", "burst"]
"""How arrivals are spaced (they matter in open replay only)."""

WorkloadBurstKinds: TypeAlias = Literal["mixed", "alike"]
"""Whether the requests of a burst all read or all write. Bursts of one kind come again as that kind."""

ReplayMode: TypeAlias = Literal["open", "stress", "closed"]
"""When requests are issued. A trace replays `open` unless the mode, `outstanding`, `threads` or `think-time` is set."""

ReplayLatencyStart: TypeAlias = Literal["arrival", "issue"]
"""From when the latency of a request counts."""

QueuePriority: TypeAlias = Literal["urgent", "high", "medium", "low"]
"""Priority class of the requests of the stream, for arbitration (`[nvme]`) and scheduling (`schedule.priorities`)."""

QueueCaching: TypeAlias = Literal["none", "reads", "writes", "all"]
"""Which requests of the stream the cache of the drive takes, where it has one."""


def _check(parameters: Any, section: str) -> None:
    """Refuses values that no configuration takes.

    Raises:
        ConfigError: When there is one.
    """
    given = {own.name: value for own in fields(parameters) if (value := getattr(parameters, own.name)) is not None}
    if given:
        from flashmesh.keys import refuse_misfits

        refuse_misfits(type(parameters).__name__, section, given)


@suggesting
@dataclass(frozen=True, kw_only=True, slots=True)
class Geometry:
    """The array of chips."""

    channels: int | None = None
    """Channels of the bus; rows of chips in any fabric. Values: 1 to 1024. Default: 8."""

    chips_per_channel: int | None = None
    """Chips on a channel; columns of chips in any fabric. Values: 1 to 1024. Default: 8."""

    dies_per_chip: int | None = None
    """Dies in a chip. Values: 1 to 64. Default: 1."""

    planes_per_die: int | None = None
    """Planes in a die. Values: 1 to 8. Default: 2."""

    blocks_per_plane: int | None = None
    """Blocks in a plane. Values: 4 to 1048576. Default: 1024."""

    pages_per_block: int | None = None
    """Pages in a block. Values: 1 to 65535. Default: 768."""

    page_size: Bytes | None = None
    """User data in a page; a power of two. Values: 512B to 256KiB. Default: "4KiB"."""

    page_spare: Bytes | None = None
    """Metadata and parity that travel with a whole page; a part of a page takes its share along. Values: 0B to 64KiB.
    Default: "0B".
    """

    sector_size: Bytes | None = None
    """The host's addressing unit; divides the page size. Values: 512B or 4KiB. Default: "512B"."""

    capacity: Bytes | None = None
    """Space the host sees, rounded down to whole pages; takes the place of the over-provisioning. Values: 512B to
    1024TiB. Default: all pages less the over-provisioning.
    """

    over_provisioning: Share | None = None
    """Share of all pages that the host does not see. Values: 0.01 to 0.9. Default: 0.07."""

    def __post_init__(self) -> None:
        """Refuses values that no configuration takes."""
        _check(self, "geometry")


@suggesting
@dataclass(frozen=True, kw_only=True, slots=True)
class Flash:
    """Latencies and features of the flash chips."""

    read_time: Time | None = None
    """Array read time tR; where pages differ, that of lower pages. Values: 1ps to 10s. Default: "3us"."""

    program_time: Time | None = None
    """Array program time tPROG; where pages differ, that of lower pages. Values: 1ps to 10s. Default: "100us"."""

    erase_time: Time | None = None
    """Block erase time tBERS. Values: 1ps to 10s. Default: "1ms"."""

    page_types: FlashPageTypes | None = None
    """How the pages of a block differ in their array times; an operation takes as long as its slowest page. Default:
    "one".
    """

    middle_page_read_time: Time | None = None
    """Array read time of middle pages. Only with page_types = "tlc" or "qlc". Values: 1ps to 10s. Default: the read
    time.
    """

    upper_page_read_time: Time | None = None
    """Array read time of upper pages. Only with page_types = "mlc" or "tlc" or "qlc". Values: 1ps to 10s. Default: the
    read time.
    """

    top_page_read_time: Time | None = None
    """Array read time of top pages. Only with page_types = "qlc". Values: 1ps to 10s. Default: the read time."""

    middle_page_program_time: Time | None = None
    """Array program time of middle pages. Only with page_types = "tlc" or "qlc". Values: 1ps to 10s. Default: the
    program time.
    """

    upper_page_program_time: Time | None = None
    """Array program time of upper pages. Only with page_types = "mlc" or "tlc" or "qlc". Values: 1ps to 10s. Default:
    the program time.
    """

    top_page_program_time: Time | None = None
    """Array program time of top pages. Only with page_types = "qlc". Values: 1ps to 10s. Default: the program time."""

    program_unit: FlashProgramUnit | None = None
    """What one program writes in a plane. With `word-line` the data of all its pages comes with the command, and
    `program-time` is the time of a word line. Default: "page".
    """

    command_time: Time | None = None
    """Time a command and its address take on the path. Values: 0ps to 1s. Default: "10ns"."""

    command_time_per_extra_plane: Time | None = None
    """Time each further plane of a multi-plane command adds on the path. Values: 0ps to 1s. Default: the command time.
    """

    read_command_time: Times | None = None
    """Time a read command takes on the path, over one plane, over two, and so on. Values: 0ps to 1s. Default: the
    command time, and that of each further plane.
    """

    program_command_time: Times | None = None
    """The same of a program command, without its data. A copyback takes a read command and a program command. Values:
    0ps to 1s. Default: the command time, and that of each further plane.
    """

    erase_command_time: Times | None = None
    """The same of an erase command. Values: 0ps to 1s. Default: the command time, and that of each further plane."""

    partial_program: bool | None = None
    """Whether a program brings only what was written of a page to the chip, and the read before it only the rest to the
    controller; whole pages move otherwise. Default: False.
    """

    die_interleaving: bool | None = None
    """Whether the dies of a chip work side by side. If not, a chip takes no operation while any of its dies works,
    holds data or has an operation suspended, and all that waits for its dies waits in one queue. Default: True.
    """

    die_start: FlashDieStart | None = None
    """When dies that work side by side begin an operation. Those of NoSSD manage their own operations (PACT 2014,
    section 5.5), and are independent. Only with die_interleaving = True, and with fabric.kind other than "nossd".
    Default: "independent".
    """

    multi_plane: FlashMultiPlane | None = None
    """When planes of a die join in one operation. Default: "same-offset"."""

    program_order: FlashProgramOrder | None = None
    """In which order the chips let the pages of a block be programmed. Default: "in-order"."""

    read_cache: bool | None = None
    """Whether a die is free once data is in its cache register (after tR), not only when the data has left. Default:
    False.
    """

    suspension: FlashSuspension | None = None
    """Which operations a waiting host read suspends. Only with ftl.policy other than "mbm". Default: "off"."""

    suspension_scope: FlashSuspensionScope | None = None
    """Whether a read suspends its own die alone, or all dies of a chip that begin together and are busy together. A
    chip goes on with what is suspended when no read waits for any of its dies. All of it has to be suspendable. Only
    with die_start = "together", and with suspension other than "off" or ftl.policy = "mbm", and with mbm.suspension
    other than "off" or ftl.policy other than "mbm". Default: "die".
    """

    suspend_time: Time | None = None
    """From the suspend command until the array is free. Values: 0ps to 1s. Default: "5us"."""

    resume_time: Time | None = None
    """From the resume command until the operation goes on. Values: 0ps to 1s. Default: "5us"."""

    suspensions_max: int | None = None
    """How often one operation may be suspended. Values: 1 to 1000000. Default: 16."""

    suspend_remaining_min: Time | None = None
    """An operation with no more than this left is let finish. Values: 0ps to 10s. Default: "10us"."""

    def __post_init__(self) -> None:
        """Refuses values that no configuration takes."""
        _check(self, "flash")


@suggesting
@dataclass(frozen=True, kw_only=True, slots=True)
class Fabric:
    """The network between controllers and chips."""

    kind: FabricKind | None = None
    """The interconnect. Default: "bus"."""

    channel_rate: Rate | None = None
    """Rate of one channel; that of pSSD is twice as much. Only with kind = "bus" or "pssd" or "pnssd" or "ideal".
    Values: 1kB/s to unlimited. Default: "1.2GB/s".
    """

    channel_load: FabricChannelLoad | None = None
    """Whether the chips on a channel slow it down. A network between chips has two routers on each link, and no such
    load. Only with kind = "bus" or "pssd". Default: "none".
    """

    driver_resistance_ohm: int | None = None
    """Resistance of the drivers of a channel, in ohms; 35 is the nominal one of ONFI. Only with channel_load = "chips".
    Values: 1 to 1000. Default: 35.
    """

    chip_capacitance_ff: int | None = None
    """Capacitance of a pin of a chip, in femtofarads; 8 chips of 4,088 are the most that ONFI 3.2 allows a channel of
    533 MB/s. Only with channel_load = "chips". Values: 0 to 1000000. Default: 4088.
    """

    controller_capacitance_ff: int | None = None
    """Capacitance of a pin of a controller and of the wires of a channel, in femtofarads. Only with channel_load =
    "chips". Values: 0 to 1000000. Default: 0.
    """

    hold_path: bool | FabricHoldPath | None = None
    """Which transactions hold their path (a channel, or a circuit of links) from the command to the last byte of the
    data, or to the end of a program or erase, rather than only while bytes move. Default: False.
    """

    arbitration: FabricArbitration | None = None
    """Who gets a channel when several wait. Only with policy.arbiter unset or arbitration = "next-command-first" or
    "data-first-round-robin". Default: "command-first".
    """

    def __post_init__(self) -> None:
        """Refuses values that no configuration takes."""
        _check(self, "fabric")


@suggesting
@dataclass(frozen=True, kw_only=True, slots=True)
class Packets:
    """The packets of pSSD and pnSSD, whose chips have a controller on the die.

    Its keys are read only with fabric.kind = "pssd" or "pnssd".
    """

    control_packet: Bytes | None = None
    """A control packet: command and address of one plane. Values: 0B to 4KiB. Default: "8B"."""

    data_header: Bytes | None = None
    """Header of a data packet. Values: 0B to 4KiB. Default: "8B"."""

    data_crc: Bytes | None = None
    """Checksum of a data packet. Values: 0B to 4KiB. Default: "4B"."""

    on_die_controller_time: Time | None = None
    """Time the controller on the die takes to decode a command, and again to frame the data of a read. Values: 0ps to
    1ms. Default: "20ns".
    """

    def __post_init__(self) -> None:
        """Refuses values that no configuration takes."""
        _check(self, "packets")


@suggesting
@dataclass(frozen=True, kw_only=True, slots=True)
class Pnssd:
    """The horizontal and vertical channels of pnSSD, and their controllers.

    Its keys are read only with fabric.kind = "pnssd".
    """

    controllers: PnssdControllers | None = None
    """What the controllers drive. Default: "independent"."""

    split_page: bool | None = None
    """Whether the data of a transfer goes half over each channel of the chip when both are free. Default: False."""

    def __post_init__(self) -> None:
        """Refuses values that no configuration takes."""
        _check(self, "pnssd")


@suggesting
@dataclass(frozen=True, kw_only=True, slots=True)
class Nossd:
    """NoSSD, a network of packets between the chips.

    Its keys are read only with fabric.kind = "nossd".
    """

    flit_time: Time | None = None
    """Time a link takes for a flit of 8 bit; also the time of a stage of the routers. Values: 1ps to 1ms. Default:
    "1ns".
    """

    pipeline_stages: int | None = None
    """Stages of a router, before the link. Values: 0 to 64. Default: 3."""

    slot_reuse: NossdSlotReuse | None = None
    """When the slot of a flit that leaves a buffer can be used again. Default: "next-cycle"."""

    buffer_flits: int | None = None
    """Slots of the buffer at each input of a router, in flits. Values: 1 to 65536. Default: 512."""

    topology: NossdTopology | None = None
    """How the routers of the chips are connected. Default: "mesh"."""

    half_duplex: bool | None = None
    """Whether the two directions between neighbouring routers share their wires; with `interleave = "packets"` that
    needs buffers that hold a whole packet. Default: False.
    """

    interleave: NossdInterleave | None = None
    """What of two directions takes turns on a link, and what follows what on an output. Default: "packets"."""

    chip_channels: int | None = None
    """Links of each chip into the network, and as many out of it. Values: 1 to 8. Default: 1."""

    controller_channels: int | None = None
    """Links of each controller into the network, and as many out of it. Values: 1 to 8. Default: 1."""

    placement: NossdPlacement | None = None
    """Where the controllers are attached. Default: "one-sided"."""

    injection: NossdInjection | None = None
    """Which controller sends a command; Network-on-SSD, CAL 2012 calls the nearest the trivial choice, Design for
    Scalability, PACT 2014 takes them in turn. Default: "nearest".
    """

    controller_queues: NossdControllerQueues | None = None
    """What waits at a controller. Default: "dies"."""

    injection_threshold: int | None = None
    """Commands waiting at a controller from which on it is passed over, with `nearest-under-threshold`. Values: 1 to
    1000000. Default: 4.
    """

    reply: NossdReply | None = None
    """Which controller a chip answers. Default: "sender"."""

    arbitration: NossdArbitration | None = None
    """Which packet a router serves next on a link. Default: "round-robin"."""

    small_first: bool | None = None
    """Whether requests and acknowledgements go before packets of data. Default: True."""

    keep_runs: bool | None = None
    """Whether a link that carries a packet of data is kept for the other packets of the same message. Default: True."""

    read_request_flits: int | None = None
    """Length of a request to read. Values: 1 to 65536. Default: 8."""

    erase_request_flits: int | None = None
    """Length of a request to erase, or to move pages inside the chip. Values: 1 to 65536. Default: 8."""

    acknowledgement_flits: int | None = None
    """Length of an acknowledgement. Values: 1 to 65536. Default: 4."""

    page_packets: NossdPagePackets | None = None
    """What a page is sent in. Default: "fixed"."""

    data_packet_flits: int | None = None
    """Length of a packet of data, header included, with `page-packets = "fixed"`. Values: 2 to 65536. Default: 512."""

    data_header_flits: int | None = None
    """Header of a packet of data. Values: 1 to 65536. Default: 32."""

    metadata: Bytes | None = None
    """Metadata that travels with 4 KiB of data on a drive without `geometry.page-spare`. Values: 0B to 4KiB. Default:
    "224B".
    """

    def __post_init__(self) -> None:
        """Refuses values that no configuration takes."""
        _check(self, "nossd")


@suggesting
@dataclass(frozen=True, kw_only=True, slots=True)
class Venice:
    """Venice, a mesh of routers in which scouts reserve circuits.

    Its keys are read only with fabric.kind = "venice".
    """

    routing: VeniceRouting | None = None
    """How a scout finds its way. Only with policy.routing unset. Default: "venice"."""

    tie_break: VeniceTieBreak | None = None
    """How a router draws one of several ports. Default: "lfsr"."""

    revisits: VeniceRevisits | None = None
    """Over which of its ports a router sends a scout that it has seen before. Default: "unused-ports"."""

    retry: VeniceRetry | None = None
    """What a die does whose scout has found no path. Default: "on-teardown"."""

    circuits_per_request: int | None = None
    """Circuits that the transactions of one host request have at a time, at most; the others wait for one of them to be
    torn down. The request of a command is that of the transaction which waits first when its die asks. Values: 1 to
    65536. Default: one for each transfer.
    """

    service: VeniceService | None = None
    """Which die goes first when a controller gets free. Default: "own-row-first"."""

    link_width: Bytes | None = None
    """Data that a link between routers moves at once. Values: 1B to 4KiB. Default: "1B"."""

    link_cycle: Time | None = None
    """Time to move it over one link. Values: 1ps to 1ms. Default: "1ns"."""

    def __post_init__(self) -> None:
        """Refuses values that no configuration takes."""
        _check(self, "venice")


@suggesting
@dataclass(frozen=True, kw_only=True, slots=True)
class Schedule:
    """Which waiting transaction a die runs next. Suspension of operations for reads is set by `flash.suspension`."""

    policy: SchedulePolicy | None = None
    """How a die chooses among the transactions that wait for it. Only with policy.scheduler unset. Default:
    "out-of-order".
    """

    order: ScheduleOrder | None = None
    """Which kind of request goes first. The read that a write of a part of a page needs is a read. Only with policy =
    "out-of-order", and with policy.scheduler unset. Default: "read-first".
    """

    erases: ScheduleErases | None = None
    """When erases go. Space is nearly out below `gc.hard-threshold`, and where a write finds no page. Only with policy
    other than "fifo", and with policy.scheduler unset. Default: "with-collection".
    """

    priorities: SchedulePriorities | None = None
    """What priorities of requests do. With them on, only transactions of the same priority join in a multi-plane
    operation. A policy in Python sees priorities where this is not `off`, and says itself what they do. Only with
    policy = "out-of-order". Default: "off".
    """

    age_bound: Time | None = None
    """A request's transaction that has waited this long for its die goes before those of all other requests, so that
    none waits for ever behind a kind or a priority that always goes first; where `policy` is `out-of-order`, reads and
    writes then take turns ([scheduling.md](scheduling.md)). 1000 s is no bound. Only with policy other than "fifo", and
    with policy.scheduler unset. Values: 0ps to 1000s. Default: "20ms".
    """

    lookahead: int | None = None
    """How many waiting reads of another plane are searched for one that can join a multi-plane read; programs too,
    where `ftl.write-binding` is early. Values: 1 to 65535. Default: 32.
    """

    def __post_init__(self) -> None:
        """Refuses values that no configuration takes."""
        _check(self, "schedule")


@suggesting
@dataclass(frozen=True, kw_only=True, slots=True)
class Ftl:
    """Where a page lives."""

    policy: FtlPolicy | None = None
    """What the firmware makes of the state machines of the translation layer
    ([firmware-policies.md](firmware-policies.md)). Default: "page".
    """

    allocation: FtlAllocation | None = None
    """Which plane a written page goes to. A page that holds nothing has its home by the static order (`home-order` when
    dynamic). Only with policy.allocator unset or allocation other than "dynamic" and "free-channel". Default: "CWDP".
    """

    home_order: FtlHomeOrder | None = None
    """The static order of a dynamic allocation: where pages lie that it does not place, which hold nothing or were
    written before the run. Only with allocation = "dynamic" or "free-channel". Default: "CWDP".
    """

    write_binding: FtlWriteBinding | None = None
    """When a write of a request gets its page in the plane. Early, planes of a die join in a program when pages that
    were handed out agree, as deep in their queues as `schedule.lookahead`, and the read that a write of a part of a
    page needs does not cost the write its turn. Default: "late".
    """

    first_touch: FtlFirstTouch | None = None
    """What becomes of a page that is read before it was written. Only with write_binding = "early". Default: "home"."""

    write_streams: FtlWriteStreams | None = None
    """Which open block of its plane a written page goes to. Default: "shared"."""

    mapping_unit: Bytes | None = None
    """What one entry of the map is for: a part of a page, or several pages of a block. Below a page, writes gather in
    their plane until they fill what one program writes (`flash.program-unit`), a read moves only the units it needs,
    and collection moves and packs valid units. Above, a smaller write reads the rest of its unit first, and a read
    senses only the pages it needs. Values: 512B to 256KiB. Default: a page.
    """

    parity: str | None = None
    """Share of the programs of a superblock that is parity, which drives keep against the loss of a die (RAIN). With
    `1/8` a die programs parity after each seven programs of data, and a block holds an eighth less. The stripe, of 8
    programs here, divides `superblock.dies`. Only with policy = "superblock". Values: 1/2 to 1/1024. Default: none.
    """

    gather_timeout: Time | None = None
    """How long writes wait for others to fill a program with. After it the program runs with what there is, and the
    rest of its pages stays empty until the block is erased. Only with mapping_unit set or flash.program_unit =
    "word-line". Values: 0ps to 1000s. Default: "100us".
    """

    def __post_init__(self) -> None:
        """Refuses values that no configuration takes."""
        _check(self, "ftl")


@suggesting
@dataclass(frozen=True, kw_only=True, slots=True)
class Mapping:
    """The cache of the map, when the map does not fit into DRAM (DFTL, ASPLOS 2009).

    Its other keys are read only with cache_capacity set, save `stored_entry_size`.
    """

    cache_capacity: Bytes | None = None
    """DRAM for entries of the map; the map itself then lies on flash, in translation pages. Values: at least 1B.
    Default: the whole map is in DRAM.
    """

    sharing: MappingSharing | None = None
    """Who shares the cache. Default: "shared"."""

    entry_size: Bytes | None = None
    """Bytes of an entry in the cache: logical and physical page number, and what links it to others. Values: 1B to
    4KiB. Default: "8B".
    """

    stored_entry_size: Bytes | None = None
    """Bytes of an entry in a translation page: a physical page number. Only with cache_capacity set or
    persistence.policy = "journal". Values: 1B to 4KiB. Default: "4B".
    """

    read_size: Bytes | None = None
    """Bytes of a translation page that leave the chip when it is read. Values: at least 1B. Default: the whole page."""

    fill: MappingFill | None = None
    """What of a translation page stays in the cache once it was read. Default: "entry"."""

    write_back_read: MappingWriteBackRead | None = None
    """When a translation page that is to be written back is read first. Default: "when-missing"."""

    write_back_read_size: Bytes | None = None
    """Bytes of a translation page that leave the chip before it is written back, for the entries that are not in DRAM.
    Less than a page: the chip merges the rest in its register. Values: at least 0B. Default: the whole page.
    """

    write_back_is_use: bool | None = None
    """Whether a write-back counts as a use of the entries whose changes it takes along, so that others make way before
    them. Default: False.
    """

    write_back_buffer: Bytes | None = None
    """DRAM for translation pages that are to be written back. They are read into it, serve misses from there and take
    further changes along, and the one that came first is programmed when another one needs its place. Values: at least
    0B. Default: "0B".
    """

    write_backs: int | None = None
    """Translation pages written back at once; a miss that would evict an entry into one more waits. Values: 1 to 65535.
    Default: 32.
    """

    def __post_init__(self) -> None:
        """Refuses values that no configuration takes."""
        _check(self, "mapping")


@suggesting
@dataclass(frozen=True, kw_only=True, slots=True)
class Persistence:
    """Persistence of the map across a power cut ([power-loss.md](power-loss.md))."""

    policy: PersistencePolicy | None = None
    """How the map survives a cut of the power. Default: "ideal"."""

    entry_size: Bytes | None = None
    """Bytes of a journal entry: which logical page is where now. Only with policy = "journal". Values: 1B to 4KiB.
    Default: "8B".
    """

    checkpoint_interval: int | None = None
    """Pages of journal from the beginning of one checkpoint to that of the next. Flash holds twice as many. Only with
    policy = "journal". Values: 1 to 65535. Default: 64.
    """

    checkpoint_writes: int | None = None
    """Pages of a checkpoint that are programmed at once. Only with policy = "journal". Values: 1 to 65535. Default: 4.
    """

    def __post_init__(self) -> None:
        """Refuses values that no configuration takes."""
        _check(self, "persistence")


@suggesting
@dataclass(frozen=True, kw_only=True, slots=True)
class Mbm:
    """The parts of MBM (Maximizing Bandwidth Management FTL), each with a switch of its own.

    Its keys are read only with ftl.policy = "mbm".
    """

    ws: bool | None = None
    """Write strategy (WS): pages that collection moves go to an open block of their own, the planes of a die keep equal
    write pointers, and channels share the waiting writes by `Channel_Max_Subs`. Without it moved pages go to the block
    that is written, planes take turns, and so do channels. Default: True.
    """

    rs: bool | None = None
    """Read strategy (RS): planes join in a read for pages of one request only, and areas that long requests read are
    laid out over all dies, and laid out anew where they lie unevenly. Default: True.
    """

    mcs: bool | None = None
    """Minimizing Chip consumption Strategy (MCS): waiting writes first go to the free chip that takes the fewest pages
    at once, then to those that take the most. Without it chips take turns. Default: True.
    """

    suspension: MbmSuspension | None = None
    """Which operations a waiting host read suspends under this policy, in place of `flash.suspension`. Default: "both".
    """

    reads_before_collection: bool | None = None
    """Whether host reads go before the operations of a collection on their die, and suspend them as `suspension` says,
    whatever `gc.preemptible` says of requests. Erases are operations of collections: without it none is ever suspended
    there. Default: True.
    """

    mcs_begins: MbmMcsBegins | None = None
    """How often MCS begins with the chip that takes the fewest pages. Only with mcs = True. Default: "each-allocation".
    """

    read_threshold: Bytes | None = None
    """A read request longer than this makes its area read-intensive. Only with rs = True. Values: at least 512B.
    Default: "32KiB".
    """

    area_rule: MbmAreaRule | None = None
    """Which reads decide whether an area is read-intensive. Only with rs = True. Default: "latest-read"."""

    area_size: Bytes | None = None
    """Size of the areas that are read-intensive or not. Only with rs = True. Values: at least 512B. Default: a page on
    each die.
    """

    reallocations_max: int | None = None
    """Reallocated pages that may wait for their programs at a time; none turns reallocation off. Only with rs = True.
    Values: 0 to 65536. Default: 64.
    """

    def __post_init__(self) -> None:
        """Refuses values that no configuration takes."""
        _check(self, "mbm")


@suggesting
@dataclass(frozen=True, kw_only=True, slots=True)
class Superblock:
    """Superblocks over the planes of several dies.

    Its keys are read only with ftl.policy = "superblock".
    """

    dies: int | None = None
    """Dies of each: a divisor of those of the drive. They are on as many channels as there are. Values: 1 to 1048576.
    Default: all dies.
    """

    def __post_init__(self) -> None:
        """Refuses values that no configuration takes."""
        _check(self, "superblock")


@suggesting
@dataclass(frozen=True, kw_only=True, slots=True)
class Slc:
    """The SLC cache: blocks that hold one bit a cell, which take what the host writes ([slc-cache.md](slc-cache.md)).

    Its keys are read only with flash.page_types = "mlc" or "tlc" or "qlc".
    """

    blocks_per_plane: int | None = None
    """Blocks of each plane for the cache: kept out of its spare space, or with `region = "dynamic"` at most so many of
    its free ones; 0 turns it off. A block holds one page a word line: a half, a third or a fourth of its pages. Values:
    0 to 1048576. Default: 0.
    """

    region: SlcRegion | None = None
    """Which blocks they are. Only with blocks_per_plane other than 0. Default: "static"."""

    program_time: Time | None = None
    """Array program time of a page of the cache; SLC flash takes 200 to 300 us (HP, Solid State Drive Technology:
    Differences between SLC, MLC and TLC NAND, table 1). Only with blocks_per_plane other than 0. Values: 1ps to 10s.
    Default: "200us".
    """

    read_time: Time | None = None
    """Array read time of a page of the cache; SLC flash takes 25 us (the same table). Only with blocks_per_plane other
    than 0. Values: 1ps to 10s. Default: "25us".
    """

    fold_threshold: Share | None = None
    """An idle die folds a plane while more than this share of its cache blocks is full. 0 empties the cache as soon as
    the die is idle. Only with blocks_per_plane other than 0. Values: 0 to 0.99. Default: 0.0.
    """

    when_full: SlcWhenFull | None = None
    """What becomes of a write that finds the cache of its plane full. With `fold` the fold that makes room begins at
    once and goes before reads, so that a drive whose cache is full writes each page twice at the rate at which it
    folds. Only with blocks_per_plane other than 0. Default: "bypass".
    """

    def __post_init__(self) -> None:
        """Refuses values that no configuration takes."""
        _check(self, "slc")


@suggesting
@dataclass(frozen=True, kw_only=True, slots=True)
class Gc:
    """Garbage collection."""

    victim: GcVictim | None = None
    """Which block is collected. Only with policy.victim unset or precondition.kind = "random". Default: "greedy"."""

    d: int | None = None
    """How many random blocks the victim is the best of. Only with victim = "d-choices", and with policy.victim unset or
    precondition.kind = "random". Values: 1 to 1024. Default: 10.
    """

    threshold: Share | None = None
    """A plane is collected when its share of free pages falls below this. Values: 0 to 0.5. Default: 0.02."""

    hard_threshold: Share | None = None
    """Below this share of free pages collection goes before user requests even when preemptible. Values: 0 to 0.5.
    Default: 0.005.
    """

    preemptible: bool | None = None
    """Whether user requests go before the transactions of a collection. Default: False."""

    paced: bool | None = None
    """Whether a collection keeps pace with the writes of its die: for each page written it moves as many as its victim
    has valid ones for each invalid one, so that the space which it frees is there when it is needed. Writes wait while
    it is behind; reads do not. With `cache.destage-stripe` it works off what it owes before each stripe. Only with
    preemptible = True. Default: False.
    """

    move: GcMove | None = None
    """How a valid page moves. Default: "through-controller"."""

    moved_pages: GcMovedPages | None = None
    """Which open block of its plane takes a page that collection moves. Only with ftl.policy = "page" or "sprinkler".
    Default: "own-block".
    """

    copyback: bool | None = None
    """Whether pages move inside their plane without leaving the chip. Default: False."""

    background_threshold: Share | None = None
    """A plane of an idle die is collected when its share of free pages falls below this; 0 turns it off. Values: 0 to
    0.9. Default: 0.0.
    """

    def __post_init__(self) -> None:
        """Refuses values that no configuration takes."""
        _check(self, "gc")


@suggesting
@dataclass(frozen=True, kw_only=True, slots=True)
class Policy:
    """Policies in Python, in place of built-in ones ([how-to](how-to/policies-in-python.md))."""

    victim: str | None = None
    """Which block is collected: a class, as `FILE.py:CLASS` or `MODULE:CLASS`, or `built-in`; in place of `gc.victim`,
    which preconditioning of the kind `random` keeps. Default: as `gc.victim` says.
    """

    allocator: str | None = None
    """Which plane a written page goes to, in place of `ftl.allocation`. What it does not place keeps the static order.
    Default: as `ftl.allocation` says.
    """

    home: str | None = None
    """Which copy of a replicated page serves a read. Only with replication.enabled = True. Default: that on the die
    with fewer reads outstanding.
    """

    placement: str | None = None
    """Which plane takes a page that the allocator has placed, as the firmware policy says it otherwise (`place_write`).
    Only with ftl.policy other than "mbm". Default: as `ftl.policy` says.
    """

    scheduler: str | None = None
    """Which transaction a die runs next, and which join it, in place of `schedule.policy`. With a method `next_die` it
    also says which die asks for a path. Default: as `schedule.policy` says.
    """

    routing: str | None = None
    """Where a scout may go next, in place of `venice.routing`. Only with fabric.kind = "venice". Default: as
    `venice.routing` says.
    """

    hops: str | None = None
    """Which link a packet of NoSSD takes next, in place of the way along its row, then along its column. Only with
    fabric.kind = "nossd". Default: XY.
    """

    arbiter: str | None = None
    """Who gets a channel or a controller when several wait, in place of `fabric.arbitration`. Only with fabric.kind =
    "bus" or "pssd" or "pnssd" or "ideal". Default: as `fabric.arbitration` says.
    """

    def __post_init__(self) -> None:
        """Refuses values that no configuration takes."""
        _check(self, "policy")


@suggesting
@dataclass(frozen=True, kw_only=True, slots=True)
class Wear:
    """Wear levelling."""

    dynamic: bool | None = None
    """Whether the least erased free block is opened next; otherwise the one freed first. Default: True."""

    static_levelling: bool | None = None
    """Whether cold blocks are moved when erase counts of a plane drift apart. Default: False."""

    static_threshold: int | None = None
    """The difference in erase counts that starts a move. Only with static_levelling = True. Values: 1 to 1000000.
    Default: 100.
    """

    def __post_init__(self) -> None:
        """Refuses values that no configuration takes."""
        _check(self, "wear")


@suggesting
@dataclass(frozen=True, kw_only=True, slots=True)
class Replication:
    """Copies of pages that collide with others again and again, on other dies."""

    enabled: bool | None = None
    """Whether pages are replicated ([read-collisions.md](read-collisions.md)). The other keys also say what
    `measure.collisions` takes copies to be. Default: False.
    """

    l_r: int | None = None
    """`l_R` of the paper: the most collision pairs that are tracked for each die. 0 tracks none, so nothing is
    replicated. Only with enabled = True or measure.collisions = True. Values: 0 to 65535. Default: 5.
    """

    l_m: Share | None = None
    """`l_M` of the paper: the most replicated pages, as a share of the logical pages of the drive. They take spare
    space. Only with enabled = True or measure.collisions = True. Values: 0 to 1. Default: 0.002.
    """

    counted_reads: ReplicationCountedReads | None = None
    """Which reads collide: are outstanding, make pairs, and trigger copies. The other ones are counted beside them.
    Only with enabled = True or measure.collisions = True. Default: "host".
    """

    rate_window: Time | None = None
    """Over how long the reads of a die are counted for the rate that the cost of a copy follows: this window and the
    one before. Only with enabled = True or measure.collisions = True. Values: 1us to 1000s. Default: "1s".
    """

    def __post_init__(self) -> None:
        """Refuses values that no configuration takes."""
        _check(self, "replication")


@suggesting
@dataclass(frozen=True, kw_only=True, slots=True)
class Host:
    """The queues and the link to the host."""

    interface: HostInterface | None = None
    """How commands and data cross. Default: "direct"."""

    queue_depth: int | None = None
    """Requests of each stream that the drive holds at once; later ones wait on the host. Values: 1 to 65535. Default:
    1024.
    """

    link_rate: Rate | None = None
    """Rate of one lane of the link, in each direction. Values: 1kB/s to unlimited. Default: "8GB/s"."""

    lanes: int | None = None
    """Lanes of the link; the bytes of a message are striped over them. Values: 1 to 32. Default: 1."""

    packet_payload: Bytes | None = None
    """What a packet on the link carries at most (PCIe: 128 B to 4 KiB). Values: 1B to 1MiB. Default: no packets, only
    bytes.
    """

    packet_overhead: Bytes | None = None
    """Bytes that a packet costs beside its payload. Values: 0B to 4KiB. Default: "0B"."""

    submission_size: Bytes | None = None
    """Bytes of a submission entry, host to drive, for each request. Values: 0B to 4KiB. Default: "64B"."""

    completion_size: Bytes | None = None
    """Bytes of a completion entry, drive to host, for each request. Values: 0B to 4KiB. Default: "16B"."""

    read_data: HostReadData | None = None
    """When the data of a read goes to the host. Default: "page"."""

    transfer_max: Bytes | None = None
    """The most that one command reads or writes; the drive answers a longer one with Invalid Field. Values: 512B to
    1GiB. Default: no limit.
    """

    def __post_init__(self) -> None:
        """Refuses values that no configuration takes."""
        _check(self, "host")


@suggesting
@dataclass(frozen=True, kw_only=True, slots=True)
class Nvme:
    """The controller of `host.interface = "nvme"`.

    Its keys are read only with host.interface = "nvme", save `doorbell_size` and `read_request_size`.
    """

    fetch_size: int | None = None
    """Commands of one queue in the drive at once; later ones stay in the queue. Values: 1 to 65535. Default: 512."""

    commands_max: int | None = None
    """Commands of all queues in the drive at once. Arbitration decides who gets a place that becomes free. Values: 1 to
    1000000. Default: what the queues may have together.
    """

    completion_depth: int | None = None
    """Entries of a completion queue; without room in it a command that is done waits, and keeps its place in the drive.
    Values: 1 to 65535. Default: `host.queue-depth`.
    """

    arbitration: NvmeArbitration | None = None
    """From which queue the controller fetches next. Default: "round-robin"."""

    arbitration_burst: int | None = None
    """Commands that a queue may have fetched in its turn. Values: 1 to 128. Default: 1."""

    weight_high: int | None = None
    """Commands of high priority in a round. Only with arbitration = "weighted". Values: 1 to 256. Default: 4."""

    weight_medium: int | None = None
    """Commands of medium priority in a round. Only with arbitration = "weighted". Values: 1 to 256. Default: 2."""

    weight_low: int | None = None
    """Commands of low priority in a round. Only with arbitration = "weighted". Values: 1 to 256. Default: 1."""

    doorbell_size: Bytes | None = None
    """Bytes of a doorbell, beside what its packet costs. Only with host.interface = "nvme" or sata.transport =
    "doorbells". Values: 0B to 4KiB. Default: "4B".
    """

    read_request_size: Bytes | None = None
    """Bytes of a read request, drive to host, beside what its packet costs. Only with host.interface = "nvme" or
    sata.transport = "doorbells". Values: 0B to 4KiB. Default: "16B".
    """

    def __post_init__(self) -> None:
        """Refuses values that no configuration takes."""
        _check(self, "nvme")


@suggesting
@dataclass(frozen=True, kw_only=True, slots=True)
class Sata:
    """The adapter and the queue of `host.interface = "sata"`.

    Its keys are read only with host.interface = "sata".
    """

    ncq_depth: int | None = None
    """Commands of all streams in the queue at once; native command queuing has 32 tags, some controllers hold more.
    Values: 1 to 65535. Default: 32.
    """

    processing_delay: Time | None = None
    """Time of the adapter for each command, and for each completion, one after the other. Values: 0ps to 1s. Default:
    "0ps".
    """

    transport: SataTransport | None = None
    """What lies between the adapter and the drive. Default: "frames"."""

    def __post_init__(self) -> None:
        """Refuses values that no configuration takes."""
        _check(self, "sata")


@suggesting
@dataclass(frozen=True, kw_only=True, slots=True)
class Firmware:
    """The processor cores of the controller, and their time for commands ([firmware-time.md](firmware-time.md))."""

    cores: int | None = None
    """Cores that share the work. Each does one job after the other, in the order in which they come. Only with
    read_time other than "0ps" or write_time other than "0ps" or other_time other than "0ps" or look_up_time other than
    "0ps" or completion_time other than "0ps" or collect_time other than "0ps". Values: 1 to 1024. Default: 1.
    """

    read_time: Time | None = None
    """Time for a command that reads, before anything is read for it. Values: 0ps to 10ms. Default: "0ps"."""

    write_time: Time | None = None
    """Time for a command that writes, before its data goes to the device cache or to flash. Values: 0ps to 10ms.
    Default: "0ps".
    """

    other_time: Time | None = None
    """Time for any other command: flush, deallocate, write zeroes. Values: 0ps to 10ms. Default: "0ps"."""

    look_up_time: Time | None = None
    """Time more for each unit of the map that a command reads or writes. Values: 0ps to 10ms. Default: "0ps"."""

    completion_time: Time | None = None
    """Time for a completion, before the host is told. Values: 0ps to 10ms. Default: "0ps"."""

    collect_time: Time | None = None
    """Time for each page, or unit of a page, that collection or wear levelling moves through the controller, between
    its read and its program. Only with gc.copyback = False, and with gc.move = "through-controller". Values: 0ps to
    10ms. Default: "0ps".
    """

    def __post_init__(self) -> None:
        """Refuses values that no configuration takes."""
        _check(self, "firmware")


@suggesting
@dataclass(frozen=True, kw_only=True, slots=True)
class Cache:
    """The cache in the DRAM of the drive.

    Its other keys are read only with capacity other than "0B".
    """

    capacity: Bytes | None = None
    """What it holds, rounded down to whole pages; 0 turns it off. Values: 0B to 16TiB. Default: "0B"."""

    sharing: CacheSharing | None = None
    """How streams share it. Default: "shared"."""

    writes: CacheWrites | None = None
    """When a write that the cache takes completes. Default: "back"."""

    destage: CacheDestage | None = None
    """Which dirty pages go to flash, and when. Default: "watermark"."""

    high_mark: Share | None = None
    """Dirty pages, as a share of the cache, above which they are written to flash. Only with destage = "watermark".
    Values: 0 to 1. Default: 0.8.
    """

    low_mark: Share | None = None
    """Dirty pages, as a share of the cache, at which that ends. Only with destage = "watermark". Values: 0 to 1.
    Default: 0.6.
    """

    destage_window: Time | None = None
    """How long a page that was written counts as written already. Only with destage = "first-write". Values: 0ps to
    1000000s. Default: "1s".
    """

    destages_max: int | None = None
    """Pages on their way to flash at most, those written at once aside. Values: 1 to 1000000. Default: those of two
    programs for each plane.
    """

    destage_stripe: Bytes | None = None
    """Dirty data that leaves for flash together: nothing does until so much is to, a write waits for room, or a flush
    waits. With `gc.paced` collections then make the moves that they owe before it leaves, and wait otherwise unless
    space is nearly out. Unset: pages leave one by one. Only with writes = "back". Values: 512B to 16TiB. Default: a
    page.
    """

    destage_limit: Bytes | None = None
    """Data on its way to flash at which writes wait. Values: 1B to 16TiB. Default: any."""

    dirty_limit: Share | None = None
    """Dirty pages at most, as a share of the cache; a write that would make one more waits. Values: 0 to 1. Default:
    1.0.
    """

    stall: CacheStall | None = None
    """What waits while a write waits for room, or since writes are slowed down. Default: "writes"."""

    throttle_interval: Time | None = None
    """Slows writes down while dies collect since they are short of space: the least time between two pages that writes
    bring into the cache, multiplied by the share of dies that do. 0 for none. Only with writes = "back". Values: 0ps to
    1s. Default: "0ps".
    """

    suspend_when_full: bool | None = None
    """Whether reads suspend programs and erases while a write waits for room, or since writes are slowed down. If not,
    the dies finish what makes room. Only with flash.suspension other than "off" or ftl.policy = "mbm". Default: True.
    """

    keep_destaged: bool | None = None
    """Whether a page stays in the cache, to be read, once it is on flash. Default: True."""

    keep_unwritten: bool | None = None
    """Whether a page that is read without ever having been written, and so holds no data, stays in the cache. Default:
    True.
    """

    flush_programs: bool | None = None
    """Whether a flush of the host has dirty pages written to flash. `false` is for a cache that survives a loss of
    power: a flush is done when the writes before it are, and no write that gathers is hurried. Only with writes =
    "back". Default: True.
    """

    flush_at_end: bool | None = None
    """Whether all dirty pages are written to flash after the last request; else they are reported. Default: False."""

    row_size: Bytes | None = None
    """What one row of the DRAM holds. Values: 64B to 1MiB. Default: "8KiB"."""

    data_rate: Rate | None = None
    """Rate at which bytes move once a column is open. Values: 1kB/s to unlimited. Default: "6.4GB/s"."""

    burst: Bytes | None = None
    """The least that moves; accesses are rounded up to it in every row. Values: 1B to 4KiB. Default: "32B"."""

    row_to_column_delay: Time | None = None
    """From opening a row until a column can be addressed, tRCD. Values: 0ps to 1ms. Default: "13ns"."""

    column_latency: Time | None = None
    """From addressing a column to its first byte, tCL. Values: 0ps to 1ms. Default: "13ns"."""

    row_precharge: Time | None = None
    """To close a row, tRP. Values: 0ps to 1ms. Default: "13ns"."""

    row_policy: CacheRowPolicy | None = None
    """What becomes of a row after an access. Default: "closed"."""

    def __post_init__(self) -> None:
        """Refuses values that no configuration takes."""
        _check(self, "cache")


@suggesting
@dataclass(frozen=True, kw_only=True, slots=True)
class Precondition:
    """The state of the drive before the first request."""

    kind: PreconditionKind | None = None
    """How the drive was written. Default: "none"."""

    fill: Share | None = None
    """Share of the logical space that was written, from its start. Only with kind = "sequential" or "random". Values: 0
    to 1. Default: 1.0.
    """

    def __post_init__(self) -> None:
        """Refuses values that no configuration takes."""
        _check(self, "precondition")


@suggesting
@dataclass(frozen=True, kw_only=True, slots=True)
class Power:
    """Power of the parts of the drive, which changes no time, and the power cut."""

    cut: Time | None = None
    """When the power is cut; the run ends there ([power-loss.md](power-loss.md)). Values: 0ps to 1000000s. Default:
    never.
    """

    capacitors: bool | None = None
    """Whether capacitors keep the drive alive until all dirty pages of the device cache, and the journal, are on flash.
    Only with cut set or persistence.policy = "journal". Default: True.
    """

    read_current: Current | None = None
    """Supply current of a die while its array reads. Values: 0uA to 10A. Default: "25mA"."""

    program_current: Current | None = None
    """Supply current of a die while its array programs. Values: 0uA to 10A. Default: "25mA"."""

    erase_current: Current | None = None
    """Supply current of a die while its array erases. Values: 0uA to 10A. Default: "25mA"."""

    supply_voltage: Voltage | None = None
    """Supply voltage of the dies. Values: 0mV to 100V. Default: "3.3V"."""

    channel_power: Wattage | None = None
    """Power of a channel of 8 wires that 8 chips share, while bytes move; more wires, and a longer row, draw as much
    more (Venice, ISCA 2023, section 6.6: a link draws 90 % less). Values: 0nW to 100W. Default: "10.8mW".
    """

    link_power: Wattage | None = None
    """Power of a link of 8 wires with a driver at either end, while bytes move; more wires draw as much more (Venice,
    ISCA 2023, Table 4). Values: 0nW to 100W. Default: "1.08mW".
    """

    router_power: Wattage | None = None
    """Power of a router of Venice, always (Venice, ISCA 2023, Table 4). Values: 0nW to 100W. Default: "241uW"."""

    buffered_router_power: Wattage | None = None
    """Power of a router of NoSSD with its buffers, always. No paper states one: a drive with it draws about 1 % more
    than with Venice (Venice, ISCA 2023, section 6.4), which is 54 mW of 5.37 W over 64 routers. Values: 0nW to 100W.
    Default: "1.08mW".
    """

    controller_power: Wattage | None = None
    """Power of a flash controller, always. No paper states one. Values: 0nW to 100W. Default: "0nW"."""

    def __post_init__(self) -> None:
        """Refuses values that no configuration takes."""
        _check(self, "power")


@suggesting
@dataclass(frozen=True, kw_only=True, slots=True)
class Area:
    """How large the parts of the drive are. Nothing here changes when anything happens."""

    die_mm2: float | None = None
    """Area of a die in mm2: 100 for a chip of one die (Venice, ISCA 2023, section 6.6), 72 for one of 4 GB (Design for
    Scalability, PACT 2014, section 5.5). Values: 1 to 10000. Default: 100.0.
    """

    def __post_init__(self) -> None:
        """Refuses values that no configuration takes."""
        _check(self, "area")


@suggesting
@dataclass(frozen=True, kw_only=True, slots=True)
class Measure:
    """The steady state and epochs, measured beside the whole run; none of it changes what the drive does."""

    warm_up: MeasureWarmUp | None = None
    """What ends the warm-up, behind which the results have a window of their own. Default: `steady` with
    `precondition.kind = "random"` or `precision`, if all workloads are synthetic; `none` otherwise.
    """

    warm_up_requests: int | None = None
    """Requests that complete during the warm-up, all streams together. Only with warm_up = "requests". Values: 1 to
    9223372036854775807. Default: 10000.
    """

    warm_up_time: Time | None = None
    """How long the warm-up is. Only with warm_up = "time". Values: 1ps to 1000000s. Default: "100ms"."""

    precision: Share | None = None
    """The run ends as soon as the 95 % confidence interval of `precision-of` is within this share of the figure, on
    either side, and the figures are steady; at the latest after `workload.requests`. 0 turns it off. Values: 0 to 0.5.
    Default: 0.0.
    """

    precision_of: MeasurePrecisionOf | None = None
    """The figure that `precision` is of. Only with precision other than 0.0. Default: "iops"."""

    epoch: Time | None = None
    """How long an epoch is, for results over time; doubled as often as it takes for `epochs-max` of them to cover the
    run. Values: 1ps to 1000000s. Default: no results over time.
    """

    epochs_max: int | None = None
    """The most epochs; where there would be more, they are joined in pairs. Only with epoch set. Values: 2 to 65536.
    Default: 512.
    """

    collisions: bool | None = None
    """Whether read collisions are analysed ([read-collisions.md](read-collisions.md)). Default: False."""

    collision_interval: Time | None = None
    """Time between two observations of which reads are outstanding. Only with collisions = True. Values: 1ns to 1s.
    Default: "10us".
    """

    collision_pairs: int | None = None
    """The most collision pairs that are kept, about 24 B each; where there are more, a fair sample of them. Only with
    collisions = True. Values: 1 to 1073741824. Default: 4194304.
    """

    chip_states: bool | None = None
    """Whether it is told apart what the chips do with their time: transfers, array operations, both at once, or
    nothing. Default: False.
    """

    network: bool | None = None
    """Whether transfers, the links they hold and the scouts of Venice are recorded, for the moving view of a report.
    Default: False.
    """

    network_events_max: int | None = None
    """The most that the recording of the network holds: transfers, uses of links and steps of scouts. It ends where it
    is full. Only with network = True. Values: 1 to 10000000. Default: 5000.
    """

    timeline_events_max: int | None = None
    """The most slices and counter values that a timeline (`--timeline`) holds. It ends where it is full. Values: 1 to
    1000000000. Default: 1000000.
    """

    window_start: Time | None = None
    """When the recording of the network and the timeline begin. Values: 0ps to 1000000s. Default: "0ps"."""

    window_length: Time | None = None
    """How long they go on. Values: 1ps to 1000000s. Default: to the end of the run."""

    def __post_init__(self) -> None:
        """Refuses values that no configuration takes."""
        _check(self, "measure")


@suggesting
@dataclass(frozen=True, kw_only=True, slots=True)
class Workload:
    """Where requests come from."""

    kind: WorkloadKind | None = None
    """Where requests come from. Default: "synthetic"."""

    profile: str | None = None
    """Name of the profile or mix; `flashmesh profiles` lists them. A mix of one's own is written `src2_1 + 2*proj_3 +
    hm_0@50us`: profiles with a factor to their published rate, or with a mean time between arrivals. Default: no
    profile.
    """

    trace: str | os.PathLike[str] | None = None
    """The trace file; relative to the configuration file. Default: no trace."""

    fitted: str | os.PathLike[str] | None = None
    """The profile that `flashmesh trace profile` fitted to a trace; relative to the configuration file. Default: no
    fitted profile.
    """

    format: WorkloadFormat | None = None
    """Layout of the trace file. Only with kind = "trace". Default: "auto"."""

    time_unit: WorkloadTimeUnit | None = None
    """The unit of time stamps of the ASCII family; other formats fix theirs. An open replay needs it said, as nothing
    in such a file tells it. Only with kind = "trace". Default: ns.
    """

    address_unit: WorkloadAddressUnit | None = None
    """What offsets and sizes of the ASCII family count. Only with kind = "trace", and with format = "auto" or "ascii".
    Default: "sectors".
    """

    polarity: WorkloadPolarity | None = None
    """Which type of the ASCII family is a read. Only with kind = "trace". Default: "read-is-1"."""

    blkparse_event: WorkloadBlkparseEvent | None = None
    """Which event of a blkparse log stands for the request; one that is missing in the log gives no request. Only with
    kind = "trace", and with format = "auto" or "blkparse". Default: "issue".
    """

    iolog_wait: WorkloadIologWait | None = None
    """Meaning of the number of a `wait` in a fio iolog of version 2. fio's manual and fio differ; later versions of the
    format have time stamps instead. Only with kind = "trace", and with format = "auto" or "fio-iolog". Default:
    "after-previous-us".
    """

    beyond: WorkloadBeyond | None = None
    """What becomes of requests of a trace that reach beyond the drive. A fitted profile that spans more than the drive
    is squeezed onto it with `wrap`. Only with kind = "trace" or "fitted". Default: "reject".
    """

    sort: bool | None = None
    """Whether a trace may be out of order within the window in which it is sorted, however many lines are. They are
    counted. Only with kind = "trace". Default: False.
    """

    flushes: bool | None = None
    """Whether flushes of a fio iolog or a blkparse log are requests, instead of being ignored. Only with kind =
    "trace". Default: False.
    """

    tolerate: Share | None = None
    """Share of lines of a trace that may be unusable before the run refuses; the option `--tolerate` sets 1. Values: 0
    to 1. Default: 0.01.
    """

    requests: int | None = None
    """Requests to issue. Values: 1 to 1000000000000. Default: all of a trace, and as many of a fitted profile; 100,000
    of a synthetic workload or a profile, fewer where the published trace has fewer.
    """

    pattern: WorkloadPattern | None = None
    """Where requests go. Only with kind = "synthetic" or "job". Default: "random"."""

    read_share: Share | None = None
    """Share of requests that read. Only with kind = "synthetic" or "job". Values: 0 to 1. Default: 1.0."""

    deallocate_share: Share | None = None
    """Share of requests that deallocate; taken from the writes. Only with kind = "synthetic" or "job". Values: 0 to 1.
    Default: 0.0.
    """

    flush_share: Share | None = None
    """Share of requests that flush; taken from the writes. Only with kind = "synthetic". Values: 0 to 1. Default: 0.0.
    """

    write_zeroes_share: Share | None = None
    """Share of requests that write zeroes; taken from the writes. Only with kind = "synthetic". Values: 0 to 1.
    Default: 0.0.
    """

    request_size: Sizes | None = None
    """Sizes of requests. Only with kind = "synthetic" or "job". Values: 512B to 64MiB. Default: "4KiB"."""

    alignment: Bytes | None = None
    """Requests begin at multiples of this. Only with kind = "synthetic" or "job" or "profile". Values: 512B to 1024TiB.
    Default: the smallest request size; what a profile assumes.
    """

    unaligned_share: Share | None = None
    """Share of requests that begin at any sector of their block of `alignment`, not at its start. Only with kind =
    "profile". Values: 0 to 1. Default: 0.0.
    """

    footprint_start: Bytes | None = None
    """Where the footprint begins. Only with kind = "synthetic" or "job" or "profile". Values: 0B to 1024TiB. Default:
    "0B".
    """

    footprint: Bytes | None = None
    """How much of the drive is touched. Only with kind = "synthetic" or "job" or "profile". Values: 512B to 1024TiB.
    Default: all of the drive; what a profile assumes.
    """

    mix_placement: WorkloadMixPlacement | None = None
    """Where the members of a mix lie. Only with kind = "profile". Default: "apart"."""

    zipf_theta: float | None = None
    """Skew of the Zipf pattern. Only with kind = "synthetic" or "job", and with pattern = "zipf". Values: 0 to 5.
    Default: 0.99.
    """

    hot_footprint: Share | None = None
    """Share of the footprint that is hot. Only with kind = "synthetic", and with pattern = "hot-cold". Values: 0 to 1.
    Default: 0.2.
    """

    hot_stride: int | None = None
    """One in how many blocks is hot. With static allocation CWDP, blocks of a page and a stride of as many blocks as
    there are channels, the hot blocks are those of one row of chips. Only with kind = "synthetic", and with pattern =
    "hot-stride". Values: 2 to 1000000. Default: 8.
    """

    hot_traffic: Share | None = None
    """Share of requests that go to what is hot. Only with kind = "synthetic", and with pattern = "hot-cold" or
    "hot-stride". Values: 0 to 1. Default: 0.8.
    """

    zones: str | None = None
    """Zones of the footprint, from its start on: the percentage of the requests that go to each over the percentage of
    the footprint that it covers, such as `50/5:30/15:20/80`. Only with kind = "synthetic" or "job", and with pattern =
    "zoned". Default: no zones.
    """

    pareto_share: float | None = None
    """Share of the footprint that gets all but this share of the requests: 0.2 is the rule of 80 to 20. Only with kind
    = "synthetic" or "job", and with pattern = "pareto". Values: 0.001 to 0.999. Default: 0.2.
    """

    normal_deviation: Share | None = None
    """Share of the footprint over which draws are spread evenly around those of twelve uniform draws. Only with kind =
    "synthetic" or "job", and with pattern = "normal". Values: 0 to 1. Default: 0.0.
    """

    write_size: Sizes | None = None
    """Sizes of the writes of a job, where they differ from those of its reads. Only with kind = "job". Values: 512B to
    64MiB. Default: as `request-size`.
    """

    deallocate_size: Sizes | None = None
    """Sizes of the deallocations of a job, where they differ from those of its reads. Only with kind = "job". Values:
    512B to 64MiB. Default: as `request-size`.
    """

    random_map: bool | None = None
    """Whether random requests of a job cover every block of the footprint once in a pass before one is covered again.
    Only with kind = "job", and with pattern = "random". Default: False.
    """

    pass_size: Bytes | None = None
    """Bytes of one pass of a job over its files. Without it positions and the random map begin anew wherever they end.
    Only with kind = "job". Values: 512B to 1024TiB. Default: no passes: `requests` or the stop time ends the job.
    """

    passes: int | None = None
    """Passes of a job. Only with kind = "job", and with pass_size set. Values: 1 to 1000000000000. Default: 1."""

    same_passes: bool | None = None
    """Whether every pass of a job draws the requests of the first one again. Only with kind = "job", and with pass_size
    set. Default: False.
    """

    files: int | None = None
    """Files of a job: equal parts of the footprint, each with its own positions. Only with kind = "job". Values: 1 to
    65536. Default: 1.
    """

    file_order: WorkloadFileOrder | None = None
    """Which file the next request goes to. Only with kind = "job". Default: "round-robin"."""

    flush_every: int | None = None
    """Writes of a job from one flush to the next; flushes come on top of its requests. Only with kind = "job". Values:
    1 to 1000000000. Default: no flushes.
    """

    deallocate_first: bool | None = None
    """Whether a job deallocates each place before it writes there; its shares of kinds do not count then. Only with
    kind = "job". Default: False.
    """

    run_length: int | None = None
    """Requests of a random job from one draw of a place to the next. Only with kind = "job". Values: 1 to 1000000000.
    Default: 1.
    """

    run_kind: WorkloadRunKind | None = None
    """Where the requests between two draws go. Only with kind = "job". Default: "sequential"."""

    random_share: Share | None = None
    """Share of the draws of a random job that are drawn; the rest go on behind the last request of their direction.
    Only with kind = "job". Values: 0 to 1. Default: 1.0.
    """

    skip: Bytes | None = None
    """Bytes that a sequential job leaves out behind each request. Only with kind = "job". Values: 0B to 1024TiB.
    Default: "0B".
    """

    skip_after: Bytes | None = None
    """Bytes that a sequential job covers before it leaves out `skip`. Only with kind = "job". Values: 512B to 1024TiB.
    Default: one request.
    """

    skip_back: bool | None = None
    """Whether `skip` goes towards the start of the file. Only with kind = "job". Default: False."""

    arrivals: WorkloadArrivals | None = None
    """How arrivals are spaced (they matter in open replay only). Only with kind = "synthetic" or "job" or "profile".
    Default: exponential; what a profile assumes.
    """

    interarrival: Time | None = None
    """Mean time between arrivals; of a mix, of all its members together. Only with kind = "synthetic" or "job" or
    "profile". Values: 0ps to 1000s. Default: 10us; what is published of a profile or a mix.
    """

    burst_length: int | None = None
    """Requests in a burst. Only with kind = "synthetic" or "profile", and with arrivals = "burst". Values: 1 to
    1000000. Default: 1; what a profile assumes.
    """

    pair_repetition: float | None = None
    """How often on average two pages that are read together are read together again: bursts of a profile come again, to
    the same places. Only with kind = "profile". Values: 1 to 100000. Default: what is published of a profile; 1 where
    nothing is.
    """

    burst_kinds: WorkloadBurstKinds | None = None
    """Whether the requests of a burst all read or all write. Bursts of one kind come again as that kind. Only with kind
    = "profile". Default: "mixed".
    """

    def __post_init__(self) -> None:
        """Refuses values that no configuration takes."""
        _check(self, "workload")


@suggesting
@dataclass(frozen=True, kw_only=True, slots=True)
class Replay:
    """When requests are issued."""

    mode: ReplayMode | None = None
    """When requests are issued. A trace replays `open` unless the mode, `outstanding`, `threads` or `think-time` is
    set. Default: "stress".
    """

    time_scale: float | None = None
    """Arrival times are multiplied by this. Only with mode = "open". Values: 0.000001 to 1000000. Default: 1.0."""

    spread_ties: bool | None = None
    """Whether requests of a trace that share a time stamp are spread evenly up to the next stamp. A clock of whole
    seconds makes bursts otherwise. Only with mode = "open". Default: False.
    """

    latency_start: ReplayLatencyStart | None = None
    """From when the latency of a request counts. Only with mode = "open". Default: "arrival"."""

    outstanding: int | None = None
    """Requests in flight. Only with mode = "stress". Values: 1 to 65535. Default: 64."""

    outstanding_max: int | None = None
    """The most requests in flight; later ones wait on the host. Only with mode = "open". Values: 1 to 65535. Default:
    `host.queue-depth`.
    """

    threads: int | None = None
    """Independent issuers. Only with mode = "closed". Values: 1 to 65535. Default: 1."""

    think_time: Time | None = None
    """From a completion to the next request of the thread. Only with mode = "closed". Values: 0ps to 1000s. Default:
    "0ps".
    """

    start_time: Time | None = None
    """When the stream starts: its arrivals count from then. `time-scale` multiplies this as well. Only with mode =
    "open". Values: 0ps to 9223372036854775.807ns. Default: "0ps".
    """

    think_every: int | None = None
    """Requests of a thread between two think times. Only with mode = "closed". Values: 1 to 1000000000. Default: 1."""

    phase: int | None = None
    """The streams of a phase begin when those of all earlier phases have ended. Values: 0 to 255. Default: 0."""

    start_delay: Time | None = None
    """From the start of its phase to the start of the stream. Values: 0ps to 1000s. Default: "0ps"."""

    stop_time: Time | None = None
    """No request arrives after this time, counted from the start of the stream; those that have arrived are served.
    Values: 1ps to 9223372036854775.807ns. Default: the workload's own end.
    """

    def __post_init__(self) -> None:
        """Refuses values that no configuration takes."""
        _check(self, "replay")


@suggesting
@dataclass(frozen=True, kw_only=True, slots=True)
class Queue:
    """The queue pair of a stream."""

    priority: QueuePriority | None = None
    """Priority class of the requests of the stream, for arbitration (`[nvme]`) and scheduling (`schedule.priorities`).
    Only with schedule.priorities = "strict" or "weighted" or nvme.arbitration = "weighted". Default: "medium".
    """

    namespace: str | None = None
    """The namespace that the requests go to; offsets of the workload count from its beginning. Default: the first
    namespace.
    """

    caching: QueueCaching | None = None
    """Which requests of the stream the cache of the drive takes, where it has one. Only with cache.capacity other than
    "0B". Default: "all".
    """

    def __post_init__(self) -> None:
        """Refuses values that no configuration takes."""
        _check(self, "queue")


@suggesting
@dataclass(frozen=True, kw_only=True, slots=True)
class Namespace:
    """A part of the space that the host sees. Such parts follow one another in the order of the text."""

    capacity: Bytes | None = None
    """Its space, rounded down to whole pages. Values: 512B to 1024TiB. Default: an equal share of what the other
    namespaces leave.
    """

    channels: Indices | None = None
    """The channels that its pages live on. Values: 0 to 1023. Default: all."""

    ways: Indices | None = None
    """The chips of each channel that its pages live on. Values: 0 to 1023. Default: all."""

    dies: Indices | None = None
    """The dies of each chip that its pages live on. Values: 0 to 63. Default: all."""

    planes: Indices | None = None
    """The planes of each die that its pages live on. Values: 0 to 7. Default: all."""

    def __post_init__(self) -> None:
        """Refuses values that no configuration takes."""
        _check(self, "namespace.NAME")


@suggesting
@dataclass(frozen=True, kw_only=True, slots=True)
class Stream:
    """One of several workloads that run at once; what is None has the value above all streams."""

    workload: Workload = Workload()
    """Where requests come from."""

    replay: Replay = Replay()
    """When requests are issued."""

    queue: Queue = Queue()
    """The queue pair of a stream."""


@suggesting
@dataclass(frozen=True, kw_only=True, slots=True)
class Config:
    """Everything that decides a run; what is None has the value of the preset."""

    preset: Preset | None = None
    """The drive that the configuration starts from."""

    seed: int | None = None
    """The number every random choice of a run grows from. Values: 0 to 9223372036854775807. Default: 0."""

    geometry: Geometry = Geometry()
    """The array of chips."""

    flash: Flash = Flash()
    """Latencies and features of the flash chips."""

    fabric: Fabric = Fabric()
    """The network between controllers and chips."""

    packets: Packets = Packets()
    """The packets of pSSD and pnSSD, whose chips have a controller on the die."""

    pnssd: Pnssd = Pnssd()
    """The horizontal and vertical channels of pnSSD, and their controllers."""

    nossd: Nossd = Nossd()
    """NoSSD, a network of packets between the chips."""

    venice: Venice = Venice()
    """Venice, a mesh of routers in which scouts reserve circuits."""

    schedule: Schedule = Schedule()
    """Which waiting transaction a die runs next. Suspension of operations for reads is set by `flash.suspension`."""

    ftl: Ftl = Ftl()
    """Where a page lives."""

    mapping: Mapping = Mapping()
    """The cache of the map, when the map does not fit into DRAM (DFTL, ASPLOS 2009)."""

    persistence: Persistence = Persistence()
    """Persistence of the map across a power cut ([power-loss.md](power-loss.md))."""

    mbm: Mbm = Mbm()
    """The parts of MBM (Maximizing Bandwidth Management FTL), each with a switch of its own."""

    superblock: Superblock = Superblock()
    """Superblocks over the planes of several dies."""

    slc: Slc = Slc()
    """The SLC cache: blocks that hold one bit a cell, which take what the host writes ([slc-cache.md](slc-cache.md)).
    """

    gc: Gc = Gc()
    """Garbage collection."""

    policy: Policy = Policy()
    """Policies in Python, in place of built-in ones ([how-to](how-to/policies-in-python.md))."""

    wear: Wear = Wear()
    """Wear levelling."""

    replication: Replication = Replication()
    """Copies of pages that collide with others again and again, on other dies."""

    host: Host = Host()
    """The queues and the link to the host."""

    nvme: Nvme = Nvme()
    """The controller of `host.interface = "nvme"`."""

    sata: Sata = Sata()
    """The adapter and the queue of `host.interface = "sata"`."""

    firmware: Firmware = Firmware()
    """The processor cores of the controller, and their time for commands ([firmware-time.md](firmware-time.md))."""

    cache: Cache = Cache()
    """The cache in the DRAM of the drive."""

    precondition: Precondition = Precondition()
    """The state of the drive before the first request."""

    power: Power = Power()
    """Power of the parts of the drive, which changes no time, and the power cut."""

    area: Area = Area()
    """How large the parts of the drive are. Nothing here changes when anything happens."""

    measure: Measure = Measure()
    """The steady state and epochs, measured beside the whole run; none of it changes what the drive does."""

    workload: Workload = Workload()
    """Where requests come from."""

    replay: Replay = Replay()
    """When requests are issued."""

    queue: Queue = Queue()
    """The queue pair of a stream."""

    stream: AnyMapping[str, Stream] | None = None
    """Several workloads at once by their names; they start from `workload`, `replay` and `queue`."""

    namespace: AnyMapping[str, Namespace] | None = None
    """By their names. A part of the space that the host sees. Such parts follow one another in the order of the text.
    """

    def to_toml_tables(self) -> dict[str, Any]:
        """The tables of a configuration file, with the keys spelt as there; parameters that are None are left out."""
        return _table(self)


def _table(parameters: Any) -> dict[str, Any]:
    """The parameters that are set, by their key in a configuration file; sections without any are left out."""
    values = {own.name.replace("_", "-"): _plain(getattr(parameters, own.name)) for own in fields(parameters)}
    return {key: value for key, value in values.items() if value is not None and value != {}}


def _plain(value: Any) -> Any:
    """A value in the types that TOML has."""
    if is_dataclass(value):
        return _table(value)
    if isinstance(value, AnyMapping):
        return {name: _plain(item) for name, item in value.items()}
    if isinstance(value, os.PathLike):
        return os.fspath(value)
    if isinstance(value, Sequence) and not isinstance(value, str):
        return [_plain(item) for item in value]
    return value
