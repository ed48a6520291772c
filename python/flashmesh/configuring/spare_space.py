"""Host capacity of drives with varied raw capacities: it follows the raw capacity, so that over-provisioning stays.

A capacity in bytes replaces `geometry.over-provisioning`. Twice as many dies behind the same capacity would change two
things at once: the parallelism, and the spare space of garbage collection.
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
"""Keys whose product is the raw capacity of a drive."""
KEPT = "over-provisioning"
KEEP = (KEPT, "capacity")
"""Quantities that can stay constant when one of `COUNTS` changes; the first is the default."""
ORIGIN = "the capacity that follows"
"""Text that stands for the option or argument in errors about an adapted capacity, which no option has set."""
DECIMALS = 3
"""Maximum number of decimals of an adapted capacity; with more, it is stated in bytes."""


@dataclass(frozen=True)
class Space:
    """Raw and host-visible capacity of a configuration."""

    raw: Fraction
    """Bytes of all pages of the drive."""
    capacity: str | None
    """Text of `geometry.capacity`, such as `512GiB`; None if `geometry.over-provisioning` determines the capacity."""

    @property
    def share(self) -> Fraction | None:
        """Over-provisioning: the share of all pages that the host does not see; None if no capacity is stated."""
        return None if self.capacity is None else 1 - size_of(self.capacity) / self.raw


def size_of(text: Any) -> Fraction:
    """Returns the number of bytes that a size denotes.

    Raises:
        ConfigError: If the text is not a number with a known unit.
    """
    from flashmesh.sweeps.inputs.ranges import quantity

    return quantity(CAPACITY, str(text)).value


def space_of(values: Mapping[str, Any]) -> Space:
    """Returns raw and stated capacity of a configuration from its values by dotted key."""
    raw = math.prod((size_of(values[key]) for key in COUNTS), start=Fraction(1))
    return Space(raw, values.get(CAPACITY))


def check_kept(keep: str, settings: Collection[str]) -> None:
    """Checks that the varied keys `settings` leave the quantity `keep` constant.

    Raises:
        ConfigError: If the capacity is to stay, and the over-provisioning, which determines it, is varied.
    """
    if keep != KEPT and SHARE in settings:
        raise ConfigError(
            f"{SHARE} is varied, which changes the capacity: leave out --keep {keep} (keep = {keep!r} in a file or "
            f"call), or vary {CAPACITY} instead"
        )


def is_followed(settings: Collection[str]) -> bool:
    """Returns whether the varied keys `settings` require that the host capacity of each point is adapted.

    This is so if they include a key of `COUNTS` or the over-provisioning, but not the host capacity itself.
    """
    return CAPACITY not in settings and any(key in settings for key in (*COUNTS, SHARE))


def followed(
    settings: Mapping[str, str], read: Callable[[dict[str, str]], Config], source: Hashable | None
) -> dict[str, str]:
    """Returns the host capacity that a point needs for its over-provisioning, by its key; empty if the capacity stays.

    Args:
        settings: The varied keys of the point with their values.
        read: Reads the configuration with some of these keys varied, without adapting its capacity.
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
        # The configuration is invalid without its varied keys, so it has no over-provisioning to keep.
        return {}
    return {} if capacity is None else {CAPACITY: capacity}


read_last: tuple[Hashable, dict[str, Any]] | None = None
"""Source and values of the configuration that was last read without its varied keys. This cache speeds up sweeps of
thousands of points; None before the first read."""


def base_values(others: dict[str, str], read: Callable[[dict[str, str]], Config]) -> dict[str, Any]:
    """Returns the values of the configuration without its varied keys, by dotted key.

    With `others`, if one of them varies the preset, or if the configuration is invalid without them.

    Args:
        others: The varied keys of a point with their values, without `COUNTS` and the over-provisioning.
        read: Reads the configuration with some varied keys.

    Raises:
        ConfigError: If the configuration is invalid.
    """
    if PRESET not in others:
        with suppress(ConfigError):
            return values_of(read({}))
    return values_of(read(others))


def values_of(config: Config) -> dict[str, Any]:
    """Returns the values of a configuration by their dotted keys."""
    return flat(json.loads(config.to_json()))


def capacity_in(config: Config) -> str | None:
    """Returns the capacity that a configuration states; None if `geometry.over-provisioning` determines it."""
    found: str | None = values_of(config).get(CAPACITY)
    return found


def capacity_of(before: Space, after: Space, share: str | None) -> str | None:
    """Returns the host capacity that a point needs for its over-provisioning; None if the capacity stays.

    Args:
        before: The raw and the host capacity of the configuration without varied keys.
        after: The raw capacity of the point, with the host capacity of the configuration.
        share: The over-provisioning of the point, if varied.
    """
    if before.capacity is None or before.share is None or (share is None and after.raw == before.raw):
        return None
    wanted = size_of(share) if share is not None else before.share
    return capacity_text(after.raw * (1 - wanted), before.capacity)


def capacity_text(size: Fraction, like: str) -> str:
    """Returns `size` bytes in the unit of the size `like` if `DECIMALS` decimals suffice, otherwise in bytes."""
    from flashmesh.sweeps.inputs.ranges import UNITS, quantity

    found = quantity(CAPACITY, like)
    number = size / UNITS[found.kind][found.unit]
    is_short = (number * 10**DECIMALS).denominator == 1
    return found.text(size) if is_short else f"{math.floor(size)}B"


def reason(keys: Collection[str]) -> str:
    """Returns why the capacity is adapted, as text; `keys` are the varied keys."""
    return f"as {SHARE} says" if SHARE in keys else "over-provisioning kept"


def change_text(before: str, after: str) -> str:
    """Returns the change of the host capacity as text: `geometry.capacity 30GB -> 60GB`."""
    return f"{CAPACITY} {shown(before)} -> {shown(after)}"


def shown(capacity: str) -> str:
    """Returns a capacity as text, rounded if it is long."""
    from flashmesh.report import quantities as q

    return capacity if len(capacity) <= len("999.999GiB") else f"{q.scaled(float(size_of(capacity)))}B"
