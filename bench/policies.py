"""`python -m bench.policies`: the cost of calling a Python policy, and of the code of the policy itself.

Each policy here does in one line what a built-in policy does, so both runs simulate the same operations. The cost of a
call is the difference of their processor times, divided by the number of calls. The runs alternate, in the compiled
variant of the simulator that has every feature. The line itself is also timed alone, with a stub in place of the drive.
"""

from __future__ import annotations

import time
import timeit
from typing import TYPE_CHECKING, Any, NamedTuple

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
LARGE: dict[str, Any] = {"geometry": SMALL["geometry"] | {"blocks-per-plane": 2048}}
SLOW: dict[str, Any] = {"fabric": {"channel-rate": "100MB/s"}}
FULL: dict[str, Any] = {
    "geometry": SMALL["geometry"] | {"pages-per-block": 8, "over-provisioning": 0.1},
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
    """Policy that counts its calls."""

    calls = 0


class Victim(Counted):
    """Greedy choice of victims."""

    def select(self, blocks: Any) -> Any:
        """Returns the block with the most invalid pages."""
        self.calls += 1
        return blocks.most_invalid()


class Placement(Counted):
    """Static allocation order in which channels vary first, then chips."""

    def place(self, write: Any, drive: Any) -> int:
        """Returns the plane that follows from the page number."""
        self.calls += 1
        lpn: int = write.lpn
        return (lpn & 1) << 1 | lpn >> 1 & 1


class Beside(Counted):
    """Placement that keeps the plane of the allocator, as the page policy does."""

    def place_write(self, plane: int, stream: Any, planes: Any) -> int:
        """Returns the plane that the allocator chose."""
        self.calls += 1
        return plane


class Homes(Counted):
    """Choice of the copy whose die has fewer outstanding reads."""

    def choose(self, lpn: int, original: Any, replica: Any) -> Any:
        """Returns the copy whose die has fewer outstanding reads; the original if both have equally many."""
        self.calls += 1
        return replica if replica.outstanding < original.outstanding else original


class Fifo(Counted):
    """Scheduling of the oldest transaction first."""

    def decide(self, waiting: Any) -> Any:
        """Returns the oldest transaction. The runs have no garbage collection, so nothing takes precedence over it."""
        self.calls += 1
        return waiting.oldest(REQUIRED)


class Dispatching(Fifo):
    """Scheduling of the oldest transaction first, and of the dies in order."""

    def next_die(self, dispatch: Any) -> Any:
        """Returns the first die that can begin an operation."""
        self.calls += 1
        dies = dispatch.candidates
        return dies[0] if dies else None


class Oldest(Counted):
    """Arbitration in the order of arrival."""

    def grant(self, resource: int, last: int, waiting: Any) -> Any:
        """Returns the contender that has waited longest."""
        self.calls += 1
        return waiting[0]


class Stub:
    """Stand-in for the argument of a policy, to time the code of the policy alone."""

    lpn = 5
    outstanding = 1
    candidates = (1,)

    def most_invalid(self) -> int:
        """Returns the index of a block."""
        return 1

    def oldest(self, work: int) -> int:
        """Returns the index of a transaction."""
        return 1


STUB = Stub()


class Case(NamedTuple):
    """A kind of policy, with a run that calls it often."""

    name: str
    policy: Callable[[], Any]
    config: dict[str, Any]
    built_in: dict[str, Any]
    """Keys that select the built-in policy with the same behaviour."""
    stubs: tuple[Any, ...]
    """Arguments with which the code of the policy is timed alone."""
    key: str = ""
    is_same: bool = True
    """Whether the runs with the built-in and the Python policy simulate the same operations."""


CASES = (
    Case("victim", Victim, FULL | WRITES, {}, (STUB,)),
    Case("allocator", Placement, LARGE | WRITES, {}, (STUB, STUB)),
    Case("placement", Beside, LARGE | WRITES, {}, (1, None, STUB)),
    Case("home", Homes, COPIES, {}, (1, STUB, STUB)),
    Case("scheduler", Fifo, SMALL | READS, {"schedule.policy": "fifo"}, (STUB,)),
    # Dies request paths in another order than with the built-in policy, but the number of operations is equal.
    Case("dispatch", Dispatching, SMALL | READS, {"schedule.policy": "fifo"}, (STUB,), "scheduler", is_same=False),
    Case("arbiter", Oldest, SLOW | READS, {"fabric.arbitration": "oldest-first"}, (0, 0, [STUB, STUB])),
)


def cost(config: _native.Config) -> float:
    """Returns the processor time of a run in seconds, in the compiled variant of the simulation with every feature."""
    simulation = _native.Simulation(config)
    simulation.require_every_feature()
    attach(simulation, config)
    start = time.process_time()
    simulation.run(_native.Control())
    return time.process_time() - start


@click.command()
@click.option("--rounds", default=7, show_default=True, type=click.IntRange(min=1), help="Measurements of each.")
def main(rounds: int) -> None:
    """Measure what a call of a policy in Python costs."""
    for case in CASES:
        kind = case.key or case.name
        policy = case.policy()
        theirs = flashmesh.run(case.config, **{kind: policy})
        is_same = flashmesh.run(case.config, overrides=case.built_in).makespan_ps == theirs.makespan_ps
        assert is_same or not case.is_same, f"{case.name}: another run"
        built_in = configuration.load(case.config, overrides=case.built_in)
        in_python = configuration.load(case.config, overrides={f"policy.{kind}": case.policy})
        # Alternate the runs, so that a slow period of the machine affects both.
        pairs = [(cost(built_in), cost(in_python)) for _ in range(rounds)]
        least = [min(times) for times in zip(*pairs, strict=True)]
        each = (least[1] - least[0]) / policy.calls
        method = getattr(case.policy(), KINDS[kind].method)
        names = {"method": method, "stubs": case.stubs}
        own = min(timeit.repeat("method(*stubs)", globals=names, number=100_000)) / 100_000
        times = f"{each * 1e9:5.0f} ns each, {own * 1e9:4.0f} ns of it in the policy"
        click.echo(f"{case.name:10} {policy.calls:9,} calls, {times}")


if __name__ == "__main__":
    main()
