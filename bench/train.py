"""`python -m bench.train`: profile of the module on rows of the benchmark, for a profile-guided build (PGO).

The module is built with counters and runs each row. Its counts are merged into target/pgo/merged.profdata, from which
`make wheel PGO=1` makes a wheel. Counts do not depend on time: the same revision gives the same profile.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import click

from bench import build, measure
from bench.rows import ROWS, Row

FOLDER = build.ROOT / "target" / "pgo"
MERGED = FOLDER / "merged.profdata"
TRAINED = (
    "4 KiB random reads, bus",
    "4 KiB random reads, pnssd",
    "4 KiB random reads, 10 % map misses",
    "64 KiB sequential reads, bus",
    "steady-state random writes, WA 4",
    "30/70 mix under collection, page",
    "30/70 mix under collection, MBM",
    "70/30, collection, cache, 4 queues",
    "MQSim, 4 KiB random reads",
    "MQSim, 70/30 mix",
    "4 KiB random reads, nossd",
    "4 KiB random reads, venice",
    "same reads, oracles on",
)
"""Rows of the training: each interconnect; reads, writes and garbage collection; each compiled
variant (set of features) of the simulation."""
TIMES = 4
"""Factor on the `counted` requests of a row."""


def profdata() -> str:
    """Returns the path of the program that merges counts: LLVM_PROFDATA, or else the program of the toolchain.

    Raises:
        click.ClickException: If neither exists.
    """
    if named := os.environ.get("LLVM_PROFDATA"):
        return named
    sysroot = subprocess.run(["rustc", "--print", "sysroot"], check=True, stdout=subprocess.PIPE, text=True).stdout
    found = sorted(Path(sysroot.strip()).glob("lib/rustlib/*/bin/llvm-profdata"))
    if not found:
        raise click.ClickException(
            "the toolchain has no llvm-profdata: `rustup component add llvm-tools`, or set LLVM_PROFDATA to one whose "
            "version is not older than that of LLVM in `rustc -vV`"
        )
    return str(found[0])


def command(row: Row) -> list[str]:
    """Returns the command that runs a row with the Python module."""
    settings = row.settings | {"workload.requests": row.counted * TIMES // row.streams}
    options = [part for key, value in settings.items() for part in ("--set", f"{key}={value}")]
    return [sys.executable, "-m", "flashmesh", "run", "--quiet", *row.options, str(row.path), *options]


@click.command()
def main() -> None:
    """Build the module with execution counters, run rows of the benchmark, and merge the counts into a PGO profile."""
    merge = profdata()
    rows = {row.name: row for row in ROWS}
    shutil.rmtree(FOLDER, ignore_errors=True)
    counts = FOLDER / "counts"
    counts.mkdir(parents=True)
    target = FOLDER / "target"
    flags = f"{os.environ.get('RUSTFLAGS', '')} -Cprofile-generate={counts}".strip()
    cargo = build.cargo_command("release", target, "--package", "flashmesh-py", "--lib")
    environment = os.environ | build.module_environment() | {"RUSTFLAGS": flags}
    subprocess.run(cargo, cwd=build.ROOT, check=True, env=environment)
    python = FOLDER / "python"
    shutil.copytree(build.ROOT / "python", python, ignore=shutil.ignore_patterns("_native*.so", "__pycache__"))
    shutil.copy(target / "release" / "lib_native.so", python / build.MODULE.relative_to("python"))
    for name in TRAINED:
        click.echo(f"training: {name}")
        measure.run(command(rows[name]), {"PYTHONPATH": str(python)})
    found = sorted(counts.glob("*.profraw"))
    subprocess.run([merge, "merge", "--output", str(MERGED), *map(str, found)], check=True)
    click.echo(f"{len(found)} runs merged into {MERGED.relative_to(build.ROOT)}")


main()
