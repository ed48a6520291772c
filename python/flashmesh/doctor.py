"""Diagnosis of an installation: its components, the resources of the machine, and a test run."""

from __future__ import annotations

import importlib.metadata
import os
import platform
import shutil
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from flashmesh.installation import memory
from flashmesh.installation.extras import EXTRAS, install, requirements
from flashmesh.installation.facts import facts

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

Level = Literal["ok", "note", "fault"]
BROWSERS = ("chromium", "google-chrome", "chrome", "firefox", "safari")
ROOM_MIN = 100 * 2**20
"""Free space of a folder, in bytes, below which a note warns that temporary files and results may not fit."""
FILES_MIN = 256
"""Number of open files that a sweep on all cores may need. A lower limit of the system gets a note."""
ANSWER_S = 10
"""Timeout in seconds for a program to print its version."""
TRIED = 2_000
"""Number of requests of the test run."""


@dataclass(frozen=True, slots=True)
class Finding:
    """A fact about the installation, and its effect on flashmesh."""

    group: str
    name: str
    value: str
    level: Level = "ok"
    """`note` if a feature is missing or slow, `fault` if flashmesh does not work."""
    remedy: str = ""


def examine() -> Iterator[Finding]:
    """Yields every finding, in the order of display."""
    examined: tuple[Callable[[], Iterator[Finding]], ...] = (
        build,
        packages,
        programs,
        machine,
        limits,
        terminal,
        folders,
        trial,
    )
    for part in examined:
        yield from part()


def build() -> Iterator[Finding]:
    """Yields findings on the version, the compiled module and the Python runtime."""
    for name, value in facts().items():
        if name == "build" and value.startswith("debug"):
            yield Finding("build", name, value, "note", "simulates some ten times slower than a release build")
        else:
            yield Finding("build", name, value)
    try:
        installed = importlib.metadata.version("flashmesh")
    except importlib.metadata.PackageNotFoundError:
        yield Finding("build", "package", "not installed", "note", "not installed by pip: it runs from a source folder")
        return
    compiled = facts()["flashmesh"]
    if installed == compiled:
        yield Finding("build", "package", installed)
    else:
        remedy = f"the compiled module is of version {compiled}: reinstall, or run make build"
        yield Finding("build", "package", installed, "fault", remedy)


def packages() -> Iterator[Finding]:
    """Yields a finding for each required package, and for the packages of extras."""
    try:
        required = requirements()
    except importlib.metadata.PackageNotFoundError:
        return
    for name, wanted, extra in required:
        if extra is not None and extra not in EXTRAS:
            continue
        try:
            version = importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            level: Level = "note" if extra else "fault"
            remedy = f"for {EXTRAS[extra]}: {install(extra)}" if extra else f"pip install '{wanted}'"
            yield Finding("packages", name, "not installed", level, remedy)
            continue
        if satisfies(version, wanted):
            yield Finding("packages", name, version)
        else:
            yield Finding("packages", name, version, "note" if extra else "fault", f"pip install '{wanted}'")


def programs() -> Iterator[Finding]:
    """Yields findings on the programs that some commands need, such as nbdkit, and on their plugins."""
    from flashmesh.serving.nbdkit import INSTALL, PLUGIN

    found = shutil.which("nbdkit")
    if found is None:
        yield Finding("programs", "nbdkit", "not installed", "note", f"for flashmesh serve: {INSTALL}")
    else:
        version = said(found, "--version").removeprefix("nbdkit ").split(" ")[0]
        yield Finding("programs", "nbdkit", f"{version} ({found})".strip())
    if PLUGIN.exists():
        yield Finding("programs", "nbdkit plugin", str(PLUGIN))
    else:
        remedy = "for flashmesh serve: included in wheels for Linux, and built by make build"
        yield Finding("programs", "nbdkit plugin", "missing", "note", remedy)


def said(program: str, argument: str) -> str:
    """Returns the first line that a program prints when called with `argument`.

    Empty if the program fails or exceeds the timeout.
    """
    try:
        done = subprocess.run([program, argument], capture_output=True, text=True, timeout=ANSWER_S, check=False)
    except (OSError, subprocess.SubprocessError, UnicodeError):
        return ""
    return done.stdout.partition("\n")[0]


