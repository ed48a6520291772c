"""Invalid Python policies are refused with a sentence; files may name policies only if they are trusted."""

from __future__ import annotations

import textwrap
from pathlib import Path
from typing import Any

import click
import pytest

import flashmesh
from conftest import Cli
from flashmesh import policies, provenance
from flashmesh.cli import commands
from flashmesh.policies import Port
from policy_drives import BUS, COPIES, DRIVE


class Answers:
    """Policy that always gives the same answer."""

    def __init__(self, answer: Any) -> None:
        self.answer = answer

    def select(self, *_: Any) -> Any:
        return self.answer

    place = place_write = decide = choose = grant = candidates = next_hop = select


class NoAnswer(Answers):
    """Policy that answers None."""

    def __init__(self) -> None:
        super().__init__(None)

    def candidates(self, nearer: Port, open: Port) -> Port:  # noqa: A002 - the field's term
        return Port(0)


class Names(Answers):
    """Scheduler that runs the oldest transaction, and always grants the next path to the same die."""

    def decide(self, waiting: policies.Waiting) -> policies.Decision:
        return waiting.oldest(policies.REQUIRED)

    def next_die(self, dispatch: policies.DispatchState) -> Any:
        return self.answer


PACKETS: dict[str, Any] = {
    "fabric": {"kind": "nossd"},
    "geometry": {"channels": 2, "chips-per-channel": 3},
    "workload": {"requests": 100},
}
TWINS: dict[str, Any] = DRIVE | {"ftl": {"policy": "tbm"}}


NONSENSE = [
    ("victim", DRIVE, 64, "answered 64: the positions of the blocks of a plane are 0 to 63"),
    ("victim", DRIVE, -1, "answered -1: a victim is the position of a block, a whole number, or None"),
    ("victim", DRIVE, "x", "answered 'x': a victim is the position of a block"),
    ("allocator", DRIVE, 8, "answered 8: the planes of the drive are 0 to 7"),
    ("allocator", DRIVE, None, "answered None: a place is the number of a plane"),
    ("placement", DRIVE, 8, "answered 8: the planes of the drive are 0 to 7"),
    ("placement", DRIVE, "x", "answered 'x': a place is the number of a plane"),
    ("placement", TWINS, 7, "answered 7: planes that use the same blocks as plane "),
    ("home", COPIES, 1, "answered 1: a home is one of the two that are given"),
    ("scheduler", DRIVE, 3, "answered 3: a decision is a transaction that waits"),
    ("scheduler", DRIVE, None, "requests waiting for good"),
    ("arbiter", BUS, 0, "answered 0: who is served is one of those that are given"),
]


def nonsense(kind: str, config: dict[str, Any], policy: object) -> str:
    """Returns the error message about a policy."""
    with pytest.raises(flashmesh.PolicyError, match=r"^at [0-9.]+ ?\w*: ") as refused:
        flashmesh.run(config, overrides={f"policy.{kind}": policy})
    return str(refused.value)


@pytest.mark.parametrize(("kind", "config", "answer", "told"), NONSENSE)
def test_nonsense_is_refused_with_what_was_answered_and_when(
    kind: str, config: dict[str, Any], answer: Any, told: str
) -> None:
    assert told in nonsense(kind, config, Answers(answer))


@pytest.mark.parametrize(
    ("answer", "told"),
    [
        (99, "answered 99: that die is no candidate; dispatch.candidates gives those that are"),
        ("x", "answered 'x': a die is a whole number, one of dispatch.candidates, or None"),
        (None, "requests waiting for good"),
    ],
)
def test_dies_that_cannot_ask_are_refused(answer: Any, told: str) -> None:
    assert told in nonsense("scheduler", DRIVE, Names(answer))


@pytest.mark.parametrize(
    ("answer", "told"),
    [
        (
            Port.WEST,
            "next_hop answered <Port.WEST: 8> at (0, 0) for (0, 1): it is one port of those that are open, <Port",
        ),
        (Port.EAST | Port.SOUTH, "answered <Port.EAST|SOUTH: 6> at (0, 0)"),
        ("east", "answered 'east' at (0, 0)"),
        (None, "answered None at (0, 0)"),
        (True, "answered True at (0, 0)"),
    ],
)
def test_links_that_are_not_there_are_refused(answer: Any, told: str) -> None:
    with pytest.raises(flashmesh.PolicyError) as refused:
        flashmesh.run(PACKETS, hops=Answers(answer))
    assert told in str(refused.value)


class ByTurns:
    """Routes some packets along the row first and some along the column first, so that all turns occur."""

    def next_hop(self, at: policies.Router, to: policies.Router, open: Port) -> Port:  # noqa: A002
        if at.column != to.column and ((at.row + at.column) % 2 or at.row == to.row):
            return Port.EAST if to.column > at.column else Port.WEST
        return Port.SOUTH if to.row > at.row else Port.NORTH


class ToAndFro:
    """Routes packets for the last column back from the column before it."""

    def next_hop(self, at: policies.Router, to: policies.Router, open: Port) -> Port:  # noqa: A002
        if at.column != to.column:
            is_back = to.column == 2 and at.column == 1
            return Port.EAST if to.column > at.column and not is_back else Port.WEST
        return Port.SOUTH if to.row > at.row else Port.NORTH


