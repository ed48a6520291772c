"""An invented drive. Its measurements come from its own simulation."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from flashmesh.sweeps.executors.local import LocalThreads
from flashmesh.validation.engine import Subject, Validating
from flashmesh.validation.figures import COLUMNS, Figures
from flashmesh.validation.loads.workload import Extent
from flashmesh.validation.tables.measurements import Measured, Measurements

DRIVE = """
preset = "venice-z-nand"

[geometry]
channels = 4
chips-per-channel = 2
planes-per-die = 2
blocks-per-plane = 32
pages-per-block = 64
page-size = "4KiB"
over-provisioning = 0.3

[flash]
read-time = "40us"
program-time = "100us"
"""
SPACE_GIB = 0.07
RATES = (8_000.0, 12_000.0, 16_000.0)
EXTENT = Extent(6_000)


def figures(**changed: float) -> Figures:
    """Returns consistent figures, with some of them changed."""
    known = {"read_iops": 5_000.0, "write_iops": 20_000.0}
    for kind in ("read", "write"):
        known |= {f"{kind}_mean_us": 100.0, f"{kind}_p50_us": 90.0, f"{kind}_p99_us": 200.0, f"{kind}_p999_us": 300.0}
    return Figures(**{**known, **changed})


def measurements(rates: Sequence[float] = RATES) -> Measurements:
    """Returns measurements at some loads, in IOPS, with invented figures."""
    return Measurements("made up", SPACE_GIB, tuple(Measured(rate, figures(write_iops=rate)) for rate in rates))


def written(folder: Path, text: str = DRIVE) -> Path:
    """Writes the drive to a file. Returns the path."""
    path = folder / "drive.toml"
    path.write_text(text)
    return path


def simulated(path: Path, rates: Sequence[float] = RATES, extent: Extent = EXTENT) -> Measurements:
    """Returns simulated figures of the drive in a file at some loads, in IOPS, as if they were measured."""
    validating = Validating([Subject("drive", path, measurements(rates))], extent, {}, None)
    validating.run(LocalThreads(2), lambda session: lambda outcome: None)
    (found,) = validating.validations()
    assert not found.failures, found.failures
    points = [
        Measured(rate, point.simulated)
        for rate, point in zip(rates, found.points, strict=True)
        if point.simulated is not None
    ]
    assert len(points) == len(rates)
    return Measurements("made up", SPACE_GIB, tuple(points))


def csv_of(known: Measurements) -> str:
    """Returns measurements as a CSV table."""
    lines = [",".join(("drive", "file_gib", "offered_iops", *COLUMNS))]
    for point in known.points:
        cells = [known.drive, known.space_gib, point.offered_iops, *point.figures.to_dict().values()]
        lines.append(",".join(map(str, cells)))
    return "\n".join(lines) + "\n"
