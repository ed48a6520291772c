"""Random configurations: any declared parameter with any value, as long as the combination gives a valid drive."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

from flashmesh import _native
from flashmesh._native import ConfigError
from flashmesh.configuration import read
from flashmesh.policies.kinds import KINDS

if TYPE_CHECKING:
    from random import Random

Settings = dict[str, str]
"""Values by key, as in overrides."""

BASE: Settings = {
    "geometry.channels": "2",
    "geometry.chips-per-channel": "2",
    "geometry.dies-per-chip": "1",
    "geometry.planes-per-die": "2",
    "geometry.blocks-per-plane": "40",
    "geometry.pages-per-block": "16",
    "geometry.over-provisioning": "0.4",
    "workload.requests": "600",
}
"""Settings of a drive so small that collection, wear and full queues occur within a few hundred requests."""
MODERATE: dict[str, tuple[str, ...]] = {
    "geometry.channels": ("1", "2", "3", "4", "8"),
    "geometry.chips-per-channel": ("1", "2", "3", "4", "8"),
    "geometry.dies-per-chip": ("1", "2", "4"),
    "geometry.planes-per-die": ("1", "2", "3", "4"),
    "geometry.blocks-per-plane": ("24", "40", "64", "100"),
    "geometry.pages-per-block": ("4", "16", "64", "96"),
    "geometry.page-size": ("4KiB", "8KiB", "16KiB"),
    "geometry.over-provisioning": ("0.25", "0.4", "0.6", "0.8"),
    "workload.requests": ("1", "64", "600", "1500"),
    "workload.request-size": ("512B", "4KiB", "12KiB", "16KiB", "64KiB"),
    "workload.interarrival": ("0s", "100ns", "2us", "50us"),
    "replay.outstanding": ("1", "3", "16", "64", "300"),
    "replay.threads": ("1", "2", "7", "32"),
    "replay.think-time": ("0s", "1us", "80us"),
    "replay.time-scale": ("0.1", "1.0", "5.0"),
    "replay.stop-time": ("100us", "5ms"),
    "cache.capacity": ("0B", "64KiB", "256KiB", "1MiB"),
    "firmware.cores": ("1", "2", "4"),
    **{
        f"firmware.{name}-time": ("0s", "300ns", "2us")
        for name in ("read", "write", "other", "look-up", "completion", "collect")
    },
    "slc.blocks-per-plane": ("1", "2", "4"),
    "ftl.parity": ('"1/2"', '"1/3"', '"1/4"'),
    "persistence.entry-size": ("8B", "64B", "512B"),
    "persistence.checkpoint-interval": ("1", "3", "8"),
    "power.cut": ("20us", "300us", "2ms"),
    "mapping.cache-capacity": ("512B", "4KiB", "64KiB"),
    "measure.epoch": ("10us", "100us", "1ms"),
    "measure.warm-up": ('"none"', '"auto"', '"requests"', '"time"'),
    "measure.warm-up-requests": ("1", "64", "500"),
    "measure.warm-up-time": ("50us", "1ms"),
}
"""Values of keys whose bounds allow drives or times that are too large for a campaign.

