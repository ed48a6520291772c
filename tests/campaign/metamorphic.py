"""Relations between runs: a change of the input has a known effect on the output, whatever that output is."""

from __future__ import annotations

import json
import re
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, Any

import numpy as np

from campaign.arithmetic import Log
from campaign.draw import draw, loads, parameters
from campaign.values import Settings
from flashmesh import _native
from flashmesh.configuration import read

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

OF_THE_MOMENT = ("wall_s", "requests_per_wall_s", "peak_rss_bytes")
OF_THE_INPUT = ("config_hash", "workload", "streams")
"""Keys of a result that differ between runs of the same requests from other files.

They depend on where the requests come from, or on which keys were set.
"""
OBSERVED = ("epochs", "network", "timeline", "chip_states", "collisions")
"""Keys that recordings add to a result. A comparison with a run without recordings leaves them out."""
OBSERVERS: Settings = {
    "measure.epoch": "50us",
    "measure.network": "true",
    "measure.chip-states": "true",
    "measure.collisions": "true",
}
RATES: Settings = {"fabric.channel-rate": '"1GB/s"', "host.link-rate": '"1GB/s"', "cache.data-rate": '"1GB/s"'}
"""Rates at which a byte takes an integral number of picoseconds, even at half the rate."""
PACKINGS = ("", ".gz", ".zst", ".xz")
INEXACT = (
    "workload.arrivals",
    "replay.time-scale",
    "power.cut",
    "sata.",
    "workload.interarrival",
    "replay.think-time",
    "fabric.channel-load",
    "fabric.driver-resistance-ohm",
    "fabric.chip-capacitance-ff",
    "fabric.controller-capacitance-ff",
)
"""Keys that a drive with doubled times must not have.

With them, times are drawn or rounded, or have a part that no key sets, so the run would not take exactly twice as long.
"""


class Refused(Exception):  # noqa: N818 - not an error
    """Exception for a drive to which a relation between runs does not apply."""


@dataclass(frozen=True)
class Outcome:
    """Report and log of a run."""

    report: dict[str, Any]
    log: Log

    def column(self, name: str) -> np.ndarray[Any, Any]:
        """Returns a column of the request log, ordered by the ids of the requests."""
        return self.log.column(name)[np.argsort(self.log.column("id"), kind="stable")]


def run(settings: Settings, *, observed: bool = False) -> Outcome:
    """Runs a configuration with a log, and if `observed` with oracles and a timeline.

    Returns the report and the log.
    """
    return run_config(read_or_refuse(settings), observed=observed)


def run_config(config: _native.Config, *, observed: bool = False) -> Outcome:
    """Like `run`, but for a configuration that was already read."""
    log = Log()
    try:
        simulation = _native.Simulation(config)
    except _native.FlashmeshError as error:
        # No relation applies to a drive that cannot be built.
        raise Refused from error
    with tempfile.TemporaryDirectory() as folder:
        if observed:
            simulation.enable_checks()
            timeline = Path(folder) / "timeline"
            timeline.touch()
            simulation.record_timeline(timeline)
        try:
            report = simulation.run(_native.Control(), log.take)
        except _native.WorkloadError as error:
            # No relation applies to requests that arrive after the longest time that can be simulated.
            if "days that can be simulated" not in str(error):
                raise
            raise Refused from error
    return Outcome(json.loads(report), log)


def differing(one: Outcome, other: Outcome, *beside: str) -> str | None:
    """Returns the differences between two runs, except in `beside` and in keys of the machine; None without any."""
    left = {*OF_THE_MOMENT, *beside}
    keys = [key for key in one.report if key not in left and one.report[key] != other.report[key]]
    if keys:
        return f"{', '.join(keys)} differ"
    names = one.log.batches[0] if one.log.batches else {}
    columns = [name for name in names if not np.array_equal(one.log.column(name), other.log.column(name))]
    return f"{', '.join(columns)} of the log differ" if columns else None


def told(name: str, fault: str | None) -> Iterator[str]:
    """Yields a sentence about the violated relation `name` if there is a fault."""
    if fault is not None:
        yield f"{name}: {fault}"


