"""Several streams on one drive, from the command line and from Python."""

from __future__ import annotations

import json
import math
import re
from pathlib import Path
from typing import TYPE_CHECKING

import pandas as pd
import pytest

import flashmesh as fm
from conftest import SMALL_DRIVE

if TYPE_CHECKING:
    from conftest import Cli

ROOT = Path(__file__).parents[2]
FULL = f"""{SMALL_DRIVE}
[precondition]
kind = "random"
[measure]
warm-up = "steady"
"""
TWO = """
[workload]
requests = 4_000
read-share = 0.8

[stream.small]

[stream.large.workload]
request-size = "64KiB"
requests = 1_000

[stream.large.replay]
outstanding = 16
"""


@pytest.fixture
def two(tmp_path: Path) -> Path:
    """Writes a drive with two streams. Returns the path of the configuration."""
    path = tmp_path / "two.toml"
    path.write_text(TWO)
    return path


def test_summary_has_a_row_for_each_stream(cli: Cli, two: Path) -> None:
    done = cli("run", two)
    assert (done.returncode, done.stderr) == (0, "")
    assert any(line.startswith("2 streams: ") for line in done.stdout.splitlines()[:3])
    assert re.search(r"^small +4\.000k ", done.stdout, re.MULTILINE)
    assert re.search(r"^large +1\.000k ", done.stdout, re.MULTILINE)
    assert "slowdown" not in done.stdout
    assert max(map(len, done.stdout.splitlines())) <= 100


def test_run_without_streams_has_one_and_no_table(cli: Cli, config: Path) -> None:
    assert "ended at" not in cli("run", config).stdout
    document = json.loads(cli("run", config, "--json", "-").stdout)
    [host] = document["streams"]
    assert (host["name"], document["fairness"]) == ("host", None)
    for key in ("requests", "makespan_ps", "iops", "bandwidth_bytes_per_s", "latency_ps", "breakdown_ps", "workload"):
        assert host[key] == document[key]


def test_fairness_is_that_of_the_latencies_together_and_alone(cli: Cli, two: Path) -> None:
    document = json.loads(cli("run", two, "--fairness", "--json", "-").stdout)
    together = {stream["name"]: stream["latency_ps"]["all"]["mean"] for stream in document["streams"]}
    p99_together = {stream["name"]: stream["latency_ps"]["all"]["p99"] for stream in document["streams"]}
    fairness = document["fairness"]
    slowdowns = {}
    for stream in fairness["streams"]:
        assert stream["together_ps"] == together[stream["name"]]
        assert stream["together_p99_ps"] == p99_together[stream["name"]]
        assert stream["alone_ps"] < stream["alone_p99_ps"] <= stream["together_p99_ps"]
        assert math.isclose(stream["slowdown"], stream["together_ps"] / stream["alone_ps"])
        slowdowns[stream["name"]] = stream["slowdown"]
    assert list(slowdowns) == ["small", "large"]
    # A small request waits longer for a large one, relative to its time alone, than a large one for a small one.
    assert slowdowns["small"] > slowdowns["large"] > 1
    assert fairness["slowdown_max"] == slowdowns["small"]
    assert math.isclose(fairness["unfairness"], slowdowns["small"] / slowdowns["large"])
    assert math.isclose(fairness["fairness"] * fairness["unfairness"], 1)

    text = cli("run", two, "--fairness").stdout
    for stream in fairness["streams"]:
        mark = "" if stream["alone_steady"] else r"\*"
        row = rf"^{stream['name']} .* x{stream['slowdown']:.2f}{mark} .* x[\d.]+{mark}$"
        assert re.search(row, text, re.MULTILINE)
    assert (
        f"slowdown of the mean at most {slowdowns['small']:.2f} (small), unfairness {fairness['unfairness']:.2f}"
        in text
    )


def test_the_run_beside_those_for_fairness_is_the_run_on_its_own(two: Path) -> None:
    on_its_own, beside = fm.run(two), fm.run(two, fairness=True)
    assert on_its_own.streams == beside.streams
    assert on_its_own.fairness is None
    assert beside.fairness is not None
    assert beside.to_dict()["fairness"]["slowdown_max"] == beside.fairness.slowdown_max


def test_each_stream_has_intervals_around_its_figures(cli: Cli, two: Path) -> None:
    text, result = cli("run", two).stdout, fm.run(two)
    for stream in result.streams:
        of_all, confidence = stream.latency_ps.all, stream.confidence
        assert of_all is not None
        assert confidence is not None
        for interval, value in ((confidence.iops, stream.iops), (confidence.latency_ps.all.mean, of_all.mean)):
            assert interval is not None
            assert interval.low < value < interval.high
            width = f"+-{(interval.high - interval.low) / 2 / value:.1%}".replace("%", " %")
            assert re.search(rf"^{stream.name} .*\n  95 % .*{re.escape(width)}", text, re.MULTILINE), width


def test_more_streams_than_are_counted_apart_have_no_intervals() -> None:
    few, many = ({f"s{number}": fm.Stream() for number in range(count)} for count in (16, 17))
    of_few, of_many = (
        fm.run(fm.Config(workload=fm.Workload(requests=500), stream=streams)).streams for streams in (few, many)
    )
    assert all(stream.confidence is not None for stream in of_few)
    assert all(stream.confidence is None for stream in of_many)


