"""Facts about this installation: version, build, runtime and platform."""

from __future__ import annotations

import platform

from flashmesh._native import __version__, build_facts

PROFILES = {"debug": "debug (made for tests; `make build` makes a faster one)"}
"""Descriptions of slow build profiles, as a warning to users."""


def facts() -> dict[str, str]:
    """Returns the facts by name, the version first."""
    build = dict(build_facts())
    return {
        "flashmesh": __version__,
        "commit": build["commit"],
        "build": f"{PROFILES.get(build['profile'], build['profile'])}, {build['compiler']}, {build['target']}",
        "python": f"{platform.python_implementation()} {platform.python_version()}",
        "platform": platform.platform(),
    }


def text() -> str:
    """Returns the facts as lines: the version as `flashmesh VERSION`, then the other facts in columns."""
    (name, version), *others = facts().items()
    width = max(len(other) for other, _ in others)
    return "\n".join([f"{name} {version}", *(f"{other:<{width}}  {value}" for other, value in others)])
