"""Values of declared parameters, small enough for a campaign, and the conditions under which a parameter is used."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

from flashmesh import _native

if TYPE_CHECKING:
    from random import Random

Settings = dict[str, str]
"""Values by key, as in overrides."""

SIZES = ("512B", "4KiB", "16KiB", "64KiB")
TIMES = ("1us", "40us", "400us")
MODERATE: dict[str, tuple[str, ...]] = {
    "flash.plane-reads-max": ("1", "2"),
    "geometry.channels": ("1", "2", "3", "4", "8"),
    "geometry.chips-per-channel": ("1", "2", "3", "4", "8"),
    "geometry.dies-per-chip": ("1", "2", "4"),
    "geometry.planes-per-die": ("1", "2", "3", "4"),
    "geometry.blocks-per-plane": ("24", "40", "64", "100"),
    "geometry.pages-per-block": ("4", "16", "64", "96"),
    "geometry.page-size": ("4KiB", "8KiB", "16KiB"),
    "geometry.page-spare": ("0B", "100B", "224B"),
    "geometry.sector-size": ("512B", "4KiB"),
    "geometry.capacity": ("512KiB", "1MiB", "3MiB", "6MiB"),
    "geometry.over-provisioning": ("0.25", "0.4", "0.6", "0.8"),
    **{f"flash.{page}-page-{work}-time": TIMES for page in ("middle", "upper", "top") for work in ("read", "program")},
    "flash.command-time-per-extra-plane": ("0ps", "50ns", "1us"),
    **{
        f"flash.{work}-command-time": ("100ns", '["100ns"]', '["0ps","300ns","2us"]')
        for work in ("read", "program", "erase")
    },
    "nossd.half-duplex": ("true", "false"),
    "venice.circuits-per-request": ("1", "2", "5"),
    "ftl.mapping-unit": ("512B", "1KiB", "2KiB", "4KiB", "8KiB", "16KiB", "32KiB"),
    "ftl.parity": ('"1/2"', '"1/3"', '"1/4"'),
    "superblock.dies": ("1", "2", "4"),
    "mapping.cache-capacity": ("512B", "4KiB", "64KiB"),
    "mapping.read-size": ("512B", "1KiB", "4KiB"),
    "mapping.write-back-read-size": ("0B", "512B", "4KiB"),
    "mapping.write-back-buffer": ("0B", "4KiB", "32KiB"),
    "mbm.area-size": ("16KiB", "64KiB", "1MiB"),
    "mbm.read-threshold": ("512B", "8KiB", "32KiB"),
    "slc.blocks-per-plane": ("1", "2", "4"),
    "wear.static-threshold": ("1", "2", "10"),
    "replication.l-r": ("0", "1", "5"),
    "replication.l-m": ("0.002", "0.05", "0.5"),
    "replication.rate-window": ("1us", "1ms", "1s"),
    "host.packet-payload": ("128B", "256B", "8KiB"),
    "host.packet-overhead": ("0B", "24B"),
    "host.transfer-max": ("512B", "4KiB", "20KiB"),
    "nvme.commands-max": ("1", "4", "64"),
    "nvme.completion-depth": ("1", "3", "16"),
    "cache.capacity": ("64KiB", "256KiB", "1MiB", "4KiB", "0B"),
    "cache.destage-window": ("0ps", "100us", "1s"),
    "cache.destages-max": ("1", "3", "16"),
    "cache.destage-stripe": ("4KiB", "16KiB", "64KiB"),
    "cache.destage-limit": ("4KiB", "32KiB", "256KiB"),
    "cache.throttle-interval": ("0ps", "700ns", "90us"),
    "cache.throttle-share": ("0", "0.3", "1"),
    "flash.suspend-interval": ("0us", "7us", "100us"),
    "firmware.cores": ("1", "2", "4"),
    **{
        f"firmware.{name}-time": ("0s", "300ns", "2us")
        for name in ("read", "write", "other", "look-up", "completion", "collect")
    },
    "persistence.entry-size": ("8B", "64B", "512B"),
    "persistence.checkpoint-interval": ("1", "3", "8"),
    "measure.epoch": ("10us", "100us", "1ms"),
    "measure.warm-up": ('"none"', '"auto"', '"requests"', '"time"'),
    "measure.warm-up-requests": ("1", "64", "500"),
    "measure.warm-up-time": ("50us", "1ms"),
    "measure.collision-pairs": ("1", "40", "4194304"),
    "measure.window-start": ("0ps", "300us"),
    "measure.window-length": ("1ps", "200us", "1s"),
    "workload.requests": ("1", "64", "600", "1500"),
    "workload.profile": ('"hm_0"', '"nossd14/synth-r50-4k"', '"web_1 + 2*hm_0@50us"'),
    "workload.request-size": ("512B", "4KiB", "12KiB", "16KiB", "64KiB", '[["4KiB",0.7],["512B",0.2],["20KiB",0.1]]'),
    "workload.write-size": SIZES,
    "workload.deallocate-size": SIZES,
    "workload.alignment": ("512B", "4KiB", "16KiB"),
    "workload.footprint": ("64KiB", "256KiB", "1MiB"),
    "workload.footprint-start": ("0B", "64KiB"),
    "workload.zones": ('"50/5:30/15:20/80"', '"90/10:10/90"'),
    "workload.file-weights": ('"1"', '"3:1"', '"5:3:2"'),
    "workload.files": ("1", "2", "3"),
    "workload.pass-size": ("16KiB", "256KiB", "2MiB"),
    "workload.passes": ("1", "2", "3"),
    "workload.flush-every": ("1", "7", "100"),
    "workload.flush-share": ("0.0", "0.05", "0.5"),
    "workload.deallocate-share": ("0.0", "0.1", "0.5"),
    "workload.write-zeroes-share": ("0.0", "0.1", "0.5"),
    "workload.write-random-share": ("0.0", "0.5", "1.0"),
    "workload.skip": ("0B", "4KiB", "40KiB"),
    "workload.skip-after": ("4KiB", "64KiB"),
    "workload.burst-length": ("1", "5", "64"),
    "workload.pair-repetition": ("1", "3", "30"),
    "workload.interarrival": ("0s", "100ns", "2us", "50us"),
    "replay.outstanding": ("1", "3", "16", "64", "300"),
    "replay.outstanding-max": ("1", "4", "64"),
    "replay.threads": ("1", "2", "7", "32"),
    "replay.think-time": ("0s", "1us", "80us"),
    "replay.time-scale": ("0.1", "1.0", "5.0"),
    "replay.start-time": ("0ps", "300us", "9223372036854775ns"),
    "replay.start-delay": ("0ps", "70us", "1000s"),
    "replay.stop-time": ("100us", "5ms"),
    "replay.ramp-time": ("0ps", "60us", "2ms"),
}
"""Values of keys without a default, and of keys whose bounds allow drives or times that are too large for a campaign.

