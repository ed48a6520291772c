"""Figures of the README about the measured drive and MQSim, read from stored files."""

from __future__ import annotations

import csv
import json
import statistics
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[1]
VALIDATION = ROOT / "docs" / "validation"
DRIVE = VALIDATION / "samsung-pm9a3.json"
MQSIM = ROOT / "bench" / "stored" / "measured-drive.csv"
TIMES = ROOT / "bench" / "stored" / "against-mqsim.csv"
HOST_US = 10.0
"""Time of the host software, in microseconds. It is added to the latencies of MQSim.

The latencies that flashmesh simulates for the validation already include this time.
"""
READINGS = {4_096: "MQSim, 4 KiB pages", 16_384: "MQSim, 16 KiB pages"}
"""Models of the drive in MQSim, by page size."""
KINDS = ("read", "write")


@dataclass(frozen=True)
class Curve:
    """Mean latencies in microseconds, by the offered load."""

    name: str
    read: dict[int, float]
    write: dict[int, float]

    def of(self, kind: str) -> dict[int, float]:
        """Returns the latencies of reads or writes."""
        return self.read if kind == "read" else self.write

    def error(self, kind: str, measured: Curve) -> float:
        """Returns the mean absolute difference from the measured latencies, as a share."""
        ours, theirs = self.of(kind), measured.of(kind)
        return statistics.fmean(abs(ours[load] / theirs[load] - 1) for load in sorted(ours))


def drive() -> list[Curve]:
    """Returns the curves of the measured drive and of flashmesh."""
    points = json.loads(DRIVE.read_text(encoding="utf-8"))["points"]
    return [
        Curve(
            name,
            *({round(point["offered_iops"]): point[part][f"{kind}_mean_us"] for point in points} for kind in KINDS),
        )
        for name, part in (("measured", "measured"), ("flashmesh", "simulated"))
    ]


def fitted() -> str:
    """Returns the number of loads to which the preset is fitted, as text."""
    roles = [point["role"] for point in json.loads(DRIVE.read_text(encoding="utf-8"))["points"]]
    return f"{roles.count('fit')} of {len(roles)}"


def mqsim() -> list[Curve]:
    """Returns the curves of MQSim on an empty drive, plus the time of the host software."""
    with MQSIM.open(encoding="utf-8", newline="") as file:
        rows = [row for row in csv.DictReader(file) if row["state"] == "empty"]
    return [
        Curve(
            name,
            *(
                {
                    int(row["offered_iops"]): float(row[f"{kind}_mean_us"]) + HOST_US
                    for row in rows
                    if int(row["page_bytes"]) == page
                }
                for kind in KINDS
            ),
        )
        for page, name in READINGS.items()
    ]


def full_drive() -> list[tuple[int, int]]:
    """Returns for each model the requests that MQSim received on a full drive, and those that it completed."""
    with MQSIM.open(encoding="utf-8", newline="") as file:
        return [(int(row["requests"]), int(row["served"])) for row in csv.DictReader(file) if row["state"] == "full"]


def times() -> list[dict[str, str]]:
    """Returns the processor times of both simulators on the same files."""
    with TIMES.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def ratio(row: dict[str, str]) -> float:
    """Returns the processor time of MQSim divided by that of flashmesh."""
    return float(row["mqsim_s"]) / float(row["flashmesh_s"])
