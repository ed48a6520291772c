"""The notebooks under examples/: they are committed without outputs, run from top to bottom, and show their results."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Any

import nbformat
import pytest
from nbclient import NotebookClient

NOTEBOOKS = sorted((Path(__file__).parents[2] / "examples" / "notebooks").glob("*.ipynb"))


def test_there_are_notebooks() -> None:
    assert len(NOTEBOOKS) == 3


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_is_committed_without_outputs(path: Path) -> None:
    for cell in nbformat.read(path, as_version=4).cells:
        assert not cell.get("outputs"), cell.source
        assert cell.get("execution_count") is None, cell.source


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
@pytest.mark.filterwarnings("ignore::DeprecationWarning:jupyter_client", "ignore::ResourceWarning")
def test_a_notebook_runs_and_shows_its_results(path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("IPYTHONDIR", "JUPYTER_CONFIG_DIR", "JUPYTER_DATA_DIR", "JUPYTER_RUNTIME_DIR"):
        monkeypatch.setenv(name, str(tmp_path))
    # The kernel of the environment in which the tests run, whatever others are installed.
    kernel = tmp_path / "kernels" / "python3"
    kernel.mkdir(parents=True)
    command = f'["{sys.executable}", "-m", "ipykernel_launcher", "-f", "{{connection_file}}"]'
    (kernel / "kernel.json").write_text(f'{{"argv": {command}, "display_name": "tests", "language": "python"}}')
    monkeypatch.setenv("JUPYTER_PATH", str(tmp_path))
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(filter(None, sys.path)))
    notebook = nbformat.read(path, as_version=4)
    resources = {"metadata": {"path": str(path.parent)}}
    NotebookClient(notebook, timeout=300, kernel_name="python3", resources=resources).execute()
    shown = [data for cell in notebook.cells for data in outputs(cell)]
    pages = [data["text/html"] for data in shown if "text/html" in data]
    charts = [page for page in pages if "vegaEmbed" in page]
    assert charts
    assert len(pages) > len(charts)


def outputs(cell: Any) -> list[dict[str, Any]]:
    """What a cell shows, by kind."""
    return [dict(output["data"]) for output in cell.get("outputs", []) if "data" in output]
