"""`flashmesh ask`: the changes that help most."""

from __future__ import annotations

import io
import json
import re
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import flashmesh
from conftest import Cli
from flashmesh.aggregate.estimate import Estimate, estimate, ratio_of
from flashmesh.asking import engine
from flashmesh.asking.answer import Answer, Effect, Row, is_higher_better
from flashmesh.asking.causes import Cause, cause_of, inside, subject_of
from flashmesh.asking.changes import Change, changes_of
from flashmesh.configuration import load
from flashmesh.keys import declared
from flashmesh.report.asking import show
from flashmesh.report.findings.sentences import of_answer
from flashmesh.report.measures.measure import in_document, measure_named
from flashmesh.report.summary import PARTS
from flashmesh.report.terminal import Terminal
from flashmesh.results.window import windowed
from flashmesh.sweeps.executors.local import LocalThreads

if TYPE_CHECKING:
    from collections.abc import Sequence

KEYS = ("fabric.channel-rate", "host.queue-depth")
NOTE = "fresh drive: garbage collection is not measured; --set precondition.kind=random fills the drive first"
SMALL = {"geometry.blocks-per-plane": 64, "workload.requests": 2_000}


def test_every_step_changes_the_default_drive_or_is_not_read_by_it() -> None:
    changes, unread = changes_of(load("preset:venice-z-nand", overrides={"cache.capacity": "1MiB"}))
    stepped = {key for key, each in declared().items() if each.step is not None}
    assert {change.key for change in changes} | set(unread) == stepped
    by_key: dict[str, list[str]] = {}
    for change in changes:
        assert change.before != change.after
        by_key.setdefault(change.key, []).append(change.after)
    assert by_key["fabric.kind"] == ["pssd", "pnssd", "nossd", "venice"]
    assert by_key["fabric.channel-rate"] == ["2.4GB/s", "0.6GB/s"]
    assert by_key["geometry.channels"] == ["16", "4"]
    assert by_key["geometry.dies-per-chip"] == ["2"]
    assert by_key["geometry.over-provisioning"] == ["0.12", "0.02"]
    assert by_key["gc.copyback"] == ["true"]
    assert by_key["cache.capacity"] == ["0B", "64MiB", "256MiB"]
    # Each change is either accepted or refused by a configuration error; it never fails in another way.
    for change in changes:
        with suppress(flashmesh.ConfigError):
            load("preset:venice-z-nand", overrides={change.key: change.after})


def test_more_rate_helps_and_queue_depth_beyond_the_load_does_not() -> None:
    found = flashmesh.ask("preset:venice-z-nand", keys=KEYS, overrides=SMALL, seeds=2)
    assert found.seeds == 2
    best = found.best[0]
    assert best.change == Change("fabric.channel-rate", "1.2GB/s", "2.4GB/s")
    assert best.effects["p99"].ratio.mean < 1
    assert list(found.idle) == ["host.queue-depth"]
    assert not found.untried
    assert best.cause is not None
    assert best.cause.change_ps < 0
    # Both runs of a ratio have the same seed, and figures are taken after the warm-up.
    warm = {**SMALL, "measure.warm-up": "auto"}
    for name, measure in (("IOPS", "iops"), ("p99", "latency_ps.all.p99")):
        pairs = []
        for seed in (0, 1):
            fast = flashmesh.run(
                "preset:venice-z-nand", overrides={**warm, "fabric.channel-rate": "2.4GB/s"}, seed=seed
            )
            plain = flashmesh.run("preset:venice-z-nand", overrides=warm, seed=seed)
            after, before = (in_document(windowed(each.document), measure) for each in (fast, plain))
            assert after is not None
            assert before is not None
            pairs.append(after / before)
        assert best.effects[name].ratio == estimate(pairs)
    again = Answer.from_dict(json.loads(found.to_json()))
    assert again == found


