"""Searched keys, each with a range or choices. The position of a value in a range is a number from 0 to 1."""

from __future__ import annotations

import math
import tomllib
from dataclasses import dataclass
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from flashmesh._native import ConfigError
from flashmesh.keys import declared, declared_name
from flashmesh.sweeps.inputs.ranges import Range, quantity, read_range

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


SOFTWARE = "software-time"
"""Host software time: searched like a key, but not a key of configurations."""
UNSET = "unset"
"""Choice that leaves a key at its default."""
DATA_SHEET = "data-sheet"
"""Value of `with` in keys.toml, for keys that are searched only with data-sheet rows."""


@dataclass(frozen=True)
class FreeKey:
    """A searched key, with its range or its choices."""

    key: str
    domain: Range | tuple[str, ...]
    about: str = ""
    needs_rows: bool = False
    """Whether the key is searched only if the measurements include data-sheet rows."""
    off: str | None = None
    """Value of the range that turns a mechanism off; None if no value does."""
    alternative: str | None = None
    """Value to try as an alternative to `off`; None for the middle of the range."""
    needs: str | None = None
    """Searched key that disables this key when it is `off`; None if there is no such key."""

    @property
    def choices(self) -> tuple[str, ...]:
        """Values to try as alternatives: all choices, or both `off` and `alternative` of a range that contains `off`.

        Empty for any other range.
        """
        if isinstance(self.domain, tuple):
            return self.domain
        # Spell `off` as `at` spells all values of the range, so that a drive is not tried twice under two spellings.
        share = None if self.off is None else self.share_of(self.off)
        return () if share is None else (self.at(share), self.alternative or self.at(0.5))

    @property
    def first(self) -> str:
        """Value at which a search without a preset starts: the first choice, `off`, or else the middle of the range."""
        return self.choices[0] if self.choices else self.at(0.5)

    @property
    def is_ranged(self) -> bool:
        """Whether the key has a range."""
        return isinstance(self.domain, Range)

    @property
    def words(self) -> str:
        """Text of the range or the choices."""
        if isinstance(self.domain, Range):
            return f"{self.at(0.0)} to {self.at(1.0)}"
        return ", ".join(self.domain)

    def at(self, share: float) -> str:
        """Returns the value at a position in the range, 0 (first value) to 1 (last value)."""
        assert isinstance(self.domain, Range)
        return self.domain.at(min(max(share, 0.0), 1.0))

    def share_of(self, text: str) -> float | None:
        """Returns the position of a value in the range; None if the value is outside the range or invalid."""
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
        return self.position(number)

    def distance(self, one: str, other: str) -> float:
        """Returns the distance of two values as a share of the range; 0 for choices, infinity outside the range."""
        if not self.is_ranged:
            return 0.0
        shares = (self.share_of(one), self.share_of(other))
        return math.inf if shares[0] is None or shares[1] is None else abs(shares[0] - shares[1])

    def nearest(self, number: float) -> str:
        """Returns the value of the range nearest to `number`, which is in ps, B or B/s, or has no unit."""
        assert isinstance(self.domain, Range)
        first, last = float(self.domain.first.value), float(self.domain.last.value)
        return self.at(self.position(min(max(number, first), last)))

    def position(self, number: float) -> float:
        """Returns the position (0 to 1) of a `number` within the range, which is in ps, B or B/s, or has no unit."""
        assert isinstance(self.domain, Range)
        first, last = float(self.domain.first.value), float(self.domain.last.value)
        if self.domain.step == "log":
            return math.log(number / first) / math.log(last / first)
        return (number - first) / (last - first)


def listed() -> tuple[FreeKey, ...]:
    """Returns the keys of keys.toml, which are searched by default."""
    text = files("flashmesh.calibration").joinpath("keys.toml").read_text(encoding="utf-8")
    return tuple(free_key("keys.toml", table) for table in tomllib.loads(text)["key"])


def software_time_us(settings: Mapping[str, str], stated_us: float) -> float:
    """Returns the host software time of a drive in microseconds: the searched time, or else the stated one."""
    searched = settings.get(SOFTWARE)
    return stated_us if searched is None else float(quantity(SOFTWARE, searched).value / 10**6)


def configured(settings: Mapping[str, str]) -> dict[str, str]:
    """Returns the settings without unset keys and without the host software time, which is not in configurations."""
    return {key: value for key, value in settings.items() if key != SOFTWARE and value != UNSET}


def free_key(place: str, table: Mapping[str, Any]) -> FreeKey:
    """Reads a key with its range or choices from a table; `place` names the file of the table in errors.

    Raises:
        ConfigError: If the key is not a configuration key, or does not have either a range or several choices.
    """
    key = str(table.get("key", ""))
    if key != SOFTWARE and declared_name(key) not in declared():
        raise ConfigError(f"{place}: {key or 'an entry without key'} is not a configuration key")
    about, needs_rows = str(table.get("about", "")), table.get("with") == DATA_SHEET
    if "choices" in table and "range" not in table:
        choices = tuple(map(str, table["choices"]))
        if len(choices) < 2:
            raise ConfigError(f"{place}: {key}: there is only one choice: state it as a value")
        return FreeKey(key, choices, about, needs_rows)
    if "range" not in table or "choices" in table:
        raise ConfigError(f'{place}: {key}: give it a range, such as range = "1us..50us log", or choices')
    found = read_range(f"{place}: {key}", str(table["range"]))
    if found.first.value == found.last.value:
        raise ConfigError(f"{place}: {key}: {table['range']} has only one value: state it as a value")
    return FreeKey(key, found, about, needs_rows, table.get("off"))


@dataclass(frozen=True)
class Space:
    """Search space of a calibration: the keys to determine, each with its range or its choices."""

    keys: tuple[FreeKey, ...]

    @property
    def ranged(self) -> tuple[FreeKey, ...]:
        """Keys with a range."""
        return tuple(key for key in self.keys if key.is_ranged)

    def without_effect(self, settings: Mapping[str, str]) -> set[str]:
        """Returns the keys of a drive that are disabled, because the key that they need is `off`."""
        off = {key.key: key.first for key in self.keys if key.off is not None}
        return {key.key for key in self.keys if key.needs in off and settings[key.needs] == off[key.needs]}

    def shares(self, settings: Mapping[str, str]) -> list[float]:
        """Returns the position (0 to 1) of the value of each key with a range; 0.5 for a value outside the range."""
        return [share if (share := key.share_of(settings[key.key])) is not None else 0.5 for key in self.ranged]

    def moved(self, settings: Mapping[str, str], shares: Sequence[float]) -> dict[str, str]:
        """Returns `settings` with the keys that have a range set to the positions `shares`."""
        return {**settings, **{key.key: key.at(share) for key, share in zip(self.ranged, shares, strict=True)}}
