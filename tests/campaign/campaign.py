"""A campaign: configurations are drawn, run under all oracles, checked independently, and reduced if they fail."""

from __future__ import annotations

import json
import time
from dataclasses import dataclass, field
from random import Random
from typing import TYPE_CHECKING, Any

from campaign.arithmetic import Log, faults
from campaign.draw import BASE, aims, draw, loads
from campaign.hostile import files_faults
from campaign.stepped import foreign, restored
from flashmesh import _native
from flashmesh._native import OutputError
from flashmesh.configuration import read
from flashmesh.files import whole_file, write_text
from flashmesh.policies.attach import attach
from flashmesh.provenance import with_provenance
from flashmesh.results import Result

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from campaign.values import Settings

STATE = "campaign.json"
TWICE_EVERY = 4
"""One in this number of runs is repeated without oracles and log, and must give the same bytes."""
CUT_EVERY = 3
"""One in this number of drives runs again with a power cut at a drawn time."""
STEPPED_EVERY = 8
"""One in this number of drives is also stepped: it continues from a snapshot, is restored, and continues again."""
FILES_EVERY = 8
"""After one in this number of runs, files with a hostile policy and with a random range are read."""
DRAWS = 4
"""Maximum number of attempts to draw a drive that can be built with its workload."""
INPUTS = "inputs"
"""Folder of the traces and profiles of drawn drives."""
SAVE_S = 5.0
"""Seconds between two saves of the progress."""


@dataclass
class State:
    """Progress of a campaign."""

    seed: int
    version: str = _native.__version__
    runs: int = 0
    requests: int = 0
    cuts: int = 0
    """Number of runs whose power was cut."""
    stepped: int = 0
    """Number of drives that were stepped, restored and compared."""
    files: int = 0
    """Number of files with hostile policies or ranges that were read."""
    failures: list[str] = field(default_factory=list)
    """Names of the configuration files of failures."""

    @classmethod
    def load(cls, folder: Path, seed: int) -> State:
        """Reads the campaign with this seed from a folder. Returns a new one if the folder has none.

        Raises:
            OutputError: If the folder has a campaign of another seed or version, or cannot be read.
        """
        path = folder / STATE
        if not path.exists():
            return cls(seed)
        try:
            found = cls(**json.loads(path.read_text(encoding="utf-8")))
        except (OSError, ValueError, TypeError) as error:
            raise OutputError(f"{path}: cannot be read as the state of a campaign: {error}") from error
        if (found.seed, found.version) != (seed, _native.__version__):
            raise OutputError(
                f"{path}: is that of seed {found.seed} and version {found.version}: name another folder, or remove it"
            )
        return found

    def save(self, folder: Path) -> None:
        """Writes the progress atomically."""
        with whole_file(folder / STATE) as file:
            write_text(file, json.dumps(vars(self), indent=2) + "\n")


def result_of(report: str, config: _native.Config) -> Result:
    """Returns the result in the JSON report of a run of `config`."""
    return Result.from_json(with_provenance(report, config), config.to_toml())


@dataclass(frozen=True)
class Outcome:
    """Outcome of a run of a drawn drive; `fault` is None if nothing is wrong."""

    fault: str | None
    requests: int = 0
    """Completed requests."""
    makespan_ps: int = 0
    was_cut: bool = False
    was_stepped: bool = False


