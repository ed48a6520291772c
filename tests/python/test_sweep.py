"""`flashmesh sweep`: results it stores, runs it repeats, and input it refuses."""

from __future__ import annotations

import json
import os
import re
import resource
import signal
import subprocess
import time
from pathlib import Path

import pandas as pd
import pyarrow.parquet as pq
import pytest

import flashmesh
from conftest import COMMAND, TIMEOUT_S, Cli, environment, run_in
from flashmesh.sweeps.executors import local
from long_cases import in_part
from sweep_files import SWEEP, documents, kept, remove_when_there, sweep_file
from test_cli_run import simulated

__all__ = ["sweep_file"]


def test_every_point_gives_what_it_gives_alone(cli: Cli, sweep_file: Path, tmp_path: Path) -> None:
    done = cli("sweep", sweep_file, "--out", "out")
    assert done.returncode == 0, done.stderr
    assert done.stderr.startswith("6 runs; ")
    assert len(kept(tmp_path / "out")) == 6
    table = pd.read_parquet(tmp_path / "out/results.parquet")
    assert list(zip(table["fabric.kind"], table["replay.outstanding"], strict=True)) == [
        (kind, outstanding) for kind in ("bus", "ideal") for outstanding in (1, 4, 16)
    ]
    for row in table.itertuples():
        found = json.loads(str(row.document))
        settings = [
            f"{key}={found['configuration'][key.split('.')[0]][key.split('.')[1]]}" for key in table.columns[:2]
        ]
        options = [option for setting in settings for option in ("--set", setting)]
        assert simulated(json.loads(cli("run", "drive.toml", *options, "--json", "-").stdout)) == simulated(found)
    log = (tmp_path / "out/log.txt").read_text().splitlines()
    assert len(log) == 6
    assert all("IOPS" in line for line in log)


@pytest.mark.long
def test_complete_sweep_is_resumed_without_a_run(cli: Cli, sweep_file: Path, tmp_path: Path) -> None:
    first = cli("sweep", sweep_file, "--out", "out")
    before = kept(tmp_path / "out")
    table = (tmp_path / "out/results.parquet").stat().st_ino
    again = cli("sweep", sweep_file, "--out", "out", "--resume")
    assert (again.returncode, again.stdout) == (0, first.stdout)
    assert "6 runs, 6 of them finished already" in again.stderr
    assert kept(tmp_path / "out") == before
    assert (tmp_path / "out/results.parquet").stat().st_ino == table


def test_quiet_prints_no_table_and_stores_the_results(cli: Cli, sweep_file: Path, tmp_path: Path) -> None:
    done = cli("sweep", sweep_file, "--out", "out", "--quiet")
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    assert len(pd.read_parquet(tmp_path / "out/results.parquet")) == 6
    refused = cli("sweep", "nothere.toml", "--out", "other", "--quiet")
    assert refused.returncode == 2
    assert "nothere.toml" in refused.stderr


def test_more_points_are_added_to_a_sweep(cli: Cli, sweep_file: Path, tmp_path: Path) -> None:
    cli("sweep", sweep_file, "--out", "out")
    before = kept(tmp_path / "out")
    sweep_file.write_text(SWEEP.replace("1..16 x4", "1..64 x4"))
    assert "8 runs, 6 of them" in cli("sweep", sweep_file, "--out", "out", "--resume").stderr
    after = kept(tmp_path / "out")
    assert len(after) == 8
    assert before.items() <= after.items()
    assert pq.read_metadata(tmp_path / "out/results.parquet").num_rows == 8


ENDLESS_REQUESTS = "1_000_000_000_000"


def write_endless(sweep_file: Path, requests: str, head: str = "") -> None:
    """Writes a sweep whose last runs are endless, so even a slow test can interrupt them."""
    axis = f'[axes]\n"workload.requests" = [{requests}, {ENDLESS_REQUESTS}]\n'
    sweep_file.write_text(head + SWEEP.replace("[axes]\n", axis))