def satisfies(version: str, wanted: str) -> bool:
    """Returns whether a version satisfies a requirement such as `numpy>=2`."""
    from packaging.requirements import Requirement

    return Requirement(wanted).specifier.contains(version, prereleases=True)


def machine() -> Iterator[Finding]:
    """Yields findings on cores and memory."""
    from flashmesh.simulate import cores

    usable, present = cores(), os.cpu_count() or 1
    yield Finding("machine", "cores", f"{usable} of {present}" if usable != present else f"{usable}")
    yield Finding("machine", "processor", platform.processor() or platform.machine())
    least = min(memory.limits(), key=lambda limit: limit.left, default=None)
    if least is None:
        yield Finding(
            "machine", "memory", "unknown", "note", "runs that need too much memory are not refused at their start"
        )
    else:
        level: Level = "ok" if least.left > 2**30 else "note"
        yield Finding(
            "machine", "memory", f"{memory.size(max(least.left, 0))} left ({least.name})", level, "see flashmesh config"
        )


def limits() -> Iterator[Finding]:
    """Yields findings on the limits of `ulimit` that runs may reach."""
    try:
        import resource
    except ImportError:
        return
    files = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
    is_enough = files == resource.RLIM_INFINITY or files >= FILES_MIN
    shown = "unlimited" if files == resource.RLIM_INFINITY else f"{files:,}"
    yield Finding("limits", "open files", shown, "ok" if is_enough else "note", f"ulimit -n {FILES_MIN * 4}")
    for name, number, option in (
        ("file size", resource.RLIMIT_FSIZE, "-f"),
        ("address space", resource.RLIMIT_AS, "-v"),
        ("processor time", resource.RLIMIT_CPU, "-t"),
    ):
        soft = resource.getrlimit(number)[0]
        if soft != resource.RLIM_INFINITY:
            yield Finding("limits", name, f"{soft:,}", "note", f"ulimit {option} ends runs that need more")


def terminal() -> Iterator[Finding]:
    """Yields findings on the terminal for tables and on the browser for reports."""
    if sys.stdout is not None and sys.stdout.isatty():
        size = shutil.get_terminal_size()
        yield Finding("shown on", "terminal", f"{size.columns} columns, {sys.stdout.encoding}")
    else:
        yield Finding("shown on", "terminal", "none: tables are plain ASCII, 80 or 100 columns wide")
    browser = next((found for name in BROWSERS if (found := shutil.which(name))), None)
    if browser is None:
        yield Finding("shown on", "browser", "none found", "note", "a report is a file: open it on another machine")
    else:
        yield Finding("shown on", "browser", browser)
    yield fonts()


def fonts() -> Finding:
    """Returns a finding on the fonts that reports and figures use."""
    from importlib.util import find_spec

    if find_spec("vl_convert") is not None:
        return Finding("shown on", "fonts", "those of the browser; figures of --plots carry their own")
    return Finding("shown on", "fonts", "those of the browser")


def folders() -> Iterator[Finding]:
    """Yields findings on the folders in which flashmesh writes files."""
    for name, folder in (("working folder", Path.cwd()), ("temporary files", Path(tempfile.gettempdir()))):
        try:
            with tempfile.TemporaryFile(dir=folder) as file:
                file.write(b"flashmesh")
                file.flush()
            room = shutil.disk_usage(folder).free
        except OSError as error:
            remedy = "not writable: name another folder with --out or --json, or with TMPDIR for temporary files"
            yield Finding("folders", name, f"{folder}: {error.strerror}", "note", remedy)
            continue
        level: Level = "ok" if room >= ROOM_MIN else "note"
        yield Finding("folders", name, f"{folder}, {memory.size(room)} left", level, "make room for results")


def trial() -> Iterator[Finding]:
    """Yields the finding of a test run with all oracles (checks of the simulation as it runs) enabled."""
    from flashmesh import run

    begun = time.perf_counter()
    try:
        result = run("preset:venice-z-nand", overrides={"workload.requests": TRIED}, check=True)
    except Exception as error:
        text = " ".join(str(error).split())
        yield Finding("trial", "run", f"{type(error).__name__}: {text}", "fault", "report it, with this output")
        return
    took = time.perf_counter() - begun
    yield Finding("trial", "run", f"{result.requests:,} requests with all checks in {took:.2f} s")
