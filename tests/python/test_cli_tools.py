"""Informative commands: doctor, explain, config diff, init, and the version."""

from __future__ import annotations

import json
import re
import subprocess
import threading
import tomllib
from pathlib import Path
from typing import Any

import jsonschema
import pytest

import flashmesh
from conftest import TIMEOUT_S, Cli
from flashmesh import _native, doctor, keys
from flashmesh.configuration import read
from flashmesh.configuring import starter


def test_version_names_the_build(cli: Cli) -> None:
    done = cli("--version")
    assert done.returncode == 0
    first, *others = done.stdout.splitlines()
    assert first == f"flashmesh {flashmesh.__version__}"
    named = dict(line.split(maxsplit=1) for line in others)
    assert list(named) == ["commit", "build", "python", "platform"]
    assert re.match(r"(release|quick|debug \(made for tests; [^)]+\)), rustc \d+\.\d+", named["build"])
    assert re.fullmatch(r"unknown|[0-9a-f]{12,40}", named["commit"])


def test_doctor_finds_a_working_installation(cli: Cli) -> None:
    done = cli("doctor", "--json", "-")
    assert done.returncode == 0, done.stdout
    document = json.loads(done.stdout)
    assert document["works"]
    found = {(each["group"], each["name"]): each for each in document["findings"]}
    assert {group for group, _ in found} == {
        "build",
        "packages",
        "programs",
        "machine",
        "limits",
        "shown on",
        "folders",
        "trial",
    }
    assert "with all checks" in found["trial", "run"]["value"]
    assert all(each["remedy"] for each in document["findings"] if each["level"] != "ok")
    shown = cli("doctor")
    assert shown.stdout.endswith("flashmesh works\n")


