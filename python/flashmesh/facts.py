"""Facts about this installation: its version, its build, and what it runs on."""

from __future__ import annotations

import platform

from flashmesh._native import __version__, build_facts


def facts() -> dict[str, str]:
    """The facts by their names, the version first."""
    build = dict(build_facts())
    return {
        "flashmesh": __version__,
        "commit": build["commit"],
        "build": f"{build['profile']}, {build['compiler']}, {build['target']}",
        "python": f"{platform.python_implementation()} {platform.python_version()}",
        "platform": platform.platform(),
    }


def text() -> str:
    """The facts, a line each, the version as programs commonly print it."""
    (name, version), *others = facts().items()
    width = max(len(other) for other, _ in others)
    return "\n".join([f"{name} {version}", *(f"{other:<{width}}  {value}" for other, value in others)])