def test_killed_sweep_goes_on_and_repeats_nothing(sweep_file: Path, cli: Cli, tmp_path: Path) -> None:
    write_endless(sweep_file, "20_000", "seeds = 6\n")
    with subprocess.Popen(
        [COMMAND, "sweep", sweep_file, "--out", "out", "--jobs", "2"],
        cwd=tmp_path,
        env=environment(),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    ) as process:
        end = time.monotonic() + TIMEOUT_S
        while len(kept(tmp_path / "out")) < 4:
            assert time.monotonic() < end, "no result appears"
            time.sleep(0.01)
        process.kill()
    before = kept(tmp_path / "out")
    assert 4 <= len(before) <= 36
    assert all(document["requests"] == 20_000 for document in documents(tmp_path / "out"))
    shown = cli("show", "out", "--csv", "-")
    assert (shown.returncode, shown.stdout.count("\n")) == (0, 1 + len(before))
    assert f"not all runs had finished: only the {len(before)} finished ones are shown" in shown.stderr
    sweep_file.write_text(sweep_file.read_text().replace(f", {ENDLESS_REQUESTS}", ""))
    done = cli("sweep", sweep_file, "--out", "out", "--resume")
    assert done.returncode == 0, done.stderr
    assert f"36 runs, {len(before)} of them finished already" in done.stderr
    after = kept(tmp_path / "out")
    assert len(after) == 36
    assert before.items() <= after.items()
    assert "+-" in done.stdout
    assert pq.read_metadata(tmp_path / "out/results.parquet").num_rows == 36


def test_folder_that_is_removed_meanwhile_ends_a_sweep(cli: Cli, sweep_file: Path, tmp_path: Path) -> None:
    remover = remove_when_there(tmp_path / "out", "runs/*/*.json")
    done = cli("sweep", sweep_file, "--out", "out", "--set", "workload.requests=100_000", "--quiet", "--jobs", "1")
    remover.join(TIMEOUT_S)
    told = "cannot be written: No such file or directory; the folder was removed during the runs"
    assert (done.returncode, done.stderr.splitlines()[-1]) == (2, f"error: out: {told}")
    assert not (tmp_path / "out").exists()


