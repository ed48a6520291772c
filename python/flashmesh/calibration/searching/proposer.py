"""Proposal of drives from the whole space of searched keys, by Optuna."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from flashmesh._native import ConfigError
from flashmesh.installation.extras import install

if TYPE_CHECKING:
    from flashmesh.calibration.searching.bench import Bench, Candidate, Settings
    from flashmesh.calibration.space import Space

AT_ONCE = 4
"""Number of drives proposed together, before their losses are known. Independent of the number of cores."""


@dataclass(frozen=True)
class Proposer:
    """Proposer of drives by a tree-structured Parzen estimator (TPE)."""

    space: Space
    base: Settings
    """Values of all keys in the initial drive. Proposed drives differ from these only by keys in `space`."""
    study: Any

    def __call__(self, bench: Bench, count: int) -> None:
        """Tries `count` proposed drives on a bench. First adds the candidates of the bench to the Optuna study.

        Raises:
            OutOfTime: If the stage runs out of time.
        """
        self.tell(bench.candidates)
        for begin in range(0, count, AT_ONCE):
            asked = [self.study.ask() for _ in range(min(AT_ONCE, count - begin))]
            candidates = bench.try_all([self.proposed(trial) for trial in asked])
            for trial, candidate in zip(asked, candidates, strict=True):
                self.study.tell(trial, candidate.loss)

    def tell(self, candidates: list[Candidate]) -> None:
        """Adds candidates to the study as finished trials, from which the estimator learns their losses."""
        import optuna

        domains: dict[str, optuna.distributions.BaseDistribution] = {
            key.key: optuna.distributions.CategoricalDistribution(list(key.domain))
            if isinstance(key.domain, tuple)
            else optuna.distributions.FloatDistribution(0.0, 1.0)
            for key in self.space.keys
        }
        for candidate in candidates:
            values = self.parameters(candidate.settings)
            self.study.add_trial(optuna.trial.create_trial(params=values, distributions=domains, value=candidate.loss))

    def parameters(self, settings: Settings) -> dict[str, Any]:
        """Returns settings as parameters of a trial: ranges as positions from 0 to 1."""
        shares = dict(zip((key.key for key in self.space.ranged), self.space.shares(settings), strict=True))
        return {key.key: shares.get(key.key, settings[key.key]) for key in self.space.keys}

    def proposed(self, trial: Any) -> Settings:
        """Returns the settings that a trial proposes."""
        found = dict(self.base)
        for key in self.space.keys:
            if isinstance(key.domain, tuple):
                found[key.key] = trial.suggest_categorical(key.key, list(key.domain))
            else:
                found[key.key] = key.at(trial.suggest_float(key.key, 0.0, 1.0))
        return found


def proposer(space: Space, base: Settings, seed: int) -> Proposer:
    """Returns a proposer with a new study.

    Args:
        space: The searched keys.
        base: Settings of all keys, also of those that are not searched.
        seed: The seed of the proposals.

    Raises:
        ConfigError: If Optuna is not installed.
    """
    try:
        import optuna
    except ImportError as error:
        raise ConfigError(f"a calibration needs Optuna, which is not installed: {install('search')}") from error
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    return Proposer(space, base, optuna.create_study(sampler=optuna.samplers.TPESampler(seed=seed)))
