"""Sentences of findings, on invented results."""

from __future__ import annotations

import io
from typing import Any

import pytest

import flashmesh
from flashmesh.aggregate.table import ComparedRuns
from flashmesh.comparing.axes import Value
from flashmesh.comparison import ComparedRun, Comparison
from flashmesh.report import comparison as comparison_report
from flashmesh.report.findings.gains import Gain
from flashmesh.report.findings.sentences import of_seeds
from flashmesh.report.findings.winners import gain_of
from flashmesh.report.tables.view import Choice
from flashmesh.report.terminal import Terminal
from flashmesh.results import Result

HOST = "bound by the host link, drive to host: 100 % busy"
DIES = "bound by the dies: die 3 works 100 % of the time"
NONE = "requests wait for each other though no part is always busy"


@pytest.fixture(scope="module")
def some() -> Result:
    return flashmesh.run("preset:venice-z-nand", overrides={"workload.requests": 100})


def made_up(some: Result, *runs: tuple[dict[str, Any], dict[str, Any]]) -> Comparison:
    """Returns a comparison of runs with given settings, throughput, p99 and bottleneck.

    `noise` is half the width of the intervals of throughput and p99, as a share of each; None for no intervals.
    """
    found = []
    axes: dict[str, dict[Value, None]] = {}
    for settings, given in runs:
        latency = some.document["latency_ps"]
        every = latency["all"] | {"p99": int(given.get("p99", 50e6))}
        confidence = some.document["confidence"]
        noise = given.get("noise", 0.001)
        if noise is not None:
            ends = {"low": 1 - noise, "high": 1 + noise}
            of_iops, of_p99 = (
                {end: value * share for end, share in ends.items()} for value in (given.get("iops", 1e6), every["p99"])
            )
            of_all = confidence["latency_ps"]["all"] | {"p99": of_p99}
            confidence = confidence | {"iops": of_iops, "latency_ps": confidence["latency_ps"] | {"all": of_all}}
        document = some.document | {
            "confidence": confidence,
            "iops": given.get("iops", 1e6),
            "latency_ps": latency | {"all": every},
            "bound": some.document["bound"] | {"sentence": given.get("bound", NONE)},
            "steadiness": some.document["steadiness"] | {"steady": given.get("steady", True)},
        }
        found.append(ComparedRun(settings, Result.from_document(document)))
        for key, value in settings.items():
            axes.setdefault(key, {})[value] = None
    return Comparison({key: tuple(values) for key, values in axes.items()}, tuple(found))


def kinds(some: Result, **iops: float) -> Comparison:
    """Returns a comparison of interconnects with given throughputs, all bound by the host link."""
    return made_up(some, *(({"fabric.kind": kind}, {"iops": value, "bound": HOST}) for kind, value in iops.items()))


def test_runs_that_are_not_steady_are_counted(some: Result) -> None:
    runs = made_up(some, ({"fabric.kind": "bus"}, {"steady": False}), ({"fabric.kind": "ideal"}, {"iops": 2e6}))
    assert any("1 of 2 points is not steady" in sentence for sentence in runs.findings())
    assert not any("steady" in sentence for sentence in kinds(some, bus=1e6, ideal=2e6).findings())


def test_the_first_that_reaches_the_best_is_named_with_what_binds_beyond_it(some: Result) -> None:
    found = kinds(some, bus=1.00e6, pssd=1.84e6, pnssd=1.85e6, ideal=1.85e6).findings()
    assert found == [
        "pssd is 1.84 times as fast as bus; beyond it the host link binds: pnssd and ideal gain nothing more."
    ]
    assert kinds(some, bus=1.0e6, pssd=1.5e6, ideal=3.0e6).findings() == [
        "ideal is 3.00 times as fast as bus, the fastest of 3; the host link binds it."
    ]
    assert kinds(some, bus=1.0e6, nossd=0.25e6).findings() == [
        "bus is the fastest; nossd reaches 0.25 of its throughput. The host link binds it."
    ]


