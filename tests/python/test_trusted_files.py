"""Policies named in files: their code does not run without the consent of the user."""

from __future__ import annotations

import json
import runpy
import shutil
import subprocess
import sys
import textwrap
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import flashmesh
from conftest import COMMAND, TIMEOUT_S, environment
from flashmesh import configuration, policies
from flashmesh.cli import commands
from flashmesh.gym import VictimEnv
from flashmesh.policies import names
from flashmesh.serving import nbdkit
from made_up_drive import DRIVE as MEASURED_DRIVE
from made_up_drive import csv_of, measurements

DRIVE = {
    "geometry": {"channels": 1, "chips-per-channel": 1, "blocks-per-plane": 64, "pages-per-block": 16},
    "workload": {"requests": 50},
}
DRIVE_TOML = "[geometry]\nchannels = 1\nchips-per-channel = 1\nblocks-per-plane = 64\n[workload]\nrequests = 50\n"
MINE = """from pathlib import Path
Path({marker!r}).touch()
class Mine:
    def select(self, blocks):
        return blocks.most_invalid()
"""
SEARCH = """config = "plain.toml"
trials = 2
population = 2
[space]
"flash.read-time" = ["10us", "20us"]
{space}
[objectives]
"p99" = "minimise"
"""


class Hostile:
    """Files that name a policy whose code leaves a mark when it runs."""

    def __init__(self, folder: Path, name: str) -> None:
        self.folder, self.marker = folder, folder / "pwned"
        self.name = name.format(marker=self.marker)
        self.line = f"victim = {json.dumps(self.name)}\n"
        self.axis = f'"policy.victim" = ["built-in", {json.dumps(self.name)}]\n'
        for file, text in self.files().items():
            (folder / file).write_text(text)

    def files(self) -> dict[str, str]:
        sweep = 'config = "{config}.toml"\n{table}\n'
        return {
            "mine.py": MINE.format(marker=str(self.marker)),
            "plain.toml": DRIVE_TOML,
            "drive.toml": f"{DRIVE_TOML}[policy]\n{self.line}",
            "base.toml": sweep.format(config="drive", table="[axes]\nseed = [1, 2]"),
            "set.toml": sweep.format(config="plain", table=f"[set]\npolicy.{self.line}[axes]\nseed = [1, 2]"),
            "axes.toml": sweep.format(config="plain", table=f"[axes]\n{self.axis}"),
            "zip.toml": sweep.format(config="plain", table=f"[[zip]]\n{self.axis}seed = [1, 2]"),
            "random.toml": sweep.format(config="plain", table=f"[random]\nsamples = 4\n{self.axis}"),
            "space.toml": SEARCH.format(space=self.axis),
            "search-base.toml": SEARCH.format(space="").replace("plain", "drive"),
            "search-set.toml": SEARCH.format(space=f"[set]\npolicy.{self.line}"),
            "facts.toml": f"{MEASURED_DRIVE}[policy]\n{self.line}",
            "facts-search.toml": f"{MEASURED_DRIVE}[calibrate.search]\n{self.axis}",
            "measured.csv": csv_of(measurements()),
        }

    def result(self) -> Path:
        """Returns the saved result of a run that names the policy."""
        document = json.loads(flashmesh.run(DRIVE).to_json())
        document["configuration"]["policy"] = {"victim": self.name}
        path = self.folder / "result.json"
        path.write_text(json.dumps(document))
        return path


NAMES = {"class": "mine.py:Mine", "callable": "subprocess:Popen(args=['touch', '{marker}'])"}


