"""`python -m bench.policies`: what a call of a policy in Python costs, beside what the policy itself does.

Each policy here does what a built-in one does, in one line, so that both runs simulate the same. The cost of a call is
the difference of their processor times over the number of calls, both by the code with every feature; what the one line
takes is measured by itself, on an object of Python in place of the drive, and is told beside it.
"""

from __future__ import annotations

import time
import timeit
from typing import TYPE_CHECKING, Any

import click

import flashmesh
from flashmesh import _native, configuration
from flashmesh.policies import REQUIRED
from flashmesh.policies.attach import attach
from flashmesh.policies.kinds import KINDS

if TYPE_CHECKING:
    from collections.abc import Callable

SMALL: dict[str, Any] = {
    "geometry": {"blocks-per-plane": 256, "channels": 2, "chips-per-channel": 2, "planes-per-die": 1},
}
FULL: dict[str, Any] = {
    "geometry": SMALL["geometry"] | {"pages-per-block": 16, "over-provisioning": 0.1},
    "precondition": {"kind": "random"},
}
WRITES: dict[str, Any] = {"workload": {"read-share": 0.0, "requests": 100_000}, "replay": {"outstanding": 32}}
READS: dict[str, Any] = {"workload": {"read-share": 1.0, "requests": 200_000}, "replay": {"outstanding": 64}}
COPIES: dict[str, Any] = {
    "replication": {"enabled": True},
    "workload": {"requests": 200_000, "footprint": "2MiB", "pattern": "hot-stride", "hot-traffic": 1.0},
    "replay": {"outstanding": 16},
}


class Counted:
    """Counts its calls."""

    calls = 0


class Victim(Counted):
    """Greedy."""

    def select(self, blocks: Any) -> Any:
        """The emptiest block."""
        self.calls += 1
        return blocks.most_invalid()


class Placement(Counted):
    """The static order in which channels vary first, then chips."""

    def place(self, write: Any, drive: Any) -> int:
        """By the page number."""
        self.calls += 1
        lpn: int = write.lpn
        return (lpn & 1) << 1 | lpn >> 1 & 1


class Homes(Counted):
    """The die with fewer reads outstanding."""

    def choose(self, lpn: int, original: Any, replica: Any) -> Any:
        """Of equals the original."""
        self.calls += 1
        return replica if replica.outstanding < original.outstanding else original


class Fifo(Counted):
    """The oldest first."""

    def decide(self, waiting: Any) -> Any:
        """Without collections there is nothing that goes before it."""
        self.calls += 1
        return waiting.oldest(REQUIRED)


class Oldest(Counted):
    """First come, first served."""

    def grant(self, resource: int, last: int, waiting: Any) -> Any:
        """The first."""
        self.calls += 1
        return waiting[0]


class Stub:
    """What a policy is given, where only its own line is timed."""

    lpn = 5
    outstanding = 1

    def most_invalid(self) -> int:
        """A block."""
        return 1

    def oldest(self, work: int) -> int:
        """A transaction."""
        return 1


STUB = Stub()
CASES: tuple[tuple[str, Callable[[], Any], dict[str, Any], dict[str, Any], tuple[Any, ...]], ...] = (
    ("victim", Victim, FULL | WRITES, {}, (STUB,)),
    ("allocator", Placement, SMALL | WRITES, {"geometry.blocks-per-plane": 2048}, (STUB, STUB)),
    ("home", Homes, COPIES, {}, (1, STUB, STUB)),
    ("scheduler", Fifo, SMALL | READS, {"schedule.policy": "fifo"}, (STUB,)),
    (
        "arbiter",
        Oldest,
        READS,
        {"fabric.arbitration": "oldest-first", "fabric.channel-rate": "100MB/s"},
        (0, 0, [STUB, STUB]),
    ),
)


def cost(config: _native.Config, rounds: int) -> float:
    """The least processor time of a run, by the code that runs policies, in seconds."""

    def once() -> float:
        simulation = _native.Simulation(config)
        simulation.require_every_feature()
        attach(simulation, config)
        start = time.process_time()
        simulation.run(_native.Control())
        return time.process_time() - start

    return min(once() for _ in range(rounds))


@click.command()
@click.option("--rounds", default=7, show_default=True, type=click.IntRange(min=1), help="Measurements of each.")
def main(rounds: int) -> None:
    """Measure what a call of a policy in Python costs."""
    for kind, make, config, overrides, stubs in CASES:
        policy = make()
        given: dict[str, Any] = {kind: policy}
        theirs = flashmesh.run(config, overrides=overrides, **given)
        assert flashmesh.run(config, overrides=overrides).makespan_ps == theirs.makespan_ps, f"{kind}: another run"
        built_in = cost(configuration.load(config, overrides=overrides), rounds)
        in_python = cost(configuration.load(config, overrides={**overrides, f"policy.{kind}": make}), rounds)
        each = (in_python - built_in) / policy.calls
        method = getattr(make(), KINDS[kind].method)
        own = min(timeit.repeat("method(*stubs)", globals={"method": method, "stubs": stubs}, number=100_000)) / 100_000
        click.echo(
            f"{kind:10} {policy.calls:9,} calls, {each * 1e9:5.0f} ns each, {own * 1e9:4.0f} ns of it in the policy"
        )


if __name__ == "__main__":
    main()
