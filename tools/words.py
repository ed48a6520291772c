#!/usr/bin/env python3
"""Finds comments with forms that are hard to read: `python tools/words.py`.

A doc comment of a function begins with a verb in the third person ("Returns", "Charges"); every other one is a noun
phrase that names its item. The forms below break this rule, or name a thing by a pronoun whose noun is in another
sentence.
"""

from __future__ import annotations

import ast
import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).parents[1]
FORMS = {
    'begins with "The same"; name it, or "Like [`other`]"': r"The same (of|for|with|at|on|in|where|when|as)\b",
    "begins with a pronoun; name the thing": r"(That|Those|These|They|Their|Them)\b",
    'begins with "Has"; begin with the verb of the action': r"Has\b",
    'begins with "Of"; name the thing first': r"Of (?!`)",
    'begins with "What"; name the thing': r"What\b",
    'begins with "It" or "Nobody"; name the subject': r"(It|Nobody|Whoever)\b",
}
ANYWHERE = {
    "parts of a drive notify or report; they do not tell": r"\b(un)?told\b(?! (apart|otherwise))|\b[Hh]ears?\b",
    "a passive that hides its subject": r"\b(is|are|was|were|be) (looked at|waited for|asked for|put off)\b",
}
ITEM = re.compile(r"\s*(///|//!)(?!/)\s?(.*)")
FUNCTION = re.compile(r"\s*(pub(\([^)]*\))? )?((const|unsafe|async) )*fn \w")


class Comment(NamedTuple):
    """A doc comment, by its first paragraph."""

    path: Path
    line: int
    text: str
    is_function: bool
    """Whether the item is a function without a result; its doc must begin with a verb."""


def of_rust(path: Path) -> Iterator[Comment]:
    """Yields the doc comments of a Rust file."""
    lines = path.read_text(encoding="utf-8").split("\n")
    index = 0
    while index < len(lines):
        begin, text = index, []
        while index < len(lines) and (found := ITEM.match(lines[index])):
            text.append(found[2].strip())
            index += 1
        if not text:
            index += 1
            continue
        head = text[: text.index("")] if "" in text else text
        while index < len(lines) and lines[index].lstrip().startswith("#["):
            index += 1
        signature = " ".join(lines[index : index + 12]).split("{")[0].split(";")[0]
        is_function = bool(FUNCTION.match(signature)) and "->" not in signature
        if first := " ".join(head).strip():
            yield Comment(path, begin + 1, first, is_function)


def of_python(path: Path) -> Iterator[Comment]:
    """Yields the docstrings of a Python file."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef) and (
            text := ast.get_docstring(node)
        ):
            yield Comment(path, getattr(node, "lineno", 1), " ".join(text.split("\n\n")[0].split()), False)


def comments() -> Iterator[Comment]:
    """Yields the doc comments of the crates and of the Python package."""
    for path in sorted(ROOT.glob("crates/*/src/**/*.rs")):
        if "test" not in path.stem and "tests" not in path.parts:
            yield from of_rust(path)
    for path in sorted(ROOT.glob("python/**/*.py")):
        yield from of_python(path)


def faults(comment: Comment) -> Iterator[str]:
    """Yields the faults of `comment`."""
    yield from (fault for fault, form in FORMS.items() if re.match(form, comment.text))
    yield from (fault for fault, form in ANYWHERE.items() if re.search(form, comment.text))
    if comment.is_function and not re.match(r"[A-Z][a-z]+s\b|As \[|Like \[|SAFETY|`", comment.text):
        yield 'the doc of a function begins with a verb, such as "Records"'


def main() -> int:
    """Prints each fault with its place; returns 1 if there is one."""
    found = [(comment, fault) for comment in comments() for fault in faults(comment)]
    for comment, fault in found:
        print(f"{comment.path.relative_to(ROOT)}:{comment.line}: {fault}: {comment.text[:80]}")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
