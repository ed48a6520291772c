"""What a search has found, as a part of a page: the front as a table, and every drive tried as a chart."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from flashmesh.axes import Value  # noqa: TC001 - read at run time
from flashmesh.configuration import value_text
from flashmesh.plots.parallel import Drive, parallel
from flashmesh.plots.pareto import Axis, Trial, kind_of, pareto
from flashmesh.plots.runs import labelled
from flashmesh.record import record
from flashmesh.results.schema import checker
from flashmesh.sweeps.search import SEARCH

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from flashmesh.html.tables import Cell
    from flashmesh.plots.style import Plot


@record
class SavedObjective:
    """What was wanted."""

    measure: str
    direction: Literal["minimise", "maximise"]


@record
class SavedConstraint:
    """What was to be kept to."""

    measure: str
    bound: float
    text: str


@record
class SavedTrial:
    """A drive that was tried."""

    settings: dict[str, Value]
    measures: dict[str, float] | None
    feasible: bool
    pareto: bool


@record
class SavedSearch:
    """What the file of a search holds, as far as it is shown."""

    objectives: tuple[SavedObjective, ...]
    constraints: tuple[SavedConstraint, ...]
    trials: tuple[SavedTrial, ...]


@dataclass(frozen=True)
class Found:
    """A search that is shown."""

    objectives: tuple[Axis, ...]
    constraints: tuple[tuple[str, str], ...]
    """Each measure with its bound, as it was asked."""
    trials: tuple[Trial, ...]
    """Those that gave a result."""
    failed: int
    """Those that gave none."""
    documents: tuple[Mapping[str, Any], ...]
    """The trials as they are kept."""

    @property
    def front(self) -> list[Mapping[str, Any]]:
        """The trials of the front, each point once, the best in the first objective first."""
        listed = {json.dumps(each["settings"]): each for each in self.documents if each["pareto"]}
        first = self.objectives[0]
        sign = -1 if first.direction == "maximise" else 1
        return sorted(listed.values(), key=lambda each: sign * each["measures"][first.name])

    @property
    def sentence(self) -> str:
        """What was asked, and what came out."""
        wanted = " and ".join(f"{axis.direction} {axis.name}" for axis in self.objectives)
        kept = "; ".join(f"{name} {text}" for name, text in self.constraints)
        tried = len({trial.settings for trial in self.trials})
        within = len({trial.settings for trial in self.trials if trial.feasible})
        told = f"Asked: {wanted}{f', with {kept}' if kept else ''}. {tried} drives gave a result"
        told += f", {within} of them within the constraints" if kept else ""
        return told + (f"; {self.failed} trials gave none." if self.failed else ".")

    def columns(self) -> list[str]:
        """The headings of the table of the front."""
        settings = list(self.front[0]["settings"]) if self.front else []
        return [*settings, *self.measures()]

    def measures(self) -> list[str]:
        """The names of the objectives and of what is kept to, each once."""
        return list(dict.fromkeys([*(axis.name for axis in self.objectives), *(name for name, _ in self.constraints)]))

    def rows(self) -> list[tuple[list[str], list[Cell]]]:
        """The table of the front: of each drive its settings and its measures."""
        from flashmesh.html.tables import Cell
        from flashmesh.report.measures import measure_named

        shown = {name: measure_named(name) for name in self.measures()}
        found = []
        for trial in self.front:
            values = trial["measures"]
            cells = [Cell(name, values[name], measure.text(values[name])) for name, measure in shown.items()]
            found.append(([value_text(value) for value in trial["settings"].values()], cells))
        return found

    def plots(self) -> list[Plot]:
        """The first objective against each other one; against what is kept to where there is one objective."""
        if not self.trials:
            return []
        first, *others = self.objectives
        names = {axis.name for axis in self.objectives}
        others = others or [axis for axis in self.kept() if axis.name not in names]
        found = [pareto(self.trials, first, other, len(self.objectives) == 2) for other in others]
        together = self.all_keys()
        return [*found, together] if together is not None else found

    def all_keys(self) -> Plot | None:
        """Every drive tried, as a line through all its keys and measures, those of the front first."""
        from flashmesh.report.measures import measure_named

        each = {json.dumps(one["settings"]): one for one in self.documents}
        ranked = sorted(each.values(), key=lambda one: (not one["pareto"], not one["feasible"]))
        drives = [Drive(one["settings"], one["measures"], kind_of(one["feasible"], one["pareto"])) for one in ranked]
        return parallel(drives, {name: measure_named(name) for name in self.measures()})

    def order(self) -> list[str]:
        """The drives tried by their settings: those of the front first, then those within the constraints."""
        front = [labelled(each["settings"]) for each in self.front]
        within = [trial.settings for trial in self.trials if trial.feasible]
        return list(dict.fromkeys([*front, *within, *(trial.settings for trial in self.trials)]))

    def kept(self) -> list[Axis]:
        """What is kept to, as axes."""
        bounds = {axis.name: axis for axis in self.objectives}
        return [bounds.get(name, Axis(name, unit_of(name))) for name, _ in self.constraints]


def unit_of(name: str) -> str:
    """The unit of a measure."""
    from flashmesh.report.measures import measure_named

    return measure_named(name).unit


def read_search(folder: Path) -> Found | None:
    """What the folder of a search holds; None of a search that has not tried anything.

    Raises:
        OSError: When it cannot be read.
        ValueError: When it is no JSON, or none of a search.
        FlashmeshError: When it names measures that there are not.
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
