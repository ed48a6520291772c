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
    "CacheAccessTime",
    "CacheAccessUnit",
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
    "FirmwareCoreChoice",
    "Flash",
    "FlashDieStart",
    "FlashMultiPlane",
    "FlashPageTypes",
    "FlashPlaneOrder",
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
    "MbmAreaWrites",
    "MbmMcsBegins",
    "MbmReallocationTrigger",
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
    "NossdLeastLoadedTies",
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
    "samsung-980-pro",
    "collisions",
    "z-nand",
    "pm9a3",
]
"""The drives that come with the simulator; at the end names that some had before."""

FlashPageTypes: TypeAlias = Literal["one", "mlc", "tlc", "qlc"]
"""Differences in array time between the pages of a block. An operation takes as long as its slowest page."""

FlashProgramUnit: TypeAlias = Literal["page", "word-line"]
"""Amount of data that one program writes in a plane. With `word-line`, the data of all pages follows the command, and
`program-time` is the time of a word line.
"""

FlashDieStart: TypeAlias = Literal["independent", "together"]
"""Start of an operation of a die that works in parallel with others. Dies of NoSSD manage their own operations (PACT
2014, section 5.5), and are independent.
"""

FlashMultiPlane: TypeAlias = Literal["off", "same-offset", "same-block-and-offset", "independent"]
"""Condition under which planes of a die can join in one operation."""

FlashPlaneOrder: TypeAlias = Literal["number", "arrival"]
"""Order in which the planes of a multi-plane read send their data."""

FlashProgramOrder: TypeAlias = Literal["in-order", "any"]
"""Order in which the pages of a block can be programmed."""

FlashSuspension: TypeAlias = Literal["off", "program", "erase", "both"]
"""Operations that a waiting host read suspends."""

FlashSuspensionScope: TypeAlias = Literal["die", "chip"]
"""Scope of a suspension: the die of the read, or all dies of a chip that start together and are busy together. A chip
resumes its suspended operations when no read waits for any of its dies. With `chip`, all of the operations must be
suspendable.
"""

FabricKind: TypeAlias = Literal["bus", "pssd", "pnssd", "nossd", "venice", "ideal"]
"""Interconnect between controllers and chips."""

FabricChannelLoad: TypeAlias = Literal["none", "chips"]
"""Effect of the number of chips on a channel on the rate of the channel. In a network between chips, each link connects
only two routers, and its rate is fixed.
"""

FabricHoldPath: TypeAlias = Literal["false", "true", "reads", "programs"]
"""Transactions that hold their path (a channel, or a circuit of links) from the command to the last byte of data, or to
the end of a program or erase. Other transactions hold their path only while bytes move.
"""

FabricArbitration: TypeAlias = Literal[
    "command-first",
    "next-command-first",
    "data-first",
    "oldest-first",
    "round-robin",
    "data-first-round-robin",
    "data-first-together",
]
"""Transfer that is granted a channel when several wait."""

PnssdControllers: TypeAlias = Literal["independent", "shared"]
"""Channels that a controller drives."""

NossdSlotReuse: TypeAlias = Literal["same-cycle", "next-cycle"]
"""Time at which the buffer slot of a departing flit can be reused."""

NossdTopology: TypeAlias = Literal["mesh", "torus", "ring"]
"""Topology of the network of chip routers."""

NossdInterleave: TypeAlias = Literal["packets", "flits"]
"""Unit of arbitration: packets or flits."""

NossdPlacement: TypeAlias = Literal["one-sided", "all-sided"]
"""Chips to which the controllers are attached."""

NossdInjection: TypeAlias = Literal[
    "nearest",
    "round-robin",
    "nearest-else-round-robin",
    "least-loaded",
    "nearest-under-threshold",
]
"""Controller that sends a command. Network-on-SSD, CAL 2012 calls the nearest the trivial choice; Design for
Scalability, PACT 2014 uses round robin.
"""

NossdControllerQueues: TypeAlias = Literal["dies", "packets"]
"""Contents of the queue of a controller."""

NossdLeastLoadedTies: TypeAlias = Literal["nearest", "lowest", "round-robin", "random"]
"""Controller that sends a command, among those with equally few waiting commands, with `injection = "least-loaded"`.
Design for Scalability, PACT 2014, section 5.4 names no rule: the "controller chooses the less-stressed FCC for packet
injection".
"""

NossdReply: TypeAlias = Literal["sender", "nearest"]
"""Controller that receives the reply of a chip."""

NossdArbitration: TypeAlias = Literal["round-robin", "fifo", "oldest"]
"""Packet that a router sends next over a link."""

NossdPagePackets: TypeAlias = Literal["fixed", "one"]
"""Packets that carry a page."""

VeniceRouting: TypeAlias = Literal["venice", "minimal-adaptive", "xy", "random-dfs"]
"""Routing of scouts."""

VeniceTieBreak: TypeAlias = Literal["lfsr", "uniform"]
"""Choice of a router among several ports."""

VeniceRevisits: TypeAlias = Literal["unused-ports", "three-times"]
"""Ports over which a router sends a scout that it has seen before."""

VeniceRetry: TypeAlias = Literal["on-teardown", "immediate", "next-controller"]
"""Reaction of a die whose scout has found no path."""

VeniceService: TypeAlias = Literal["own-row-first", "longest-first"]
"""Die that is served first when a controller becomes free."""

SchedulePolicy: TypeAlias = Literal["out-of-order", "fifo", "sprinkler", "paq", "fair"]
"""Rule that selects the transaction a die executes next."""

ScheduleOrder: TypeAlias = Literal["read-first", "write-first", "arrival"]
"""Kind of request that goes first. The read that a write of a part of a page needs counts as a read."""

ScheduleErases: TypeAlias = Literal["with-collection", "first", "last"]
"""Moment at which the erase of a collected block is scheduled. Space is nearly exhausted below `gc.hard-threshold`, and
when a write finds no free page.
"""

SchedulePriorities: TypeAlias = Literal["off", "strict", "weighted"]
"""Use of request priorities. Unless `off`, only transactions of the same priority join in a multi-plane operation. A
Python policy decides itself how to use priorities; with `off`, the policy does not see priorities.
"""

FtlPolicy: TypeAlias = Literal["page", "tbm", "mbm", "sprinkler", "superblock"]
"""Firmware policy of the translation layer ([firmware-policies.md](firmware-policies.md))."""

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
"""Rule that selects the plane of a written page. The home of a page without data (its default location) follows from
the static order (`home-order` if the allocation is dynamic).
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
"""Static order of the pages that a dynamic allocation does not place: pages without data, and pages written before the
run.
"""

FtlWriteBinding: TypeAlias = Literal["late", "early"]
"""Moment at which a write is assigned its physical page. With `early`, planes of a die join in a program if their
assigned pages allow it; the queues are searched up to `schedule.lookahead`. A write of a part of a page then keeps its
turn while the rest of the page is read.
"""

FtlFirstTouch: TypeAlias = Literal["home", "write-block", "reader-block"]
"""Treatment of a read of an unwritten page."""

FtlWriteStreams: TypeAlias = Literal["shared", "per-stream", "per-stream-destaged"]
"""Open block of the plane that a written page goes to."""

MappingSharing: TypeAlias = Literal["shared", "per-stream"]
"""Division of the mapping cache among streams."""

MappingFill: TypeAlias = Literal["entry", "page"]
"""Entries that are cached when a translation page is read."""

MappingWriteBackRead: TypeAlias = Literal["when-missing", "always"]
"""Condition under which a translation page is read before its write-back."""

PersistencePolicy: TypeAlias = Literal["ideal", "journal"]
"""Mechanism by which the mapping table survives a power cut."""

MbmSuspension: TypeAlias = Literal["off", "program", "erase", "both"]
"""Operations that a waiting host read suspends under this policy. Replaces `flash.suspension`."""

MbmMcsBegins: TypeAlias = Literal["each-allocation", "once-until-drained"]
"""How often MCS restarts with the chip that takes the fewest pages."""

MbmAreaRule: TypeAlias = Literal["latest-read", "any-read"]
"""Reads that decide whether an area is read-intensive."""

MbmAreaWrites: TypeAlias = Literal["fewest-pages", "static-die"]
"""Die of a write to a read-intensive area."""

MbmReallocationTrigger: TypeAlias = Literal["either", "transactions", "channel"]
"""Layouts of a long request that are reallocated. The paper counts as a condition what is "greater than the theoretical
number" or "excessive", without numbers (section IV.B).
"""

SlcRegion: TypeAlias = Literal["static", "dynamic"]
"""Blocks that the cache uses."""

SlcWhenFull: TypeAlias = Literal["bypass", "fold"]
"""Treatment of a write that finds the cache of its plane full. With `fold`, the fold that frees space starts at once
and precedes reads, so that a drive with a full cache writes each page twice, at the speed of folding.
"""

GcVictim: TypeAlias = Literal["greedy", "d-choices", "random", "random-p", "random-pp", "fifo"]
"""Rule that selects the victim block."""

GcMove: TypeAlias = Literal["through-controller", "chip-to-chip", "clean"]
"""Way in which a valid page moves."""

GcMovedPages: TypeAlias = Literal["own-block", "write-block"]
"""Open block to which collection moves a page."""

ReplicationCountedReads: TypeAlias = Literal["host", "all"]
"""Reads that the detection of collisions considers: these reads are outstanding, form pairs, and trigger replication.
Other reads are only counted.
"""

HostInterface: TypeAlias = Literal["direct", "nvme", "sata"]
"""Interface between host and drive."""

HostReadData: TypeAlias = Literal["page", "request"]
"""Moment at which the data of a read is sent to the host."""

NvmeArbitration: TypeAlias = Literal["round-robin", "weighted"]
"""Queue arbitration: which submission queue the controller fetches from next."""

SataTransport: TypeAlias = Literal["frames", "doorbells"]
"""Transport between the adapter and the drive."""

FirmwareCoreChoice: TypeAlias = Literal["first-free", "address"]
"""Rule that selects the core of a job."""

CacheSharing: TypeAlias = Literal["shared", "per-stream"]
"""Division of the cache among streams."""

CacheWrites: TypeAlias = Literal["back", "through"]
"""Moment at which a write that the cache accepts completes."""

CacheDestage: TypeAlias = Literal["watermark", "eviction", "first-write"]
"""Rule by which dirty pages are destaged (written to flash)."""

CacheStall: TypeAlias = Literal["writes", "cached-writes", "commands"]
"""Commands that wait while a write waits for space, or because of `throttle-interval`."""

CacheAccessUnit: TypeAlias = Literal["page", "request"]
"""Unit of an access to the DRAM. All pages of an access end at the same time."""

CacheAccessTime: TypeAlias = Literal["rows", "mqsim"]
"""Time of an access to the DRAM."""

CacheRowPolicy: TypeAlias = Literal["closed", "open"]
"""State of a row after an access."""

PreconditionKind: TypeAlias = Literal["none", "sequential", "random", "aged"]
"""Way in which the drive was written before the run."""

MeasureWarmUp: TypeAlias = Literal["none", "auto", "requests", "time", "steady"]
"""Event that ends the warm-up, after which the results have a separate window."""

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
"""Figure that `precision` applies to."""

WorkloadKind: TypeAlias = Literal["synthetic", "job", "profile", "trace", "fitted"]
"""Source of requests."""

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
"""Format of the trace file."""

WorkloadTimeUnit: TypeAlias = Literal["ps", "ns", "us", "ms", "s"]
"""Unit of time stamps in the ASCII family; other formats have a fixed unit. An open replay of the ASCII family requires
the key, because such a file does not state its unit.
"""

WorkloadAddressUnit: TypeAlias = Literal["sectors", "bytes"]
"""Unit of offsets and sizes in the ASCII family."""

WorkloadPolarity: TypeAlias = Literal["read-is-1", "read-is-0"]
"""Meaning of the type field in the ASCII family."""

WorkloadBlkparseEvent: TypeAlias = Literal["queue", "issue", "complete"]
"""Event of a blkparse log that counts as the request. A request without this event in the log is left out."""

WorkloadIologWait: TypeAlias = Literal["after-previous-us", "since-start-ms"]
"""Meaning of the number in a `wait` of a fio iolog of version 2, in which fio's manual and fio differ. Version 3 has
time stamps instead.
"""

WorkloadBeyond: TypeAlias = Literal["reject", "wrap", "send"]
"""Treatment of trace requests that end beyond the drive. With `wrap`, a fitted profile whose addresses exceed the drive
is compressed onto it.
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
"""Address pattern."""

