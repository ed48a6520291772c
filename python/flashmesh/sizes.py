"""Amounts of data the way people write them."""

from __future__ import annotations

import re

UNITS = {"": 1, "K": 2**10, "M": 2**20, "G": 2**30, "T": 2**40}


def size_of(text: str) -> int:
    """An amount of data, such as 512M or 10G.

    Raises:
        ValueError: When it is none.
    """
    matched = re.fullmatch(r"([0-9]+) ?([KMGT]?)(?:iB)?", text.strip())
    if matched is None or (number := int(matched[1])) == 0:
        raise ValueError(f"{text!r} is no size: expected bytes, or a number with K, M, G or T for powers of 1024")
    return number * UNITS[matched[2]]
