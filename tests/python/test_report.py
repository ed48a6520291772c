"""Numbers and reports as text."""

from __future__ import annotations

import io
import json
import re
from typing import get_args, get_type_hints

import pytest
from rich.table import Table
from rich.text import Text

import flashmesh
from flashmesh._parameters import PreconditionKind
from flashmesh.aggregate.estimate import Estimate
from flashmesh.aggregate.table import ComparedRuns
from flashmesh.cli.options.parameters import split
from flashmesh.comparing.axes import Value
from flashmesh.html import head
from flashmesh.plots.runs import run_of
from flashmesh.report import comparison as comparison_report
from flashmesh.report import quantities as q
from flashmesh.report import summary
from flashmesh.report.measures.measure import MEASURES
from flashmesh.report.sections import headline
from flashmesh.report.sections.utilisation import by_row
from flashmesh.report.tables.view import Choice
from flashmesh.report.terminal import Terminal
from flashmesh.results import ConfidenceInterval, LowerBound, Result
from long_cases import in_part


class FakeTerminal(io.StringIO):
    """A terminal that stores its output."""

    encoding = "utf-8"

    def isatty(self) -> bool:
        return True


def shown(result: flashmesh.Result, stream: io.StringIO) -> str:
    summary.show(result, Terminal(stream))
    return stream.getvalue()


@pytest.fixture
def result() -> flashmesh.Result:
    return flashmesh.run("preset:venice-z-nand", overrides={"workload.requests": 1_000, "workload.read-share": 0.5})


@pytest.mark.parametrize("kind", get_args(PreconditionKind))
def test_every_state_of_a_drive_has_its_words(kind: str) -> None:
    overrides = {"workload.requests": 100, "precondition.kind": kind, "geometry.chips-per-channel": 1}
    result = flashmesh.run("preset:venice-z-nand", overrides=overrides)
    assert headline.STATES[kind] in shown(result, io.StringIO()).replace("\n", " ")
    run = run_of(result)
    assert dict(head.facts([run]))["State"].endswith(head.STATES[kind])


def test_an_asymmetric_interval_is_one_text_in_summaries_and_comparisons() -> None:
    of = ConfidenceInterval(low=9.0, high=14.0)
    assert headline.interval_text(of, 10.0) == Estimate(10.0, 9.0, 14.0, 1, "batches").spread_text == "-10 % +40 %"
    assert headline.interval_text(ConfidenceInterval(low=9.5, high=10.5), 10.0) == "+-5.0 %"
    assert headline.interval_text(ConfidenceInterval(low=9.0, high=11.5), 10.0) == "+-12.5 %"
    assert headline.interval_text(None, 10.0) == ""


@pytest.mark.parametrize(
    ("picoseconds", "text"),
    [
        (None, "-"),
        (0, "0"),
        (1, "1.000 ps"),
        (999, "999.0 ps"),
        (999_999, "1.000 us"),
        (3_000_000, "3.000 us"),
        (12_345_678, "12.35 us"),
        (444_100_000_000, "444.1 ms"),
        (7_200_000_000_000_000, "7,200 s"),
    ],
)
def test_times_have_four_digits_and_one_unit(picoseconds: float | None, text: str) -> None:
    assert q.time(picoseconds) == text


@pytest.mark.parametrize(
    ("rate", "text"), [(0.0, "0.000 B/s"), (9_570_000_000.0, "9.570 GB/s"), (999_960_000.0, "1.000 GB/s")]
)
def test_bandwidth_is_in_powers_of_ten(rate: float, text: str) -> None:
    assert q.bandwidth(rate) == text


@pytest.mark.parametrize(
    ("joules", "text"),
    [(None, "-"), (0.0, "0 J"), (1.5, "1.500 J"), (0.0123, "12.30 mJ"), (4.5e-8, "45.00 nJ"), (2500.0, "2.500 kJ")],
)
def test_energies_have_a_prefix(joules: float | None, text: str) -> None:
    assert q.energy(joules) == text