def test_no_value_is_called_the_best_while_noise_allows_another_to_be_better(some: Result) -> None:
    def runs(key: str, **figures: tuple[float, float]) -> Comparison:
        given = {kind: {key: value, "noise": noise} for kind, (value, noise) in figures.items()}
        return made_up(some, *(({"fabric.kind": kind}, each) for kind, each in given.items()))

    # pssd may have a lower p99 than bus, ideal certainly has.
    (told,) = runs("p99", bus=(488e6, 0.2), pssd=(287e6, 0.9), nossd=(1690e6, 0.1), ideal=(323e6, 0.05)).findings()
    assert told.endswith("the p99 of ideal is 34 % below that of bus.")
    (told,) = runs("p99", bus=(488e6, 0.2), pssd=(287e6, 0.9), nossd=(1690e6, 0.1)).findings()
    assert told.endswith("the p99 of nossd is 3.46 times that of bus.")
    assert runs("iops", bus=(1e6, 0.01), pssd=(3e6, 0.9), ideal=(2e6, 0.01)).findings() == [
        "ideal is 2.00 times as fast as bus."
    ]
    assert runs("iops", bus=(1e6, 0.01), pssd=(1.5e6, 0.9), nossd=(0.5e6, 0.01)).findings() == [
        "nossd reaches 0.50 of the throughput of bus."
    ]
    # A mean below the best one says little if its interval reaches past the best one.
    for iops in (1.9e6, 2e6):
        assert runs("iops", bus=(1e6, 0.01), pssd=(iops, 0.9), ideal=(2e6, 0.01)).findings() == [
            "ideal is 2.00 times as fast as bus."
        ]
    assert runs("iops", bus=(1e6, 0.01), pssd=(1.01e6, 0.9), nossd=(0.5e6, 0.01)).findings() == [
        "nossd reaches 0.50 of the throughput of bus."
    ]
    (told,) = runs("p99", bus=(488e6, 0.2), pssd=(500e6, 0.9), nossd=(1690e6, 0.1)).findings()
    assert told.endswith("the p99 of nossd is 3.46 times that of bus.")


def test_a_gain_whose_noise_is_unknown_is_told_so(some: Result) -> None:
    runs: list[tuple[dict[str, Any], dict[str, Any]]] = [
        ({"fabric.kind": kind}, {"p99": p99, "noise": None}) for kind, p99 in (("bus", 100e6), ("nossd", 6e6))
    ]
    (told,) = made_up(some, *runs).findings()
    assert told.endswith("the p99 of nossd is 94 % below that of bus (its noise is unknown).")


def test_a_value_without_runs_under_the_conditions_is_not_the_next_best() -> None:
    deep = ("replay.outstanding=64",)
    means: dict[str, dict[tuple[str, ...], float]] = {"bus": {deep: 1.0}, "pssd": {deep: 1.5}, "venice": {}}
    for sign in (1, -1):
        assert gain_of("bus", "bus", [deep], means, sign) == Gain("pssd", (1.5,), True)


def test_over_several_workloads_the_range_is_told(some: Result) -> None:
    runs: list[tuple[dict[str, Any], dict[str, Any]]] = [
        ({"workload.profile": profile, "fabric.kind": kind}, {"iops": value, "bound": DIES})
        for profile, bus, ideal in (("a", 1e6, 1.5e6), ("b", 1e6, 3e6))
        for kind, value in (("bus", bus), ("ideal", ideal))
    ]
    by_kind = [({"fabric.kind": settings["fabric.kind"], **settings}, given) for settings, given in runs]
    (sentence,) = made_up(some, *by_kind).findings()
    assert sentence == "ideal is 1.50 to 3.00 times as fast as bus, the fastest of 2; the dies bind it."


def hot(some: Result, *measured: tuple[str, str, dict[str, Any]]) -> Comparison:
    """Returns a comparison of interconnects under several shares of hot traffic."""
    return made_up(
        some,
        *(({"fabric.kind": kind, "workload.hot-traffic": share}, given) for kind, share, given in measured),
    )


def test_the_winner_under_each_condition_is_named_with_its_cause(some: Result) -> None:
    even = "bound by the channels: channel 2 is 99 % busy, all of them 96 % on average, the dies 87 %"
    uneven = "bound by the channels: channel 0 is 100 % busy, all of them 25 % on average, the dies 16 %"
    found = hot(
        some,
        ("bus", "12.5%", {"iops": 2.2e6, "bound": even}),
        ("bus", "50%", {"iops": 0.6e6, "bound": uneven}),
        ("pssd", "12.5%", {"iops": 4.4e6, "bound": even}),
        ("pssd", "50%", {"iops": 1.2e6, "bound": uneven}),
        ("venice", "12.5%", {"iops": 1.9e6, "bound": NONE}),
        ("venice", "50%", {"iops": 1.5e6, "bound": NONE}),
    ).findings()
    assert found[0] == (
        "pssd is the fastest with workload.hot-traffic=12.5% (2.00 times as fast as bus; the channels bind it); "
        "venice with 50% (2.50 times as fast as bus; one of the channels binds bus, all of them are 25 % busy on "
        "average)."
    )