They exclude a steady warm-up, since its run ends with requests in flight.
"""
NEVER = (
    "measure.precision",
    "workload.trace",
    "workload.fitted",
    "workload.profile",
    "seed",
    "preset",
)
"""Keys that are never drawn: those of files, those set by the campaign, and those that leave requests in flight."""
SIZED = {"Bytes": "B", "Time": "ns", "Rate": "B/s", "Power": "W", "Current": "A", "Voltage": "V"}


@dataclass(frozen=True, slots=True)
class Parameter:
    """A declared parameter."""

    key: str
    type: str
    default: str | None
    min: str | None
    max: str | None
    choices: tuple[str, ...]


@cache
def parameters() -> tuple[Parameter, ...]:
    """Returns all declared parameters that may be drawn."""
    declared = json.loads(_native.parameters())
    found = (
        Parameter(one["key"], one["type"], one["default"], one["min"], one["max"], tuple(dict(one["choices"])))
        for one in declared
    )
    never = (*NEVER, *(f"policy.{kind}" for kind in KINDS))
    return tuple(one for one in found if one.key not in never and "NAME" not in one.key)


def loads(settings: Settings) -> bool:
    """Returns whether settings give a valid drive."""
    try:
        read({}, [f"{key}={value}" for key, value in settings.items()])
    except ConfigError:
        return False
    return True


def draw(random: Random) -> Settings:
    """Draws the settings of a valid drive: the base, and as many other values as fit together."""
    settings = dict(BASE) | {"seed": str(random.randrange(2**32)), "measure.warm-up": '"none"'}
    kinds = [one for one in parameters() if one.choices]
    # Draw the kind of drive first, since it determines which other keys are read.
    sizes = [one for one in parameters() if one.key in MODERATE]
    for pool, share in ((kinds, 0.35), (sizes, 0.3), (sizes, 0.15), (list(parameters()), 0.12)):
        for parameter in random.sample(pool, len(pool)):
            if random.random() < share:
                tried = settings | {parameter.key: value(parameter, random)}
                if tried[parameter.key] and loads(tried):
                    settings = tried
    return settings | streams(settings, random)


def streams(settings: Settings, random: Random) -> Settings:
    """Draws several different streams in one of four cases, if the drive stays valid."""
    if random.random() >= 0.25:
        return {}
    drawn: Settings = {}
    for name in ("a", "b", "c")[: random.randint(2, 3)]:
        own = {
            "workload.read-share": str(random.choice((0.0, 0.3, 1.0))),
            "workload.pattern": random.choice(('"random"', '"sequential"')),
            "workload.footprint-start": random.choice(("0B", "64KiB")),
        }
        # A key is set either in every stream, or for all of them together.
        drawn |= {f"stream.{name}.{key}": text for key, text in own.items() if key not in settings}
    return drawn if loads(settings | drawn) else {}


def value(parameter: Parameter, random: Random) -> str:
    """Draws a value of a parameter; empty if no candidate value is known."""
    if parameter.key in MODERATE:
        return random.choice(MODERATE[parameter.key])
    if parameter.choices:
        return f'"{random.choice(parameter.choices)}"'
    match parameter.type:
        case "boolean" | "Boolean":
            return random.choice(("true", "false"))
        case kind if parameter.default is not None and kind.lower() in ("integer", "number", "share"):
            return number(parameter, random, whole=kind.lower() == "integer")
        case _:
            return scaled(parameter, random)


def number(parameter: Parameter, random: Random, *, whole: bool) -> str:
    """Draws a number near the default within the bounds: sometimes a bound, otherwise up to a factor of ten away."""
    low = float((parameter.min or "0").replace("_", ""))
    high = float((parameter.max or "1e9").replace("_", ""))
    default = float((parameter.default or "1").replace("_", ""))
    edges = [edge for edge in (low, min(high, low + 1), high) if edge <= max(10 * default, low + 1)]
    if random.random() < 0.3:
        drawn = random.choice(edges)
    else:
        drawn = max(default, 0.01) * math.exp(random.uniform(-math.log(10), math.log(10)))
    drawn = min(max(drawn, low), high)
    return str(round(drawn)) if whole else repr(round(drawn, 6))


def scaled(parameter: Parameter, random: Random) -> str:
    """Draws a time, size or rate up to four times the default; empty without a default."""
    text = (parameter.default or "").strip('"')
    digits = text.rstrip("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ/ ")
    unit = text[len(digits) :]
    try:
        amount = float(digits.replace("_", ""))
    except ValueError:
        return ""
    drawn = amount * random.choice((0.25, 0.5, 1, 2, 4))
    return f'"{drawn:g}{unit}"' if unit else ""
