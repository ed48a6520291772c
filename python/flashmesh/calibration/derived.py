"""Searched keys whose range or choices depend on the geometry: `blocks-per-plane` and `destage-stripe`."""

from __future__ import annotations

import math
import re
import tomllib
from typing import TYPE_CHECKING, Any

from flashmesh import configuration
from flashmesh._native import ConfigError
from flashmesh.calibration.space import UNSET, FreeKey, free_key
from flashmesh.keys import flat
from flashmesh.sweeps.inputs.ranges import quantity
from flashmesh.validation.loads.workload import planes_of

if TYPE_CHECKING:
    from collections.abc import Mapping

SPARE_MIN, SPARE_MAX = 1.04, 1.40
"""Searched range of the ratio of raw capacity to host-visible capacity."""
PAGES_OF_WORD_LINE = {"one": 1, "mlc": 2, "tlc": 3, "qlc": 4}


def spare_blocks(stated: Mapping[str, Any]) -> list[FreeKey]:
    """Returns `geometry.blocks-per-plane` with its range, if the facts state the capacity but not this key.

    The number of blocks then sets the over-provisioning. Otherwise, if the range has one value, or if the
    geometry is invalid, the list is empty.

    Args:
        stated: The tables of the facts.
    """
    geometry = stated.get("geometry", {})
    if not isinstance(geometry, dict) or "capacity" not in geometry or "blocks-per-plane" in geometry:
        return []
    shape = {key: value for key, value in geometry.items() if key not in ("capacity", "over-provisioning")}
    source = {key: stated[key] for key in ("preset",) if key in stated} | {"geometry": shape}
    try:
        known = tomllib.loads(configuration.load(source, typed={}).to_toml())["geometry"]
        capacity = stated_bytes(str(geometry["capacity"]))
    except ConfigError:
        return []  # reading the drive reports the error, with its line
    blocks = capacity / (planes_of(known) * int(known["pages-per-block"]) * bytes_of(known["page-size"]))
    low, high = math.ceil(blocks * SPARE_MIN), math.ceil(blocks * SPARE_MAX)
    if low == high:
        return []
    table = {
        "key": "geometry.blocks-per-plane",
        "range": f"{low}..{high}",
        "about": "raw capacity beyond the host-visible capacity",
    }
    return [free_key("geometry", table)]


def stripes(drive: Mapping[str, Any], stated: Mapping[str, Any]) -> list[FreeKey]:
    """Returns `cache.destage-stripe` with its choices: unset, one program of one die, one program of every die.

    Args:
        drive: The complete drive, as tables.
        stated: The tables of the facts. If they state the stripe, it is not searched, and the list is empty.
    """
    if "cache.destage-stripe" in flat(dict(stated)):
        return []
    geometry, flash = drive["geometry"], drive["flash"]
    pages = PAGES_OF_WORD_LINE[flash["page-types"]] if flash["program-unit"] == "word-line" else 1
    program = int(geometry["planes-per-die"]) * pages * bytes_of(geometry["page-size"])
    dies = planes_of(geometry) // int(geometry["planes-per-die"])
    choices = tuple(dict.fromkeys((UNSET, f"{program}B", f"{program * dies}B")))
    return [FreeKey("cache.destage-stripe", choices, "dirty data that is destaged together")]


def stated_bytes(size: str) -> int:
    """Returns the bytes of a size in any spelling that configurations accept, such as `1.92TB`, `2T` or `960 GB`.

    Raises:
        ConfigError: If the unit is unknown.
    """
    spelt = re.sub(r"(?<=\d)([KkMmGgTt])$", lambda unit: f"{unit[1].upper()}iB", "".join(size.split()))
    return int(quantity("size", spelt).value)


def bytes_of(size: Any) -> int:
    """Returns the bytes of a size with a unit, such as `4KiB`."""
    return int(quantity("size", str(size)).value)