They exclude a steady warm-up, since its run ends with requests in flight.
"""


@dataclass(frozen=True, slots=True)
class Condition:
    """A condition on another key."""

    key: str
    has: bool
    """Whether the key must have one of `values`; if false, it must have none of them."""
    values: tuple[str, ...]
    """Values as in TOML; the empty text for an unset key."""

    def holds(self, settings: Settings) -> bool:
        """Returns whether settings meet the condition."""
        text = settings.get(self.key, declared()[self.key].default or "")
        return (bare(text) in map(bare, self.values)) == self.has


@dataclass(frozen=True, slots=True)
class Parameter:
    """A declared parameter, with its default and its bounds as texts."""

    key: str
    type: str
    default: str | None
    min: str | None
    max: str | None
    choices: tuple[str, ...]
    used_with: tuple[tuple[Condition, ...], ...] = ()
    """Conditions under which the key is used: at least one of each group."""


@cache
def declared() -> dict[str, Parameter]:
    """Returns all declared parameters by key."""
    found = {}
    for one in json.loads(_native.parameters()):
        groups = tuple(
            tuple(Condition(each["key"], each["is"], tuple(each["values"])) for each in group)
            for group in one["used_with"]
        )
        choices = tuple(dict(one["choices"]))
        found[one["key"]] = Parameter(one["key"], one["type"], one["default"], one["min"], one["max"], choices, groups)
    return found


def bare(text: str) -> str:
    """Returns a value without the quotes of TOML."""
    return text.strip().strip('"')


def value(parameter: Parameter, random: Random) -> str:
    """Draws a value of a parameter; empty if no candidate value is known."""
    if parameter.key == "power.cut":
        return f"{round(math.exp(random.uniform(math.log(1e6), math.log(1e10))))}ps"
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
