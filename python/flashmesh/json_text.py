"""Documents as JSON text, all of it ASCII, so that every terminal and file takes it.

orjson writes them, since a recording is megabytes of JSON, which the standard library takes thirty times as long to
indent. The standard library writes what orjson does not: characters beyond ASCII as escapes, lone surrogates of file
names, and integers of more than 64 bits.
"""

from __future__ import annotations

import json
from typing import Any


def indented(document: Any) -> str:
    """A document with an indent of two, ending with a new line."""
    return (ascii_text(document, is_indented=True) or json.dumps(document, indent=2)) + "\n"


def compact(document: Any) -> str:
    """A document without spaces or new lines."""
    return ascii_text(document, is_indented=False) or json.dumps(document, separators=(",", ":"))


def ascii_text(document: Any, is_indented: bool) -> str | None:
    """What orjson writes; None where it refuses the document, or where the text is not ASCII."""
    import orjson

    options = orjson.OPT_SERIALIZE_NUMPY | (orjson.OPT_INDENT_2 if is_indented else 0)
    try:
        text = orjson.dumps(document, option=options)
    except orjson.JSONEncodeError:
        return None
    return text.decode() if text.isascii() else None
