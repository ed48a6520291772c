"""Requests at the largest possible offsets are rejected with a sentence, wrapped around, or served."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import flashmesh
from conftest import Cli
from flashmesh import Op, Status

DRIVE: dict[str, Any] = {
    "geometry": {"channels": 2, "chips-per-channel": 2, "blocks-per-plane": 16, "pages-per-block": 16},
}
READING = {"workload.time-unit": "ns", "workload.tolerate": 1.0}
LAST = 2**53 - 1
"""Largest whole number that JSON readers of any language hold exactly."""
END = 2**55 - 2
"""Last sector that ends below 2^64 bytes."""
SECTOR = 512


def trace_of(folder: Path, sectors: int) -> Path:
    """Writes a trace that reads and writes at a sector, and writes near the start. Returns its path."""
    path = folder / "far.trace"
    path.write_text(f"0 0 {sectors} 1 1\n1000 0 8 8 0\n2000 0 {sectors} 1 0\n")
    return path


def drive(**geometry: Any) -> dict[str, Any]:
    return DRIVE | {"geometry": DRIVE["geometry"] | {"over-provisioning": 0.4} | geometry}


@pytest.mark.parametrize("sector", [LAST, LAST - 7, END])
def test_a_far_request_of_a_trace_is_rejected_folded_or_answered(sector: int, tmp_path: Path) -> None:
    trace = trace_of(tmp_path, sector)
    found = {
        beyond: flashmesh.run(drive(), trace=trace, overrides=READING | {"workload.beyond": beyond}, check=True)
        for beyond in ("reject", "wrap", "send")
    }
    assert {beyond: result.requests for beyond, result in found.items()} == {"reject": 1, "wrap": 3, "send": 3}
    assert found["wrap"].host.statuses.success == 3
    statuses = found["send"].host.statuses
    assert (statuses.success, statuses.lba_out_of_range) == (1, 2)


def test_a_trace_of_far_requests_is_refused_with_its_first_line(tmp_path: Path, cli: Cli) -> None:
    trace_of(tmp_path, LAST)
    (tmp_path / "drive.toml").write_text("[geometry]\nblocks-per-plane = 64\n")
    done = cli("run", "drive.toml", "--trace", "far.trace", "--set", "workload.time-unit=ns")
    assert done.returncode == 2
    assert "2 lines beyond the drive, first " in done.stderr
    assert "far.trace:1:5: 512 bytes from byte 4611686018427387392 on end beyond the drive" in done.stderr
    unit = ("--set", "workload.time-unit=ns")
    assert "2 lines rejected" in cli("trace", "profile", "far.trace", "-o", "profile", "--tolerate", *unit).stderr
    assert (
        cli(
            "trace", "convert", "far.trace", "far.csv", "--format", "msr", *unit, "--set", "workload.beyond=send"
        ).returncode
        == 0
    )
    first, second, third = (tmp_path / "far.csv").read_text().splitlines()
    assert [line.split(",")[4] for line in (first, second, third)] == [str(LAST * SECTOR), "4096", str(LAST * SECTOR)]


def test_offsets_and_sizes_of_a_stepped_drive_reach_to_the_end_of_64_bits() -> None:
    for op in (Op.READ, Op.WRITE, Op.DEALLOCATE, Op.WRITE_ZEROES):
        for offset, size in ((LAST * SECTOR, 4096), (2**63, 4096), (0, 2**40), (0, 2**63)):
            stepped = flashmesh.Drive(drive())
            stepped.submit(0, op, offset, size)
            assert stepped.drain().status.tolist() == [Status.LBA_OUT_OF_RANGE], (op, offset, size)
        for offset, size in ((2**64 - 512, 1024), (2**64 - 512, 512), (2**63, 2**63)):
            stepped = flashmesh.Drive(drive())
            with pytest.raises(flashmesh.WorkloadError, match="ends beyond 2\\^64 bytes"):
                stepped.submit(0, op, offset, size)
            stepped.submit(0, op, 0, 4096)
            assert stepped.drain().status.tolist() == [Status.SUCCESS]


def test_statistics_of_a_trace_name_its_far_requests(tmp_path: Path, cli: Cli) -> None:
    trace_of(tmp_path, LAST)
    unit = ("--set", "workload.time-unit=ns")
    (summary,) = json.loads(cli("trace", "stat", "far.trace", *unit, "--tolerate", "--json", "-").stdout)["traces"]
    (rejected,) = summary["rejected"]
    assert (summary["requests"], rejected["reason"], rejected["lines"]) == (1, "beyond-drive", 2)