def test_a_first_value_that_wins_under_a_condition_is_named_beside_the_next_best(some: Result) -> None:
    found = hot(
        some,
        ("bus", "12.5%", {"iops": 2.0e6, "bound": DIES}),
        ("bus", "50%", {"iops": 0.5e6, "bound": HOST}),
        ("nossd", "12.5%", {"iops": 1.0e6}),
        ("nossd", "50%", {"iops": 1.0e6}),
        ("venice", "12.5%", {"iops": 1.9e6}),
        ("venice", "50%", {"iops": 0.9e6}),
    ).findings()
    assert found[0] == (
        "bus is the fastest with workload.hot-traffic=12.5% (venice: 0.95 times as fast as bus; the dies bind it); "
        "nossd with 50% (2.00 times as fast as bus; the host link binds bus)."
    )


def test_the_lowest_p99_is_named_under_each_condition(some: Result) -> None:
    found = hot(
        some,
        ("bus", "12.5%", {"p99": 100e6}),
        ("bus", "50%", {"p99": 100e6}),
        ("pssd", "12.5%", {"p99": 50e6}),
        ("pssd", "50%", {"p99": 90e6}),
        ("venice", "12.5%", {"p99": 80e6}),
        ("venice", "50%", {"p99": 40e6}),
    ).findings()
    assert found[0] == (
        "All serve the same load; pssd has the lowest p99 with workload.hot-traffic=12.5% (0.50 times that of bus); "
        "venice with 50% (0.40 times that of bus)."
    )


def test_many_conditions_of_a_winner_are_counted(some: Result) -> None:
    workloads = [f"w{number}" for number in range(8)]
    found = made_up(
        some,
        *(
            ({"fabric.kind": kind, "workload.profile": name}, {"iops": 3e6 if kind == best else 1e6})
            for number, name in enumerate(workloads)
            for best in ("pssd" if number < 6 else "venice",)
            for kind in ("bus", "pssd", "venice")
        ),
    ).findings()
    assert found[0] == (
        "pssd is the fastest with 6 values of workload.profile (3.00 times as fast as bus); venice with w6 and w7 "
        "(3.00 times as fast as bus)."
    )


def test_conditions_of_several_keys_are_named_or_counted(some: Result) -> None:
    best = {("a", 1): "pssd", ("a", 64): "venice", ("b", 1): "venice", ("b", 64): "venice"}
    found = made_up(
        some,
        *(
            (
                {"fabric.kind": kind, "workload.profile": name, "workload.streams": count},
                {"iops": 3e6 if kind == winner else 1e6},
            )
            for (name, count), winner in best.items()
            for kind in ("bus", "pssd", "venice")
        ),
    ).findings()
    assert found[0] == (
        "pssd is the fastest with workload.profile=a, workload.streams=1 (3.00 times as fast as bus); venice under 3 "
        "of 4 conditions (3.00 times as fast as bus)."
    )


@pytest.mark.parametrize(
    ("scatter", "first"),
    [
        ((1.20, 1.21, 1.22), "pssd is the fastest with workload.hot-traffic=12.5%"),
        ((0.80, 1.20, 1.10), "pssd is 2.00 times as fast as bus"),
    ],
)
def test_a_winner_of_a_condition_leads_by_more_than_seeds_explain(
    some: Result, scatter: tuple[float, ...], first: str
) -> None:
    rates = {"bus": (1.0e6, 1.0e6), "pssd": (2.0e6, 2.0e6), "venice": (1.0e6, 2.1e6)}
    runs: list[tuple[dict[str, Any], dict[str, Any]]] = [
        (
            {"fabric.kind": kind, "workload.hot-traffic": share, "seed": seed},
            {"iops": rate * (scatter[seed] if kind == "venice" else 1.0)},
        )
        for kind, of_kind in rates.items()
        for share, rate in zip(("12.5%", "50%"), of_kind, strict=True)
        for seed in range(3)
    ]
    assert made_up(some, *runs).findings()[0].startswith(first)


def test_differences_that_seeds_explain_are_none(some: Result) -> None:
    values = {"bus": (1.0e6, 1.4e6, 0.8e6), "ideal": (1.3e6, 1.0e6, 1.1e6)}
    runs: list[tuple[dict[str, Any], dict[str, Any]]] = [
        ({"fabric.kind": kind, "seed": seed}, {"iops": value})
        for kind, seeds in values.items()
        for seed, value in enumerate(seeds)
    ]
    assert made_up(some, *runs).findings() == [
        "ideal and bus differ by no more than noise explains, in throughput and in p99."
    ]


