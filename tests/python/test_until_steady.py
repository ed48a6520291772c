"""Runs that continue until their measured window is steady."""

from __future__ import annotations

import json
import math
import tomllib
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import pytest

import flashmesh
from conftest import SMALL_DRIVE, Cli
from flashmesh import configuration
from flashmesh.running.steady import UntilSteady, is_steady, measured, settled, uncertain_streams
from flashmesh.sweeps.executors.work import Cancelled, extended
from flashmesh.sweeps.tasks import Task
from flashmesh.texts.durations import time_ps
from summary_text import shown

if TYPE_CHECKING:
    from flashmesh._native import Config

FILLING = f"""{SMALL_DRIVE}
[workload]
requests = 8_000
read-share = 0.0
[measure]
warm-up = "auto"
"""
"""A fresh drive that is soon full, and collects from then on."""


@pytest.fixture
def filling(tmp_path: Path) -> Path:
    path = tmp_path / "filling.toml"
    path.write_text(FILLING)
    return path


def test_run_goes_on_until_its_window_is_steady(filling: Path) -> None:
    short = flashmesh.run(filling)
    assert not is_steady(short.document)
    found = flashmesh.run(filling, until_steady=True)
    assert is_steady(found.document)
    assert found.requests in [8_000 * 2**tries for tries in range(1, 7)]
    # The run can be repeated, and a shorter run would not have been steady.
    assert flashmesh.run(filling, overrides={"workload.requests": found.requests}) == found
    assert not is_steady(flashmesh.run(filling, overrides={"workload.requests": found.requests // 2}).document)


@pytest.mark.parametrize(
    ("tables", "ends"),
    [
        ({"precondition": {"kind": "random"}}, "steady"),
        ({"measure": {"precision": 0.02}}, "steady"),
        ({"measure": {"warm-up": "requests"}}, "requests"),
        ({}, "auto"),
        ({"measure": {"warm-up": "none"}, "precondition": {"kind": "random"}}, "auto"),
    ],
)
def test_a_run_until_steady_keeps_the_warm_up_that_the_configuration_has(tables: dict[str, Any], ends: str) -> None:
    config = configuration.load({"preset": "venice-z-nand", **tables})
    assert json.loads(measured(config).to_json())["measure"].get("warm-up", "steady") == ends
    assert measured(config).warm_up() == ends


def test_limit_ends_a_run_that_does_not_become_steady(cli: Cli, filling: Path) -> None:
    done = cli("run", filling, "--until-steady", "--steady-limit", "12000", "--json", "r.json")
    assert done.returncode == 0, done.stderr
    assert "not steady after 12,000 requests" in done.stderr
    assert "NOT STEADY" in done.stdout
    document = json.loads((filling.parent / "r.json").read_text())
    assert document["configuration"]["workload"]["requests"] == document["requests"] == 12_000


def test_the_last_run_has_all_requests_that_the_limit_leaves_beside_the_warm_up() -> None:
    config = measured(configuration.load({**tomllib.loads(FILLING), "precondition": {"kind": "random"}}))
    warm_up, tries = 1_000, []

    def attempt(config: Config) -> dict[str, Any]:
        requests = json.loads(config.to_json())["workload"]["requests"]
        tries.append(requests)
        return {
            "requests": warm_up + requests,
            "streams": [{"name": "", "requests": requests}],
            "measured": {},
            "interrupted": False,
            "steadiness": {"steady": False, "reasons": ["drift"], "requests_needed": None},
            "warm_up": {"how": "steady"},
        }

    settled(config, UntilSteady(limit=40_000), attempt, lambda document: document)
    assert tries == [8_000, 16_000, 32_000, 39_000]


@pytest.mark.long
def test_a_trace_that_ends_too_early_is_told_what_helps(cli: Cli, tmp_path: Path) -> None:
    rows = "".join(f"{128166372003061629 + 100 * row},x,0,Write,{4096 * row},4096,10\n" for row in range(300))
    (tmp_path / "short.csv").write_text(rows)
    drive = ("preset:venice-z-nand", "--trace", "short.csv")
    kinds = ("--vary", "fabric.kind=bus,ideal")
    alone = cli("run", *drive, "--set", "workload.requests=1000")
    assert "and the trace has 300." in " ".join(alone.stdout.split())
    assert "workload.requests" not in alone.stdout
    compared = " ".join(cli("compare", *drive, *kinds, "-o", "two.json").stdout.split())
    assert "the trace ends too early" in compared
    assert "--until-steady" not in compared
    assert cli("report", "two.json", "-o", "two.html").returncode == 0
    page = (tmp_path / "two.html").read_text()
    assert "the trace ends too early" in page
    assert "--until-steady extends" not in page
    # A run that replays only a part of the trace can be continued.
    part = cli("compare", *drive, "--set", "workload.requests=200", *kinds)
    assert "--until-steady extends the run until it is" in " ".join(part.stdout.split())


@pytest.mark.long
def test_sweep_until_steady_goes_on_where_it_was_and_is_not_mixed_with_others(cli: Cli, filling: Path) -> None:
    sweep = filling.with_name("s.toml")
    sweep.write_text('config = "filling.toml"\nseeds = 2\n[axes]\ngc.victim = ["greedy", "fifo"]\n')
    plain = cli("sweep", sweep, "--out", "out")
    assert "NO" in plain.stdout
    assert "--until-steady extends the run until it is" in " ".join(plain.stdout.split())
    folder = filling.parent / "out"
    before = {path.name for path in folder.glob("runs/*/*.json")}
    done = cli("sweep", sweep, "--out", "out", "--resume", "--until-steady")
    assert done.returncode == 0, done.stderr
    assert "NO" not in done.stdout
    after = {path for path in folder.glob("runs/*/*.json") if path.name not in before}
    assert len(after) == 4
    assert all(is_steady(json.loads(path.read_text())) for path in after)
    times = {path: path.stat().st_mtime_ns for path in after}
    again = cli("sweep", sweep, "--out", "out", "--resume", "--until-steady")
    assert again.stdout == done.stdout
    assert {path: path.stat().st_mtime_ns for path in after} == times
    # Each result equals that of a single run with the same seed.
    one = flashmesh.run(filling, overrides={"gc.victim": "fifo", "seed": 1}, until_steady=True)
    assert one.outcome() in [flashmesh.load(path).outcome() for path in after]  # type: ignore[union-attr]


def test_the_option_that_was_given_is_no_advice(cli: Cli, filling: Path, tmp_path: Path) -> None:
    limit = ("--until-steady", "--steady-limit", "12000")
    told = cli("compare", filling, "--vary", "gc.victim=greedy,fifo", *limit, "-o", "both.json").stdout
    shown = cli("show", "both.json").stdout
    assert cli("report", "both.json", "-o", "both.html").returncode == 0
    for text in (told, shown, (tmp_path / "both.html").read_text()):
        words = " ".join(text.split())
        assert "are not steady: a longer run would give other values; a larger --steady-limit extends the run." in words
        assert "--until-steady extends" not in words
    part = flashmesh.load(tmp_path / "both.json").where(gc__victim="fifo")  # type: ignore[union-attr]
    assert part.until_steady


class Stopped:
    """A control of a run, as if cancelled."""

    cancelled = True


@pytest.mark.parametrize(("second", "longest"), [(None, 8_000), (5_000, 8_000), (9_000, 9_000)])
def test_a_cancelled_run_has_its_longest_try(filling: Path, second: int | None, longest: int) -> None:
    config = configuration.load(filling)
    counts = iter([8_000, second])

    def run(config: Config) -> str:
        requests = next(counts)
        if requests is None:
            raise Cancelled
        return json.dumps(
            {
                "requests": requests,
                "streams": [{"name": "", "requests": requests}],
                "measured": {},
                "interrupted": requests == second,
                "steadiness": {"steady": False, "reasons": ["drift"], "requests_needed": None},
                "warm_up": None,
            }
        )

    task = Task(0, {}, config, check=False, until_steady=UntilSteady())
    report, of = extended(task, run, cast("Any", Stopped()))
    assert json.loads(report)["requests"] == longest
    assert json.loads(of.to_json())["workload"]["requests"] == (16_000 if longest == second else 8_000)


def known_to(*widths: float | None) -> dict[str, Any]:
    """Returns a steady result whose streams have an interval of the mean latency of this relative half-width."""

    def interval(half: float | None, value: float) -> dict[str, float] | None:
        return None if half is None else {"low": value * (1 - half), "high": value * (1 + half)}

    streams = [
        {
            "name": f"s{place}",
            "requests": 100 if half is None else 1_000,
            "latency_ps": {"all": {"mean": 1e6}},
            "confidence": {"latency_ps": {"all": {"mean": interval(half, 1e6)}}},
        }
        for place, half in enumerate(widths)
    ]
    steadiness = {"steady": True, "reasons": [], "requests_needed": None}
    return {
        "requests": 1_000 * len(widths),
        "streams": streams,
        "measured": {"streams": streams},
        "steadiness": steadiness,
    }


@pytest.mark.parametrize(
    ("widths", "uncertain"),
    [((0.5,), {}), ((0.05, 0.09), {}), ((0.05, 0.2, 0.4), {"s2": 0.4, "s1": 0.2}), ((0.05, None), {"s1": math.inf})],
)
def test_a_run_is_steady_once_each_of_several_streams_is_known(
    widths: tuple[float | None, ...], uncertain: dict[str, float]
) -> None:
    document = known_to(*widths)
    assert uncertain_streams(document) == pytest.approx(uncertain)
    assert list(uncertain_streams(document)) == list(uncertain)
    assert is_steady(document) == (not uncertain)


def test_a_run_with_a_rare_stream_goes_on_until_that_stream_is_known() -> None:
    tables = {
        "preset": "venice-z-nand",
        "geometry": {"channels": 2, "chips-per-channel": 2},
        "measure": {"warm-up": "auto"},
        "stream": {
            "often": {"workload": {"requests": 5_000, "read-share": 1.0}},
            "rare": {
                "workload": {"requests": 100, "read-share": 1.0, "interarrival": "100us", "arrivals": "exponential"},
                "replay": {"mode": "open"},
            },
        },
    }
    short = flashmesh.run(tables)
    assert short.steadiness.steady
    assert list(uncertain_streams(short.document)) == ["rare"]
    told = "All streams together are steady, but the mean latency of rare is not known"
    assert told in " ".join(shown(short).split())
    compared = flashmesh.compare(tables, vary={"fabric.kind": ["bus", "ideal"]})
    assert any(sentence.startswith(told) for sentence in compared.findings())
    long = flashmesh.run(tables, until_steady=True)
    assert long.requests > short.requests
    assert uncertain_streams(long.document) == {}


def test_a_stream_that_ends_early_does_not_keep_a_run_from_being_steady() -> None:
    document = known_to(0.05, 0.05)
    ended = document["measured"]["streams"][1]
    ended["confidence"] = None
    assert is_steady(document)
    ended["requests"] = 100
    assert uncertain_streams(document) == {"s1": math.inf}
    ended |= {"requests": 0, "latency_ps": {"all": None}}
    assert is_steady(document)


def test_streams_grow_alike_and_traces_end(tmp_path: Path) -> None:
    streams = {"a": {"workload": {"requests": 600}}, "b": {"workload": {"requests": 300}}}
    tables = {"preset": "venice-z-nand", "stream": streams, "measure": {"warm-up": "auto"}}
    found = flashmesh.run(tables, until_steady=2_000)
    a, b = (stream.requests for stream in found.streams)
    assert (a, b) == (600, 300) or (abs(a - 2 * b) <= 2 and 1_800 <= a + b <= 2_000)
    trace = tmp_path / "t.csv"
    trace.write_text("".join(f"{number * 1000} 0 {number * 8} 8 1\n" for number in range(50)))
    unit = {"workload.time-unit": "ns"}
    for end in ({}, {"replay.stop-time": "1s"}):
        found = flashmesh.run("preset:venice-z-nand", trace=trace, overrides=unit | end, until_steady=True)
        assert found.requests == 50


def test_a_job_that_ends_at_a_time_goes_on_until_it_is_steady(cli: Cli, filling: Path) -> None:
    filling.write_text(FILLING.partition("[workload]")[0])
    job = "[w]\nrw=randwrite\ndirect=1\nioengine=libaio\niodepth=16\nsize=1m\ntime_based\nruntime=50ms\n"
    (filling.parent / "job.fio").write_text(job)
    options = ("filling.toml", "--fio", "job.fio", "--set", "measure.warm-up=auto", "--json", "r.json")
    short = cli("run", *options)
    assert "NOT STEADY" in short.stdout, short.stderr
    done = cli("run", *options, "--until-steady")
    document = json.loads((filling.parent / "r.json").read_text())
    assert is_steady(document), done.stderr
    assert f"steady after {document['requests']:,} requests" in done.stderr
    # The result is that of the job with the later stop time.
    stop_ps = time_ps(document["configuration"]["replay"]["stop-time"])
    assert stop_ps >= 100e9
    (filling.parent / "job.fio").write_text(job.replace("50ms", f"{stop_ps // 10**6}us"))
    repeated = cli("run", *options)
    assert repeated.returncode == 0, repeated.stderr
    again = json.loads((filling.parent / "r.json").read_text())
    assert again["latency_ps"] == document["latency_ps"]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("run", "filling.toml", "--steady-limit", "5"), "no effect without --until-steady"),
        (("run", "filling.toml", "--until-steady", "--request-log", "l.parquet"), "exclude each other"),
        (
            ("compare", "filling.toml", "--until-steady", "--vary", "workload.requests=1,2"),
            "workload.requests is varied and decided by --until-steady",
        ),
        (
            ("compare", "filling.toml", "--until-steady", "--vary", "replay.stop-time=1ms,2ms"),
            "replay.stop-time is varied and decided by --until-steady",
        ),
    ],
)
def test_what_contradicts_it_is_refused(cli: Cli, filling: Path, arguments: tuple[str, ...], words: str) -> None:
    assert filling.exists()
    done = cli(*arguments)
    assert (done.returncode, done.stdout) == (2, "")
    assert words in done.stderr
