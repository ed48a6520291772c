"""Facts of a drive: a configuration with a table `calibrate` for the search.

preset = "venice-z-nand"

[geometry]
channels = 8

[calibrate]
fixed = ["flash.erase-time"]      # keys that would be searched, but whose values here are facts
software-time = "5us"             # time that host software adds to each latency

[calibrate.search]                # further searched keys, and other ranges
"cache.low-mark" = "0.2..0.7"
"gc.victim" = ["greedy", "d-choices"]
"""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from flashmesh import configuration
from flashmesh._native import ConfigError
from flashmesh.calibration.space import FreeKey, Space, free_key, listed
from flashmesh.keys import flat
from flashmesh.validation.drives import software_us
from flashmesh.validation.workload import SECTIONS, drive_tables

if TYPE_CHECKING:
    from pathlib import Path

CALIBRATE = "calibrate"
KNOWN = ("fixed", "software-time", "search")


@dataclass(frozen=True)
class Facts:
    """Facts of a drive, with the keys to search."""

    path: Path
    stated: dict[str, Any]
    """Tables of the file, without `calibrate`."""
    tables: dict[str, Any]
    """Complete configuration of the drive, as tables."""
    space: Space
    software_us: float

    def start(self) -> dict[str, str]:
        """Returns initial values: those of the drive, or else the middle of a range or the first choice."""
        values = {key: configuration.value_text(value) for key, value in flat(self.tables).items()}
        found: dict[str, str] = {}
        for key in self.space.keys:
            text = values.get(key.key, "")
            if isinstance(key.domain, tuple):
                found[key.key] = text if text in key.domain else key.domain[0]
            else:
                found[key.key] = text if key.share_of(text) is not None else key.at(0.5)
        return found


def read_facts(path: Path) -> Facts:
    """Reads the facts in a file, and the keys to search.

    Raises:
        ConfigError: If the file is invalid, or contains a searched key.
    """
    try:
        tables = tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeError) as error:
        raise ConfigError(f"{path}: cannot be read: {getattr(error, 'strerror', None) or error}") from error
    except tomllib.TOMLDecodeError as error:
        raise ConfigError(f"{path}: is not TOML: {error}") from error
    about = tables.pop(CALIBRATE, {})
    workload = [section for section in SECTIONS if section in tables]
    if workload:
        raise ConfigError(f"{path}: [{workload[0]}] describes a workload, which the measurements define: remove it")
    for name in about:
        if name not in KNOWN:
            raise ConfigError(f"{path}: [calibrate] {name} is unknown: there are {', '.join(KNOWN)}")
    drive = drive_tables(tables, {}, str(path))
    space = space_of(path, tables, drive, about)
    added = software_us(f"{path}: [calibrate]", about.get("software-time", "0us"))
    return Facts(path, tables, drive, space, added)


def space_of(path: Path, stated: dict[str, Any], drive: dict[str, Any], about: dict[str, Any]) -> Space:
    """Returns the keys to search.

    Raises:
        ConfigError: If the file contains a searched key, or no key is searched.
    """
    keys = {key.key: key for key in listed()}
    fixed = about.get("fixed", [])
    for name, domain in about.get("search", {}).items():
        form = {"choices": domain} if isinstance(domain, list) else {"range": domain}
        keys[name] = free_key(f"{path}: [calibrate.search]", {"key": name, **form})
        refuse_untrusted_choices(path, keys[name])
    for name in fixed:
        if name not in keys:
            raise ConfigError(f"{path}: [calibrate] fixed has {name}, which is not searched: {', '.join(keys)} are")
    given = flat(stated)
    for name in keys:
        if name in given and name not in fixed:
            raise ConfigError(
                f"{path}: states {name}, which calibrate fits: remove it, "
                f'or declare it a fact: [calibrate] fixed = ["{name}"]'
            )
    free = [key for name, key in keys.items() if name not in fixed]
    found = tuple(key for key in free if is_read(drive, key, free))
    if not found:
        raise ConfigError(f"{path}: leaves nothing to fit: name keys and ranges in [calibrate.search]")
    return Space(found)


def refuse_untrusted_choices(path: Path, key: FreeKey) -> None:
    """Refuses a key whose choices are policies of an untrusted file.

    Raises:
        ConfigError: If a choice names a policy, and the file is not trusted.
    """
    from flashmesh.policies.names import BUILT_IN
    from flashmesh.policies.trust import refuse_untrusted

    if key.key.startswith("policy.") and isinstance(key.domain, tuple):
        for choice in key.domain:
            if choice not in ("", BUILT_IN):
                refuse_untrusted(f"{path}: [calibrate.search]", key.key, choice)


def is_read(drive: dict[str, Any], key: FreeKey, free: list[FreeKey]) -> bool:
    """Returns whether any value of a key, with any choice of one other searched key, makes the drive use the key."""
    values = list(key.domain) if isinstance(key.domain, tuple) else [key.at(0.5)]
    choices = [(other.key, each) for other in free if isinstance(other.domain, tuple) for each in other.domain]
    for value in values:
        for beside in ({}, *({name: each} for name, each in choices if name != key.key)):
            try:
                if configuration.load(drive, varied={**beside, key.key: value}, typed={}).unread(key.key) is None:
                    return True
            except ConfigError:
                continue
    return False