def test_a_difference_that_is_certain_but_small_is_not_called_noise(some: Result) -> None:
    runs: list[tuple[dict[str, Any], dict[str, Any]]] = [
        ({"fabric.kind": kind, "seed": seed}, {"iops": value * (1 + 0.1 * seed)})
        for kind, value in (("bus", 1.0e6), ("ideal", 0.99e6))
        for seed in range(3)
    ]
    assert made_up(some, *runs).findings() == [
        "ideal and bus differ by less than 2 %, or by no more than noise explains, in throughput and in p99."
    ]


def test_under_a_load_that_all_serve_latency_is_compared(some: Result) -> None:
    runs: list[tuple[dict[str, Any], dict[str, Any]]] = [
        ({"fabric.kind": kind}, {"p99": p99}) for kind, p99 in (("bus", 100e6), ("pssd", 39e6), ("nossd", 300e6))
    ]
    assert made_up(some, *runs).findings() == ["All serve the same load; the p99 of pssd is 61 % below that of bus."]
    assert made_up(some, runs[0], runs[2]).findings() == [
        "All serve the same load; bus has the lowest p99, that of nossd is 3.00 times it."
    ]


def test_a_curve_is_said_to_level_off_where_it_does(some: Result) -> None:
    points = {16: (0.5e6, 20e6), 1: (0.1e6, 10e6), 64: (1.0e6, 50e6), 256: (1.01e6, 200e6)}
    runs: list[tuple[dict[str, Any], dict[str, Any]]] = [
        ({"replay.outstanding": depth}, {"iops": iops, "p99": p99, "bound": DIES})
        for depth, (iops, p99) in points.items()
    ]
    assert made_up(some, *runs).findings() == [
        "Throughput grows with replay.outstanding up to 64, to 1.000M IOPS; beyond it the dies bind, and p99 grows "
        "4.0-fold up to 256."
    ]
    assert made_up(some, *runs[:3]).findings() == [
        "Throughput grows with replay.outstanding up to 64, to 1.000M IOPS, where the dies bind it."
    ]
    unbound = [(settings, given | {"bound": NONE}) for settings, given in runs[:3]]
    assert made_up(some, *unbound).findings() == [
        "Throughput grows with replay.outstanding up to 64, to 1.000M IOPS, and has not levelled off there."
    ]
    flat: list[tuple[dict[str, Any], dict[str, Any]]] = [
        ({"host.queue-depth": depth}, {"iops": 1e6}) for depth in (64, 128)
    ]
    assert made_up(some, *flat).findings() == ["host.queue-depth from 64 to 128 does not change the throughput."]


def test_a_curve_that_falls_behind_its_peak_is_not_said_to_stay(some: Result) -> None:
    runs: list[tuple[dict[str, Any], dict[str, Any]]] = [
        ({"geometry.chips-per-channel": chips}, {"iops": iops}) for chips, iops in ((2, 2.0e5), (4, 2.7e5), (8, 2.4e5))
    ]
    assert made_up(some, *runs).findings() == [
        "Throughput grows with geometry.chips-per-channel up to 4, to 270.0k IOPS; beyond that it falls, to 240.0k "
        "IOPS at 8."
    ]


def test_traces_are_named_by_their_files_while_these_differ(some: Result) -> None:
    def sentence(*paths: str) -> str:
        return made_up(
            some, *(({"workload.trace": path}, {"iops": 1e6 * (at + 1)}) for at, path in enumerate(paths))
        ).findings()[0]

    assert sentence("/far/away/one.csv", "/far/away/two.csv").startswith("two.csv is 2.00 times as fast as one.csv")
    assert "/b/one.csv" in sentence("/far/away/one.csv", "/b/one.csv")