def test_slower_link_is_less_load_and_no_help() -> None:
    overrides = {"workload.requests": 20_000}
    found = flashmesh.ask("examples/venice.toml", keys=["host.link-rate"], overrides=overrides, seeds=2)
    (row,) = found.less_load
    assert row.change.after == "8GB/s"
    assert row.effects["p99"].ratio.mean < 0.6
    assert row.cause is not None
    assert row.cause.text.startswith("host queue and link +")
    assert not found.best
    shown = text(found)
    assert "No change that was tried helps" in shown
    assert shown.index("Less load, not a faster drive") < shown.index("host.link-rate = 8GB/s")
    assert Answer.from_dict(json.loads(found.to_json())) == found


def test_slower_drive_is_no_less_load() -> None:
    rows = [
        Row(WORSE.change, WORSE.effects, 2, throughput=ratio(0.5, 0.51), inside=ratio(1.0, 1.001)),
        Row(WORSE.change, {"p99": ratio(0.5, 0.51)}, 2, throughput=ratio(1.0, 1.001), inside=ratio(0.5, 0.51)),
        WORSE,
    ]
    assert not any(row.is_less_load for row in rows)
    slower_pace = Row(WORSE.change, {"p99": ratio(0.5, 0.51)}, 2, throughput=ratio(0.5, 0.51), inside=ratio(0.3, 0.31))
    found = answer(MESH, slower_pace)
    assert found.less_load == [slower_pace]
    assert found.best == [MESH]


def result(host: float, die_wait: float, iops: float = 1e6) -> dict[str, Any]:
    return {"iops": iops, "breakdown_ps": {"mean": dict.fromkeys(PARTS, 0.0) | {"host": host, "die_wait": die_wait}}}


def test_cause_is_the_part_of_the_latency_that_moves_most() -> None:
    found = cause_of([(result(1e6, 90e6), result(2e6, 60e6)), (result(1e6, 90e6), result(2e6, 40e6))])
    assert found == Cause("die_wait", -40e6)
    assert found.text == "waiting for the die -40.00 us"
    assert cause_of([(result(1e6, 90e6), result(1e6, 90.1e6))]) is None
    # The cause of a change must change in the same direction as the total.
    assert cause_of([(result(1e6, 90e6), result(41e6, 10e6))]) == Cause("die_wait", -80e6)
    assert cause_of([(result(1e6, 90e6), result(91e6, 60e6))]) == Cause("host", 90e6)
    assert inside(result(70e6, 20e6)) == pytest.approx(20.0)


def test_values_are_those_of_the_measured_window() -> None:
    whole = {"iops": 9.0, "latency_ps": {"all": 1, "read": 2}, "seed": 0}
    assert windowed(whole | {"measured": None})["iops"] == 9.0
    found = windowed(whole | {"measured": {"iops": 5.0, "latency_ps": {"all": 3}, "start_ps": 1}})
    assert (found["iops"], found["latency_ps"], found["seed"]) == (5.0, {"all": 3, "read": 2}, 0)
    assert "start_ps" not in found


@pytest.mark.parametrize(
    ("overrides", "is_told"),
    [
        ({"workload.read-share": "50%"}, True),
        ({"workload.read-share": "50%", "precondition.kind": "random"}, False),
        ({"workload.read-share": "100%"}, False),
    ],
)
def test_fresh_drive_that_is_written_is_told(overrides: dict[str, str], is_told: bool) -> None:
    found = flashmesh.ask("preset:venice-z-nand", keys=["host.queue-depth"], overrides=SMALL | overrides, seeds=1)
    assert ("fresh drive: garbage collection is not measured" in text(found)) == is_told
    assert (NOTE in found.notes) == is_told