WorkloadMixPlacement: TypeAlias = Literal["apart", "shared"]
"""Placement of the members of a mix on the drive."""

WorkloadFileOrder: TypeAlias = Literal["round-robin", "random", "sequential"]
"""Rule that selects the file of the next request."""

WorkloadRunKind: TypeAlias = Literal["sequential", "identical"]
"""Address of the requests between two draws."""

WorkloadArrivals: TypeAlias = Literal["constant", "exponential", "burst"]
"""Arrival process; only open replay uses it."""

WorkloadBurstKinds: TypeAlias = Literal["mixed", "alike"]
"""Whether all requests of a burst have the same kind. If so, a burst recurs with its kind."""

ReplayMode: TypeAlias = Literal["open", "stress", "closed"]
"""Rule by which requests are issued. A trace replays `open` unless the mode, `outstanding`, `threads` or `think-time`
is set.
"""

ReplayLatencyStart: TypeAlias = Literal["arrival", "issue"]
"""Start of the latency of a request: its arrival or its issue."""

QueuePriority: TypeAlias = Literal["urgent", "high", "medium", "low"]
"""Priority class of the requests of the stream, for arbitration (`[nvme]`) and scheduling (`schedule.priorities`)."""

QueueCaching: TypeAlias = Literal["none", "reads", "writes", "all"]
"""Requests of the stream that the device cache serves, if the drive has one."""


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
    """The flash array: channels, chips, dies, planes, blocks and pages."""

    channels: int | None = None
    """Number of channels of the bus; rows of chips in any interconnect. Values: 1 to 1024. Default: 8."""

    chips_per_channel: int | None = None
    """Chips on a channel; columns of chips in any interconnect. Values: 1 to 1024. Default: 8."""

    dies_per_chip: int | None = None
    """Dies in a chip. Values: 1 to 64. Default: 1."""

    planes_per_die: int | None = None
    """Planes in a die. Values: 1 to 8. Default: 2."""

    blocks_per_plane: int | None = None
    """Blocks in a plane. Values: 4 to 1048576. Default: 1024."""

    pages_per_block: int | None = None
    """Pages in a block. Values: 1 to 65535. Default: 768."""

    page_size: Bytes | None = None
    """Size of the user data of a page; a power of two. Values: 512B to 256KiB. Default: "4KiB"."""

    page_spare: Bytes | None = None
    """Metadata and parity that are transferred with a whole page. A part of a page is transferred with a proportional
    part of the metadata and parity. Values: 0B to 64KiB. Default: "0B".
    """

    sector_size: Bytes | None = None
    """Addressing unit of the host. It must divide the page size. Values: 512B or 4KiB. Default: "512B"."""

    capacity: Bytes | None = None
    """Space that the host sees, rounded down to whole pages. Replaces the over-provisioning, unless a later layer sets
    that: a file replaces the capacity of its preset, and `--set` that of the file. Values: 512B to 1024TiB. Default:
    all pages less the over-provisioning.
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
    """Array read time tR; of lower pages, if page types differ. Values: 1ps to 10s. Default: "3us"."""

    program_time: Time | None = None
    """Array program time tPROG; of lower pages, if page types differ. Values: 1ps to 10s. Default: "100us"."""

    erase_time: Time | None = None
    """Block erase time tBERS. Values: 1ps to 10s. Default: "1ms"."""

    page_types: FlashPageTypes | None = None
    """Differences in array time between the pages of a block. An operation takes as long as its slowest page. Default:
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
    """Amount of data that one program writes in a plane. With `word-line`, the data of all pages follows the command,
    and `program-time` is the time of a word line. Default: "page".
    """

    command_time: Time | None = None
    """Time that a command with its address occupies the path. Values: 0ps to 1s. Default: "10ns"."""

    command_time_per_extra_plane: Time | None = None
    """Additional time on the path for each further plane of a multi-plane command. Values: 0ps to 1s. Default: the
    command time.
    """

    read_command_time: Times | None = None
    """Time of a read command on the path: for one plane, for two, and so on. Values: 0ps to 1s. Default: the command
    time, and that of each further plane.
    """

    program_command_time: Times | None = None
    """Time of a program command on the path, without its data: for one plane, for two, and so on. A copyback takes a
    read command and a program command. Values: 0ps to 1s. Default: the command time, and that of each further plane.
    """

    erase_command_time: Times | None = None
    """Time of an erase command on the path: for one plane, for two, and so on. Values: 0ps to 1s. Default: the command
    time, and that of each further plane.
    """

    partial_program: bool | None = None
    """Whether a program of a partly written page transfers only the written part to the chip, and the preceding read
    only the other part to the controller. Otherwise whole pages are transferred. Default: False.
    """

    die_interleaving: bool | None = None
    """Whether the dies of a chip work in parallel. If false, a chip starts no operation while any of its dies works,
    holds data or has a suspended operation, and the transactions of all its dies wait in one queue. Default: True.
    """

    die_start: FlashDieStart | None = None
    """Start of an operation of a die that works in parallel with others. Dies of NoSSD manage their own operations
    (PACT 2014, section 5.5), and are independent. Only with die_interleaving = True, and with fabric.kind other than
    "nossd". Default: "independent".
    """

    multi_plane: FlashMultiPlane | None = None
    """Condition under which planes of a die can join in one operation. Default: "same-offset"."""

    plane_reads_max: int | None = None
    """Maximum number of planes of a die that read at the same time. The power of a die limits this number. Only with
    multi_plane = "independent", and with geometry.planes_per_die other than 1. Values: 1 to 8. Default: all planes.
    """

    plane_order: FlashPlaneOrder | None = None
    """Order in which the planes of a multi-plane read send their data. Only with multi_plane other than "independent".
    Default: "number".
    """

    program_order: FlashProgramOrder | None = None
    """Order in which the pages of a block can be programmed. Default: "in-order"."""

    read_cache: bool | None = None
    """Whether a die is free for its next operation once data is in the cache register (after tR). Otherwise the die is
    free when the data has left. Default: False.
    """

    suspension: FlashSuspension | None = None
    """Operations that a waiting host read suspends. Only with ftl.policy other than "mbm". Default: "off"."""

    suspension_scope: FlashSuspensionScope | None = None
    """Scope of a suspension: the die of the read, or all dies of a chip that start together and are busy together. A
    chip resumes its suspended operations when no read waits for any of its dies. With `chip`, all of the operations
    must be suspendable. Only with die_start = "together", and with suspension other than "off" or ftl.policy = "mbm",
    and with mbm.suspension other than "off" or ftl.policy other than "mbm". Default: "die".
    """

    suspend_time: Time | None = None
    """Time from the suspend command until the array is free. Only with suspension other than "off" or ftl.policy =
    "mbm", and with mbm.suspension other than "off" or ftl.policy other than "mbm". Values: 0ps to 1s. Default: "5us".
    """

    suspend_interval: Time | None = None
    """Interval between the points of a program or erase at which it can be suspended, such as the ends of its pulses. A
    suspension waits until the operation reaches its next point, then takes `suspend-time`. With 0, an operation can be
    suspended at any time. Only with suspension other than "off" or ftl.policy = "mbm", and with mbm.suspension other
    than "off" or ftl.policy other than "mbm". Values: 0ps to 10s. Default: "0ps".
    """

    resume_time: Time | None = None
    """Time from the resume command until the operation continues. Only with suspension other than "off" or ftl.policy =
    "mbm", and with mbm.suspension other than "off" or ftl.policy other than "mbm". Values: 0ps to 1s. Default: "5us".
    """

    suspensions_max: int | None = None
    """Maximum number of suspensions of one operation. Only with suspension other than "off" or ftl.policy = "mbm", and
    with mbm.suspension other than "off" or ftl.policy other than "mbm". Values: 1 to 1000000. Default: 16.
    """

    suspend_remaining_min: Time | None = None
    """Remaining time at or below which an operation is not suspended. Only with suspension other than "off" or
    ftl.policy = "mbm", and with mbm.suspension other than "off" or ftl.policy other than "mbm". Values: 0ps to 10s.
    Default: "10us".
    """

    def __post_init__(self) -> None:
        """Refuses values that no configuration takes."""
        _check(self, "flash")


