"""Random files with hostile policies and ranges: no code of a file runs, and no range takes long."""

from __future__ import annotations

import contextlib
import io
import json
import shutil
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import flashmesh
from campaign.values import bare, declared
from flashmesh import ConfigError, FlashmeshError, configuration
from flashmesh.policies.kinds import KINDS
from flashmesh.sweeps.inputs.plan import POINTS_MAX
from flashmesh.sweeps.inputs.searchfile import read_search
from flashmesh.sweeps.inputs.sweepfile import read_sweep

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from random import Random

SOON_S = 10.0
"""Limit of processor time for reading a file."""
POINTS_READ = 1000
DRIVE = """[geometry]
channels = 1
chips-per-channel = 1
blocks-per-plane = 64
[workload]
requests = 50
"""
TABLES: dict[str, Any] = {
    "geometry": {"channels": 1, "chips-per-channel": 1, "blocks-per-plane": 64},
    "workload": {"requests": 50},
}
CODE = """from pathlib import Path
Path({marker!r}).touch()
class Mine:
    def __init__(self, **arguments):
        Path({marker!r}).touch()
    select = place = choose = place_write = decide = candidates = next_hop = grant = lambda self, *given: None
"""
NAMES = (
    'subprocess:Popen(args=["touch", "{marker}"])',
    'os:system(command="touch {marker}")',
    'builtins:open(file="{marker}", mode="w")',
    'pathlib:Path.touch("{marker}")',
    "{folder}/mine.py:Mine",
    "mine.py:Mine",
    "mine.py:Mine(a=1)",
    "./mine.py:Mine",
    "mine:Mine",
    "flashmesh.policies:../mine.py:Mine",
    "__import__('os').system('touch {marker}'):x",
)
"""Names of hostile policies. Their code or their call creates the file `marker`, which shows that it was executed."""
PLACES = ("file", "tables", "result", "set", "axes", "zip", "random", "latin-hypercube", "space", "search set", "base")
"""Places in files and arguments where a policy is named."""
DOORS: dict[str, Callable[[Any], object]] = {
    "run": flashmesh.run,
    "compare": lambda source: flashmesh.compare(source, {"seed": [1, 2]}),
    "ask": lambda source: flashmesh.ask(source, keys=["flash.read-time"], seeds=1),
    "load": lambda source: configuration.load(source),
}
"""Functions that take a configuration from a file or from tables, by name."""
NUMBERS = ("0", "1", "2", "64", "1e9", "1e200", "1e-200", "0.1", "1.0000001", "99999999999999999999", "-1", "1e400")
UNITS = ("", "", "us", "ps", "KiB", "%", "GB/s")
STEPS = ("", " x2", " x1.0000001", " +1", " +1e-9", " log", " x1e300", " +1e300", " x1", " +0")


def files_faults(random: Random, folder: Path) -> list[str]:
    """Returns the faults of reading a file with a hostile policy and one with a random range; empty without faults."""
    folder.mkdir(parents=True, exist_ok=True)
    with contextlib.chdir(folder), contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
        found = [*policy_faults(random, Path.cwd()), *range_faults(random, Path.cwd())]
    if not found:
        shutil.rmtree(folder)
    return [f"{folder}: {fault}" for fault in found]


def policy_faults(random: Random, folder: Path) -> Iterator[str]:
    """Yields a sentence if the code of a policy named in a file runs, or if the file is not properly refused."""
    marker = folder / "ran"
    (folder / "mine.py").write_text(CODE.format(marker=str(marker)))
    (folder / "drive.toml").write_text(DRIVE)
    name = random.choice(NAMES).format(marker=marker, folder=folder)
    key = f"policy.{random.choice(tuple(KINDS))}"
    place = random.choice(PLACES)
    door, call = called(place, key, name, random)
    told = ""
    try:
        call()
    except ConfigError as error:
        told = str(error)
    except FlashmeshError as error:
        yield f"{key} = {name!r} in {place}, {door}: {type(error).__name__}: {error}"
    else:
        yield f"{key} = {name!r} in {place} is not refused by {door}"
    if told and not told.isprintable() and any(not line.isprintable() for line in told.split("\n")):
        yield f"{key} = {name!r} in {place}, {door}: the error has control characters"
    if marker.exists():
        yield f"{key} = {name!r} in {place}: its code has run by {door}"


