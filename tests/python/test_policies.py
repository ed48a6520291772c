"""Python policies that reimplement built-in ones give the same report, bit for bit."""

from __future__ import annotations

from typing import Any

import pytest

import flashmesh
from flashmesh import policies
from flashmesh.policies import DataOf, Phase, Port, Work
from policy_drives import BUS, COPIES, DRIVE, EMPTY, report


def same(config: dict[str, Any], built_in: dict[str, Any], beside: dict[str, Any] | None = None, **policy: Any) -> bool:
    """Returns whether a Python policy gives the same report as a built-in one, under all oracles."""
    expected = flashmesh.run(config, overrides={**built_in, **(beside or {})})
    return report(flashmesh.run(config, overrides=beside, check=True, **policy)) == report(expected)


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
    # Preconditioning uses the key instead of the policy, so the key is set too.
    assert same(DRIVE, {}, {"gc.victim": name}, victim=policy)


class StaticOrder:
    """Static allocator: consecutive pages alternate between the channels, ways, dies and planes in a given order."""

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
    # Preconditioning uses `ftl.allocation` instead of the policy, so the key is set too.
    beside = {"ftl.allocation": order, "geometry.dies-per-chip": 2}
    assert same(DRIVE, {}, beside, allocator=StaticOrder(order))


class RoundRobin:
    """Dynamic allocation: round robin over channels with an idle die, then over chips, dies and planes."""

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
    # Write less than a plane holds, because full planes are handled by the simulator, not by the policy.
    beside = {"geometry.dies-per-chip": 2, "workload.requests": 2_000}
    assert same(EMPTY, {"ftl.allocation": "dynamic"}, beside, allocator=RoundRobin)


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
    """Scheduler: reads before writes, GC last unless it has precedence, overdue requests in alternation first."""

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
    beside = {"gc.preemptible": True, "replay.outstanding": 200, "host.queue-depth": 200}
    built_in = flashmesh.run(DRIVE, overrides={"schedule.policy": name, **beside})
    own = flashmesh.run(DRIVE, overrides=beside, check=True, scheduler=policy)
    # Reports differ in one respect: only built-in policies count operations that are overdue by schedule.age-bound.
    assert (own.flash.overdue_reads, own.flash.overdue_programs) == (0, 0)
    expected = report(built_in)
    expected["flash"] |= {"overdue_reads": 0, "overdue_programs": 0}
    assert report(own) == expected


class Pairs:
    """Scheduler that joins reads of two planes at the same page offset, from any position in their queues."""

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


class Sprinkler:
    """Scheduler with round robin over the chips of a channel; each die runs its oldest transaction."""

    AGE_BOUND_PS = 20 * 10**9

    def begin(self, geometry: policies.Geometry) -> None:
        assert (geometry.planes_per_die, geometry.dies_per_chip) == (1, 1)
        self.chips = geometry.chips_per_channel
        self.at = [self.chips - 1] * geometry.channels
        self.asked: list[list[int]] = [[] for _ in self.at]

    def decide(self, waiting: policies.Waiting) -> policies.Decision:
        return waiting.oldest(Work.USER_READ | Work.USER_PROGRAM)

    def next_die(self, dispatch: policies.DispatchState) -> int | None:
        for channel, at in enumerate(self.at):
            dies = dispatch.candidates_of_channel(channel)
            assert set(dies) <= set(dispatch.candidates)
            self.asked[channel] = [die for die in self.asked[channel] if dispatch.asks(die)]
            if self.asked[channel]:
                dies = [die for die in dies if die % self.chips == at]
            if dies:
                die = min(dies, key=lambda die: ((die % self.chips - at - 1) % self.chips, die))
                self.at[channel] = die % self.chips
                self.asked[channel].append(die)
                return die
        return None


