"""Keys that have no effect because of a Python policy are refused, and policies can be varied like keys."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import flashmesh
from conftest import Cli
from flashmesh import _native, configuration, policies
from flashmesh.policies import Phase, Port
from policy_drives import BUS, DRIVE, EMPTY


class Policy:
    """Common methods of all kinds of policies."""

    def select(self, blocks: policies.Blocks) -> int | None:
        return blocks.most_invalid()

    def place(self, write: policies.Write, drive: policies.DriveState) -> int:
        return write.lpn % 8

    def place_write(self, plane: int, stream: int | None, planes: policies.Planes) -> int:
        return plane

    def decide(self, waiting: policies.Waiting) -> policies.Decision:
        return waiting.oldest(policies.REQUIRED)

    def candidates(self, nearer: Port, open: Port) -> Port:  # noqa: A002
        return nearer & open or open

    def next_hop(self, at: policies.Router, to: policies.Router, open: Port) -> Port:  # noqa: A002
        if at.column != to.column:
            return Port.EAST if to.column > at.column else Port.WEST
        return Port.SOUTH if to.row > at.row else Port.NORTH

    def grant(self, resource: int, last: int, waiting: list[policies.Contender]) -> policies.Contender:
        return next((each for each in waiting if each.phase == Phase.COMMAND), waiting[0])


VENICE: dict[str, Any] = {"fabric": {"kind": "venice"}, "workload": {"requests": 100}}
NOSSD: dict[str, Any] = {"fabric": {"kind": "nossd"}, "workload": {"requests": 100}}
REPLACED = [
    ("victim", EMPTY, {"gc.victim": "fifo"}, "gc.victim"),
    ("victim", EMPTY, {"gc.victim": "d-choices", "gc.d": 3}, "gc.victim"),
    ("allocator", DRIVE, {"ftl.allocation": "dynamic"}, "ftl.allocation"),
    ("scheduler", DRIVE, {"schedule.policy": "fifo"}, "schedule.policy"),
    ("scheduler", DRIVE, {"schedule.order": "arrival"}, "schedule.order"),
    ("scheduler", DRIVE, {"schedule.erases": "last"}, "schedule.erases"),
    ("scheduler", DRIVE, {"schedule.age-bound": "1ms"}, "schedule.age-bound"),
    ("routing", VENICE, {"venice.routing": "xy"}, "venice.routing"),
    ("arbiter", BUS, {"fabric.arbitration": "oldest-first"}, "fabric.arbitration"),
]
KEPT = [
    ("victim", DRIVE, {"gc.victim": "fifo"}),
    ("allocator", DRIVE, {"ftl.allocation": "PDWC"}),
    ("scheduler", DRIVE, {"schedule.lookahead": 4, "schedule.priorities": "strict"}),
    ("routing", VENICE, {"venice.tie-break": "uniform"}),
    ("arbiter", BUS, {"fabric.arbitration": "next-command-first"}),
]


def tables(config: dict[str, Any], keys: dict[str, Any]) -> dict[str, Any]:
    """Returns a configuration with some keys set in its tables."""
    merged = {section: dict(values) for section, values in config.items()}
    for key, value in keys.items():
        section, _, name = key.partition(".")
        merged.setdefault(section, {})[name] = value
    return merged


@pytest.mark.parametrize(("kind", "config", "keys", "refused"), REPLACED)
def test_keys_that_a_policy_leaves_without_effect_are_refused_with_both_keys(
    kind: str, config: dict[str, Any], keys: dict[str, Any], refused: str
) -> None:
    named = {f"policy.{kind}": Policy}
    with pytest.raises(flashmesh.ConfigError, match=rf"{refused} has no effect: policy\.{kind} is "):
        configuration.load(config, overrides=keys | named)
    of_file = tables(config, keys | {f"policy.{kind}": "test_policies_keys:Policy"})
    with pytest.raises(flashmesh.ConfigError, match=rf"{refused} has no effect: policy\.{kind} is ") as told:
        configuration.load(of_file)
    assert f"leave policy.{kind} away, or leave {refused.partition('.')[2]} away" in str(told.value)
    # A file may keep the keys of a built-in policy that an override replaces.
    configuration.load(tables(config, keys), overrides=named)
    configuration.load(config, overrides=keys | {f"policy.{kind}": "built-in"})


@pytest.mark.parametrize(("kind", "config", "keys"), KEPT)
def test_keys_that_still_act_beside_a_policy_are_taken(kind: str, config: dict[str, Any], keys: dict[str, Any]) -> None:
    plain, other = (
        flashmesh.run(config, overrides={**beside, "workload.requests": 2_000, f"policy.{kind}": Policy})
        for beside in ({}, keys)
    )
    if "schedule.lookahead" not in keys:
        assert plain.to_dict()["latency_ps"] != other.to_dict()["latency_ps"]


def test_the_canonical_form_of_a_drive_with_policies_can_be_read_again() -> None:
    named = {f"policy.{kind}": "test_policies_keys:Policy" for kind in ("victim", "allocator", "scheduler", "arbiter")}
    config = configuration.load(tables(BUS, {"schedule.policy": "fifo"}), overrides=named)
    assert _native.Config.from_str(config.to_toml(), "canonical", []).hash() == config.hash()


@pytest.mark.parametrize(
    ("overrides", "told"),
    [
        ({"policy.placement": Policy, "ftl.policy": "mbm"}, 'policy.placement has no effect: ftl.policy is "mbm"'),
        ({"policy.hops": Policy}, 'policy.hops has no effect: fabric.kind is "bus"'),
        ({"policy.scheduler": Policy, "ftl.policy": "sprinkler"}, "ftl.policy is `sprinkler`, which schedules"),
    ],
)
def test_policies_that_nothing_would_ask_are_refused(overrides: dict[str, Any], told: str) -> None:
    with pytest.raises(flashmesh.ConfigError) as refused:
        configuration.load(DRIVE, overrides=overrides)
    assert told in str(refused.value)


class Stays(Policy):
    def stays(self, write: policies.Write, plane: int, drive: policies.DriveState) -> bool:
        return True


@pytest.mark.parametrize(
    ("overrides", "told"),
    [
        ({"policy.placement": Policy}, "policy.placement is "),
        ({"ftl.policy": "tbm"}, "ftl.policy is tbm"),
        ({"ftl.write-binding": "early", "flash.program-order": "any"}, "ftl.write-binding is early"),
    ],
)
def test_a_method_that_would_never_be_asked_is_refused(overrides: dict[str, Any], told: str) -> None:
    with pytest.raises(flashmesh.ConfigError, match="stays would never be called") as refused:
        flashmesh.run(DRIVE, overrides={**overrides, "policy.allocator": Stays})
    assert told in str(refused.value)


def test_new_kinds_are_axes_of_a_comparison() -> None:
    placed = flashmesh.compare(EMPTY, {"policy.placement": ["built-in", Policy]}, overrides={"workload.requests": 200})
    assert len({run.result.makespan_ps for run in placed}) == 1
    led = flashmesh.compare(NOSSD, {"policy.hops": ["built-in", Policy]})
    assert len({run.result.makespan_ps for run in led}) == 1


def test_a_key_of_the_built_in_policy_goes_with_it_in_a_comparison() -> None:
    compared = flashmesh.compare(
        EMPTY,
        {"policy.scheduler": ["built-in", Policy]},
        overrides={"schedule.policy": "fifo", "workload.requests": 200},
    )
    assert len({run.result.makespan_ps for run in compared}) == 1


@pytest.mark.long
def test_sweeps_and_searches_vary_the_new_kinds(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text(
        "class Where:\n    def place_write(self, plane, stream, planes):\n        return plane\n"
    )
    (tmp_path / "drive.toml").write_text("[geometry]\nblocks-per-plane = 64\n[workload]\nrequests = 100\n")
    axis = '"policy.placement" = ["built-in", "mine.py:Where"]\n'
    (tmp_path / "sweep.toml").write_text(f'config = "drive.toml"\n[axes]\n{axis}')
    (tmp_path / "search.toml").write_text(
        f'config = "drive.toml"\ntrials = 2\npopulation = 2\n[space]\n{axis}[objectives]\n"p99" = "minimise"\n'
    )
    for command in (("sweep", "sweep.toml"), ("optimise", "search.toml")):
        done = cli(*command, "--trust-policies")
        assert done.returncode == 0, done.stderr
        assert "mine.py:Where" in done.stdout