def test_interrupt_that_loses_a_result_does_not_wait_for_it(config: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def lose(crew: local.Crew, seconds: float) -> None:
        # The interrupt arrives after a result has left the queue but before it is counted.
        monkeypatch.undo()
        crew.ended.get(timeout=TIMEOUT_S)
        raise KeyboardInterrupt

    monkeypatch.setattr(local.Crew, "next", lose)
    settings = {"workload.requests": 100}
    started = time.monotonic()
    with pytest.MonkeyPatch.context() as patience:
        # A wait for the lost result would take as long as a test may.
        patience.setattr(local, "STOP_S", TIMEOUT_S)
        with pytest.raises(flashmesh.Interrupted):
            flashmesh.compare(config, {"seed": [1, 2, 3]}, overrides=settings, jobs=1)
    assert time.monotonic() - started < TIMEOUT_S / 2


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_interrupted_sweep_keeps_what_has_finished(
    sweep_file: Path, tmp_path: Path, number: signal.Signals, code: int
) -> None:
    write_endless(sweep_file, "30_000")

    def expect_signals() -> None:
        signal.signal(number, signal.SIG_DFL)

    with subprocess.Popen(
        [COMMAND, "sweep", sweep_file, "--out", "out", "--jobs", "1"],
        cwd=tmp_path,
        env=environment(),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=expect_signals,
    ) as process:
        end = time.monotonic() + TIMEOUT_S
        while not kept(tmp_path / "out"):
            assert time.monotonic() < end, "no result appears"
            time.sleep(0.01)
        process.send_signal(number)
        _, stderr = process.communicate(timeout=TIMEOUT_S)
    assert process.returncode == code
    assert "continue with --resume" in stderr
    assert 1 <= pq.read_metadata(tmp_path / "out/results.parquet").num_rows <= 6
    assert not any(document["interrupted"] for document in documents(tmp_path / "out"))


def test_failed_run_stops_no_other_and_is_tried_again(cli: Cli, sweep_file: Path, tmp_path: Path) -> None:
    (tmp_path / "good.ascii").write_text("0 0 0 8 1\n1000 0 64 8 0\n")
    (tmp_path / "bad.ascii").write_text("nonsense\n")
    axes = '[axes]\n"workload.trace" = ["bad.ascii", "good.ascii"]\n'
    sweep_file.write_text(f'config = "drive.toml"\n[set]\n"workload.time-unit" = "ns"\n{axes}')
    done = cli("sweep", sweep_file, "--out", "out")
    assert done.returncode == 2
    assert "1 of 2 runs failed: workload.trace=" in done.stderr
    assert len(kept(tmp_path / "out")) == 1
    assert "failed: " in (tmp_path / "out/log.txt").read_text()
    (tmp_path / "bad.ascii").write_text("0 0 8 8 1\n")
    again = cli("sweep", sweep_file, "--out", "out", "--resume")
    assert again.returncode == 0, again.stderr
    assert "2 runs, 1 of them" in again.stderr


@pytest.mark.long
def test_run_is_known_by_the_content_of_its_trace(cli: Cli, sweep_file: Path, tmp_path: Path) -> None:
    (tmp_path / "a.ascii").write_text("0 0 0 8 1\n1000 0 64 8 0\n")
    settings = '[set]\n"workload.trace" = "a.ascii"\n"workload.time-unit" = "ns"\n'
    sweep_file.write_text(f'config = "drive.toml"\nseeds = 2\n{settings}')
    assert cli("sweep", sweep_file, "--out", "out").returncode == 0
    (tmp_path / "a.ascii").write_text("0 0 0 8 1\n1000 0 64 8 0\n2000 0 8 8 1\n")
    assert "2 runs; " in cli("sweep", sweep_file, "--out", "out", "--resume").stderr
    found = documents(tmp_path / "out")
    assert sorted(document["requests"] for document in found) == [2, 2, 3, 3]
    files = [document["provenance"]["files"][0] for document in found]
    assert len({file["sha256"] for file in files}) == 2
    assert {file["size_bytes"] for file in files} == {24, 37}


def test_shards_make_one_data_set(cli: Cli, sweep_file: Path, tmp_path: Path) -> None:
    one = cli("sweep", sweep_file, "--out", "out", "--shard", "1/2")
    assert len(kept(tmp_path / "out")) == 3, one.stderr
    two = cli("sweep", sweep_file, "--out", "out", "--shard", "2/2", "--resume")
    assert two.returncode == 0, two.stderr
    assert pq.read_metadata(tmp_path / "out/results.parquet").num_rows == 6
    assert cli("sweep", sweep_file, "--out", "out", "--shard", "3/2", "--resume").returncode == 2


@pytest.mark.long
def test_report_of_an_unfinished_sweep_says_so(cli: Cli, sweep_file: Path, tmp_path: Path) -> None:
    assert cli("sweep", sweep_file, "--out", "out", "--shard", "1/2").returncode == 0
    told = "3 of 6 runs have finished; --resume runs the others"
    for has_table in (True, False):
        if not has_table:
            # Simulate a kill before the sweep has written its table.
            (tmp_path / "out/results.parquet").unlink()
        part = cli("report", "out", "-o", "page.html")
        assert (part.returncode, part.stderr) == (0, f"warning: {told}\n")
        assert told in (tmp_path / "page.html").read_text()
    assert len(kept(tmp_path / "out")) == 3
    assert cli("sweep", sweep_file, "--out", "out", "--resume").returncode == 0
    whole = cli("report", "out", "-o", "page.html")
    assert (whole.returncode, whole.stderr) == (0, "")
    assert "have finished" not in (tmp_path / "page.html").read_text()


def test_points_that_cannot_be_configured_are_left_out_only_when_asked(
    cli: Cli, sweep_file: Path, tmp_path: Path
) -> None:
    sweep_file.write_text(SWEEP.replace('"ideal"', '"pnssd"') + '[set]\n"geometry.chips-per-channel" = 4\n')
    refused = cli("sweep", sweep_file, "--out", "out")
    assert (refused.returncode, refused.stdout) == (2, "")
    assert "3 of 6 runs cannot be configured, so none was run" in refused.stderr
    assert not (tmp_path / "out").exists()
    done = cli("sweep", sweep_file, "--out", "out", "--keep-going")
    assert done.returncode == 0, done.stderr
    assert done.stderr.count("left out: ") == 3
    assert len(kept(tmp_path / "out")) == 3


def test_dry_run_lists_the_runs_and_makes_none(cli: Cli, sweep_file: Path, tmp_path: Path) -> None:
    done = cli("sweep", sweep_file, "--dry-run")
    summary, runs = done.stdout.split("\n\n")
    assert summary.startswith("6 runs, ")
    assert "  replay.outstanding  1, 4, 16\n" in summary
    assert "memory: " in summary
    assert summary.endswith("results: s.results")
    assert len(set(runs.splitlines())) == 6
    assert sorted(path.name for path in tmp_path.iterdir()) == ["drive.toml", "s.toml"]


@pytest.mark.parametrize(
    ("text", "words", "place"),
    in_part(
        6,
        [
            ("[axes]\nseed = [1]\n", "needs a configuration", ""),
            ('config = "drive.toml"\n', "nothing varies", ""),
            ('config = "drv.toml"\n[axes]\nseed = [1]\n', "did you mean drive.toml?", "1:10"),
            ('config = "drive.toml"\n[axis]\nseed = [1]\n', "did you mean axes?", "2:2"),
            ('config = "drive.toml"\n[axes]\nseed = 3\n', "the values of an axis are a list", "3:8"),
            ('config = "drive.toml"\n[axes]\nseed = "1 to 3"\n', "is not a range", "3:8"),
            ('config = "drive.toml"\nseeds = 2\n[axes]\nseed = [1]\n', "seed is varied twice", "4:1"),
            ('config = "drive.toml"\n[axes]\nseed = [1]\n[set]\nseed = 2\n', "varied and given in [set]", "3:1"),
            (
                'config = "drive.toml"\n[[zip]]\nseed = [1]\n"replay.outstanding" = [1, 2]\n',
                "equally many values",
                "2:1",
            ),
            ('config = "drive.toml"\n[random]\nseed = [1]\n', "needs samples", "2:1"),
            (
                'config = "drive.toml"\n[axes]\n"venice.routing" = ["xy", "venice"]\n',
                "venice.routing has no effect",
                "3:1",
            ),
            ('config = "drive.toml"\n[axes]\nfabric.knd = ["bus"]\n', "did you mean `kind`?", "3:8"),
            ('config = "drive.toml"\n[axes]\nfabric.kind = ["bus",\n  "buss"]\n', "did you mean `bus`?", "4:3"),
            (
                'config = "drive.toml"\n[set]\n"workload.requests" = -1\n[axes]\nseed = [1]\n',
                "is out of bounds",
                "3:23",
            ),
            ('config = "drive.toml"\n[[zip]]\n"fabric.kind" = ["ü", "bus"]\n', "is none of the choices", "3:18"),
            ('config = "drive.toml"\n[axes]\nseed = [1\n', "is not TOML", "3:10"),
            ("config = \n", "is not TOML", "1:10"),
        ],
    ),
)
def test_what_is_no_sweep_is_refused_with_its_place(
    cli: Cli, sweep_file: Path, tmp_path: Path, text: str, words: str, place: str
) -> None:
    sweep_file.write_text(text)
    done = cli("sweep", sweep_file.name, "--out", "out")
    assert (done.returncode, done.stdout) == (2, "")
    assert words in done.stderr
    assert f" --> s.toml:{place}\n" in done.stderr or not place
    assert "Traceback" not in done.stderr
    assert not (tmp_path / "out").exists()


@pytest.mark.long
def test_folders_that_hold_something_else_are_left_alone(cli: Cli, sweep_file: Path, tmp_path: Path) -> None:
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine/thesis.txt").write_text("x")
    assert "contains other files" in cli("sweep", sweep_file, "--out", "mine").stderr
    assert cli("sweep", sweep_file, "--out", "drive.toml/x").returncode == 2
    assert cli("sweep", sweep_file, "--out", "out", "--shard", "1/6").returncode == 0
    assert "continue with --resume" in cli("sweep", sweep_file, "--out", "out").stderr
    before = kept(tmp_path / "out")
    manifest = tmp_path / "out/sweep.json"
    manifest.write_text(manifest.read_text().replace('"version": "', '"version": "9'))
    other = cli("sweep", sweep_file, "--out", "out", "--resume")
    assert (other.returncode, other.stderr.count("\n")) == (2, 1)
    assert "holds results of flashmesh 9" in other.stderr
    assert kept(tmp_path / "out") == before


@pytest.mark.long
def test_full_disk_loses_no_result(sweep_file: Path, cli: Cli, tmp_path: Path) -> None:
    assert cli("sweep", sweep_file, "--out", "out", "--shard", "1/3").returncode == 0
    before = kept(tmp_path / "out")

    def limit() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096))

    done = run_in(tmp_path, COMMAND, "sweep", sweep_file, "--out", "out", "--resume", "--quiet", preexec_fn=limit)
    assert (done.returncode, done.stderr.count("\n")) == (2, 1)
    assert "out: cannot be written: File too large; the 2 results so far are kept" in done.stderr
    assert kept(tmp_path / "out") == before
    assert not list((tmp_path / "out").glob("runs/*/.*"))
    assert cli("sweep", sweep_file, "--out", "out", "--resume").returncode == 0


