"""A victim policy that learns: flashmesh run CONFIG --policy examples/policies/bandit.py:Bandit.

A contextual bandit chooses how much the age of blocks counts when a plane is collected (the exponent of cost_age.py).
It keeps a choice for a few collections of a plane. Its context is how the invalid pages are spread over the blocks; its
reward is the mean share of invalid pages in the later ones of these victims: pages that need not be moved.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from flashmesh.policies import Blocks, Geometry

EXPONENTS = np.array([0.0, 0.5, 1.0, 2.0])
KEPT = 24
"""Collections of a plane for which a choice is kept; the later half is judged."""


class Bandit:
    """LinUCB over a few exponents, which forgets slowly and so follows a workload that shifts."""

    def __init__(self, optimism: float = 0.02, forget: float = 0.98) -> None:
        """With how much an exponent that is not known well is tried, and what is kept of earlier rewards."""
        self.optimism, self.forget = optimism, forget

    def begin(self, geometry: Geometry) -> None:
        """Expects the best of every exponent, so that each is tried."""
        self.pages = geometry.pages_per_block
        arms = len(EXPONENTS)
        self.weights = np.repeat(np.eye(3)[None] * 0.1, arms, axis=0)
        self.rewards = np.repeat(np.array([[0.1, 0.0, 0.0]]), arms, axis=0)
        self.kept: dict[int, tuple[int, NDArray[np.float64], list[float]]] = {}
        self.chosen = np.zeros(arms, dtype=int)

    def choose(self, context: NDArray[np.float64]) -> int:
        """The exponent that looks best, or is known least."""
        solved = np.linalg.solve(
            self.weights, np.stack([self.rewards, np.broadcast_to(context, self.rewards.shape)], -1)
        )
        expected, unknown = solved[..., 0] @ context, np.sqrt(solved[..., 1] @ context)
        return int((expected + self.optimism * unknown).argmax())

    def learn(self, arm: int, context: NDArray[np.float64], reward: float) -> None:
        """Takes notice of what a choice has brought."""
        self.weights = self.forget * self.weights + (1 - self.forget) * 0.1 * np.eye(3)
        self.rewards *= self.forget
        self.weights[arm] += np.outer(context, context)
        self.rewards[arm] += reward * context

    def select(self, blocks: Blocks) -> int | None:
        """The position of the victim."""
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
