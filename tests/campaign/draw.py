"""Random configurations: any declared parameter with any value, as long as the combination gives a valid drive."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from campaign.drawn_policies import name_of
from campaign.inputs import fitted_settings, trace_settings
from campaign.values import Condition, Parameter, Settings, bare, declared, value
from flashmesh._native import ConfigError
from flashmesh.configuration import read
from flashmesh.policies.kinds import KINDS

if TYPE_CHECKING:
    from random import Random

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
NEVER = {
    "measure.precision": "the run ends with requests in flight, which the arithmetic does not know",
    "measure.precision-of": "used with measure.precision only",
}
"""Keys that are never drawn, with the reason."""
NEVER_VALUES = {
    ("measure.warm-up", "steady"): "the run ends with requests in flight",
}
"""Values that are never drawn, with the reason."""
OF_FILES = ("workload.trace", "workload.fitted", *(f"policy.{kind}" for kind in KINDS))
"""Keys whose values are files: they are drawn only for drives that have a folder for files."""
READING = ("workload.format", "workload.kind")
"""Keys whose values follow from a file."""
REPLACED = {
    "geometry.capacity": ("geometry.over-provisioning",),
    "workload.profile": ("workload.kind",),
}
"""Keys that a drawn key replaces, by the drawn key. They are removed from the settings."""
BESIDE: dict[str, Settings] = {
    "fabric.arbitration=data-first-together": {"fabric.hold-path": "false"},
    "fabric.kind=pnssd": {"geometry.channels": "2", "geometry.chips-per-channel": "2"},
    "ftl.policy=superblock": {"geometry.blocks-per-plane": "64", "geometry.over-provisioning": "0.6"},
    "ftl.parity": {"geometry.blocks-per-plane": "64", "geometry.over-provisioning": "0.8"},
    "ftl.mapping-unit": {"geometry.blocks-per-plane": "64", "geometry.over-provisioning": "0.6"},
    "flash.program-unit=word-line": {"flash.page-types": '"tlc"', "geometry.pages-per-block": "96"},
    "ftl.write-binding=early": {"flash.program-order": '"any"'},
    "gc.move=chip-to-chip": {"fabric.kind": '"nossd"', "gc.copyback": "false", "geometry.blocks-per-plane": "64"},
    "gc.move=clean": {"fabric.kind": '"nossd"', "gc.copyback": "false", "geometry.blocks-per-plane": "64"},
    "mapping.cache-capacity": {"geometry.blocks-per-plane": "64", "geometry.over-provisioning": "0.6"},
    "slc.blocks-per-plane": {
        "flash.page-types": '"tlc"',
        "geometry.pages-per-block": "96",
        "geometry.over-provisioning": "0.6",
    },
    "replication.enabled": {"geometry.over-provisioning": "0.6"},
    "flash.plane-reads-max": {"flash.multi-plane": '"independent"', "geometry.planes-per-die": "2"},
    "workload.pattern=zoned": {"workload.zones": '"50/5:30/15:20/80"'},
    "workload.profile": {"workload.footprint": "1MiB"},
    "workload.file-weights": {"workload.files": "3", "workload.file-weights": '"5:3:2"'},
    "host.transfer-max": {"geometry.page-size": "4KiB"},
}
"""Settings that are added with a key, or with one of its values (`KEY=VALUE`): without them, few drives are valid."""
AIMS = 3
"""Maximum number of random keys, besides the aim (a prescribed key), for which a drawn drive is made to fit."""
TRIES = 24


@cache
def parameters() -> tuple[Parameter, ...]:
    """Returns the parameters drawn for every drive, without those in `NEVER` and those of files and namespaces."""
    left_out = (*NEVER, *OF_FILES, *READING, "seed", "power.cut")
    return tuple(one for one in declared().values() if one.key not in left_out and not is_of_namespaces(one.key))


@cache
def aims() -> tuple[tuple[str, str | None], ...]:
    """Returns the (key, value) pairs that a drive can be made to have; the value is None for keys without choices."""
    found: list[tuple[str, str | None]] = []
    for one in declared().values():
        if one.key in NEVER or one.key == "seed":
            continue
        found += [(one.key, each) for each in one.choices or (None,) if (one.key, each) not in NEVER_VALUES]
    return tuple(found)


def is_of_namespaces(key: str) -> bool:
    """Returns whether a key is one of a namespace, or selects one."""
    return key.startswith("namespace.") or key == "queue.namespace"


def loads(settings: Settings) -> bool:
    """Returns whether settings give a valid drive."""
    try:
        read({}, [f"{key}={text}" for key, text in settings.items()])
    except ConfigError:
        return False
    return True


def draw(random: Random, folder: Path | None = None, aim: tuple[str, str | None] | None = None) -> Settings:
    """Draws the settings of a valid drive: the base, a few keys for which it is made to fit, and others that then fit.

    Args:
        random: The generator.
        folder: Folder for files of the drive; without one the drive has no trace, no profile and no policy in Python.
        aim: The first of these few keys, with its value.
    """
    settings = dict(BASE) | {"seed": str(random.randrange(2**32)), "measure.warm-up": '"none"'}
    kept: set[str] = set()
    wanted = [aim] if aim is not None else []
    for key, text in (*wanted, *random.sample(aims(), random.randint(0, AIMS))):
        found = aimed(settings, key, text, random, folder)
        if all(found.get(each) == settings.get(each) for each in kept):
            kept |= {each for each in found if found[each] != settings.get(each)} | {key}
            kept |= {each.key for group in declared()[key].used_with for each in group}
            settings = found
    kinds = [one for one in parameters() if one.choices]
    # Draw the kind of drive first, since it determines which other keys are read.
    sizes = [one for one in parameters() if one.key.partition(".")[0] in ("geometry", "workload", "cache", "replay")]
    for pool, share in ((kinds, 0.3), (sizes, 0.2), (list(parameters()), 0.12)):
        for parameter in random.sample(pool, len(pool)):
            if random.random() < share and parameter.key not in kept and is_used(settings, parameter):
                settings = with_value(settings, parameter, value(parameter, random)) or settings
    if not any(key.startswith("stream.") for key in settings):
        settings |= streams(settings, random)
    return settings


def is_used(settings: Settings, parameter: Parameter) -> bool:
    """Returns whether settings meet the conditions under which a key is used."""
    return all(any(each.holds(settings) for each in group) for group in parameter.used_with)


def with_value(settings: Settings, parameter: Parameter, text: str) -> Settings | None:
    """Returns settings with a key set to `text`, with the keys that the value needs and without those that it replaces.

    None for an empty or excluded value, or if the settings do not load.
    """
    if not text or (parameter.key, bare(text)) in NEVER_VALUES:
        return None
    drawn = {parameter.key: text}
    needed = {key: each for key, each in beside(drawn).items() if key not in settings}
    tried = without(settings, REPLACED.get(parameter.key, ())) | needed | drawn
    return tried if loads(tried) else None


def without(settings: Settings, keys: tuple[str, ...]) -> Settings:
    """Returns settings without some keys."""
    return {key: text for key, text in settings.items() if key not in keys}


def aimed(settings: Settings, key: str, text: str | None, random: Random, folder: Path | None) -> Settings:
    """Returns settings with a key, and with the keys that it needs; unchanged if no attempt gives a valid drive."""
    if key in (*OF_FILES, *READING) and folder is None:
        return settings
    parameter = declared()[key]
    for _ in range(TRIES):
        if is_of_namespaces(key):
            tried = settings | namespaces(key, random)
        else:
            tried = met(settings, parameter, random, folder)
            drawn = of_key(parameter, text, random, folder)
            tried = without(tried, REPLACED.get(key, ())) | drawn | beside(drawn)
        if all(tried.values()) and loads(tried):
            return tried
    return settings


def beside(drawn: Settings) -> Settings:
    """Returns the settings that drawn keys need beside them."""
    found: Settings = {}
    for key, text in drawn.items():
        found |= BESIDE.get(key, {}) | BESIDE.get(f"{key}={bare(text)}", {})
    return found


def of_key(parameter: Parameter, text: str | None, random: Random, folder: Path | None) -> Settings:
    """Returns settings with a key set to `text`, or to a random value if None, and the keys that this value needs."""
    key = parameter.key
    if key == "workload.kind" and text in ("trace", "fitted", "profile"):
        return of_key(declared()[f"workload.{text}"], None, random, folder) | {key: f'"{text}"'}
    if folder is not None:
        match key.split("."):
            case ["workload", "trace"]:
                return trace_settings(random, folder)
            case ["workload", "format"]:
                return trace_settings(random, folder, text)
            case ["workload", "fitted"]:
                return fitted_settings(random, folder)
            case ["policy", kind]:
                return {key: name_of(kind)}
    return {key: f'"{text}"' if text is not None else value(parameter, random)}


def met(settings: Settings, parameter: Parameter, random: Random, folder: Path | None, depth: int = 0) -> Settings:
    """Returns settings that meet the conditions of a key. Of several conditions a random one is met."""
    if depth > 4:
        return settings
    for group in parameter.used_with:
        if any(each.holds(settings) for each in group):
            continue
        condition = random.choice(group)
        other = declared()[condition.key]
        settings = met(settings, other, random, folder, depth + 1)
        drawn = meeting(condition, other, random, folder)
        settings = without(settings, (condition.key, *REPLACED.get(condition.key, ()))) | drawn
    return settings


def meeting(condition: Condition, parameter: Parameter, random: Random, folder: Path | None) -> Settings:
    """Returns settings that meet a condition of a key, with the keys that they need; empty if none are found."""
    drawn: Settings = {}
    if condition.has:
        text = random.choice(condition.values)
        if text:
            drawn = of_key(parameter, bare(text), random, folder) if parameter.choices else {parameter.key: text}
    else:
        tries = (of_key(parameter, None, random, folder) for _ in range(TRIES))
        drawn = next((each for each in tries if condition.holds(each)), {})
    return drawn | beside(drawn)


def namespaces(key: str, random: Random) -> Settings:
    """Draws two namespaces, each with a stream, on shared or separate parts of the drive.

    If `key` is a key of a namespace, its last part is the level (channels, ways, ...) at which the drive is divided.
    """
    level = key.rpartition(".")[2] if key.startswith("namespace.") else random.choice(("channels", "ways", "planes"))
    count = {"channels": "geometry.channels", "ways": "geometry.chips-per-channel", "dies": "geometry.dies-per-chip"}
    drawn: Settings = {count.get(level, "geometry.planes-per-die"): "2"} if level != "capacity" else {}
    for number, name in enumerate("xy"):
        if level == "capacity":
            drawn[f"namespace.{name}.capacity"] = random.choice(("256KiB", "1MiB"))
        else:
            drawn[f"namespace.{name}.{level}"] = random.choice((f"[{number}]", "[0,1]", f'"{number}"'))
        drawn[f"stream.{name}.queue.namespace"] = f'"{name}"'
        drawn[f"stream.{name}.workload.read-share"] = random.choice(("0.0", "0.5"))
    return drawn


def streams(settings: Settings, random: Random) -> Settings:
    """Draws two or three streams with a probability of 1/4. Otherwise, or if they would be invalid, returns none."""
    if random.random() >= 0.25:
        return {}
    drawn: Settings = {}
    for name in ("a", "b", "c")[: random.randint(2, 3)]:
        own = {
            "workload.read-share": str(random.choice((0.0, 0.3, 1.0))),
            "workload.pattern": random.choice(('"random"', '"sequential"')),
            "workload.footprint-start": random.choice(("0B", "64KiB")),
            "queue.caching": random.choice(('"none"', '"reads"', '"writes"', '"all"')),
            "queue.priority": random.choice(('"urgent"', '"medium"', '"low"')),
        }
        # A key is set either in every stream, or for all of them together.
        wanted = {f"stream.{name}.{key}": text for key, text in own.items() if key not in settings}
        drawn |= {
            key: text
            for key, text in wanted.items()
            if not key.partition(f".{name}.")[2].startswith("queue.")
            or is_used(settings, declared()[key.partition(f".{name}.")[2]])
        }
    return drawn if loads(settings | drawn) else {}
