"""Translation of a scenario of workload.xml: its flows, and the part of the drive that each flow uses."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass
from itertools import product
from typing import TYPE_CHECKING

from flashmesh.importers.mqsim.flows import Flow
from flashmesh.importers.mqsim.ledger import Section
from flashmesh.importers.mqsim.requests import Space
from flashmesh.importers.mqsim.room import settle
from flashmesh.importers.mqsim.tags import SECTOR, SYNTHETIC, TRACE
from flashmesh.importers.toml_text import size

if TYPE_CHECKING:
    from collections.abc import Iterator

    from flashmesh.importers.mqsim.device import Drive
    from flashmesh.importers.mqsim.document import Element
    from flashmesh.importers.mqsim.flows import Options
    from flashmesh.importers.mqsim.ledger import Ledger
    from flashmesh.importers.problems import Source

KINDS = {"IO_Flow_Parameter_Set_Synthetic": SYNTHETIC, "IO_Flow_Parameter_Set_Trace_Based": TRACE}
FLOWS_MAX = 8
"""Maximum number of flows: MQSim has registers for this many queues."""


@dataclass(frozen=True, slots=True)
class Part:
    """The planes that a flow uses: the product of indices of channels, ways, dies and planes."""

    channels: tuple[int, ...]
    ways: tuple[int, ...]
    dies: tuple[int, ...]
    planes: tuple[int, ...]

    @staticmethod
    def of(section: Section, drive: Drive) -> Part:
        """Returns the planes that a flow lists.

        Raises:
            ConfigError: If the flow lists a part that the drive does not have.
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
        """Returns whether the flow uses all planes of the drive."""
        return self.planes_in_it() == drive.all_planes()

    def planes_in_it(self) -> int:
        """Returns the number of planes that the flow uses."""
        return len(self.channels) * len(self.ways) * len(self.dies) * len(self.planes)


def kinds_of_planes(parts: list[Part], drive: Drive) -> Iterator[tuple[frozenset[int], int]]:
    """Yields (indices of flows, number of planes) for each group of planes that are used by the same flows."""
    # Channels used by the same flows are equivalent, so only their number matters; likewise chips, dies and planes.
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
    for found in product(*(kind.items() for kind in kinds)):
        yield frozenset.intersection(*(flows for flows, _ in found)), math.prod(count for _, count in found)


def sectors_of(parts: list[Part], drive: Drive) -> list[int]:
    """Returns the space of each flow in sectors.

    The flows that use a plane have equal parts of it.
    """
    totals = [0] * len(parts)
    for users, planes in kinds_of_planes(parts, drive):
        for at in users:
            totals[at] += int(drive.plane_sectors / len(users)) * planes
    return totals


def writers_of(parts: list[Part], drive: Drive) -> int:
    """Returns the maximum number of flows that share a plane; behind SATA, MQSim has one open block for all flows."""
    return 1 if drive.is_sata else max(len(users) for users, _ in kinds_of_planes(parts, drive))


