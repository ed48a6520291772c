"""`python -m bench.threads`: the wall time that reading a trace, or writing a log, adds to a run.

Three kinds of runs alternate: replays of a trace, runs that generate their requests, and such runs that write a log.
Times are those of `flashmesh.run`, with the scan of the trace and without the start of Python.
"""

from __future__ import annotations

import json
import random
import statistics
import tempfile
from pathlib import Path

import click

from bench import measure
from bench.build import ROOT

COMMAND = """
import json, sys, time
import flashmesh
settings, log = json.loads(sys.argv[1]), sys.argv[2] or None
begun = time.perf_counter()
flashmesh.run("preset:venice-z-nand", overrides=settings, requests_file=log)
print(time.perf_counter() - begun)
"""
SETTINGS = {"fabric.kind": "bus", "replay.mode": "stress"}

OWN: dict[str, object] = {"workload.footprint": "256MiB"}
"""Settings of runs that generate their requests, over as many pages as the trace has."""


def lines(requests: int) -> str:
    """Returns a trace in MSR format: random reads of 4 KiB, a few microseconds apart."""
    draw = random.Random(1)
    at = 128_166_372_003_061_629
    rows = []
    for _ in range(requests):
        at += draw.randrange(10, 60)
        rows.append(f"{at},src1,0,Read,{draw.randrange(65_536) * 4096},4096,{draw.randrange(100, 9000)}\n")
    return "".join(rows)


def packed(text: str, folder: Path) -> dict[str, Path]:
    """Writes the trace plain, and compressed by gzip and zstd. Returns the files by ending, or "plain"."""
    from flashmesh import _native, configuration

    plain = folder / "trace.csv"
    plain.write_text(text)
    files = {"plain": plain}
    config = configuration.load("preset:venice-z-nand", trace=plain)
    for ending in ("gz", "zst"):
        files[ending] = folder / f"trace.csv.{ending}"
        files[ending].touch()
        _native.convert_trace(config, files[ending], files[ending], "msr", False)
    return files


@click.command()
@click.option("--requests", default=500_000, show_default=True, type=click.IntRange(min=1), help="Requests of a run.")
@click.option("--rounds", default=3, show_default=True, type=click.IntRange(min=1), help="Measurements of each.")
def main(requests: int, rounds: int) -> None:
    """Measure the wall time of replays and of logs beside that of plain runs."""
    import sys

    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        rows: dict[str, tuple[dict[str, object], str]] = {
            "no trace, no log": (OWN | {"workload.requests": requests}, "")
        }
        for ending, path in packed(lines(requests), folder).items():
            rows[f"trace, {ending}"] = ({"workload.trace": str(path)}, "")
        rows["log"] = (OWN | {"workload.requests": requests}, str(folder / "log.parquet"))
        taken: dict[str, list[float]] = {row: [] for row in rows}
        for _ in range(rounds):
            for row, (settings, log) in rows.items():
                command = [sys.executable, "-c", COMMAND, json.dumps(SETTINGS | settings), log]
                usage = measure.run(command, {"PYTHONPATH": str(ROOT / "python")}, folder)
                taken[row].append(float(usage.stdout))
    medians = {row: statistics.median(times) for row, times in taken.items()}
    plain = medians["no trace, no log"]
    click.echo(f"{requests:,} requests; wall time, medians of {rounds}")
    for row, time in medians.items():
        click.echo(f"{row:<18} {time:7.3f} s  x{time / plain:.2f}")


main()
