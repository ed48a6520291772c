"""Reading and checking of configurations, from files, tables or typed parameters."""

from __future__ import annotations

import json
import os
import re
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from flashmesh import provenance
from flashmesh._native import Config, ConfigError, WorkloadError
from flashmesh.configuring import spare_space
from flashmesh.configuring.errors import at_jobs, in_python
from flashmesh.configuring.missing import PRESET_PREFIX as PRESET_PREFIX
from flashmesh.configuring.missing import refuse_missing_trace, refuse_what_is_no_configuration
from flashmesh.configuring.sources import STDIN, PipeText, identity, place_of, refuse_unspeakable, toml_of
from flashmesh.configuring.sources import ConfigSource as ConfigSource
from flashmesh.configuring.sources import TomlTables as TomlTables
from flashmesh.configuring.sources import interruptibly as interruptibly
from flashmesh.configuring.sources import plain as plain
from flashmesh.configuring.sources import read_once as read_once
from flashmesh.configuring.sources import value_text as value_text
from flashmesh.configuring.spelling import spelt_settings
from flashmesh.texts.printable import printable

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from flashmesh.importers.fio import FioJobs

REASONS_SHOWN = 3
"""Maximum number of reasons that the error for a key without effect lists."""


def load(
    source: ConfigSource | PipeText,
    *,
    overrides: Mapping[str, Any] | None = None,
    varied: Mapping[str, str] | None = None,
    trace: str | Path | None = None,
    profile: str | None = None,
    fio: FioJobs | None = None,
    seed: int | None = None,
    tolerate: bool = False,
    sort: bool = False,
    runs: bool = True,
    keep: str = spare_space.KEPT,
    typed: Mapping[str, Any] | None = None,
    trust_policies: bool = False,
    place: str | None = None,
) -> Config:
    """Reads and checks a configuration.

    Args:
        source: The configuration.
        overrides: Values by their dotted key, such as `{"fabric.kind": "ideal"}`.
        varied: For one of several runs, the values of the axes, which replace those of `overrides`. None for a single
            run, which must read every key of `overrides`.
        trace: A trace file to replay instead of the workload of the configuration. Requests follow its time stamps,
            unless an override of `CHOOSING`, or a configuration given as tables, selects another mode.
        profile: A named profile to replay instead.
        fio: fio jobs to run instead, each as a stream; `overrides` override their settings. A trace or a profile
            becomes a further stream.
        seed: Seed of all random numbers.
        tolerate: Whether to skip all unusable lines of a trace.
        sort: Whether to accept a trace that is out of order within the sorting window.
        runs: Whether the configuration is to be run, so that policies named in a file must be trusted.
        keep: The quantity that stays constant if axes change the raw capacity: one of `spare_space.KEEP`.
        typed: The settings in `overrides` and `varied` that the user gave directly; None for all.
        trust_policies: Whether a file, or tables that may come from one, may name policies, whose code then runs.
        place: The name of tables in errors about policies.

    Raises:
        ConfigError: If the configuration is invalid; the message shows the place.
        WorkloadError: If `trace` is not a valid path of a file.
    """
    if trace is not None and profile is not None:
        raise ConfigError("trace and profile exclude each other: a run replays one workload")
    if fio is not None:
        source = source if isinstance(source, PipeText) else read_once(source)
        refuse_streams(source)
        if fio.asks_capacity:
            fio = fio.on(capacity_of(source, overrides, varied))
    elif str(source) == STDIN:
        source = read_once(STDIN)
    if fio is not None and (trace is not None or profile is not None):
        from flashmesh.configuring.beside import with_stream

        reading = {"tolerate": "1.0"} if tolerate else {}
        reading |= {"sort": "true"} if sort else {}
        named = ("trace", trace_path(trace)) if trace is not None else ("profile", str(profile))
        fio = with_stream(fio, *named, reading)
        trace, profile, tolerate, sort = None, None, False, False
    if overrides is not None and not isinstance(overrides, Mapping):
        raise ConfigError(f"overrides: expected a mapping of keys to values, not {type(overrides).__name__}")
    is_alone, varied = varied is None, varied or {}
    overrides = spelt_settings(overrides or {})
    spare_space.check_kept(keep, varied)
    followed: dict[str, str] = {}
    if keep == spare_space.KEPT and spare_space.CAPACITY not in overrides and spare_space.is_followed(varied):
        workload: dict[str, Any] = {"trace": trace, "profile": profile, "fio": fio, "tolerate": tolerate, "sort": sort}

        def with_some(settings: dict[str, str]) -> Config:
            given = {"overrides": overrides, "varied": settings, "seed": seed, **workload}
            return load(source, runs=False, keep="capacity", **given)

        followed = spare_space.followed(varied, with_some, identity(source, overrides))
        varied = {**varied, **followed}
    given = [f"{key}={value_text(value)}" for key, value in (overrides or {}).items() if key not in varied]
    asked = [f"{key}={value_text(value)}" for key, value in (fio.settings if fio is not None else {}).items()]
    texts = given + [f"{key}={value}" for key, value in varied.items()]
    # Errors name an override by its number; replace that by the option or argument that set it.
    origins = {f"--set #{len(given) + 1 + number}": f"--vary {key}" for number, key in enumerate(varied)}
    if provenance.command is None:
        origins = dict(
            zip((f"--set #{number}" for number in range(1, len(texts) + 1)), arguments(overrides, varied), strict=True)
        )
    if followed:
        origins[f"--set #{len(texts)}"] = spare_space.ORIGIN

    def add(origin: str, *settings: str) -> None:
        for setting in settings:
            texts.append(setting)
            origins[f"--set #{len(texts)}"] = origin

    if trace is not None:
        add("--trace", f"workload.trace={json.dumps(trace_path(trace))}")
    if profile is not None:
        add("--profile", f"workload.profile={json.dumps(profile)}")
    if seed is not None:
        add("--seed", f"seed={value_text(seed)}")
    if tolerate:
        add("--tolerate", "workload.tolerate=1.0")
    if sort:
        add("--sort", "workload.sort=true")
    for setting in [*asked, *texts]:
        refuse_unspeakable(setting)
    try:
        if trace is not None and keeps_requests_in_flight(source, texts, asked, {*overrides, *varied}):
            add("--trace", 'replay.mode="open"')
        config = read(source, texts, asked)
    except ConfigError as error:
        text = re.sub(r"--set #\d+", lambda match: origins.get(match[0], match[0]), str(error))
        if provenance.command is None:
            text = in_python(text, source)
        raise ConfigError(text if fio is None else at_jobs(text, fio)) from None
    policies = config.policies() if runs else []
    if policies:
        from flashmesh.policies.trust import refuse_untrusted

        own = [*({**overrides, **varied} if typed is None else spelt_settings(typed)).values()]
        for key, name in policies:
            where = "the file" if key in overrides or key in varied else place or place_of(source)
            refuse_untrusted(where, key, name, own, trust_policies)
    if is_alone:
        refuse_unread([config], overrides)
    return config