def in_stripes(sectors: list[int], parts: list[Part], drive: Drive) -> list[int]:
    """Returns the space of each flow in sectors, rounded up to whole pages.

    If all flows use all planes, and another flow or the page map follows, the space is rounded to whole stripes over
    the planes, since MQSim restarts the order of planes for each flow and for the map.
    """
    is_followed = len(parts) > 1 or drive.stored_entry_bytes is not None
    in_planes = is_followed and all(part.is_all(drive) for part in parts)
    unit = drive.page_bytes // SECTOR * (drive.all_planes() if in_planes else 1)
    return [-(-count // unit) * unit for count in sectors]


def fullest(parts: list[Part], sectors: list[int], drive: Drive) -> int:
    """Returns the number of pages that the fullest plane holds: pages of flows, and of the page map if it is on flash.

    A flow is spread evenly over its planes, regardless of other flows on these planes.
    """
    pages = [count * SECTOR // drive.page_bytes for count in sectors]
    if drive.stored_entry_bytes is not None:
        entries = drive.page_bytes // drive.stored_entry_bytes
        pages = [count + -(-count // entries) for count in pages]
    shares = [-(-count // part.planes_in_it()) for count, part in zip(pages, parts, strict=True)]
    return max(sum(shares[at] for at in users) for users, _ in kinds_of_planes(parts, drive))


class ScenarioTranslation:
    """Translator of one scenario."""

    def __init__(
        self, ledger: Ledger, source: Source, scenario: Element, drive: Drive, options: Options, name: str
    ) -> None:
        """Sorts the tags of all flows.

        Args:
            ledger: The record of the import.
            source: The file.
            scenario: The scenario.
            drive: The drive of the scenario.
            options: The options of the import.
            name: The prefix of the names of files.

        Raises:
            ConfigError: If the scenario has no flow, too many flows, or another tag.
        """
        self.ledger = ledger
        self.drive = drive
        self.options = options
        self.name = name
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
        """Sets every configuration key of the streams. Returns whether a flow uses the DRAM cache.

        Raises:
            ConfigError: If a tag has an invalid value.
        """
        drive = self.drive
        parts = [Part.of(flow, drive) for flow in self.flows]
        if drive.is_sata:
            counts = (drive.channels, drive.chips, drive.dies, drive.planes)
            parts = [Part(*(tuple(range(count)) for count in counts))] * len(parts)
        sectors = sectors_of(parts, drive)
        rounded = [sum(sectors)] if drive.is_sata else sectors
        rounded = in_stripes(rounded, parts[: len(rounded)], drive)
        whole = drive.is_sata or (len(parts) == 1 and parts[0].is_all(drive))
        capacity = size(sum(rounded) * SECTOR)
        writers = writers_of(parts, drive)
        by_share = settle(self.ledger, drive, fullest(parts[: len(rounded)], rounded, drive), writers) and whole
        if writers > 1:
            drive.device.set(
                "ftl.write-streams",
                compatible="per-stream-destaged",
                reason="MQSim has an open block for each flow in each plane",
            )
            drive.device.set(
                "ftl.first-touch",
                compatible="reader-block",
                reason="MQSim places what is read before it was written where the next write of the flow would go",
            )
        drive.device.set(
            "geometry.capacity",
            None,
            "Overprovisioning_Ratio",
            compatible=capacity,
            physical=None if by_share else size((sum(sectors) if whole else sum(rounded)) * SECTOR),
            reason="MQSim rounds the space of every plane down",
        )
        if by_share:
            drive.device.set(
                "geometry.over-provisioning",
                None,
                "Overprovisioning_Ratio",
                physical=float(drive.device.number("Overprovisioning_Ratio")),
                reason="MQSim rounds the space of every plane down",
            )
        self.precondition(sectors)
        first = 0
        for number, (flow, part, count) in enumerate(zip(self.flows, parts, sectors, strict=True), 1):
            name = f"flow-{number}"
            several = len(self.flows) > 1
            prefix = f"stream.{name}." if several else ""
            file = f"{self.name}-{name}.trace" if several else f"{self.name}.trace"
            last = first + count - 1
            stream = (0, sum(sectors) - 1) if drive.is_sata else (first, last)
            space = Space(first, last, drive.page_bytes // SECTOR, *stream)
            Flow(self, flow, prefix, space, file).translate()
            self.namespace(flow, name, prefix, part, 0 if whole else rounded[number - 1])
            first += count
        return any(flow.word("Device_Level_Data_Caching_Mode") != "TURNED_OFF" for flow in self.flows)

    def precondition(self, sectors: list[int]) -> None:
        """Sets the keys for the share of the drive that is written before the run."""
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

    def namespace(self, flow: Section, name: str, prefix: str, part: Part, sectors: int) -> None:
        """Sets the planes and the capacity of the namespace of a flow.

        With `sectors` of 0, the flow uses the whole drive and gets no namespace.
        """
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
        if sectors:
            flow.set(f"namespace.{name}.capacity", size(sectors * SECTOR))
            flow.set(f"{prefix}queue.namespace", name)
