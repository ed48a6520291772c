"""Policies in Python: built-in ones that are written again give the same report, bit for bit."""

from __future__ import annotations

from typing import Any

import pytest

import flashmesh
from flashmesh import policies
from flashmesh.policies import DataOf, Phase, Port, Work
from policy_drives import BUS, COPIES, DRIVE, EMPTY, report


def same(config: dict[str, Any], overrides: dict[str, Any], **policy: Any) -> bool:
    """Whether a policy gives the report of the built-in one of the overrides, with all oracles looking."""
    built_in = flashmesh.run(config, overrides=overrides)
    return report(flashmesh.run(config, overrides=overrides, check=True, **policy)) == report(built_in)


class Greedy:
    def select(self, blocks: policies.Blocks) -> int:
        return int(blocks.invalid_pages.argmax())


class FirstFilled:
    def select(self, blocks: policies.Blocks) -> int:
        filled = blocks.filled
        candidates = filled.nonzero()[0]
        return int(candidates[filled[candidates].argmin()])


class Random:
    def select(self, blocks: policies.Blocks) -> int | None:
        return blocks.draw()


class RandomInvalid:
    def select(self, blocks: policies.Blocks) -> int | None:
        return blocks.draw(1)


class BestOfTen:
    def select(self, blocks: policies.Blocks) -> int | None:
        best = blocks.draw()
        assert best is not None
        for _ in range(9):
            other = blocks.draw()
            assert other is not None
            if blocks.invalid_pages[other] > blocks.invalid_pages[best]:
                best = other
        return best


@pytest.mark.parametrize(
    ("name", "policy"),
    [
        ("greedy", Greedy),
        ("fifo", FirstFilled),
        ("random", Random),
        ("random-p", RandomInvalid),
        ("d-choices", BestOfTen),
    ],
)
def test_victim_policies_written_again_give_the_same_report(name: str, policy: type) -> None:
    assert same(DRIVE, {"gc.victim": name}, victim=policy)


class StaticOrder:
    """Logical pages go to different units of the first level of the order, then of the second, and so on."""

    def __init__(self, order: str) -> None:
        self.order = order

    def begin(self, geometry: policies.Geometry) -> None:
        self.counts = {
            "C": geometry.channels,
            "W": geometry.chips_per_channel,
            "D": geometry.dies_per_chip,
            "P": geometry.planes_per_die,
        }

    def place(self, write: policies.Write, drive: policies.DriveState) -> int:
        at, left = {}, write.lpn
        for level in self.order:
            left, at[level] = divmod(left, self.counts[level])
        plane = 0
        for level in "CWDP":
            plane = plane * self.counts[level] + at[level]
        return plane


@pytest.mark.parametrize("order", ["CWDP", "PDWC", "WPCD"])
def test_static_orders_written_again_give_the_same_report(order: str) -> None:
    assert same(DRIVE, {"ftl.allocation": order, "geometry.dies-per-chip": 2}, allocator=StaticOrder(order))


class RoundRobin:
    """Dynamic allocation: the next channel with an idle die, in it the next chip, die and plane, a pointer for each."""

    def begin(self, geometry: policies.Geometry) -> None:
        self.geometry = geometry
        self.counts = (
            geometry.channels,
            geometry.chips_per_channel,
            geometry.dies_per_chip,
            geometry.planes_per_die,
        )
        self.next: dict[tuple[int, ...], int] = {}

    def place(self, write: policies.Write, drive: policies.DriveState) -> int:
        idle = drive.idle if drive.idle_count else [True] * self.geometry.dies
        way: tuple[int, ...] = ()
        for level, count in enumerate(self.counts):
            first = self.next.get(way, 0)
            at = next(
                at for at in ((first + step) % count for step in range(count)) if self.may((*way, at), level, idle)
            )
            self.next[way] = (at + 1) % count
            way = (*way, at)
        return self.number(way, 4)

    def number(self, way: tuple[int, ...], levels: int) -> int:
        found = 0
        for count, at in zip(self.counts[:levels], way, strict=False):
            found = found * count + at
        return found

    def may(self, way: tuple[int, ...], level: int, idle: Any) -> bool:
        if level == 3:
            return True
        dies = 1
        for count in self.counts[level + 1 : 3]:
            dies *= count
        first = self.number(way, level + 1) * dies
        return any(idle[first : first + dies])


def test_dynamic_allocation_written_again_gives_the_same_report() -> None:
    # Fewer writes than a plane has room for: the rule about full planes is the simulator's own.
    overrides = {"ftl.allocation": "dynamic", "geometry.dies-per-chip": 2, "workload.requests": 2_000}
    assert same(EMPTY, overrides, allocator=RoundRobin)


class FewestOutstanding:
    def choose(self, lpn: int, original: policies.Home, replica: policies.Home) -> policies.Home:
        return replica if replica.outstanding < original.outstanding else original


def test_the_choice_of_homes_written_again_gives_the_same_report() -> None:
    assert same(COPIES, {}, home=FewestOutstanding)


class Fifo:
    def decide(self, waiting: policies.Waiting) -> policies.Decision:
        first = waiting.oldest(policies.INTERNAL) if waiting.collection_first else None
        return first or waiting.oldest(policies.REQUIRED)