@suggesting
@dataclass(frozen=True, kw_only=True, slots=True)
class Fabric:
    """The network between controllers and chips."""

    kind: FabricKind | None = None
    """Interconnect between controllers and chips. Default: "bus"."""

    channel_rate: Rate | None = None
    """Rate of one channel. Channels of pSSD have twice this rate. Only with kind = "bus" or "pssd" or "pnssd" or
    "ideal". Values: 1kB/s to unlimited. Default: "1.2GB/s".
    """

    channel_load: FabricChannelLoad | None = None
    """Effect of the number of chips on a channel on the rate of the channel. In a network between chips, each link
    connects only two routers, and its rate is fixed. Only with kind = "bus" or "pssd". Default: "none".
    """

    driver_resistance_ohm: int | None = None
    """Resistance of the drivers of a channel, in ohms; 35 is the nominal value of ONFI. Only with channel_load =
    "chips". Values: 1 to 1000. Default: 35.
    """

    chip_capacitance_ff: int | None = None
    """Capacitance of a pin of a chip, in femtofarads. ONFI 3.2 allows at most 8 chips of 4,088 on a channel of 533
    MB/s. Only with channel_load = "chips". Values: 0 to 1000000. Default: 4088.
    """

    controller_capacitance_ff: int | None = None
    """Capacitance of a pin of a controller and of the wires of a channel, in femtofarads. Only with channel_load =
    "chips". Values: 0 to 1000000. Default: 0.
    """

    hold_path: bool | FabricHoldPath | None = None
    """Transactions that hold their path (a channel, or a circuit of links) from the command to the last byte of data,
    or to the end of a program or erase. Other transactions hold their path only while bytes move. Default: False.
    """

    arbitration: FabricArbitration | None = None
    """Transfer that is granted a channel when several wait. Only with policy.arbiter unset or arbitration =
    "next-command-first" or "data-first-round-robin". Default: "command-first".
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
    """Bytes of a control packet: command and address of one plane. Values: 0B to 4KiB. Default: "8B"."""

    data_header: Bytes | None = None
    """Bytes of the header of a data packet. Values: 0B to 4KiB. Default: "8B"."""

    data_crc: Bytes | None = None
    """Bytes of the checksum of a data packet. Values: 0B to 4KiB. Default: "4B"."""

    on_die_controller_time: Time | None = None
    """Time of the controller on the die to decode a command, and again to frame the data of a read. Values: 0ps to 1ms.
    Default: "20ns".
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
    """Channels that a controller drives. Default: "independent"."""

    split_page: bool | None = None
    """Whether the data of a transfer is split evenly over both channels of the chip if both are free. Default: False.
    """

    def __post_init__(self) -> None:
        """Refuses values that no configuration takes."""
        _check(self, "pnssd")


@suggesting
@dataclass(frozen=True, kw_only=True, slots=True)
class Nossd:
    """NoSSD, a packet-switched network between the chips.

    Its keys are read only with fabric.kind = "nossd".
    """

    flit_time: Time | None = None
    """Time of a flit of 8 bits on a link; also the time of a router stage. Values: 1ps to 1ms. Default: "1ns"."""

    pipeline_stages: int | None = None
    """Pipeline stages of a router, before the link. Values: 0 to 64. Default: 3."""

    slot_reuse: NossdSlotReuse | None = None
    """Time at which the buffer slot of a departing flit can be reused. Default: "next-cycle"."""

    buffer_flits: int | None = None
    """Size of the buffer at each input of a router, in flits. Values: 1 to 65536. Default: 512."""

    topology: NossdTopology | None = None
    """Topology of the network of chip routers. Default: "mesh"."""

    half_duplex: bool | None = None
    """Whether the two directions between neighbouring routers share their wires. With `interleave = "packets"`, buffers
    must then hold a whole packet. Default: False.
    """

    interleave: NossdInterleave | None = None
    """Unit of arbitration: packets or flits. Default: "packets"."""

    chip_channels: int | None = None
    """Number of links from each chip into the network. As many links lead back. Values: 1 to 8. Default: 1."""

    controller_channels: int | None = None
    """Number of links from each controller into the network. As many links lead back. Values: 1 to 8. Default: 1."""

    placement: NossdPlacement | None = None
    """Chips to which the controllers are attached. Default: "one-sided"."""

    injection: NossdInjection | None = None
    """Controller that sends a command. Network-on-SSD, CAL 2012 calls the nearest the trivial choice; Design for
    Scalability, PACT 2014 uses round robin. Default: "nearest".
    """

    controller_queues: NossdControllerQueues | None = None
    """Contents of the queue of a controller. Default: "dies"."""

    injection_threshold: int | None = None
    """Number of waiting commands from which a controller is skipped, with `nearest-under-threshold`. Values: 1 to
    1000000. Default: 4.
    """

    least_loaded_ties: NossdLeastLoadedTies | None = None
    """Controller that sends a command, among those with equally few waiting commands, with `injection =
    "least-loaded"`. Design for Scalability, PACT 2014, section 5.4 names no rule: the "controller chooses the
    less-stressed FCC for packet injection". Only with injection = "least-loaded". Default: "nearest".
    """

    reply: NossdReply | None = None
    """Controller that receives the reply of a chip. Default: "sender"."""

    arbitration: NossdArbitration | None = None
    """Packet that a router sends next over a link. Default: "round-robin"."""

    small_first: bool | None = None
    """Whether requests and acknowledgements precede packets of data. Default: True."""

    keep_runs: bool | None = None
    """Whether a link that carries a packet of data is kept for the other packets of the same message. Default: True."""

    read_request_flits: int | None = None
    """Length of a read request, in flits. Values: 1 to 65536. Default: 8."""

    erase_request_flits: int | None = None
    """Length of a request to erase, or to move pages within a chip, in flits. Values: 1 to 65536. Default: 8."""

    acknowledgement_flits: int | None = None
    """Length of an acknowledgement, in flits. Values: 1 to 65536. Default: 4."""

    page_packets: NossdPagePackets | None = None
    """Packets that carry a page. Default: "fixed"."""

    data_packet_flits: int | None = None
    """Length of a packet of data with its header, in flits, with `page-packets = "fixed"`. Values: 2 to 65536. Default:
    512.
    """

    data_header_flits: int | None = None
    """Length of the header of a packet of data, in flits. Values: 1 to 65536. Default: 32."""

    metadata: Bytes | None = None
    """Metadata transferred with every 4 KiB of data, on a drive without `geometry.page-spare`. Values: 0B to 4KiB.
    Default: "224B".
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
    """Routing of scouts. Only with policy.routing unset. Default: "venice"."""

    tie_break: VeniceTieBreak | None = None
    """Choice of a router among several ports. Default: "lfsr"."""

    revisits: VeniceRevisits | None = None
    """Ports over which a router sends a scout that it has seen before. Default: "unused-ports"."""

    retry: VeniceRetry | None = None
    """Reaction of a die whose scout has found no path. Default: "on-teardown"."""

    circuits_per_request: int | None = None
    """Maximum number of circuits that the transactions of one host request hold at a time. Further transactions wait
    until one of these circuits is torn down. A command counts for the request of the first waiting transaction when the
    die requests a circuit. Values: 1 to 65536. Default: one for each transfer.
    """

    service: VeniceService | None = None
    """Die that is served first when a controller becomes free. Default: "own-row-first"."""

    link_width: Bytes | None = None
    """Data that a link between routers transfers per cycle. Values: 1B to 4KiB. Default: "1B"."""

    link_cycle: Time | None = None
    """Cycle time of a link. Values: 1ps to 1ms. Default: "1ns"."""

    def __post_init__(self) -> None:
        """Refuses values that no configuration takes."""
        _check(self, "venice")


@suggesting
@dataclass(frozen=True, kw_only=True, slots=True)
class Schedule:
    """Scheduling of the transactions that wait for a die. `flash.suspension` sets which operations reads suspend."""

    policy: SchedulePolicy | None = None
    """Rule that selects the transaction a die executes next. Only with policy.scheduler unset. Default: "out-of-order".
    """

    order: ScheduleOrder | None = None
    """Kind of request that goes first. The read that a write of a part of a page needs counts as a read. Only with
    policy = "out-of-order", and with policy.scheduler unset. Default: "read-first".
    """

    erases: ScheduleErases | None = None
    """Moment at which the erase of a collected block is scheduled. Space is nearly exhausted below `gc.hard-threshold`,
    and when a write finds no free page. Only with policy other than "fifo", and with policy.scheduler unset. Default:
    "with-collection".
    """

    priorities: SchedulePriorities | None = None
    """Use of request priorities. Unless `off`, only transactions of the same priority join in a multi-plane operation.
    A Python policy decides itself how to use priorities; with `off`, the policy does not see priorities. Only with
    policy = "out-of-order". Default: "off".
    """

    map_reads_take_others: bool | None = None
    """Whether reads of requests on other planes join a read of a translation page in a multi-plane operation. Only with
    mapping.cache_capacity set, and with flash.multi_plane other than "independent". Default: False.
    """

    age_bound: Time | None = None
    """Waiting time at a die after which a transaction of a request precedes the transactions of all other requests, so
    that no request starves behind a kind or a priority that always goes first. With `policy = "out-of-order"`, reads
    and writes then take turns ([scheduling.md](scheduling.md)). 1000 s means no bound. Only with policy other than
    "fifo", and with policy.scheduler unset. Values: 0ps to 1000s. Default: "20ms".
    """

    lookahead: int | None = None
    """Maximum number of waiting reads of another plane that are searched for a read that can join a multi-plane read.
    Applies to programs too if `ftl.write-binding` is early. Values: 1 to 65535. Default: 32.
    """

    def __post_init__(self) -> None:
        """Refuses values that no configuration takes."""
        _check(self, "schedule")


@suggesting
@dataclass(frozen=True, kw_only=True, slots=True)
class Ftl:
    """The flash translation layer: mapping and allocation of pages."""

    policy: FtlPolicy | None = None
    """Firmware policy of the translation layer ([firmware-policies.md](firmware-policies.md)). Default: "page"."""

    allocation: FtlAllocation | None = None
    """Rule that selects the plane of a written page. The home of a page without data (its default location) follows
    from the static order (`home-order` if the allocation is dynamic). Only with policy.allocator unset or allocation
    other than "dynamic" and "free-channel". Default: "CWDP".
    """

    home_order: FtlHomeOrder | None = None
    """Static order of the pages that a dynamic allocation does not place: pages without data, and pages written before
    the run. Only with allocation = "dynamic" or "free-channel". Default: "CWDP".
    """

    write_binding: FtlWriteBinding | None = None
    """Moment at which a write is assigned its physical page. With `early`, planes of a die join in a program if their
    assigned pages allow it; the queues are searched up to `schedule.lookahead`. A write of a part of a page then keeps
    its turn while the rest of the page is read. Default: "late".
    """

    first_touch: FtlFirstTouch | None = None
    """Treatment of a read of an unwritten page. Only with write_binding = "early". Default: "home"."""

    write_streams: FtlWriteStreams | None = None
    """Open block of the plane that a written page goes to. Default: "shared"."""

    mapping_unit: Bytes | None = None
    """Size of a mapping unit, which has one entry in the mapping table: a part of a page, or several pages of a block.
    With parts of a page, writes gather in their plane until they fill a program (`flash.program-unit`), a read
    transfers only the units it needs, and collection moves and packs valid units. With several pages, a smaller write
    first reads the rest of its unit, and a read senses only the pages it needs. Values: 512B to 256KiB. Default: a
    page.
    """

    parity: str | None = None
    """Share of the programs of a superblock that is parity, against the loss of a die (RAIN). With `1/8`, a die
    programs parity after every seven programs of data, and a block holds an eighth less data. The stripe, here of 8
    programs, must divide `superblock.dies`. Only with policy = "superblock". Values: 1/2 to 1/1024. Default: none.
    """

    gather_timeout: Time | None = None
    """Maximum time that writes wait for further writes to fill a program. The program then runs partly filled, and its
    empty pages stay empty until the block is erased. Only with mapping_unit set or flash.program_unit = "word-line".
    Values: 0ps to 1000s. Default: "100us".
    """

    def __post_init__(self) -> None:
        """Refuses values that no configuration takes."""
        _check(self, "ftl")


@suggesting
@dataclass(frozen=True, kw_only=True, slots=True)
class Mapping:
    """The mapping cache, for a mapping table that does not fit into DRAM (DFTL, ASPLOS 2009).

    Its other keys are read only with cache_capacity set, save `stored_entry_size`.
    """

    cache_capacity: Bytes | None = None
    """DRAM for mapping entries. If set, the mapping table is on flash, in translation pages. Values: at least 1B.
    Default: the whole map is in DRAM.
    """

    sharing: MappingSharing | None = None
    """Division of the mapping cache among streams. Default: "shared"."""

    entry_size: Bytes | None = None
    """Bytes of an entry in the cache: logical and physical page number, and links to other entries. Values: 1B to 4KiB.
    Default: "8B".
    """

    stored_entry_size: Bytes | None = None
    """Bytes of an entry in a translation page: a physical page number. Only with cache_capacity set or
    persistence.policy = "journal". Values: 1B to 4KiB. Default: "4B".
    """

    read_size: Bytes | None = None
    """Bytes that leave the chip when a translation page is read. Values: at least 1B. Default: the whole page."""

    fill: MappingFill | None = None
    """Entries that are cached when a translation page is read. Default: "entry"."""

    write_back_read: MappingWriteBackRead | None = None
    """Condition under which a translation page is read before its write-back. Default: "when-missing"."""

    write_back_read_size: Bytes | None = None
    """Bytes of a translation page that are read from the chip before the write-back, for the entries that are not in
    DRAM. With less than a page, the chip merges the rest in its register. Values: at least 0B. Default: the whole page.
    """

    write_back_is_use: bool | None = None
    """Whether a write-back counts as a use of the written entries, so that other entries are evicted first. Default:
    False.
    """

    write_back_buffer: Bytes | None = None
    """DRAM for translation pages that wait for their write-back. Such pages are read into this buffer, serve misses
    from there, and accept further changes. When another page needs the space, the oldest page is programmed. Values: at
    least 0B. Default: "0B".
    """

    write_backs: int | None = None
    """Maximum number of translation pages in write-back. A miss whose eviction needs another write-back waits. Values:
    1 to 65535. Default: 32.
    """

    def __post_init__(self) -> None:
        """Refuses values that no configuration takes."""
        _check(self, "mapping")


@suggesting
@dataclass(frozen=True, kw_only=True, slots=True)
class Persistence:
    """Persistence of the mapping table across a power cut ([power-loss.md](power-loss.md))."""

    policy: PersistencePolicy | None = None
    """Mechanism by which the mapping table survives a power cut. Default: "ideal"."""

    entry_size: Bytes | None = None
    """Bytes of a journal entry: a logical page and its new location. Only with policy = "journal". Values: 1B to 4KiB.
    Default: "8B".
    """

    checkpoint_interval: int | None = None
    """Number of journal pages from the start of one checkpoint to the start of the next. The journal occupies twice as
    many pages of flash. Only with policy = "journal". Values: 1 to 65535. Default: 64.
    """

    checkpoint_writes: int | None = None
    """Maximum number of pages of a checkpoint that are programmed at a time. Only with policy = "journal". Values: 1 to
    65535. Default: 4.
    """

    def __post_init__(self) -> None:
        """Refuses values that no configuration takes."""
        _check(self, "persistence")


@suggesting
@dataclass(frozen=True, kw_only=True, slots=True)
class Mbm:
    """The parts of MBM (Maximizing Bandwidth Management FTL), each with its own switch.

    Its keys are read only with ftl.policy = "mbm".
    """

    ws: bool | None = None
    """Write strategy (WS): pages moved by collection have their own open block, the planes of a die keep equal write
    pointers, and channels share the waiting writes by `Channel_Max_Subs`. If `false`, moved pages go to the block for
    writes, and planes and channels take turns. Default: True.
    """

    rs: bool | None = None
    """Read strategy (RS): planes join in a read only for pages of one request. Areas read by long requests are laid out
    over all dies, and their pages are moved if they are distributed unevenly. Default: True.
    """

    mcs: bool | None = None
    """Minimizing Chip consumption Strategy (MCS): waiting writes first go to the free chip that takes the fewest pages
    at once, then to the chips that take the most. If `false`, chips take turns. Default: True.
    """

    suspension: MbmSuspension | None = None
    """Operations that a waiting host read suspends under this policy. Replaces `flash.suspension`. Default: "both"."""

    reads_before_collection: bool | None = None
    """Whether host reads precede the operations of a collection on their die, and suspend them according to
    `suspension`, whatever `gc.preemptible` says about requests. All erases belong to collections: if `false`, no erase
    is ever suspended under this policy. The paper suspends "the on-going program or erase operation" (section IV.C) and
    is silent about queued operations. Default: True.
    """

    mcs_begins: MbmMcsBegins | None = None
    """How often MCS restarts with the chip that takes the fewest pages. Only with mcs = True. Default:
    "each-allocation".
    """

    read_threshold: Bytes | None = None
    """Size above which a read request makes its area read-intensive, and checks the layout of its pages. The paper
    prints no value: "we set a threshold of a read request length" (section IV.B). Only with rs = True. Values: at least
    512B. Default: "32KiB".
    """

    area_rule: MbmAreaRule | None = None
    """Reads that decide whether an area is read-intensive. Only with rs = True. Default: "latest-read"."""

    area_size: Bytes | None = None
    """Size of the areas that are classified as read-intensive or not. Only with rs = True. Values: at least 512B.
    Default: a page on each die.
    """

    area_writes: MbmAreaWrites | None = None
    """Die of a write to a read-intensive area. Only with rs = True. Default: "fewest-pages"."""

    reallocation_trigger: MbmReallocationTrigger | None = None
    """Layouts of a long request that are reallocated. The paper counts as a condition what is "greater than the
    theoretical number" or "excessive", without numbers (section IV.B). Only with rs = True. Default: "either".
    """

    reallocations_max: int | None = None
    """Maximum number of reallocated pages that wait for their programs; 0 turns reallocation off. A request whose pages
    would exceed the number is not reallocated. The paper sets no limit: "we will initiate a reallocation" (section
    IV.B). Only with rs = True. Values: 0 to 65536. Default: 64.
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
    """Number of dies in a superblock. It must divide the number of dies of the drive. The dies of a superblock are
    distributed over as many channels as possible. Values: 1 to 1048576. Default: all dies.
    """

    def __post_init__(self) -> None:
        """Refuses values that no configuration takes."""
        _check(self, "superblock")


