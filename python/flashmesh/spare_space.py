"""The host capacity of drives with more or fewer flash pages: it follows them, so that over-provisioning stays.

A capacity in bytes takes the place of `geometry.over-provisioning`. Twice as many dies behind the same capacity would
change two things at once: the parallelism, and the spare space that garbage collection lives on.
"""

from __future__ import annotations

import json
import math
from contextlib import suppress
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from flashmesh._native import ConfigError
from flashmesh.keys import PRESET, flat

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Hashable, Mapping

    from flashmesh._native import Config

CAPACITY = "geometry.capacity"
SHARE = "geometry.over-provisioning"
COUNTS = (
    "geometry.channels",
    "geometry.chips-per-channel",
    "geometry.dies-per-chip",
    "geometry.planes-per-die",
    "geometry.blocks-per-plane",
    "geometry.pages-per-block",
    "geometry.page-size",
)
"""The keys whose product is the raw capacity."""
KEPT = "over-provisioning"
KEEP = (KEPT, "capacity")
"""What may stay as it is while one of `COUNTS` changes; the first one unless told otherwise."""
ORIGIN = "the capacity that follows"
"""In place of an axis, where an error is about a capacity that follows."""
DECIMALS = 3
"""Digits behind the point up to which a capacity keeps the unit of its configuration."""


@dataclass(frozen=True)
class Space:
    """The flash of a configuration, and how much of it the host sees."""

    raw: Fraction
    """Bytes of all pages."""
    capacity: str | None
    """`geometry.capacity` as it is spelt; None where `geometry.over-provisioning` decides."""

    @property
    def share(self) -> Fraction | None:
        """Returns the share of all pages that the host does not see; None without a stated capacity."""
        return None if self.capacity is None else 1 - size_of(self.capacity) / self.raw


def size_of(text: Any) -> Fraction:
    """Returns a number or a size, in bytes.

    Raises:
        ConfigError: When the text is neither.
    """
    from flashmesh.sweeps.ranges import quantity

    return quantity(CAPACITY, str(text)).value


def space_of(values: Mapping[str, Any]) -> Space:
    """Returns the space of a configuration, given by its dotted keys."""
    raw = math.prod((size_of(values[key]) for key in COUNTS), start=Fraction(1))
    return Space(raw, values.get(CAPACITY))


def is_followed(settings: Collection[str]) -> bool:
    """Returns whether the capacity follows these varied keys: one changes the flash, and none is the capacity."""
    return CAPACITY not in settings and any(key in settings for key in (*COUNTS, SHARE))


def followed(
    settings: Mapping[str, str], read: Callable[[dict[str, str]], Config], source: Hashable | None
) -> dict[str, str]:
    """Returns the capacity that a point has because of its varied keys, as a setting; empty where it stays.

    Args:
        settings: The varied keys of the point with their values.
        read: Reads the configuration with some of these keys varied, and the capacity as it states it.
        source: Identifies the configuration without its varied keys, so that it is read once for all points.
    """
    global read_last
    changed = {key: value for key, value in settings.items() if key in (*COUNTS, SHARE)}
    others = {key: value for key, value in settings.items() if key not in changed}
    try:
        values: dict[str, Any]
        if source is not None and PRESET not in others and read_last is not None and read_last[0] == source:
            values = read_last[1]
        else:
            values = base_values(others, read)
            read_last = (source, values) if source is not None and PRESET not in others else None
        if values.get(CAPACITY) is None:
            return {}
        capacity = capacity_of(space_of(values), space_of({**values, **changed}), settings.get(SHARE))
    except ConfigError:
        # Without its varied keys the configuration is no drive, and has no over-provisioning to keep.
        return {}
    return {} if capacity is None else {CAPACITY: capacity}


read_last: tuple[Hashable, dict[str, Any]] | None = None
"""The configuration that was read last without its varied keys, and its values: a sweep has thousands of points."""


def base_values(others: dict[str, str], read: Callable[[dict[str, str]], Config]) -> dict[str, Any]:
    """Returns the values of the configuration that the points of a comparison start from.

    Args:
        others: The varied keys of a point that leave the flash as it is. One of them may change the preset; or the
            configuration may be no drive without them.
        read: Reads the configuration with some varied keys.

    Raises:
        ConfigError: When it is no drive.
    """
    if PRESET not in others:
        with suppress(ConfigError):
            return values_of(read({}))
    return values_of(read(others))


def values_of(config: Config) -> dict[str, Any]:
    """Returns the values of a configuration by their dotted keys."""
    return flat(json.loads(config.to_json()))


def capacity_in(config: Config) -> str | None:
    """Returns the capacity that a configuration states; None where `geometry.over-provisioning` decides."""
    found: str | None = values_of(config).get(CAPACITY)
    return found


def capacity_of(before: Space, after: Space, share: str | None) -> str | None:
    """Returns the capacity of a point; None where it stays as it is.

    Args:
        before: The space of the configuration.
        after: The space of the point, its capacity still that of the configuration.
        share: The over-provisioning of the point, where that varies.
    """
    if before.capacity is None or before.share is None or (share is None and after.raw == before.raw):
        return None
    wanted = size_of(share) if share is not None else before.share
    return capacity_text(after.raw * (1 - wanted), before.capacity)


def capacity_text(size: Fraction, like: str) -> str:
    """Returns a size in the unit of another where few digits say it exactly, otherwise in whole bytes."""
    from flashmesh.sweeps.ranges import UNITS, quantity

    found = quantity(CAPACITY, like)
    number = size / UNITS[found.kind][found.unit]
    is_short = (number * 10**DECIMALS).denominator == 1
    return found.text(size) if is_short else f"{math.floor(size)}B"


def reason(keys: Collection[str]) -> str:
    """Returns why the capacity follows varied keys, for people."""
    return f"as {SHARE} says" if SHARE in keys else "over-provisioning kept"


def change_text(before: str, after: str) -> str:
    """Returns what became of the capacity, for people: `geometry.capacity 30GB -> 60GB`."""
    return f"{CAPACITY} {shown(before)} -> {shown(after)}"


def shown(capacity: str) -> str:
    """Returns a capacity with as many digits as matter."""
    from flashmesh.report import quantities as q

    return capacity if len(capacity) <= len("999.999GiB") else f"{q.scaled(float(size_of(capacity)))}B"
