"""The registry of papers: content, refused entries, selection of claims, fits and changes."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import flashmesh
from flashmesh.reproduce.judging.changing import changed, table
from flashmesh.reproduce.judging.outcome import Outcome, Row
from flashmesh.reproduce.judging.summary import Reading
from flashmesh.reproduce.judging.texts import measured, overrides_text, published, why
from flashmesh.reproduce.judging.verdict import Verdict
from flashmesh.reproduce.points import Need, Point, settings_of
from flashmesh.reproduce.registry.expression import Expression
from flashmesh.reproduce.registry.openkeys import fitted
from flashmesh.reproduce.registry.paper import Overrides, Paper
from flashmesh.reproduce.registry.reader import papers
from flashmesh.reproduce.registry.selection import select, short
from flashmesh.reproduce.running.fitting import STEPS, FitSearch
from flashmesh.reproduce.running.measuring import Measures
from flashmesh.reproduce.volumes import Volumes, pattern_of, volumes_of
from flashmesh.sweeps.executors.local import LocalThreads
from flashmesh.sweeps.results.store import Store
from made_up_paper import MADE_UP, written


@pytest.fixture
def made_up(tmp_path: Path) -> Paper:
    return written(tmp_path, MADE_UP)


def test_numbers_are_normalised_reduced_and_spread_over_seeds(made_up: Paper) -> None:
    claim = made_up.claims[0]
    assert claim.measurement is not None
    # The bus takes 4 and 8 with the first seed, 2 and 4 with the second; `ideal` always takes 2.
    times = {("bus", "hm_0", 0): 4.0, ("bus", "proj_3", 0): 8.0, ("bus", "hm_0", 1): 2.0, ("bus", "proj_3", 1): 4.0}
    values: dict[tuple[Point, str], float | None] = {}
    for system in ("bus", "ideal"):
        for workload in ("hm_0", "proj_3"):
            for seed in (0, 1):
                run = Point("made-up", "runs", "slow", (("system", system), ("workload", workload)), seed)
                values[run, "makespan_ps"] = times.get((system, workload, seed), 2.0)
    measures = Measures(made_up, "quick", values)
    assert measures.by_seed(claim.measurement, "slow", claim.measurement.of) == (3.0, 1.5)
    assert measures.by_workload(claim.measurement, "slow") == {"hm_0": 1.5, "proj_3": 3.0}
    trend = made_up.claims[1].trends[0]
    assert measures.curve(Need(trend.measurement, "slow", (trend.axis, trend.labels))) == ((2.0, 6.0), (2.0, 3.0))
    values[Point("made-up", "runs", "slow", (("system", "bus"), ("workload", "hm_0")), 1), "makespan_ps"] = None
    assert measures.by_seed(claim.measurement, "slow", claim.measurement.of) is None


def test_outcomes_read_back_have_the_verdicts_of_their_values(made_up: Paper, tmp_path: Path) -> None:
    rows = {
        "A1": (Row("as-specified", (2.1,)), Row("slow", (0.5,))),
        "A2": (Row("as-specified", curves=(((1.0, 2.0),),)),),
    }
    outcome = Outcome(made_up, "quick", rows)
    path = tmp_path / "made-up.json"
    # A stored verdict is ignored; it is computed from the values.
    path.write_text(outcome.to_json().replace('"met"', '"opposite"'))
    again = Outcome.read(path, made_up)
    assert again == outcome
    assert [again.verdict(claim) for claim in made_up.claims] == [Verdict.MET, Verdict.MET]
    path.write_text("{}")
    with pytest.raises(flashmesh.OutputError, match="is not a reproduction"):
        Outcome.read(path, made_up)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        (
            'kind = "ratio"',
            'kind = "ration"',
            "made-up.toml: claim A1: kind: there is no 'ration': did you mean ratio?",
        ),
        ("published = 2.0", "publisht = 2.0", "claim A1: needs published, a number"),
        ('unit = "x"', 'unti = "x"', "claim A1: unknown key unti: did you mean unit?"),
        ('of = { system = "ideal" }', "of = {}", "claim A1: of needs a label of system: bus, ideal"),
        ('of = { system = "ideal" }', 'of = { system = "idael" }', "there is no 'idael': did you mean ideal?"),
        ('over = { system = "bus" }', "", "compute = 'speedup' needs over"),
        (
            'compute = "speedup"',
            'compute = "value"',
            "claim A1: needs neutral: what is published of the labels in over",
        ),
        ('measure = "makespan_ps"', 'measure = "makespan"', "results have no 'makespan': did you mean makespan_ps?"),
        ('measure = "makespan_ps"', 'measure = "open(1)"', "is no measure: 'open"),
        ('why = "It is so."', 'why = { slwo = "So." }', "there is no 'slwo': did you mean slow?"),
        ('why = "It is so."', 'why = { "slow, slwo" = "So." }', "there is no 'slwo': did you mean slow?"),
        (
            'why = "It is so."',
            'why = { "slow, as-specified" = "So.", slow = "Else." }',
            "claim A2: why: slow has two texts",
        ),
        ('unit = "x"', 'undecidable = "x"', "claim A1: unknown key undecidable"),
        ("{busy}", "{idle}", "claim A1: why: there is no 'idle': there are busy"),
        ('supports = "It fits."', "", "regimes.slow: needs supports and against"),
        ("seeds = [0, 1] }", "seeds = [0, 1], regimes.slwo = {} }", "there is no 'slwo': did you mean slow?"),
        ('axes = ["system"]', 'axes = ["sytem"]', "jobs.runs: axes: there is no 'sytem': did you mean system?"),
        ('id = "A2"', 'id = "A1"', "claim A1: is given twice"),
        ("seeds = [0, 1]", "seeds = []", "seeds is a list of whole numbers from 0 on, at least one"),
        ("requests = 200", 'requests = "many"', "requests is a whole number, not 'many'"),
        ('labels = ["ideal", "bus"]', 'labels = ["ideal"]', "trends[0]: labels are at least two"),
        ('why = "It is so."', "", "claim A2: needs why"),
        ("[regimes.as-specified]", "[regimes.others]", "made-up.toml: needs [regimes.as-specified]"),
        ("title", "title =", "made-up.toml: is not TOML"),
    ],
)
def test_a_wrong_registry_file_is_refused(tmp_path: Path, old: str, new: str, message: str) -> None:
    assert old in MADE_UP
    with pytest.raises(flashmesh.ConfigError, match=re.escape(message)):
        written(tmp_path, MADE_UP.replace(old, new, 1))


def test_one_reason_may_be_that_of_several_regimes(tmp_path: Path) -> None:
    text = MADE_UP.replace('why = "It is so."', 'why = { "slow, as-specified" = "It is so.", fit = "Else." }', 1)
    claim = written(tmp_path, text).claim("A2")
    assert [claim.sentence(regime) for regime in ("slow", "as-specified", "fit")] == ["It is so.", "It is so.", "Else."]


def test_runs_of_a_fit_may_be_shorter_than_those_of_the_regimes(tmp_path: Path) -> None:
    shorter = "seeds = [0, 1], regimes.fit = { requests = 50, seeds = [0] } }"
    job = written(tmp_path, MADE_UP.replace("seeds = [0, 1] }", shorter, 1)).jobs["runs"]
    assert [job.extent("quick", regime).requests for regime in ("slow", "fit")] == [200, 50]


def test_measures_are_arithmetic_over_keys() -> None:
    document = {"gc": {"pages_moved": 4, "pages_copied": 3}, "links": {"busy_ps": [1, 5]}, "cache": None}
    assert Expression("100 * gc.pages_copied / gc.pages_moved").of(document) == 75.0
    assert Expression("max(links.busy_ps) - sum(links.busy_ps)").of(document) == -1.0
    assert Expression("gc.pages_copied > 2").of(document) == 1.0
    assert Expression("gc.pages_moved / (gc.pages_copied - 3)").of(document) is None
    assert Expression("cache.reads.hits + 1").of(document) is None


def test_names_select_papers_figures_and_claims(made_up: Paper) -> None:
    registry = {"made-up": made_up}
    assert [claim.id for claim in select(registry, [])["made-up"]] == ["A1", "A2"]
    assert [claim.id for claim in select(registry, ["a2"])["made-up"]] == ["A2"]
    assert [claim.id for claim in select(registry, ["fig. 1a"])["made-up"]] == ["A1"]
    assert [claim.id for claim in select(registry, ["made-up/1"])["made-up"]] == ["A1", "A2"]
    assert [claim.id for claim in select(papers(), ["nossd14/13"])["nossd14"]] == [
        "P14",
        "P14.max",
        "P15",
        "P16",
        "P16.max",
    ]
    assert [claim.id for claim in select(papers(), ["nossd14/13d", "mbm/fig12"])["nossd14"]][:1] == ["P16"]
    # A figure with parts may also have claims about the whole.
    assert [claim.id for claim in select(papers(), ["venice/9"])["venice"]][-1] == "V17"
    assert {claim.figure for claim in select(papers(), ["venice/9"])["venice"]} == {
        "Figure 9",
        "Figure 9a",
        "Figure 9b",
    }
    with pytest.raises(
        flashmesh.ConfigError, match=r"there is no figure 'made-up/7': there are made-up/1a, made-up/1b"
    ):
        select(registry, ["made-up/7"])
    with pytest.raises(flashmesh.ConfigError, match=r"there is no paper 'madeup': did you mean made-up\?"):
        select(registry, ["madeup/1"])
    assert [short(text) for text in ("Figure 9a", "Fig. 9a", "9a", "Section 3.1", "Table 2")] == [
        "9a",
        "9a",
        "9a",
        "section3.1",
        "table2",
    ]


def test_volumes_are_found_by_their_names(made_up: Paper) -> None:
    assert pattern_of("HM1").search("msr-hm_1.csv.gz")
    assert pattern_of("SRC2-1").search("src2_1.csv")
    assert pattern_of("hm_0").search("msr-hm_0-7k.csv")
    assert not pattern_of("hm_1").search("hm_10.csv")
    assert not pattern_of("web_1").search("cobweb_1.csv")
    found = volumes_of(made_up, ["hm_0", "proj_3"], [Path("a/msr-hm_0-7k.csv"), Path("a/README.md")])
    assert found.found == {"hm_0": Path("a/msr-hm_0-7k.csv")}
    assert found.missing == ("proj_3",)
    assert found.settings("hm_0") == {"workload.trace": "a/msr-hm_0-7k.csv", "workload.beyond": "wrap"}
    assert found.settings("proj_3") is None


def test_a_claim_over_recorded_volumes_tells_which_they_are(made_up: Paper) -> None:
    claim, row = made_up.claims[0], Row("real-traces", (1.5,), quoted={"busy": 12.3})
    some = Outcome(made_up, "quick", {"A1": (row,)}, {"hm_0": "hm_0.csv"})
    assert why(some, claim, row) == "Replayed: hm_0 and 1 by profile. Channels are busy 12.3 % of the time."
    both = Outcome(made_up, "quick", {"A1": (row,)}, {"hm_0": "hm_0.csv", "proj_3": "proj_3.csv"})
    assert why(both, claim, row).startswith("Replayed: hm_0, proj_3. ")


def test_the_registry_is_sound_and_says_what_is_published() -> None:
    for paper in papers().values():
        for claim in paper.claims:
            assert published(claim) != "-", claim.id


def test_claims_have_the_neutral_value_of_what_they_compare() -> None:
    for paper in papers().values():
        for claim in paper.claims:
            if claim.measurement is not None and claim.measurement.compute in ("ratio", "speedup"):
                assert claim.judged.neutral == 1.0, claim.id
            if claim.measurement is not None and claim.measurement.compute in ("reduction", "increase"):
                assert claim.judged.neutral == 0.0, claim.id
    exact = [claim.id for paper in papers().values() for claim in paper.claims if claim.is_constructed]
    of_collisions = {"C03", "C04", "C15", "C16", "C17"}
    assert set(exact) == {"V01", "V02", "V33", "V34", "V35", "V36", "P18", "K09", "K10"} | of_collisions
    assert sum(claim.part_of.startswith("V") for paper in papers().values() for claim in paper.claims) == 34


def test_a_value_between_two_roundings_is_shown_alike_of_a_run_and_from_its_json(
    made_up: Paper, tmp_path: Path
) -> None:
    # The value is just below 92,367.5, to which it is rounded in the JSON. Rounding both to whole numbers would give
    # different texts.
    rows: dict[str, tuple[Row, ...]] = {
        "A1": (Row.of("slow", [92367.4999999], None, [], {"hm_0": 92367.4999999}, {"busy": 12.3499999999}),),
        "A2": (Row.of("as-specified", None, None, [[[92367.4999999, 2.0]]], {}, {}),),
    }
    outcome = Outcome(made_up, "quick", rows)
    path = tmp_path / "made-up.json"
    path.write_text(outcome.to_json())
    again = Outcome.read(path, made_up)
    for claim in made_up.claims:
        row, stored = rows[claim.id][0], again.rows[claim.id][0]
        assert measured(claim, row) == measured(claim, stored)
        assert why(outcome, claim, row) == why(again, claim, stored)
    assert again == outcome


OPEN = """
[fit]
requests = 100