def run_once(settings: Settings, *, twice: bool = False, step: bool = False) -> Outcome:
    """Runs a configuration under all oracles.

    Args:
        settings: The configuration.
        twice: Whether to repeat the run without oracles and log.
        step: Whether to step the drive as well.
    """
    config = read({}, [f"{key}={value}" for key, value in settings.items()])
    log = Log()
    try:
        simulation = prepared(config)
        simulation.enable_checks()
        result = result_of(simulation.run(_native.Control(), log.take), config)
        if twice:
            plain = result_of(prepared(config).run(_native.Control()), config)
            if plain != result:
                return Outcome(
                    f"without oracles and log the result differs in {differing(result, plain)}", result.requests
                )
    except (_native.ConfigError, _native.WorkloadError):
        # A drive that cannot be built is refused, which is no fault.
        return Outcome(None)
    except BaseException as error:
        refuse_stop(error)
        return Outcome(f"{type(error).__name__}: {error}")
    try:
        fault = next(faults(result, log), None)
    except Exception as error:
        fault = f"the check failed: {type(error).__name__}: {error}"
    was_stepped = False
    if step and fault is None:
        was_stepped, fault = stepped(settings)
    return Outcome(fault, result.requests, result.makespan_ps, result.power_cut is not None, was_stepped)


def cut_once(settings: Settings, makespan_ps: int, random: Random) -> tuple[Settings, Outcome]:
    """Runs a configuration again, with a power cut at a random time. Returns that configuration, and the outcome."""
    cut = settings | {"power.cut": f"{random.randrange(makespan_ps + 1)}ps"}
    return cut, run_once(cut) if loads(cut) else Outcome(None)


def refuse_stop(error: BaseException) -> None:
    """Raises `error` again if it has to end the program, such as an interrupt.

    Returns for any other error, which is a fault of a drive, such as a panic of the core.
    """
    if isinstance(error, KeyboardInterrupt | SystemExit | MemoryError):
        raise error


def prepared(config: _native.Config) -> _native.Simulation:
    """Returns a simulation with the policies that its configuration names."""
    simulation = _native.Simulation(config)
    attach(simulation, config)
    return simulation


def stepped(settings: Settings) -> tuple[bool, str | None]:
    """Returns whether a drive can be stepped, and the first fault of its snapshots; None without a fault."""
    random = Random(settings["seed"])
    try:
        found = next((each for ask in (restored, foreign) for each in ask(settings, random)), None)
    except (_native.ConfigError, _native.WorkloadError):
        return False, None
    except BaseException as error:
        refuse_stop(error)
        return True, f"stepped, {type(error).__name__}: {error}"
    return True, found


def differing(one: Result, other: Result) -> str:
    """Returns the keys in which two results differ, separated by commas; empty if they are equal."""
    ours, theirs = one.outcome(), other.outcome()
    return ", ".join(key for key in ours if ours[key] != theirs.get(key))


def kind_of(failure: str) -> str:
    """Returns the kind of a failure: its text up to the first colon, without digits."""
    return "".join(character for character in failure.split(":")[0] if not character.isdigit())