def test_a_comparison_and_a_sweep_print_the_answer_below_their_tables(some: Result) -> None:
    comparison = kinds(some, bus=1.0e6, ideal=1.5e6)
    # Equal hashes would make the runs one point.
    apart = [run.result.document | {"config_hash": kind} for run, kind in zip(comparison.runs, "ab", strict=True)]
    runs = [
        ComparedRun(run.settings, Result.from_document(each)) for run, each in zip(comparison.runs, apart, strict=True)
    ]
    table = ComparedRuns(Comparison(comparison.axes, tuple(runs)))
    for show in (comparison_report.show, comparison_report.show_sweep):
        stream = io.StringIO()
        show(table, Terminal(stream))
        assert "\n\nideal is 1.50 times as fast as bus" in stream.getvalue()
        assert "\n\n\n" not in stream.getvalue()
    stream = io.StringIO()
    comparison_report.show(table, Terminal(stream), choice=Choice(rows=1))
    assert "times as fast" not in stream.getvalue()
    stream = io.StringIO()
    comparison_report.show(table, Terminal(stream), ["p99"])
    assert "times as fast" not in stream.getvalue()


def grid(some: Result, ideal: float) -> Comparison:
    """Returns a comparison of three interconnects with two and with eight chips per channel."""
    speeds = {"bus": 1.0, "pssd": 1.05, "ideal": ideal}
    return made_up(
        some,
        *(
            ({"fabric.kind": kind, "geometry.chips-per-channel": chips}, {"iops": speed * rate, "bound": DIES})
            for kind, speed in speeds.items()
            for chips, rate in ((2, 4e5), (8, 8e5))
        ),
    )


def test_the_answer_is_over_all_axes_with_its_cause(some: Result) -> None:
    assert grid(some, 1.05).findings() == [
        "chips-per-channel=8 instead of 2 (4 times the dies): 2.00 times the throughput; among interconnects, pssd is "
        "1.05 times as fast as bus: the dies, not the paths, are the limit (ideal paths: 1.05 times)."
    ]
    (paths,) = grid(some, 3.0).findings()
    assert paths.startswith("Among interconnects, ideal is 3.00 times as fast as bus; chips-per-channel=8 instead of 2")
    assert paths.endswith("times the throughput: the paths are a limit, for ideal ones are 3.00 times as fast.")


def test_an_answer_over_all_axes_names_the_winner_under_each_condition(some: Result) -> None:
    speeds = {("bus", 2): 1.0e6, ("bus", 8): 1.0e6, ("pssd", 2): 1.5e6, ("pssd", 8): 1.5e6}
    speeds |= {("venice", 2): 1.0e6, ("venice", 8): 3.0e6}
    runs: list[tuple[dict[str, Any], dict[str, Any]]] = [
        ({"fabric.kind": kind, "geometry.chips-per-channel": chips}, {"iops": iops, "bound": DIES})
        for (kind, chips), iops in speeds.items()
    ]
    assert (
        "mong interconnects, pssd is the fastest with geometry.chips-per-channel=2 (1.50 times as fast as bus) and "
        "venice with 8 (3.00 times as fast as bus)"
    ) in made_up(some, *runs).findings()[0]


def test_an_axis_without_an_effect_is_named(some: Result) -> None:
    runs: list[tuple[dict[str, Any], dict[str, Any]]] = [
        ({"fabric.kind": kind, "host.queue-depth": depth}, {"iops": speed, "bound": HOST})
        for kind, speed in (("bus", 1e6), ("pssd", 2e6))
        for depth in (64, 128)
    ]
    assert made_up(some, *runs).findings() == [
        "Among interconnects, pssd is 2.00 times as fast as bus; host.queue-depth has no clear effect: the host link "
        "is the limit."
    ]


def test_where_throughput_stays_axes_are_compared_by_p99(some: Result) -> None:
    runs: list[tuple[dict[str, Any], dict[str, Any]]] = [
        ({"fabric.kind": kind, "geometry.channels": channels}, {"p99": p99 / channels})
        for kind, p99 in (("bus", 800e6), ("pssd", 400e6))
        for channels in (2, 8)
    ]
    assert made_up(some, *runs).findings() == [
        "geometry.channels=8 instead of 2 (4 times the dies): 0.25 times the p99; among interconnects, pssd has the "
        "lowest p99 (0.50 times that of bus): all runs are bound by queueing."
    ]


def test_bottlenecks_that_differ_between_runs_are_counted(some: Result) -> None:
    runs: list[tuple[dict[str, Any], dict[str, Any]]] = [
        ({"replay.outstanding": depth, "flash.read-time": time}, {"iops": iops, "bound": bound})
        for depth, time, iops, bound in (
            (1, "3us", 1e6, "bound by latency, 49 % of it moving data"),
            (64, "3us", 1e7, HOST),
            (1, "3ms", 1e3, "bound by latency, 100 % of it in the flash array"),
            (64, "3ms", 2e4, DIES),
        )
    ]
    assert made_up(some, *runs).findings()[0] == (
        "flash.read-time=3ms instead of 3us: 0.001 to 0.002 times the throughput; replay.outstanding=64 instead of 1: "
        "10.00 to 20.00 times the throughput: of 4 runs, 2 are bound by latency, 1 is bound by the host link, 1 is "
        "bound by the dies."
    ).replace("flash.read-time", "read-time")