def test_file_that_lost_its_content_is_made_again(cli: Cli, sweep_file: Path, tmp_path: Path) -> None:
    cli("sweep", sweep_file, "--out", "out")
    broken = next((tmp_path / "out").glob("runs/*/*.json"))
    os.truncate(broken, 0)
    assert "6 runs, 5 of them" in cli("sweep", sweep_file, "--out", "out", "--resume").stderr
    assert json.loads(broken.read_text())["requests"] == 500


def test_points_that_differ_in_keys_their_drive_does_not_read_are_one_run(
    cli: Cli, sweep_file: Path, tmp_path: Path
) -> None:
    sweep_file.write_text(
        'config = "drive.toml"\n[axes]\n"fabric.channel-rate" = "400MB/s..1200MB/s +400MB/s"\n'
        'fabric.kind = ["bus", "venice"]\n'
    )
    done = cli("sweep", sweep_file, "--out", "out")
    assert done.returncode == 0, done.stderr
    told = "fabric.channel-rate: no effect with fabric.kind=venice; 2 of 6 points share the run of another point\n"
    assert told in done.stderr
    assert done.stderr.startswith("4 runs; ")
    assert "[4/4] " in done.stderr
    assert len(kept(tmp_path / "out")) == 4
    rows = [line.split()[:2] for line in done.stdout.splitlines()[2:6]]
    assert rows == [["400MB/s", "bus"], ["any", "venice"], ["800MB/s", "bus"], ["1200MB/s", "bus"]]
    # All points can be drawn, with the axes in any order.
    loaded = flashmesh.load(tmp_path / "out")
    assert isinstance(loaded, flashmesh.Comparison)
    assert loaded.complete
    assert len({run.result.config_hash for run in loaded if run.settings["fabric.kind"] == "venice"}) == 1
    axes = ("--vary", "fabric.kind=venice,bus", "--vary", "fabric.channel-rate=400MB/s,800MB/s")
    compared = cli("compare", tmp_path / "drive.toml", *axes, "--json", "c.json")
    assert "1 of 4 points share the run of another" in compared.stderr
    document = json.loads((tmp_path / "c.json").read_text())
    assert document["complete"]
    assert len(document["runs"]) == 4
    both = [run["result"] for run in document["runs"] if run["settings"]["fabric.kind"] == "venice"]
    assert both[0] == both[1]
    other = flashmesh.compare(tmp_path / "drive.toml", {"fabric.kind": ["venice"]}, overrides={})
    assert other[0].result.makespan_ps == both[0]["makespan_ps"]


