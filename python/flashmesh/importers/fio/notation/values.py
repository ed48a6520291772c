"""Numbers, sizes and times in fio's notation."""

from __future__ import annotations

import ast
import operator
import re
from typing import TYPE_CHECKING

from flashmesh.importers.fio.notation import meant

if TYPE_CHECKING:
    from collections.abc import Callable

PREFIXES = "kmgtp"
MOST = 2**63 - 1
SUFFIXED = re.compile(r"(?<![0-9a-zA-Z_.])([0-9]{1,20}(?:[kmgtpKMGTP][iI]?[bB]?))(?![0-9a-zA-Z_])")
OPERATORS: dict[type[ast.operator], Callable[[float, float], float]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
}
EXPRESSION_MAX = 200
"""Maximum length of an expression in characters."""


class Misfit(Exception):  # noqa: N818 - callers turn it into an error with a place
    """Reason why a text is not a valid value of an option."""

    def __init__(self, reason: str, text: str = "", instead: str = "", remedy: str = "") -> None:
        """Creates the reason; `instead` is what to write in place of `text`, `remedy` any other advice."""
        super().__init__(reason)
        self.text = text
        self.instead = instead
        self.remedy = remedy


def whole(text: str, least: int = 0, most: int = MOST) -> int:
    """Reads a whole number from `least` to `most`.

    The number is decimal or hexadecimal, may have a suffix such as k, or is an expression in parentheses.
    """
    if re.fullmatch(r"[0-9]{1,20}|0[xX][0-9a-fA-F]{1,16}", text):
        number = int(text, 16 if text[:2].lower() == "0x" else 10)
    else:
        try:
            number = size(text, 1024)
        except Misfit:
            digits = re.match(r"([0-9]{1,20})\.", text)
            read = f"; fio reads it as {digits[1]}" if digits is not None else ""
            instead = digits[1] if digits is not None and least <= int(digits[1]) <= most else ""
            raise Misfit(f"`{text}` is not a whole number{read}", text, instead) from None
    if not least <= number <= most:
        least_or_most = f"a number from {least} to {most}" if most < MOST else f"{least} or more"
        raise Misfit(f"{text} is not between {least} and {most}", remedy=f"write {least_or_most}")
    return number


def percent(text: str) -> int:
    """Reads a percentage of requests: a whole number from 0 to 100, without a percent sign."""
    match = re.fullmatch(r"([0-9]{1,3})(?:\s*%|[:/,]\s*[0-9]{1,3}\s*%?)|(0?\.[0-9]{1,2})", text)
    if match is not None:
        instead = match[1] or str(round(100 * float(match[2])))
        raise Misfit(f"`{text}` is not a whole number of percent", text, instead)
    return whole(text, 0, 100)


def flag(text: str) -> bool:
    """Reads a switch, 0 or 1."""
    if text not in ("0", "1"):
        instead = {"yes": "1", "true": "1", "on": "1", "no": "0", "false": "0", "off": "0"}.get(text.lower(), "")
        raise Misfit(f"`{text}` is neither 0 nor 1", text, instead, "write 0 or 1")
    return text == "1"


def number(text: str) -> float:
    """Reads a decimal number."""
    if not re.fullmatch(r"[0-9]{1,20}(\.[0-9]{0,20})?|\.[0-9]{1,20}", text):
        raise Misfit(f"`{text}` is not a number")
    return float(text)


def percentage(text: str) -> float | None:
    """Reads a percentage, and returns it as a share of 1; None for any other text."""
    match = re.fullmatch(r"([0-9]{1,3})(\.[0-9]*)?\s*%", text.strip())
    if match is None:
        return None
    if match[2] is not None:
        raise Misfit(f"`{text}` is no whole percentage; fio reads it as {match[1]} bytes", text, f"{match[1]}%")
    if int(match[1]) > 100:
        raise Misfit(f"`{text}` is more than 100 %", remedy="write 1% to 100%, or bytes")
    return int(match[1]) / 100


def size(text: str, kb_base: int) -> int:
    """Reads a number of bytes.

    With a `kb_base` of 1024, fio's default, k, kb and ki mean 1024, and kib means 1000. With 1000, k, kb and ki mean
    1000, and kib means 1024. fio accepts any word that begins with the letter of a prefix, such as 64meg.
    """
    if text.startswith("("):
        result = expression(text, kb_base)
    else:
        match = re.fullmatch(r"([0-9]{1,20}|0x[0-9a-f]{1,16})\s*(?:([kmgtp])([a-z]*)|b|bytes?)?", text.lower())
        if match is None:
            read = meant.size_read(text)
            told = f" such as 4k or 1g{f': fio takes whole numbers, and reads it as {read}' if read else ''}"
            remedy = "write a whole number with k, m, g or t behind it"
            raise Misfit(f"`{text}` is not a size{told}", text, meant.size(text, kb_base) if read else "", remedy)
        count, prefix = match[1], match[2]
        factor = 1
        if prefix:
            base = 1000 if (kb_base == 1000) != match[3].startswith("ib") else 1024
            factor = base ** (PREFIXES.index(prefix) + 1)
        result = (int(count, 16) if count.startswith("0x") else int(count)) * factor
    if result > MOST:
        raise Misfit(f"{text} is more bytes than any drive has")
    return result


def expression(text: str, kb_base: int) -> int:
    """Reads an expression in parentheses, such as (64*1024), and returns its value as a whole number."""
    wrong = Misfit(f"`{text}` is no expression of numbers, + - * / and parentheses")
    if len(text) > EXPRESSION_MAX:
        raise wrong
    plain = SUFFIXED.sub(lambda match: str(size(match[1], kb_base)), text)
    try:
        found = value_of(ast.parse(plain, mode="eval").body)
    except (SyntaxError, ValueError, TypeError, ZeroDivisionError, OverflowError, RecursionError):
        raise wrong from None
    if not 0 <= found <= MOST:
        raise wrong
    return int(found)


def value_of(node: ast.expr) -> float:
    """Returns the value of the syntax tree of an arithmetic expression.

    Raises:
        ValueError: If the expression contains anything else.
    """
    match node:
        case ast.Constant(value=int() | float() as value) if not isinstance(value, bool):
            return value
        case ast.BinOp(left, kind, right) if type(kind) in OPERATORS:
            return OPERATORS[type(kind)](value_of(left), value_of(right))
    raise ValueError


def time_us(text: str, unit: str) -> int:
    """Reads a time, and returns it in microseconds; a number without a unit is in `unit`.

    Refuses what fio 3.33 reads as another time than it seems to say, such as 0.3 as 0, `1.5ms` as 1 us, and `5sec` as
    5 us. fio ignores a unit behind a space.
    """
    match = re.fullmatch(r"([0-9]{1,18})(?:(d|h|m|s)|(ms|us)[a-z]*|\s+" + unit + ")?", text.lower())
    if match is None:
        read = meant.time_read(text, unit)
        told = f": fio takes whole numbers with d, h, m, s, ms or us, and reads it as {read}" if read else ""
        remedy = "write a whole number with d, h, m, s, ms or us behind it"
        raise Misfit(f"`{text}` is not a time such as 30s{told}", text, meant.time(text, unit), remedy)
    return int(match[1]) * meant.TIMES[match[2] or match[3] or unit]