@pytest.mark.long
def test_drives_that_are_not_steady_are_counted_with_the_requests_that_they_need() -> None:
    overwritten = SMALL | {"precondition.kind": "random", "workload.read-share": "0%"}

    def notes(requests: int) -> tuple[str, ...]:
        overrides = overwritten | {"workload.requests": requests}
        return flashmesh.ask("preset:venice-z-nand", keys=["host.queue-depth"], overrides=overrides, seeds=1).notes

    def needed(note: str, kind: str) -> int:
        told = re.fullmatch(rf"(\d) of (\d) drives are not steady.*; {kind} \(workload.requests\)", note)
        assert told is not None, note
        assert told[1] == told[2]
        return int(told[3].replace(",", ""))

    # A run with too few requests for an estimate gives a lower bound of the number that is needed.
    (short,) = notes(500)
    (longer,) = notes(needed(short, r"at least ([\d,]+) requests are needed"))
    assert notes(2 * needed(longer, r"about ([\d,]+) requests (?:would|may) be enough")) == ()


def test_warm_up_is_that_of_the_configuration_or_ends_by_itself() -> None:
    bases = {}
    for how in (None, "none", "requests"):
        overrides = SMALL if how is None else SMALL | {"measure.warm-up": how}
        if how == "requests":
            overrides = overrides | {"measure.warm-up-requests": 1_000}
        found = flashmesh.ask("preset:venice-z-nand", keys=["host.queue-depth"], overrides=overrides, seeds=1)
        bases[how] = found.base["IOPS"].mean
        plain = flashmesh.run("preset:venice-z-nand", overrides={"measure.warm-up": "auto", **overrides})
        assert bases[how] == windowed(plain.document)["iops"]
    assert len(set(bases.values())) == 3


def test_more_flash_keeps_over_provisioning_and_says_so() -> None:
    overrides = {"geometry.blocks-per-plane": 32, "workload.requests": 500}
    drive = {"preset": "venice-z-nand", "geometry": {"capacity": "5GB"}}
    keys = ["geometry.channels", "geometry.over-provisioning"]
    found = flashmesh.ask(drive, keys=keys, overrides=overrides, seeds=1)
    also = {row.change.label: row.also for row in found.rows}
    assert also["geometry.channels = 16"] == "geometry.capacity 5GB -> 10GB"
    assert also["geometry.channels = 4"] == "geometry.capacity 5GB -> 2.5GB"
    # 5 GB of capacity correspond to an over-provisioning of 61 %, where the changes start.
    assert {row.change.before for row in found.rows if row.change.key == keys[1]} == {"0.6119"}
    assert also["geometry.over-provisioning = 0.6619"] == "geometry.capacity 5GB -> 4.356GB"
    assert "geometry.capacity 5GB -> 10GB (over-provisioning kept): with geometry.channels = 16" in text(found)
    kept = flashmesh.ask(drive, keys=keys, overrides=overrides, seeds=1, keep="capacity")
    assert not any(row.also for row in kept.rows)
    assert kept.unread == {"geometry.over-provisioning": "changes the capacity, which is kept"}


def text(found: Answer) -> str:
    stream = io.StringIO()
    show(found, Terminal(stream))
    return " ".join(stream.getvalue().split())


def ratio(*values: float) -> Effect:
    found = estimate(values)
    assert found is not None
    return Effect(found)


def answer(*rows: Row) -> Answer:
    base = {"IOPS": Estimate(1e6, None, None, 1, "single"), "p99": Estimate(5e7, None, None, 1, "single")}
    higher = {"IOPS": True, "p99": False}
    return Answer(("IOPS", "p99"), higher, base, rows, {}, (), (), 3, "bound by the dies", 1.0)


MESH = Row(Change("fabric.kind", "bus", "pnssd"), {"IOPS": ratio(1.38, 1.381), "p99": ratio(0.39, 0.391)}, 2)
NOISE = Row(Change("host.queue-depth", "64", "128"), {"IOPS": ratio(0.9, 1.1, 1.01), "p99": ratio(1.002, 1.003)}, 3)
WORSE = Row(Change("fabric.kind", "bus", "nossd"), {"IOPS": ratio(0.5, 0.501), "p99": ratio(2.0, 2.01)}, 2)