def test_search_does_not_try_a_drive_again_that_differs_in_what_it_does_not_read(
    cli: Cli, sweep_file: Path, tmp_path: Path
) -> None:
    pytest.importorskip("optuna")
    sweep_file.write_text(
        'config = "drive.toml"\ntrials = 16\npopulation = 8\n[objectives]\n"p99" = "minimise"\n'
        '[space]\nfabric.kind = ["venice", "bus"]\n"fabric.channel-rate" = "400MB/s..1200MB/s +400MB/s"\n'
    )
    done = cli("optimise", sweep_file, "--out", "out")
    assert done.returncode == 0, done.stderr
    trials = json.loads((tmp_path / "out/search.json").read_text())["trials"]
    venice = [trial for trial in trials if trial["settings"]["fabric.kind"] == "venice"]
    assert len(venice) == 1
    assert {trial["settings"]["fabric.channel-rate"] for trial in trials if trial not in venice} == {
        "400MB/s",
        "800MB/s",
        "1200MB/s",
    }
    assert all(trial["idle"] == ["fabric.channel-rate"] for trial in venice)
    assert "some drives do not use fabric.channel-rate" in done.stderr
    assert [line.split()[:2] for line in done.stdout.splitlines() if line.startswith("venice")] in (
        [],
        [["venice", "-"]],
    )


def test_a_line_of_progress_has_the_figures_of_the_table(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "warm.toml").write_text(
        'config = "preset:venice-z-nand"\n[set]\n"workload.requests" = 2000\n"measure.warm-up" = "requests"\n'
        '"measure.warm-up-requests" = 500\n[axes]\nseed = [1]\n'
    )
    done = cli("sweep", "warm.toml", "--out", "out")
    assert done.returncode == 0, done.stderr
    told = re.search(r"seed=1: (\S+) IOPS, mean (\S+ us), p99 (\S+ us)", done.stderr)
    assert told is not None, done.stderr
    row = next(line for line in done.stdout.splitlines() if line.startswith("1 "))
    assert all(figure in row for figure in told.groups()), (told[0], row)
