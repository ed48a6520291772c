"""Commands that write several files survive kill -9 at any moment: files are complete, and the same command resumes.

FLASHMESH_KILLS is how many processes are killed; `make faults` kills a thousand.
"""

from __future__ import annotations

import json
import os
import random
import shutil
import signal
import subprocess
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import flashmesh
from conftest import COMMAND, TIMEOUT_S, environment
from sweep_files import SEARCH, SEARCH_POINTS, write_search

KILLS = max(int(os.environ.get("FLASHMESH_KILLS", "20")) // 6, 3)
EXACT = ("V01", "V02", "V33", "V34")
SUFFIXES = {".svg", ".md", ".html", ".json", ".csv", ".pdf", ".parquet"}


def search_outcome(folder: Path) -> Any:
    """Returns the measures of the trials of a search by settings."""
    document = json.loads((folder / "out/search.json").read_text())
    assert len(document["trials"]) == SEARCH_POINTS
    names = {each["run"] for each in document["trials"]}
    assert names == set(pd.read_parquet(folder / "out/results.parquet")["run"])
    return {
        json.dumps(each["settings"], sort_keys=True): each["measures"]
        for each in document["trials"]
        if each["measures"]
    }


def reproduction_outcome(folder: Path) -> Any:
    """Returns the verdicts, the pages and their pictures."""
    (venice,) = json.loads((folder / "out.json").read_text())
    assert json.loads((folder / "pages/venice.json").read_text())["claims"]
    assert (folder / "pages/venice.md").read_text().endswith("\n")
    return {name: (claim["verdict"], claim["rows"]) for name, claim in venice["claims"].items()}


def report_outcome(folder: Path) -> Any:
    """Checks that the page and all figures are complete."""
    assert (folder / "page.html").read_text().rstrip().endswith("</html>")
    figures = sorted(path.name for path in (folder / "plots").iterdir() if path.suffix in SUFFIXES)
    return figures, [(folder / "plots" / name).stat().st_size > 0 for name in figures]


def prepare_search(folder: Path) -> None:
    write_search(folder, SEARCH.replace("trials = 24", "trials = 12").replace("population = 8", "population = 4"))


def prepare_report(folder: Path) -> None:
    flashmesh.run({"preset": "venice-z-nand", "workload": {"requests": 200}}).plot_latency()
    result = flashmesh.run({"preset": "venice-z-nand", "workload": {"requests": 200}})
    (folder / "r.json").write_text(result.to_json())


CASES: dict[str, tuple[tuple[str, ...], Callable[[Path], None], Callable[[Path], Any]]] = {
    "optimise": (("optimise", "best.toml", "--out", "out", "--resume", "--jobs", "2"), prepare_search, search_outcome),
    "reproduce": (
        ("reproduce", *EXACT, "--json", "out.json", "-o", "pages", "--jobs", "2"),
        lambda _: None,
        reproduction_outcome,
    ),
    "report": (("report", "r.json", "-o", "page.html", "--plots", "plots"), prepare_report, report_outcome),
}


def start(folder: Path, arguments: tuple[str, ...]) -> subprocess.Popen[bytes]:
    """Starts the command in a process group of its own."""
    return subprocess.Popen(
        [COMMAND, *arguments],
        cwd=folder,
        env=environment(),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )


def check_left(folder: Path) -> None:
    """Checks that every file with a final name is complete, and that all others are marked as temporary."""
    for path in folder.rglob("*"):
        if not path.is_file() or path.name.startswith("."):
            continue
        match path.suffix:
            case ".json":
                json.loads(path.read_text())
            case ".parquet":
                pd.read_parquet(path)
            case ".svg":
                assert path.read_text().rstrip().endswith("</svg>"), path
            case ".html":
                assert path.read_text().rstrip().endswith("</html>"), path
            case ".pdf":
                assert path.read_bytes().rstrip().endswith(b"%%EOF"), path


@pytest.mark.long
@pytest.mark.parametrize("name", ["optimise", "reproduce", "report"])
def test_what_is_killed_leaves_whole_files_and_goes_on(tmp_path: Path, name: str) -> None:
    if name == "optimise":
        pytest.importorskip("optuna")
    arguments, prepare, outcome = CASES[name]
    whole, killed = tmp_path / "whole", tmp_path / "killed"
    for folder in (whole, killed):
        folder.mkdir()
        prepare(folder)
    begun = time.monotonic()
    assert start(whole, arguments).wait(TIMEOUT_S) == 0
    took_s = time.monotonic() - begun
    expected = outcome(whole)
    moments = random.Random(KILLS)
    hits = 0
    for number in range(KILLS):
        with start(killed, arguments) as process:
            time.sleep(took_s * moments.uniform(0.1, 1.1))
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
        hits += process.returncode == -signal.SIGKILL
        check_left(killed)
        if number % 3 == 2:
            # The command may have finished and would do nothing in the old folder, so start in an empty one.
            shutil.rmtree(killed)
            killed.mkdir()
            prepare(killed)
    assert hits
    assert start(killed, arguments).wait(TIMEOUT_S) == 0
    check_left(killed)
    found = outcome(killed)
    if name == "optimise":
        # A resumed search may try other drives, because it depends on the trials that had ended. Only common ones are
        # compared.
        shared = found.keys() & expected.keys()
        assert shared
        assert all(found[each] == expected[each] for each in shared)
    else:
        assert found == expected