[[fit.open]]
name = "outstanding"
section = "Section 1"
quote = "Many requests."
leaves = "How many is not said."
key = "replay.outstanding"
range = "1..4 x2"

[[fit.open]]
name = "paths"
section = "Section 2"
quote = "A path."
leaves = "For how long is not said."
[fit.open.choices]
released = {}
held = { where = { system = { bus = { fabric.hold-path = true } } } }

[[fit.starts]]
name = "by hand"
origin = "Somebody tried it."
choices = { outstanding = "2", paths = "held" }

[[claims]]
id = "A1"
"""
FITTED = MADE_UP.replace('[[claims]]\nid = "A1"\n', OPEN, 1)


def test_open_keys_have_choices_and_the_sentence_that_leaves_them_open(tmp_path: Path) -> None:
    paper = written(tmp_path, FITTED)
    assert [(key.name, list(key.choices)) for key in paper.open] == [
        ("outstanding", ["1", "2", "4"]),
        ("paths", ["released", "held"]),
    ]
    found = fitted(paper, paper.starts[0].choices).overrides
    assert found.set == {"replay.outstanding": "2"}
    assert found.where == {"system": {"bus": {"fabric.hold-path": True}}}
    with pytest.raises(flashmesh.ConfigError, match="there is no '3'"):
        fitted(paper, {"outstanding": "3", "paths": "held"})


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('quote = "A path."\n', "", "fit: open[1]: needs quote, a text"),
        ('range = "1..4 x2"', 'values = ["1"]', "fit: open[0]: needs two choices or more"),
        ('outstanding = "2", paths', "paths", "fit: starts[0]: choices needs outstanding: one of 1, 2, 4"),
        ('paths = "held"', 'paths = "hled"', "there is no 'hled': did you mean held?"),
        ("requests = 100", 'base = "slwo"', "there is no 'slwo': did you mean slow?"),
        ("system = { bus = { fabric.hold-path", "system = { bsu = { fabric.hold-path", "there is no 'bsu'"),
        (
            "released = {}",
            'released = { measures = { "iops" = "requests" } }',
            "released: measures: there is no 'iops'",
        ),
        ("released = {}", 'released = { measures = { "makespan_ps" = "latency" } }', "results have no 'latency'"),
    ],
)
def test_a_wrong_list_of_open_keys_is_refused(tmp_path: Path, old: str, new: str, message: str) -> None:
    assert old in FITTED
    with pytest.raises(flashmesh.ConfigError, match=re.escape(message)):
        written(tmp_path, FITTED.replace(old, new, 1))


def test_readings_are_joined_key_by_key_and_a_change_comes_last(tmp_path: Path) -> None:
    paper = written(tmp_path, MADE_UP)
    first = Overrides({"a": 1, "b": 1}, {"runs": {"c": 1}}, {"system": {"bus": {"d": 1}}})
    other = first.joined(Overrides({"b": 2}, {"runs": {"e": 2}}, {"system": {"bus": {"f": 2}, "ideal": {"d": 2}}}))
    assert other == Overrides(
        {"a": 1, "b": 2}, {"runs": {"c": 1, "e": 2}}, {"system": {"bus": {"d": 1, "f": 2}, "ideal": {"d": 2}}}
    )
    made = changed(paper, paper.claims, "slow", {"host.link-rate": "2GB/s", "fabric.hold-path": "false"})
    run = Point("made-up", "runs", "changed", (("system", "bus"), ("workload", "hm_0")), 0)
    settings = settings_of(made, run, "quick", Volumes())
    assert (settings["host.link-rate"], settings["fabric.hold-path"]) == ("2GB/s", "false")
    before = settings_of(made, Point("made-up", "runs", "slow", run.labels, 0), "quick", Volumes())
    assert (before["host.link-rate"], before["fabric.hold-path"]) == ("1GB/s", "true")


def test_keys_of_the_drive_of_a_job_yield_to_those_of_a_reading(tmp_path: Path) -> None:
    told = "[jobs.runs]\n"
    assert told in MADE_UP
    drive = 'drive = { host.link-rate = "3GB/s", geometry.channels = 2 }\n'
    paper = written(tmp_path, MADE_UP.replace(told, told + drive, 1))
    labels = (("system", "bus"), ("workload", "hm_0"))
    rates = {
        regime: settings_of(paper, Point("made-up", "runs", regime, labels, 0), "quick", Volumes())
        for regime in ("as-specified", "slow")
    }
    assert [each["host.link-rate"] for each in rates.values()] == ["3GB/s", "1GB/s"]
    assert [each["geometry.channels"] for each in rates.values()] == ["2", "2"]


DRIVE = ("geometry.", "flash.", "fabric.", "precondition.", "ftl.", "gc.", "mapping.", "cache.", "workload.footprint")
"""Keys of a drive and of how full it is."""


@pytest.mark.parametrize("paper", papers().values(), ids=list(papers()))
def test_no_job_changes_the_drive_of_a_reading(paper: Paper) -> None:
    for job in paper.jobs.values():
        for regime in paper.regimes.values():
            stated = regime.overrides.set.keys() - regime.overrides.jobs.get(job.name, {}).keys()
            changed = [key for key in stated & job.set.keys() if job.set[key] != regime.overrides.set[key]]
            assert not [key for key in changed if key.startswith(DRIVE)], f"{job.name} in {regime.name}"


def test_a_reading_may_set_keys_of_some_workloads_alone_by_name_or_by_list(tmp_path: Path) -> None:
    told = 'set = { host.link-rate = "1GB/s" }\n'
    assert told in MADE_UP
    of_list = 'where.workload."@both" = { workload.footprint = "8MiB" }\n'
    of_name = "where.workload.proj_3 = { workload.pair-repetition = 10 }\n"
    lists = '[lists]\nboth = ["hm_0", "proj_3"]\nnone = []\n\n[regimes.as-specified]'
    text = MADE_UP.replace(told, told + of_list + of_name, 1).replace("[regimes.as-specified]", lists, 1)
    paper = written(tmp_path, text)
    settings = {
        workload: settings_of(
            paper, Point("made-up", "runs", "slow", (("system", "bus"), ("workload", workload)), 0), "quick", Volumes()
        )
        for workload in ("hm_0", "proj_3")
    }
    assert [each["workload.footprint"] for each in settings.values()] == ["8MiB", "8MiB"]
    assert [each.get("workload.pair-repetition") for each in settings.values()] == [None, "10"]
    assert overrides_text(paper, paper.regimes["slow"].overrides)[1:3] == [
        "workload hm_0, proj_3: workload.footprint=8MiB",
        "workload proj_3: workload.pair-repetition=10",
    ]
    for wrong, message in (('"@bth"', "there is no '@bth': did you mean @both?"), ("proj_4", "did you mean proj_3?")):
        with pytest.raises(flashmesh.ConfigError, match=message):
            written(tmp_path, text.replace('"@both" = {', f"{wrong} = {{", 1))


def test_a_run_has_no_more_requests_than_its_volume(tmp_path: Path) -> None:
    told = "quick = { requests = "
    assert told in MADE_UP
    text = MADE_UP.replace(told, "quick = { requests-of = { proj_3 = 7 }, requests = ", 1)
    paper = written(tmp_path, text)
    requests = {}
    for workload in ("hm_0", "proj_3"):
        run = Point("made-up", "runs", "slow", (("system", "bus"), ("workload", workload)), 0)
        requests[workload] = settings_of(paper, run, "quick", Volumes())["workload.requests"]
    assert requests["proj_3"] == "7" != requests["hm_0"]
    with pytest.raises(flashmesh.ConfigError, match="did you mean proj_3"):
        written(tmp_path, text.replace("proj_3 = 7", "proj_4 = 7", 1))


def test_a_reading_may_measure_something_else_in_all_claims_at_once(tmp_path: Path) -> None:
    told = 'set = { host.link-rate = "1GB/s" }\n'
    other = 'measures = { "makespan_ps" = "latency_ps.all.mean" }\n'
    paper = written(tmp_path, MADE_UP.replace(told, told + other, 1))
    values: dict[tuple[Point, str], float | None] = {}
    for regime in ("as-specified", "slow"):
        for system, makespan, latency in (("bus", 6.0, 9.0), ("ideal", 3.0, 1.0)):
            for workload in ("hm_0", "proj_3"):
                for seed in (0, 1):
                    run = Point("made-up", "runs", regime, (("system", system), ("workload", workload)), seed)
                    values[run, "makespan_ps"], values[run, "latency_ps.all.mean"] = makespan, latency
    measures = Measures(paper, "quick", values)
    gain, trend = paper.claims[0].measurement, paper.claims[1].trends[0]
    assert gain is not None
    assert measures.by_seed(gain, "as-specified", gain.of) == (2.0, 2.0)
    assert measures.by_seed(gain, "slow", gain.of) == (9.0, 9.0)
    along = (trend.axis, trend.labels)
    assert measures.curve(Need(trend.measurement, "as-specified", along)) == ((3.0, 6.0), (3.0, 6.0))
    assert measures.curve(Need(trend.measurement, "slow", along)) == ((1.0, 9.0), (1.0, 9.0))
    joined = paper.regimes["slow"].overrides.joined(Overrides(measures={"iops": Expression("requests")}))
    assert list(joined.measures) == ["makespan_ps", "iops"]


def test_a_search_goes_on_from_the_best_reading_by_one_choice_at_a_time(tmp_path: Path) -> None:
    pytest.importorskip("optuna")
    more = """
