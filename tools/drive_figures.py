"""The figures of the README about the measured drive and MQSim, from stored files alone."""

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
"""Time of the software of the host, which the simulated latencies of the validation hold and those of MQSim do not."""
READINGS = {4_096: "MQSim, 4 KiB pages", 16_384: "MQSim, 16 KiB pages"}
"""Readings of the drive in MQSim, by the size of its pages."""
KINDS = ("read", "write")


@dataclass(frozen=True)
class Curve:
    """Mean latencies over the offered load, in microseconds."""

    name: str
    read: dict[int, float]
    write: dict[int, float]

    def of(self, kind: str) -> dict[int, float]:
        """Returns the latencies of reads or of writes."""
        return self.read if kind == "read" else self.write

    def error(self, kind: str, measured: Curve) -> float:
        """Returns the mean difference to what was measured, without its sign, as a share."""
        ours, theirs = self.of(kind), measured.of(kind)
        return statistics.fmean(abs(ours[load] / theirs[load] - 1) for load in sorted(ours))


def drive() -> list[Curve]:
    """Returns what the drive measured, and what flashmesh simulates."""
    points = json.loads(DRIVE.read_text(encoding="utf-8"))["points"]
    return [
        Curve(
            name,
            *({round(point["offered_iops"]): point[part][f"{kind}_mean_us"] for point in points} for kind in KINDS),
        )
        for name, part in (("measured", "measured"), ("flashmesh", "simulated"))
    ]


def fitted() -> str:
    """Returns to how many of the loads the preset of flashmesh is fitted."""
    roles = [point["role"] for point in json.loads(DRIVE.read_text(encoding="utf-8"))["points"]]
    return f"{roles.count('fit')} of {len(roles)}"


def mqsim() -> list[Curve]:
    """Returns what MQSim simulates on an empty drive, with the software of the host added."""
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
    """Returns, for each reading, the requests that MQSim was given on a full drive and those that it completed."""
    with MQSIM.open(encoding="utf-8", newline="") as file:
        return [(int(row["requests"]), int(row["served"])) for row in csv.DictReader(file) if row["state"] == "full"]


def times() -> list[dict[str, str]]:
    """Returns the processor times of both on the same files."""
    with TIMES.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def ratio(row: dict[str, str]) -> float:
    """Returns processor time of MQSim over that of flashmesh."""
    return float(row["mqsim_s"]) / float(row["flashmesh_s"])


def read_errors() -> dict[str, float]:
    """Returns the mean error of the mean latency of reads over all loads, by drive."""
    found = {}
    for path in sorted(VALIDATION.glob("*.json")):
        points = json.loads(path.read_text(encoding="utf-8"))["points"]
        errors = (abs(point["simulated"]["read_mean_us"] / point["measured"]["read_mean_us"] - 1) for point in points)
        found[path.stem] = statistics.fmean(errors)
    return found
