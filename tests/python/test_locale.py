"""Names that are not ASCII, under a locale that is ASCII."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from conftest import COMMAND, TIMEOUT_S, environment
from long_cases import in_part

TRACE = "".join(f"{1000 * number} 0 {8 * number} 8 1\n" for number in range(100))
SWEEP = """config = "drïve.toml"
[set]
workload.format = "ascii"
workload.time-unit = "us"
[axes]
workload.trace = ["ä日.ascii"]
seed = [1, 2]
"""


@pytest.mark.parametrize(
    "locale",
    in_part(
        1,
        [
            {"LC_ALL": "C", "PYTHONUTF8": "0"},
            {"LC_ALL": "POSIX", "PYTHONUTF8": "0"},
            dict[str, str](),
        ],
    ),
)
def test_names_that_are_not_ascii_are_read_and_written(tmp_path: Path, locale: dict[str, str]) -> None:
    (tmp_path / "ä日.ascii").write_text(TRACE)
    (tmp_path / "drïve.toml").write_text('preset = "venice-z-nand"\n[workload]\nrequests = 50\n', encoding="utf-8")
    (tmp_path / "swëep.toml").write_text(SWEEP, encoding="utf-8")
    trace = ("--trace", "ä日.ascii", "--set", "workload.format=ascii", "--set", "workload.time-unit=us")
    for command in (
        ("run", "drïve.toml", *trace, "--json", "ö.json", "--request-log", "ö.parquet"),
        ("show", "ö.json"),
        ("report", "ö.json", "-o", "ü.html"),
        ("trace", "stat", "ä日.ascii"),
        ("trace", "convert", "ä日.ascii", "é.ascii.gz"),
        ("compare", "drïve.toml", *trace, "--vary", "fabric.kind=bus,ideal", "--csv", "ö.csv"),
        ("sweep", "swëep.toml", "--out", "ö.out"),
        ("show", "ö.out"),
    ):
        done = subprocess.run(
            [COMMAND, *(part.encode() for part in command)],
            cwd=tmp_path,
            env={key: value for key, value in environment().items() if not key.startswith(("LC_", "LANG"))} | locale,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=TIMEOUT_S,
            check=False,
        )
        assert done.returncode == 0, (command, done.stderr.decode())
    assert {"ö.json", "ö.parquet", "ü.html", "é.ascii.gz", "ö.csv", "ö.out"} <= {
        each.name for each in tmp_path.iterdir()
    }
