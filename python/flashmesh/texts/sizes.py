"""Amounts of data in the notation of users."""

from __future__ import annotations

import re

UNITS = {"": 1, "K": 2**10, "M": 2**20, "G": 2**30, "T": 2**40}


def size_of(text: str) -> int:
    """Returns the bytes of an amount of data, such as 512M or 10G.

    Raises:
        ValueError: If the text is not a size.
    """
    matched = re.fullmatch(r"([0-9]+) ?([KMGT]?)(?:iB)?", text.strip())
    if matched is None or (number := int(matched[1])) == 0:
        raise ValueError(f"{text!r} is not a size: expected bytes, or a number with K, M, G or T for powers of 1024")
    return number * UNITS[matched[2]]
