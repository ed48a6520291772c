"""Searched keys: the range or the choices of each, and positions of values in a range from 0 to 1."""

from __future__ import annotations

import math
import tomllib
from dataclasses import dataclass
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from flashmesh._native import ConfigError
from flashmesh.keys import declared, declared_name
from flashmesh.sweeps.ranges import Range, quantity, read_range

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


SOFTWARE = "software-time"
"""Searched time of host software, which is no key of a configuration."""
UNSET = "unset"
"""Choice of a key that leaves its default."""
DATA_SHEET = "data-sheet"


@dataclass(frozen=True)
class FreeKey:
    """A searched key."""

    key: str
    domain: Range | tuple[str, ...]
    about: str = ""
    needs_rows: bool = False
    """Whether only the rates of a data sheet determine the key."""

    @property
    def is_ranged(self) -> bool:
        """Whether the key has a range."""
        return isinstance(self.domain, Range)

    @property
    def words(self) -> str:
        """Range or choices of the key as text."""
        if isinstance(self.domain, Range):
            return f"{self.at(0.0)} to {self.at(1.0)}"
        return ", ".join(self.domain)

    def at(self, share: float) -> str:
        """Returns the value at a position in the range, from 0 to 1."""
        assert isinstance(self.domain, Range)
        return self.domain.at(min(max(share, 0.0), 1.0))

    def share_of(self, text: str) -> float | None:
        """Returns the position of a value in the range, from 0 to 1; None if the value is outside or invalid."""
        if not isinstance(self.domain, Range):
            return None
        try:
            value = quantity(self.key, text)
        except ConfigError:
            return None
        first, last = float(self.domain.first.value), float(self.domain.last.value)
        number = float(value.value)
        if value.kind != self.domain.first.kind or not first <= number <= last:
            return None
        if self.domain.step == "log":
            return math.log(number / first) / math.log(last / first)
        return (number - first) / (last - first)


def listed() -> tuple[FreeKey, ...]:
    """Returns the keys that are searched by default: those that no data sheet states."""
    text = files("flashmesh.calibration").joinpath("keys.toml").read_text(encoding="utf-8")
    return tuple(free_key("keys.toml", table) for table in tomllib.loads(text)["key"])


def configured(settings: Mapping[str, str]) -> dict[str, str]:
    """Returns the settings that a configuration has: without the time of host software, and without unset keys."""
    return {key: value for key, value in settings.items() if key != SOFTWARE and value != UNSET}


def free_key(place: str, table: Mapping[str, Any]) -> FreeKey:
    """Reads a key with its range or choices.

    Raises:
        ConfigError: If the key is no key of a configuration, or has neither a range nor choices.
    """
    key = str(table.get("key", ""))
    if key != SOFTWARE and declared_name(key) not in declared():
        raise ConfigError(f"{place}: {key or 'an entry without key'} is no key of a configuration")
    about, needs_rows = str(table.get("about", "")), table.get("with") == DATA_SHEET
    if "choices" in table and "range" not in table:
        choices = tuple(map(str, table["choices"]))
        if len(choices) < 2:
            raise ConfigError(f"{place}: {key}: one choice is nothing to search: give it as a value")
        return FreeKey(key, choices, about, needs_rows)
    if "range" not in table or "choices" in table:
        raise ConfigError(f'{place}: {key}: give it a range, such as range = "1us..50us log", or choices')
    found = read_range(f"{place}: {key}", str(table["range"]))
    if found.first.value == found.last.value:
        raise ConfigError(f"{place}: {key}: {table['range']} is one value: give it as such")
    return FreeKey(key, found, about, needs_rows)


@dataclass(frozen=True)
class Space:
    """All keys of a search."""

    keys: tuple[FreeKey, ...]

    @property
    def ranged(self) -> tuple[FreeKey, ...]:
        """Keys with a range."""
        return tuple(key for key in self.keys if key.is_ranged)

    def shares(self, settings: Mapping[str, str]) -> list[float]:
        """Returns the position of each key with a range."""
        return [share if (share := key.share_of(settings[key.key])) is not None else 0.5 for key in self.ranged]

    def moved(self, settings: Mapping[str, str], shares: Sequence[float]) -> dict[str, str]:
        """Returns `settings` with the keys that have a range moved to the positions `shares`."""
        return {**settings, **{key.key: key.at(share) for key, share in zip(self.ranged, shares, strict=True)}}
