"""Victims by cost and age: flashmesh run CONFIG --policy examples/policies/cost_age.py:CostAge.

A block is worth collecting when it has few valid pages, and the more the longer it was filled ago: young blocks will
lose more pages by themselves. The benefit is invalid / valid x age, as in the cost-benefit cleaning of LFS (Rosenblum
and Ousterhout, 1992), with the age counted in blocks that were filled since.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from flashmesh.policies import Blocks, Geometry


class CostAge:
    """The block with the largest benefit; `exponent` says how much age counts, 0 is greedy."""

    def __init__(self, exponent: float = 1.0) -> None:
        """With the exponent of the age."""
        self.exponent = exponent

    def __repr__(self) -> str:
        """The class with its argument, by which results name it."""
        return f"CostAge(exponent={self.exponent})"

    def begin(self, geometry: Geometry) -> None:
        """Takes the number of pages of a block."""
        self.pages = geometry.pages_per_block

    def select(self, blocks: Blocks) -> int | None:
        """The position of the victim."""
        filled = blocks.filled
        invalid = blocks.invalid_pages
        age = filled.max() + 1.0 - filled
        benefit = np.where(filled > 0, invalid / (self.pages - invalid + 1.0) * age**self.exponent, -1.0)
        return int(benefit.argmax())
