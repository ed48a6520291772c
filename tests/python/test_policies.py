"""Policies in Python: built-in ones written again give the same report, and what cannot be used is refused in words."""

from __future__ import annotations

import runpy
import textwrap
from pathlib import Path
from typing import Any

import click
import numpy as np
import pandas as pd
import pytest
from gymnasium.utils.env_checker import check_env

import flashmesh
from conftest import ROOT, Cli
from flashmesh import policies
from flashmesh.cli.commands import flashmesh as command
from flashmesh.gym import VictimEnv
from flashmesh.policies import DataOf, Phase, Port, Work

DRIVE: dict[str, Any] = {
    "geometry": {
        "channels": 2,
        "chips-per-channel": 2,
        "blocks-per-plane": 64,
        "pages-per-block": 32,
        "over-provisioning": 0.2,
    },
    "precondition": {"kind": "random"},
    "workload": {"requests": 4_000, "read-share": 0.4, "request-size": "8KiB"},
    "replay": {"outstanding": 16},
}
EMPTY: dict[str, Any] = DRIVE | {"precondition": {"kind": "none"}}
OF_THE_MACHINE = ("wall_s", "requests_per_wall_s", "peak_rss_bytes", "config_hash", "configuration", "provenance")
BUS: dict[str, Any] = {
    "fabric": {"channel-rate": "300MB/s"},
    "workload": {"requests": 5_000},
    "replay": {"outstanding": 256},
}
EXAMPLES = ROOT / "examples" / "policies"


def report(result: flashmesh.Result) -> dict[str, Any]:
    return {key: value for key, value in result.to_dict().items() if key not in OF_THE_MACHINE}


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

    def place(self, write: policies.Write, drive: policies.Drive) -> int:
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

    def place(self, write: policies.Write, drive: policies.Drive) -> int:
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


COPIES: dict[str, Any] = {
    "replication": {"enabled": True},
    "workload": {"requests": 20_000, "footprint": "2MiB", "pattern": "hot-stride", "hot-traffic": 1.0},
    "replay": {"outstanding": 16},
}


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

        def place(self, write: policies.Write, drive: policies.Drive) -> int:
            self.places += 1
            return int(drive.valid_pages.argmin())

    both = Both()
    flashmesh.run(DRIVE, victim=both, allocator=both, check=True)
    assert both.victims > 0
    assert both.places > 1_000


class Answers:
    """Answers the same whatever it is asked."""

    def __init__(self, answer: Any) -> None:
        self.answer = answer

    def select(self, *_: Any) -> Any:
        return self.answer

    place = decide = choose = grant = candidates = select


NONSENSE = [
    ("victim", DRIVE, 64, "answered 64: the positions of the blocks of a plane are 0 to 63"),
    ("victim", DRIVE, -1, "answered -1: a victim is the position of a block, a whole number, or None"),
    ("victim", DRIVE, "x", "answered 'x': a victim is the position of a block"),
    ("allocator", DRIVE, 8, "answered 8: the planes of the drive are 0 to 7"),
    ("allocator", DRIVE, None, "answered None: a place is the number of a plane"),
    ("home", COPIES, 1, "answered 1: a home is one of the two that are given"),
    ("scheduler", DRIVE, 3, "answered 3: a decision is a transaction that waits"),
    ("scheduler", DRIVE, None, "requests waiting for good"),
    ("arbiter", BUS, 0, "answered 0: who is served is one of those that are given"),
]


@pytest.mark.parametrize(("kind", "config", "answer", "told"), NONSENSE)
def test_nonsense_is_refused_with_what_was_answered_and_when(
    kind: str, config: dict[str, Any], answer: Any, told: str
) -> None:
    with pytest.raises(flashmesh.PolicyError, match=r"^at [0-9.]+ ?\w*: ") as refused:
        flashmesh.run(config, **{kind: Answers(answer)})
    assert told in str(refused.value)


def test_ports_that_are_not_open_are_refused() -> None:
    mesh = {"fabric": {"kind": "venice"}, "workload": {"requests": 100}}
    for answer, told in ((Port.EAST, "only <Port: 0> are open"), ("east", "a set of ports")):
        with pytest.raises(flashmesh.PolicyError, match="candidates answered") as refused:
            flashmesh.run(mesh, routing=Answers(answer))
        assert told in str(refused.value)


def test_a_transaction_of_an_earlier_decision_is_refused() -> None:
    class Late:
        first: Any = None

        def decide(self, waiting: policies.Waiting) -> Any:
            self.first = self.first or waiting.oldest(policies.REQUIRED)
            return self.first

    with pytest.raises(flashmesh.PolicyError, match=r"may not run now|waits no longer"):
        flashmesh.run(DRIVE, scheduler=Late)


