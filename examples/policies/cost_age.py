"""A victim policy that chooses blocks by cost and age.

    flashmesh run CONFIG --policy examples/policies/cost_age.py:CostAge

Collecting a block pays if it has few valid pages, which must be moved. It also pays more for a block that was filled
long ago: the host is likely to overwrite more pages of a young block soon, so waiting makes the young block cheaper.
The benefit is invalid / valid x age, as in the cost-benefit cleaning of LFS (Rosenblum and Ousterhout, 1992). The age
is the number of blocks filled since.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from flashmesh.policies import Blocks, Geometry


class CostAge:
    """Choice of the block with the largest benefit, invalid / valid x age ** `exponent`."""

    def __init__(self, exponent: float = 1.0) -> None:
        """Creates the policy. With the exponent 0, the age has no effect: the policy is greedy."""
        self.exponent = exponent

    def __repr__(self) -> str:
        """Returns the name of the policy in results: the class with its argument."""
        return f"CostAge(exponent={self.exponent})"

    def begin(self, geometry: Geometry) -> None:
        """Stores the number of pages of a block; flashmesh calls it once before the run."""
        self.pages = geometry.pages_per_block

    def select(self, blocks: Blocks) -> int | None:
        """Returns the position in the plane of the block to collect; flashmesh calls it for each collection of a plane.

        Args:
            blocks: The blocks of the plane. `filled` and `invalid_pages` are arrays with an element for each block.
                `filled` is 0 for a block that must not be collected.
        """
        filled = blocks.filled
        invalid = blocks.invalid_pages
        age = filled.max() + 1.0 - filled
        benefit = np.where(filled > 0, invalid / (self.pages - invalid + 1.0) * age**self.exponent, -1.0)
        return int(benefit.argmax())
