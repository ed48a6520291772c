"""Errors for paths that do not exist or are not configurations."""

from __future__ import annotations

import re
from pathlib import Path

from flashmesh._native import ConfigError, WorkloadError, former_presets, presets, profiles_by_paper

PRESET_PREFIX = "preset:"
DRIVE = f"{PRESET_PREFIX}venice-z-nand"
XML_STARTS = (b"<?xml", b"<Execution_Parameter_Set", b"<MQSim")
PACKED_STARTS = (b"\x1f\x8b", b"\xfd7zXZ\0", b"\x28\xb5\x2f\xfd")
"""First bytes of gzip, xz and zstd files."""
IOLOG_START = "fio version"
JOB = re.compile(rb"^[ \t]*(?:rw|readwrite|ioengine)[ \t]*=[ \t]*[a-z]", re.MULTILINE)
"""Pattern of a line of a fio job file: an option with a bare word, which is not TOML."""
STUDY = re.compile(rb"^config[ \t]*=", re.MULTILINE)
"""Pattern of the line of a sweep or search file that names its configuration."""
SPACE = re.compile(rb"^\[space\b", re.MULTILINE)
"""Pattern of the section `[space]`, which only search files have."""
BEGINNING = 4096
"""Number of bytes at the start of a file by which a trace, a job file or saved results are recognised."""
TRACE_FIELDS = 3
"""Minimum number of fields in a line of a trace."""


def refuse_what_is_no_configuration(source: str | Path) -> None:
    """Refuses a missing path, a folder, a trace, a job file of fio, a sweep, a search, saved results and an XML file.

    Raises:
        ConfigError: If the path is refused. The message suggests the right argument.
    """
    path = Path(source)
    try:
        is_there, start = path.exists(), beginning_of(path)
    except (OSError, ValueError):
        return  # the reader reports the error later
    if not is_there and path.is_symlink():
        raise ConfigError(f"{source}: {where_links_lead(path)}")
    if not is_there:
        raise ConfigError(f"{source}: there is no such file{meant(path)}")
    if path.is_dir():
        raise ConfigError(f"{source}: is a folder, not a configuration: `flashmesh show` shows the results in a folder")
    if looks_like_trace(start):
        raise ConfigError(
            f"{source}: this is a trace: --trace {source} replays it on a drive, such as preset:venice-z-nand"
        )
    if JOB.search(start):
        raise ConfigError(
            f"{source}: this is a job file of fio: --fio {source} runs it on a drive, such as preset:venice-z-nand"
        )
    if STUDY.search(start):
        kind, command = ("search", "optimise") if SPACE.search(start) else ("sweep", "sweep")
        raise ConfigError(f"{source}: this is a {kind}, not a configuration: `flashmesh {command} {source}` runs it")
    if start.startswith(b"{"):
        raise ConfigError(
            f"{source}: is JSON, and a configuration is TOML: "
            "`flashmesh report` and `flashmesh show` take saved results"
        )
    if start.startswith(XML_STARTS):
        raise ConfigError(
            f"{source}: is XML, and a configuration is TOML: "
            "`flashmesh import-mqsim` makes configurations from the files of MQSim"
        )


def beginning_of(path: Path) -> bytes:
    """Returns the start of a file after white space; empty for special files, since reading a pipe would consume it."""
    if not path.is_file():
        return b""
    with path.open("rb") as file:
        return file.read(BEGINNING).removeprefix(b"\xef\xbb\xbf").lstrip()


def looks_like_trace(start: bytes) -> bool:
    """Returns whether a file with this start is compressed, is a log of fio, or begins with a line of a trace.

    A line of a trace has at least `TRACE_FIELDS` fields, at least half of them numbers.
    """
    if start.startswith(PACKED_STARTS):
        return True
    lines = (line.strip() for line in start.decode(errors="replace").splitlines())
    first = next((line for line in lines if line and not line.startswith("#")), "")
    if first.startswith(IOLOG_START):
        return True
    fields = [field for field in re.split(r"[,;\s]+", first) if field]
    numbers = sum(re.fullmatch(r"[0-9.]+(e[+-]?[0-9]+)?", field) is not None for field in fields)
    return "=" not in first and not first.startswith("[") and len(fields) >= TRACE_FIELDS and 2 * numbers >= len(fields)


def where_links_lead(path: Path) -> str:
    """Returns the error text for a symbolic link that leads to no file: its missing target, or a cycle of links."""
    try:
        return f"is a symbolic link to {path.resolve(strict=False)}, and there is no such file"
    except (OSError, RuntimeError):  # RuntimeError before Python 3.13
        return "its symbolic links form a cycle"


def refuse_missing_trace(trace: str | Path) -> None:
    """Refuses the path of a trace that does not exist.

    Raises:
        WorkloadError: If no file has the path. The message suggests a similar one.
    """
    path = Path(trace)
    try:
        path.lstat()
    except FileNotFoundError:
        raise WorkloadError(f"{trace}: there is no such file{beside(path)}") from None
    except OSError:
        return  # the reader reports the error later


def meant(path: Path) -> str:
    """Returns the end of an error message that suggests a preset, workload or file with a similar name."""
    from flashmesh.importers.problems import suggestion

    name = path.stem if path.suffix == ".toml" else path.name
    if path.parent == Path() and path.name in profile_names():
        return f": --profile {path.name} replays this workload on a drive, such as {DRIVE}"
    near_preset = suggestion(name, [*presets(), *former_presets()])
    if path.parent == Path() and near_preset:
        return f": did you mean {PRESET_PREFIX}{former_presets().get(near_preset, near_preset)}?"
    return beside(path)


def profile_names() -> set[str]:
    """Returns the names of the published workloads."""
    return {name for each in profiles_by_paper().values() for name in each}


def beside(path: Path) -> str:
    """Returns the end of an error message that suggests a file with a similar name."""
    from flashmesh.example_files import is_example
    from flashmesh.importers.problems import suggestion

    if is_example(path):
        return ": `flashmesh examples` writes the examples of the documentation"

    try:
        others = [other for other in path.parent.iterdir() if other.is_file()]
    except OSError:
        return f": there is no folder {path.parent} either"
    # Compare names without suffixes: short names would be similar by their suffixes alone.
    stems = {other.stem: other for other in others}
    near = suggestion(path.stem, stems)
    return f": did you mean {stems[near]}?" if near else ""