@suggesting
@dataclass(frozen=True, kw_only=True, slots=True)
class Slc:
    """The SLC cache: blocks with one bit per cell that take host writes ([slc-cache.md](slc-cache.md)).

    Its keys are read only with flash.page_types = "mlc" or "tlc" or "qlc".
    """

    blocks_per_plane: int | None = None
    """Blocks of each plane for the cache, taken from its spare space; with `region = "dynamic"`, the maximum number of
    free blocks that the cache takes. 0 turns the cache off. A block holds one page per word line: a half, a third or a
    quarter of its pages. Values: 0 to 1048576. Default: 0.
    """

    region: SlcRegion | None = None
    """Blocks that the cache uses. Only with blocks_per_plane other than 0. Default: "static"."""

    program_time: Time | None = None
    """Array program time of a page of the cache. SLC flash takes 200 to 300 us (HP, Solid State Drive Technology:
    Differences between SLC, MLC and TLC NAND, table 1). Only with blocks_per_plane other than 0. Values: 1ps to 10s.
    Default: "200us".
    """

    read_time: Time | None = None
    """Array read time of a page of the cache. SLC flash takes 25 us (HP, Solid State Drive Technology: Differences
    between SLC, MLC and TLC NAND, table 1). Only with blocks_per_plane other than 0. Values: 1ps to 10s. Default:
    "25us".
    """

    fold_threshold: Share | None = None
    """Share of full cache blocks above which an idle die folds a plane. 0 empties the cache as soon as the die is idle.
    Only with blocks_per_plane other than 0. Values: 0 to 0.99. Default: 0.0.
    """

    when_full: SlcWhenFull | None = None
    """Treatment of a write that finds the cache of its plane full. With `fold`, the fold that frees space starts at
    once and precedes reads, so that a drive with a full cache writes each page twice, at the speed of folding. Only
    with blocks_per_plane other than 0. Default: "bypass".
    """

    def __post_init__(self) -> None:
        """Refuses values that no configuration takes."""
        _check(self, "slc")