def test_doctor_tells_faults_by_its_exit_code(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from flashmesh.cli.installation.doctor import doctor as command

    def fail(*_: object, **__: object) -> None:
        raise RuntimeError("the module is broken")

    monkeypatch.setattr(flashmesh, "run", fail)
    monkeypatch.setattr("importlib.metadata.requires", lambda name: ["no-such-package>=1", "click>=999"])
    assert command.main([], standalone_mode=False) == 3
    shown = capsys.readouterr().out
    assert "fault: no-such-package: not installed: pip install 'no-such-package>=1'" in shown
    assert "click>=999" in shown
    assert "RuntimeError: the module is broken" in shown
    assert shown.endswith("flashmesh does not work: 3 faults\n")


def test_doctor_notes_what_one_part_lacks(monkeypatch: pytest.MonkeyPatch) -> None:
    listed = ['no-such-package>=1; extra == "search"', 'missing>1; extra == "dev"', 'also-missing; extra == "docs"']
    monkeypatch.setattr("importlib.metadata.requires", lambda name: listed)
    (found,) = doctor.packages()
    assert (found.level, found.remedy) == ("note", "for flashmesh optimise: pip install 'no-such-package>=1'")


def test_doctor_names_packages_of_one_extra_in_one_note(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from flashmesh.cli.installation.doctor import doctor as command

    listed = ['missing-one; extra == "cluster"', 'missing-two>=3; extra == "cluster"']
    monkeypatch.setattr("importlib.metadata.requires", lambda name: listed)
    assert command.main([], standalone_mode=False) == 0
    shown = capsys.readouterr().out
    command_line = "pip install 'missing-one' 'missing-two>=3'"
    note = f"note: missing-one, missing-two: not installed: for sweeps on a cluster: {command_line}"
    assert note in shown.splitlines()


def test_doctor_says_whether_a_drive_can_be_served(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    program = tmp_path / "nbdkit"
    program.write_text("#!/bin/sh\necho nbdkit 1.32.5 '(nbdkit-1.32.5-1)'\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=":")
    monkeypatch.setattr("flashmesh.serving.nbdkit.PLUGIN", tmp_path / "gone.so")
    found = {each.name: each for each in doctor.programs()}
    assert (found["nbdkit"].level, found["nbdkit"].value) == ("ok", f"1.32.5 ({program})")
    assert (found["nbdkit plugin"].level, found["nbdkit plugin"].value) == ("note", "missing")
    monkeypatch.setenv("PATH", "")
    found = {each.name: each for each in doctor.programs()}
    assert found["nbdkit"].value == "not installed"
    assert "apt-get install nbdkit" in found["nbdkit"].remedy


def test_doctor_notes_a_folder_that_cannot_be_written(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr("tempfile.gettempdir", lambda: str(tmp_path / "gone"))
    found = {each.name: each for each in doctor.folders()}
    assert found["temporary files"].level == "note"
    assert "No such file" in found["temporary files"].value


@pytest.mark.parametrize("key", keys.declared())
def test_every_key_can_be_explained(key: str, capsys: pytest.CaptureFixture[str]) -> None:
    from flashmesh.cli.inputs.explain import explain

    explain.main([key], standalone_mode=False)
    shown = capsys.readouterr().out
    assert shown.startswith(f"{key}\n  ")
    assert "\n  type " in shown
    assert "\n  default " in shown
    assert max(map(len, shown.splitlines())) <= 80


def test_explain_says_where_a_key_is_read_and_from_which_paper(cli: Cli) -> None:
    shown = " ".join(cli("explain", "venice.routing").stdout.split())
    assert 'read with fabric.kind = "venice"' in shown
    assert "related fabric.kind, policy.routing, venice.tie-break" in shown
    assert "source Venice, ISCA 2023, Table 4" in " ".join(cli("explain", "power.link-power").stdout.split())
    shown = " ".join(cli("explain", "flash.read-time").stdout.split())
    assert "with a unit: s, ms, us, ns, ps" in shown
    assert '"45us" in venice-pm9a3' in shown


def test_explain_lists_the_keys_of_a_section(cli: Cli) -> None:
    shown = cli("explain", "fabric").stdout
    assert shown.startswith("[fabric]\n")
    assert "  channel-rate" in shown


def test_explain_knows_keys_of_streams_and_named_tables(cli: Cli) -> None:
    assert cli("explain", "stream.oltp.replay.outstanding").stdout.startswith("replay.outstanding\n")
    named = next(key for key in keys.declared() if key.startswith("namespace.NAME."))
    assert cli("explain", named.replace("NAME", "fast")).stdout.startswith(f"{named}\n")


@pytest.mark.parametrize(
    ("key", "meant"), [("fabric.knd", "fabric.kind"), ("chanels", "geometry.channels"), ("fabrik", "fabric")]
)
def test_explain_says_what_may_have_been_meant(cli: Cli, key: str, meant: str) -> None:
    done = cli("explain", key)
    assert done.returncode == 2
    assert done.stdout == ""
    assert f"did you mean {meant}?" in done.stderr


def test_explain_wants_a_key(cli: Cli) -> None:
    done = cli("explain", " ")
    assert (done.returncode, done.stderr) == (2, "error: a key is missing: name one, such as fabric.kind\n")


def test_papers_are_found_as_they_are_cited() -> None:
    text = "As much (Design for Scalability, PACT 2014, section 5.5); Sprinkler (HPCA 2014): by turns; 72 in all (ISO)."
    assert keys.cited(text) == ("Design for Scalability, PACT 2014, section 5.5", "Sprinkler, HPCA 2014")


def test_diff_shows_what_differs(cli: Cli, config: Path, tmp_path: Path) -> None:
    done = cli("config", "diff", "preset:venice-z-nand", config)
    assert done.returncode == 0
    rows = [line.split()[0] for line in done.stdout.splitlines()[2:]]
    assert "workload.read-share" in rows
    assert "fabric.kind" not in rows  # the default value
    document = json.loads(cli("config", "diff", "preset:venice-z-nand", config, "--json", "-").stdout)
    assert document["configurations"] == ["preset:venice-z-nand", str(config)]
    assert document["differences"]["workload.read-share"] == [1.0, 0.7]
    assert list(document["differences"]) == rows
    assert cli("config", "diff", config, config).stdout == "the configurations are the same\n"


def test_diff_reads_saved_results(cli: Cli, config: Path, tmp_path: Path) -> None:
    assert cli("run", config, "--set", "fabric.kind=ideal", "--json", "one.json").returncode == 0
    assert cli("compare", config, "--vary", "fabric.kind=bus,venice", "--json", "two.json").returncode == 0
    document = json.loads(cli("config", "diff", "one.json", "two.json", "--json", "-").stdout)
    assert document["configurations"] == ["one", "bus", "venice"]
    assert document["differences"] == {"fabric.kind": ["ideal", "bus", "venice"]}


def test_diff_wants_something_to_compare_with(cli: Cli, config: Path) -> None:
    done = cli("config", "diff", config)
    assert done.returncode == 2
    assert "name another one" in done.stderr


def test_a_configuration_is_printed_without_a_command_before_it(cli: Cli, config: Path) -> None:
    assert cli("config", config).stdout == cli("config", "print", config).stdout
    assert cli("config", "--set", "seed=3", config).stdout.startswith("seed = 3\n")
    lacking = cli("config")
    assert (lacking.returncode, "Missing argument 'CONFIG'" in lacking.stderr) == (2, True)


def test_schema_is_printed_and_has_an_id(cli: Cli) -> None:
    schema = json.loads(cli("config", "--schema").stdout)
    assert schema["$id"] == "urn:flashmesh:schema:config"
    jsonschema.Draft7Validator.check_schema(schema)
    validator = jsonschema.Draft7Validator(schema)
    assert validator.is_valid({"preset": "venice-z-nand", "stream": {"a": {"replay": {"outstanding": 4}}}})
    assert not validator.is_valid({"preset": "venice-z-nand", "stream": {"a": {"replay": {"outstandin": 4}}}})


@pytest.mark.parametrize("preset", flashmesh.presets())
def test_a_configuration_to_start_from_is_that_of_the_preset(preset: str) -> None:
    text = starter.starter(preset)
    written, plain = read_text(text), json.loads(read(f"preset:{preset}", []).to_json())
    assert keys.differences([plain, written]).keys() == {"workload.requests"}
    # Commented-out lines show the values in effect, so uncommenting them all changes nothing.
    whole = re.sub(r"^# (?=[a-z-]+ = (?!\.\.\.))", "", text, flags=re.MULTILINE)
    assert len(tomllib.loads(whole)["geometry"]) >= 5
    assert read_text(whole) == written


def read_text(text: str) -> dict[str, Any]:
    """Returns a configuration as tables."""
    tables: dict[str, Any] = json.loads(_native.Config.from_str(text, "drive.toml", []).to_json())
    return tables


def test_init_writes_a_configuration_that_runs(cli: Cli, tmp_path: Path) -> None:
    done = cli("init", "--preset", "venice-pm9a3", "mine.toml", "--schema")
    assert done.returncode == 0, done.stderr
    text = (tmp_path / "mine.toml").read_text()
    assert text.startswith("#:schema ./config.schema.json\n")
    assert json.loads((tmp_path / "config.schema.json").read_text())["$id"]
    ran = cli("run", "mine.toml", "--set", "workload.requests=100")
    assert ran.returncode == 0, ran.stderr


def test_init_never_overwrites(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "drive.toml").write_text("mine\n")
    done = cli("init")
    assert done.returncode == 2
    assert done.stderr == "error: drive.toml: exists already: name another file, or remove it first\n"
    assert (tmp_path / "drive.toml").read_text() == "mine\n"
    assert cli("init", "-").stdout == starter.starter("venice-z-nand")


def test_preconditioning_shows_how_far_it_is() -> None:
    config = read(
        "preset:venice-z-nand", ["precondition.kind=random", "workload.requests=1", "geometry.blocks-per-plane=256"]
    )
    control = _native.Control()
    seen: list[float] = []
    assert control.preconditioned is None
    opened = threading.Thread(target=lambda: _native.Simulation(config, None, None, control))
    opened.start()
    while opened.is_alive():
        share = control.preconditioned
        if share is not None and (not seen or share != seen[-1]):
            seen.append(share)
    assert len(seen) > 5
    assert seen == sorted(seen)
    assert 0.0 <= seen[0] < seen[-1] < 1.0
    assert control.preconditioned is None


def test_the_bar_says_that_it_is_preconditioning(config: Path) -> None:
    import os
    import pty
    import sys

    with config.open("a") as file:
        file.write('\n[precondition]\nkind = "random"\n\n[geometry]\nblocks-per-plane = 256\n')
    command = Path(sys.executable).with_name("flashmesh")
    primary, secondary = pty.openpty()
    run = subprocess.Popen(
        [command, "run", config],
        stdout=subprocess.DEVNULL,
        stderr=secondary,
        env=os.environ | {"TERM": "xterm", "COLUMNS": "100"},
    )
    os.close(secondary)
    shown = b""
    while True:
        try:
            part = os.read(primary, 65536)
        except OSError:
            break
        if not part:
            break
        shown += part
    os.close(primary)
    assert run.wait(timeout=TIMEOUT_S) == 0
    assert re.search(rb"preconditioning.*\d %", shown)