class Paq:
    """Physically addressed queueing, for dies with one plane: the longest waiting die of a channel is next."""

    def begin(self, geometry: policies.Geometry) -> None:
        self.chips = geometry.chips_per_channel
        self.asked: list[list[int]] = [[] for _ in range(geometry.channels)]
        self.set: list[int] = []

    def decide(self, waiting: policies.Waiting) -> policies.Decision:
        return waiting.oldest(Work.USER_READ | Work.USER_PROGRAM)

    def next_die(self, dispatch: policies.DispatchState) -> int | None:
        if not self.set:
            for channel, asked in enumerate(self.asked):
                candidates = dispatch.candidates_of_channel(channel)
                if candidates:
                    asked[:] = [die for die in asked if dispatch.asks(die)]
                    if not asked:
                        self.set.append(min(candidates, key=lambda die: self.oldest(dispatch, die)))
            self.set.sort(reverse=True)
        while self.set:
            die = self.set.pop()
            if die in dispatch.candidates:
                self.asked[die // self.chips].append(die)
                return die
        return None

    def oldest(self, dispatch: policies.DispatchState, die: int) -> int:
        return min(each.order for each in dispatch.queued(die, policies.REQUIRED))


@pytest.mark.parametrize(("name", "policy"), [("sprinkler", Sprinkler), ("paq", Paq)])
def test_schedulers_that_name_the_dies_which_ask_written_again_give_the_same_report(name: str, policy: type) -> None:
    beside = {"geometry.planes-per-die": 1, "replay.outstanding": 200, "host.queue-depth": 200}
    assert same(EMPTY, {"schedule.policy": name}, beside, scheduler=policy)


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


class XyHops:
    """Routes along the row, then along the column. Crosses the edge of a torus only from a router at that edge."""

    def begin(self, geometry: policies.Geometry) -> None:
        self.rows, self.columns = geometry.channels, geometry.chips_per_channel

    def next_hop(self, at: policies.Router, to: policies.Router, open: Port) -> Port:  # noqa: A002
        for here, there, length, forth, back in (
            (at.column, to.column, self.columns, Port.EAST, Port.WEST),
            (at.row, to.row, self.rows, Port.SOUTH, Port.NORTH),
        ):
            if here == there:
                continue
            around = length - there if here == 0 else there + 1 if here == length - 1 else length
            has_edge = length > 2 and (back if here == 0 else forth) in open
            is_around = has_edge and here in (0, length - 1) and around < abs(there - here)
            return forth if (there > here) != is_around else back
        raise AssertionError("asked only of another router")


PACKETS: dict[str, Any] = {
    "geometry": {"channels": 4, "chips-per-channel": 4, "blocks-per-plane": 64, "over-provisioning": 0.2},
    "workload": {"requests": 1_000, "read-share": 0.6},
    "replay": {"outstanding": 64},
}


@pytest.mark.long
@pytest.mark.parametrize(
    "keys",
    [
        {"fabric.kind": "nossd", "preset": "nossd12"},
        {"fabric.kind": "nossd", "preset": "enterprise-slc"},
        {"fabric.kind": "nossd", "nossd.topology": "torus"},
        {"fabric.kind": "nossd", "fabric.hold-path": "reads"},
    ],
    ids=["cal-2012", "pact-2014", "torus", "circuits"],
)
def test_routing_of_packets_written_again_gives_the_same_report(keys: dict[str, Any]) -> None:
    assert same(PACKETS, {}, keys, hops=XyHops)


class YxHops(XyHops):
    """Routes along the column, then along the row."""

    def next_hop(self, at: policies.Router, to: policies.Router, open: Port) -> Port:  # noqa: A002
        if at.row != to.row:
            return Port.SOUTH if to.row > at.row else Port.NORTH
        return Port.EAST if to.column > at.column else Port.WEST


def test_packets_go_the_ways_that_a_policy_names() -> None:
    # Use controllers of other rows, so that packets leave their row.
    keys = {"fabric.kind": "nossd", "nossd.injection": "round-robin"}
    xy, yx = (flashmesh.run(PACKETS, overrides=keys, check=True, hops=policy) for policy in (None, YxHops))
    assert xy.makespan_ps != yx.makespan_ps


class WhereItIs:
    def place_write(self, plane: int, stream: int | None, planes: policies.Planes) -> int:
        return plane


class FurthestBehind:
    """Placement on the plane of the chosen die with the fewest pages in open blocks and pending writes."""

    def begin(self, geometry: policies.Geometry) -> None:
        self.planes_per_die = geometry.planes_per_die

    def place_write(self, plane: int, stream: int | None, planes: policies.Planes) -> int:
        first = plane // self.planes_per_die * self.planes_per_die
        behind = planes.pages_open + planes.writes_waiting + planes.moves_waiting
        return first + int(behind[first : first + self.planes_per_die].argmin())


@pytest.mark.parametrize(("name", "policy"), [("page", WhereItIs), ("sprinkler", WhereItIs), ("tbm", FurthestBehind)])
def test_placement_of_firmware_policies_written_again_gives_the_same_report(name: str, policy: type) -> None:
    assert same(DRIVE, {}, {"ftl.policy": name}, placement=policy)


def test_a_placement_spreads_writes_over_all_planes_and_moves_none_that_has_no_room() -> None:
    class Fullest:
        def place_write(self, plane: int, stream: int | None, planes: policies.Planes) -> int:
            assert stream == 0
            assert planes.free_pages_of(plane) == planes.free_pages[plane]
            return int(planes.valid_pages.argmax())

    plain, spread = (flashmesh.run(DRIVE, check=True, placement=policy) for policy in (None, Fullest))
    assert spread.makespan_ps != plain.makespan_ps


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
    assert same(BUS, {"fabric.arbitration": name}, {"workload.read-share": 0.7}, arbiter=policy)


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
