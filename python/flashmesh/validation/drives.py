"""Validated presets: the measurements of each, and the origin of its values.

Each preset has a file in `drives/`:

    title = "Samsung PM9A3 960 GB"
    preset = "samsung-pm9a3"
    measured = "Samsung PM9A3"        # name of the drive in the measurements
    source = "data sheet ..."
    software-time = "5us"             # host software time in each latency; 0 by default
    write-amplification = 3.5         # measured write amplification, if known

    [facts]                           # keys with published values, and the source of each
    "geometry.channels" = "data sheet"

    [fitted]                          # keys with fitted values, and what is known of each
    "flash.program-time" = "no data sheet gives it; ..."

    [chosen]                          # keys with values that neither a source nor a fit gives, and why
    "cache.capacity" = "no load was fitted with it"

    [fit]
    rates = [40_000]                  # offered loads of the fit; by default multiples of 40,000
"""

from __future__ import annotations

import hashlib
import itertools
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

ORIGINS = ("facts", "fitted", "chosen")
"""Sections with the origin of values."""
FIT_STEP_IOPS = 40_000
"""Divisor of the offered loads to which a drive was fitted, unless its file lists the loads."""
KNOWN = ("title", "preset", "measured", "source", "software-time", "write-amplification", *ORIGINS, "fit")


@dataclass(frozen=True)
class Drive:
    """A validated preset: the name of its measurements, and the origin of its values.

    The fields have the values of the file of the drive, which the head of this module describes.
    """

    name: str
    """Name of the preset."""
    title: str
    measured: str
    source: str
    software_us: float
    write_amplification: float | None
    facts: Mapping[str, str]
    fitted: Mapping[str, str]
    chosen: Mapping[str, str]
    fit_rates: tuple[float, ...] | None

    @property
    def is_there(self) -> bool:
        """Whether flashmesh has a preset of this name."""
        return self.name in _native.presets()

    def is_fit_point(self, offered_iops: float) -> bool:
        """Returns whether the preset was fitted to the load `offered_iops`."""
        if not self.fitted:
            return False
        if self.fit_rates is not None:
            return offered_iops in self.fit_rates
        return offered_iops % FIT_STEP_IOPS == 0

    def origins(self) -> dict[str, tuple[str, str]]:
        """Returns the origin of each value by key: its kind (`fact`, `fitted` or `chosen`), and its description."""
        kinds = {"fact": self.facts, "fitted": self.fitted, "chosen": self.chosen}
        return {key: (kind, text) for kind, texts in kinds.items() for key, text in texts.items()}

    def values(self) -> dict[str, Any]:
        """Returns the values of the preset, by key, that have a known origin or differ from the default.

        Raises:
            ConfigError: If the file names a key that the preset does not set.
        """
        from flashmesh.configuration import load

        default = flat(tomllib.loads(load({}).to_toml()))
        whole = flat(tomllib.loads(load(f"preset:{self.name}").to_toml()))
        unknown = [key for key in self.origins() if key not in whole]
        if unknown:
            raise ConfigError(f"{self.name}.toml: {unknown[0]} is not set by the preset: remove it from the file")
        return {key: value for key, value in whole.items() if key in self.origins() or value != default.get(key)}

    def values_hash(self) -> str:
        """Returns a hash of `values`, which shows whether the preset has changed since a validation."""
        text = json.dumps(self.values(), sort_keys=True)
        return hashlib.sha256(text.encode()).hexdigest()[:16]


@cache
def drives() -> Mapping[str, Drive]:
    """Returns all drives with a file, by the name of their preset, which may not exist yet."""
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
            raise ConfigError(f"{place}: {key} is missing: expected a text")
    if table.get("preset", name) != name:
        raise ConfigError(f"{place}: preset is {table['preset']!r}, but the file is named after its preset")
    facts, fitted, chosen = (sources(place, section, table.get(section, {})) for section in ORIGINS)
    for (one, first), (other, second) in itertools.combinations(zip(ORIGINS, (facts, fitted, chosen), strict=True), 2):
        both = [key for key in first if key in second]
        if both:
            raise ConfigError(f"{place}: {both[0]} is in [{one}] and in [{other}]: keep one of them")
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
        chosen=chosen,
        fit_rates=None if rates is None else tuple(map(float, rates)),
    )


def sources(place: str, section: str, table: Mapping[str, Any]) -> dict[str, str]:
    """Returns the keys of a section, each with the origin of its value.

    Raises:
        ConfigError: If the section has an unknown key, or a key without an origin.
    """
    for key, text in table.items():
        if declared_name(key) not in declared():
            raise ConfigError(f"{place}: [{section}] {key} is not a configuration key")
        if not isinstance(text, str) or not text:
            raise ConfigError(f"{place}: [{section}] {key}: is empty: state the origin of the value")
    return dict(table)


def software_us(place: str, text: Any) -> float:
    """Returns a host software time in microseconds.

    Raises:
        ConfigError: If the text is not a time.
    """
    from flashmesh.sweeps.inputs.ranges import quantity

    found = quantity(f"{place}: software-time", str(text))
    if found.kind != "times" or found.value < 0:
        raise ConfigError(f"{place}: software-time is {text!r}: expected a time such as 5us")
    return float(found.value / 10**6)