def test_runs_alone_that_are_not_steady_are_named_and_lengthened(cli: Cli, two: Path) -> None:
    two.write_text(f"{FULL}{TWO}")
    few = ("--set", "workload.requests=300", "--set", "stream.large.workload.requests=300")
    short = " ".join(cli("run", two, *few, "--fairness").stdout.split())
    assert "The runs of small, large alone are not steady: their slowdowns may change" in short
    compared = cli("compare", two, *few, "--vary", "fabric.kind=bus,ideal", "--fairness").stdout
    assert "alone are not steady: their slowdowns may change" in " ".join(compared.split())
    document = json.loads(cli("run", two, *few, "--fairness", "--until-steady", "--json", "-").stdout)
    assert [stream["alone_steady"] for stream in document["fairness"]["streams"]] == [True, True]
    swept = ("compare", two, *few, "--vary", "seed=0", "--fairness", "--until-steady", "--json", "-")
    [run] = json.loads(cli(*swept).stdout)["runs"]
    assert run["result"]["fairness"] == document["fairness"]


def test_a_single_stream_is_as_fast_as_alone() -> None:
    result = fm.run("preset:venice-z-nand", overrides={"workload.requests": 500}, fairness=True)
    assert result.fairness is not None
    assert (result.fairness.slowdown_max, result.fairness.unfairness) == (1.0, 1.0)


def test_log_of_requests_names_the_streams(cli: Cli, two: Path, tmp_path: Path) -> None:
    assert cli("run", two, "--fairness", "--request-log", "log.parquet").returncode == 0
    log = pd.read_parquet(tmp_path / "log.parquet")
    assert log.groupby("stream_name", observed=True).size().to_dict() == {"small": 4_000, "large": 1_000}
    assert set(log[log["stream_name"] == "large"]["size_bytes"]) == {65_536}


def test_streams_are_typed_parameters_by_name() -> None:
    config = fm.Config(
        workload=fm.Workload(requests=300),
        stream={
            "a_1": fm.Stream(),
            "b": fm.Stream(workload=fm.Workload(requests=200), queue=fm.Queue(namespace="n-2")),
        },
        namespace={"n-1": fm.Namespace(capacity="1GiB"), "n-2": fm.Namespace(capacity="2GiB", channels=[0, 1], dies=0)},
    )
    result = fm.run(config)
    assert [(stream.name, stream.requests) for stream in result.streams] == [("a_1", 300), ("b", 200)]
    assert result.parameters["namespace"]["n-2"] == {"capacity": "2GiB", "channels": "0-1", "dies": "0"}
    assert list(result.parameters["stream"]) == ["a_1", "b"]


def test_streams_can_be_made_up_and_varied_on_the_command_line(cli: Cli, two: Path) -> None:
    made_up = ("--set", "stream.a.workload.requests=100", "--set", "stream.b.workload.requests=200")
    document = json.loads(cli("run", "preset:venice-z-nand", *made_up, "--json", "-").stdout)
    assert [stream["requests"] for stream in document["streams"]] == [100, 200]
    done = cli("compare", two, "--vary", "stream.large.replay.outstanding=1,8", "--json", "-")
    runs = json.loads(done.stdout)["runs"]
    assert [run["settings"] for run in runs] == [{"stream.large.replay.outstanding": value} for value in (1, 8)]


def test_a_file_names_its_streams_and_namespaces(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "drive.toml").write_text('preset = "venice-z-nand"\n[workload]\nrequests = 100\n')
    for key in ("stream.x.replay.outstanding=3", "namespace.x.capacity=4KiB"):
        done = cli("run", "drive.toml", "--set", key)
        assert (done.returncode, done.stdout) == (2, "")
        assert f"there is no {key.split('.')[0]} `x`" in done.stderr


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--set", "stream.smal.replay.outstanding=4"), "did you mean `small`?"),
        (("--set", "stream.small.replay.outstandin=4"), "did you mean `outstanding`?"),
        (("--set", "stream.small.queue.namespace=x"), "there is no namespace `x`"),
        (("--set", "stream.small.replay.threads=4"), "stream.small.replay.threads has no effect"),
    ],
)
def test_what_is_wrong_with_a_stream_is_said(cli: Cli, two: Path, arguments: tuple[str, ...], words: str) -> None:
    done = cli("run", two, *arguments)
    assert done.returncode == 2
    assert words in done.stderr


def test_the_trace_of_a_stream_is_not_overwritten(cli: Cli, tmp_path: Path) -> None:
    trace = tmp_path / "a.ascii"
    trace.write_text("0 0 0 8 1\n1000 0 64 8 1\n")
    streams = '[stream.a]\n[stream.b.workload]\ntrace = "a.ascii"\ntime-unit = "ns"\n'
    (tmp_path / "drive.toml").write_text(streams)
    done = cli("run", "drive.toml", "--json", "a.ascii")
    assert done.returncode == 2
    assert "the same file" in done.stderr
    done = cli("run", "drive.toml", "--set", "stream.a.workload.requests=10", "--json", "-")
    assert [stream["requests"] for stream in json.loads(done.stdout)["streams"]] == [10, 2]
    done = cli("run", "drive.toml", "--trace", "a.ascii", "--set", "stream.a.workload.time-unit=ns", "--quiet")
    assert done.returncode == 0, f"stream a has no source of its own: {done.stderr}"


def test_the_example_runs(cli: Cli) -> None:
    done = cli("run", ROOT / "examples" / "two-streams.toml", "--set", "stream.backup.workload.requests=100")
    assert done.returncode == 0
    assert re.search(r"^oltp ", done.stdout, re.MULTILINE)
