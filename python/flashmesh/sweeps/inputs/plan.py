"""Plan of a sweep: groups of keys that vary together, and all combinations of the rows of these groups."""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from flashmesh._native import ConfigError
from flashmesh.comparing.axes import VALUES_MAX, Value, axes_of, typed

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from flashmesh.sweeps.inputs.ranges import Range

SEED = "seed"
POINTS_MAX = VALUES_MAX
"""Maximum number of points of a sweep."""
SHOWN_MAX = 10**30
"""Largest number of points that an error prints in digits."""
CELLS_MAX = 20_000_000
"""Maximum number of values in a plan: points times varied keys."""
SAMPLES_MAX = POINTS_MAX
"""Maximum number of draws of a group with random values."""


@dataclass(frozen=True)
class Group:
    """Keys that change together: each row has a value for each of the keys."""

    keys: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    """Rows of values, spelled as in overrides, in the order of `keys`."""


@dataclass(frozen=True)
class Plan:
    """All combinations of the rows of some groups; the last group varies fastest."""

    groups: tuple[Group, ...]

    def __post_init__(self) -> None:
        """Refuses a plan that is too large, before any point is created.

        Raises:
            ConfigError: If there are too many points.
        """
        refuse_too_many([(len(group.rows), len(group.keys)) for group in self.groups])

    @property
    def keys(self) -> tuple[str, ...]:
        """All varied keys, in the order of the groups."""
        return tuple(key for group in self.groups for key in group.keys)

    @property
    def count(self) -> int:
        """Number of points: combinations of rows."""
        return math.prod(len(group.rows) for group in self.groups)

    def points(self) -> Iterator[dict[str, str]]:
        """Yields each point: one combination of the rows of all groups."""
        for rows in itertools.product(*(group.rows for group in self.groups)):
            values = itertools.chain.from_iterable(rows)
            yield dict(zip(self.keys, values, strict=True))

    def axes(self) -> dict[str, tuple[Value, ...]]:
        """Returns the distinct values of each key, in order of first use."""
        return {
            key: tuple(typed(text) for text in dict.fromkeys(row[at] for row in group.rows))
            for group in self.groups
            for at, key in enumerate(group.keys)
        }


def cartesian(vary: Mapping[str, Sequence[Any]]) -> list[Group]:
    """Returns a group for each key.

    Raises:
        ConfigError: If `vary` is not a table of axes, or an axis has no value or a repeated value.
    """
    return [Group((key,), tuple((text,) for text in texts)) for key, texts in axes_of(vary).items()]


def zipped(vary: Mapping[str, Sequence[Any]]) -> Group:
    """Returns one group of keys whose values are paired by position.

    Raises:
        ConfigError: If the keys have different numbers of values.
    """
    from flashmesh.configuration import value_text

    columns = {key: [value_text(value) for value in values] for key, values in vary.items()}
    lengths = {key: len(texts) for key, texts in columns.items()}
    if not columns or 0 in lengths.values():
        raise ConfigError("[[zip]]: a group needs keys with at least one value each")
    if len(set(lengths.values())) > 1:
        counts = ", ".join(f"{key} has {count}" for key, count in lengths.items())
        raise ConfigError(f"[[zip]]: keys that change together have equally many values: {counts}")
    return Group(tuple(columns), tuple(zip(*columns.values(), strict=True)))


def drawn(space: Mapping[str, Range | Sequence[str]], samples: int, seed: int, latin: bool) -> Group:
    """Returns one group of keys with values drawn from ranges or lists.

    Args:
        space: The range or list of values of each key.
        samples: The number of draws.
        seed: The seed of the draws.
        latin: Whether to draw a latin hypercube, which hits each of `samples` intervals of every key once.
    """
    if latin:
        from scipy.stats import qmc

        shares = qmc.LatinHypercube(len(space), rng=seed).random(samples).tolist()
    else:
        import numpy as np

        shares = np.random.default_rng(seed).random((samples, len(space))).tolist()
    rows = [tuple(at(domain, share) for domain, share in zip(space.values(), row, strict=True)) for row in shares]
    return Group(tuple(space), tuple(dict.fromkeys(rows)))


def at(domain: Range | Sequence[str], share: float) -> str:
    """Returns the value at position `share` of a range or list, from 0 (its start) to 1 (its end)."""
    from flashmesh.sweeps.inputs.ranges import Range

    if isinstance(domain, Range):
        return domain.at(share)
    return domain[min(int(share * len(domain)), len(domain) - 1)]


def seeds_of(seeds: int | Sequence[int]) -> Group:
    """Returns the group of seeds: `seeds` seeds from 0 on, or the listed ones.

    Raises:
        ConfigError: If there is no seed, or more than `POINTS_MAX`.
    """
    if isinstance(seeds, int) and seeds > POINTS_MAX:
        raise too_many(seeds)
    numbers = range(seeds) if isinstance(seeds, int) else seeds
    if not numbers:
        raise ConfigError("seeds: at least one is needed")
    return cartesian({SEED: list(numbers)})[0]


def refuse_too_many(groups: Sequence[tuple[int, int]]) -> None:
    """Refuses a plan that is too large, from the sizes of its groups.

    Args:
        groups: The number of rows and of keys of each group.

    Raises:
        ConfigError: If there are too many points, or too many values.
    """
    points = math.prod(rows for rows, _ in groups)
    if points > POINTS_MAX:
        raise too_many(points)
    keys = sum(keys for _, keys in groups)
    if points * keys > CELLS_MAX:
        raise ConfigError(
            f"a sweep of {points:,} points with {keys:,} varied keys: at most {CELLS_MAX:,} values can be planned; "
            "vary fewer keys, or cut it into several sweeps"
        )


def too_many(points: int) -> ConfigError:
    """Returns the error for a sweep of too many points."""
    told = f"{points:,}" if points <= SHOWN_MAX else "far more"
    return ConfigError(
        f"a sweep of {told} points: at most {POINTS_MAX:,} can be planned; "
        "vary fewer values, or cut it into several sweeps"
    )


def refuse_twice(groups: Sequence[Group]) -> None:
    """Refuses a key that two groups vary.

    Raises:
        ConfigError: If two groups vary the same key.
    """
    keys = [key for group in groups for key in group.keys]
    for key in keys:
        if keys.count(key) > 1:
            raise ConfigError(f"{key} is varied twice")