def called(place: str, key: str, name: str, random: Random) -> tuple[str, Callable[[], object]]:
    """Writes files that name a policy in a place.

    Returns the name of the function that reads them, and a call of it.
    """
    line = f"{json.dumps(key)} = {json.dumps(name)}\n"
    axis = f'{json.dumps(key)} = ["built-in", {json.dumps(name)}]\n'
    kind = key.partition(".")[2]
    tables = TABLES | {"policy": {kind: name}}
    hostile = f"{DRIVE}[policy]\n{kind} = {json.dumps(name)}\n"
    door = random.choice(tuple(DOORS))
    match place:
        case "file":
            Path("hostile.toml").write_text(hostile)
            return door, lambda: DOORS[door]("hostile.toml")
        case "tables":
            return door, lambda: DOORS[door](tables)
        case "result":
            document = json.loads(flashmesh.run(TABLES).to_json())
            document["configuration"]["policy"] = {kind: name}
            Path("result.json").write_text(json.dumps(document))
            loaded = flashmesh.load("result.json")
            assert isinstance(loaded, flashmesh.Result)
            return door, lambda: DOORS[door](loaded.configuration)
        case "space" | "search set":
            table = f"[space]\n{axis}" if place == "space" else f"[set]\n{line}[space]\nseed = [1, 2]\n"
            Path("search.toml").write_text(
                f'config = "drive.toml"\ntrials = 2\npopulation = 2\n{table}[objectives]\np99 = "minimise"\n'
            )
            return "optimise", lambda: flashmesh.optimise("search.toml")
        case "base":
            Path("hostile.toml").write_text(hostile)
            Path("sweep.toml").write_text('config = "hostile.toml"\n[axes]\nseed = [1, 2]\n')
        case "set":
            Path("sweep.toml").write_text(f'config = "drive.toml"\n[set]\n{line}[axes]\nseed = [1, 2]\n')
        case "zip":
            Path("sweep.toml").write_text(f'config = "drive.toml"\n[[zip]]\n{axis}seed = [1, 2]\n')
        case "axes":
            Path("sweep.toml").write_text(f'config = "drive.toml"\n[axes]\n{axis}')
        case _:
            Path("sweep.toml").write_text(f'config = "drive.toml"\n[{place}]\nsamples = 8\n{axis}')
    return "sweep", lambda: flashmesh.sweep("sweep.toml")


def range_faults(random: Random, folder: Path) -> Iterator[str]:
    """Yields a sentence if a file with a random range is read slowly, gives too many points, or fails."""
    key = random.choice(tuple(key for key in declared() if "NAME" not in key))
    default = bare(declared()[key].default or "1")
    bounds = [random.choice((*NUMBERS, default)) + random.choice(UNITS) for _ in range(2)]
    text = f"{'..'.join(bounds)}{random.choice(STEPS)}"
    line = f"{json.dumps(key)} = {json.dumps(text)}\n"
    table = random.choice(("[axes]\n", "[[zip]]\n", "[random]\nsamples = 5\n", "[latin-hypercube]\nsamples = 5\n", ""))
    (folder / "drive.toml").write_text(DRIVE)
    path = folder / "range.toml"
    started_s = time.process_time()
    try:
        if table:
            path.write_text(f'config = "drive.toml"\n{table}{line}')
            plan = read_sweep(path).plan
            points = sum(1 for _, _ in zip(plan.points(), range(POINTS_READ), strict=False))
            if points != min(plan.count, POINTS_READ):
                yield f"{line.strip()} in {table.strip()}: {plan.count} points are counted, {points} made"
            if plan.count > POINTS_MAX:
                yield f"{line.strip()} in {table.strip()}: {plan.count} points"
        else:
            path.write_text(f'config = "drive.toml"\n[space]\n{line}[objectives]\np99 = "minimise"\n')
            read_search(path)
    except flashmesh.InternalError as error:
        yield f"{line.strip()}: {error}"
    except FlashmeshError:
        pass
    except Exception as error:
        yield f"{line.strip()} in {table.strip()}: {type(error).__name__}: {error}"
    if (taken_s := time.process_time() - started_s) > SOON_S:
        yield f"{line.strip()} in {table.strip()}: {taken_s:.0f} s of processor time"
