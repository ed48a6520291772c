"""Changes to try: each key with a declared step moves up and down by the step, or takes each of its alternatives."""

from __future__ import annotations

import json
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from flashmesh._native import ConfigError
from flashmesh.configuration import value_text
from flashmesh.configuring.spare_space import KEPT, SHARE, space_of
from flashmesh.keys import declared, flat
from flashmesh.sweeps.inputs.ranges import quantity

if TYPE_CHECKING:
    from collections.abc import Iterator

    from flashmesh._native import Config
    from flashmesh.keys import Key

BETWEEN = " | "
"""Separator between the alternatives in the step of a key, such as `bus | pnssd | venice`."""
MOVED_PAGES = "gc.moved-pages"
SUPERBLOCKS = ("tbm", "superblock")
"""Values of `ftl.policy` with which moved pages share the block of writes unless the configuration says otherwise."""
SHARE_DIGITS = 4
"""Number of decimals of the over-provisioning that is computed from a given capacity."""


@dataclass(frozen=True)
class Change:
    """A configuration key that is set from the value `before` to the value `after`."""

    key: str
    before: str
    after: str

    @property
    def label(self) -> str:
        """The change as text: `fabric.kind = pnssd`."""
        return f"{self.key} = {self.after}"

    @property
    def words(self) -> str:
        """The key as words: `host queue depth` for `host.queue-depth`."""
        return self.key.replace(".", " ").replace("-", " ")


def changes_of(config: Config, keep: str = KEPT) -> tuple[list[Change], dict[str, str]]:
    """Returns the changes to try, and the reason for each key that has a step but no change; in declaration order.

    Args:
        config: The configuration of the drive.
        keep: The quantity that stays constant if a change adds or removes flash: one of `spare_space.KEEP`.
    """
    values = flat(json.loads(config.to_json()))
    share = space_of(values).share
    if share is not None:
        # Over-provisioning is unset if the configuration states a capacity. It then follows from the capacity.
        values[SHARE] = round(float(share), SHARE_DIGITS)
    if values.get(MOVED_PAGES) is None:
        values[MOVED_PAGES] = "write-block" if values["ftl.policy"] in SUPERBLOCKS else "own-block"
    found: list[Change] = []
    unread: dict[str, str] = {}
    for key in declared().values():
        if key.step is None:
            continue
        reason = config.unread(key.key)
        if reason is not None:
            unread[key.key] = reason
        elif key.key == SHARE and keep != KEPT:
            unread[key.key] = f"changes the {keep}, which is kept"
        elif values.get(key.key) is None:
            unread[key.key] = "is not set"
        else:
            before = value_text(values[key.key])
            changes = [Change(key.key, before, after) for after in others(key, key.step, values[key.key])]
            found += changes
            if not changes:
                unread[key.key] = f"is {before}, and its step gives no other value"
    return found, unread


def others(key: Key, step: str, value: Any) -> Iterator[str]:
    """Yields the values to try instead of `value`.

    A step `x2` or `+5%` yields the next value up and the next value down, if valid. Any other step lists the
    alternatives.
    """
    before = value_text(value)
    if not step.startswith(("x", "+")):
        yield from (other for other in step.split(BETWEEN) if not is_same(other, before))
        return
    try:
        start, by = quantity(key.key, before), quantity(key.key, step[1:])
    except ConfigError:
        return  # the value is no quantity, for example an unlimited rate
    if step.startswith("x"):
        wanted = [start.value * by.value, start.value / by.value]
    else:
        wanted = [start.value + by.value, start.value - by.value]
    for each in wanted:
        if each <= 0 or (key.type == "integer" and each.denominator != 1):
            continue
        yield spelt(start.text(each), key.type)


def spelt(text: str, kind: str) -> str:
    """Returns a quantity with six significant digits; a whole number (`kind` is `integer`) stays unchanged."""
    found = quantity("", text)
    if kind == "integer":
        return text
    return found.text(Fraction(f"{float(found.value):.6g}"))


def is_same(one: str, other: str) -> bool:
    """Returns whether two texts denote the same value: equal texts, or equal quantities in different units."""
    if one == other:
        return True
    try:
        return quantity("", one).value == quantity("", other).value and one[:1].isdigit() and other[:1].isdigit()
    except ConfigError:
        return False