def test_an_exception_ends_the_run_with_its_traceback_and_the_time() -> None:
    class Broken:
        calls = 0

        def select(self, blocks: policies.Blocks) -> int | None:
            self.calls += 1
            return blocks.most_invalid() if self.calls < 100 else [][self.calls]

    policy = Broken()
    with pytest.raises(flashmesh.PolicyError, match=r"^at \d.*: .*Broken.select raised IndexError") as raised:
        flashmesh.run(DRIVE, victim=policy)
    assert policy.calls == 100
    cause = raised.value.__cause__
    assert isinstance(cause, IndexError)
    assert cause.__traceback__ is not None
    assert cause.__traceback__.tb_frame.f_code.co_name == "select"


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
    axes = {"policy.victim": ["built-in", Counts, Greedy], "seed": [1, 2]}
    compared = flashmesh.compare(DRIVE, axes, jobs=2, check=True)
    moved = [run.result.gc.pages_moved for run in compared]
    assert moved[:2] == moved[4:]
    assert moved[:2] != moved[2:4]
    again = flashmesh.compare(DRIVE, {"policy.victim": [counts], "seed": [1, 2]}, jobs=1)
    assert [run.result.gc.pages_moved for run in again] == moved[2:4]
    assert counts.calls == 0
    name = "test_policies:test_a_policy_is_an_axis_and_each_run_has_its_own.<locals>.Counts"
    assert compared[2].settings["policy.victim"] == name
    assert compared[2].result.to_dict()["configuration"]["policy"]["victim"] == name


MINE = """
class Mine:
    def __init__(self, least=0):
        self.least = least
    def select(self, blocks):
        return blocks.draw(self.least)
class Wrong:
    def select(self):
        return 0
class Other:
    def decide(self, waiting):
        return waiting.oldest(127)
class Both(Mine, Other):
    pass
class Nothing:
    pass
class Fails(Mine):
    def select(self, blocks):
        return 1 // 0
class Unmade:
    def __init__(self):
        raise ValueError("no")
    def select(self, blocks):
        return 0
number = 3
"""


@pytest.fixture
def mine(tmp_path: Path) -> Path:
    (tmp_path / "mine.py").write_text(MINE)
    (tmp_path / "broken.py").write_text("import nowhere_to_be_found\n")
    text = 'preset = "z-nand"\n[geometry]\nchannels = 1\nchips-per-channel = 1\nplanes-per-die = 1\n'
    text += "blocks-per-plane = 64\npages-per-block = 32\nover-provisioning = 0.2\n"
    text += '[precondition]\nkind = "random"\n[workload]\nread-share = 0.0\nrequests = 500\n'
    (tmp_path / "drive.toml").write_text(text)
    return tmp_path


def test_the_command_line_takes_policies_by_their_files(cli: Cli, mine: Path) -> None:
    outputs = {
        text: cli("run", "drive.toml", "--policy", text, "--check", "--quiet", "--json", "-").stdout
        for text in ("mine.py:Mine", "victim=mine.py:Mine(least=0)", "mine.py:Mine(least=9)")
    }
    results = [flashmesh.Result.from_json(text, "") for text in outputs.values()]
    assert results[0].gc == results[1].gc
    assert results[0].gc != results[2].gc
    (file,) = results[2].provenance.files
    assert (file.stream, file.path) == ("policy.victim", "mine.py")


BAD = [
    ("missing.py:Mine", "missing.py cannot be read: No such file or directory"),
    ("mine.py:Missing", "there is no class Missing; its classes are Mine, Wrong, Other, Both, Nothing"),
    ("mine.py:number", "number is 3, not a class"),
    ("mine.py:", "expected FILE.py:CLASS"),
    ("mine.py", "expected FILE.py:CLASS"),
    ("mine.py:Mine(", "a class is CLASS or CLASS(argument=value, ...)"),
    ("mine.py:Nothing", "has none of the methods of a policy: select(self, blocks)"),
    ("mine.py:Both", "of several kinds: say --policy victim=mine.py:Both or --policy scheduler=mine.py:Both"),
    ("victims=mine.py:Mine", "there is no kind victims; the kinds are victim, allocator"),
    ("scheduler=mine.py:Mine", "mine.py:Mine has no method decide(self, waiting); it is of the kind victim"),
    ("mine.py:Wrong", "select(self, blocks): mine.py:Wrong.select is called with 1 argument: too many"),
    ("mine.py:Unmade", "mine.py:Unmade cannot be made: ValueError: no"),
    ("mine.py:Mine(most=1)", "cannot be made: TypeError: "),
    ("broken.py:Mine", "cannot be read: ModuleNotFoundError: No module named 'nowhere_to_be_found'"),
    ("no_such_module:Mine", "there is no module no_such_module; a file is named by its path, such as my.py"),
    ("routing=mine.py:Mine", "policy.routing has no effect"),
]


