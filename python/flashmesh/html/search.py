"""Search results as a section of a page: a table of the Pareto front, and charts of all tried drives."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from flashmesh.comparing.axes import Value  # noqa: TC001 - read at run time
from flashmesh.configuration import value_text
from flashmesh.keys import short_key
from flashmesh.plots.comparisons.parallel import Drive, parallel
from flashmesh.plots.comparisons.pareto import Axis, Trial, kind_of, pareto
from flashmesh.plots.runs import labelled, named
from flashmesh.record import record
from flashmesh.report import quantities as q
from flashmesh.results.schema import checker
from flashmesh.sweeps.search import SEARCH

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from flashmesh.html.tables import Cell
    from flashmesh.plots.style import Plot


@record
class SavedObjective:
    """An objective of a saved search."""

    measure: str
    direction: Literal["minimise", "maximise"]


@record
class SavedConstraint:
    """A constraint of a saved search."""

    measure: str
    bound: float
    text: str


@record
class SavedTrial:
    """A tried drive of a saved search."""

    settings: dict[str, Value]
    measures: dict[str, float] | None
    feasible: bool
    pareto: bool


@record
class SavedSearch:
    """The parts of the JSON of a search (`search.json`) that a page shows."""

    objectives: tuple[SavedObjective, ...]
    constraints: tuple[SavedConstraint, ...]
    trials: tuple[SavedTrial, ...]


@dataclass(frozen=True)
class Found:
    """Results of a search, prepared for a report."""

    objectives: tuple[Axis, ...]
    constraints: tuple[tuple[str, str], ...]
    """Name of each constrained measure, with its bound as text."""
    trials: tuple[Trial, ...]
    """Tried drives whose run has a result, for charts."""
    failed: int
    """Number of trials without a result."""
    documents: tuple[Mapping[str, Any], ...]
    """Tried drives whose run has a result, as in the JSON of the search."""

    @property
    def front(self) -> list[Mapping[str, Any]]:
        """Trials on the Pareto front, without repeated drives, in order of the first objective, the best first."""
        listed = {json.dumps(each["settings"]): each for each in self.documents if each["pareto"]}
        first = self.objectives[0]
        sign = -1 if first.direction == "maximise" else 1
        return sorted(listed.values(), key=lambda each: sign * each["measures"][first.name])

    @property
    def sentence(self) -> str:
        """Sentences on the objectives, the constraints and the numbers of trials."""
        wanted = " and ".join(f"{axis.direction} {axis.name}" for axis in self.objectives)
        kept = "; ".join(f"{name} {text}" for name, text in self.constraints)
        tried = len({trial.settings for trial in self.trials})
        within = len({trial.settings for trial in self.trials if trial.feasible})
        told = f"Asked: {wanted}{f', with {kept}' if kept else ''}. {tried} drives gave a result"
        told += f", {within} of them within the constraints" if kept else ""
        return told + (f"; {self.failed} trials gave none." if self.failed else ".")

    def columns(self) -> list[str]:
        """Returns the headings of the table of the front."""
        settings = list(self.front[0]["settings"]) if self.front else []
        return [*settings, *self.measures()]

    def measures(self) -> list[str]:
        """Returns the names of the objectives and constrained measures, each once."""
        return list(dict.fromkeys([*(axis.name for axis in self.objectives), *(name for name, _ in self.constraints)]))

    def rows(self) -> list[tuple[list[str], list[Cell]]]:
        """Returns the table of the front: for each drive, the texts of its settings and the cells of its measures."""
        from flashmesh.html.tables import Cell
        from flashmesh.report.measures.measure import measure_named

        shown = {name: measure_named(name) for name in self.measures()}
        found = []
        for trial in self.front:
            values = trial["measures"]
            cells = [Cell(name, values[name], measure.text(values[name])) for name, measure in shown.items()]
            found.append((list(settings_of(trial).values()), cells))
        return found

    @property
    def answer(self) -> str:
        """Sentences on the best drive by the first objective, and on the number of other drives on the front."""
        front = self.front
        if not front:
            return f"None of the {len(self.trials):,} tried drives meets the constraints."
        best = front[0]
        read = ", ".join(
            f"{short_key(key)}={value}" for key, value in settings_of(best).items() if key not in idle_of(best)
        )
        measured = ", ".join(f"{name} {text}" for name, text in self.texts(best).items())
        told = f"Best in {self.objectives[0].name}: {read}, with {measured}."
        others = len(front) - 1
        if not others:
            return told
        beaten = "1 more drive is" if others == 1 else f"{others} more drives are"
        return f"{told} {beaten} better in another objective."

    def texts(self, trial: Mapping[str, Any]) -> dict[str, str]:
        """Returns the measures of a trial as texts with units, by name."""
        from flashmesh.report.measures.measure import measure_named

        return {name: measure_named(name).text(trial["measures"][name]) for name in self.measures()}

    def plots(self) -> list[Plot]:
        """Returns charts of the first objective over each other objective or, for a single one, over constraints."""
        if not self.trials:
            return []
        first, *others = self.objectives
        names = {axis.name for axis in self.objectives}
        others = others or [axis for axis in self.kept() if axis.name not in names]
        found = [pareto(self.trials, first, other, len(self.objectives) == 2) for other in others]
        together = self.all_keys()
        return [*found, together] if together is not None else found

    def all_keys(self) -> Plot | None:
        """Returns a chart of every tried drive over all keys and measures; drives of the front come first."""
        from flashmesh.report.measures.measure import measure_named

        each = {json.dumps(one["settings"]): one for one in self.documents}
        ranked = sorted(each.values(), key=lambda one: (not one["pareto"], not one["feasible"]))
        drives = [Drive(one["settings"], one["measures"], kind_of(one["feasible"], one["pareto"])) for one in ranked]
        return parallel(drives, {name: measure_named(name) for name in self.measures()})

    def names(self) -> dict[str, str]:
        """Returns the name of each tried drive in charts, by its settings.

        `-` stands for a key that the drive does not read.
        """
        return {
            labelled(each["settings"]): named(tuple(each["settings"]), list(settings_of(each).values()))
            for each in self.documents
        }

    def read_settings(self) -> dict[str, dict[str, str]]:
        """Returns the settings of each drive, by the text of all its settings; `-` stands for an unread key."""
        return {labelled(each["settings"]): settings_of(each) for each in self.documents}

    def order(self) -> list[str]:
        """Returns the settings of the tried drives: the Pareto front, others within the constraints, all others."""
        front = [labelled(each["settings"]) for each in self.front]
        within = [trial.settings for trial in self.trials if trial.feasible]
        return list(dict.fromkeys([*front, *within, *(trial.settings for trial in self.trials)]))

    def kept(self) -> list[Axis]:
        """Returns the constrained measures as axes of charts."""
        bounds = {axis.name: axis for axis in self.objectives}
        return [bounds.get(name, Axis(name, unit_of(name))) for name, _ in self.constraints]


def idle_of(trial: Mapping[str, Any]) -> Sequence[str]:
    """Returns the keys that the drive of a trial does not read."""
    found: Sequence[str] = trial.get("idle", ())
    return found


def settings_of(trial: Mapping[str, Any]) -> dict[str, str]:
    """Returns the settings of a trial as texts; `-` stands for a key that the drive does not read."""
    idle = idle_of(trial)
    return {key: q.NONE if key in idle else value_text(value) for key, value in trial["settings"].items()}


def unit_of(name: str) -> str:
    """Returns the unit of a measure."""
    from flashmesh.report.measures.measure import measure_named

    return measure_named(name).unit


def read_search(folder: Path) -> Found | None:
    """Reads the search in a folder; None if no drive has been tried yet.

    Raises:
        OSError: If the file cannot be read.
        ValueError: If the file is not the JSON of a search.
        FlashmeshError: If the search names unknown measures.
    """
    path = folder / SEARCH
    if not path.is_file():
        return None
    document = json.loads(path.read_text(encoding="utf-8"))
    checker(SavedSearch)(document)
    bounds = {each["measure"]: each["bound"] for each in document["constraints"]}
    objectives = tuple(
        Axis(each["measure"], unit_of(each["measure"]), each["direction"], bounds.get(each["measure"]))
        for each in document["objectives"]
    )
    measured = [each for each in document["trials"] if each["measures"] is not None]
    trials = tuple(
        Trial(labelled(each["settings"]), each["measures"], each["feasible"], each["pareto"]) for each in measured
    )
    return Found(
        objectives,
        tuple((each["measure"], each["text"]) for each in document["constraints"]),
        trials,
        len(document["trials"]) - len(measured),
        tuple(measured),
    )