@pytest.fixture(params=NAMES)
def hostile(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Hostile:
    monkeypatch.chdir(tmp_path)
    return Hostile(tmp_path, NAMES[request.param])


CALIBRATE = ("calibrate", "measured.csv", "-o", "fitted.toml", "--facts")
COMMANDS: dict[str, list[tuple[str, ...]]] = {
    "drive.toml: policy.victim": [
        ("run", "drive.toml"),
        ("compare", "drive.toml", "--vary", "seed=1,2"),
        ("ask", "drive.toml", "--key", "flash.read-time"),
        ("collisions", "drive.toml"),
        ("validate", "drive.toml", "--points", "measured.csv", "--quick"),
        ("sweep", "base.toml"),
        ("optimise", "search-base.toml"),
    ],
    ".toml: policy.victim": [("sweep", "zip.toml"), ("sweep", "random.toml"), ("sweep", "axes.toml", "--dry-run")],
    "set.toml: policy.victim": [("sweep", "set.toml"), ("optimise", "search-set.toml")],
    "space.toml: policy.victim": [("optimise", "space.toml")],
    "facts.toml: policy.victim": [(*CALIBRATE, "facts.toml")],
    "facts-search.toml: [calibrate.search]: policy.victim": [(*CALIBRATE, "facts-search.toml")],
}


def called(*command: str | Path) -> object:
    """Returns the answer of a command called in this process."""
    arguments = [str(each) for each in command]
    return commands.flashmesh.main(arguments, prog_name="flashmesh", standalone_mode=False)


def test_no_command_runs_the_policy_of_a_file_and_each_says_where_it_is_and_what_to_type(hostile: Hostile) -> None:
    for place, listed in COMMANDS.items():
        for command in listed:
            with pytest.raises(flashmesh.ConfigError) as refused:
                called(*command)
            told = str(refused.value)
            assert f"{place} names the policy " in told, (command, told)
            assert "give --trust-policies if you trust the file" in told, (command, told)
            assert not hostile.marker.exists(), command


def test_commands_that_show_files_run_no_policy_of_them(hostile: Hostile, capsys: pytest.CaptureFixture[str]) -> None:
    result = hostile.result()
    for command in (
        ("show", result),
        ("report", result, "-o", "page.html"),
        ("bundle", result, "-o", "bundle.zip"),
        ("config", "drive.toml"),
        ("config", "diff", "plain.toml", result),
    ):
        assert called(*command) in (0, None), command
        assert not hostile.marker.exists(), command
    assert hostile.name in capsys.readouterr().out


def test_a_bundle_of_a_hostile_result_is_not_repeated(hostile: Hostile, monkeypatch: pytest.MonkeyPatch) -> None:
    called("bundle", hostile.result(), "-o", "bundle.zip")
    with zipfile.ZipFile("bundle.zip") as archive:
        archive.extractall("bundle")
    shutil.copy("mine.py", "bundle/configurations/mine.py")
    monkeypatch.setattr(sys, "argv", ["repeat.py"])
    # The configuration in the bundle names no policy, since the run named none. A stranger then adds a line that names
    # one.
    (written,) = Path("bundle/configurations").glob("*.toml")
    written.write_text(f"{DRIVE_TOML}[policy]\n{hostile.line}")
    with pytest.raises(flashmesh.ConfigError, match=r"policy\.victim names the policy .*, whose code would run"):
        runpy.run_path("bundle/repeat.py", run_name="__main__")
    assert not hostile.marker.exists()


def test_a_configuration_on_stdin_and_a_served_one_run_no_policy(hostile: Hostile) -> None:
    text = Path("drive.toml").read_bytes()
    for command, told in (
        (("run", "-"), "<stdin>: policy.victim names the policy "),
        (("serve", "drive.toml", "--socket", "socket"), "policy.victim: flashmesh serve runs no Python policies"),
        (("sweep", "axes.toml", "--slurm-array", "2"), "axes.toml: policy.victim names the policy "),
    ):
        done = subprocess.run(
            [COMMAND, *command],
            cwd=hostile.folder,
            input=text,
            env=environment(),
            capture_output=True,
            timeout=TIMEOUT_S,
            check=False,
        )
        assert (done.returncode, done.stdout) == (2, b""), command
        assert told in done.stderr.decode(), (command, done.stderr)
        assert not hostile.marker.exists(), command


def python_doors(hostile: Hostile) -> dict[str, Callable[[], Any]]:
    """Returns all Python functions that read a file or result that names a policy."""
    saved = flashmesh.load(hostile.result())
    assert isinstance(saved, flashmesh.Result)
    tables = saved.configuration
    return {
        "load a configuration": lambda: configuration.load("drive.toml"),
        "run a file": lambda: flashmesh.run("drive.toml"),
        "run a result": lambda: flashmesh.run(tables),
        "compare": lambda: flashmesh.compare(tables, {"seed": [1, 2]}),
        "ask": lambda: flashmesh.ask(tables, keys=["flash.read-time"], seeds=1),
        "sweep": lambda: flashmesh.sweep("axes.toml"),
        "optimise": lambda: flashmesh.optimise("space.toml"),
        "step": lambda: flashmesh.Drive(tables),
        "serve": lambda: nbdkit.check_config(configuration.load("drive.toml", runs=False)),
        "agent": lambda: VictimEnv(tables | {"policy": {"arbiter": hostile.name}}).reset(seed=1),
    }


def test_no_function_runs_the_policy_of_a_file_and_each_names_the_key(hostile: Hostile) -> None:
    for door, call in python_doors(hostile).items():
        with pytest.raises(flashmesh.ConfigError) as refused:
            call()
        assert "policy.victim" in str(refused.value) or "policy.arbiter" in str(refused.value), door
        if door not in ("step", "serve"):
            assert "give trust_policies=True if you trust what names it" in str(refused.value), door
        assert not hostile.marker.exists(), door


TRUSTED: dict[str, Callable[[Any], Any]] = {
    "run": lambda tables: flashmesh.run(tables, trust_policies=True),
    "compare": lambda tables: flashmesh.compare(tables, {"seed": [1, 2]}, trust_policies=True),
    "ask": lambda tables: flashmesh.ask(tables, keys=["flash.read-time"], seeds=1, trust_policies=True),
    "sweep": lambda tables: flashmesh.sweep("axes.toml", trust_policies=True),
    "optimise": lambda tables: flashmesh.optimise("space.toml", trust_policies=True),
    "agent": lambda tables: VictimEnv(
        tables | {"policy": {"arbiter": tables["policy"]["victim"]}}, trust_policies=True
    ).reset(seed=1),
}


def test_a_callable_that_is_no_policy_is_not_even_called_where_files_are_trusted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    hostile = Hostile(tmp_path, NAMES["callable"])
    tables = json.loads(hostile.result().read_text())["configuration"]
    for door, call in TRUSTED.items():
        with pytest.raises(flashmesh.ConfigError, match="which no installed package offers"):
            call(tables)
        assert not hostile.marker.exists(), door


def test_a_callable_that_is_no_policy_is_not_even_called_where_the_user_names_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    hostile = Hostile(tmp_path, NAMES["callable"])
    with pytest.raises(flashmesh.ConfigError, match="the class has none of the methods of a policy"):
        flashmesh.run(DRIVE, victim=hostile.name)
    with pytest.raises(flashmesh.ConfigError, match="the class has none of the methods of a policy"):
        called("run", "plain.toml", "--set", f"policy.victim={hostile.name}", "--quiet")
    assert not hostile.marker.exists()


def test_a_class_of_a_file_runs_where_the_file_is_trusted_or_the_user_names_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    hostile = Hostile(tmp_path, NAMES["class"])
    tables = json.loads(hostile.result().read_text())["configuration"]
    trusted = flashmesh.run(tables, trust_policies=True)
    assert hostile.marker.exists()
    assert flashmesh.run(DRIVE, victim=hostile.name) == trusted
    assert flashmesh.run(DRIVE, overrides={"policy.victim": hostile.name}) == trusted
    assert len(flashmesh.compare(DRIVE, {"policy.victim": ["built-in", hostile.name]}).runs) == 2
    # Consent to one policy is no consent to another.
    with pytest.raises(flashmesh.ConfigError, match=r"policy.victim names the policy mine.py:Mine, whose code"):
        flashmesh.run(tables, arbiter="other.py:Other")


def test_a_trusted_file_with_a_policy_keeps_its_spare_space_when_the_flash_varies(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    hostile = Hostile(tmp_path, NAMES["class"])
    tables = {**DRIVE, "geometry": {**DRIVE["geometry"], "capacity": "3MiB"}, "policy": {"victim": hostile.name}}
    pages = {"geometry.pages-per-block": "32"}
    found = configuration.load(tables, varied=pages, trust_policies=True)
    assert json.loads(found.to_json())["geometry"]["capacity"] == "6MiB"


def test_what_the_user_names_is_no_consent_to_another_policy_of_a_sweep(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Hostile(tmp_path, NAMES["class"])
    for file in ("base.toml", "set.toml", "axes.toml"):
        with pytest.raises(flashmesh.ConfigError, match=r"policy\.victim names the policy"):
            called("sweep", file, "--set", "policy.arbiter=other.py:Other", "--dry-run")


class Newest:
    def select(self, blocks: policies.Blocks) -> int:
        return int(blocks.filled.argmax())


def test_a_result_of_a_policy_that_this_program_gave_runs_again_without_more_consent() -> None:
    first = flashmesh.run(DRIVE, victim=Newest)
    assert flashmesh.run(first.configuration).configuration == first.configuration


PACKAGE = """
class Offered:
    def select(self, blocks):
        return blocks.most_invalid()
class Hidden(Offered):
    pass
"""


def test_trusted_files_may_name_the_policies_that_an_installed_package_offers_and_no_others(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "offering_policies.py").write_text(PACKAGE)
    about = tmp_path / "offering-1.0.dist-info"
    about.mkdir()
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: offering\nVersion: 1.0\n")
    entries = f"""
    [{names.GROUP}]
    offered = offering_policies:Offered
    """
    (about / "entry_points.txt").write_text(textwrap.dedent(entries))
    monkeypatch.syspath_prepend(tmp_path)

    def run(name: str) -> flashmesh.Result:
        return flashmesh.run({**DRIVE, "policy": {"victim": name}}, trust_policies=True)

    assert run("offering_policies:Offered").requests == 50
    with pytest.raises(flashmesh.ConfigError, match=r"names the policy offering_policies:Hidden, which no installed"):
        run("offering_policies:Hidden")
