"""Commented configuration to start from: the most common keys, with their current values."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING

from flashmesh.keys import declared, preset_values, toml_text

if TYPE_CHECKING:
    from flashmesh.keys import Key

SCHEMA = "config.schema.json"
"""File name of the JSON Schema of configurations, in the folder of this module."""
WIDTH = 100
REQUESTS = "100_000"
SHOWN = (
    "geometry.channels",
    "geometry.chips-per-channel",
    "geometry.dies-per-chip",
    "geometry.planes-per-die",
    "geometry.capacity",
    "geometry.over-provisioning",
    "flash.read-time",
    "flash.program-time",
    "fabric.kind",
    "fabric.channel-rate",
    "host.link-rate",
    "schedule.policy",
    "gc.victim",
    "precondition.kind",
    "replay.mode",
    "replay.outstanding",
    "workload.pattern",
    "workload.read-share",
    "workload.trace",
    "workload.profile",
    "workload.requests",
    "measure.epoch",
)
"""Keys that the configuration shows, ordered by section."""
SET = {"workload.requests": REQUESTS}
"""Keys that are set, with values for a short run; all other shown keys are commented out."""
HEAD = """\
# A configuration of flashmesh. What starts with "#" is not set: it shows the value of the preset.
# `flashmesh explain KEY` says more about a key; `flashmesh config FILE` prints all of them.

# The drive that everything below changes.
"""


def schema() -> str:
    """Returns the JSON Schema of configurations."""
    from importlib.resources import files

    return files("flashmesh").joinpath(SCHEMA).read_text(encoding="utf-8")


def starter(preset: str, named_schema: str | None = None) -> str:
    """Returns the text of a commented configuration.

    Args:
        preset: The drive to start from.
        named_schema: The file name of the schema that editors shall use; None for none.
    """
    lines = [f"#:schema ./{named_schema}\n"] if named_schema else []
    lines += [HEAD, f'preset = "{preset}"\n']
    values = preset_values()[preset]
    section = ""
    has_capacity = "geometry.capacity" in values
    for name in SHOWN:
        if name == ("geometry.over-provisioning" if has_capacity else "geometry.capacity"):
            continue
        key = declared()[name]
        if key.section != section:
            section = key.section
            lines.append(f"\n[{section}]\n")
        lines.append(entry(key, toml_text(values[name]) if name in values else None))
    return "".join(lines)


def entry(key: Key, value: str | None) -> str:
    """Returns the lines of a key: a comment with its meaning, then the key with its value, commented out unless set."""
    name = key.key.rpartition(".")[2]
    meaning = key.meaning
    if key.choices:
        meaning += f" One of {', '.join(key.choices)}."
    if value is None:
        meaning += f" Not set: {key.unset_means}."
    about = textwrap.fill(
        meaning, WIDTH, initial_indent="# ", subsequent_indent="# ", break_on_hyphens=False, break_long_words=False
    )
    if key.key in SET:
        return f"{about}\n{name} = {SET[key.key]}\n"
    return f"{about}\n# {name} = {value if value is not None else '...'}\n"