@pytest.mark.parametrize(
    ("value", "reference", "text"), [(2.0, 1.0, "x2.00"), (1.0, 20.0, "x0.05"), (None, 1.0, "-"), (1.0, 0.0, "-")]
)
def test_ratios_are_texts(value: float | None, reference: float | None, text: str) -> None:
    assert q.ratio(value, reference) == text


def test_commas_inside_brackets_and_quotes_stay() -> None:
    assert split('bus, ideal,"a,b",[["4KiB", 0.7], ["8KiB", 0.3]]') == [
        "bus",
        "ideal",
        '"a,b"',
        '[["4KiB", 0.7], ["8KiB", 0.3]]',
    ]


def test_run_without_a_single_request_prints_sane_figures(result: flashmesh.Result) -> None:
    document = result.to_dict()
    document |= {"requests": 0, "makespan_ps": 0, "iops": 0.0, "bandwidth_bytes_per_s": 0.0, "interrupted": True}
    document["latency_ps"] = dict.fromkeys(("all", "read", "write", "flush"))
    nothing = dict.fromkeys(("mean", "tail"))
    document["breakdown_ps"] = nothing | {"read": nothing, "write": nothing}
    document["path_conflict"] |= {"requests_free_share": None, "transfers_free_share": None}
    document |= {"write_amplification": None, "peak_rss_bytes": None, "wall_s": 0.0, "requests_per_wall_s": 0.0}
    empty = flashmesh.Result.from_json(json.dumps(document), result.config)
    text = shown(empty, io.StringIO())
    assert "Interrupted" in text
    assert not re.search(r"(?<!-)\b(nan|inf)\b", text)
    assert len(empty.frame()) == 1


def test_every_channel_and_die_is_shown(result: flashmesh.Result) -> None:
    text = shown(result, io.StringIO())
    rows = [line.split() for line in text.split("each of its dies")[1].splitlines()[2:10]]
    assert [row[0] for row in rows] == [str(channel) for channel in range(8)]
    assert all(len(row[-1]) == 8 for row in rows)


@pytest.mark.parametrize("fabric", ["pnssd", "nossd", "venice"])
def test_rows_that_share_links_with_others_are_shown_with_their_dies(fabric: str) -> None:
    small = {"workload.requests": 1_000, "fabric.kind": fabric}
    result = flashmesh.run("preset:venice-z-nand", overrides=small)
    heading, _, *rows = shown(result, io.StringIO()).split("\nrow ")[1].splitlines()[:10]
    assert heading.split()[:2] == ["its", "dies"]
    dies = by_row(result.utilisation.dies, 8)
    assert [row.split()[1] for row in rows] == [q.share(sum(row) / len(row)).split()[0] for row in dies]


def test_every_part_that_may_bound_a_run_has_words() -> None:
    assert set(summary.LIMITS) == set(get_args(get_type_hints(LowerBound)["limit"]))


def test_scouts_of_venice_are_shown_with_the_mean_length_of_their_circuits(result: flashmesh.Result) -> None:
    document = result.to_dict()
    lengths = [0, 0, 1, 0, 3]
    document["scouts"] = {"sent": 7, "failed": 3, "failed_first": 2, "steps": 40, "misroutes": 2, "backtracks": 9}
    document["scouts"]["circuit_lengths"] = lengths
    text = shown(flashmesh.Result.from_json(json.dumps(document), result.config), io.StringIO())
    assert re.search(r"^scouts +7 sent, 3 failed$", text, re.MULTILINE)
    assert re.search(r"^  their steps +40, of them 2 misroutes, 9 backtracks$", text, re.MULTILINE)
    assert re.search(r"^  their circuits +4, 3\.50 links long on average$", text, re.MULTILINE)
    assert "scouts" not in shown(result, io.StringIO())


def test_latency_has_a_row_for_each_kind_of_request_there_was(result: flashmesh.Result) -> None:
    settings = {"workload.requests": 900, "workload.read-share": 0.0, "workload.flush-share": 0.5}
    flushed = flashmesh.run("preset:venice-z-nand", overrides=settings)
    text = shown(flushed, io.StringIO()).split("\nWhy\n")[0]
    rows = re.findall(r"^(\w+) \((\d+)\) ", text, re.MULTILINE)
    assert [kind for kind, _ in rows] == ["all", "write", "flush"]
    counts = {kind: int(count) for kind, count in rows}
    assert counts["all"] == 900 == counts["write"] + counts["flush"]
    assert "flush (" not in shown(result, io.StringIO())