@suggesting
@dataclass(frozen=True, kw_only=True, slots=True)
class Gc:
    """Garbage collection."""

    victim: GcVictim | None = None
    """Rule that selects the victim block. Only with policy.victim unset or precondition.kind = "random". Default:
    "greedy".
    """

    d: int | None = None
    """Number of random blocks of which the best is the victim. Only with victim = "d-choices", and with policy.victim
    unset or precondition.kind = "random". Values: 1 to 1024. Default: 10.
    """

    threshold: Share | None = None
    """Share of free pages below which a plane is collected. A plane with fewer free pages than two blocks have is
    collected in any case. Values: 0 to 0.5. Default: 0.02.
    """

    hard_threshold: Share | None = None
    """Share of free pages below which collection precedes user requests even with `preemptible`. Below one block of
    free pages, collection precedes them in any case. Values: 0 to 0.5. Default: 0.005.
    """

    preemptible: bool | None = None
    """Whether user requests precede the transactions of a collection. Default: False."""

    paced: bool | None = None
    """Whether collection keeps pace with the writes of its plane. If the victim has v valid and i invalid pages,
    collection moves v / i pages per page written, so that space is freed as fast as space is used. Writes wait while
    collection is behind; reads do not. Moves that writes wait for precede reads once the moves have waited for
    `schedule.age-bound`. With `cache.destage-stripe`, collection makes its owed moves before each stripe. Only with
    preemptible = True. Default: False.
    """

    move: GcMove | None = None
    """Way in which a valid page moves. Default: "through-controller"."""

    moved_pages: GcMovedPages | None = None
    """Open block to which collection moves a page. Only with ftl.policy = "page" or "sprinkler" or "tbm" or
    "superblock". Default: own-block; write-block with the policies tbm and superblock.
    """

    copyback: bool | None = None
    """Whether pages that move within their plane stay in the chip (copyback), without a transfer to the controller.
    Default: False.
    """

    background_threshold: Share | None = None
    """Share of free pages below which a plane of an idle die is collected; 0 turns background collection off. Values: 0
    to 0.9. Default: 0.0.
    """

    def __post_init__(self) -> None:
        """Refuses values that no configuration takes."""
        _check(self, "gc")


@suggesting
@dataclass(frozen=True, kw_only=True, slots=True)
class Policy:
    """Policies in Python that replace built-in ones ([how-to](how-to/policies-in-python.md))."""

    victim: str | None = None
    """Policy that selects the victim block, in place of `gc.victim`: a class, as `FILE.py:CLASS` or `MODULE:CLASS`, or
    `built-in`. Preconditioning of the kind `random` still uses `gc.victim`. Default: as `gc.victim` says.
    """

    allocator: str | None = None
    """Policy that selects the plane of a written page, in place of `ftl.allocation`. Pages that the policy does not
    place follow the static order. Default: as `ftl.allocation` says.
    """

    home: str | None = None
    """Policy that selects the copy of a replicated page for a read. Only with replication.enabled = True. Default: that
    on the die with fewer reads outstanding.
    """

    placement: str | None = None
    """Policy that can move a page from the plane of the allocator to another plane, in place of the method
    `place_write` of the firmware policy. Only with ftl.policy other than "mbm". Default: as `ftl.policy` says.
    """

    scheduler: str | None = None
    """Policy that selects the next transaction of a die, and the transactions that join it, in place of
    `schedule.policy`. A policy with a method `next_die` also selects the die that requests a path. Default: as
    `schedule.policy` says.
    """

    routing: str | None = None
    """Policy that selects the next step of a scout, in place of `venice.routing`. Only with fabric.kind = "venice".
    Default: as `venice.routing` says.
    """

    hops: str | None = None
    """Policy that selects the next link of a packet of NoSSD, in place of XY routing. Only with fabric.kind = "nossd".
    Default: XY.
    """

    arbiter: str | None = None
    """Policy that grants a channel or a controller when several transfers wait, in place of `fabric.arbitration`. Only
    with fabric.kind = "bus" or "pssd" or "pnssd" or "ideal". Default: as `fabric.arbitration` says.
    """

    def __post_init__(self) -> None:
        """Refuses values that no configuration takes."""
        _check(self, "policy")


@suggesting
@dataclass(frozen=True, kw_only=True, slots=True)
class Wear:
    """Wear levelling."""

    dynamic: bool | None = None
    """Whether the least erased free block is opened next. Otherwise, the block that was freed first is opened next.
    Default: True.
    """

    static_levelling: bool | None = None
    """Whether cold blocks are moved when the erase counts of a plane diverge. Default: False."""

    static_threshold: int | None = None
    """Difference in erase counts, within a plane, above which a block is moved. Only with static_levelling = True.
    Values: 1 to 1000000. Default: 100.
    """

    def __post_init__(self) -> None:
        """Refuses values that no configuration takes."""
        _check(self, "wear")


@suggesting
@dataclass(frozen=True, kw_only=True, slots=True)
class Replication:
    """Replication, on other dies, of pages that repeatedly collide with other pages."""

    enabled: bool | None = None
    """Whether pages are replicated ([read-collisions.md](read-collisions.md)). The other keys also set the assumptions
    of `measure.collisions` about replicas. Default: False.
    """

    l_r: int | None = None
    """Maximum number of collision pairs tracked per die, `l_R` in the paper. 0 tracks none, so that no page is
    replicated. Only with enabled = True or measure.collisions = True. Values: 0 to 65535. Default: 5.
    """

    l_m: Share | None = None
    """Maximum number of replicated pages, as a share of the logical pages of the drive, `l_M` in the paper. Replicas
    occupy spare space. Only with enabled = True or measure.collisions = True. Values: 0 to 1. Default: 0.002.
    """

    counted_reads: ReplicationCountedReads | None = None
    """Reads that the detection of collisions considers: these reads are outstanding, form pairs, and trigger
    replication. Other reads are only counted. Only with enabled = True or measure.collisions = True. Default: "host".
    """

    rate_window: Time | None = None
    """Window over which the reads of a die are counted, for the read rate in the cost of a replica. The rate covers the
    current window and the previous window. Only with enabled = True or measure.collisions = True. Values: 1us to 1000s.
    Default: "1s".
    """

    def __post_init__(self) -> None:
        """Refuses values that no configuration takes."""
        _check(self, "replication")


@suggesting
@dataclass(frozen=True, kw_only=True, slots=True)
class Host:
    """The queues and the link of the host."""

    interface: HostInterface | None = None
    """Interface between host and drive. Default: "direct"."""

    queue_depth: int | None = None
    """Maximum number of outstanding requests of each stream. Later requests wait at the host. Values: 1 to 65535.
    Default: 1024.
    """

    link_rate: Rate | None = None
    """Rate of one lane of the link, in each direction. Values: 1kB/s to unlimited. Default: "8GB/s"."""

    lanes: int | None = None
    """Number of lanes of the link. The bytes of a message are striped over the lanes. Values: 1 to 32. Default: 1."""

    packet_payload: Bytes | None = None
    """Maximum payload of a packet on the link (PCIe: 128 B to 4 KiB). Values: 1B to 1MiB. Default: no packets, only
    bytes.
    """

    packet_overhead: Bytes | None = None
    """Bytes of a packet in addition to its payload. Values: 0B to 4KiB. Default: "0B"."""

    submission_size: Bytes | None = None
    """Bytes of a submission entry, from host to drive, per request. Values: 0B to 4KiB. Default: "64B"."""

    completion_size: Bytes | None = None
    """Bytes of a completion entry, from drive to host, per request. Values: 0B to 4KiB. Default: "16B"."""

    read_data: HostReadData | None = None
    """Moment at which the data of a read is sent to the host. Default: "page"."""

    transfer_max: Bytes | None = None
    """Maximum size of a read or write command. The drive completes a larger command with the status Invalid Field.
    Values: 512B to 1GiB. Default: no limit.
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
    """Maximum number of commands of one queue in the drive. Later commands stay in the queue. Values: 1 to 65535.
    Default: 512.
    """

    commands_max: int | None = None
    """Maximum number of commands of all queues in the drive. A free slot goes to the queue that the arbitration
    selects. Values: 1 to 1000000. Default: what the queues may have together.
    """

    completion_depth: int | None = None
    """Number of entries of a completion queue. If the queue is full, a completed command waits and keeps its slot in
    the drive. Values: 1 to 65535. Default: `host.queue-depth`.
    """

    arbitration: NvmeArbitration | None = None
    """Queue arbitration: which submission queue the controller fetches from next. Default: "round-robin"."""

    arbitration_burst: int | None = None
    """Maximum number of commands fetched from a queue in one turn. Values: 1 to 128. Default: 1."""

    weight_high: int | None = None
    """Maximum number of commands of high priority fetched in a round. Only with arbitration = "weighted". Values: 1 to
    256. Default: 4.
    """

    weight_medium: int | None = None
    """Maximum number of commands of medium priority fetched in a round. Only with arbitration = "weighted". Values: 1
    to 256. Default: 2.
    """

    weight_low: int | None = None
    """Maximum number of commands of low priority fetched in a round. Only with arbitration = "weighted". Values: 1 to
    256. Default: 1.
    """

    doorbell_size: Bytes | None = None
    """Bytes of a doorbell, without packet overhead. Only with host.interface = "nvme" or sata.transport = "doorbells".
    Values: 0B to 4KiB. Default: "4B".
    """

    read_request_size: Bytes | None = None
    """Bytes of a read request, from drive to host, without packet overhead. Only with host.interface = "nvme" or
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
    """Maximum number of commands of all streams in the queue. Native command queuing has 32 tags; some controllers
    allow more commands. Values: 1 to 65535. Default: 32.
    """

    processing_delay: Time | None = None
    """Time of the adapter for each command and for each completion. The adapter processes one command and one
    completion at a time. Values: 0ps to 1s. Default: "0ps".
    """

    transport: SataTransport | None = None
    """Transport between the adapter and the drive. Default: "frames"."""

    def __post_init__(self) -> None:
        """Refuses values that no configuration takes."""
        _check(self, "sata")


