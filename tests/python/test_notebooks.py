"""Notebooks under examples/: they are committed without outputs, run from top to bottom, and show their results."""

from __future__ import annotations

import os
import re
import sys
from pathlib import Path
from typing import Any

import nbformat
import pytest
from nbclient import NotebookClient

import flashmesh
from flashmesh.plots import offline
from pages import start, until

NOTEBOOKS = sorted((Path(__file__).parents[2] / "examples" / "notebooks").glob("*.ipynb"))


def test_there_are_notebooks() -> None:
    assert len(NOTEBOOKS) == 3


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_is_committed_without_outputs(path: Path) -> None:
    for cell in nbformat.read(path, as_version=4).cells:
        assert not cell.get("outputs"), cell.source
        assert cell.get("execution_count") is None, cell.source


@pytest.mark.long
@pytest.mark.parametrize(
    "path",
    [pytest.param(path, id=path.stem, marks=[pytest.mark.long] * (path.stem != "first-steps")) for path in NOTEBOOKS],
)
@pytest.mark.filterwarnings("ignore::DeprecationWarning:jupyter_client", "ignore::ResourceWarning")
def test_a_notebook_runs_and_shows_its_results(path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("IPYTHONDIR", "JUPYTER_CONFIG_DIR", "JUPYTER_DATA_DIR", "JUPYTER_RUNTIME_DIR"):
        monkeypatch.setenv(name, str(tmp_path))
    # Use the Jupyter kernel of the environment in which the tests run, even if others are installed.
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
    # Outputs load nothing from elsewhere, and contain no warning.
    own = [re.sub(r'atob\("[^"]*"\)', "", page) for page in pages]
    assert [page for page in own if re.search(r"src=|href=|import\(|cdn", page)] == []
    streams = [
        output for cell in notebook.cells for output in cell.get("outputs", []) if output.output_type == "stream"
    ]
    assert [output.text for output in streams if output.name == "stderr"] == []


def test_a_chart_of_a_notebook_is_drawn_without_a_network(tmp_path: Path) -> None:
    chart = flashmesh.run({"preset": "venice-z-nand", "workload": {"requests": 200}}).plot_breakdown()
    page = tmp_path / "cell.html"
    page.write_text(f"<!doctype html><meta charset='utf-8'><body>{offline.render(chart.to_dict())['text/html']}</body>")
    browser = start()
    try:
        browser.execute_cdp_cmd("Network.enable", {})
        unplugged = {"offline": True, "latency": 0, "downloadThroughput": 0, "uploadThroughput": 0}
        browser.execute_cdp_cmd("Network.emulateNetworkConditions", unplugged)
        browser.get(page.as_uri())
        until(lambda: browser.execute_script("return document.querySelectorAll('svg .mark-rect path').length"), 60)
    finally:
        browser.quit()


def outputs(cell: Any) -> list[dict[str, Any]]:
    """Returns the outputs of a cell."""
    return [dict(output["data"]) for output in cell.get("outputs", []) if "data" in output]