[[fit.open]]
name = "KEY"
section = "Section 3"
quote = "A key."
leaves = "Which is not said."
key = "fabric.channel-rate"
values = ["1GB/s", "2GB/s", "3GB/s", "4GB/s"]

[[fit.starts]]"""
    keys = "".join(more.replace("KEY", f"key {number}").replace("[[fit.starts]]", "") for number in range(4))
    started = ", ".join(f'"key {number}" = "1GB/s"' for number in range(4))
    text = FITTED.replace("[[fit.starts]]", keys.strip() + "\n\n[[fit.starts]]", 1)
    paper = written(tmp_path, text.replace('outstanding = "2", paths', f'{started}, outstanding = "2", paths', 1))

    class Counted(FitSearch):
        """A search in which each choice has an independent effect, and nothing is simulated."""

        def measured(self, paper: Paper, choices: dict[str, str], mode: str, executor: object) -> Reading:
            right = sum(choices[f"key {number}"] == f"{number + 1}GB/s" for number in range(4))
            return Reading("fit", (right, right, right), (0, 0, 0))

    def unused() -> Store:
        raise AssertionError

    search = Counted(paper, paper.claims, 40, unused)
    found = search.run("quick", LocalThreads(1), lambda _: None)
    assert [found.choices[f"key {number}"] for number in range(4)] == ["1GB/s", "2GB/s", "3GB/s", "4GB/s"]
    assert [trial.start for trial in search.trials[:2]] == ["by hand", ""]
    steps = [trial for number, trial in enumerate(search.trials) if number and number % STEPS]
    for trial in steps[:3]:
        earlier = search.trials[: search.trials.index(trial)]
        best = max(earlier, key=lambda each: each.score)
        assert sum(trial.choices[key] != best.choices[key] for key in best.choices) == 1


def test_a_changed_key_is_shown_claim_by_claim(made_up: Paper) -> None:
    paper = changed(made_up, made_up.claims, "slow", {"host.link-rate": "2GB/s"})
    rows: dict[str, tuple[Row, ...]] = {
        "A1": (Row("slow", (2.0,)), Row("changed", (1.5,))),
        "A2": (Row("slow", curves=(((1.0, 2.0),),)), Row("changed", curves=(((2.0, 1.0),),))),
    }
    lines = table(Outcome(paper, "quick", rows), "slow")
    assert "* A1              10 %              50 %" in lines
    assert "      published 2.00 x: 2.00 x, changed 1.50 x" in lines
    assert "* A2              10 %              opposite" in lines
    assert lines[-1].startswith("claims within 10 / 25 / 50 % of the effect: slow 2 / 2 / 2; changed 0 / 0 / 1;")
