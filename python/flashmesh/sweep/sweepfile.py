"""The file of a sweep: which drive, what is set for all runs, and what varies between them."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from flashmesh._native import ConfigError
from flashmesh.files import absolute
from flashmesh.missing import PRESET_PREFIX
from flashmesh.sweep.plan import SAMPLES_MAX, SEED, Group, Plan, cartesian, drawn, refuse_twice, seeds_of, zipped
from flashmesh.sweep.ranges import Range, is_range, read_range

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from pathlib import Path

KEYS = ("config", "set", "axes", "zip", "random", "latin-hypercube", "seeds")
BYTES_MAX = 16 << 20
"""The longest file that is read."""
FILES = ("workload.trace", "workload.fitted")
"""Keys whose values are paths, counted from the folder of the sweep's file."""


@dataclass(frozen=True)
class SweepFile:
    """A sweep as it is written."""

    config: str
    """The path of a configuration, or preset:NAME."""
    overrides: dict[str, Any]
    plan: Plan
    tables: dict[str, Any] = field(repr=False)
    """The file as it was read."""


def read_sweep(path: Path) -> SweepFile:
    """Reads a sweep.

    Raises:
        ConfigError: When it cannot be read, or says what no sweep is.
    """
    tables = read_tables(path)
    refuse_unknown(path, tables, KEYS)
    folder = path.parent
    overrides = located(flat(tables.get("set", {}), f"{path}: set"), folder)
    groups = [
        *cartesian({key: values_of(key, value, folder) for key, value in table(path, tables, "axes").items()}),
        *(
            zipped({key: values_of(key, value, folder) for key, value in flat(each, f"{path}: zip").items()})
            for each in tables.get("zip", [])
        ),
    ]
    for name, latin in (("random", False), ("latin-hypercube", True)):
        if name in tables:
            groups.append(drawn_group(path, name, table(path, tables, name), folder, latin))
    if "seeds" in tables:
        groups.append(seeds_of(numbers(path, tables["seeds"])))
    if not groups:
        raise ConfigError(f"{path}: nothing varies: name keys and their values in [axes]")
    refuse_twice(groups)
    for key in overrides:
        if any(key in group.keys for group in groups):
            raise ConfigError(f"{path}: {key} is varied and given in [set]: drop one of them")
    return SweepFile(config_of(path, tables), overrides, Plan(tuple(groups)), tables)


def read_tables(path: Path) -> dict[str, Any]:
    """The tables of a file.

    Raises:
        ConfigError: When there are none to be read.
    """
    try:
        with path.open("rb") as file:
            data = file.read(BYTES_MAX + 1)
    except OSError as error:
        raise ConfigError(f"{path}: cannot be read: {error.strerror}") from error
    if len(data) > BYTES_MAX:
        raise ConfigError(f"{path}: is larger than {BYTES_MAX >> 20} MiB, which no such file is")
    try:
        return tomllib.loads(data.decode("utf-8").replace("\r\n", "\n"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, RecursionError) as error:
        raise ConfigError(f"{path}: is not TOML: {error}") from error


def refuse_unknown(path: Path, tables: Mapping[str, Any], known: Sequence[str]) -> None:
    """Refuses keys that the file may not have.

    Raises:
        ConfigError: When there is one; the text says which was meant.
    """
    from flashmesh.importers.problems import suggestion

    for key in tables:
        if key not in known:
            near = suggestion(key, known)
            told = f"did you mean {near}?" if near else f"there are {', '.join(known)}"
            raise ConfigError(f"{path}: unknown key {key}: {told}")


def config_of(path: Path, tables: Mapping[str, Any]) -> str:
    """The configuration that a file names.

    Raises:
        ConfigError: When it names none.
    """
    config = tables.get("config")
    if not isinstance(config, str):
        raise ConfigError(f'{path}: needs a configuration, such as config = "drive.toml" or config = "preset:z-nand"')
    return config if config.startswith(PRESET_PREFIX) else str(path.parent / config)


def table(path: Path, tables: Mapping[str, Any], name: str) -> dict[str, Any]:
    """The keys of a table with dots, however they are nested."""
    return flat(tables.get(name, {}), f"{path}: {name}")


def flat(value: Any, place: str) -> dict[str, Any]:
    """The values of nested tables by their keys with dots.

    Raises:
        ConfigError: When it is no table.
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


def values_of(key: str, value: Any, folder: Path) -> list[Any]:
    """The values of an axis: a list, or a range as text.

    Raises:
        ConfigError: When it is neither.
    """
    if isinstance(value, str):
        return list(read_range(key, value).values())
    if not isinstance(value, list):
        raise ConfigError(f"{key}: the values of an axis are a list, such as [{value!r}], or a range such as 1..64 x2")
    return [located({key: each}, folder)[key] for each in value]


def located(values: dict[str, Any], folder: Path) -> dict[str, Any]:
    """Values with the paths of traces counted from a folder."""
    return {
        key: str(absolute(folder / value)) if key.endswith(FILES) and isinstance(value, str) else value
        for key, value in values.items()
    }


def drawn_group(path: Path, name: str, values: dict[str, Any], folder: Path, latin: bool) -> Group:
    """The group of a table `[random]` or `[latin-hypercube]`.

    Raises:
        ConfigError: When the table does not say how many points to draw, or from where.
    """
    samples, seed = values.pop("samples", None), values.pop(SEED, 0)
    if not isinstance(samples, int) or not 1 <= samples <= SAMPLES_MAX:
        raise ConfigError(f"{path}: [{name}] needs samples, how many points to draw: 1 to {SAMPLES_MAX:,}")
    if not isinstance(seed, int) or seed < 0:
        raise ConfigError(f"{path}: [{name}]: seed is a whole number, 0 or more")
    if not values:
        raise ConfigError(f"{path}: [{name}] needs keys to draw values of")
    return drawn({key: domain(key, value, folder) for key, value in values.items()}, samples, seed, latin)


def domain(key: str, value: Any, folder: Path) -> Range | list[str]:
    """Where the value of a key is drawn from: a range, or a list.

    Raises:
        ConfigError: When it is neither.
    """
    from flashmesh.configuration import value_text

    if isinstance(value, str) and is_range(value):
        return read_range(key, value)
    return [value_text(each) for each in values_of(key, value, folder)]


def numbers(path: Path, seeds: Any) -> int | list[int]:
    """How many seeds, or which.

    Raises:
        ConfigError: When it is neither.
    """
    listed: Iterable[Any] = seeds if isinstance(seeds, list) else [seeds]
    if any(isinstance(each, bool) or not isinstance(each, int) or each < 0 for each in listed):
        raise ConfigError(f"{path}: seeds is how many there are, or a list of them: whole numbers, 0 or more")
    found: int | list[int] = seeds
    return found
