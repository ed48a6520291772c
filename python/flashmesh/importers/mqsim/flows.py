"""The workloads: a scenario of workload.xml, its flows as streams."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass
from itertools import product
from typing import TYPE_CHECKING

from flashmesh._native import ConfigError
from flashmesh.importers.mqsim.device import SECTOR
from flashmesh.importers.mqsim.ledger import Section
from flashmesh.importers.mqsim.tags import SYNTHETIC, TRACE
from flashmesh.importers.toml_text import nanoseconds, size

if TYPE_CHECKING:
    from pathlib import Path

    from flashmesh.importers.mqsim.device import Drive
    from flashmesh.importers.mqsim.document import Element
    from flashmesh.importers.mqsim.ledger import Ledger
    from flashmesh.importers.problems import Source
    from flashmesh.importers.toml_text import Value

KINDS = {"IO_Flow_Parameter_Set_Synthetic": SYNTHETIC, "IO_Flow_Parameter_Set_Trace_Based": TRACE}
FLOWS_MAX = 8
"""MQSim has registers for as many queues."""
CACHING = {"TURNED_OFF": "none", "WRITE_CACHE": "writes", "READ_CACHE": "reads", "WRITE_READ_CACHE": "all"}
UNITS = {"PICOSECOND": "ps", "NANOSECOND": "ns", "MICROSECOND": "us"}
SIZES_MAX = 1024
"""Sizes that one distribution may have."""


@dataclass(frozen=True, slots=True)
class Part:
    """The planes that a flow uses, by their numbers on each level."""

    channels: tuple[int, ...]
    ways: tuple[int, ...]
    dies: tuple[int, ...]
    planes: tuple[int, ...]

    @staticmethod
    def of(section: Section, drive: Drive) -> Part:
        """What a flow lists.

        Raises:
            ConfigError: When it lists what the drive does not have.
        """
        levels = {
            "Channel_IDs": (drive.channels, "channels", "Flash_Channel_Count"),
            "Chip_IDs": (drive.chips, "chips a channel", "Chip_No_Per_Channel"),
            "Die_IDs": (drive.dies, "dies a chip", "Die_No_Per_Chip"),
            "Plane_IDs": (drive.planes, "planes a die", "Plane_No_Per_Die"),
        }
        found = []
        for tag, (count, what, of) in levels.items():
            numbers = section.indices(tag)
            if numbers[-1] >= count:
                raise section.problem(
                    tag, f"<{tag}> names {numbers[-1]}, but there are {count} {what}", f"numbers begin at 0; see <{of}>"
                )
            found.append(numbers)
        return Part(*found)

    def is_all(self, drive: Drive) -> bool:
        """Whether these are all planes of the drive."""
        return self.planes_in_it() == drive.channels * drive.chips * drive.dies * drive.planes

    def planes_in_it(self) -> int:
        """How many planes it has."""
        return len(self.channels) * len(self.ways) * len(self.dies) * len(self.planes)


def sectors_of(parts: list[Part], drive: Drive) -> list[int]:
    """The space of each flow, in sectors: of every plane it uses an equal share among those who use it."""
    # Channels that the same flows use are alike, and so on down: what counts is how many there are of each kind.
    levels = (
        ([part.channels for part in parts], drive.channels),
        ([part.ways for part in parts], drive.chips),
        ([part.dies for part in parts], drive.dies),
        ([part.planes for part in parts], drive.planes),
    )
    kinds = [
        Counter(frozenset(at for at, used in enumerate(numbers) if number in used) for number in range(count))
        for numbers, count in levels
    ]
    totals = [0] * len(parts)
    for found in product(*(kind.items() for kind in kinds)):
        users = frozenset.intersection(*(flows for flows, _ in found))
        planes = math.prod(count for _, count in found)
        for at in users:
            totals[at] += int(drive.plane_sectors / len(users)) * planes
    return totals


class ScenarioTranslation:
    """Translates one scenario."""

    def __init__(self, ledger: Ledger, source: Source, scenario: Element, drive: Drive, folders: list[Path]) -> None:
        """Sorts the tags of all flows.

        Args:
            ledger: Where everything is kept.
            source: The file.
            scenario: The scenario.
            drive: The drive it runs on.
            folders: Where relative paths of traces are looked up, in this order.

        Raises:
            ConfigError: When it has no flow, too many, or what is none.
        """
        self.ledger = ledger
        self.drive = drive
        self.folders = folders
        for child in scenario.children:
            if child.name not in KINDS:
                names = " or ".join(f"<{name}>" for name in KINDS)
                raise source.problem(child.line, f"<{child.name}> is no flow: expected {names}", mark=child.name)
        if not 1 <= len(scenario.children) <= FLOWS_MAX:
            raise source.problem(
                scenario.line, f"a scenario has 1 to {FLOWS_MAX} flows, this one has {len(scenario.children)}"
            )
        self.flows = [Section(ledger, source, child, KINDS[child.name]) for child in scenario.children]

    def translate(self) -> bool:
        """Sets every key of the streams; gives whether any uses the cache.

        Raises:
            ConfigError: When a tag says what cannot be.
        """
        drive = self.drive
        parts = [Part.of(flow, drive) for flow in self.flows]
        if drive.is_sata:
            counts = (drive.channels, drive.chips, drive.dies, drive.planes)
            parts = [Part(*(tuple(range(count)) for count in counts))] * len(parts)
        sectors = sectors_of(parts, drive)
        whole = len(parts) == 1 and parts[0].is_all(drive)
        capacity = size(sum(sectors) * SECTOR)
        drive.device.set(
            "geometry.capacity",
            None,
            "Overprovisioning_Ratio",
            compatible=capacity,
            physical=None if whole else capacity,
            reason="MQSim rounds the space of every plane down",
        )
        if whole:
            drive.device.set(
                "geometry.over-provisioning",
                None,
                "Overprovisioning_Ratio",
                physical=float(drive.device.number("Overprovisioning_Ratio")),
                reason="MQSim rounds the space of every plane down",
            )
        self.precondition(sectors)
        for number, (flow, part, space) in enumerate(zip(self.flows, parts, sectors, strict=True), 1):
            prefix = f"stream.flow-{number}." if len(self.flows) > 1 else ""
            Flow(self, flow, prefix, space).translate()
            self.namespace(flow, f"flow-{number}", prefix, part, space, whole)
        return any(flow.word("Device_Level_Data_Caching_Mode") != "TURNED_OFF" for flow in self.flows)

    def precondition(self, sectors: list[int]) -> None:
        """How much of the drive was written before."""
        device = self.drive.device
        if not device.flag("Enabled_Preconditioning"):
            device.set("precondition.kind", "none", "Enabled_Preconditioning")
            for flow in self.flows:
                flow.unused("Initial_Occupancy_Percentage", "the drive is not preconditioned")
            return
        written = sum(
            flow.whole("Initial_Occupancy_Percentage") * space for flow, space in zip(self.flows, sectors, strict=True)
        )
        device.set("precondition.kind", "random", "Enabled_Preconditioning")
        device.set("precondition.fill", round(written / sum(sectors) / 100, 9))
        for flow in self.flows:
            flow.fates["Initial_Occupancy_Percentage"].keys.append("precondition.fill")
        if len({flow.whole("Initial_Occupancy_Percentage") for flow in self.flows}) > 1:
            self.ledger.warn("Initial_Occupancy_Percentage differs between flows: the mean of their space is taken")

    def namespace(self, flow: Section, name: str, prefix: str, part: Part, sectors: int, whole: bool) -> None:
        """The planes and the space of a flow."""
        drive = self.drive
        levels = {
            "Channel_IDs": ("channels", part.channels, drive.channels),
            "Chip_IDs": ("ways", part.ways, drive.chips),
            "Die_IDs": ("dies", part.dies, drive.dies),
            "Plane_IDs": ("planes", part.planes, drive.planes),
        }
        for tag, (key, numbers, count) in levels.items():
            if drive.is_sata:
                flow.unused(tag, "behind SATA all flows use all planes")
            elif len(numbers) == count:
                flow.unused(tag, "all there are")
            else:
                flow.set(f"namespace.{name}.{key}", ",".join(map(str, numbers)), tag)
        if not whole:
            flow.set(f"namespace.{name}.capacity", size(sectors * SECTOR))
            flow.set(f"{prefix}queue.namespace", name)


class Flow:
    """Translates one flow."""

    def __init__(self, scenario: ScenarioTranslation, flow: Section, prefix: str, sectors: int) -> None:
        """Prepares to translate `flow`, whose keys begin with `prefix`, on a space of so many sectors."""
        self.scenario = scenario
        self.ledger = scenario.ledger
        self.flow = flow
        self.prefix = prefix
        self.sectors = sectors

    def set(self, key: str, value: Value | None = None, *tags: str, **modes: Value | None) -> None:
        """Sets a key of the stream."""
        reason = modes.pop("reason", "")
        self.flow.set(f"{self.prefix}{key}", value, *tags, reason=str(reason), **modes)

    def translate(self) -> None:
        """Sets the keys of the stream.

        Raises:
            ConfigError: When a tag says what cannot be.
        """
        flow = self.flow
        self.set("queue.priority", flow.word("Priority_Class").lower(), "Priority_Class")
        if not self.scenario.drive.priorities:
            flow.fates["Priority_Class"].reason = "without effect: the scheduler does not look at it"
        caching = CACHING[flow.word("Device_Level_Data_Caching_Mode")]
        self.set("queue.caching", caching, "Device_Level_Data_Caching_Mode")
        if "File_Path" in flow.tags:
            self.trace()
        else:
            self.kinds_and_sizes()
            self.addresses()
            self.arrivals()
            self.end()
            flow.unused("Seed", "the random numbers of every stream grow from the seed of the drive")

    def kinds_and_sizes(self) -> None:
        """What a request asks."""
        flow = self.flow
        self.set("workload.kind", "synthetic")
        self.set("workload.read-share", flow.whole("Read_Percentage") / 100, "Read_Percentage")
        mean = flow.whole("Average_Request_Size")
        if flow.word("Request_Size_Distribution") == "FIXED":
            flow.unused("Variance_Request_Size", "all requests are of one size")
            self.set("workload.request-size", size(mean * SECTOR), "Average_Request_Size", "Request_Size_Distribution")
            return
        tags = ("Average_Request_Size", "Request_Size_Distribution", "Variance_Request_Size")
        sizes = normal_sizes(mean, flow.whole("Variance_Request_Size"))
        self.set("workload.request-size", [[size(count * SECTOR), weight] for count, weight in sizes], *tags)

    def addresses(self) -> None:
        """Where requests go."""
        flow = self.flow
        unit = flow.whole("Address_Alignment_Unit") if flow.flag("Generated_Aligned_Addresses") else 1
        self.set("workload.alignment", size(unit * SECTOR), "Generated_Aligned_Addresses", "Address_Alignment_Unit")
        percent = flow.whole("Working_Set_Percentage")
        if not 1 <= percent <= 100:
            self.ledger.warn(f"Working_Set_Percentage {percent} acts as 100 in MQSim, and here")
            percent = 100
        footprint = (self.sectors - 1) * percent // 100 + 1
        self.set("workload.footprint", size(footprint * SECTOR), "Working_Set_Percentage")
        pattern = flow.word("Address_Distribution")
        hot = flow.whole("Percentage_of_Hot_Region") if pattern == "RANDOM_HOTCOLD" else 0
        if pattern == "RANDOM_HOTCOLD":
            self.set("workload.pattern", "hot-cold", "Address_Distribution")
            self.set("workload.hot-footprint", hot / 100, "Percentage_of_Hot_Region")
            self.set("workload.hot-traffic", (100 - hot) / 100, "Percentage_of_Hot_Region")
            return
        flow.unused("Percentage_of_Hot_Region", "no address is hot")
        self.set("workload.pattern", "sequential" if pattern == "STREAMING" else "random", "Address_Distribution")

    def arrivals(self) -> None:
        """When requests come."""
        flow = self.flow
        if flow.word("Synthetic_Generator_Type") == "QUEUE_DEPTH":
            self.set("replay.mode", "stress", "Synthetic_Generator_Type")
            outstanding = flow.whole("Average_No_of_Reqs_in_Queue")
            self.set("replay.outstanding", outstanding, "Average_No_of_Reqs_in_Queue")
            flow.unused("Bandwidth", "a new request comes when one completes")
            return
        flow.unused("Average_No_of_Reqs_in_Queue", "requests arrive at times of their own")
        self.set("replay.mode", "open", "Synthetic_Generator_Type")
        self.set("workload.arrivals", "exponential", "Synthetic_Generator_Type")
        bandwidth, mean = flow.whole("Bandwidth"), flow.whole("Average_Request_Size")
        per_second = bandwidth // SECTOR // mean
        if per_second == 0:
            raise flow.problem(
                "Bandwidth", f"<Bandwidth> {bandwidth} B/s is less than one request of {mean} sectors in a second"
            )
        exact_ps = round(mean * SECTOR * 10**12 / bandwidth)
        compatible, physical = nanoseconds(10**9 // per_second), picoseconds(exact_ps)
        if compatible == physical:
            self.set("workload.interarrival", physical, "Bandwidth", "Average_Request_Size")
        else:
            self.set(
                "workload.interarrival",
                None,
                "Bandwidth",
                "Average_Request_Size",
                compatible=compatible,
                physical=physical,
                reason="MQSim divides whole numbers",
            )

    def end(self) -> None:
        """When the flow ends."""
        flow = self.flow
        stop, requests = flow.whole("Stop_Time"), flow.whole("Total_Requests_To_Generate")
        if stop > 0:
            flow.unused("Total_Requests_To_Generate", "Stop_Time ends the flow")
            self.set("replay.stop-time", nanoseconds(stop), "Stop_Time")
            self.set("workload.requests", 10**12)
            return
        if requests == 0:
            raise flow.problem(
                "Total_Requests_To_Generate",
                "<Total_Requests_To_Generate> and <Stop_Time> are both 0: the flow has no request",
                "set one of them",
            )
        flow.unused("Stop_Time", "0: the number of requests ends the flow")
        self.set("workload.requests", requests, "Total_Requests_To_Generate")

    def trace(self) -> None:
        """A trace file."""
        flow = self.flow
        named = flow.word("File_Path")
        path = self.found(named)
        self.set("workload.kind", "trace")
        self.set("workload.trace", str(path), "File_Path")
        self.set("workload.format", "ascii")
        self.set("workload.polarity", "read-is-1")
        unit = UNITS[flow.word("Time_Unit")]
        self.set(
            "workload.time-unit",
            None,
            "Time_Unit",
            compatible="ns",
            physical=unit,
            reason="MQSim takes all stamps for nanoseconds",
        )
        if unit != "ns":
            self.ledger.warn(f"Time_Unit {flow.word('Time_Unit')}: MQSim takes all stamps for nanoseconds")
        self.set("workload.beyond", "wrap")
        self.set("replay.mode", "open")
        if flow.whole("Relay_Count") != 1:
            raise flow.problem(
                "Relay_Count",
                f"<Relay_Count> {flow.whole('Relay_Count')}: a trace is replayed once",
                "set it to 1, and lengthen the trace where more is needed",
            )
        flow.unused("Relay_Count", "1: the trace is replayed once")
        percent = flow.whole("Percentage_To_Be_Executed")
        if percent == 100:
            flow.unused("Percentage_To_Be_Executed", "100: all of the trace")
        else:
            if not path.is_file():
                raise flow.problem("File_Path", f"`{path}` is needed to know what {percent} % of it are")
            self.set("workload.requests", max(lines_of(path) * percent // 100, 1), "Percentage_To_Be_Executed")

    def found(self, named: str) -> Path:
        """A trace by the path that the file names."""
        candidates = [folder / named for folder in self.scenario.folders]
        for candidate in candidates:
            if candidate.is_file():
                return candidate.resolve()
        looked = " and ".join(str(candidate) for candidate in candidates)
        self.ledger.warn(f"the trace `{named}` was not found: looked for {looked}")
        return candidates[0].resolve()


def lines_of(path: Path) -> int:
    """Lines of a trace that are not blank.

    Raises:
        ConfigError: When it cannot be read.
    """
    try:
        with path.open("rb") as file:
            return sum(1 for line in file if line.strip())
    except OSError as error:
        raise ConfigError(f"{path}: cannot be read: {error.strerror}") from error


def picoseconds(count: int) -> str:
    """A time."""
    return nanoseconds(count // 1000) if count % 1000 == 0 else f"{count}ps"


def normal_sizes(mean: int, deviation: int) -> list[tuple[int, float]]:
    """The sizes, in sectors, that a normal distribution rounded up gives, each with its probability.

    What is called a variance is used as the standard deviation. Sizes below one sector count as one.
    """
    if deviation == 0:
        return [(mean, 1.0)]

    def below(value: float) -> float:
        return (1 + math.erf((value - mean) / (deviation * math.sqrt(2)))) / 2

    first, last = max(1, mean - 4 * deviation), mean + 4 * deviation
    step = max(1, -(-(last - first + 1) // SIZES_MAX))
    sizes = []
    low = -math.inf
    for count in range(first, last + 1, step):
        high = math.inf if count + step > last else float(count + (step - 1) // 2)
        weight = round(below(high) - (0.0 if low == -math.inf else below(low)), 12)
        if weight > 0:
            sizes.append((count, weight))
        low = high
    return sizes
