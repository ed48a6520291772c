"""JSON text of documents, indented or compact: equal to that of the standard library, whichever library writes it."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest

from flashmesh.texts.json_text import ascii_text, compact, indented

PLAIN = {
    "iops": 1e-7,
    "none": None,
    "runs": [{"settings": {"fabric.kind": "bus"}, "seed": 2**64 - 1}, (1, 2)],
    "text": '"/" \\ \n',
}
BEYOND_ASCII = PLAIN | {"text": 'µs "/" \u2028'}
REFUSED = [{"seed": 2**64}, {"trace": "caf\udce9.csv"}]
"""Documents that orjson refuses: with an integer of more than 64 bits, and with a lone surrogate."""


@pytest.mark.parametrize("document", [PLAIN, BEYOND_ASCII])
def test_both_forms_hold_the_document(document: Any) -> None:
    expected = json.loads(json.dumps(document))
    assert json.loads(indented(document)) == expected
    assert json.loads(compact(document)) == expected


def test_orjson_writes_what_is_ascii_and_the_standard_library_the_rest() -> None:
    assert ascii_text(PLAIN, is_indented=True) == indented(PLAIN).removesuffix("\n")
    assert ascii_text(PLAIN, is_indented=False) == compact(PLAIN)
    assert [ascii_text(document, is_indented=False) for document in (BEYOND_ASCII, *REFUSED)] == [None] * 3


def test_the_indented_form_is_that_of_the_standard_library() -> None:
    document = {"axes": {"geometry.channels": [4, 8]}, "complete": True, "failures": [], "runs": [{"iops": 0.5}]}
    assert indented(document) == json.dumps(document, indent=2) + "\n"
    assert compact(document) == json.dumps(document, separators=(",", ":"))


@pytest.mark.parametrize("document", REFUSED)
def test_nothing_is_lost_that_orjson_refuses(document: Any) -> None:
    assert json.loads(indented(document)) == document
    assert json.loads(compact(document)) == document


@pytest.mark.parametrize("document", [PLAIN, BEYOND_ASCII, *REFUSED])
def test_the_text_is_ascii_for_a_stdout_that_takes_no_more(document: Any) -> None:
    assert indented(document).isascii()
    assert compact(document).isascii()


def test_values_of_numpy_are_numbers() -> None:
    assert compact({"rate": np.float64(0.25), "queues": np.int64(3)}) == '{"rate":0.25,"queues":3}'
