"""Points of a search space: all points of a small space, random draws from a large space."""

from __future__ import annotations

import itertools
import math
import random
from typing import TYPE_CHECKING, Any

from flashmesh.sweeps.inputs.ranges import VALUES_MAX, Range

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

LISTED_MAX = 100_000
"""Maximum number of points of a space that is enumerated."""
DRAWN_MAX = 10_000
"""Number of points that are drawn from a space that is not enumerated."""


class Points:
    """Points of a search space in the form that Optuna uses.

    A key with a list has one of its values. A key with a range has the index of a value or, if the range is continuous
    or has too many values, a position from 0 to 1.
    """

    def __init__(self, space: Mapping[str, Range | Sequence[str]]) -> None:
        """Lists the values of each key whose range or list is finite."""
        self.space = space
        self.listed: dict[str, list[Any]] = {}
        self.values: dict[str, list[str]] = {}
        for key, domain in space.items():
            if not isinstance(domain, Range):
                self.listed[key] = list(domain)
            elif domain.is_listed and domain.count <= VALUES_MAX:
                self.values[key] = domain.values()
                self.listed[key] = list(range(len(self.values[key])))

    @property
    def count(self) -> int | None:
        """Number of points of the space; None if a range is continuous, or has too many values."""
        if len(self.listed) < len(self.space):
            return None
        return math.prod(len(each) for each in self.listed.values())

    @property
    def is_listed(self) -> bool:
        """Whether the space has few enough points to enumerate them."""
        return self.count is not None and self.count <= LISTED_MAX

    def all(self) -> Iterator[dict[str, Any]]:
        """Yields all points of a finite space, the last key varying fastest."""
        for row in itertools.product(*(self.listed[key] for key in self.space)):
            yield dict(zip(self.space, row, strict=True))

    def drawn(self, seed: int) -> Iterator[dict[str, Any]]:
        """Yields points in random order: all points of a space that can be enumerated, else independent draws."""
        generator = random.Random(seed)
        if self.is_listed:
            points = list(self.all())
            generator.shuffle(points)
            yield from points
            return
        for _ in range(DRAWN_MAX):
            yield {
                key: generator.choice(self.listed[key]) if key in self.listed else generator.random()
                for key in self.space
            }

    def settings(self, point: Mapping[str, Any]) -> dict[str, str]:
        """Returns the settings of a point, spelled as in overrides."""
        return {key: self.value(key, chosen) for key, chosen in point.items()}

    def value(self, key: str, chosen: Any) -> str:
        """Returns the value of a key that Optuna chose, spelled as in an override."""
        domain = self.space[key]
        if not isinstance(domain, Range):
            return str(chosen)
        return self.values[key][chosen] if key in self.values else domain.at(chosen)