def shrink(settings: Settings, failure: str) -> tuple[Settings, str]:
    """Returns reduced settings that still fail in the same way, and their failure.

    No single key beyond `BASE` can be left out of them, and their requests cannot be halved, without another outcome.
    """

    def failing(tried: Settings) -> str | None:
        if not loads(tried):
            return None
        found = run_once(tried, twice="differs" in failure, step="snapshot" in failure or "stepped" in failure).fault
        return found if found is not None and kind_of(found) == kind_of(failure) else None

    progress = True
    while progress:
        progress = False
        for key in [key for key in settings if key not in BASE]:
            fewer = {other: value for other, value in settings.items() if other != key}
            if (found := failing(fewer)) is not None:
                settings, failure, progress = fewer, found, True
        requests = int(settings["workload.requests"])
        fewer = settings | {"workload.requests": str(requests // 2)}
        if requests > 1 and (found := failing(fewer)) is not None:
            settings, failure, progress = fewer, found, True
    return settings, failure


def as_toml(settings: Settings) -> str:
    """Returns settings as the text of a configuration file."""
    config = read({}, [f"{key}={value}" for key, value in settings.items()])
    lines = "".join(f"#   {key} = {value}\n" for key, value in settings.items())
    return f"# What differs from the defaults:\n{lines}{config.to_toml()}"


def settings_of(number: int, seed: int, folder: Path | None = None) -> Settings:
    """Returns the settings of the run with this number, independent of other runs.

    Runs are aimed at the values of all keys in turn. A drive that cannot be built is drawn again, up to `DRAWS` times.
    """
    random = Random(f"{seed}/{number}")
    aim = aims()[number % len(aims())]
    for _ in range(DRAWS):
        settings = draw(random, folder, aim)
        if is_built(settings):
            break
    return settings


def is_built(settings: Settings) -> bool:
    """Returns whether a drive can be built, with the requests of its workload."""
    try:
        _native.Simulation(read({}, [f"{key}={value}" for key, value in settings.items()]))
    except (_native.ConfigError, _native.WorkloadError):
        return False
    return True


def campaign(
    runs: int | None,
    seed: int,
    folder: Path,
    *,
    minutes: float | None = None,
    on_run: Callable[[State], None] | None = None,
) -> State:
    """Runs a campaign, or continues it where it stopped.

    Args:
        runs: Total number of runs; None for no limit except the time.
        seed: The seed of all runs.
        folder: Folder of the state, and of the configurations that failed.
        minutes: Time limit.
        on_run: Called after each run.

    Raises:
        OutputError: If the folder cannot be written, or holds another campaign.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise OutputError(f"{folder}: is no folder and cannot be made: {error.strerror}") from error
    state = State.load(folder, seed)
    end = time.monotonic() + 60 * minutes if minutes is not None else float("inf")
    saved = time.monotonic()
    try:
        while (runs is None or state.runs < runs) and time.monotonic() < end:
            number = state.runs
            settings = settings_of(number, seed, folder / INPUTS)
            outcome = run_once(settings, twice=number % TWICE_EVERY == 0, step=number % STEPPED_EVERY == 0)
            state.requests += outcome.requests
            state.stepped += outcome.was_stepped
            if outcome.fault is None and not outcome.was_cut and outcome.makespan_ps and number % CUT_EVERY == 0:
                settings, outcome = cut_once(settings, outcome.makespan_ps, Random(f"{seed}/{number}/cut"))
                state.requests += outcome.requests
            state.cuts += outcome.was_cut
            if outcome.fault is not None:
                state.failures.append(report(folder, number, *shrink(settings, outcome.fault)))
            state.runs += 1
            if number % FILES_EVERY == 0:
                state.files += 1
                state.failures += files_faults(Random(f"{seed}/{number}/files"), folder / f"files-{number}")
            if on_run is not None:
                on_run(state)
            if outcome.fault is not None or time.monotonic() - saved > SAVE_S:
                state.save(folder)
                saved = time.monotonic()
    finally:
        state.save(folder)
    return state


def report(folder: Path, number: int, settings: Settings, failure: str) -> str:
    """Writes the configuration of a failure, with the fault and the command that repeats it. Returns the file name."""
    path = folder / f"failure-{number}.toml"
    head = "".join(f"# {line}\n" for line in failure.splitlines())
    with whole_file(path) as file:
        write_text(file, f"{head}# Repeat it with: make campaign REPEAT={path}\n{as_toml(settings)}")
    return str(path)


def repeat(path: Path) -> str | None:
    """Runs the configuration of a failure again. Returns the fault found; None if there is none.

    Raises:
        ConfigError: If the configuration is invalid.
    """
    import tomllib

    config = read(str(path), [])
    tables: dict[str, Any] = tomllib.loads(config.to_toml())
    return run_once(flat(tables), twice=True, step=True).fault


def flat(tables: dict[str, Any], prefix: str = "") -> Settings:
    """Returns nested tables as settings with dotted keys."""
    import tomli_w

    found: Settings = {}
    for key, value in tables.items():
        if isinstance(value, dict):
            found |= flat(value, f"{prefix}{key}.")
        else:
            found[f"{prefix}{key}"] = tomli_w.dumps({"v": value}).removeprefix("v = ").strip()
    return found