def test_what_the_cache_of_the_map_did_is_told(result: flashmesh.Result) -> None:
    settings = {"workload.requests": 5_000, "workload.read-share": 0.5, "mapping.cache-capacity": "16KiB"}
    mapped = flashmesh.run("preset:venice-z-nand", overrides=settings)
    cache = mapped.mapping_cache
    assert cache is not None
    assert cache.hit_share is not None
    assert cache.evictions > 0
    text = shown(mapped, io.StringIO())
    assert re.search(rf"^mapping cache +{cache.entries:,} entries, {q.share(cache.hit_share)} of ", text, re.MULTILINE)
    missed = rf"^  misses +{cache.misses:,} read, {cache.joined_misses:,} joined a pending read$"
    assert re.search(missed, text, re.MULTILINE)
    pages = f"{mapped.flash.map_reads:,} reads, {mapped.flash.map_programs:,} programs; "
    assert re.search(rf"^  translation pages +{pages}\d+ of their blocks collected$", text, re.MULTILINE)
    assert f"{cache.evictions:,} entries; {cache.write_backs:,} pages written back" in text
    assert "mapping cache" not in shown(result, io.StringIO())


@pytest.mark.parametrize(
    ("setting", "part"), [("mapping.cache-capacity", "waiting for the map"), ("cache.capacity", "device cache")]
)
def test_latency_goes_only_where_the_drive_has_a_part(result: flashmesh.Result, setting: str, part: str) -> None:
    parts = shown(result, io.StringIO()).split("where latency goes")[1].split("\n\n")[0]
    assert part not in parts
    other = flashmesh.run("preset:venice-z-nand", overrides={"workload.requests": 1_000, setting: "1MiB"})
    assert part in shown(other, io.StringIO()).split("where latency goes")[1].split("\n\n")[0]


