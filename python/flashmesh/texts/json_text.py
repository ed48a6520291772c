"""JSON text of documents, in ASCII only, for any terminal and file.

orjson is used because recordings are megabytes of JSON, which the standard library takes thirty times as long to
indent. The standard library is the fallback where orjson fails: escapes of non-ASCII characters, lone surrogates of
file names, and integers of more than 64 bits.
"""

from __future__ import annotations

import json
from typing import Any


def indented(document: Any) -> str:
    """Returns a document indented by two, ending with a newline."""
    return (ascii_text(document, is_indented=True) or json.dumps(document, indent=2)) + "\n"


def compact(document: Any) -> str:
    """Returns a document without spaces or newlines."""
    return ascii_text(document, is_indented=False) or json.dumps(document, separators=(",", ":"))


def ascii_text(document: Any, is_indented: bool) -> str | None:
    """Returns the text from orjson; None if orjson refuses the document, or the text is not ASCII."""
    import orjson

    options = orjson.OPT_SERIALIZE_NUMPY | (orjson.OPT_INDENT_2 if is_indented else 0)
    try:
        text = orjson.dumps(document, option=options)
    except orjson.JSONEncodeError:
        return None
    return text.decode() if text.isascii() else None