def observers(settings: Settings, _random: Random) -> Iterator[str]:
    """Checks that observers do not change a run: oracles, log, timeline, epochs, network, chip states, collisions."""
    plain = {key: value for key, value in settings.items() if not key.startswith("measure.")}
    watched = {key: value for key, value in OBSERVERS.items() if loads(plain | {key: value})}
    alone, looked_at = run(plain), run(plain | watched, observed=True)
    yield from told("observers", differing(alone, looked_at, *OBSERVED, "config_hash"))
    silent = json.loads(_native.Simulation(read({}, as_overrides(plain))).run(_native.Control()))
    yield from told("log", differing(alone, Outcome(silent, alone.log)))


def as_overrides(settings: Settings) -> list[str]:
    """Returns settings as overrides of the form `KEY=VALUE`."""
    return [f"{key}={value}" for key, value in settings.items()]


def doubled(settings: Settings, _random: Random) -> Iterator[str]:
    """Checks that a drive with doubled times behaves the same in twice the time."""
    exact = {key: value for key, value in settings.items() if not key.startswith((*INEXACT, "measure."))}
    exact |= {"host.interface": '"direct"'}
    constant = {"workload.interarrival": "2us", "workload.arrivals": '"constant"'}
    for keys in (constant, *({key: rate} for key, rate in RATES.items())):
        exact |= keys if loads(exact | keys) else {}
    tables: dict[str, Any] = json.loads(read_or_refuse(exact).to_json())
    once = run_config(configured(tables))
    twice = run_config(configured(tables_doubled(tables)))
    for name in once.log.batches[0] if once.log.batches else ():
        factor = 2 if name.endswith("_ps") else 1
        if not np.array_equal(once.log.column(name).astype(np.int64) * factor, twice.log.column(name).astype(np.int64)):
            yield f"doubled: {name} of the log is not {factor} times what it was"
            return
    for key in ("requests", "gc", "flash", "per_request", "write_amplification"):
        if once.report[key] != twice.report[key]:
            yield f"doubled: {key} differs"
    if 2 * once.report["makespan_ps"] != twice.report["makespan_ps"]:
        yield f"doubled: {once.report['makespan_ps']} ps became {twice.report['makespan_ps']} ps"


def read_or_refuse(settings: Settings) -> _native.Config:
    """Returns a configuration. Raises `Refused` if the relation does not apply to it."""
    try:
        return read({}, as_overrides(settings))
    except _native.ConfigError as error:
        raise Refused from error


def configured(tables: dict[str, Any]) -> _native.Config:
    """Returns a configuration from its tables. Raises `Refused` if it is invalid."""
    import tomli_w

    try:
        return _native.Config.from_str(tomli_w.dumps(tables), "<tables>", [])
    except _native.ConfigError as error:
        raise Refused from error


def tables_doubled(tables: dict[str, Any]) -> dict[str, Any]:
    """Returns tables with doubled times and halved rates."""
    kinds = {one.key: one.type for one in parameters()}
    return {section: scaled(section, value, kinds) for section, value in tables.items()}


def scaled(key: str, value: Any, kinds: dict[str, str]) -> Any:
    """Returns the value of a key with a doubled time or a halved rate, or a table with all of its keys scaled so."""
    if isinstance(value, dict):
        return {name: scaled(f"{key}.{name}", each, kinds) for name, each in value.items()}
    # A key in a stream has the type of the key for all streams.
    match kinds.get(re.sub(r"^stream\.[^.]+\.", "", key)):
        case "time":
            return times_two(value)
        case "times":
            return [times_two(each) for each in value] if isinstance(value, list) else times_two(value)
        case "rate":
            return (
                value if value == "unlimited" else re.sub(r"^[\d.]+", lambda found: f"{float(found[0]) / 2:g}", value)
            )
        case _:
            return value


def times_two(text: str) -> str:
    """Returns a time of a configuration, doubled."""
    return re.sub(r"^[\d.]+", lambda found: f"{2 * float(found[0]):.12g}", text)


def round_trip(settings: Settings, _random: Random) -> Iterator[str]:
    """Checks that a configuration written as TOML or JSON and read again is the same, and gives the same run."""
    config = read_or_refuse(settings)
    again = _native.Config.from_str(config.to_toml(), "<printed>", [])
    if (again.hash(), again.to_toml()) != (config.hash(), config.to_toml()):
        yield "round trip: the configuration that was printed is another one"
    as_tables = configured(json.loads(config.to_json()))
    if as_tables.hash() != config.hash():
        yield "round trip: the configuration as JSON is another one"
    yield from told("round trip", differing(run_config(config), run_config(again)))


