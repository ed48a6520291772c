"""Numbers, sizes and times as fio writes them."""

from __future__ import annotations

import re

PREFIXES = "kmgtp"
SECONDS = {"d": 86_400 * 10**6, "h": 3_600 * 10**6, "m": 60 * 10**6, "s": 10**6, "ms": 1_000, "us": 1}
"""Units of time in microseconds."""
MOST = 2**63 - 1


class Misfit(Exception):  # noqa: N818 - becomes an error where the place is known
    """Why a text is not what an option holds."""


def whole(text: str, least: int = 0, most: int = MOST) -> int:
    """A whole number, decimal or hexadecimal."""
    if not re.fullmatch(r"[0-9]{1,20}|0[xX][0-9a-fA-F]{1,16}", text):
        raise Misfit(f"`{text}` is not a whole number")
    number = int(text, 16 if text[:2].lower() == "0x" else 10)
    if not least <= number <= most:
        raise Misfit(f"{text} is not between {least} and {most}")
    return number


def flag(text: str) -> bool:
    """Whether something is switched on."""
    if text not in ("0", "1"):
        raise Misfit(f"`{text}` is neither 0 nor 1")
    return text == "1"


def number(text: str) -> float:
    """A number with decimals."""
    if not re.fullmatch(r"[0-9]{1,20}(\.[0-9]{0,20})?", text):
        raise Misfit(f"`{text}` is not a number")
    return float(text)


def size(text: str, kb_base: int) -> int:
    """A number of bytes.

    With a `kb_base` of 1024, which is fio's default, k means 1024 and Ki 1000; with 1000 it is as in the standards.
    """
    match = re.fullmatch(r"([0-9]{1,20}|0x[0-9a-f]{1,16})\s*(?:([kmgtp])(i?))?b?", text.lower())
    if match is None:
        raise Misfit(f"`{text}` is not a size, such as 4k or 1g")
    count, prefix, binary = match[1], match[2], match[3]
    factor = 1
    if prefix:
        base = 1000 if (kb_base == 1000) != bool(binary) else 1024
        factor = base ** (PREFIXES.index(prefix) + 1)
    result = (int(count, 16) if count.startswith("0x") else int(count)) * factor
    if result > MOST:
        raise Misfit(f"{text} is more bytes than any drive has")
    return result


def time_us(text: str, unit: str) -> int:
    """A time in microseconds; a number alone counts in `unit`."""
    match = re.fullmatch(r"([0-9]{1,18})\s*(d|h|m|s|ms|us)?", text.lower())
    if match is None:
        raise Misfit(f"`{text}` is not a time, such as 30s")
    return int(match[1]) * SECONDS[match[2] or unit]