def test_terminal_gets_colour_and_blocks_and_a_pipe_neither(
    result: flashmesh.Result, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.delenv("NO_COLOR", raising=False)
    on_terminal = shown(result, FakeTerminal())
    assert "\x1b[" in on_terminal
    assert "█" in on_terminal
    piped = shown(result, io.StringIO())
    assert piped.isascii()
    assert "\x1b" not in piped


@pytest.mark.parametrize("width", range(24, 80, 3))
def test_no_line_ends_between_a_number_and_its_unit(width: int) -> None:
    sentence = "latency rises, 37 % of it behind garbage collection; die 7 is the busiest part, at 82 % after 1.67 ms"
    styled = Text(sentence)
    styled.stylize("bold", sentence.index("82"), sentence.index(" after"))
    cells = Table.grid()
    cells.add_row(sentence)
    for part in (sentence, styled, cells):
        stream = io.StringIO()
        Terminal(stream, width).print(part)
        lines = stream.getvalue().splitlines()
        assert " ".join(lines) == sentence
        assert len(lines) == 1 or max(map(len, lines)) <= width
        assert not any(line.split()[0] in ("%", "ms") for line in lines)
    # Printing has not changed the text itself, such as the spaces between numbers and units.
    assert str(styled) == sentence


def compared(result: flashmesh.Result, key: str, values: list[Value], stream: io.StringIO) -> str:
    steady = {"steadiness": result.document["steadiness"] | {"steady": True}}
    results = [Result.from_document(result.document | steady | {"config_hash": str(value)}) for value in values]
    runs = tuple(flashmesh.ComparedRun({key: value}, each) for value, each in zip(values, results, strict=True))
    comparison = flashmesh.Comparison({key: tuple(values)}, runs)
    comparison_report.show(ComparedRuns(comparison), Terminal(stream), choice=Choice(rows=None))
    return stream.getvalue()


@pytest.mark.parametrize("width", [30, 60, 100, 160])
@pytest.mark.parametrize("runs", in_part(8, [1, 2, 3, 4, 9]))
def test_comparison_never_cuts_a_number_or_a_label(
    result: flashmesh.Result, monkeypatch: pytest.MonkeyPatch, width: int, runs: int
) -> None:
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", str(width))
    names: list[Value] = [f"a-value-with-a-long-name-{number}" for number in range(runs)]
    text = re.sub(r"\x1b\[[0-9;]*m", "", compared(result, "some.key", names, FakeTerminal()))
    lines = text.splitlines()
    for name in names:
        assert str(name) in text
    for measure in MEASURES:
        if measure.name in comparison_report.KEY_MEASURES:
            assert measure.name in text
            assert text.count(measure.text(measure.value(result))) >= runs
    ratios = {word for word in text.split() if word.startswith("x")}
    assert ratios == {"x1.00"} or (runs == 1 and not ratios)
    if width >= 60:
        assert max(map(len, lines)) <= width


def test_long_paths_of_traces_are_shown_by_their_names_while_these_differ(result: flashmesh.Result) -> None:
    long = "/a/folder/far/away/from/here"
    text = compared(result, "workload.trace", [f"{long}/one.csv", f"{long}/two.csv"], io.StringIO())
    assert ".../one.csv" in text
    assert long not in text
    assert text.isascii()
    same = compared(result, "workload.trace", [f"{long}/one.csv", f"{long}/b/one.csv"], io.StringIO())
    assert f"{long}/b/one.csv" in same


@pytest.mark.parametrize(
    ("value", "text"),
    [(3, "3"), (47.29, "47.29"), (0.0239, "0.024"), (999, "999"), (13_780, "13.78k"), (2e6, "2.000M")],
)
def test_counts_are_whole_and_small_rates_keep_their_decimals(value: float, text: str) -> None:
    assert q.scaled(value) == text


def test_a_kind_of_request_that_starves_is_told() -> None:
    overrides: dict[str, Value] = {
        "geometry.channels": 1,
        "geometry.chips-per-channel": 1,
        "workload.requests": 5_000,
        "workload.read-share": 0.95,
        "replay.outstanding": 32,
        "schedule.age-bound": "1ms",
    }
    bounded = flashmesh.run("preset:venice-z-nand", overrides=overrides)
    programs = bounded.flash.overdue_programs
    assert 0 < programs <= bounded.flash.user_programs
    text = shown(bounded, io.StringIO())
    assert re.search(rf"starving writes +{q.count(programs)} operations had waited for 1ms", text)
    unbounded = flashmesh.run("preset:venice-z-nand", overrides=overrides | {"schedule.age-bound": "1000s"})
    assert (unbounded.flash.overdue_programs, unbounded.flash.overdue_reads) == (0, 0)
    assert "starving" not in shown(unbounded, io.StringIO())
    assert bounded.latency_ps.write is not None
    assert unbounded.latency_ps.write is not None
    assert bounded.latency_ps.write.max < unbounded.latency_ps.write.max
    # With an age bound of zero every operation is overdue, so the report does not mention starvation.
    impatient = flashmesh.run("preset:venice-z-nand", overrides=overrides | {"schedule.age-bound": "0s"})
    assert impatient.flash.overdue_programs > 0
    assert "starving" not in shown(impatient, io.StringIO())


def test_a_summary_tells_the_time_of_the_chips_and_the_work_of_a_request_where_they_are_recorded(
    result: flashmesh.Result,
) -> None:
    assert "time of a chip" not in shown(result, io.StringIO())
    overrides = {"workload.requests": 1_000, "workload.read-share": 0.5, "workload.request-size": "1KiB"}
    overrides["precondition.kind"] = "sequential"
    recorded = flashmesh.run("preset:venice-z-nand", overrides={**overrides, "measure.chip-states": True})
    text = " ".join(shown(recorded, io.StringIO()).split())
    assert recorded.chip_states is not None
    assert recorded.per_request is not None
    assert f"time of a chip {q.share(recorded.chip_states.exclusive_transfer)} moving data alone" in text
    assert f"{recorded.per_request.reads:.2f} array reads, {recorded.per_request.programs:.2f} programs" in text
    assert f"{q.share(recorded.per_request.partial_update_share)} of the pages written update a part" in text
