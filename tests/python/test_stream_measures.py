"""Measures of single streams, `streams.NAME.MEASURE`, wherever measures are named and shown."""

from __future__ import annotations

import io
import re
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import flashmesh as fm
from flashmesh.aggregate.table import ComparedRuns, SavedRuns
from flashmesh.comparison import ComparedRun, Comparison
from flashmesh.report.comparison import show
from flashmesh.report.measures.chart_spec import read_chart, select
from flashmesh.report.measures.measure import measure_named
from flashmesh.report.tables.view import Choice, View
from flashmesh.report.terminal import Terminal

if TYPE_CHECKING:
    from collections.abc import Sequence

    from conftest import Cli

TWO = """
[workload]
requests = 400
read-share = 0.8

[stream.small]

[stream.large.workload]
request-size = "64KiB"
requests = 100
"""
DEPTHS = {"replay.outstanding": [1, 4]}
MEASURES = ("IOPS", "bandwidth", "mean", "p50", "p99.999", "read p99", "write p99.9", "slowdown")


@pytest.fixture(scope="module")
def two(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Writes a drive with two streams. Returns the path of the configuration."""
    path = tmp_path_factory.mktemp("streams") / "two.toml"
    path.write_text(TWO)
    return path


@pytest.fixture(scope="module")
def compared(two: Path) -> Comparison:
    """Returns a comparison of two drives with two streams, with the slowdowns."""
    return fm.compare(two, vary=DEPTHS, fairness=True)


@pytest.fixture(scope="module")
def many() -> Comparison:
    """Returns a comparison with 18 streams, too many for columns or groups of their own."""
    streams = {f"s{number}": fm.Stream() for number in range(18)}
    result = fm.run(fm.Config(workload=fm.Workload(requests=30), stream=streams))
    return Comparison({"seed": (1,)}, (ComparedRun({"seed": 1}, result),))


def printed(comparison: Comparison, measures: Sequence[str] = (), choice: Choice | None = None) -> str:
    """Returns a comparison as text, as `flashmesh compare` prints it."""
    stream = io.StringIO()
    show(ComparedRuns(comparison), Terminal(stream), measures, choice=choice)
    return stream.getvalue()


def test_measures_of_a_stream_are_those_of_its_list_in_the_result(compared: Comparison) -> None:
    for run in compared:
        assert run.result.fairness is not None
        for stream, slowed in zip(run.result.streams, run.result.fairness.streams, strict=True):
            of_all, of_reads = stream.latency_ps.all, stream.latency_ps.read
            assert of_all is not None
            assert of_reads is not None
            named = {
                "IOPS": stream.iops,
                "bandwidth": stream.bandwidth_bytes_per_s,
                "mean": of_all.mean,
                "p99.999": of_all.p99_999,
                "read p99": of_reads.p99,
                "slowdown": slowed.slowdown,
                "requests": stream.requests,
                "latency_ps.all.p99": of_all.p99,
            }
            assert {name: run.result.value(f"streams.{stream.name}.{name}") for name in named} == named


def test_measures_of_a_stream_are_over_the_measured_window(two: Path) -> None:
    window = {"measure.warm-up": "requests", "measure.warm-up-requests": 200}
    result = fm.run(two, overrides=window)
    assert result.measured is not None
    inside, whole = result.measured.streams[0], result.streams[0]
    assert result.value("streams.small.IOPS") == inside.iops != whole.iops
    assert inside.latency_ps.all is not None
    assert result.value("streams.small.p99") == inside.latency_ps.all.p99
    assert result.value("streams.small.iops") == whole.iops
    assert result.value("measured.streams.small.iops") == inside.iops


def test_a_stream_without_requests_in_the_window_has_no_latency_there(two: Path) -> None:
    result = fm.run(two, overrides={"measure.warm-up": "requests", "measure.warm-up-requests": 480})
    document = result.to_dict()
    assert document["measured"] is not None
    document["measured"]["streams"][0]["latency_ps"]["all"] = None
    assert document["streams"][0]["latency_ps"]["all"] is not None
    assert fm.Result.from_document(document).value("streams.small.p99") is None


def test_compare_prints_a_grid_of_a_stream(cli: Cli, two: Path) -> None:
    options = ("--vary", "replay.outstanding=1,4", "--fairness", "--json", "out.json")
    done = cli("compare", two, *options, "--measure", "streams.large.read p99", "--measure", "streams.large.slowdown")
    assert done.returncode == 0, done.stderr
    shown = cli("show", "out.json", "--measure", "streams.large.read p99", "--measure", "streams.large.slowdown")
    assert shown.stdout == done.stdout
    assert re.search(
        r"^replay.outstanding +streams.large.read p99 +95 %\n-+\n1 +[\d.]+ us +\?\n4 +[\d.]+ us +\?$", done.stdout, re.M
    )


def test_compare_refuses_an_unknown_stream_before_any_run(cli: Cli, two: Path, tmp_path: Path) -> None:
    done = cli("compare", two, "--vary", "seed=1,2", "--measure", "streams.smal.p99", "--json", "out.json")
    assert (done.returncode, done.stdout) == (2, "")
    assert "streams.smal.p99: there is no stream 'smal'; the streams are " in done.stderr
    assert "small" in done.stderr.partition("the streams are")[2]
    assert not (tmp_path / "out.json").exists()


def test_an_unknown_stream_is_refused_wherever_it_is_named(compared: Comparison) -> None:
    told = "there is no stream 'reader'; the streams are small, large"
    name = "streams.reader.p99"
    table = ComparedRuns(compared)
    for refused in (
        lambda: compared[0].result.value(name),
        lambda: compared[0].result.text(name),
        lambda: compared.estimates(name),
        lambda: compared.means(name, "replay.outstanding=1"),
        lambda: printed(compared, [name]),
        lambda: printed(compared, choice=Choice(sort=measure_named(name))),
        lambda: select(read_chart(f"{name} over replay.outstanding"), table),
    ):
        with pytest.raises(fm.ConfigError, match=re.escape(told)):
            refused()


def test_search_and_question_refuse_an_unknown_stream_before_any_run(two: Path, tmp_path: Path) -> None:
    told = re.escape("there is no stream 'reader'; the streams are small, large")
    with pytest.raises(fm.ConfigError, match=told):
        fm.ask(two, measures=["streams.reader.p99"])
    (tmp_path / "search.toml").write_text(
        f'config = "{two}"\ntrials = 2\n[space]\n"replay.outstanding" = [1, 4]\n'
        '[objectives]\n"streams.reader.p99" = "minimise"\n'
    )
    with pytest.raises(fm.ConfigError, match=told):
        fm.optimise(tmp_path / "search.toml", tmp_path / "out")
    assert not (tmp_path / "out").exists()


SLOWDOWNS = ("streams.small.slowdown", "max slowdown", "unfairness", "fairness.unfairness")


@pytest.mark.parametrize("name", SLOWDOWNS)
def test_slowdowns_are_refused_where_no_stream_runs_alone(two: Path, tmp_path: Path, name: str) -> None:
    with pytest.raises(fm.ConfigError, match=r"flashmesh compare --fairness measures it, ask does not"):
        fm.ask(two, measures=[name])
    (tmp_path / "search.toml").write_text(
        f'config = "{two}"\ntrials = 2\n[space]\n"replay.outstanding" = [1, 4]\n[objectives]\n"{name}" = "minimise"\n'
    )
    with pytest.raises(fm.ConfigError, match=r"flashmesh compare --fairness measures it, optimise does not"):
        fm.optimise(tmp_path / "search.toml", tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_slowdowns_that_were_not_measured_are_refused_with_the_option(cli: Cli, two: Path) -> None:
    done = cli("compare", two, "--vary", "replay.outstanding=1,4", "--measure", "unfairness", "--json", "c.json")
    assert (done.returncode, done.stdout) == (2, "")
    assert "unfairness needs a run of each stream alone: add --fairness" in done.stderr
    assert cli("run", two, "--json", "r.json").returncode == 0
    assert cli("compare", two, "--vary", "replay.outstanding=1,4", "--json", "c.json").returncode == 0
    for arguments in (("c.json", "--measure"), ("c.json", "--sort"), ("r.json", "--measure")):
        shown = cli("show", *arguments, "streams.small.slowdown")
        assert (shown.returncode, shown.stdout) == (2, ""), arguments
        assert "no run has measured it; run several streams with --fairness" in shown.stderr
    asked = ("--fairness", "--measure", "max slowdown", "--json", "c.json")
    assert cli("compare", two, "--vary", "replay.outstanding=1,4", *asked).returncode == 0
    shown = cli("show", "c.json", "--measure", "streams.small.slowdown")
    assert (shown.returncode, shown.stderr) == (0, "")


def test_a_run_without_the_stream_has_no_value(compared: Comparison) -> None:
    lone = fm.run("preset:venice-z-nand", overrides={"workload.requests": 100})
    both = Comparison({"seed": (1, 2)}, (ComparedRun({"seed": 1}, lone), ComparedRun({"seed": 2}, compared[0].result)))
    name = "streams.small.IOPS"
    assert both.estimates(name)[0][0] == {"seed": 2}
    assert len(both.estimates(name)) == 1
    text = printed(both, [name])
    assert re.search(r"^1 +-( |$)", text, re.MULTILINE)
    assert re.search(r"^2 +[\d.]+k", text, re.MULTILINE)


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("streams.small", "measures of a stream are streams.NAME.MEASURE"),
        ("streams.", "measures of a stream are streams.NAME.MEASURE"),
        ("streams.small.p9", "did you mean 'p99'?"),
        ("streams.small.wires", "there is no measure 'wires' of a stream: a stream has IOPS, bandwidth, mean"),
        ("measured.streams.small.p99", "there is no measure 'p99' of a stream"),
    ],
)
def test_a_name_that_is_no_measure_of_a_stream_is_refused(name: str, told: str) -> None:
    with pytest.raises(fm.ConfigError, match=re.escape(told)):
        measure_named(name)


def test_default_table_has_a_group_for_each_stream_after_the_other_rows(compared: Comparison) -> None:
    lines = printed(compared).splitlines()
    start = lines.index("stream small")
    assert start > next(number for number, line in enumerate(lines) if line.startswith("area beside chips"))
    names = [line.split("  ")[0] or line.split()[0] for line in lines[start : start + 10]]
    assert names == [
        "stream small",
        "IOPS",
        "mean",
        "p99",
        "slowdown",
        "stream large",
        "IOPS",
        "mean",
        "p99",
        "slowdown",
    ]
    shown = lines[start + 3].split()
    texts = [run.result.text("streams.small.p99") for run in compared]
    assert all(text in " ".join(shown) for text in texts)


def test_default_table_names_the_stream_with_the_largest_slowdown(compared: Comparison) -> None:
    lines = printed(compared).splitlines()
    row = next(number for number, line in enumerate(lines) if line.startswith("max slowdown"))
    names = []
    for run in compared:
        assert run.result.fairness is not None
        slowed = max(run.result.fairness.streams, key=lambda stream: stream.slowdown or 0)
        names.append(slowed.name)
    assert lines[row + 1].split() == ["of", "the", "stream", *names]


def test_a_table_with_a_row_for_each_point_has_a_table_for_each_stream(two: Path) -> None:
    found = fm.compare(two, vary={"replay.outstanding": [1, 2, 3, 4, 5]}, overrides={"workload.requests": 100})
    blocks = [block.splitlines() for block in printed(found).split("\n\n")]
    of_small = [block for block in blocks if block[0] == "stream small"]
    assert of_small
    assert all(len(block) == 8 for block in of_small)
    assert "slowdown" not in "".join(block[1] for block in of_small)


def test_tables_show_the_first_six_of_many_streams_and_count_the_others(many: Comparison) -> None:
    text = printed(many)
    assert re.findall(r"^stream (\w+)$", text, re.MULTILINE) == [f"s{number}" for number in range(6)]
    assert "12 more streams are not shown" in text
    assert "more streams" not in printed(many, ["streams.s17.p99"])


def test_tables_of_drives_with_one_stream_have_no_groups() -> None:
    lone = fm.run("preset:venice-z-nand", overrides={"workload.requests": 100})
    text = printed(Comparison({"seed": (1,)}, (ComparedRun({"seed": 1}, lone),)))
    assert "stream" not in text


def test_intervals_of_a_stream_are_those_of_its_batch_means(two: Path) -> None:
    result = fm.run(two, overrides={"workload.requests": 4_000, "stream.large.workload.requests": 1_000})
    confidence = result.streams[0].confidence
    assert confidence is not None
    assert confidence.iops is not None
    table = ComparedRuns(Comparison({"seed": (1,)}, (ComparedRun({"seed": 1}, result),)))
    view = View(table)
    found = view.estimate(measure_named("streams.small.IOPS"), view.points[0])
    assert found is not None
    assert (found.low, found.high, found.method) == (confidence.iops.low, confidence.iops.high, "batches")


def test_frames_and_files_have_the_same_columns_of_streams(compared: Comparison, tmp_path: Path) -> None:
    compared.to_parquet(tmp_path / "runs.parquet")
    saved, frame = SavedRuns(tmp_path / "runs.parquet"), compared.frame()
    keys = [
        "streams.small.iops",
        "streams.large.latency_ps.read.p99",
        "streams.large.read_bytes",
        "fairness.streams.small.slowdown",
    ]
    assert saved.has_columns(keys)
    assert [list(frame[key]) for key in keys] == saved.columns(keys) == ComparedRuns(compared).columns(keys)
    heading = compared.to_csv().splitlines()[0].split(",")
    assert set(keys) <= set(heading)
    # Nothing is measured without a warm-up, so these columns are empty: tables have them, CSV leaves them out.
    assert saved.has_columns(["measured.streams.small.iops"])
    assert saved.columns(["measured.streams.small.iops"]) == [[None, None]]
    assert "measured.streams.small.iops" not in heading


def test_saved_runs_are_read_by_column_for_each_measure_of_a_stream(compared: Comparison, tmp_path: Path) -> None:
    compared.to_parquet(tmp_path / "runs.parquet")
    saved = SavedRuns(tmp_path / "runs.parquet")
    for measure in (measure_named(f"streams.small.{name}") for name in MEASURES):
        assert saved.has_columns(measure.keys), measure.name
        assert saved.values([measure]) == ComparedRuns(compared).values([measure])


def test_streams_beyond_those_with_columns_are_read_from_the_results(many: Comparison, tmp_path: Path) -> None:
    many.to_parquet(tmp_path / "runs.parquet")
    saved, measure = SavedRuns(tmp_path / "runs.parquet"), measure_named("streams.s17.p99")
    assert saved.has_columns(["streams.s15.iops"])
    assert not saved.has_columns(["streams.s16.iops"])
    assert saved.values([measure]) == [[many[0].result.value("streams.s17.p99")]] != [[None]]


def test_list_of_measures_says_how_those_of_a_stream_are_named(cli: Cli) -> None:
    assert "streams.NAME.MEASURE" in cli("measures").stdout
