"""Search for the regime (values of the keys that a paper leaves open) in which most claims hold, with short runs."""

from __future__ import annotations

from dataclasses import dataclass, replace
from random import Random
from typing import TYPE_CHECKING, Any

from flashmesh._native import ConfigError
from flashmesh.installation.extras import install
from flashmesh.reproduce.judging.outcome import Fit
from flashmesh.reproduce.judging.summary import Reading, reading
from flashmesh.reproduce.registry.openkeys import fitted
from flashmesh.reproduce.registry.paper import FIT, MODES
from flashmesh.reproduce.running.engine import Reproduction, Selection

if TYPE_CHECKING:
    from collections.abc import Callable

    from flashmesh.reproduce.registry.paper import Claim, Extent, Job, Paper
    from flashmesh.sweeps.executors.session import Executor
    from flashmesh.sweeps.results.store import Store

SEED = 1
"""Seed of the search: a repeated search proposes the same regimes (values of the open keys), so that their runs are
already in the store."""
STEPS = 4
"""Period of the proposals: Optuna proposes one of every four regimes (values of the open keys); the other three are the
best regime with one choice changed."""
VERIFIED = 4
"""Number of the best regimes (values of the open keys) that are measured in full, in addition to all starts, since the
best regime of short runs need not be the best in full. The best regime in full is the fit."""


@dataclass(frozen=True)
class Trial:
    """A regime (values of the open keys) that the search tried, with the number of claims that hold in it."""

    choices: dict[str, str]
    found: Reading
    start: str
    """Name of the start (a regime from which the search begins); empty for a regime that the search proposed."""

    @property
    def score(self) -> tuple[int, tuple[int, ...], int]:
        """Sort key of trials: by the claims that hold, then by the sub-values that hold."""
        return (*self.found.score, sum(self.found.subs))


class FitSearch:
    """A search over the choices of the keys that a paper leaves open."""

    def __init__(self, paper: Paper, claims: tuple[Claim, ...], trials: int, open_store: Callable[[], Store]) -> None:
        """Prepares a search for the regime (values of the open keys) in which most of `claims` hold.

        The search tries at least `trials` regimes.

        Raises:
            ConfigError: If the paper leaves no key open, all claims are exact by construction, or Optuna is missing.
        """
        if not paper.open:
            raise ConfigError(f"{paper.key}: its registry lists no key that the paper leaves open: nothing to fit")
        if all(claim.is_constructed for claim in claims):
            raise ConfigError(f"{paper.key}: these claims are exact by construction: no reading changes them")
        try:
            import optuna
        except ImportError as error:
            raise ConfigError(f"a fit needs Optuna, which is not installed: {install('search')}") from error
        optuna.logging.set_verbosity(optuna.logging.ERROR)
        self.paper = paper
        self.small = small(paper)
        # Remove sentences: the numbers that they quote would need more runs.
        self.claims = tuple(replace(claim, why={}) for claim in claims if not claim.is_constructed)
        self.count = max(trials, len(paper.starts))
        self.open_store = open_store
        self.study: Any = optuna.create_study(direction="maximize", sampler=optuna.samplers.TPESampler(seed=SEED))
        for start in paper.starts:
            self.study.enqueue_trial(dict(start.choices))
        self.draw = Random(SEED)
        self.trials: list[Trial] = []

    def run(self, mode: str, executor: Executor, on_trial: Callable[[Trial], None]) -> Fit:
        """Tries `count` regimes (values of the open keys) with short runs, and measures the best ones in full.

        Returns the best of those measured in full.
        """
        known: dict[tuple[str, ...], Reading] = {}
        for number in range(self.count):
            if number >= len(self.paper.starts) and number % STEPS:
                self.climb()
            asked = self.study.ask()
            choices = {key.name: asked.suggest_categorical(key.name, list(key.choices)) for key in self.paper.open}
            found = known.get(tuple(choices.values()))
            if found is None:
                found = known[tuple(choices.values())] = self.tried(choices, executor, number)
            self.study.tell(asked, sum(found.within) + sum(found.subs) / 1000)
            start = self.paper.starts[number].name if number < len(self.paper.starts) else ""
            self.trials.append(Trial(choices, found, start))
            on_trial(self.trials[-1])
        verified = [
            replace(trial, found=self.measured(self.paper, trial.choices, mode, executor)) for trial in self.best()
        ]
        best = max(verified, key=lambda trial: trial.score)
        if best.start:
            origin = f"It is {best.start}, from which the search began"
        else:
            origin = "It is one that the search proposed"
        origin = f"{origin}, the best of the {len(verified)} that were measured in full."
        told = [
            {
                "name": trial.start or "proposed by the search",
                "choices": trial.choices,
                "within": list(trial.found.within),
                "of_number": list(trial.found.of_number),
            }
            for trial in verified
        ]
        return Fit(best.choices, len(self.trials), self.paper.fit_requests, origin, told)

    def climb(self) -> None:
        """Enqueues an untried regime that differs from the best regime by one choice, if there is one.

        Optuna proposes all choices at once, and so rarely finds the single choice that a good regime lacks.
        """
        if not self.trials:
            return
        tried = {tuple(trial.choices.values()) for trial in self.trials}
        best = max(self.trials, key=lambda trial: trial.score)
        near = [best.choices | {key.name: choice} for key in self.paper.open for choice in key.choices]
        untried = [choices for choices in near if tuple(choices.values()) not in tried]
        if untried:
            self.study.enqueue_trial(self.draw.choice(untried))

    def best(self) -> list[Trial]:
        """Returns the `VERIFIED` regimes with the best short runs, and all starts of the search; each regime once."""
        ranked: dict[tuple[str, ...], Trial] = {}
        for trial in sorted(self.trials, key=lambda trial: trial.score, reverse=True):
            ranked.setdefault(tuple(trial.choices.values()), trial)
        trials = list(ranked.values())
        return [trial for at, trial in enumerate(trials) if at < VERIFIED or trial.start]

    def tried(self, choices: dict[str, str], executor: Executor, number: int) -> Reading:
        """Returns the numbers of claims that hold in a regime with short runs; zeros if a run cannot be configured.

        Raises:
            ConfigError: If the regime is a start of the search, and a run of it cannot be configured.
        """
        try:
            return self.measured(self.small, choices, MODES[0], executor)
        except ConfigError:
            if number < len(self.paper.starts):
                raise
            return Reading(FIT, (0, 0, 0), (0, 0, 0))

    def measured(self, paper: Paper, choices: dict[str, str], mode: str, executor: Executor) -> Reading:
        """Returns the numbers of claims that hold in a regime (values of the open keys) of a paper.

        Raises:
            ConfigError: If the regime cannot be configured.
        """
        selection = Selection(paper.with_regime(fitted(paper, choices)), self.claims, chosen=(FIT,))
        reproduction = Reproduction.prepared([selection], mode, self.open_store, executor.places)
        reproduction.session.run(executor)
        (outcome,) = reproduction.outcomes()
        return reading(outcome, FIT)


def small(paper: Paper) -> Paper:
    """Returns a paper whose runs have at most `fit_requests` requests, and one seed."""

    def cut(extent: Extent) -> Extent:
        requests = None if extent.requests is None else min(extent.requests, paper.fit_requests)
        return replace(extent, seeds=extent.seeds[:1], requests=requests)

    def shortened(job: Job) -> Job:
        return replace(job, extents={mode: cut(extent) for mode, extent in job.extents.items()}, of_regimes={})

    return replace(paper, jobs={name: shortened(job) for name, job in paper.jobs.items()})