@pytest.mark.parametrize(("text", "told"), BAD)
def test_what_is_no_policy_is_refused_in_a_sentence(
    mine: Path, text: str, told: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(mine)
    with pytest.raises((click.ClickException, flashmesh.FlashmeshError)) as refused:
        command.main(["run", "drive.toml", "--quiet", "--policy", text], prog_name="flashmesh", standalone_mode=False)
    assert told in str(refused.value)


def test_the_command_line_shows_the_traceback_of_a_policy_and_the_time(cli: Cli, mine: Path) -> None:
    done = cli("run", "drive.toml", "--policy", "mine.py:Fails")
    assert done.returncode == 2
    assert 'mine.py", line 19, in select' in done.stderr
    assert "ZeroDivisionError" in done.stderr
    assert "error: at " in done.stderr
    assert "flashmesh/policies" not in done.stderr


def test_files_name_policies_only_where_they_are_trusted(cli: Cli, mine: Path) -> None:
    (mine / "sub").mkdir()
    (mine / "sub" / "mine.py").write_text(MINE)
    text = (mine / "drive.toml").read_text()
    (mine / "sub" / "drive.toml").write_text(text + '[policy]\nvictim = "mine.py:Mine"\n')
    sweep = 'config = "../drive.toml"\n[axes]\n"policy.victim" = ["built-in", "mine.py:Mine"]\n'
    (mine / "sub" / "sweep.toml").write_text(sweep)
    for command in (("run", "sub/drive.toml"), ("sweep", "sub/sweep.toml")):
        refused = cli(*command, "--quiet")
        assert refused.returncode == 2
        assert "whose code would run: name it with --policy, or give --trust-policies" in refused.stderr
        trusted = cli(*command, "--trust-policies", "--quiet")
        assert trusted.returncode == 0, trusted.stderr
    assert cli("config", "sub/drive.toml").returncode == 0


def test_a_changed_policy_is_another_run_of_a_sweep(cli: Cli, mine: Path) -> None:
    (mine / "sweep.toml").write_text('config = "drive.toml"\n[axes]\n"policy.victim" = ["built-in", "mine.py:Mine"]\n')

    def names() -> list[str]:
        done = cli("sweep", "sweep.toml", "--trust-policies", "--dry-run")
        return [line.split()[0] for line in done.stdout.splitlines()[1:]]

    before = names()
    (mine / "mine.py").write_text(MINE + "\n# changed\n")
    after = names()
    assert before[0] == after[0]
    assert before[1] != after[1]


def test_a_search_chooses_among_policies(cli: Cli, mine: Path) -> None:
    search = """
    config = "drive.toml"
    trials = 3
    population = 2
    [space]
    "policy.victim" = ["built-in", "mine.py:Mine"]
    [objectives]
    "write amplification" = "minimise"
    """
    (mine / "search.toml").write_text(textwrap.dedent(search))
    done = cli("optimise", "search.toml", "--trust-policies", "--quiet")
    assert done.returncode == 0, done.stderr
    assert "built-in" in done.stdout


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
    """Writes of which nine in ten go to one region, then to no region, then to another."""
    random = np.random.default_rng(1)

    def phase(first: int, pages: int, share: float) -> Any:
        count, all_pages = 20_000, 15_000
        anywhere, hot = random.integers(0, all_pages, count), random.integers(first, first + pages, count)
        return np.where(random.random(count) < share, hot, anywhere)

    pages = np.concatenate([phase(0, 1_500, 0.9), phase(0, 15_000, 0.0), phase(9_000, 1_500, 0.9)])
    columns = {"arrival_us": np.arange(len(pages)) * 1.0, "offset_bytes": pages * 4096, "size_bytes": 4096}
    return pd.DataFrame({**columns, "kind": "write"})


def test_cost_age_and_the_bandit_beat_greedy_on_a_shifting_workload() -> None:
    trace = shifting()
    names = (None, f"{EXAMPLES}/cost_age.py:CostAge", f"{EXAMPLES}/bandit.py:Bandit")
    greedy, cost_age, bandit = (
        flashmesh.run(OVERWRITTEN, trace=trace, victim=name).write_amplification for name in names
    )
    assert cost_age < 0.9 * greedy
    assert bandit < 0.9 * greedy


def test_the_bandit_costs_little_where_age_means_nothing() -> None:
    config = OVERWRITTEN | {"workload": {"read-share": 0.0, "requests": 20_000}}
    greedy = flashmesh.run(config).write_amplification
    bandit = flashmesh.run(config, victim=f"{EXAMPLES}/bandit.py:Bandit").write_amplification
    assert greedy < bandit < 1.03 * greedy


def test_the_environment_keeps_to_the_interface_of_gymnasium() -> None:
    env = VictimEnv(OVERWRITTEN | {"workload": {"read-share": 0.0, "requests": 2_000}}, candidates=4)
    check_env(env, skip_render_check=True)
    observation, _ = env.reset(seed=3)
    steps, ends, info = 0, False, {}
    while not ends:
        assert env.observation_space.contains(observation)
        observation, reward, ends, _, info = env.step(0)
        assert 0.0 < reward <= 1.0
        steps += 1
    # The first candidate is the greedy choice.
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
