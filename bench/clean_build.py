"""Time of a clean build of the Python module, and size of the module."""

from __future__ import annotations

import json
import shutil
import time
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING

from bench import build, measure

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from rich.console import Console

PROFILES = {"clean build, make build": "quick"}
LONG_PROFILES = {"clean build, wheel": "release"}
"""Profiles of builds that take minutes and run only on demand."""


@dataclass(frozen=True, slots=True)
class Built:
    """Cost of a clean build, and size of its module."""

    cpu_s: float
    """Processor time of all processes, in seconds."""
    wall_s: float
    module_bytes: int


def clean(profile: str) -> Built:
    """Builds the module and all its dependencies in an empty folder. Returns the cost."""
    target = build.ROOT / "target" / "bench" / "clean"
    shutil.rmtree(target, ignore_errors=True)
    arguments = build.cargo_command(profile, target, "--package", "flashmesh-py", "--lib")
    begun = time.monotonic()
    usage = measure.run(arguments, build.module_environment(), build.ROOT)
    wall_s = time.monotonic() - begun
    size = (target / profile / "lib_native.so").stat().st_size
    shutil.rmtree(target)
    return Built(usage.cpu_s, wall_s, size)


def show(names: Sequence[str], file: Path, console: Console) -> None:
    """Measures clean builds, prints them beside the previous measurements, and stores them in a file."""
    earlier = json.loads(file.read_text()) if file.is_file() else {}
    for name in names:
        built = clean((PROFILES | LONG_PROFILES)[name])
        before = Built(**earlier[name]) if name in earlier else None
        text = f"{name:<34} {built.cpu_s:6.1f} s CPU, {built.wall_s:.1f} s, module {built.module_bytes / 1e6:.1f} MB"
        if before is not None:
            text += f"; before {before.cpu_s:.1f} s CPU, {before.module_bytes / 1e6:.1f} MB"
        console.print(text)
        earlier[name] = asdict(built)
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(json.dumps(earlier, indent=2) + "\n")
