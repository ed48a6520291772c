"""Tests the tests: `make mutants COUNT=200`.

1. Draws mutants of the core, and compiles those that compile into one copy of the tree under `out/mutants`.
2. Runs the Rust tests of `make test` for each mutant, until one fails.
3. Runs the Python tests of `make test` for the mutants that survived, then the tests that `make test-long` adds.

Continues where it stopped, unless the count, the seed or the code changed.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import random
import threading
import time
from dataclasses import asdict
from pathlib import Path

from mutants.judge import LONG, SHORT, Verdict, found_together, judge_each, python_command, rust_commands, timed
from mutants.sites import Mutant, mutants_of
from mutants.tree import MUTATED, MutatedTree

ROOT = Path(__file__).parents[2]
OUT = ROOT / "out" / "mutants"
USED_BY = {
    "flashmesh-base": ("flashmesh-base",),
    "flashmesh-workload": ("flashmesh-base", "flashmesh-workload"),
    "flashmesh": MUTATED,
}
"""Mutated crates that the tests of each crate use."""


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


def depends(program: str, mutant: Mutant) -> bool:
    """Returns whether the crate of a test program depends on the crate of a mutant, or is this crate."""
    return mutant.crate in USED_BY[program.partition("/")[0]]


class Kept:
    """Drawn mutants, durations of commands and verdicts, in a file, so that a later run continues."""

    def __init__(self, path: Path) -> None:
        """Creates an empty record for the file `path`."""
        self.path = path
        self.of = ""
        self.drawn: list[int] = []
        self.durations: dict[str, float] = {}
        """Duration of each command without mutants, in seconds."""
        self.verdicts: dict[int, Verdict] = {}

    def begin(self, of: str) -> bool:
        """Reads the file. Returns whether it belongs to the draw that `of` describes."""
        self.of = hashlib.sha256(of.encode()).hexdigest()
        kept = json.loads(self.path.read_text(encoding="utf-8")) if self.path.exists() else {}
        if kept.get("of") != self.of:
            return False
        self.drawn = kept["drawn"]
        self.durations = kept["durations"]
        self.verdicts = {int(number): Verdict(**verdict) for number, verdict in kept["verdicts"].items()}
        return True

    def save(self) -> None:
        """Writes the file."""
        verdicts = {number: asdict(verdict) for number, verdict in self.verdicts.items()}
        document = {"of": self.of, "drawn": self.drawn, "durations": self.durations, "verdicts": verdicts}
        self.path.write_text(json.dumps(document, indent=1), encoding="utf-8")


def main() -> None:
    """Draws mutants, tests them, and prints what the tests find."""
    parser = argparse.ArgumentParser(prog="make mutants", description=__doc__.partition("\n")[0] if __doc__ else None)
    parser.add_argument("--count", type=int, default=200, help="number of mutants")
    parser.add_argument("--seed", type=int, default=1, help="seed of the draw")
    parser.add_argument("--jobs", type=int, default=2, help="number of mutants that are tested at once")
    parser.add_argument("--no-python", action="store_true", help="run the tests of Rust only")
    arguments = parser.parse_args()
    OUT.mkdir(parents=True, exist_ok=True)
    tree, kept = MutatedTree(ROOT, OUT), Kept(OUT / "verdicts.json")
    mutants = drawn(tree, kept, arguments.count, arguments.seed)
    programs = tree.programs()
    short = rust_commands("", programs, SHORT, 1)
    durations = kept.durations = kept.durations or timed(short)
    kept.save()
    for name, seconds in durations.items():
        print(f"{name}: {seconds:.0f} s without a mutant", flush=True)
    begun = time.monotonic()

    for number, mutant in enumerate(mutants, 1):
        verdict = kept.verdicts.setdefault(number, Verdict())
        unused = {command.name for command in short if not depends(command.name, mutant)}
        verdict.passed += sorted(unused.difference(verdict.passed))
    verdicts = kept.verdicts
    guard = threading.Lock()

    def told(number: int) -> None:
        with guard:
            kept.save()
        if (failure := verdicts[number].failure) is not None:
            mutant = mutants[number - 1]
            place = f"{number} {mutant.file}:{mutant.line}: {mutant.what}"
            print(f"[{time.monotonic() - begun:.0f} s] {place}: {failure}", flush=True)

    judge_each(short, durations, verdicts, arguments.jobs, told)
    left = [number for number, verdict in verdicts.items() if verdict.failure is None]
    print(f"the Rust tests of the short form find {len(mutants) - len(left)} of {len(mutants)}", flush=True)
    stages = [("the Rust tests of the long form", rust_commands("long", programs, LONG, 2))]
    if not arguments.no_python:
        tree.build_module()
        stages.insert(0, ("the Python tests of the short form", [python_command(tree, "not long")]))
        stages.append(("the Python tests of the long form", [python_command(tree, "long")]))
    for tests, commands in stages:
        found = found_together(commands, durations, left, lambda line: print(line, flush=True)) if left else {}
        for number, failure in found.items():
            print(f"{number} {mutants[number - 1].file}:{mutants[number - 1].line}: {failure}")
        print(f"{tests} find {len(found)} of the {len(left)} left", flush=True)
        left = [number for number in left if number not in found]
    print(f"{len(left)} of {len(mutants)} survive all tests:")
    for number in left:
        mutant = mutants[number - 1]
        print(f"{number} {mutant.file}:{mutant.line}: {mutant.what}")


if __name__ == "__main__":
    main()
