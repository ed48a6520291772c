"""A victim policy that learns from its earlier victims.

    flashmesh run CONFIG --policy examples/policies/bandit.py:Bandit

The benefit of a block is that of cost_age.py. A contextual bandit chooses the exponent of the age in it, and keeps the
exponent for the next `KEPT` victims of a plane. The context is the mean and the standard deviation of the shares of
invalid pages of the blocks. The reward is the mean share of invalid pages of the last half of these victims: pages that
garbage collection need not move.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from flashmesh.policies import Blocks, Geometry

EXPONENTS = np.array([0.0, 0.5, 1.0, 2.0])
"""Exponents of the age among which the bandit chooses; with 0, the age of a block has no effect."""
KEPT = 24
"""Number of victims of a plane that are selected with one exponent. The last half of them determines the reward."""


class Bandit:
    """LinUCB bandit over `EXPONENTS`. It slowly forgets old rewards, so that it adapts to a workload that changes."""

    def __init__(self, optimism: float = 0.02, forget: float = 0.98) -> None:
        """Creates the policy.

        Args:
            optimism: The weight of the uncertainty of an expected reward. A higher one tries unfamiliar exponents more.
            forget: The factor by which each new reward multiplies the weight of all earlier ones, from 0 to 1.
        """
        self.optimism, self.forget = optimism, forget

    def begin(self, geometry: Geometry) -> None:
        """Prepares the bandit for a drive; flashmesh calls it once before the run.

        Each exponent starts with an expected reward of 1, the highest possible reward, so that each exponent is tried.
        """
        self.pages = geometry.pages_per_block
        arms = len(EXPONENTS)
        self.weights = np.repeat(np.eye(3)[None] * 0.1, arms, axis=0)
        self.rewards = np.repeat(np.array([[0.1, 0.0, 0.0]]), arms, axis=0)
        self.kept: dict[int, tuple[int, NDArray[np.float64], list[float]]] = {}
        self.chosen = np.zeros(arms, dtype=int)

    def choose(self, context: NDArray[np.float64]) -> int:
        """Returns the index in `EXPONENTS` with the highest sum of expected reward and weighted uncertainty."""
        solved = np.linalg.solve(
            self.weights, np.stack([self.rewards, np.broadcast_to(context, self.rewards.shape)], -1)
        )
        expected, unknown = solved[..., 0] @ context, np.sqrt(solved[..., 1] @ context)
        return int((expected + self.optimism * unknown).argmax())

    def learn(self, arm: int, context: NDArray[np.float64], reward: float) -> None:
        """Updates the expected rewards with a reward that the exponent with the index `arm` brought in a context."""
        self.weights = self.forget * self.weights + (1 - self.forget) * 0.1 * np.eye(3)
        self.rewards *= self.forget
        self.weights[arm] += np.outer(context, context)
        self.rewards[arm] += reward * context

    def select(self, blocks: Blocks) -> int | None:
        """Returns the position in the plane of the block to collect; flashmesh calls it for each collection of a plane.

        Args:
            blocks: The blocks of the plane. `filled` and `invalid_pages` are arrays with an element for each block.
        """
        filled, invalid = blocks.filled, blocks.invalid_pages
        plane = blocks.plane
        if plane not in self.kept or len(self.kept[plane][2]) == KEPT:
            if plane in self.kept:
                arm, context, shares = self.kept[plane]
                self.learn(arm, context, float(np.mean(shares[KEPT // 2 :])))
            spread = invalid[filled > 0] / self.pages
            context = np.array([1.0, spread.mean(), spread.std()])
            self.kept[plane] = self.choose(context), context, []
        arm, _, shares = self.kept[plane]
        age = filled.max() + 1.0 - filled
        benefit = np.where(filled > 0, invalid / (self.pages - invalid + 1.0) * age ** EXPONENTS[arm], -1.0)
        victim = int(benefit.argmax())
        shares.append(float(invalid[victim]) / self.pages)
        self.chosen[arm] += 1
        return victim