def prefix(settings: Settings, _random: Random) -> Iterator[str]:
    """Checks that a run does not depend on a request before the request is issued."""
    if any(key.startswith("stream.") for key in settings):
        raise Refused
    # Several threads divide the requests, so a larger number of requests changes the requests of each thread.
    single = {key: value for key, value in settings.items() if key != "replay.threads"}
    own = single | {"workload.pattern": '"random"', "measure.warm-up": '"none"'}
    requests = int(own["workload.requests"])
    few, many = run(own), run(own | {"workload.requests": str(2 * requests)})
    later = many.log.column("id") >= requests
    if not later.any():
        raise Refused
    # Compare up to the time at which the first additional request arrived at the drive, or was admitted.
    end = int(min(many.log.column("arrival_ps")[later].min(), many.log.column("submitted_ps")[later].min()))
    for name in many.log.batches[0]:
        early = few.log.column(name)[few.log.column("completed_ps") <= end]
        same = many.log.column(name)[(many.log.column("completed_ps") <= end) & ~later]
        if not np.array_equal(early, same):
            yield f"prefix: {name} of requests that completed by {end} ps differs"


def held(settings: Settings, random: Random) -> Iterator[str]:
    """Checks that holding a path during an operation changes no request if no other operation uses part of the path."""
    kind = random.choice(("bus", "pssd", "pnssd", "ideal"))
    rule = random.choice(("true", '"reads"', '"programs"'))
    alone = {"geometry.chips-per-channel": "1", "geometry.dies-per-chip": "1", "fabric.kind": f'"{kind}"'}
    if kind == "pnssd":
        alone["geometry.channels"] = "1"
    # A transaction that waits for an entry of the map arrives while its die requests a path: their order depends on
    # the path. Simultaneous arrivals at a core of the controller or at the link of the host are served in turn.
    beside = ("fabric.", "nossd.", "venice.", "mapping.", "firmware.")
    base = {key: value for key, value in settings.items() if not key.startswith(beside)} | alone
    # While a path is held, the die cannot begin its next operation during the transfer.
    base |= {"flash.read-cache": "false", "flash.suspension": '"off"'}
    # With a held path, the controller learns of a program after its die has chosen the next operation: a read is
    # served before the next page of a collection with precedence. A preemptible collection takes precedence only
    # once space has run out.
    base |= {"gc.preemptible": "true", "gc.hard-threshold": "0.0", "host.link-rate": '"unlimited"'}
    free, kept = run(base | {"fabric.hold-path": "false"}), run(base | {"fabric.hold-path": rule})
    if free.log.column("behind_gc_ps").any():
        raise Refused
    # The path decides which of two simultaneous completions admits the next request first.
    completed = np.sort(free.log.column("completed_ps"))
    if not completed.size:
        raise Refused
    ties = completed[1:][completed[1:] == completed[:-1]]
    end = int(ties[0]) if ties.size else int(completed[-1])
    one, other = rows_until(free, end), rows_until(kept, end)
    differ = [name for name in one if not np.array_equal(one[name], other[name])]
    yield from told("held", f"{', '.join(differ)} of the log differ on {kind} with {rule}" if differ else None)


def rows_until(outcome: Outcome, end_ps: int) -> dict[str, np.ndarray[Any, Any]]:
    """Returns columns of the requests that were submitted before `end_ps` and completed by then."""
    early = (outcome.column("submitted_ps") < end_ps) & (outcome.column("completed_ps") <= end_ps)
    return {name: outcome.column(name)[early] for name in ("id", "completed_ps", "array_ps", "transfer_ps")}


def formats(settings: Settings, random: Random) -> Iterator[str]:
    """Checks that a trace gives the same run in every format and with every compression."""
    drive = {key: value for key, value in settings.items() if not key.startswith(("workload.", "stream.", "replay."))}
    drive |= {"replay.mode": random.choice(('"open"', '"stress"', '"closed"'))}
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        # Every format must be able to hold the requests: times are multiples of 100 ns, the unit of MSR; addresses are
        # in sectors, the unit of the ASCII family.
        lines = (
            f"{700 * number} 0 {8 * random.randrange(64)} {8 * random.randint(1, 4)} {random.randrange(2)}\n"
            for number in range(random.choice((1, 40, 400)))
        )
        plain = folder / "trace"
        plain.write_text("".join(lines))
        first: Outcome | None = None
        for form in ("", *_native.trace_output_formats()):
            for packing in PACKINGS:
                path = folder / f"{form}{packing}" if form else plain
                if not form and packing:
                    continue
                if form:
                    source = read_or_refuse(
                        {**trace_of(plain), "workload.format": '"ascii"', "workload.time-unit": '"ns"'}
                    )
                    path.touch()
                    _native.convert_trace(source, path, path, form, False)
                says = {"workload.format": f'"{form or "ascii"}"'}
                if form in ("", "ascii"):
                    says["workload.time-unit"] = '"ns"'
                outcome = run(drive | trace_of(path) | says)
                first = first or outcome
                yield from told(f"format {form}{packing}", differing(first, outcome, *OF_THE_INPUT))


