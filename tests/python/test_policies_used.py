"""Python policies: the state they receive, the ways to pass them, and those in examples/policies."""

from __future__ import annotations

import re
import runpy
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from gymnasium.utils.env_checker import check_env

import flashmesh
from conftest import PAGES, ROOT
from flashmesh import policies
from flashmesh.gym import VictimEnv
from policy_drives import DRIVE, EXAMPLES, report


class Greedy:
    def select(self, blocks: policies.Blocks) -> int:
        return int(blocks.invalid_pages.argmax())


def test_state_is_seen_only_while_the_policy_is_asked() -> None:
    kept: list[policies.Blocks] = []

    class Keeps:
        def select(self, blocks: policies.Blocks) -> int | None:
            kept.append(blocks)
            with pytest.raises(ValueError, match="read-only"):
                blocks.invalid_pages[0] = 1
            return blocks.most_invalid()

    flashmesh.run(DRIVE, victim=Keeps)
    with pytest.raises(RuntimeError, match="only while it asks the policy"):
        _ = kept[0].invalid_pages


def test_a_policy_is_an_axis_and_each_run_has_its_own(tmp_path: Path) -> None:
    class Counts:
        def __init__(self) -> None:
            self.calls = 0

        def select(self, blocks: policies.Blocks) -> int | None:
            self.calls += 1
            return blocks.most_invalid() if self.calls < 50 else blocks.first_filled()

    counts = Counts()
    axes: dict[str, Any] = {"policy.victim": ["built-in", Counts, Greedy], "seed": [1, 2]}
    compared = flashmesh.compare(DRIVE, axes, jobs=2, check=True)
    moved = [run.result.gc.pages_moved for run in compared]
    assert moved[:2] == moved[4:]
    assert moved[:2] != moved[2:4]
    again = flashmesh.compare(DRIVE, {"policy.victim": [counts], "seed": [1, 2]}, jobs=1)
    assert [run.result.gc.pages_moved for run in again] == moved[2:4]
    assert counts.calls == 0
    name = "test_policies_used:test_a_policy_is_an_axis_and_each_run_has_its_own.<locals>.Counts"
    assert compared[2].settings["policy.victim"] == name
    assert compared[2].result.to_dict()["configuration"]["policy"]["victim"] == name


OVERWRITTEN: dict[str, Any] = {
    "geometry": {
        "channels": 1,
        "chips-per-channel": 2,
        "planes-per-die": 1,
        "blocks-per-plane": 128,
        "pages-per-block": 64,
        "over-provisioning": 0.1,
    },
    "precondition": {"kind": "random"},
    "replay": {"mode": "closed", "threads": 8},
}


def shifting() -> pd.DataFrame:
    """Returns writes in three phases: 90 % to a hot region, uniform, then 90 % to another region."""
    random = np.random.default_rng(1)

    def phase(first: int, pages: int, share: float) -> Any:
        count, all_pages = 20_000, 15_000
        anywhere, hot = random.integers(0, all_pages, count), random.integers(first, first + pages, count)
        return np.where(random.random(count) < share, hot, anywhere)

    pages = np.concatenate([phase(0, 1_500, 0.9), phase(0, 15_000, 0.0), phase(9_000, 1_500, 0.9)])
    columns = {"arrival_us": np.arange(len(pages)) * 1.0, "offset_bytes": pages * 4096, "size_bytes": 4096}
    return pd.DataFrame({**columns, "kind": "write"})


def write_amplification(result: flashmesh.Result) -> float:
    assert result.write_amplification is not None
    return result.write_amplification


def test_cost_age_and_the_bandit_beat_greedy_on_a_shifting_workload() -> None:
    trace = shifting()
    names = (None, f"{EXAMPLES}/cost_age.py:CostAge", f"{EXAMPLES}/bandit.py:Bandit")
    greedy, cost_age, bandit = (
        write_amplification(flashmesh.run(OVERWRITTEN, trace=trace, victim=name)) for name in names
    )
    assert cost_age < 0.9 * greedy
    assert bandit < 0.9 * greedy


def test_the_bandit_costs_little_where_age_means_nothing() -> None:
    config = OVERWRITTEN | {"workload": {"read-share": 0.0, "requests": 20_000}}
    greedy = write_amplification(flashmesh.run(config))
    bandit = write_amplification(flashmesh.run(config, victim=f"{EXAMPLES}/bandit.py:Bandit"))
    assert greedy < bandit < 1.03 * greedy


def test_the_environment_keeps_to_the_interface_of_gymnasium() -> None:
    env = VictimEnv(OVERWRITTEN | {"workload": {"read-share": 0.0, "requests": 2_000}}, candidates=4)
    check_env(env, skip_render_check=True)
    observation, _ = env.reset(seed=3)
    steps, ends = 0, False
    info: dict[str, Any] = {}
    while not ends:
        assert env.observation_space.contains(observation)
        observation, reward, ends, _, info = env.step(0)
        assert 0.0 < reward <= 1.0
        steps += 1
    # Action 0 is the greedy choice, so the run equals one with the greedy policy.
    greedy = flashmesh.run(env.config, seed=3)
    assert report(info["result"]) == report(greedy)
    assert steps > 10
    with pytest.raises(RuntimeError, match="call reset first"):
        env.step(0)
    env.reset(seed=4)
    env.close()


def test_a_run_without_a_collection_is_no_episode() -> None:
    with pytest.raises(RuntimeError, match="ended without a collection"):
        VictimEnv({"workload": {"requests": 10}}).reset(seed=1)


def test_the_agent_of_the_example_learns_more_than_greedy() -> None:
    train = runpy.run_path(str(EXAMPLES / "agent.py"))["train"]
    _, learned, greedy = train(rounds=1, tries=3)
    assert learned < 0.95 * greedy


def test_the_programs_of_the_page_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    monkeypatch.chdir(tmp_path)
    page = (PAGES / "how-to" / "policies-in-python.md").read_text(encoding="utf-8")
    programs = re.findall(r"^```python\n(.*?)^```", page, re.DOTALL | re.MULTILINE)
    assert len(programs) == 4
    names: dict[str, Any] = {"__name__": "page"}
    for program in programs:
        exec(program, names)
    assert names["terminated"] is False
