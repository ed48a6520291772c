"""Commands of the tests that should find the mutants."""

from __future__ import annotations

import re
import subprocess
import sys
from typing import TYPE_CHECKING

from mutants.command import Command

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from mutants.tree import MutatedTree, Program

LONG = {"PROPTEST_RNG_SEED": "1"}
"""Environment of the random tests in `make test-long`."""
LEFT_OUT = ("architecture", "soak")
"""Rust test programs that check the source, which the mutants change, or that run only on demand."""
READS_SOURCE = "tests/python/test_import_rules.py"
"""File of Python tests that fail with every mutant, since they check the source."""
RUST_FAILED = re.compile(r"^test .* \.\.\. FAILED$")
PYTHON_FAILED = re.compile(r"^(?:FAILED|ERROR) (?P<test>.*?\.py::.*?)(?: - |$)")
"""Lines of failed tests, as libtest and pytest print them."""


def rust_tests(programs: Sequence[Program], drawn: Mapping[str, str], form: str = "") -> list[Command]:
    """Returns one command for each test in compiled Rust test programs.

    Args:
        programs: The programs.
        drawn: The environment of the random tests.
        form: The form of the tests, for the names of the commands; empty for the short form.
    """
    return [
        Command(
            " ".join(filter(None, (each.name, test, form))),
            (each.executable, "--exact", test),
            each.folder,
            drawn,
            RUST_FAILED,
        )
        for each in programs
        if not each.name.endswith(LEFT_OUT)
        for test in listed(each)
    ]


def listed(program: Program) -> list[str]:
    """Returns the names of the tests of a program."""
    arguments = [program.executable, "--list", "--format=terse"]
    done = subprocess.run(arguments, cwd=program.folder, stdout=subprocess.PIPE, text=True, check=True)
    return [line.removesuffix(": test") for line in done.stdout.splitlines() if line.endswith(": test")]


def pytest(tree: MutatedTree, name: str, *arguments: str) -> Command:
    """Returns a command that runs pytest with the mutated module."""
    options = ("-m", "pytest", "--quiet", "--no-header", "-rfE", "--tb=no")
    environment = {"PYTHONPATH": str(tree.at / "python")}
    return Command(name, (sys.executable, *options, *arguments), tree.at, environment, PYTHON_FAILED)


def python_suite(tree: MutatedTree, marked: str) -> Command:
    """Returns the command that runs the Python tests with the marks that `marked` names, on two processors."""
    options = ("-m", marked, "--numprocesses=2", "--dist=loadscope", f"--ignore={READS_SOURCE}")
    return pytest(tree, f"pytest -m {marked!r}", *options)


def python_test(tree: MutatedTree, failure: str) -> Command | None:
    """Returns a command for the failed test in a line of pytest; None if the line names no test."""
    matched = PYTHON_FAILED.search(failure)
    return None if matched is None else pytest(tree, matched["test"], matched["test"])
