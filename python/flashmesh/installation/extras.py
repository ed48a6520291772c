"""Extras: packages that one feature of flashmesh needs, and the command that installs them."""

from __future__ import annotations

import importlib.metadata
import re

EXTRAS = {
    "cluster": "sweeps on a cluster",
    "gym": "flashmesh.gym",
    "plots": "flashmesh report --plots",
    "search": "flashmesh optimise",
}
"""Features of flashmesh that need the packages of an extra, by extra. Extras without a feature are for development."""


def requirements() -> list[tuple[str, str, str | None]]:
    """Returns the requirements of the installed package as (name, requirement, extra); extra is None for required ones.

    Raises:
        importlib.metadata.PackageNotFoundError: If flashmesh is not installed as a package.
    """
    found = []
    for text in importlib.metadata.requires("flashmesh") or []:
        matched = re.match(r"([A-Za-z0-9._-]+)[^;]*?(?:;.*extra == ['\"](\w+)['\"])?$", text)
        if matched is not None and matched[1] != "flashmesh":
            found.append((matched[1], text.split(";")[0].strip(), matched[2]))
    return found


def install(extra: str) -> str:
    """Returns the command that installs the packages of an extra.

    The command names the packages, so that it also works if flashmesh was installed from a file.
    """
    try:
        wanted = [text for _, text, each in requirements() if each == extra]
    except importlib.metadata.PackageNotFoundError:
        wanted = []
    return " ".join(["pip install", *(f"'{text}'" for text in wanted or [f"flashmesh[{extra}]"])])
