"""Modules that an import and a plain run load: each command loads what it needs, and nothing else."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

import flashmesh

FRAMES = {"numpy", "pandas", "pyarrow"}
"""Modules for data frames and Parquet files, which take a tenth of a second or more to load."""
RUN = ["flashmesh", "run", "preset:venice-z-nand", "--set", "workload.requests=1"]
COMMAND = "import sys; sys.argv = {arguments!r}; from flashmesh.cli import main\ntry: main()\nexcept SystemExit: pass"
LISTED = "import sys; print(*sys.modules, file=sys.stderr)"


def loaded(code: str, folder: Path | None = None) -> set[str]:
    """Returns the modules that a program has loaded at its end."""
    program = f"{code}\n{LISTED}"
    done = subprocess.run([sys.executable, "-c", program], cwd=folder, capture_output=True, text=True, check=True)
    return set(done.stderr.split())


@pytest.mark.parametrize(
    ("code", "absent"),
    [
        (
            "import flashmesh",
            FRAMES | {"flashmesh._native", "typing", "click", "rich", "dataclasses", "json", "flashmesh.results"},
        ),
        ("import flashmesh; flashmesh.run", FRAMES | {"click", "rich", "flashmesh.importers", "flashmesh._parameters"}),
        (
            COMMAND.format(arguments=["flashmesh", "--help"]),
            FRAMES | {"rich", "flashmesh.results", "flashmesh._parameters"},
        ),
        (COMMAND.format(arguments=RUN), FRAMES | {"rich.progress", "tomli_w", "flashmesh._parameters"}),
        (COMMAND.format(arguments=[*RUN, "--json", "-"]), FRAMES | {"rich", "tomllib", "flashmesh.report.summary"}),
    ],
    ids=["import", "function", "help", "run", "json"],
)
def test_what_is_not_needed_is_not_loaded(code: str, absent: set[str]) -> None:
    found = loaded(code)
    assert "flashmesh" in found
    assert found & absent == set()


@pytest.mark.long
@pytest.mark.parametrize("again", [[], ["--resume"]], ids=["sweep", "resume"])
def test_a_sweep_loads_no_more_than_its_table_needs(tmp_path: Path, again: list[str]) -> None:
    text = 'config = "preset:venice-z-nand"\nseeds = 2\n[axes]\nfabric.kind = ["bus", "ideal"]\n'
    (tmp_path / "s.toml").write_text(f"{text}[set]\n'workload.requests' = 10\n")
    sweep = ["flashmesh", "sweep", "s.toml"]
    if again:
        loaded(COMMAND.format(arguments=sweep), tmp_path)
    found = loaded(COMMAND.format(arguments=[*sweep, *again]), tmp_path)
    assert "pyarrow.parquet" in found
    assert found & {"pandas", "scipy", "altair", "tomli_w", "distributed", "optuna"} == set()


def test_a_log_is_written_without_pandas(tmp_path: Path) -> None:
    found = loaded(COMMAND.format(arguments=[*RUN, "--request-log", "log.parquet"]), tmp_path)
    assert "pyarrow.parquet" in found
    assert "pandas" not in found


def test_names_are_imported_from_where_their_types_are() -> None:
    tree = ast.parse(Path(flashmesh.__file__).read_text())
    block = next(part for part in tree.body if isinstance(part, ast.If))
    typed = {
        str(part.module): tuple(alias.name for alias in part.names)
        for part in block.body
        if isinstance(part, ast.ImportFrom)
    }
    assert typed == flashmesh._HOMES


def test_every_public_name_is_there() -> None:
    assert set(flashmesh.__all__) <= set(dir(flashmesh))
    assert all(getattr(flashmesh, name) is not None for name in flashmesh.__all__)
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = flashmesh.nothing  # type: ignore[attr-defined]