def test_ways_on_which_packets_never_arrive_or_could_wait_for_each_other_are_refused() -> None:
    for policy, told in (
        (ToAndFro, "packets to router (0, 2) go in a circle and never arrive: (0, 0), (0, 1)"),
        (ByTurns, "packets on these links could wait for each other for good"),
    ):
        with pytest.raises(flashmesh.PolicyError, match="next_hop: ") as refused:
            flashmesh.run(PACKETS, hops=policy)
        assert told in str(refused.value)


def test_ports_that_are_not_open_are_refused() -> None:
    mesh = {"fabric": {"kind": "venice"}, "workload": {"requests": 100}}
    for answer, told in ((Port.EAST, "only <Port: 0> are open"), ("east", "a set of ports")):
        with pytest.raises(flashmesh.PolicyError, match="candidates returned") as refused:
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


def test_an_exception_of_every_kind_ends_the_run_with_its_traceback() -> None:
    class Fails:
        def decide(self, waiting: policies.Waiting) -> policies.Decision:
            return waiting.oldest(policies.REQUIRED)

        def next_die(self, dispatch: policies.DispatchState) -> int:
            return 1 // 0

        def place_write(self, plane: int, stream: int | None, planes: policies.Planes) -> int:
            return 1 // 0

        def next_hop(self, at: policies.Router, to: policies.Router, open: Port) -> Port:  # noqa: A002
            return Port(1 // 0)

    for kind, method, config, time in (
        ("placement", "place_write", DRIVE, r"^at \d.*: "),
        ("scheduler", "next_die", DRIVE, r"^at \d.*: "),
        ("hops", "next_hop", PACKETS, ""),
    ):
        with pytest.raises(flashmesh.PolicyError, match=rf"{time}.*Fails.{method} raised ZeroDivisionError") as raised:
            flashmesh.run(config, overrides={f"policy.{kind}": Fails})
        assert isinstance(raised.value.__cause__, ZeroDivisionError)
        assert raised.value.__cause__.__traceback__ is not None


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
    text = 'preset = "venice-z-nand"\n[geometry]\nchannels = 1\nchips-per-channel = 1\nplanes-per-die = 1\n'
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
    ("mine.py:Both", "several kinds of policy: use --policy victim=mine.py:Both or --policy scheduler=mine.py:Both"),
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
    # The command records its command line in this variable. Set the variable through `monkeypatch`, so that it is
    # restored after the test.
    monkeypatch.setattr(provenance, "command", None)
    with pytest.raises((click.ClickException, flashmesh.FlashmeshError)) as refused:
        commands.flashmesh.main(
            ["run", "drive.toml", "--quiet", "--policy", text], prog_name="flashmesh", standalone_mode=False
        )
    assert told in str(refused.value)


def test_the_command_line_shows_the_traceback_of_a_policy_and_the_time(cli: Cli, mine: Path) -> None:
    done = cli("run", "drive.toml", "--policy", "mine.py:Fails")
    assert done.returncode == 2
    assert 'mine.py", line 19, in select' in done.stderr
    assert "ZeroDivisionError" in done.stderr
    assert "error: at " in done.stderr
    assert "flashmesh/policies" not in done.stderr


@pytest.mark.long
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
        assert "whose code would run: give --trust-policies if you trust the file" in refused.stderr
        trusted = cli(*command, "--trust-policies", "--quiet")
        assert trusted.returncode == 0, trusted.stderr
    assert cli("config", "sub/drive.toml").returncode == 0


def test_a_changed_policy_is_another_run_of_a_sweep(cli: Cli, mine: Path) -> None:
    (mine / "sweep.toml").write_text('config = "drive.toml"\n[axes]\n"policy.victim" = ["built-in", "mine.py:Mine"]\n')

    def names() -> list[str]:
        done = cli("sweep", "sweep.toml", "--trust-policies", "--dry-run")
        return [line.split()[0] for line in done.stdout.split("\n\n")[1].splitlines()]

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
    done = cli("optimise", "search.toml", "--trust-policies")
    assert done.returncode == 0, done.stderr
    assert "built-in" in done.stdout


def test_a_policy_that_the_drive_never_calls_is_refused() -> None:
    # The configuration accepts such a policy, because a file may vary the drive. The run refuses it.
    cases: list[tuple[str, dict[str, Any], str]] = [
        ("placement", {"ftl": {"policy": "mbm"}}, "does not act on ftl.policy = mbm, which chooses planes when writes"),
        ("routing", {"fabric": {"kind": "bus"}}, "does not act on fabric.kind = bus, which sends no scouts"),
        ("hops", {"fabric": {"kind": "bus"}}, "does not act on fabric.kind = bus, which has no packets"),
        ("arbiter", {"fabric": {"kind": "venice"}}, "does not act on fabric.kind = venice, which has no channels"),
    ]
    for kind, tables, told in cases:
        policy = {kind: f"{__file__}:NoAnswer"}
        with pytest.raises(flashmesh.ConfigError, match=told):
            flashmesh.run({**DRIVE, **tables, "policy": policy}, trust_policies=True)