def test_effects_are_clear_when_seeds_do_not_explain_them() -> None:
    assert MESH.has_effect
    assert not NOISE.has_effect
    assert not Row(NOISE.change, {"IOPS": ratio(1.015)}, 1).has_effect
    assert Row(NOISE.change, {"IOPS": ratio(1.025)}, 1).has_effect
    found = answer(MESH, WORSE, NOISE)
    assert found.best == [MESH]
    assert found.sentence(MESH) == "+38 % IOPS, -61 % p99: fabric.kind = pnssd"
    assert found.sentence(NOISE) == "no effect: host.queue-depth = 128"
    assert [changes[0].words for changes in found.idle.values()] == ["host queue depth"]


def test_effect_of_a_single_seed_counts_if_it_exceeds_the_intervals_of_both_runs() -> None:
    def document(p99: float, half: float | None) -> dict[str, Any]:
        ends = None if half is None else {"low": p99 * (1 - half), "high": p99 * (1 + half)}
        found: dict[str, Any] = {"latency_ps": {"all": {"p99": p99}}}
        return found | {"confidence": {"latency_ps": {"all": {"p99": ends}}}}

    def effect(after: float, half: float | None, half_after: float | None) -> Effect | None:
        trial = engine.Trial({None: [], NOISE.change: []}, [measure_named("p99")], LocalThreads(1), 1.0, None)
        trial.configs = {None: [load("preset:venice-z-nand")]}
        trial.results = {(None, 0): document(100.0, half), (NOISE.change, 0): document(after, half_after)}
        return trial.effect(NOISE.change, trial.measures["p99"])

    noisy, clear, unknown = effect(102.4, 0.73, 0.73), effect(40.0, 0.2, 0.2), effect(102.4, None, None)
    assert noisy is not None
    assert noisy.ratio.mean == pytest.approx(1.024)
    assert noisy.ratio.method == "batches"
    assert not noisy.is_clear
    assert clear is not None
    assert clear.is_clear
    assert unknown is not None
    assert unknown.ratio.method == "single"
    # The interval of one run stands for that of the other if it has none.
    assert effect(102.4, 0.73, None) == noisy
    assert unknown.is_clear


def test_interval_of_a_single_seed_is_from_the_batches_of_both_runs() -> None:
    overrides: dict[str, Any] = {**SMALL, "workload.requests": 5_000}
    found = flashmesh.ask("preset:venice-z-nand", keys=["geometry.channels"], overrides=overrides, seeds=1)
    ratio = found.rows[0].effects["IOPS"].ratio
    overrides |= {"measure.warm-up": "auto"}
    runs = [
        flashmesh.run("preset:venice-z-nand", overrides={**overrides, **more}).document
        for more in ({"geometry.channels": found.rows[0].change.after}, {})
    ]
    after, before = (
        Estimate(
            windowed(run)["iops"], run["confidence"]["iops"]["low"], run["confidence"]["iops"]["high"], 1, "batches"
        )
        for run in runs
    )
    wanted = ratio_of(after, before)
    assert (ratio.mean, ratio.low, ratio.high) == pytest.approx((wanted.mean, wanted.low, wanted.high))
    assert " (1 seed): geometry.channels = 16 (now 8)" in text(found)


def trial_of(iops: dict[Change | None, float], seeds: int) -> tuple[engine.Trial, list[tuple[Change | None, int]]]:
    """Returns a trial whose runs give these IOPS, and the list of its runs in their order."""
    config = load("preset:venice-z-nand")
    trial = engine.Trial(
        {change: [config] * seeds for change in iops}, [measure_named("IOPS")], LocalThreads(1), 60.0, None
    )
    ran: list[tuple[Change | None, int]] = []

    def run(changes: Sequence[Change | None], number: int) -> None:
        for change in changes:
            ran.append((change, number))
            document = result(0.0, 1e6, iops[change]) | {"confidence": {"iops": None}, "streams": [{"name": "host"}]}
            trial.results[change, number] = document

    trial.round = run  # type: ignore[method-assign]
    return trial, ran


