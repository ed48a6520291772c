"""Faults of MQSim that change a mean: how each is seen in what MQSim writes, or in the files, and how files avoid it.

A case that deviates is run once more with files that differ in nothing but that they avoid a fault. If both simulators
agree on those, the fault is what the first pair of files deviates by.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from bench.mqsim_drawn import whole_pages

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from bench.mqsim_drawn import Case, Tags

RESULTS = "work_scenario_1.xml"
"""Name of MQSim's result file."""
ENQUEUED = re.compile(r'Priority\.LOW Name="[^"]*" No_Of_Transactions_Enqueued="(\d+)"')
BYTES = re.compile(r"<Bytes_Transferred>(\d+)")


@dataclass(frozen=True, slots=True)
class Fault:
    """A fault of MQSim."""

    name: str
    shows: Callable[[Case, Path], bool]
    """Test whether the fault affects a case. The folder has the results of MQSim."""
    avoided: Callable[[Case], Case]
    """Change of a case to files that avoid the fault."""


def queues_low(_case: Case, folder: Path) -> bool:
    """Returns whether MQSim has queued transactions in the class LOW."""
    return any(int(count) for count in ENQUEUED.findall(results_of(folder)))


def draws_other_lengths(case: Case, folder: Path) -> bool:
    """Returns whether MQSim has moved more or fewer bytes for a flow of drawn lengths than the importer has drawn."""
    moved = BYTES.findall(results_of(folder))
    traces = sorted((folder / "out").glob("*.trace"))
    pairs = zip(case.flows, moved, traces, strict=False)
    return any(is_normal(tags) and int(theirs) != bytes_of(trace) for tags, theirs, trace in pairs)


def results_of(folder: Path) -> str:
    """Returns the results written by MQSim; empty if there are none."""
    file = folder / RESULTS
    return file.read_text(errors="replace") if file.is_file() else ""


def bytes_of(trace: Path) -> int:
    """Returns the bytes of all requests of a trace."""
    with trace.open() as lines:
        return sum(int(line.split()[3]) for line in lines) * 512


def is_normal(tags: Tags) -> bool:
    """Returns whether a flow draws the lengths of its requests."""
    return tags["Request_Size_Distribution"] == "NORMAL"


def is_low(tags: Tags) -> bool:
    """Returns whether a flow is in the class LOW."""
    return tags["Priority_Class"] == "LOW"


def reads_other_planes(case: Case, _folder: Path) -> bool:
    """Returns whether MQSim reads unwritten pages from planes with the numbers of dies, as in the order DWCP."""
    return case.drive["Plane_Allocation_Scheme"] == "DWCP" and any(
        tags["Plane_IDs"] != ",".join(tags["Die_IDs"].split(",")[: len(tags["Plane_IDs"].split(","))])
        for tags in case.flows
    )


FAULTS = (
    Fault(
        "turns of the class LOW passed over",
        queues_low,
        lambda case: case.with_flows({"Priority_Class": "MEDIUM"}, is_low),
    ),
    Fault(
        "first drawn length not initialised",
        draws_other_lengths,
        lambda case: case.with_flows({"Request_Size_Distribution": "FIXED"}, is_normal),
    ),
    Fault(
        "numbers of dies taken for those of planes",
        reads_other_planes,
        lambda case: replace(case, drive=case.drive | {"Plane_Allocation_Scheme": "CWDP"}),
    ),
    Fault(
        "two pieces of a request on one page",
        lambda case, _: case.is_cut_twice(),
        lambda case: case.with_flows(
            {"Generated_Aligned_Addresses": "true", "Address_Alignment_Unit": str(case.page_sectors)},
            lambda tags: not whole_pages(tags, case.page_sectors),
        ),
    ),
)
"""Faults in the order in which they are tried."""
