"""An agent in Gymnasium that learns to choose the victim blocks of garbage collection (needs `flashmesh[gym]`).

    python examples/policies/agent.py

The agent scores a block by its share of invalid pages plus a weight times its age. It searches the weight that gives
the lowest write amplification by the cross-entropy method, in its simplest form: each episode runs the drive with one
weight. Any other agent for Gymnasium can use the environment `VictimEnv` in the same way.
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
    """Runs the drive once. Returns the write amplification.

    Args:
        env: The environment; each of its steps is one garbage collection.
        weight: The weight of the age of a block. With 0, the agent chooses the block with the most invalid pages.
    """
    observation, _ = env.reset(seed=1)
    while True:
        invalid, age = observation.reshape(-1, 2).T
        observation, _, ends, _, info = env.step(int((invalid + weight * age * (invalid > 0)).argmax()))
        if ends:
            return float(info["result"].write_amplification)


def train(rounds: int = 3, tries: int = 5) -> tuple[float, float, float]:
    """Searches the weight with the lowest write amplification.

    Args:
        rounds: The number of rounds. Each round draws weights around the mean of the best two of the round before.
        tries: The number of weights, and so of episodes, of a round.

    Returns:
        (weight found, write amplification with this weight, write amplification of the greedy weight 0).
    """
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
