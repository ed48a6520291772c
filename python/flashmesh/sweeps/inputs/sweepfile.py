"""Sweep file: the drive, the settings of all runs, and the varied keys."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from flashmesh._native import ConfigError
from flashmesh.configuring.missing import PRESET_PREFIX, refuse_what_is_no_configuration
from flashmesh.configuring.spare_space import KEEP
from flashmesh.files import absolute
from flashmesh.keys import key_of
from flashmesh.sweeps.inputs.plan import (
    SAMPLES_MAX,
    SEED,
    Group,
    Plan,
    cartesian,
    drawn,
    refuse_too_many,
    refuse_twice,
    seeds_of,
    zipped,
)
from flashmesh.sweeps.inputs.ranges import Range, is_range, read_range
from flashmesh.sweeps.inputs.tomlfile import TomlFile

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

KEYS = ("config", "keep", "set", "axes", "zip", "random", "latin-hypercube", "seeds")
FILES = ("workload.trace", "workload.fitted")
"""Keys whose values are paths; in a sweep file, relative paths begin at the folder of the file."""


@dataclass(frozen=True)
class SweepFile:
    """Contents of a sweep file."""

    config: str
    """The path of a configuration, or preset:NAME."""
    overrides: dict[str, Any]
    plan: Plan
    file: TomlFile = field(repr=False)
    keep: str = KEEP[0]
    """The quantity that stays constant if axes change the raw capacity."""


def read_sweep(path: Path, trust_policies: bool = False) -> SweepFile:
    """Reads a sweep file.

    Args:
        path: The file.
        trust_policies: Whether the file may name policies, whose code then runs.

    Raises:
        ConfigError: If the file cannot be read, or is not a valid sweep; the message shows the place.
    """
    file = TomlFile(path, trust_policies)
    file.refuse_unknown(KEYS)
    refuse_too_many(sizes(file))
    overrides = settings_of(file)
    groups: list[Group] = []
    for key, value in table(file, "axes").items():
        with file.at("axes", key):
            groups += cartesian({key_of(key): values_of(key, value, file)})
    groups += zips(file)
    for name, latin in (("random", False), ("latin-hypercube", True)):
        if name in file.tables:
            groups.append(drawn_group(file, name, latin))
    if "seeds" in file.tables:
        with file.at("seeds"):
            groups.append(seeds_of(numbers(file.tables["seeds"])))
    if not groups:
        raise ConfigError(f"{path}: nothing varies: name keys and their values in [axes]")
    refuse_doubles(file, groups, overrides)
    return SweepFile(config_of(file), overrides, Plan(tuple(groups)), file, keep_of(file))


def keep_of(file: TomlFile) -> str:
    """Returns the quantity (one of `KEEP`) that stays constant if the axes of a file change the raw capacity.

    Raises:
        ConfigError: If the value is unknown.
    """
    found: str = file.tables.get("keep", KEEP[0])
    if found not in KEEP:
        raise file.problem(("keep",), f"keep is {' or '.join(map(repr, KEEP))}, not {found!r}")
    return found


def sizes(file: TomlFile) -> list[tuple[int, int]]:
    """Returns (number of rows, number of keys) of each group of a file, before any value is created.

    An empty group counts 1 row.
    """
    found: list[tuple[int, int]] = []
    for key, value in table(file, "axes").items():
        with file.at("axes", key):
            found.append((count_of(key, value), 1))
    listed = file.tables.get("zip", [])
    for number, each in enumerate(listed if isinstance(listed, list) else []):
        with file.at("zip", str(number)):
            columns = flat(each, "[[zip]]")
            found.append((max((count_of(key, value) for key, value in columns.items()), default=0), len(columns)))
    for name in ("random", "latin-hypercube"):
        values = table(file, name)
        samples = values.get("samples")
        if isinstance(samples, int) and samples <= SAMPLES_MAX:
            found.append((max(samples, 0), len(values)))
    seeds = file.tables.get("seeds", 1)
    found.append((seeds if isinstance(seeds, int) else len(seeds) if isinstance(seeds, list) else 1, 1))
    return [(max(rows, 1), keys) for rows, keys in found]


def count_of(key: str, value: Any) -> int:
    """Returns the number of values of an axis; 1 for an invalid axis, which a later check refuses."""
    if isinstance(value, str) and is_range(value):
        return read_range(key, value).count
    return len(value) if isinstance(value, list) else 1


def zips(file: TomlFile) -> list[Group]:
    """Reads the groups of `[[zip]]`.

    Raises:
        ConfigError: If a group is invalid.
    """
    found: list[Group] = []
    listed = file.tables.get("zip", [])
    if not isinstance(listed, list):
        raise file.problem(("zip",), "zip is a list of tables", "write [[zip]] above each", part="key")
    for number, each in enumerate(listed):
        columns: dict[str, list[Any]] = {}
        with file.at("zip", str(number)):
            flattened = flat(each, "[[zip]]")
        for key, value in flattened.items():
            with file.at("zip", str(number), key):
                columns[key_of(key)] = values_of(key, value, file)
        with file.at("zip", str(number)):
            found.append(zipped(columns))
    return found


def refuse_doubles(file: TomlFile, groups: list[Group], overrides: dict[str, Any]) -> None:
    """Refuses keys that are varied twice, or both varied and set.

    Raises:
        ConfigError: If there is such a key.
    """
    for key in overrides:
        if any(key in group.keys for group in groups):
            lines = file.lines(key, None, is_key=True) or []
            raise ConfigError("\n".join([f"{key} is varied and given in [set]: drop one of them", *lines]))
    try:
        refuse_twice(groups)
    except ConfigError as error:
        key = str(error).split(" ")[0]
        lines = file.lines(key, None, is_key=True) or []
        raise ConfigError("\n".join([str(error), *lines])) from None


def settings_of(file: TomlFile) -> dict[str, Any]:
    """Returns the keys of `[set]`, which apply to all runs."""
    return located({key_of(key): value for key, value in table(file, "set").items()}, file)


def config_of(file: TomlFile) -> str:
    """Returns the configuration that a file names.

    Raises:
        ConfigError: If the file names no configuration, or the configuration does not exist.
    """
    config = file.tables.get("config")
    if config is None:
        raise ConfigError(
            f'{file.path}: needs a configuration, such as config = "drive.toml" or config = "preset:venice-z-nand"'
        )
    if not isinstance(config, str):
        raise file.problem(
            ("config",), "needs a configuration", 'write config = "drive.toml" or "preset:venice-z-nand"'
        )
    if config.startswith(PRESET_PREFIX):
        return config
    named = str(file.path.parent / config)
    with file.at("config"):
        refuse_what_is_no_configuration(named)
    return named


def table(file: TomlFile, name: str) -> dict[str, Any]:
    """Returns the values of a table by dotted path; keys may be written dotted or nested.

    Raises:
        ConfigError: If the value is not a table.
    """
    with file.at(name):
        return flat(file.tables.get(name, {}), name)


def flat(value: Any, place: str) -> dict[str, Any]:
    """Returns the values of nested tables by their dotted keys.

    Raises:
        ConfigError: If the value is not a table.
    """
    if not isinstance(value, dict):
        raise ConfigError(f"{place} is a table of keys and their values, not {value!r}")
    found: dict[str, Any] = {}
    for key, inner in value.items():
        if isinstance(inner, dict):
            found |= {f"{key}.{name}": deeper for name, deeper in flat(inner, place).items()}
        else:
            found[key] = inner
    return found


def values_of(key: str, value: Any, file: TomlFile) -> list[Any]:
    """Returns the values of an axis, written as a list or as a range.

    Raises:
        ConfigError: If the value is neither.
    """
    if isinstance(value, str):
        return list(read_range(key, value).values())
    if not isinstance(value, list):
        raise ConfigError(f"{key}: the values of an axis are a list, such as [{value!r}], or a range such as 1..64 x2")
    return [located({key: each}, file)[key] for each in value]


def located(values: dict[str, Any], file: TomlFile) -> dict[str, Any]:
    """Returns values with absolute paths of traces and policies. Relative paths start at the folder of the file."""
    folder = file.path.parent
    return {
        key: str(absolute(folder / value))
        if key.endswith(FILES) and isinstance(value, str)
        else located_policy(key, value, file)
        if key.startswith("policy.")
        else value
        for key, value in values.items()
    }


def located_policy(key: str, name: Any, file: TomlFile) -> Any:
    """Returns the name of a policy with its path made absolute. A relative path starts at the folder of the file.

    Raises:
        ConfigError: If the file may not name policies.
    """
    from flashmesh.policies.names import BUILT_IN, FILE_END
    from flashmesh.policies.trust import refuse_untrusted

    if not isinstance(name, str) or name in ("", BUILT_IN):
        return name
    refuse_untrusted(file.path, key, name, trust=file.trust_policies)
    code, end, call = name.partition(FILE_END)
    return f"{absolute(file.path.parent / code)}{end}{call}" if end else name


def drawn_group(file: TomlFile, name: str, latin: bool) -> Group:
    """Returns the group of a table `[random]` or `[latin-hypercube]`.

    Raises:
        ConfigError: If the table lacks the number of points or the keys to draw.
    """
    values = table(file, name)
    samples, seed = values.pop("samples", None), values.pop(SEED, 0)
    if samples is None:
        raise file.problem((name,), f"[{name}] needs samples, how many points to draw: 1 to {SAMPLES_MAX:,}")
    if isinstance(samples, bool) or not isinstance(samples, int) or not 1 <= samples <= SAMPLES_MAX:
        raise file.problem((name, "samples"), f"[{name}] needs samples from 1 to {SAMPLES_MAX:,}, not {samples!r}")
    if isinstance(seed, bool) or not isinstance(seed, int) or seed < 0:
        raise file.problem((name, SEED), f"[{name}]: seed is a whole number, 0 or more")
    if not values:
        raise file.problem((name,), f"[{name}] needs keys to draw values of")
    space: dict[str, Range | list[str]] = {}
    for key, value in values.items():
        with file.at(name, key):
            space[key_of(key)] = domain(key, value, file)
    return drawn(space, samples, seed, latin)


def domain(key: str, value: Any, file: TomlFile) -> Range | list[str]:
    """Returns the values from which a key is drawn: a range or a list.

    Raises:
        ConfigError: If the value is neither.
    """
    from flashmesh.configuration import value_text

    if isinstance(value, str) and is_range(value):
        return read_range(key, value)
    return [value_text(each) for each in values_of(key, value, file)]


def numbers(seeds: Any) -> int | list[int]:
    """Returns the number of seeds, or the list of seeds.

    Raises:
        ConfigError: If the value is neither.
    """
    listed: Iterable[Any] = seeds if isinstance(seeds, list) else [seeds]
    if any(isinstance(each, bool) or not isinstance(each, int) or each < 0 for each in listed):
        raise ConfigError("seeds: expected the number of seeds, or a list of seeds, in whole numbers from 0")
    found: int | list[int] = seeds
    return found
