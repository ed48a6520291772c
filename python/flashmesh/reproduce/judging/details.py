"""Details of an outcome that only its JSON document has: readings, runs, labels and open keys."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from flashmesh.reproduce.judging.summary import best_reading, reading
from flashmesh.reproduce.judging.texts import one_line, overrides_text, settings_text

if TYPE_CHECKING:
    from flashmesh.reproduce.judging.outcome import Outcome
    from flashmesh.reproduce.registry.paper import Extent, Job


def details(outcome: Outcome) -> dict[str, Any]:
    """Returns the details by their names in the JSON document."""
    paper = outcome.paper
    used = {measurement.job for claim in outcome.claims() for measurement in claim.measurements()}
    jobs = {name: job for name, job in paper.jobs.items() if name in used}
    return {
        "overview": paper.overview.strip(),
        "best_stated_reading": best_reading(outcome).regime,
        "readings": {name: told(outcome, name) for name in outcome.regimes()},
        "runs": {name: runs(outcome, job) for name, job in jobs.items()},
        "labels": {
            axis: {label: settings_text(settings) for label, settings in paper.axes[axis].items()}
            for axis in dict.fromkeys(axis for job in jobs.values() for axis in job.axes)
        },
        "open": [
            {
                "name": key.name,
                "section": key.section,
                "quote": key.quote,
                "leaves": key.leaves,
                "choices": {name: overrides_text(paper, choice) for name, choice in key.choices.items()},
            }
            for key in paper.open
        ],
        "starts": {start.name: one_line(start.origin) for start in paper.starts},
    }


def told(outcome: Outcome, name: str) -> dict[str, Any]:
    """Returns a regime (a stated interpretation of the paper) as a table.

    The table has its description, its evidence, its keys, and the number of claims that hold in it.
    """
    found = reading(outcome, name)
    counts = {"within": list(found.within), "sub_values_within": list(found.subs)}
    if name not in outcome.paper.regimes:
        return counts
    regime = outcome.paper.regimes[name]
    return {
        "says": one_line(regime.says),
        "supports": outcome.told(regime.supports),
        "against": outcome.told(regime.against),
        "keys": overrides_text(outcome.paper, regime.overrides),
        **counts,
    }


def runs(outcome: Outcome, job: Job) -> dict[str, Any]:
    """Returns the configuration of a job, and its extent in each regime (interpretation of the paper).

    Gives the extent (requests, seeds, workloads) in the best stated reading, and in each regime in which it differs.
    """
    best = job.extent(outcome.mode, best_reading(outcome).regime)
    others = {name: job.extent(outcome.mode, name) for name in outcome.regimes()}
    return {
        "configuration": job.config,
        "keys": settings_text(job.drive | job.set),
        "axes": list(job.axes),
        **extent_of(best),
        "other_readings": {name: extent_of(extent) for name, extent in others.items() if extent != best},
    }


def extent_of(extent: Extent) -> dict[str, Any]:
    """Returns the workloads, requests and seeds of the runs of a job."""
    return {"workloads": list(extent.workloads), "requests": extent.requests, "seeds": list(extent.seeds)}