def test_changes_that_help_get_their_seeds_before_those_with_larger_losses() -> None:
    worse, worst, little, good = (Change("host.queue-depth", "64", str(number)) for number in range(4))
    iops = {None: 100.0, worse: 50.0, worst: 20.0, little: 110.0, good: 130.0}
    trial, ran = trial_of(iops, 3)
    trial.run([worse, worst, little, good])
    assert ran[:5] == [(None, 0), (worse, 0), (worst, 0), (little, 0), (good, 0)]
    assert ran[5:11] == [(None, 1), (good, 1), (little, 1), (None, 2), (good, 2), (little, 2)]
    assert ran[11:] == [(worst, 1), (worse, 1), (worst, 2), (worse, 2)]


def test_load_is_compared_in_the_measured_window() -> None:
    change = Change("host.link-rate", "16GB/s", "8GB/s")
    trial, _ = trial_of({None: 100.0, change: 90.0}, 1)
    trial.run([change])
    # Fewer requests complete in the whole run, because of its warm-up, but not in the window.
    for document, iops in ((trial.results[None, 0], 100.0), (trial.results[change, 0], 100.8)):
        document["measured"] = {"iops": iops, "breakdown_ps": document["breakdown_ps"]}
    row = trial.row(change)
    assert row is not None
    assert row.throughput is not None
    assert row.throughput.ratio.mean == pytest.approx(1.008)
    assert not row.is_less_load


def test_one_seed_and_drives_that_are_not_steady_are_told_above_the_changes() -> None:
    once = replace(MESH, seeds=1)
    found = replace(answer(once, WORSE), drives=40, unsteady=36)
    shown = text(found)
    heading = (
        "The change that helps most, but 36 of 40 drives are not steady: +38 % IOPS, -61 % p99 (1 seed): fabric.kind"
    )
    assert heading in shown
    assert "What helps most, but 36 of 40 drives are not steady: +38 %" in of_answer(found)
    few = replace(found, unsteady=20)
    assert "The change that helps most: " in text(few)
    assert "(1 seed)" not in text(answer(MESH, WORSE))
    idle = replace(answer(NOISE), drives=2, unsteady=2)
    assert "No change that was tried helps, but 2 of 2 drives are not steady." in text(idle)
    assert Answer.from_dict(json.loads(found.to_json())) == found


def test_reason_of_an_impossible_change_is_shown_whole() -> None:
    why = "namespaces `bulk` and `data` put so many pages on a plane " + 5 * "that too few of them stay spare, " + "end"
    found = replace(answer(MESH), impossible=((NOISE.change, why),))
    assert f"not possible: host.queue-depth = 128: {why}" in text(found)


def test_cause_is_that_of_the_stream_of_the_measures() -> None:
    def document(die_wait: float, reader: float, window: float) -> dict[str, Any]:
        names = {"reader": reader, "writer": 7e6}
        streams = [{"name": name} | result(5e6, value) for name, value in names.items()]
        inside_window = [{"name": name, "latency_ps": {"all": {"mean": window}}} for name in names]
        return result(5e6, die_wait) | {"streams": streams, "measured": {"streams": inside_window}}

    pairs = [(document(90e6, 20e6, 25e6), document(10e6, 40e6, 45e6))]
    assert cause_of(pairs) == Cause("die_wait", -80e6)
    assert cause_of(pairs, "reader") == Cause("die_wait", 20e6)
    assert cause_of(pairs, None) is None
    # The parts of the whole run say nothing about a window with another latency.
    assert cause_of([(document(90e6, 20e6, 25e6), document(10e6, 40e6, 9e6))], "reader") is None
    measures = [measure_named(name) for name in ("IOPS", "streams.reader.p99", "streams.reader.IOPS")]
    assert (subject_of(measures), subject_of(measures[:1]), subject_of(measures[1:])) == (None, "", "reader")