@suggesting
@dataclass(frozen=True, kw_only=True, slots=True)
class Firmware:
    """The processor cores of the controller, and their time for commands ([firmware-time.md](firmware-time.md))."""

    cores: int | None = None
    """Number of cores that share the work. Each executes its jobs in the order of arrival. Only with read_time other
    than "0ps" or write_time other than "0ps" or other_time other than "0ps" or look_up_time other than "0ps" or
    completion_time other than "0ps" or collect_time other than "0ps" or split_time other than "0ps". Values: 1 to 1024.
    Default: 1.
    """

    core_choice: FirmwareCoreChoice | None = None
    """Rule that selects the core of a job. Only with cores other than 1. Default: "first-free"."""

    read_time: Time | None = None
    """Time for a read command, before anything is read for it. Values: 0ps to 10ms. Default: "0ps"."""

    write_time: Time | None = None
    """Time for a write command, before its data goes to the device cache or to flash. Values: 0ps to 10ms. Default:
    "0ps".
    """

    other_time: Time | None = None
    """Time for any other command: flush, deallocate, write zeroes. Values: 0ps to 10ms. Default: "0ps"."""

    look_up_time: Time | None = None
    """Additional time for each mapping unit that a command reads or writes. Values: 0ps to 10ms. Default: "0ps"."""

    split_time: Time | None = None
    """Time for each part of a read command but the first: a job of its own before the part is read. A part of a command
    consists of mapping units with successive addresses in one page of flash. Only with ftl.policy other than "mbm".
    Values: 0ps to 10ms. Default: "0ps".
    """

    completion_time: Time | None = None
    """Time for a completion, before it is sent to the host. Values: 0ps to 10ms. Default: "0ps"."""

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
    """Capacity, rounded down to whole pages; 0 turns the cache off. Values: 0B to 16TiB. Default: "0B"."""

    sharing: CacheSharing | None = None
    """Division of the cache among streams. Default: "shared"."""

    writes: CacheWrites | None = None
    """Moment at which a write that the cache accepts completes. Default: "back"."""

    destage: CacheDestage | None = None
    """Rule by which dirty pages are destaged (written to flash). Default: "watermark"."""

    high_mark: Share | None = None
    """Dirty share of the cache above which destaging starts. Only with destage = "watermark". Values: 0 to 1. Default:
    0.8.
    """

    low_mark: Share | None = None
    """Dirty share of the cache at which destaging stops. Only with destage = "watermark". Values: 0 to 1. Default: 0.6.
    """

    destage_window: Time | None = None
    """Length of the windows in which `first-write` detects the first write of each page. A new window begins with the
    first write after the previous window has ended. Only with destage = "first-write". Values: 0ps to 1000000s.
    Default: "1s".
    """

    destages_max: int | None = None
    """Maximum number of pages in destage. Pages that `first-write` destages at once are counted, but can exceed the
    maximum. Values: 1 to 1000000. Default: those of two programs for each plane.
    """

    destage_stripe: Bytes | None = None
    """Size of a destage stripe: dirty data that is destaged together. Destaging starts when a stripe of data is due,
    when a write waits for space, or when a flush waits. With `gc.paced`, collections make their owed moves before each
    stripe, and wait at other times unless space is nearly exhausted. If unset, pages are destaged one by one. Only with
    writes = "back". Values: 512B to 16TiB. Default: a page.
    """

    destage_limit: Bytes | None = None
    """Amount of data in destage at which writes wait. Values: 1B to 16TiB. Default: any."""

    dirty_limit: Share | None = None
    """Maximum dirty share of the cache. A write that would exceed this share waits. Values: 0 to 1. Default: 1.0."""

    stall: CacheStall | None = None
    """Commands that wait while a write waits for space, or because of `throttle-interval`. Default: "writes"."""

    throttle_interval: Time | None = None
    """Write throttling: the minimum time between two pages that writes bring into the cache while all dies collect for
    lack of space. If only some dies collect, the time is as `throttle-share` says. 0 turns throttling off. Only with
    writes = "back". Values: 0ps to 1s. Default: "0ps".
    """

    throttle_share: float | None = None
    """Share of the dies that must collect for lack of space so that writes are throttled. From this share on,
    `throttle-interval` applies in full. If unset, writes are throttled at any share, and the interval is multiplied by
    the share. Only with throttle_interval other than "0ps". Values: 0 to 1. Default: any share; the interval in
    proportion.
    """

    suspend_when_full: bool | None = None
    """Whether reads suspend programs and erases while a write waits for space. If false, dies first finish the
    operations that free space. Then a write that only `throttle-interval` delays prevents suspensions only while more
    than seven eighths of `dirty-limit` are dirty. Only with flash.suspension other than "off" or ftl.policy = "mbm".
    Default: True.
    """

    keep_destaged: bool | None = None
    """Whether a page stays in the cache, for reads, after it is on flash. Default: True."""

    keep_unwritten: bool | None = None
    """Whether a page without data (never written) is cached when it is read. Default: True."""

    flush_programs: bool | None = None
    """Whether a host flush destages dirty pages. `false` models a cache that survives a power loss: a flush completes
    when earlier writes have completed, and does not cause partly filled programs to run. Only with writes = "back".
    Default: True.
    """

    flush_at_end: bool | None = None
    """Whether all dirty pages are destaged after the last request; otherwise they are only reported. Default: False."""

    access_unit: CacheAccessUnit | None = None
    """Unit of an access to the DRAM. All pages of an access end at the same time. Default: "page"."""

    access_time: CacheAccessTime | None = None
    """Time of an access to the DRAM. Default: "rows"."""

    row_size: Bytes | None = None
    """Size of a DRAM row. Values: 64B to 1MiB. Default: "8KiB"."""

    data_rate: Rate | None = None
    """Transfer rate of DRAM once a column is open. Values: 1kB/s to unlimited. Default: "6.4GB/s"."""

    burst: Bytes | None = None
    """Smallest transfer. In every row, accesses are rounded up to multiples of this size. Values: 1B to 4KiB. Default:
    "32B".
    """

    row_to_column_delay: Time | None = None
    """Time from the opening of a row until a column can be addressed (tRCD). Values: 0ps to 1ms. Default: "13ns"."""

    column_latency: Time | None = None
    """Time from the addressing of a column to its first byte (tCL). Values: 0ps to 1ms. Default: "13ns"."""

    row_precharge: Time | None = None
    """Time to close a row (tRP). Values: 0ps to 1ms. Default: "13ns"."""

    row_policy: CacheRowPolicy | None = None
    """State of a row after an access. Only with access_time = "rows". Default: "closed"."""

    def __post_init__(self) -> None:
        """Refuses values that no configuration takes."""
        _check(self, "cache")


@suggesting
@dataclass(frozen=True, kw_only=True, slots=True)
class Precondition:
    """Preconditioning: the state of the drive before the first request."""

    kind: PreconditionKind | None = None
    """Way in which the drive was written before the run. Default: "none"."""

    fill: Share | None = None
    """Share of the logical space that was written, from the start of the space. With `kind = "aged"`, share of the
    logical space with valid data. Only with kind = "sequential" or "random" or "aged". Values: 0 to 1. Default: 1.0.
    """

    written: Share | None = None
    """Share of the pages of each plane that were programmed, in whole blocks. Capped so that no plane needs garbage
    collection yet; the default fills each plane up to this cap. Only with kind = "aged". Values: 0 to 1. Default: 1.0.
    """

    def __post_init__(self) -> None:
        """Refuses values that no configuration takes."""
        _check(self, "precondition")


@suggesting
@dataclass(frozen=True, kw_only=True, slots=True)
class Power:
    """Power of the parts of the drive, which has no effect on times, and the power cut."""

    cut: Time | None = None
    """Time of the power cut, at which the run ends ([power-loss.md](power-loss.md)). Values: 0ps to 1000000s. Default:
    never.
    """

    capacitors: bool | None = None
    """Whether capacitors power the drive until all dirty pages of the device cache, and the journal, are on flash. Only
    with cut set or persistence.policy = "journal". Default: True.
    """

    read_current: Current | None = None
    """Supply current of a die during an array read. Values: 0uA to 10A. Default: "25mA"."""

    program_current: Current | None = None
    """Supply current of a die during an array program. Values: 0uA to 10A. Default: "25mA"."""

    erase_current: Current | None = None
    """Supply current of a die during an array erase. Values: 0uA to 10A. Default: "25mA"."""

    supply_voltage: Voltage | None = None
    """Supply voltage of the dies. Values: 0mV to 100V. Default: "3.3V"."""

    channel_power: Wattage | None = None
    """Power of a channel of 8 wires with 8 chips while bytes move. The value is scaled to more wires and longer rows
    (Venice, ISCA 2023, section 6.6: a link draws 90 % less). Values: 0nW to 100W. Default: "10.8mW".
    """

    link_power: Wattage | None = None
    """Power of a link of 8 wires with a driver at either end, while bytes move. The value is scaled to more wires
    (Venice, ISCA 2023, Table 4). Values: 0nW to 100W. Default: "1.08mW".
    """

    router_power: Wattage | None = None
    """Constant power of a router of Venice (Venice, ISCA 2023, Table 4). Values: 0nW to 100W. Default: "241uW"."""

    buffered_router_power: Wattage | None = None
    """Constant power of a router of NoSSD with its buffers. No paper states this power. A drive with NoSSD draws about
    1 % more than with Venice (Venice, ISCA 2023, section 6.4): 54 mW of 5.37 W, over 64 routers. Values: 0nW to 100W.
    Default: "1.08mW".
    """

    controller_power: Wattage | None = None
    """Constant power of a flash controller. No paper states this power. Values: 0nW to 100W. Default: "0nW"."""

    def __post_init__(self) -> None:
        """Refuses values that no configuration takes."""
        _check(self, "power")


@suggesting
@dataclass(frozen=True, kw_only=True, slots=True)
class Area:
    """Area of the parts of the drive, which has no effect on times."""

    die_mm2: float | None = None
    """Area of a die in mm2: 100 for a chip of one die (Venice, ISCA 2023, section 6.6), 72 for a chip of 4 GB (Design
    for Scalability, PACT 2014, section 5.5). Values: 1 to 10000. Default: 100.0.
    """

    def __post_init__(self) -> None:
        """Refuses values that no configuration takes."""
        _check(self, "area")


@suggesting
@dataclass(frozen=True, kw_only=True, slots=True)
class Measure:
    """Measurement: warm-up, precision, epochs and recordings. None of it changes the behaviour of the drive."""

    warm_up: MeasureWarmUp | None = None
    """Event that ends the warm-up, after which the results have a separate window. Default: `steady` with
    `precondition.kind = "random"` or `precision`, if all workloads are synthetic; `none` otherwise.
    """

    warm_up_requests: int | None = None
    """Number of requests that complete during the warm-up, of all streams together. Only with warm_up = "requests".
    Values: 1 to 9223372036854775807. Default: 10000.
    """

    warm_up_time: Time | None = None
    """Duration of the warm-up. Only with warm_up = "time". Values: 1ps to 1000000s. Default: "100ms"."""

    precision: Share | None = None
    """Relative precision at which the run ends: the half-width of the 95 % confidence interval of `precision-of`, as a
    share of the figure. The figures must also be steady. The run ends at the latest after `workload.requests`. 0 turns
    the early end off. Values: 0 to 0.5. Default: 0.0.
    """

    precision_of: MeasurePrecisionOf | None = None
    """Figure that `precision` applies to. Only with precision other than 0.0. Default: "iops"."""

    epoch: Time | None = None
    """Duration of an epoch, for results over time. The duration is doubled until `epochs-max` epochs cover the run.
    Values: 1ps to 1000000s. Default: no results over time.
    """

    epochs_max: int | None = None
    """Maximum number of epochs. Beyond this number, epochs are merged in pairs. Only with epoch set. Values: 2 to
    65536. Default: 512.
    """

    collisions: bool | None = None
    """Whether read collisions are analysed ([read-collisions.md](read-collisions.md)). Default: False."""

    collision_interval: Time | None = None
    """Time between two observations of the outstanding reads. Only with collisions = True. Values: 1ns to 1s. Default:
    "10us".
    """

    collision_pairs: int | None = None
    """Maximum number of collision pairs that are kept, about 24 B each. Of more pairs, a uniform sample is kept. Only
    with collisions = True. Values: 1 to 1073741824. Default: 4194304.
    """

    chip_states: bool | None = None
    """Whether the time of the chips is broken down into transfers, array operations, both at once, and idle time.
    Default: False.
    """

    network: bool | None = None
    """Whether transfers, the links they hold and the scouts of Venice are recorded, for the animation of the network in
    a report. Default: False.
    """

    network_events_max: int | None = None
    """Maximum number of transfers, link uses and scout steps in the recording of the network. The recording ends when
    this number is reached. Only with network = True. Values: 1 to 10000000. Default: 5000.
    """

    timeline_events_max: int | None = None
    """Maximum number of slices and counter values in a timeline (`--timeline`). The timeline ends when this number is
    reached. Values: 1 to 1000000000. Default: 1000000.
    """

    window_start: Time | None = None
    """Start of the recording of the network and of the timeline, in simulated time. Values: 0ps to 1000000s. Default:
    "0ps".
    """

    window_length: Time | None = None
    """Duration of the recording of the network and of the timeline. Values: 1ps to 1000000s. Default: to the end of the
    run.
    """

    def __post_init__(self) -> None:
        """Refuses values that no configuration takes."""
        _check(self, "measure")


