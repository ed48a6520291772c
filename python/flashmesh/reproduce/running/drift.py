"""Drift of a reproduction: how much each claim changes if its runs have twice the requests.

Drift is measured in the best stated reading, the interpretation of the paper that agrees best with its claims.
"""

from __future__ import annotations

from dataclasses import replace
from statistics import fmean
from typing import TYPE_CHECKING

from flashmesh.reproduce.judging.outcome import rounded
from flashmesh.reproduce.judging.summary import best_reading
from flashmesh.reproduce.judging.verdict import allowance
from flashmesh.reproduce.running.engine import Selection

if TYPE_CHECKING:
    from flashmesh.reproduce.judging.outcome import Outcome
    from flashmesh.reproduce.registry.paper import Claim, Extent, Job, Paper


def doubled(outcome: Outcome) -> Selection:
    """Returns the claims that can drift, to be measured in the best stated reading over runs of twice the requests."""
    # Remove sentences: the numbers that they quote would need more runs.
    claims = tuple(replace(claim, why={}) for claim in outcome.claims() if has_drift(claim))
    return Selection(twice(outcome.paper), claims, chosen=(best_reading(outcome).regime,))


def has_drift(claim: Claim) -> bool:
    """Returns whether a claim is a number, has a tolerance, depends on the regime, and is not a sub-value."""
    is_number = claim.measurement is not None and allowance(claim.judged) > 0.0
    return is_number and not claim.is_constructed and not claim.part_of


def twice(paper: Paper) -> Paper:
    """Returns a paper whose runs have twice the requests.

    Workloads with a number of requests of their own (`Extent.requests_of`) keep it.
    """

    def longer(extent: Extent) -> Extent:
        return replace(extent, requests=None if extent.requests is None else 2 * extent.requests)

    def job(each: Job) -> Job:
        return replace(
            each,
            extents={mode: longer(extent) for mode, extent in each.extents.items()},
            of_regimes={key: longer(extent) for key, extent in each.of_regimes.items()},
        )

    return replace(paper, jobs={name: job(each) for name, each in paper.jobs.items()})


def with_drift(outcome: Outcome, longer: Outcome) -> Outcome:
    """Returns an outcome with the drift of each claim, from the outcome `longer` of runs with twice the requests."""
    regime = best_reading(outcome).regime
    drift: dict[str, float] = {}
    for claim in longer.claims():
        before, after = outcome.row(claim, regime).values, longer.row(claim, regime).values
        if before and after:
            drift[claim.id] = rounded(fmean(after) - fmean(before))
    return replace(outcome, drift=drift)