CHOOSING = {f"replay.{key}" for key in ("mode", "outstanding", "threads", "think-time")}
"""Keys that decide whether a replay follows time stamps or the completion of earlier requests."""


def keeps_requests_in_flight(
    source: ConfigSource | PipeText, texts: list[str], asked: list[str], given: set[str]
) -> bool:
    """Returns whether the mode of the configuration ignores the time stamps of a trace.

    Returns False if a key in `given` selects the mode, or if the configuration is given as tables.
    """
    if given & CHOOSING or isinstance(source, Mapping | TomlTables):
        return False
    # Leave out keys of replays: a key of open replay, such as replay.time-scale, is an error in another mode.
    others = [text for text in texts if not text.startswith("replay.")]
    try:
        replay = json.loads(read_quietly(source, others, asked).to_json()).get("replay")
    except ConfigError:
        return False  # the caller reads all keys and reports the error
    return replay is not None and replay["mode"] != "open"


def arguments(overrides: Mapping[str, Any], varied: Mapping[str, str]) -> list[str]:
    """Returns how errors name each setting of a library call, in order, such as `overrides['seed']`."""
    given = [f"overrides[{key!r}]" for key in overrides if key not in varied]
    return [*given, *(f"vary[{key!r}]" for key in varied)]


def refuse_unread(configs: Sequence[Config], keys: Iterable[str]) -> None:
    """Refuses keys without an effect: those that no run reads.

    Raises:
        ConfigError: If no run reads one of the keys.
    """
    for key in keys:
        reasons: set[str] = set()
        for config in configs:
            reason = config.unread(key)
            if reason is None:
                break
            reasons.add(reason)
        else:
            where = "" if len(configs) == 1 else f" in any of the {len(configs)} runs"
            told = "; ".join(sorted(reasons)[:REASONS_SHOWN])
            raise ConfigError(f"{key} has no effect{where}: {told}; leave it out, or change what it is used with")