class OutOfOrder:
    """Reads before writes, collection after both unless it goes first; what waits too long goes by turns."""

    AGE_BOUND_PS = 20 * 10**9
    REQUESTS = Work.USER_READ | Work.USER_PROGRAM

    def __init__(self) -> None:
        self.yields: dict[int, bool] = {}

    def user(self, waiting: policies.Waiting) -> policies.Transaction | None:
        if waiting.is_ready(Work.USER_READ) and waiting.is_ready(Work.USER_PROGRAM):
            heads = waiting.heads(self.REQUESTS)
            is_late = waiting.now_ps - min(head.queued_ps for head in heads) >= self.AGE_BOUND_PS
            die = waiting.dies[0]
            self.yields[die] = is_late and not self.yields.get(die, False)
            if self.yields[die]:
                return min(heads, key=lambda head: head.order)
        return waiting.oldest(Work.USER_READ) or waiting.oldest(Work.USER_PROGRAM)

    def internal(self, waiting: policies.Waiting) -> policies.Transaction | None:
        works = (Work.COLLECT_READ, Work.COLLECT_PROGRAM, Work.ERASE)
        return next((found for work in works if (found := waiting.oldest(work)) is not None), None)

    def decide(self, waiting: policies.Waiting) -> policies.Decision:
        if waiting.collection_first:
            return self.internal(waiting) or self.user(waiting)
        return self.user(waiting) or self.internal(waiting)


@pytest.mark.parametrize(("name", "policy"), [("fifo", Fifo), ("out-of-order", OutOfOrder)])
def test_schedulers_written_again_give_the_same_report(name: str, policy: type) -> None:
    overrides = {"schedule.policy": name, "gc.preemptible": True, "replay.outstanding": 200, "host.queue-depth": 200}
    assert same(DRIVE, overrides, scheduler=policy)


class Pairs:
    """Reads of two planes at the same page offset go together, from wherever they wait."""

    def begin(self, geometry: policies.Geometry) -> None:
        self.pages = geometry.pages_per_block

    def decide(self, waiting: policies.Waiting) -> policies.Decision:
        for die in waiting.dies:
            seen: dict[int, policies.Transaction] = {}
            for read in waiting.queued(die, Work.USER_READ):
                lead = seen.setdefault(read.page % self.pages, read)
                if lead.plane != read.plane:
                    return lead, [read]
        return waiting.oldest(policies.REQUIRED)


def test_a_scheduler_says_who_joins() -> None:
    config = DRIVE | {"workload": {"requests": 4_000}, "replay": {"outstanding": 512}, "host": {"queue-depth": 512}}
    alone = flashmesh.run(config, overrides={"schedule.policy": "fifo"})
    paired = flashmesh.run(config, scheduler=Pairs, check=True)
    assert paired.flash.multi_plane_operations > 1.2 * alone.flash.multi_plane_operations


class VeniceRouting:
    def candidates(self, nearer: Port, open: Port) -> Port:  # noqa: A002
        return nearer & open or open


class Minimal:
    def candidates(self, nearer: Port, open: Port) -> Port:  # noqa: A002
        return nearer & open


class Xy:
    def candidates(self, nearer: Port, open: Port) -> Port:  # noqa: A002
        return (nearer & (Port.EAST | Port.WEST) or nearer) & open


class AnyPort:
    def candidates(self, nearer: Port, open: Port) -> Port:  # noqa: A002
        return open


@pytest.mark.parametrize(
    ("name", "policy"),
    [("venice", VeniceRouting), ("minimal-adaptive", Minimal), ("xy", Xy), ("random-dfs", AnyPort)],
)
def test_routing_written_again_gives_the_same_report(name: str, policy: type) -> None:
    mesh = {"fabric": {"kind": "venice"}, "workload": {"requests": 3_000}, "replay": {"outstanding": 128}}
    assert same(mesh, {"venice.routing": name}, routing=policy)


class OldestFirst:
    def grant(self, resource: int, last: int, waiting: list[policies.Contender]) -> policies.Contender:
        return waiting[0]


class CommandFirst:
    def grant(self, resource: int, last: int, waiting: list[policies.Contender]) -> policies.Contender:
        return next((each for each in waiting if each.phase == Phase.COMMAND), waiting[0])


class DataFirst:
    def grant(self, resource: int, last: int, waiting: list[policies.Contender]) -> policies.Contender:
        return next((each for each in waiting if each.phase != Phase.COMMAND), waiting[0])


class ByTurns:
    def begin(self, geometry: policies.Geometry) -> None:
        self.positions = geometry.chips_per_channel * geometry.dies_per_chip

    def grant(self, resource: int, last: int, waiting: list[policies.Contender]) -> policies.Contender:
        assert all(each.data == DataOf.REQUEST for each in waiting)
        return min(waiting, key=lambda each: ((each.position - last - 1) % self.positions, each.phase == Phase.COMMAND))


@pytest.mark.parametrize(
    ("name", "policy"),
    [
        ("oldest-first", OldestFirst),
        ("command-first", CommandFirst),
        ("data-first", DataFirst),
        ("round-robin", ByTurns),
    ],
)
def test_arbitration_written_again_gives_the_same_report(name: str, policy: type) -> None:
    assert same(BUS, {"fabric.arbitration": name, "workload.read-share": 0.7}, arbiter=policy)


def test_one_object_may_take_several_decisions_and_is_what_the_program_gave() -> None:
    class Both:
        def __init__(self) -> None:
            self.victims = self.places = 0

        def select(self, blocks: policies.Blocks) -> int | None:
            self.victims += 1
            return blocks.most_invalid()

        def place(self, write: policies.Write, drive: policies.DriveState) -> int:
            self.places += 1
            return int(drive.valid_pages.argmin())

    both = Both()
    flashmesh.run(DRIVE, victim=both, allocator=both, check=True)
    assert both.victims > 0
    assert both.places > 1_000