def trace_of(path: Path) -> Settings:
    """Returns the settings that replay a trace."""
    return {"workload.trace": json.dumps(str(path))}


def permuted(settings: Settings, random: Random) -> Iterator[str]:
    """Checks that channels may be permuted: reads of permuted chips take the same times in another place."""
    channels = random.choice((2, 4))
    drive = {
        "geometry.channels": str(channels),
        "geometry.page-size": '"4KiB"',
        "geometry.planes-per-die": "1",
        "ftl.allocation": '"CWDP"',
        "fabric.kind": random.choice(('"bus"', '"pssd"', '"ideal"')),
        "replay.mode": '"open"',
        "seed": settings["seed"],
        "flash.read-time": f'"{random.choice((3, 40))}us"',
        "fabric.channel-rate": f'"{random.choice((400, 1200))}MB/s"',
        "workload.format": '"ascii"',
        "workload.time-unit": '"ns"',
        "host.link-rate": '"unlimited"',
    }
    order = random.sample(range(channels), channels)
    pages = [random.randrange(400) for _ in range(random.choice((20, 200)))]
    gap = random.choice((100, 1003, 50_001))
    outcomes = []
    with tempfile.TemporaryDirectory() as name:
        for number, place in enumerate((list(range(channels)), order)):
            trace = Path(name) / f"{number}"
            moved = (page - page % channels + place[page % channels] for page in pages)
            trace.write_text("".join(f"{gap * at} 0 {8 * page} 8 1\n" for at, page in enumerate(moved)))
            outcomes.append(run(drive | trace_of(trace)))
    one, other = outcomes
    for column in ("completed_ps", "path_wait_ps", "die_wait_ps", "array_ps", "transfer_ps"):
        if not np.array_equal(one.column(column), other.column(column)):
            yield f"permuted: {column} of the log differs"
    rows = [np.array(outcome.report["utilisation"]["dies"]).reshape(channels, -1) for outcome in outcomes]
    if not np.allclose(rows[0], rows[1][order]):
        yield "permuted: the dies of a channel are not as busy as they were"


RELATIONS: dict[str, Callable[[Settings, Random], Iterator[str]]] = {
    "observers": observers,
    "doubled": doubled,
    "formats": formats,
    "prefix": prefix,
    "round trip": round_trip,
    "permuted": permuted,
    "held": held,
}
"""Relations between runs by name. All of them must hold."""


@dataclass
class Count:
    """Counts of a relation: trials, trials that held, and failures."""

    tried: int = 0
    held: int = 0
    failures: list[str] = field(default_factory=list)


def survey(runs: int, seed: int, minutes: float | None = None) -> dict[str, Count]:
    """Tries the relations alternately on random drives, for `runs` trials, or for `minutes`.

    Returns the counts by relation.
    """
    counts = {name: Count() for name in RELATIONS}
    end = time.monotonic() + 60 * minutes if minutes is not None else None
    number = 0
    while number < runs if end is None else time.monotonic() < end:
        name = tuple(RELATIONS)[number % len(RELATIONS)]
        count = counts[name]
        count.tried += 1
        found = faults_of(name, Random(f"{seed}/{name}/{number}"))
        if found is not None:
            settings, faults = found
            count.held += not faults
            count.failures += [f"{seed}/{name}/{number}: {fault}: {settings}" for fault in faults]
        number += 1
    return counts


def faults_of(name: str, random: Random) -> tuple[Settings, list[str]] | None:
    """Returns a random drive, and its violations of one relation; None if the relation does not apply."""
    settings = draw(random)
    try:
        return settings, list(RELATIONS[name](settings, random))
    except Refused:
        return None