READING = (
    "format",
    "time-unit",
    "address-unit",
    "polarity",
    "blkparse-event",
    "beyond",
    "sort",
    "flushes",
    "tolerate",
    "requests",
)
"""Keys of `[workload]` that determine how a trace file is read; all other keys describe the drive or the requests."""


def load_trace(trace: str | Path, *, overrides: Mapping[str, Any] | None = None, tolerate: bool = False) -> Config:
    """Returns a configuration for reading a trace without a drive.

    Args:
        trace: The trace.
        overrides: The settings for reading; only keys of `READING` are allowed.
        tolerate: Whether to skip all unusable lines of the trace.

    Raises:
        ConfigError: If an override is invalid, or concerns a drive or its requests.
        WorkloadError: If `trace` is not a valid path of a file.
    """
    config = load({}, overrides=overrides, trace=trace, tolerate=tolerate)
    keys = [f"workload.{key}" for key in READING]
    others = [key for key in overrides or {} if key not in keys]
    if others:
        raise ConfigError(
            f"{', '.join(others)}: no effect on how a trace is read; the keys for that are {', '.join(keys)}"
        )
    return config


def read(source: ConfigSource | PipeText, overrides: list[str], jobs: list[str] | None = None) -> Config:
    """Reads a configuration with overrides and settings of fio jobs (`jobs`), and reports its notes.

    Overrides take precedence over the settings of fio jobs.
    """
    config = read_quietly(source, overrides, jobs or [])
    for note in config.notes():
        tell(note, source)
    if is_single_run() and isinstance(source, (str, Path, PipeText)):
        for note in config.unused():
            tell(note, source)
    return config


def is_single_run() -> bool:
    """Returns whether this process is `flashmesh run`: other commands and programs may vary the modes of a file."""
    return provenance.command is not None and provenance.command[1:2] == ["run"]


told: set[str] = set()
"""Notes that this process has already printed. A sweep reads thousands of configurations, but prints a note once."""


def tell(note: str, source: ConfigSource | PipeText, category: type[Warning] = FutureWarning) -> None:
    """Reports a note about a configuration: on stderr from the command line, as a warning in a program.

    Args:
        note: The note for the author of the configuration.
        source: The configuration; its file name precedes the note.
        category: The category of the warning.
    """
    match source:
        case str() | Path() if not str(source).startswith(PRESET_PREFIX):
            note = f"{source}: {note}"
        case PipeText():
            note = f"{source.name}: {note}"
    if provenance.command is None:
        import warnings

        # Let the warning name the caller of the library, at any depth of the call stack.
        frame, depth = sys._getframe(), 1
        while frame.f_back is not None and str(frame.f_globals.get("__name__")).partition(".")[0] == "flashmesh":
            frame, depth = frame.f_back, depth + 1
        warnings.warn(note, category, stacklevel=depth)
    elif note not in told:
        told.add(note)
        import click

        click.echo(f"note: {printable(note)}", err=True)


