"""Ratios to a baseline of the same workload, and their means."""

from __future__ import annotations

import math
from pathlib import Path

import pytest

import flashmesh
from conftest import Cli
from flashmesh.comparing.axes import Value
from flashmesh.comparing.normalised import baseline_of, means, partners
from flashmesh.comparison import ComparedRun, Comparison
from flashmesh.results import Result

MAKESPANS = {("a", "bus"): 100, ("a", "ideal"): 50, ("b", "bus"): 30, ("b", "ideal"): 40}
"""Makespans for which the speedups of ideal are 2 and 0.75: the mean is 1.375, the geometric mean the root of 1.5."""


@pytest.fixture(scope="module")
def some() -> Result:
    return flashmesh.run("preset:venice-z-nand", overrides={"workload.requests": 100})


@pytest.fixture
def comparison(some: Result) -> Comparison:
    axes: dict[str, tuple[Value, ...]] = {
        "workload.profile": ("a", "b"),
        "fabric.kind": ("bus", "ideal"),
    }
    runs = [
        ComparedRun(
            {"workload.profile": profile, "fabric.kind": fabric},
            Result.from_document(some.document | {"makespan_ps": makespan, "iops": 1e12 / makespan}),
        )
        for (profile, fabric), makespan in MAKESPANS.items()
    ]
    return Comparison(axes, tuple(runs))


def test_each_run_is_compared_with_the_baseline_of_its_own_workload(comparison: Comparison) -> None:
    baseline = baseline_of(["fabric.kind=bus"], comparison.axes)
    assert partners([run.settings for run in comparison.runs], baseline) == [0, 0, 2, 2]


def test_means_of_made_up_times_are_those_of_arithmetic(comparison: Comparison) -> None:
    speedup = comparison.means("execution time", "fabric.kind=bus", inverse=True)
    assert list(speedup) == ["ideal"]
    found = speedup["ideal"]
    assert (found.count, found.arithmetic, found.largest, found.smallest) == (2, 1.375, 2.0, 0.75)
    assert found.geometric == pytest.approx(math.sqrt(1.5))
    # `ideal` is fastest in only one of the two workloads, `a`.
    assert found.largest_in == 1
    assert found.largest_at == {"workload.profile": "a", "fabric.kind": "ideal"}
    assert comparison.means("makespan_ps", "fabric.kind=bus")["ideal"].arithmetic == pytest.approx((0.5 + 4 / 3) / 2)


def test_a_baseline_may_have_several_keys(comparison: Comparison) -> None:
    found = comparison.means("makespan_ps", "fabric.kind=bus", "workload.profile=b")
    assert {name: mean.arithmetic for name, mean in found.items()} == pytest.approx(
        {"bus, a": 100 / 30, "ideal, a": 50 / 30, "ideal, b": 40 / 30}
    )


def test_a_run_whose_baseline_is_missing_has_no_ratio(comparison: Comparison) -> None:
    torn = Comparison(comparison.axes, comparison.runs[1:])
    baseline = baseline_of(["fabric.kind=bus"], torn.axes)
    settings = [run.settings for run in torn.runs]
    assert partners(settings, baseline)[0] is None
    assert means(settings, [run.result.makespan_ps for run in torn.runs], baseline)["ideal"].count == 1


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (["fabric.kind"], "'fabric.kind' is no setting: write KEY=VALUE"),
        (["seed=1"], "seed is not varied; varied are workload.profile, fabric.kind"),
        (["fabric.kind=venice"], "fabric.kind is never venice; its values are bus, ideal"),
        (["fabric.kind=bus", "fabric.kind=ideal"], "fabric.kind is given twice"),
        ([], "no setting is given"),
    ],
)
def test_a_baseline_that_is_none_is_refused(comparison: Comparison, given: list[str], said: str) -> None:
    with pytest.raises(flashmesh.ConfigError, match="--baseline: ") as refused:
        baseline_of(given, comparison.axes)
    assert said in str(refused.value)


def test_the_command_prints_ratios_by_workload_and_their_means(cli: Cli, config: Path, tmp_path: Path) -> None:
    reads = ("--set", "workload.read-share=1", "--vary", "workload.request-size=4KiB,16KiB")
    axes = (*reads, "--vary", "fabric.kind=bus,pssd,ideal")
    done = cli("compare", config, *axes, "--baseline", "fabric.kind=bus", "--json", "runs.json")
    assert (done.returncode, done.stderr) == (0, "")
    table = done.stdout[done.stdout.index("ratio to fabric.kind=bus") :]
    assert all(heading in table.splitlines()[0] for heading in ("mean", "geometric mean", "min", "max", "max at"))
    shown = cli("show", "runs.json", "--baseline", "fabric.kind=bus")
    assert shown.stdout == done.stdout
    loaded = flashmesh.load(tmp_path / "runs.json")
    assert isinstance(loaded, Comparison)
    found = loaded.means("execution time", "fabric.kind=bus", inverse=True)["ideal"]
    row = next(line for line in table.splitlines() if line.startswith("ideal") and " speedup " in line)
    assert row.split()[2:5] == ["2", f"x{found.arithmetic:.2f}", f"x{found.geometric:.2f}"]
    one = cli("show", "runs.json", "--measure", "IOPS", "--baseline", "fabric.kind=bus").stdout
    assert [line.split()[1] for line in one.splitlines() if line.startswith(("4KiB", "16KiB"))] == ["x1.00", "x1.00"]
    assert "geometric mean" in one
    refused = cli("compare", config, *axes, "--baseline", "fabric.kind=venice")
    assert (refused.returncode, refused.stdout) == (2, "")
    assert "fabric.kind is never venice" in refused.stderr
