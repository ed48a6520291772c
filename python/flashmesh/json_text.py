"""Documents as JSON text."""

from __future__ import annotations

import json
from typing import Any


def indented(document: Any) -> str:
    """A document as JSON with an indent of two, ending with a new line.

    A recording makes a document of megabytes, for which the standard library takes thirty times as long as orjson.
    It writes what orjson refuses: integers of more than 64 bits, and half characters such as names of files may have.
    """
    import orjson

    try:
        text = orjson.dumps(document, option=orjson.OPT_INDENT_2 | orjson.OPT_SERIALIZE_NUMPY).decode()
    except orjson.JSONEncodeError:
        text = json.dumps(document, indent=2)
    return text + "\n"


def compact(document: Any) -> str:
    """A document as JSON without spaces or new lines; see `indented`."""
    import orjson

    try:
        return orjson.dumps(document, option=orjson.OPT_SERIALIZE_NUMPY).decode()
    except orjson.JSONEncodeError:
        return json.dumps(document, separators=(",", ":"))