def read_quietly(source: ConfigSource | PipeText, overrides: list[str], jobs: list[str]) -> Config:
    """Reads a configuration like `read`, but without reporting its notes."""
    match source:
        case str() if source.startswith(PRESET_PREFIX):
            refuse_unspeakable(source)
            name = source.removeprefix(PRESET_PREFIX)
            return Config.from_str(f"preset = {json.dumps(name)}\n", source, overrides, jobs)
        case str() | Path():
            try:
                os.fsencode(source)
            except UnicodeError as error:
                raise ConfigError(f"{str(source)!r}: is not a valid file name") from error
            return read_file(source, overrides, jobs)
        case PipeText():
            return Config.from_str(source.text, source.name, overrides, jobs)
        case Mapping() | TomlTables():
            return Config.from_str(toml_of(source), "<configuration>", overrides, jobs)
        case _:
            raise TypeError(
                f"expected a path, a mapping or typed parameters as configuration, not {type(source).__name__}"
            )


def read_file(path: str | Path, overrides: list[str], jobs: list[str]) -> Config:
    """Reads a configuration file. If that fails, examines the path to suggest the right argument in the error."""
    try:
        if os.path.isfile(path):  # noqa: PTH113 - a sweep reads a thousand times
            return Config.from_file(path, overrides, jobs)
        return interruptibly(lambda: Config.from_file(path, overrides, jobs))
    except (ConfigError, ValueError):
        refuse_what_is_no_configuration(path)
        raise


def refuse_streams(source: ConfigSource | PipeText) -> None:
    """Refuses a configuration that defines streams, if fio jobs are given: its streams would run alongside the jobs.

    Raises:
        ConfigError: If the configuration has streams.
    """
    import tomllib

    try:
        streams = tomllib.loads(read(source, []).to_toml()).get("stream")
    except ConfigError:
        return  # overrides may correct the error; otherwise it is reported later
    if streams:
        names = ", ".join(f"[stream.{name}]" for name in streams)
        raise ConfigError(f"the configuration has streams of its own, {names}: with fio its jobs are the streams")


PER_STREAM = ("workload", "replay", "queue", "stream")
"""Sections of a configuration that fio jobs set themselves."""


def capacity_of(
    source: ConfigSource | PipeText, overrides: Mapping[str, Any] | None, varied: Mapping[str, str] | None
) -> int:
    """Returns the host capacity in bytes of the drive of a configuration whose streams are not known yet.

    Raises:
        ConfigError: If the configuration is invalid.
    """
    import tomllib

    from flashmesh.sweeps.inputs.ranges import quantity
    from flashmesh.validation.loads.workload import capacity_bytes

    given = {**(spelt_settings(overrides or {})), **(varied or {})}
    texts = [f"{key}={value_text(value)}" for key, value in given.items() if key.partition(".")[0] not in PER_STREAM]
    tables = tomllib.loads(read_quietly(source, texts, []).to_toml())
    page = int(quantity("geometry.page-size", tables["geometry"]["page-size"]).value)
    # Requests go to the first namespace, if there are any.
    for namespace in tables.get("namespace", {}).values():
        if "capacity" in namespace:
            return int(quantity("geometry.capacity", namespace["capacity"]).value)
        break
    return capacity_bytes(tables) // page * page


def trace_path(trace: str | Path) -> str:
    """Returns the absolute path of a trace.

    Raises:
        WorkloadError: If the trace does not exist, or its path is no valid text in a configuration.
    """
    try:
        # Do not resolve symbolic links: those in /dev/fd lead to no path, and links may form a cycle.
        path = os.path.abspath(trace)  # noqa: PTH100 - pathlib resolves links as well
        path.encode()
    except (OSError, RuntimeError, TypeError, ValueError) as error:
        raise WorkloadError(f"{str(trace)!r}: a trace needs a path that is a UTF-8 text") from error
    if "\0" in path:
        raise WorkloadError(f"{str(trace)!r}: a trace needs a path without NUL")
    refuse_missing_trace(trace)
    return path
