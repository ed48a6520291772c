"""Finds what can be mutated in a Rust file, with tree-sitter.

| mutated | into |
|---|---|
| a binary operator, alone or in an assignment | other operators of the same kind |
| a negation | its operand |
| the body of a function | an immediate return of a simple value of its type |

Left out are tests, and code in which a guard does not compile: constants, `const fn`, lengths of arrays, arguments of
macros.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass
from typing import TYPE_CHECKING

import tree_sitter_rust
from tree_sitter import Language, Parser

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tree_sitter import Node

OPERATORS = {
    "==": ("!=",),
    "!=": ("==",),
    "&&": ("||",),
    "||": ("&&",),
    "<": ("<=", ">="),
    ">": (">=", "<="),
    "<=": ("<", ">"),
    ">=": (">", "<"),
    "+": ("-", "*"),
    "-": ("+", "/"),
    "*": ("+", "/"),
    "/": ("*", "%"),
    "%": ("/", "+"),
    "<<": (">>",),
    ">>": ("<<",),
    "&": ("|", "^"),
    "|": ("&", "^"),
    "^": ("&", "|"),
}
"""Replacements of each operator."""
VALUES = {"bool": ("true", "false"), "f64": ("0.0", "1.0")} | dict.fromkeys(
    ("u8", "u16", "u32", "u64", "u128", "usize", "i32", "i64"), ("0", "1")
)
"""Values that replace the body of a function, by return type; `Default::default()` for all others."""
COMPILED = {"const_item", "static_item", "enum_variant", "type_arguments", "macro_invocation", "macro_definition"}
"""Kinds of syntax nodes inside which nothing is mutated, since a guard does not compile there."""


@dataclass(frozen=True)
class Mutant:
    """A mutation of one place, as bytes `start` to `end` of a file and their replacement."""

    file: str
    line: int
    start: int
    end: int
    before: bytes
    """Code of the place without the mutation; empty for the start of a body."""
    after: bytes
    """Code with the mutation."""
    what: str
    """Description, such as `+ into -`."""

    @property
    def crate(self) -> str:
        """Name of the crate of the file."""
        return self.file.split("/")[1]

    @property
    def is_body(self) -> bool:
        """Whether the mutant makes a function return at once: inserted where the body starts (`start` equals `end`)."""
        return self.start == self.end

    def guarded(self, test: str) -> bytes:
        """Returns code that does what `after` does if the expression `test` is true, and else what `before` does."""
        if self.is_body:
            return f" if {test} {{ return ".encode() + self.after + b"; }"
        return f"(if {test} {{ ".encode() + self.after + b" } else { " + self.before + b" })"


@functools.cache
def parser() -> Parser:
    """Returns a parser of Rust."""
    return Parser(Language(tree_sitter_rust.language()))


def mutants_of(root: Path, folder: str) -> list[Mutant]:
    """Returns all mutants of the Rust files in a folder of the tree `root`, without those of tests."""
    sources = {path: parser().parse(path.read_bytes()).root_node for path in sorted((root / folder).rglob("*.rs"))}
    tests = {below for path, tree in sources.items() for below in test_modules(path, tree)}
    return [
        mutant
        for path, tree in sources.items()
        if tests.isdisjoint((path, *path.parents))
        for mutant in mutants_in(str(path.relative_to(root)), tree)
    ]


def test_modules(path: Path, tree: Node) -> Iterator[Path]:
    """Yields the files and folders of modules that a file declares for tests only."""
    folder = path.parent if path.stem in ("lib", "mod") else path.with_suffix("")
    for node in tree.children:
        name = node.child_by_field_name("name")
        if node.type == "mod_item" and name is not None and is_test(node):
            yield folder / f"{text(name)}.rs"
            yield folder / text(name)


def is_test(node: Node) -> bool:
    """Returns whether an attribute above an item says that the item is compiled for tests only."""
    above = node.prev_named_sibling
    while above is not None and above.type in ("attribute_item", "line_comment"):
        if above.type == "attribute_item" and text(above) in ("#[cfg(test)]", "#[test]"):
            return True
        above = above.prev_named_sibling
    return False


def mutants_in(file: str, node: Node) -> Iterator[Mutant]:
    """Yields the mutants of a node and of everything in it."""
    if node.type in COMPILED or is_test(node):
        return
    if node.type == "function_item":
        modifiers = next((child for child in node.children if child.type == "function_modifiers"), None)
        if modifiers is not None and "const" in text(modifiers).split():
            return
        yield from bodies(file, node)
    elif node.type in ("binary_expression", "compound_assignment_expr"):
        yield from operators(file, node)
    elif node.type == "unary_expression" and node.children[0].type == "!":
        yield mutant_at(file, node, node.children[1].text or b"", "! into nothing")
    for child in node.named_children:
        # The length of an array is a constant.
        if node.type == "array_type" and child == node.child_by_field_name("length"):
            continue
        yield from mutants_in(file, child)


def operators(file: str, node: Node) -> Iterator[Mutant]:
    """Yields the mutants of a binary operator, or of an assignment with one."""
    if any(has_let(child) for child in node.children):
        return
    left, operator, right = (node.child_by_field_name(name) for name in ("left", "operator", "right"))
    assert left is not None
    assert operator is not None
    assert right is not None
    sign = text(operator)
    suffix = "=" if node.type == "compound_assignment_expr" else ""
    for other in OPERATORS.get(sign.removesuffix("=") if suffix else sign, ()):
        changed = (left.text or b"") + f" {other}{suffix} ".encode() + (right.text or b"")
        yield mutant_at(file, node, changed, f"{sign} into {other}{suffix}")


def has_let(node: Node) -> bool:
    """Returns whether a node contains `let` outside blocks, as in `if let`; such a condition is no expression."""
    if node.type == "block":
        return False
    return node.type == "let_condition" or any(has_let(child) for child in node.named_children)


def bodies(file: str, node: Node) -> Iterator[Mutant]:
    """Yields the mutants of a function that return at once."""
    body, returned = node.child_by_field_name("body"), node.child_by_field_name("return_type")
    if body is None or body.named_child_count == 0:
        return
    kind = "()" if returned is None else text(returned)
    if kind == "!" or kind.startswith(("impl", "&")):
        return
    name = node.child_by_field_name("name")
    for value in ("()",) if kind == "()" else VALUES.get(kind, ("Default::default()",)):
        start = body.start_byte + 1
        told = f"{'' if name is None else text(name)} into return {value}"
        yield Mutant(file, node.start_point.row + 1, start, start, b"", value.encode(), told)


def mutant_at(file: str, node: Node, after: bytes, what: str) -> Mutant:
    """Returns the mutant of an expression."""
    return Mutant(file, node.start_point.row + 1, node.start_byte, node.end_byte, node.text or b"", after, what)


def text(node: Node) -> str:
    """Returns the code of a node."""
    return (node.text or b"").decode()
