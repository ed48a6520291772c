"""Presets that are validated against measurements: the origin of their public values, and what is known of fitted ones.

Each has a file in `drives/`:

    title = "Samsung PM9A3 960 GB"
    preset = "samsung-pm9a3"
    measured = "Samsung PM9A3"        # the drive's name in the measurements
    source = "data sheet ..."
    software-time = "5us"             # time that host software adds to each latency; 0 by default
    write-amplification = 3.5         # if it was measured

    [facts]                           # keys with public values: the source of each
    "geometry.channels" = "data sheet"

    [fitted]                          # keys with fitted values: what is known of each
    "flash.program-time" = "no data sheet gives it; ..."

    [fit]
    rates = [40_000]                  # the loads it was fitted to; by default the multiples of 40,000
"""

from __future__ import annotations

import hashlib
import json
import tomllib
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from flashmesh import _native
from flashmesh._native import ConfigError
from flashmesh.keys import declared, declared_name, flat

if TYPE_CHECKING:
    from collections.abc import Mapping

FIT_STEP_IOPS = 40_000
"""Step of the loads to which a drive is fitted, unless its file lists them."""
KNOWN = ("title", "preset", "measured", "source", "software-time", "write-amplification", "facts", "fitted", "fit")


@dataclass(frozen=True)
class Drive:
    """A validated preset: its measurements, and the origin of its values."""

    name: str
    """The name of the preset."""
    title: str
    measured: str
    source: str
    software_us: float
    write_amplification: float | None
    facts: Mapping[str, str]
    fitted: Mapping[str, str]
    fit_rates: tuple[float, ...] | None

    @property
    def is_there(self) -> bool:
        """Whether flashmesh has the preset."""
        return self.name in _native.presets()

    def is_fit_point(self, offered_iops: float) -> bool:
        """Returns whether the preset was fitted to a load."""
        if not self.fitted:
            return False
        if self.fit_rates is not None:
            return offered_iops in self.fit_rates
        return offered_iops % FIT_STEP_IOPS == 0

    def values(self) -> dict[str, Any]:
        """Returns, by key, the values of the preset whose origin is known or that differ from the default.

        Raises:
            ConfigError: If the file names a key that the preset does not set.
        """
        from flashmesh.configuration import load

        default = flat(tomllib.loads(load({}).to_toml()))
        whole = flat(tomllib.loads(load(f"preset:{self.name}").to_toml()))
        unknown = [key for key in (*self.facts, *self.fitted) if key not in whole]
        if unknown:
            raise ConfigError(f"{self.name}.toml: {unknown[0]} is not set by the preset: remove it from the file")
        return {
            key: value
            for key, value in whole.items()
            if key in self.facts or key in self.fitted or value != default.get(key)
        }

    def values_hash(self) -> str:
        """Returns a hash of the values of the preset."""
        text = json.dumps(self.values(), sort_keys=True)
        return hashlib.sha256(text.encode()).hexdigest()[:16]


@cache
def drives() -> Mapping[str, Drive]:
    """Returns all drives with a file, by preset name. A preset may not exist yet."""
    folder = files("flashmesh.validation").joinpath("drives")
    texts = {each.name.removesuffix(".toml"): each for each in folder.iterdir() if each.name.endswith(".toml")}
    return {name: read_drive(name, texts[name].read_text(encoding="utf-8")) for name in sorted(texts)}


def read_drive(name: str, text: str) -> Drive:
    """Reads the file of a drive.

    Raises:
        ConfigError: If the file is invalid.
    """
    place = f"{name}.toml"
    try:
        table = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise ConfigError(f"{place}: is not TOML: {error}") from error
    for key in table:
        if key not in KNOWN:
            raise ConfigError(f"{place}: {key} is unknown: there are {', '.join(KNOWN)}")
    for key in ("title", "measured", "source"):
        if not isinstance(table.get(key), str):
            raise ConfigError(f"{place}: {key} is missing: a text")
    if table.get("preset", name) != name:
        raise ConfigError(f"{place}: preset is {table['preset']!r}: the file is named after its preset")
    facts, fitted = (sources(place, section, table.get(section, {})) for section in ("facts", "fitted"))
    both = [key for key in facts if key in fitted]
    if both:
        raise ConfigError(f"{place}: {both[0]} is among [facts] and among [fitted]: it is one of them")
    rates = table.get("fit", {}).get("rates")
    return Drive(
        name=name,
        title=table["title"],
        measured=table["measured"],
        source=table["source"],
        software_us=software_us(place, table.get("software-time", "0us")),
        write_amplification=table.get("write-amplification"),
        facts=facts,
        fitted=fitted,
        fit_rates=None if rates is None else tuple(map(float, rates)),
    )


def sources(place: str, section: str, table: Mapping[str, Any]) -> dict[str, str]:
    """Returns the keys of a section with their descriptions.

    Raises:
        ConfigError: If the section has an unknown key, or a key without a description.
    """
    for key, text in table.items():
        if declared_name(key) not in declared():
            raise ConfigError(f"{place}: [{section}] {key} is no key of a configuration")
        if not isinstance(text, str) or not text:
            raise ConfigError(f"{place}: [{section}] {key}: is empty: state the origin of the value")
    return dict(table)


def software_us(place: str, text: Any) -> float:
    """Returns the time of the host software in microseconds.

    Raises:
        ConfigError: If the text is not a time.
    """
    from flashmesh.sweeps.ranges import quantity

    found = quantity(f"{place}: software-time", str(text))
    if found.kind != "times" or found.value < 0:
        raise ConfigError(f"{place}: software-time is {text!r}: expected a time such as 5us")
    return float(found.value / 10**6)