def test_mixed_streams_have_no_cause() -> None:
    drive = {
        "preset": "venice-z-nand",
        "geometry": {"blocks-per-plane": 64},
        "stream": {name: {"workload": {"requests": 1_000}} for name in ("a", "b")},
    }
    measures = ["streams.a.p99", "streams.b.p99"]
    found = flashmesh.ask(drive, keys=["fabric.channel-rate"], measures=measures, seeds=1)
    assert found.rows
    assert all(row.cause is None for row in found.rows)
    shown = text(found)
    assert "no causes: the measures are not all of the same requests" in shown
    assert "mean latency unchanged" not in shown


def test_tornado_has_the_key_with_the_largest_effect_first() -> None:
    bars = answer(NOISE, MESH, WORSE).tornado("p99")
    assert [(bar.key, bar.value) for bar in bars] == [
        ("fabric.kind", "pnssd"),
        ("fabric.kind", "nossd"),
        ("host.queue-depth", "128"),
    ]
    assert bars[0].change == pytest.approx(-0.6095)
    assert bars[0].low is not None
    assert bars[0].low <= bars[0].change


def test_command_prints_the_answer_and_show_prints_it_again(cli: Cli, tmp_path: Path) -> None:
    settings = [f"--set={key}={value}" for key, value in SMALL.items()]
    options = (*settings, *(f"--key={key}" for key in KEYS), "--seeds", "2")
    done = cli("ask", "preset:venice-z-nand", *options, "--json", "ask.json")
    assert done.returncode == 0, done.stderr
    assert "The change that helps most:\n" in done.stdout
    assert ": fabric.channel-rate = 2.4GB/s (now 1.2GB/s): waiting for the path -" in done.stdout
    assert "no effect: host queue depth" in done.stdout
    assert cli("show", "ask.json").stdout == done.stdout
    document: dict[str, Any] = json.loads((tmp_path / "ask.json").read_text())
    assert document["kind"] == "ask"
    assert next(change["key"] for change in document["changes"]) == "fabric.channel-rate"


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("--key", "workload.requests"), "workload.requests has no step, so it cannot be changed"),
        (("--key", "fabric.knd"), "did you mean fabric.kind"),
        (("--measure", "p98.5"), "there is no measure 'p98.5'"),
        (("--limit", "0.01", "--set", "workload.requests=100_000_000"), "too short for a single run"),
    ],
)
def test_what_cannot_be_asked_is_refused(cli: Cli, options: tuple[str, ...], words: str) -> None:
    done = cli("ask", "preset:venice-z-nand", *options)
    assert (done.returncode, done.stdout) == (2, "")
    assert words in done.stderr


def test_time_limit_names_what_was_not_tried() -> None:
    # A run takes about a second, so there is time for a few runs.
    found = flashmesh.ask(
        "preset:venice-z-nand", overrides={"workload.requests": 400_000}, seeds=1, limit_s=2.0, jobs=1
    )
    assert found.untried
    assert found.elapsed_s < 60
    tried = {row.change for row in found.rows}
    assert tried.isdisjoint(found.untried)


@pytest.mark.parametrize(
    ("measure", "higher"),
    [
        ("IOPS", True),
        ("bandwidth", True),
        ("p99", False),
        ("execution time", False),
        ("streams.reader.IOPS", True),
        ("streams.reader.bandwidth", True),
        ("streams.reader.p99", False),
    ],
)
def test_a_measure_of_a_stream_is_better_in_the_direction_of_that_of_the_drive(measure: str, higher: bool) -> None:
    assert is_higher_better(measure_named(measure).keys) == higher