def test_seeds_alone_are_one_figure_with_its_interval(some: Result) -> None:
    runs: list[tuple[dict[str, Any], dict[str, Any]]] = [
        ({"seed": seed}, {"iops": iops, "bound": HOST}) for seed, iops in enumerate((1.0e6, 1.01e6, 0.99e6))
    ]
    assert of_seeds(ComparedRuns(made_up(some, *runs))) == [
        "IOPS 1.000M +-2.5 %, p99 50.00 us over 3 seeds; the host link binds."
    ]


def test_where_arrivals_set_the_throughput_a_quantity_is_told_by_p99(some: Result) -> None:
    runs: list[tuple[dict[str, Any], dict[str, Any]]] = [
        ({"workload.interarrival": gap}, {"iops": iops, "p99": p99})
        for gap, iops, p99 in (("2us", 5e5, 20e6), ("100us", 1e4, 8e6))
    ]
    comparison = made_up(some, *runs)
    assert comparison.findings()[0].startswith("Throughput falls")
    assert arriving(comparison).findings() == ["p99 20.00 us with workload.interarrival=2us, 8.000 us with 100us."]


def arriving(comparison: Comparison) -> Comparison:
    """Returns a comparison with open replay in every run."""
    found = []
    for run in comparison.runs:
        configuration = run.result.document["configuration"]
        configuration = configuration | {"replay": configuration["replay"] | {"mode": "open"}}
        document = run.result.document | {"configuration": configuration}
        found.append(ComparedRun(run.settings, Result.from_document(document)))
    return Comparison(comparison.axes, tuple(found))


def test_where_arrivals_set_the_throughput_interconnects_are_compared_by_p99(some: Result) -> None:
    # Overloaded drives complete requests at different rates, so arrivals do not set the throughput.
    overloaded = {("bus", 1.0): (1e5, 200e6), ("ideal", 1.0): (1e5, 100e6)}
    overloaded |= {("bus", 0.5): (1.2e5, 900e6), ("ideal", 0.5): (2e5, 90e6)}
    runs: list[tuple[dict[str, Any], dict[str, Any]]] = [
        ({"fabric.kind": kind, "replay.time-scale": scale}, {"iops": iops, "p99": p99})
        for (kind, scale), (iops, p99) in overloaded.items()
    ]
    assert "throughput" in made_up(some, *runs).findings()[1]
    assert arriving(made_up(some, *runs)).findings() == [
        "All get the same arrivals; the p99 of ideal is 0.10 to 0.50 times that of bus.",
        "bus: p99 900.0 us with replay.time-scale=0.5, 200.0 us with 1.0.",
        "ideal: p99 90.00 us with replay.time-scale=0.5, 100.0 us with 1.0.",
    ]
    chips: list[tuple[dict[str, Any], dict[str, Any]]] = [
        ({"fabric.kind": kind, "geometry.chips-per-channel": count}, {"iops": iops, "p99": p99 / count})
        for kind, iops, p99 in (("bus", 1e5, 800e6), ("ideal", 2e5, 400e6))
        for count in (2, 8)
    ]
    assert arriving(made_up(some, *chips)).findings() == [
        "chips-per-channel=8 instead of 2 (4 times the dies): 0.25 times the p99; among interconnects, ideal has the "
        "lowest p99 (0.50 times that of bus): the paths are a limit, for ideal ones have 0.50 times the p99."
    ]


def test_sizes_of_requests_are_compared_by_bandwidth(some: Result) -> None:
    sizes: list[tuple[dict[str, Any], dict[str, Any]]] = [
        ({"workload.request-size": size}, {"iops": iops}) for size, iops in (("4KiB", 1e6), ("128KiB", 3e4))
    ]
    assert made_up(some, *sizes).findings() == [
        "workload.request-size from 4KiB to 128KiB does not change the throughput."
    ]


def test_nothing_is_found_where_nothing_is_compared(some: Result) -> None:
    assert Comparison({}, (ComparedRun({}, some),)).findings() == []
    assert made_up(some, ({"seed": 0}, {}), ({"seed": 1}, {})).findings() == []
