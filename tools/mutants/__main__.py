"""Tests the tests: `make mutants COUNT=200`.

1. Draws mutants of the core, and compiles those that compile into one copy of the tree under `out/mutants`.
2. Runs the Rust tests of `make test`, then its Python tests, then those that `make test-long` adds, with all mutants
   active that no test has found yet. Where a test fails, its runs with fewer mutants show which of them it finds.

Continues where it stopped, unless the count, the seed or the code changed.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import random
import time
from pathlib import Path
from typing import TYPE_CHECKING

from mutants.judge import Judge, timed
from mutants.sites import Mutant, mutants_of
from mutants.suites import LONG, python_suite, python_test, rust_tests
from mutants.tree import MUTATED, MutatedTree

if TYPE_CHECKING:
    from collections.abc import Callable

ROOT = Path(__file__).parents[2]
OUT = ROOT / "out" / "mutants"
SUITE_S = 3600.0
"""Limit of processor time of each process of a suite of Python tests, in seconds."""


def drawn(tree: MutatedTree, kept: Kept, count: int, seed: int) -> list[Mutant]:
    """Draws mutants that compile and do not overlap, and writes them into the tree.

    The numbers of the drawn mutants in their order of drawing are taken from `kept`, or added to it.
    """
    population = [mutant for name in MUTATED for mutant in mutants_of(ROOT, f"crates/{name}/src")]
    random.Random(seed).shuffle(population)
    print(f"{len(population):,} mutants, without those in tests and constants", flush=True)
    if kept.begin(f"{count} {population}"):
        chosen = [population[number] for number in kept.drawn]
        tree.write(chosen)
        return chosen
    numbers: list[int] = []
    waiting = iter(range(len(population)))
    while True:
        while len(numbers) < count:
            number = next(waiting)
            if not any(overlaps(population[number], population[other]) for other in numbers):
                numbers.append(number)
        chosen = [population[number] for number in numbers]
        refused = tree.refused(tree.write(chosen))
        print(f"{len(refused)} of {count} drawn mutants do not compile", flush=True)
        if not refused:
            kept.drawn = numbers
            kept.save()
            return chosen
        numbers = [number for at, number in enumerate(numbers, 1) if at not in refused]


def overlaps(one: Mutant, other: Mutant) -> bool:
    """Returns whether two mutants change the same code."""
    if one.file != other.file:
        return False
    if one.is_body or other.is_body:
        return one.start == other.start or (other.start < one.start < other.end) or (one.start < other.start < one.end)
    return one.start < other.end and other.start < one.end


class Kept:
    """Drawn mutants, durations of tests and results so far, saved in a file so that a run can be resumed."""

    def __init__(self, path: Path) -> None:
        """Creates an empty record for the file `path`."""
        self.path = path
        self.of = ""
        self.drawn: list[int] = []
        self.judge = Judge((), {})

    def begin(self, of: str) -> bool:
        """Reads the file. Returns whether it belongs to the draw that `of` describes."""
        self.of = hashlib.sha256(of.encode()).hexdigest()
        kept = json.loads(self.path.read_text(encoding="utf-8")) if self.path.exists() else {}
        if kept.get("of") != self.of:
            return False
        self.drawn = kept["drawn"]
        self.judge = Judge.restored(kept["judge"])
        return True

    def save(self) -> None:
        """Writes the file."""
        document = {"of": self.of, "drawn": self.drawn, "judge": self.judge.kept()}
        partial = self.path.with_suffix(".partial")
        partial.write_text(json.dumps(document, indent=1), encoding="utf-8")
        partial.replace(self.path)


def run_python(judge: Judge, tree: MutatedTree, marked: str) -> None:
    """Runs a suite of Python tests until it passes with all mutants active that are left then."""
    suite = python_suite(tree, marked)
    while judge.left and judge.passed.get(suite.name) != len(judge.found):
        before = judge.state()
        passes = True
        for group in judge.groups():
            for failure in list(suite.failures(group, SUITE_S)):
                passes = False
                test = python_test(tree, failure)
                if test is not None and test.name not in judge.durations:
                    judge.durations |= timed([test], 1)
                judge.fails(test or suite, group)
        if passes:
            judge.passed[suite.name] = len(judge.found)
        if judge.state() == before:
            return


def main() -> None:
    """Draws mutants, tests them, and prints what the tests find."""
    parser = argparse.ArgumentParser(prog="make mutants", description=__doc__.partition("\n")[0] if __doc__ else None)
    parser.add_argument("--count", type=int, default=200, help="number of mutants")
    parser.add_argument("--short-cases", type=int, required=True, help="random cases of `make test`, of 256")
    parser.add_argument("--seed", type=int, default=1, help="seed of the draw")
    parser.add_argument("--jobs", type=int, default=2, help="number of tests that run at once")
    parser.add_argument("--no-python", action="store_true", help="run the tests of Rust only")
    arguments = parser.parse_args()
    OUT.mkdir(parents=True, exist_ok=True)
    tree, kept = MutatedTree(ROOT, OUT), Kept(OUT / "verdicts.json")
    mutants = drawn(tree, kept, arguments.count, arguments.seed)
    programs = tree.programs()
    in_part = LONG | {"PROPTEST_CASES": str(arguments.short_cases)}
    short, long = rust_tests(programs, in_part), rust_tests(programs, LONG, "long")
    if not kept.judge.durations:
        kept.judge = Judge(range(1, len(mutants) + 1), timed(short, arguments.jobs))
        kept.save()
    judge, jobs = kept.judge, arguments.jobs
    print(f"{len(short)} tests of Rust take {sum(judge.durations.values()):.0f} s without a mutant", flush=True)

    def place(number: int) -> str:
        mutant = mutants[number - 1]
        return f"{number} {mutant.file}:{mutant.line}: {mutant.what}"

    begun = time.monotonic()
    judge.on_found = lambda number, by: print(f"[{time.monotonic() - begun:.0f} s] {place(number)}: {by}", flush=True)
    stages: dict[str, Callable[[], None]] = {
        "the Rust tests of the short form": lambda: judge.run(short, jobs, kept.save),
        "the Python tests of the short form": lambda: run_python(judge, tree, "not long"),
        "the Rust tests of the long form": lambda: judge.run(long, jobs, kept.save),
        "the Python tests of the long form": lambda: run_python(judge, tree, "long"),
    }
    if not arguments.no_python:
        tree.build_module()
    for name, stage in stages.items():
        if arguments.no_python and "Python" in name:
            continue
        left = len(judge.left)
        stage()
        kept.save()
        print(f"{name} find {left - len(judge.left)} of {left}", flush=True)
    print(f"{len(judge.left)} of {len(mutants)} survive all tests:")
    for number in judge.left:
        print(place(number))


if __name__ == "__main__":
    main()
