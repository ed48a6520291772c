"""`flashmesh optimise`: its result, and that it resumes."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

import flashmesh
from conftest import TIMEOUT_S, Cli
from flashmesh.cli.sweeps.optimise import known
from flashmesh.report.measures.measure import measure_named
from flashmesh.sweeps.inputs.points import Points
from flashmesh.sweeps.inputs.ranges import read_range
from long_cases import in_part
from sweep_files import SEARCH, kept, remove_when_there, search_file

pytest.importorskip("optuna")
__all__ = ["search_file"]

DRIVES = 9
"""Number of drives in the space of the search."""


def search(tmp_path: Path, folder: str = "out") -> dict[str, Any]:
    document: dict[str, Any] = json.loads((tmp_path / folder / "search.json").read_text())
    return document


def test_front_is_what_no_other_trial_beats(cli: Cli, search_file: Path, tmp_path: Path) -> None:
    done = cli("optimise", search_file, "--out", "out")
    assert done.returncode == 0, done.stderr
    trials = search(tmp_path)["trials"]
    assert len(trials) == DRIVES
    assert "all 9 points of the space (limit: 24 trials)" in done.stderr
    assert f"all drives of the space tried: {DRIVES}" in done.stderr
    points = [(trial["measures"]["latency_ps.all.p99"], trial["measures"]["wires"]) for trial in trials]
    within = [p99 <= 400e6 for p99, _ in points]
    assert [trial["feasible"] for trial in trials] == within
    assert True in within
    assert False in within
    candidates = {point for point, is_within in zip(points, within, strict=True) if is_within}
    best = {
        point
        for point in candidates
        if not any(other != point and other[0] <= point[0] and other[1] <= point[1] for other in candidates)
    }
    assert {point for trial, point in zip(trials, points, strict=True) if trial["pareto"]} == best
    front, unsteady, explained = done.stdout.split("\n\n")
    assert len(front.splitlines()) == 2 + len(best)
    assert unsteady.startswith(f"{len(best)} of {len(best)} drives of this front are not steady")
    assert [line.split()[0] for line in explained.splitlines()[2:]] == ["fabric.kind", "fabric.channel-rate"]
    # Every drive is tried once.
    tried = {json.dumps(trial["settings"]) for trial in trials}
    assert len(kept(tmp_path / "out")) == len(tried) == DRIVES
    assert cli("show", "out", "--measure", "wires").returncode == 0


@pytest.mark.long
def test_no_trial_is_spent_on_a_known_drive(cli: Cli, search_file: Path, tmp_path: Path) -> None:
    # The rate has no effect with Venice, so the twelve points are only ten different drives.
    text = SEARCH.replace('"ideal"]', '"ideal", "venice"]')
    search_file.write_text(text.replace("trials = 24", "trials = 8").replace("population = 8", "population = 4"))
    done = cli("optimise", search_file, "--out", "out")
    assert done.returncode == 0, done.stderr
    runs = [trial["run"] for trial in search(tmp_path)["trials"]]
    assert len(set(runs)) == len(runs) == 8
    assert "tried:" not in done.stderr
    search_file.write_text(text.replace("trials = 24", "trials = 11").replace("population = 8", "population = 4"))
    done = cli("optimise", search_file, "--out", "out", "--resume")
    assert done.returncode == 0, done.stderr
    runs = [trial["run"] for trial in search(tmp_path)["trials"]]
    assert len(set(runs)) == len(runs) == 10
    assert "all drives of the space tried: 10; some drives do not use fabric.channel-rate" in done.stderr


def test_front_says_which_capacity_follows(cli: Cli, search_file: Path, tmp_path: Path) -> None:
    drive = tmp_path / "drive.toml"
    drive.write_text(
        drive.read_text().replace("blocks-per-plane = 64\n", 'blocks-per-plane = 64\ncapacity = "1.2GB"\n')
    )
    space = SEARCH.replace('fabric.kind = ["bus", "pssd", "ideal"]', '"geometry.channels" = [2, 4]')
    search_file.write_text(space.replace("400us", "1s"))
    done = cli("optimise", search_file, "--out", "out")
    assert done.returncode == 0, done.stderr
    assert "geometry.capacity" in done.stdout.splitlines()[0]
    assert {"1.2GB", "2.4GB"} & set(done.stdout.split())
    assert "geometry.capacity follows the space (over-provisioning kept)" in done.stdout
    trials = search(tmp_path)["trials"]
    assert {trial["settings"]["geometry.channels"]: trial["capacity"] for trial in trials} == {2: "1.2GB", 4: "2.4GB"}


def test_points_of_a_space_are_all_drawn_once() -> None:
    points = Points({"a": ["x", "y"], "b": read_range("b", "1..4 x2")})
    assert (points.count, points.is_listed) == (6, True)
    everything = [points.settings(point) for point in points.all()]
    assert everything[:2] == [{"a": "x", "b": "1"}, {"a": "x", "b": "2"}]
    drawn = [points.settings(point) for point in points.drawn(1)]
    assert drawn != everything
    assert sorted(map(str, drawn)) == sorted(map(str, everything))
    assert Points({"a": read_range("a", "1us..2.5us")}).count is None


@pytest.mark.long
def test_search_goes_on_and_takes_the_same_path(cli: Cli, search_file: Path, tmp_path: Path) -> None:
    wide = SEARCH.replace(" +400MB/s", "")
    search_file.write_text(wide.replace("trials = 24", "trials = 8"))
    assert cli("optimise", search_file, "--out", "out").returncode == 0
    before = kept(tmp_path / "out")
    search_file.write_text(wide)
    assert "24 trials, 8 of them done" in cli("optimise", search_file, "--out", "out", "--resume").stderr
    assert before.items() <= kept(tmp_path / "out").items()
    in_two = search(tmp_path)["trials"]
    (tmp_path / "out").rename(tmp_path / "two")
    assert cli("optimise", search_file, "--out", "out").returncode == 0
    assert search(tmp_path)["trials"] == in_two


def test_quiet_prints_no_front_and_stores_the_drives(cli: Cli, search_file: Path, tmp_path: Path) -> None:
    done = cli("optimise", search_file, "--out", "out", "--quiet")
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    assert search(tmp_path)["trials"]


def test_folder_that_is_removed_meanwhile_ends_a_search(cli: Cli, search_file: Path, tmp_path: Path) -> None:
    remover = remove_when_there(tmp_path / "out", "runs/*/*.json")
    done = cli("optimise", search_file, "--out", "out", "--quiet", "--jobs", "1")
    remover.join(TIMEOUT_S)
    assert done.returncode == 2
    assert done.stderr.splitlines()[-1].startswith("error: out")
    assert "No such file or directory" in done.stderr
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("old", "new", "words", "place"),
    in_part(
        3,
        [
            ('"<= 400us"', '"<= 400"', "has no unit: it needs one of ps, ns, us, ms, s", "11:24"),
            ('"<= 400us"', '"<= 400furlong"', "has the wrong unit: there are ps, ns, us, ms, s", "11:24"),
            ('"<= 400us"', '"less than 400us"', 'a constraint is a bound such as "<= 100us"', "11:24"),
            ('"wires" = "minimise"', '"wires" = "small"', "an objective is minimise or maximise", "9:11"),
            ('"wires" = "minimise"', '"wirse" = "minimise"', "did you mean 'wires'?", "9:1"),
            ("[space]", "[spaces]", "did you mean space?", "4:2"),
            ("trials = 24", "trials = 0", "trials is a whole number from 1", "2:10"),
            ('["bus", "pssd", "ideal"]', '["bus", "pssd", "idle"]', "'idle' is none of the choices", "5:15"),
        ],
    ),
)
def test_what_is_no_search_is_refused(
    cli: Cli, search_file: Path, tmp_path: Path, old: str, new: str, words: str, place: str
) -> None:
    search_file.write_text(SEARCH.replace(old, new))
    done = cli("optimise", search_file.name, "--out", "out")
    assert (done.returncode, done.stdout) == (2, "")
    assert words in done.stderr
    assert f" --> best.toml:{place}\n" in done.stderr
    assert not (tmp_path / "out").exists()


def test_figures_of_the_front_have_the_intervals_of_their_runs() -> None:
    result = flashmesh.run("preset:venice-z-nand", overrides={"workload.requests": 5_000})
    interval, latency = result.confidence.latency_ps.all.mean, result.latency_ps.all
    assert interval is not None
    assert latency is not None
    half = (interval.high - interval.low) / 2 / latency.mean
    assert known(measure_named("mean"), latency.mean, result).endswith(f" us +-{100 * half:.1f} %")
    assert known(measure_named("wires"), 64, result) == "64"


@pytest.mark.long
def test_constraints_that_nothing_meets_are_named(cli: Cli, search_file: Path) -> None:
    search_file.write_text(SEARCH.replace("trials = 24", "trials = 8").replace('"<= 400us"', '"<= 1us"'))
    done = cli("optimise", search_file)
    assert (done.returncode, done.stdout) == (2, "")
    assert "none of the drives tried meets latency_ps.all.p99 <= 1us" in done.stderr
    near = re.search(
        r"^nearest is fabric\.kind=.*: latency_ps\.all\.p99 ([\d.]+) us, ([\d,]+) % beyond <= 1us$", done.stderr, re.M
    )
    assert near is not None, done.stderr
    best = min(
        trial["measures"]["latency_ps.all.p99"] for trial in search(search_file.parent, "best.results")["trials"]
    )
    assert float(near[1]) == pytest.approx(best / 1e6, rel=1e-3)
    assert float(near[2]) == pytest.approx((best / 1e6 - 1) * 100, abs=0.6)
    search_file.write_text(SEARCH)
    assert "holds another search" in cli("optimise", search_file, "--resume").stderr
