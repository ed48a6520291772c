"""The fields of the objects that policies receive, with their shapes, from the stub of the compiled module."""

from __future__ import annotations

import ast
import re
from pathlib import Path

STUB = Path(__file__).parents[2] / "python/flashmesh/_native.pyi"
VIEWS = (
    "Blocks", "Write", "Planes", "DriveState", "Home", "Waiting", "Transaction", "DispatchState", "Router", "Contender",
)  # fmt: skip
SHAPES = {"Blocks": "blocks_per_plane", "Planes": "planes", "DriveState": "dies", "DriveState.valid_pages": "planes"}
"""Length of the arrays of a class, or of one array, as the name of a field of `Geometry`."""


def fields() -> list[tuple[str, str, str, str]]:
    """Returns each field and method: class, name with arguments, type with shape, and meaning."""
    module = ast.parse(STUB.read_text(encoding="utf-8"))
    classes = {node.name: node for node in module.body if isinstance(node, ast.ClassDef)}
    found = []
    for view in VIEWS:
        for node in classes[view].body:
            if isinstance(node, ast.FunctionDef):
                arguments = ", ".join(each.arg for each in node.args.args[1:])
                name = node.name if node.decorator_list else f"{node.name}({arguments})"
                found.append((view, name, shaped(view, node), meaning(node)))
    return found


def shaped(view: str, node: ast.FunctionDef) -> str:
    """Returns the type of a field; for an array, the type of its elements and its length."""
    assert node.returns is not None
    text = ast.unparse(node.returns)
    array = re.fullmatch(r"NDArray\[np\.(\w+?)_?\]", text)
    if array is None:
        return text
    length = SHAPES.get(f"{view}.{node.name}", SHAPES[view])
    return f"{array[1]}[{length}]"


def meaning(node: ast.FunctionDef) -> str:
    """Returns the meaning of a field: its docstring, on one line."""
    return " ".join((ast.get_docstring(node) or "").split())


def markdown() -> str:
    """Returns the fields of all classes as a Markdown table, for the page about policies."""
    rows = [
        f"| `{view}` | `{name}` | `{kind.replace('|', chr(92) + '|')}` | {text} |"
        for view, name, kind, text in fields()
    ]
    return "\n".join(["| class | field | type | meaning |", "|---|---|---|---|", *rows]) + "\n"


def docstring() -> str:
    """Returns the fields of all classes as a plain table, for `help(flashmesh.policies)`."""
    listed = fields()
    width = max(len(f"{view}.{name}") for view, name, _, _ in listed)
    return "".join(f"    {f'{view}.{name}':<{width}}  {kind}\n" for view, name, kind, _ in listed)
