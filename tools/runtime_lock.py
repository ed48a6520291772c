#!/usr/bin/env python3
"""Prints the part of requirements.lock that flashmesh needs to run, with hashes: `python tools/runtime_lock.py`.

The part follows from the requirements of the installed packages. It includes the extras in `EXTRAS`, but no packages
that only other extras need.
"""

from __future__ import annotations

import re
from importlib.metadata import PackageNotFoundError, requires
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

LOCK = Path(__file__).resolve().parents[1] / "requirements.lock"
ENTRY = re.compile(r"^([A-Za-z0-9._-]+)==.*(?:(?<=\\)\n.*)*$", re.MULTILINE)
EXTRAS = ("plots", "search")
"""Extras that an image installs together with flashmesh."""


def needed(name: str, extras: tuple[str, ...] = ()) -> set[str]:
    """Returns the canonical names of all packages that a package needs, directly or indirectly."""
    found: set[str] = set()
    waiting = [(canonicalize_name(name), extras)]
    while waiting:
        package, wanted = waiting.pop()
        try:
            lines = requires(package) or []
        except PackageNotFoundError:
            lines = []
        for requirement in map(Requirement, lines):
            marker = requirement.marker
            if marker is not None and not any(marker.evaluate({"extra": extra}) for extra in ("", *wanted)):
                continue
            below = canonicalize_name(requirement.name)
            if below not in found:
                found.add(below)
                waiting.append((below, tuple(requirement.extras)))
    return found - {canonicalize_name(name)}


def runtime_lock(text: str) -> str:
    """Returns the entries of the lock file for the needed packages."""
    entries = {canonicalize_name(found[1]): found[0] for found in ENTRY.finditer(text)}
    names = needed("flashmesh", EXTRAS)
    missing = sorted(names - entries.keys())
    if missing:
        raise SystemExit(f"requirements.lock lacks {', '.join(missing)}")
    return "".join(f"{entries[canonicalize_name(name)]}\n" for name in sorted(names))


if __name__ == "__main__":
    print(runtime_lock(LOCK.read_text(encoding="utf-8")), end="")
