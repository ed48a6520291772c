"""Profiles fitted to traces, end to end."""

from __future__ import annotations

import itertools
import json
import random
from pathlib import Path

import pytest

import flashmesh
from conftest import Cli


@pytest.fixture
def trace(tmp_path: Path) -> Path:
    path = tmp_path / "secret-name.ascii"
    lines = [
        f"{i * 50_000 + i % 7 * 900} 3 {(i * 7919) % 4093 * 8} {8 + i % 3 * 8} {int(i % 4 > 0)}" for i in range(2_000)
    ]
    path.write_text("\n".join(lines) + "\n")
    return path


def test_a_profile_is_fitted_and_traces_are_made_from_it(cli: Cli, tmp_path: Path, trace: Path) -> None:
    profile, copy = tmp_path / "a.profile.toml", tmp_path / "copy.csv.gz"
    assert cli("trace", "profile", trace, "-o", profile).returncode == 0
    assert "secret" not in profile.read_text()
    done = cli("trace", "generate", profile, "-o", copy, "--requests", "500", "--seed", "4", "--format", "msr")
    assert (done.returncode, done.stdout) == (0, "")
    summary = flashmesh.trace_summary(copy)
    assert (summary.requests, summary.format, summary.compression) == (500, "msr", "gzip")


def test_a_copy_is_compared_with_its_original(cli: Cli, tmp_path: Path, trace: Path) -> None:
    profile, copy = tmp_path / "a.profile.toml", tmp_path / "copy.ascii"
    flashmesh.fit_trace(trace, profile)
    assert flashmesh.generate_trace(profile, copy).written == 2_000
    refused = cli("trace", "compare", trace, copy, "--set", "workload.time-unit=ns", "--json", "-")
    assert (refused.returncode, refused.stdout) == (2, "")
    assert f"{copy}: traces of the ASCII family do not say the unit" in refused.stderr
    units = ("--set", "workload.time-unit=ns", "--copy-set", "workload.time-unit=ns")
    done = cli("trace", "compare", trace, copy, *units, "--json", "-")
    assert done.returncode == 0, done.stderr
    figures = {figure["key"]: figure for figure in json.loads(done.stdout)["figures"]}
    keys = ("read_share", "read_size_mean_bytes", "arrivals_per_s", "footprint_pages", "latency_z_nand_open_mean_ps")
    for key in keys:
        assert abs(figures[key]["difference"]) <= figures[key]["bound"] <= 0.25, figures[key]
    assert figures["iops_pm9a3_stress"]["unit"] == "1/s"
    same = flashmesh.compare_traces(trace, trace, latency=False)
    assert all(figure.difference == 0.0 and figure.is_within for figure in same.figures)
    assert same.misses == ()
    shown = cli("trace", "compare", trace, copy, "--no-latency")
    assert shown.returncode == 0
    assert "stack distances" in shown.stdout


def test_a_profile_is_checked_by_the_latencies_of_a_copy(cli: Cli, tmp_path: Path, trace: Path) -> None:
    units = ("--set", "workload.time-unit=ns")
    done = cli("trace", "profile", trace, "-o", tmp_path / "a.profile.toml", *units, "--check")
    assert done.returncode == 0, done.stderr
    assert "venice-z-nand, open: mean" in done.stdout


def test_a_fitted_profile_runs_as_a_workload(cli: Cli, tmp_path: Path, trace: Path) -> None:
    profile, config = tmp_path / "a.profile.toml", tmp_path / "drive.toml"
    flashmesh.fit_trace(trace, profile)
    config.write_text('preset = "venice-z-nand"\n[workload]\nfitted = "a.profile.toml"\nrequests = 700\n')
    done = cli("run", config, "--json", "-")
    assert done.returncode == 0, done.stderr
    result = json.loads(done.stdout)
    assert (result["requests"], result["workload"]["kind"]) == (700, "fitted")


def test_fitting_warns_of_the_figures_that_copies_miss(cli: Cli, tmp_path: Path) -> None:
    # Uniform random requests are easy to copy, so there is no warning about the profile.
    draw = random.Random(1)
    times = itertools.accumulate(int(draw.expovariate(1 / 50_000)) for _ in range(2_000))
    lines = [
        f"{time} 3 {draw.randrange(4093) * 8} {draw.choice((8, 16, 24))} {int(draw.random() < 0.75)}" for time in times
    ]
    (tmp_path / "random.ascii").write_text("\n".join(lines) + "\n")
    good = cli("trace", "profile", tmp_path / "random.ascii", "-o", tmp_path / "good.toml")
    assert good.returncode == 0
    assert "Warning" not in good.stderr
    # A loop over twenty pages has the reuse distance 19. A copy has only powers of two, hence the warning.
    periodic = tmp_path / "periodic.ascii"
    lines = [f"{i * 1_000_000} 0 {i % 20 * 16} 8 1" for i in range(4_000)]
    periodic.write_text("\n".join(lines) + "\n")
    bad = cli("trace", "profile", periodic, "-o", tmp_path / "bad.toml")
    assert bad.returncode == 0
    assert "Warning: copies made from it miss" in bad.stderr
    assert "(bound " in bad.stderr


def test_a_figure_is_within_its_bound_by_its_ratio() -> None:
    def figure(measure: str, difference: float | None) -> flashmesh.TraceFigure:
        return flashmesh.TraceFigure("a", "a", "", measure, 1.0, 1.0, difference, 1.0)

    assert figure("relative", 1.0).is_within
    assert not figure("relative", 1.01).is_within
    assert figure("relative", -0.5).is_within
    assert not figure("relative", -0.51).is_within
    assert figure("absolute", -1.0).is_within
    assert not figure("relative", None).is_within


def test_a_broken_profile_is_an_error_with_its_line(cli: Cli, tmp_path: Path) -> None:
    broken = tmp_path / "broken.toml"
    broken.write_text("version = 3\nrequests = ten\n")
    done = cli("trace", "generate", broken, "-o", tmp_path / "copy")
    assert done.returncode == 2
    assert "broken.toml:2:" in done.stderr
    assert not (tmp_path / "copy").exists()


def test_a_profile_of_an_older_version_is_refused(cli: Cli, tmp_path: Path) -> None:
    old = tmp_path / "old.toml"
    old.write_text("version = 2\nrequests = 10\n")
    done = cli("trace", "generate", old, "-o", tmp_path / "copy")
    assert done.returncode == 2
    assert "version 2 is not known, only 3: fit the trace again" in done.stderr
