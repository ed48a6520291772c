"""Documents as JSON text."""

from __future__ import annotations

import json
from typing import Any


def indented(document: Any) -> str:
    """A document as JSON with an indent of two, ending with a new line.

    All of it is ASCII, so that every terminal and file takes it. A recording makes a document of megabytes, for which
    the standard library takes thirty times as long as orjson. It writes what orjson does not: characters beyond ASCII
    as their escapes, half characters such as names of files may have, and integers of more than 64 bits.
    """
    import orjson

    text = ascii_text(document, orjson.OPT_INDENT_2)
    return (json.dumps(document, indent=2) if text is None else text) + "\n"


def compact(document: Any) -> str:
    """A document as JSON without spaces or new lines; see `indented`."""
    text = ascii_text(document)
    return json.dumps(document, separators=(",", ":")) if text is None else text


def ascii_text(document: Any, options: int = 0) -> str | None:
    """A document as orjson writes it with its options; None where it refuses it, or where that is not ASCII."""
    import orjson

    try:
        text = orjson.dumps(document, option=options | orjson.OPT_SERIALIZE_NUMPY)
    except orjson.JSONEncodeError:
        return None
    return text.decode() if text.isascii() else None
