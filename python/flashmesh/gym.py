"""Gymnasium environment in which an agent chooses the victims of garbage collection (`flashmesh[gym]`).

    >>> from flashmesh.gym import VictimEnv
    >>> env = VictimEnv("preset:venice-z-nand", overrides={"workload.requests": 100})
    >>> int(env.action_space.n)
    8

An episode is a run of a drive; each step is one collection of a plane.
"""

from __future__ import annotations

import queue
import threading
from typing import TYPE_CHECKING, Any

try:
    import gymnasium
except ImportError as error:  # pragma: no cover - an installation without the extra
    from flashmesh.installation.extras import install

    raise ImportError(f"flashmesh.gym needs Gymnasium: {install('gym')}") from error
import numpy as np

from flashmesh import simulate

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from flashmesh.configuration import ConfigSource
    from flashmesh.policies import Blocks, Geometry
    from flashmesh.results import Result

FEATURES = 2


class Closed(Exception):  # noqa: N818 - ends an abandoned run
    """Signal to the thread of a run that the environment was closed or reset."""


class Asked:
    """Policy of an episode: passes each choice of a victim to the thread of the agent, and waits for the action."""

    def __init__(self, candidates: int) -> None:
        """Prepares a policy that offers the agent the `candidates` blocks with the most invalid pages."""
        self.candidates = candidates
        self.questions: queue.SimpleQueue[tuple[NDArray[np.float32], NDArray[np.float32]] | None] = queue.SimpleQueue()
        self.answers: queue.SimpleQueue[int | None] = queue.SimpleQueue()

    def begin(self, geometry: Geometry) -> None:
        """Stores the number of pages of a block."""
        self.pages = geometry.pages_per_block

    def select(self, blocks: Blocks) -> int:
        """Returns the index in the plane of the block that the agent chooses as the victim."""
        invalid, filled = blocks.invalid_pages, blocks.filled
        # Candidates are ordered by invalid pages, most first; equal ones by their index in the plane.
        offered = np.argsort(-invalid.astype(np.int64), kind="stable")[: self.candidates]
        offered = offered[filled[offered] > 0]
        shares = np.zeros((self.candidates, FEATURES), dtype=np.float32)
        shares[: len(offered), 0] = invalid[offered] / self.pages
        newest = max(int(filled.max()), 1)
        shares[: len(offered), 1] = 1.0 - filled[offered] / newest
        self.questions.put((shares.ravel(), shares[: len(offered), 0].copy()))
        answer = self.answers.get()
        if answer is None:
            raise Closed
        return int(offered[min(answer, len(offered) - 1)])


class VictimEnv(gymnasium.Env[Any, Any]):
    """Environment in which each action chooses the victim block of one garbage collection.

    Observation: for each candidate the share of invalid pages, and its age, from 0 for the block filled last to 1 for
    the one filled first. Action: the index of a candidate; an index beyond the last stands for the last. Reward: the
    share of the pages of the victim that need not be moved. `info["result"]` of the last step is the result of the run.
    """

    metadata: dict[str, Any] = {"render_modes": []}  # noqa: RUF012 - as Gymnasium declares it

    def __init__(
        self,
        config: ConfigSource,
        *,
        candidates: int = 8,
        overrides: Mapping[str, Any] | None = None,
        trust_policies: bool = False,
    ) -> None:
        """Creates an environment of episodes that run `config`, with `candidates` blocks to choose from at each step.

        The other arguments are as in `flashmesh.run`.
        """
        self.config, self.overrides, self.trust_policies = config, dict(overrides or {}), trust_policies
        self.candidates = candidates
        self.observation_space = gymnasium.spaces.Box(0.0, 1.0, (candidates * FEATURES,), np.float32)
        self.action_space = gymnasium.spaces.Discrete(candidates)
        self.asked: Asked | None = None
        self.thread: threading.Thread | None = None
        self.ended: list[Result | BaseException] = []
        self.shares: NDArray[np.float32] = np.zeros(candidates, dtype=np.float32)

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[NDArray[np.float32], dict[str, Any]]:
        """Begins a run; `seed` is the seed of the run, drawn at random by default.

        Raises:
            ConfigError: If the configuration of the drive is invalid.
            RuntimeError: If the run ends without a collection.
        """
        super().reset(seed=seed)
        self.close()
        run_seed = seed if seed is not None else int(self.np_random.integers(2**31))
        asked = Asked(self.candidates)
        ended: list[Result | BaseException] = []

        def work() -> None:
            try:
                # A seed in the overrides takes precedence. Giving both would be an error.
                settings = {"seed": run_seed, **self.overrides}
                ended.append(
                    simulate.run(
                        self.config, overrides=settings, victim=Kept(asked), trust_policies=self.trust_policies
                    )
                )
            except BaseException as error:  # the thread of the agent raises it again
                ended.append(error)
            finally:
                asked.questions.put(None)

        self.asked, self.ended = asked, ended
        self.thread = threading.Thread(target=work, name="flashmesh-gym", daemon=True)
        self.thread.start()
        question = asked.questions.get()
        if question is None:
            self.result()
            raise RuntimeError("the run ended without a collection: precondition the drive, or write more")
        observation, self.shares = question
        return observation, {}

    def step(self, action: Any) -> tuple[NDArray[np.float32], float, bool, bool, dict[str, Any]]:
        """Collects a candidate, and returns the observation of the next collection.

        Raises:
            RuntimeError: If no run is active.
        """
        if self.asked is None:
            raise RuntimeError("no run is active: call reset first")
        reward = float(self.shares[min(int(action), len(self.shares) - 1)])
        self.asked.answers.put(int(action))
        question = self.asked.questions.get()
        if question is None:
            result = self.result()
            self.asked = None
            return np.zeros(self.candidates * FEATURES, dtype=np.float32), reward, True, False, {"result": result}
        observation, self.shares = question
        return observation, reward, False, False, {}

    def result(self) -> Result:
        """Returns the result of the run, which has ended.

        Raises:
            FlashmeshError: If the run failed.
        """
        (ended,) = self.ended
        if isinstance(ended, BaseException):
            raise ended
        return ended

    def close(self) -> None:
        """Ends the active run, if there is one, and waits for its end."""
        if self.asked is not None:
            self.asked.answers.put(None)
            self.asked = None
        if self.thread is not None:
            self.thread.join()
            self.thread = None


class Kept:
    """Wrapper that `deepcopy` does not copy, since the policy communicates with the thread of an agent."""

    def __init__(self, asked: Asked) -> None:
        """Wraps the policy of an episode."""
        self.begin, self.select = asked.begin, asked.select

    def __deepcopy__(self, memo: object) -> Kept:
        """Returns the wrapper itself."""
        return self