@suggesting
@dataclass(frozen=True, kw_only=True, slots=True)
class Workload:
    """Workload: the source of requests, their kinds, sizes, addresses and arrivals."""

    kind: WorkloadKind | None = None
    """Source of requests. Default: "synthetic"."""

    profile: str | None = None
    """Name of the profile or mix; `flashmesh profiles` lists them. A custom mix is written `src2_1 + 2*proj_3 +
    hm_0@50us`: profiles with a factor on their published arrival rate, or with a mean time between arrivals. Default:
    no profile.
    """

    trace: str | os.PathLike[str] | None = None
    """Path of the trace file, relative to the configuration file. Default: no trace."""

    fitted: str | os.PathLike[str] | None = None
    """Path of the profile that `flashmesh trace profile` fitted to a trace, relative to the configuration file.
    Default: no fitted profile.
    """

    format: WorkloadFormat | None = None
    """Format of the trace file. Only with kind = "trace". Default: "auto"."""

    time_unit: WorkloadTimeUnit | None = None
    """Unit of time stamps in the ASCII family; other formats have a fixed unit. An open replay of the ASCII family
    requires the key, because such a file does not state its unit. Only with kind = "trace". Default: ns.
    """

    address_unit: WorkloadAddressUnit | None = None
    """Unit of offsets and sizes in the ASCII family. Only with kind = "trace", and with format = "auto" or "ascii".
    Default: "sectors".
    """

    polarity: WorkloadPolarity | None = None
    """Meaning of the type field in the ASCII family. Only with kind = "trace". Default: "read-is-1"."""

    blkparse_event: WorkloadBlkparseEvent | None = None
    """Event of a blkparse log that counts as the request. A request without this event in the log is left out. Only
    with kind = "trace", and with format = "auto" or "blkparse". Default: "issue".
    """

    iolog_wait: WorkloadIologWait | None = None
    """Meaning of the number in a `wait` of a fio iolog of version 2, in which fio's manual and fio differ. Version 3
    has time stamps instead. Only with kind = "trace", and with format = "auto" or "fio-iolog". Default:
    "after-previous-us".
    """

    beyond: WorkloadBeyond | None = None
    """Treatment of trace requests that end beyond the drive. With `wrap`, a fitted profile whose addresses exceed the
    drive is compressed onto it. Only with kind = "trace" or "fitted". Default: "reject".
    """

    sort: bool | None = None
    """Whether any number of lines out of order is accepted, if the sorting window can sort them. The report counts such
    lines. Only with kind = "trace". Default: False.
    """

    flushes: bool | None = None
    """Whether flushes of a fio iolog or a blkparse log are requests; otherwise they are ignored. Only with kind =
    "trace". Default: False.
    """

    tolerate: Share | None = None
    """Share of lines of a trace that may be unusable; above this share the run is refused. The option `--tolerate` sets
    1. Values: 0 to 1. Default: 0.01.
    """

    requests: int | None = None
    """Number of requests to issue. Values: 1 to 1000000000000. Default: all of a trace, and as many of a fitted
    profile; 100,000 of a synthetic workload or a profile, fewer where the published trace has fewer.
    """

    pattern: WorkloadPattern | None = None
    """Address pattern. Only with kind = "synthetic" or "job". Default: "random"."""

    read_share: Share | None = None
    """Share of the requests that are reads. Only with kind = "synthetic" or "job". Values: 0 to 1. Default: 1.0."""

    deallocate_share: Share | None = None
    """Share of the requests that are deallocations; taken from the writes. Only with kind = "synthetic" or "job".
    Values: 0 to 1. Default: 0.0.
    """

    flush_share: Share | None = None
    """Share of the requests that are flushes; taken from the writes. Only with kind = "synthetic". Values: 0 to 1.
    Default: 0.0.
    """

    write_zeroes_share: Share | None = None
    """Share of the requests that write zeroes; taken from the writes. Only with kind = "synthetic". Values: 0 to 1.
    Default: 0.0.
    """

    request_size: Sizes | None = None
    """Size of the requests, or sizes with weights. Only with kind = "synthetic" or "job". Values: 512B to 64MiB.
    Default: "4KiB".
    """

    alignment: Bytes | None = None
    """Block size of the footprint: requests begin at multiples of this. Only with kind = "synthetic" or "job" or
    "profile". Values: 512B to 1024TiB. Default: the smallest request size; what a profile assumes.
    """

    unaligned_share: Share | None = None
    """Share of the requests that begin at a random sector of their block of `alignment`, not at its start. Only with
    kind = "profile". Values: 0 to 1. Default: 0.0.
    """

    footprint_start: Bytes | None = None
    """Offset of the start of the footprint. Only with kind = "synthetic" or "job" or "profile". Values: 0B to 1024TiB.
    Default: "0B".
    """

    footprint: Bytes | None = None
    """Size of the footprint: the range of the drive that requests address. Only with kind = "synthetic" or "job" or
    "profile". Values: 512B to 1024TiB. Default: all of the drive; what a profile assumes.
    """

    mix_placement: WorkloadMixPlacement | None = None
    """Placement of the members of a mix on the drive. Only with kind = "profile". Default: "apart"."""

    zipf_theta: float | None = None
    """Skew of the Zipf pattern; 0 is uniform. Only with kind = "synthetic" or "job", and with pattern = "zipf". Values:
    0 to 5. Default: 0.99.
    """

    hot_footprint: Share | None = None
    """Share of the footprint that is hot. Only with kind = "synthetic", and with pattern = "hot-cold". Values: 0 to 1.
    Default: 0.2.
    """

    hot_stride: int | None = None
    """Distance from one hot block to the next, in blocks: with 8, one block in 8 is hot. With static allocation in the
    order CWDP, blocks of one page and a stride equal to the number of channels, the hot blocks are those of one row of
    chips. Only with kind = "synthetic", and with pattern = "hot-stride". Values: 2 to 1000000. Default: 8.
    """

    hot_traffic: Share | None = None
    """Share of the requests that address hot blocks. Only with kind = "synthetic", and with pattern = "hot-cold" or
    "hot-stride". Values: 0 to 1. Default: 0.8.
    """

    zones: str | None = None
    """Zones of the footprint, in order from its start. Each zone is written as its percentage of the requests, a slash,
    and its percentage of the footprint: `50/5:30/15:20/80`. Only with kind = "synthetic" or "job", and with pattern =
    "zoned". Default: no zones.
    """

    pareto_share: float | None = None
    """Share h of the footprint that receives a share 1 - h of the requests: 0.2 is the 80/20 rule. Only with kind =
    "synthetic" or "job", and with pattern = "pareto". Values: 0.001 to 0.999. Default: 0.2.
    """

    normal_deviation: Share | None = None
    """Width of the uniform deviation from the mean of twelve uniform draws, as a share of the footprint. Only with kind
    = "synthetic" or "job", and with pattern = "normal". Values: 0 to 1. Default: 0.0.
    """

    write_size: Sizes | None = None
    """Sizes of the writes of a job, if they differ from those of its reads. Only with kind = "job". Values: 512B to
    64MiB. Default: as `request-size`.
    """

    deallocate_size: Sizes | None = None
    """Sizes of the deallocations of a job, if they differ from those of its reads. Only with kind = "job". Values: 512B
    to 64MiB. Default: as `request-size`.
    """

    random_map: bool | None = None
    """Whether random requests of a job cover every block of the footprint once per pass before any block is covered
    again. Only with kind = "job", and with pattern = "random". Default: False.
    """

    pass_size: Bytes | None = None
    """Bytes of one pass of a job over its files. If unset, positions and the random map restart when they reach their
    end. Only with kind = "job". Values: 512B to 1024TiB. Default: no passes: `requests` or the stop time ends the job.
    """

    passes: int | None = None
    """Number of passes of a job. Only with kind = "job", and with pass_size set. Values: 1 to 1000000000000. Default:
    1.
    """

    same_passes: bool | None = None
    """Whether every pass of a job repeats the requests of the first one. Only with kind = "job", and with pass_size
    set. Default: False.
    """

    files: int | None = None
    """Number of files of a job: equal parts of the footprint, each with its own positions. Only with kind = "job".
    Values: 1 to 65536. Default: 1.
    """

    file_order: WorkloadFileOrder | None = None
    """Rule that selects the file of the next request. Only with kind = "job". Default: "round-robin"."""

    file_run: int | None = None
    """Requests to a file before the next file is selected. Only with kind = "job", and with file_order = "round-robin"
    or "random". Values: 1 to 1000000000. Default: 1.
    """

    file_weights: str | None = None
    """Weights of the files of a job for the random order, a colon between two: `5:3:2`. Only with kind = "job", and
    with file_order = "random". Default: equal weights.
    """

    flush_every: int | None = None
    """Writes of a job from one flush to the next. Flushes are in addition to its requests. As in fio, a mix flushes
    again after each read until its next write. Only with kind = "job". Values: 1 to 1000000000. Default: no flushes.
    """

    flush_last: bool | None = None
    """Whether a flush of each file follows each pass of a job. The flushes of a pass that the stop time ends are left
    out. Only with kind = "job". Default: False.
    """

    deallocate_first: bool | None = None
    """Whether a job deallocates each range before writing that range. The shares of kinds are then ignored. Only with
    kind = "job". Default: False.
    """

    run_length: int | None = None
    """Requests of a random job from one random draw of an address to the next. Only with kind = "job". Values: 1 to
    1000000000. Default: 1.
    """

    run_kind: WorkloadRunKind | None = None
    """Address of the requests between two draws. Only with kind = "job". Default: "sequential"."""

    random_share: Share | None = None
    """Share of the draws of a random job that are random; the others continue after the last request of their
    direction. Only with kind = "job". Values: 0 to 1. Default: 1.0.
    """

    write_random_share: float | None = None
    """Share of the draws of the writes of a random job that are random, if it differs from that of the reads. Only with
    kind = "job". Values: 0 to 1. Default: as `random-share`.
    """

    skip: Bytes | None = None
    """Bytes that a sequential job skips after each request. Only with kind = "job". Values: 0B to 1024TiB. Default:
    "0B".
    """

    skip_after: Bytes | None = None
    """Bytes that a sequential job covers before it skips `skip` bytes. Only with kind = "job". Values: 512B to 1024TiB.
    Default: one request.
    """

    skip_back: bool | None = None
    """Whether `skip` goes towards the start of the file. Only with kind = "job". Default: False."""

    arrivals: WorkloadArrivals | None = None
    """Arrival process; only open replay uses it. Only with kind = "synthetic" or "job" or "profile". Default:
    exponential; what a profile assumes.
    """

    interarrival: Time | None = None
    """Mean time between arrivals; for a mix, between the arrivals of all members together. Only with kind = "synthetic"
    or "job" or "profile". Values: 0ps to 1000s. Default: 10us; what is published of a profile or a mix.
    """

    burst_length: int | None = None
    """Requests in a burst. Only with kind = "synthetic" or "profile", and with arrivals = "burst". Values: 1 to
    1000000. Default: 1; what a profile assumes.
    """

    pair_repetition: float | None = None
    """Mean number of times that a pair of pages is read together, including the first. Above 1, bursts of a profile
    recur at the same addresses. Only with kind = "profile". Values: 1 to 100000. Default: what is published of a
    profile; 1 where nothing is.
    """

    burst_kinds: WorkloadBurstKinds | None = None
    """Whether all requests of a burst have the same kind. If so, a burst recurs with its kind. Only with kind =
    "profile". Default: "mixed".
    """

    def __post_init__(self) -> None:
        """Refuses values that no configuration takes."""
        _check(self, "workload")


