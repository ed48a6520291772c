"""An agent of Gymnasium that learns which victims pay: python examples/policies/agent.py (needs flashmesh[gym]).

It weighs how many pages of a block are invalid against how old the block is, and searches the weight by trying one an
episode: the cross-entropy method in its simplest form. Any agent for Gymnasium takes its place.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from flashmesh.gym import VictimEnv

DRIVE: dict[str, Any] = {
    "geometry": {
        "channels": 1,
        "chips-per-channel": 2,
        "planes-per-die": 1,
        "blocks-per-plane": 128,
        "pages-per-block": 32,
        "over-provisioning": 0.1,
    },
    "precondition": {"kind": "random"},
    "workload": {
        "pattern": "hot-cold",
        "hot-footprint": 0.1,
        "hot-traffic": 0.9,
        "read-share": 0.0,
        "requests": 20_000,
    },
}


def episode(env: VictimEnv, weight: float) -> float:
    """The write amplification of a run in which age counts with a weight."""
    observation, _ = env.reset(seed=1)
    while True:
        invalid, age = observation.reshape(-1, 2).T
        observation, _, ends, _, info = env.step(int((invalid + weight * age * (invalid > 0)).argmax()))
        if ends:
            return float(info["result"].write_amplification)


def train(rounds: int = 3, tries: int = 5) -> tuple[float, float, float]:
    """The weight that was found, what it comes to, and what weight 0 comes to, which is greedy."""
    env = VictimEnv(DRIVE, candidates=24)
    random = np.random.default_rng(1)
    mean, spread = 0.5, 0.5
    for _ in range(rounds):
        weights = np.abs(random.normal(mean, spread, tries))
        best = weights[np.argsort([episode(env, weight) for weight in weights])[:2]]
        mean, spread = float(best.mean()), float(best.std()) + 0.05
    learned, greedy = episode(env, mean), episode(env, 0.0)
    env.close()
    return mean, learned, greedy


if __name__ == "__main__":
    found, learned, greedy = train()
    print(f"weight of age {found:.2f}: write amplification {learned:.3f}, greedy {greedy:.3f}")
