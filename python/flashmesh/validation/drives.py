"""Drives whose presets are held to measurements: which of their values are public, and which were fitted to what.

A file for each in `drives/`:

    title = "Samsung PM9A3 960 GB"
    preset = "samsung-pm9a3"
    measured = "Samsung PM9A3"        # the drive's name in the measurements
    source = "data sheet ..."
    software-time = "5us"             # what the software of the host adds to each latency; 0 unless given
    write-amplification = 3.5         # where it was measured

    [facts]                           # keys whose values are public: where each is from
    "geometry.channels" = "data sheet"

    [fitted]                          # keys whose values were fitted: what is known of each
    "flash.program-time" = "no data sheet gives it; ..."

    [fit]
    rates = [40_000]                  # the loads it was fitted to; those that 40,000 divides unless given
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
"""A drive is fitted to the loads that this divides, unless its file names others."""
KNOWN = ("title", "preset", "measured", "source", "software-time", "write-amplification", "facts", "fitted", "fit")


@dataclass(frozen=True)
class Drive:
    """What a preset is held to, and where its values come from."""

    name: str
    """Of its preset."""
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
        """Whether there is a preset of this name."""
        return self.name in _native.presets()

    def is_fit_point(self, offered_iops: float) -> bool:
        """Whether the preset was fitted to a load."""
        if not self.fitted:
            return False
        if self.fit_rates is not None:
            return offered_iops in self.fit_rates
        return offered_iops % FIT_STEP_IOPS == 0

    def values(self) -> dict[str, Any]:
        """The values of the preset that have a source or were fitted, and all others that it sets, by key.

        Raises:
            ConfigError: When a key is named that the preset does not set.
        """
        from flashmesh.configuration import load

        default = flat(tomllib.loads(load({}).to_toml()))
        whole = flat(tomllib.loads(load(f"preset:{self.name}").to_toml()))
        unknown = [key for key in (*self.facts, *self.fitted) if key not in whole]
        if unknown:
            raise ConfigError(f"{self.name}.toml: {unknown[0]} is not set by the preset: take it out of the file")
        return {
            key: value
            for key, value in whole.items()
            if key in self.facts or key in self.fitted or value != default.get(key)
        }

    def values_hash(self) -> str:
        """What tells the values of the preset from others."""
        text = json.dumps(self.values(), sort_keys=True)
        return hashlib.sha256(text.encode()).hexdigest()[:16]


@cache
def drives() -> Mapping[str, Drive]:
    """All drives that are held to measurements, by the names of their presets; some presets may not be there yet."""
    folder = files("flashmesh.validation").joinpath("drives")
    texts = {each.name.removesuffix(".toml"): each for each in folder.iterdir() if each.name.endswith(".toml")}
    return {name: read_drive(name, texts[name].read_text(encoding="utf-8")) for name in sorted(texts)}


def read_drive(name: str, text: str) -> Drive:
    """A drive out of its file.

    Raises:
        ConfigError: When the file cannot be used.
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
    """Keys with what is said of each.

    Raises:
        ConfigError: When one is no key of a configuration, or nothing is said of it.
    """
    for key, text in table.items():
        if declared_name(key) not in declared():
            raise ConfigError(f"{place}: [{section}] {key} is no key of a configuration")
        if not isinstance(text, str) or not text:
            raise ConfigError(f"{place}: [{section}] {key}: says nothing: write where its value comes from")
    return dict(table)


def software_us(place: str, text: Any) -> float:
    """The time of the software of the host, in microseconds.

    Raises:
        ConfigError: When it is no time.
    """
    from flashmesh.sweeps.ranges import quantity

    found = quantity(f"{place}: software-time", str(text))
    if found.kind != "times" or found.value < 0:
        raise ConfigError(f"{place}: software-time is {text!r}: expected a time such as 5us")
    return float(found.value / 10**6)
