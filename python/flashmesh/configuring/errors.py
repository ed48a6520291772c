"""Errors of configurations, with the place that the author wrote: an argument, typed parameters or a job file."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from flashmesh._native import toml_places
from flashmesh.configuring.sources import PipeText, toml_of

if TYPE_CHECKING:
    from flashmesh.configuring.sources import ConfigSource
    from flashmesh.importers.fio import FioJobs

CUT = "..."
"""Sign for omitted text in a line that an error shows."""


def in_python(text: str, source: ConfigSource | PipeText) -> str:
    """Rewrites an error message for programs: shows the argument, or the Python path of the value, instead of TOML."""

    def argument(shown: re.Match[str]) -> str:
        return f" --> {shown['place']} = {shown['value'].strip()!r}"

    def place(shown: re.Match[str]) -> str:
        path = python_path(source, int(shown["line"]), int(shown["column"]))
        return f" --> {path}" if path else shown[0]

    text = re.sub(
        r"^ *--> (?P<place>(?:overrides|vary)\[.*?\]):1:\d+\n *\|\n1 \| [^=\n]*=(?P<value>.*)\n *\|.*$",
        argument,
        text,
        flags=re.M,
    )
    text = re.sub(
        r"^ *--> <configuration>:(?P<line>\d+):(?P<column>\d+)\n *\|\n\d+ \| .*\n *\|.*$", place, text, flags=re.M
    )
    return re.sub(r"\n *\|\n( *= help)", r"\n\1", text)


def python_path(source: ConfigSource | PipeText, line: int, column: int) -> str | None:
    """Returns the Python path of the value at a position of the generated TOML.

    None for files and unknown positions.
    """
    if isinstance(source, str | Path | PipeText):
        return None
    text = toml_of(source)
    lines = text.split("\n")
    offset = sum(len(each.encode()) + 1 for each in lines[: line - 1]) + len(lines[line - 1][: column - 1].encode())
    for path, key, value in toml_places(text):
        if key[0] <= offset <= key[1] or value[0] <= offset < value[1]:
            if isinstance(source, Mapping):
                return "config" + "".join(f"[{part!r}]" for part in path)
            return ".".join(["config", *(part.replace("-", "_") for part in path)])
    return None


def at_jobs(text: str, fio: FioJobs) -> str:
    """Returns an error message that shows the lines of the job file instead of the settings derived from them."""

    def place(shown: re.Match[str]) -> str:
        key = shown["key"].strip()
        if key.startswith(CUT):
            # The shown line cuts the beginning of a long key; the message has the whole key.
            named = (one for one in fio.places if one.endswith(key.removeprefix(CUT)) and f"{one} " in text)
            key = max(named, key=len, default=key)
        lines = fio.place(key)
        return "\n".join(lines) if lines else shown[0]

    return re.sub(r"^ *--> --fio:1:\d+\n *\|\n1 \| (?P<key>[^=\n]+)=.*\n *\|.*$", place, text, flags=re.MULTILINE)
