"""Measures the tests of `make test`, and writes the table of the slow ones into docs/tests.md.

The arguments are the command that runs the Rust tests; `make test-times` passes that of `make test`.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import xml.etree.ElementTree as ElementTree
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs" / "tests.md"
BEGIN = "<!-- Written by tools/test_times.py. -->\n"
END = "<!-- End of what is written. -->\n"
SLOW_S = 4.0
"""Minimum duration of a test in the table, in seconds."""
TIMED = re.compile(r"^test (\S+)(?: - should panic)? \.\.\. ok <([\d.]+)s>$", re.MULTILINE)


@dataclass(frozen=True)
class Test:
    """A test that passed."""

    file: str
    """File of a Python test, or program of a Rust test."""
    name: str
    seconds: float

    @property
    def proves(self) -> str:
        """The name of the test as a sentence, with its parameters."""
        name, _, parameters = self.name.partition("[")
        sentence = name.rpartition("::")[2].removeprefix("test_").replace("_", " ")
        shown = parameters.removesuffix("]").replace("|", "/").replace("`", "'")
        return f"{sentence} (`{shown}`)" if shown.strip() else sentence


def python_tests(report: Path) -> list[Test]:
    """Returns the tests in a report of pytest. The first test that uses a fixture includes the time of the fixture."""
    cases = ElementTree.parse(report).iter("testcase")
    return [
        Test(case.attrib["classname"].replace(".", "/") + ".py", case.attrib["name"], float(case.attrib["time"]))
        for case in cases
        if case.find("skipped") is None
    ]


def rust_tests(command: list[str]) -> list[Test]:
    """Runs the Rust tests that `command` would run; returns them with their durations."""
    listed = subprocess.run(
        [*command, "--quiet", "--no-run", "--message-format=json"],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    ).stdout
    found = []
    for message in map(json.loads, listed.splitlines()):
        if message.get("reason") != "compiler-artifact" or not message["profile"]["test"] or not message["executable"]:
            continue
        folder, target = Path(message["manifest_path"]).parent, message["target"]
        done = subprocess.run(
            [message["executable"], "-Zunstable-options", "--report-time"],
            cwd=folder,
            # The durations of single tests need an unstable option.
            env=os.environ | {"RUSTC_BOOTSTRAP": "1"},
            stdout=subprocess.PIPE,
            text=True,
            check=True,
        )
        program = Path(target["src_path"]).parent.relative_to(ROOT)
        found += [Test(f"{program}", name, float(seconds)) for name, seconds in TIMED.findall(done.stdout)]
    return found


def table(tests: list[Test]) -> str:
    """Returns the table of slow tests, the slowest first, and a sentence about all others."""
    slow = sorted((test for test in tests if test.seconds >= SLOW_S), key=lambda test: -test.seconds)
    rest = sum(test.seconds for test in tests) - sum(test.seconds for test in slow)
    rows = "".join(f"| {test.seconds:.0f} s | `{test.file}` | {test.proves} |\n" for test in slow)
    told = f"The other {len(tests) - len(slow):,} tests take {rest:.0f} s together.\n"
    return f"| time | where | what it proves |\n|---:|---|---|\n{rows}\n{told}"


def main() -> None:
    """Measures the tests, both suites in parallel as in `make test`, and writes the table."""
    report = ROOT / "out" / "tests.xml"
    chosen = ("-m", "not long", "--numprocesses=2", "--dist=loadscope", f"--junitxml={report}")
    with subprocess.Popen([sys.executable, "-m", "pytest", "--quiet", *chosen], cwd=ROOT) as beside:
        tests = rust_tests(sys.argv[1:])
    if beside.returncode:
        sys.exit("a Python test failed")
    tests += python_tests(report)
    before, _, rest = PAGE.read_text(encoding="utf-8").partition(BEGIN)
    _, _, after = rest.partition(END)
    PAGE.write_text(f"{before}{BEGIN}\n{table(tests)}\n{END}{after}", encoding="utf-8")


if __name__ == "__main__":
    main()