@suggesting
@dataclass(frozen=True, kw_only=True, slots=True)
class Replay:
    """Replay of the workload: when its requests are issued."""

    mode: ReplayMode | None = None
    """Rule by which requests are issued. A trace replays `open` unless the mode, `outstanding`, `threads` or
    `think-time` is set. Default: "stress".
    """

    time_scale: float | None = None
    """Factor on all arrival times; 0.5 doubles the arrival rate. Only with mode = "open". Values: 0.000001 to 1000000.
    Default: 1.0.
    """

    spread_ties: bool | None = None
    """Whether requests of a trace that share a time stamp are spread evenly up to the next time stamp. Otherwise a
    clock with a resolution of a second turns every second into a burst. Only with mode = "open". Default: False.
    """

    latency_start: ReplayLatencyStart | None = None
    """Start of the latency of a request: its arrival or its issue. Only with mode = "open". Default: "arrival"."""

    outstanding: int | None = None
    """Requests in flight at any time. Only with mode = "stress". Values: 1 to 65535. Default: 64."""

    outstanding_max: int | None = None
    """Maximum number of requests in flight. Later requests wait at the host. Only with mode = "open". Values: 1 to
    65535. Default: `host.queue-depth`.
    """

    threads: int | None = None
    """Independent threads, each with one request at a time. Only with mode = "closed". Values: 1 to 65535. Default: 1.
    """

    think_time: Time | None = None
    """Time from a completion to the next request of the thread. Only with mode = "closed". Values: 0ps to 1000s.
    Default: "0ps".
    """

    start_time: Time | None = None
    """Time added to all arrivals of the workload, before `time-scale` multiplies them. Only with mode = "open". Values:
    0ps to 9223372036854775.807ns. Default: "0ps".
    """

    think_every: int | None = None
    """Requests of a thread between two think times. Only with mode = "closed". Values: 1 to 1000000000. Default: 1."""

    phase: int | None = None
    """Phase of the stream. A phase starts when the streams of all earlier phases have ended. Values: 0 to 255. Default:
    0.
    """

    start_delay: Time | None = None
    """Time from the start of the phase to the start of the stream. Values: 0ps to 1000s. Default: "0ps"."""

    ramp_time: Time | None = None
    """Initial period of the stream. Requests that complete in it do not count in the results of the stream, but in
    those of the whole run, and of the measured window (`measure.warm-up`) if they complete in it. Values: 0ps to 1000s.
    Default: "0ps".
    """

    stop_time: Time | None = None
    """Time from the start of the stream after which no request arrives. Requests that have arrived are still served.
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
    """Name of the namespace that the requests address. Offsets of the workload are relative to the start of the
    namespace. Default: the first namespace.
    """

    caching: QueueCaching | None = None
    """Requests of the stream that the device cache serves, if the drive has one. Only with cache.capacity other than
    "0B". Default: "all".
    """

    def __post_init__(self) -> None:
        """Refuses values that no configuration takes."""
        _check(self, "queue")


@suggesting
@dataclass(frozen=True, kw_only=True, slots=True)
class Namespace:
    """A namespace: a part of the space that the host sees. Namespaces follow one another in the order of the text."""

    capacity: Bytes | None = None
    """Capacity, rounded down to whole pages. Values: 512B to 1024TiB. Default: an equal share of what the other
    namespaces leave.
    """

    channels: Indices | None = None
    """Channels that hold the pages of the namespace. Values: 0 to 1023. Default: all."""

    ways: Indices | None = None
    """Chips of each channel that hold the pages of the namespace. Values: 0 to 1023. Default: all."""

    dies: Indices | None = None
    """Dies of each chip that hold the pages of the namespace. Values: 0 to 63. Default: all."""

    planes: Indices | None = None
    """Planes of each die that hold the pages of the namespace. Values: 0 to 7. Default: all."""

    def __post_init__(self) -> None:
        """Refuses values that no configuration takes."""
        _check(self, "namespace.NAME")


@suggesting
@dataclass(frozen=True, kw_only=True, slots=True)
class Stream:
    """One of several workloads that run at once; what is None has the value above all streams."""

    workload: Workload = Workload()
    """Workload: the source of requests, their kinds, sizes, addresses and arrivals."""

    replay: Replay = Replay()
    """Replay of the workload: when its requests are issued."""

    queue: Queue = Queue()
    """The queue pair of a stream."""


@suggesting
@dataclass(frozen=True, kw_only=True, slots=True)
class Config:
    """Everything that decides a run; what is None has the value of the preset."""

    preset: Preset | None = None
    """The drive that the configuration starts from."""

    seed: int | None = None
    """Seed of all random choices of a run. Values: 0 to 9223372036854775807. Default: 0."""

    geometry: Geometry = Geometry()
    """The flash array: channels, chips, dies, planes, blocks and pages."""

    flash: Flash = Flash()
    """Latencies and features of the flash chips."""

    fabric: Fabric = Fabric()
    """The network between controllers and chips."""

    packets: Packets = Packets()
    """The packets of pSSD and pnSSD, whose chips have a controller on the die."""

    pnssd: Pnssd = Pnssd()
    """The horizontal and vertical channels of pnSSD, and their controllers."""

    nossd: Nossd = Nossd()
    """NoSSD, a packet-switched network between the chips."""

    venice: Venice = Venice()
    """Venice, a mesh of routers in which scouts reserve circuits."""

    schedule: Schedule = Schedule()
    """Scheduling of the transactions that wait for a die. `flash.suspension` sets which operations reads suspend."""

    ftl: Ftl = Ftl()
    """The flash translation layer: mapping and allocation of pages."""

    mapping: Mapping = Mapping()
    """The mapping cache, for a mapping table that does not fit into DRAM (DFTL, ASPLOS 2009)."""

    persistence: Persistence = Persistence()
    """Persistence of the mapping table across a power cut ([power-loss.md](power-loss.md))."""

    mbm: Mbm = Mbm()
    """The parts of MBM (Maximizing Bandwidth Management FTL), each with its own switch."""

    superblock: Superblock = Superblock()
    """Superblocks over the planes of several dies."""

    slc: Slc = Slc()
    """The SLC cache: blocks with one bit per cell that take host writes ([slc-cache.md](slc-cache.md))."""

    gc: Gc = Gc()
    """Garbage collection."""

    policy: Policy = Policy()
    """Policies in Python that replace built-in ones ([how-to](how-to/policies-in-python.md))."""

    wear: Wear = Wear()
    """Wear levelling."""

    replication: Replication = Replication()
    """Replication, on other dies, of pages that repeatedly collide with other pages."""

    host: Host = Host()
    """The queues and the link of the host."""

    nvme: Nvme = Nvme()
    """The controller of `host.interface = "nvme"`."""

    sata: Sata = Sata()
    """The adapter and the queue of `host.interface = "sata"`."""

    firmware: Firmware = Firmware()
    """The processor cores of the controller, and their time for commands ([firmware-time.md](firmware-time.md))."""

    cache: Cache = Cache()
    """The cache in the DRAM of the drive."""

    precondition: Precondition = Precondition()
    """Preconditioning: the state of the drive before the first request."""

    power: Power = Power()
    """Power of the parts of the drive, which has no effect on times, and the power cut."""

    area: Area = Area()
    """Area of the parts of the drive, which has no effect on times."""

    measure: Measure = Measure()
    """Measurement: warm-up, precision, epochs and recordings. None of it changes the behaviour of the drive."""

    workload: Workload = Workload()
    """Workload: the source of requests, their kinds, sizes, addresses and arrivals."""

    replay: Replay = Replay()
    """Replay of the workload: when its requests are issued."""

    queue: Queue = Queue()
    """The queue pair of a stream."""

    stream: AnyMapping[str, Stream] | None = None
    """Several workloads at once by their names; they start from `workload`, `replay` and `queue`."""

    namespace: AnyMapping[str, Namespace] | None = None
    """By their names. A namespace: a part of the space that the host sees. Namespaces follow one another in the order
    of the text.
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
