"""Distributed files: the wheel, the source distribution, the image description, the changelog, the citation."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import sysconfig
import tarfile
import tomllib
import venv
import zipfile
from pathlib import Path

import pytest
import yaml  # type: ignore[import-untyped]
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

import flashmesh
import runtime_lock
from conftest import environment

ROOT = Path(__file__).parents[2]
MATURIN = Path(sys.executable).with_name("maturin")
BUILT = ROOT / "target" / "quick" / "lib_native.so"
TIMEOUT_S = 1500
LONG = "FLASHMESH_PACKAGES"
"""Environment variable for the long form: pip also compiles and installs the source distribution."""


def made(arguments: list[str], out: Path) -> Path:
    """Runs maturin. Returns the only file that it puts into a folder."""
    command: list[str | Path] = [MATURIN, *arguments, "--out", out]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=TIMEOUT_S, check=False)
    assert done.returncode == 0, done.stderr
    (file,) = out.iterdir()
    return file


def installed(file: Path, folder: Path, *options: str) -> Path:
    """Installs a package into an empty environment. Returns its folder of programs."""
    venv.create(folder, with_pip=True)
    command: list[str | Path] = [
        folder / "bin" / "python",
        "-m",
        "pip",
        "install",
        "--quiet",
        "--disable-pip-version-check",
    ]
    subprocess.run([*command, *options, file], check=True, timeout=TIMEOUT_S, env=environment())
    return folder / "bin"


@pytest.fixture(scope="session")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Packs a wheel from the module that `make build` has compiled."""
    if not BUILT.exists() and not os.environ.get("FLASHMESH_CI"):
        pytest.skip(f"{BUILT} is not there: make build compiles it")
    return made(["build", "--profile", "quick"], tmp_path_factory.mktemp("wheel"))


@pytest.fixture(scope="session")
def source(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Makes a source distribution."""
    return made(["sdist"], tmp_path_factory.mktemp("source"))


@pytest.mark.long
def test_the_wheel_is_for_every_python_from_the_oldest_on(wheel: Path) -> None:
    assert re.fullmatch(r"flashmesh-[\d.]+-cp311-abi3-(manylinux|linux|macosx)\w*\.whl", wheel.name)
    with zipfile.ZipFile(wheel) as archive:
        names = set(archive.namelist())
    tracked = subprocess.run(["git", "ls-files", "python"], cwd=ROOT, capture_output=True, text=True, check=True)
    assert {name.removeprefix("python/") for name in tracked.stdout.split()} <= names
    examples = subprocess.run(["git", "ls-files", "examples"], cwd=ROOT, capture_output=True, text=True, check=True)
    assert {f"flashmesh/{name}" for name in examples.stdout.split()} <= names
    assert ("flashmesh/libflashmesh_nbdkit.so" in names) == (sys.platform == "linux")


@pytest.mark.long
def test_the_wheel_works_in_an_environment_of_its_own(wheel: Path, tmp_path: Path) -> None:
    programs = installed(wheel, tmp_path / "env", "--no-index", "--no-deps")
    # Take the dependencies from this environment, which has them already.
    (packages,) = (tmp_path / "env").glob("lib/python*/site-packages")
    (packages / "dependencies.pth").write_text(f"{sysconfig.get_path('purelib')}\n")
    program = f"import flashmesh; assert flashmesh.__file__.startswith({str(packages)!r}), flashmesh.__file__"
    subprocess.run([programs / "python", "-c", program], check=True, cwd=tmp_path, env=environment())
    ran = subprocess.run(
        [programs / "flashmesh", "doctor"], cwd=tmp_path, env=environment(), capture_output=True, text=True, check=False
    )
    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert "requests with all checks in" in ran.stdout
    for arguments in (["examples"], ["run", "examples/venice.toml", "--set", "workload.requests=1k"]):
        command: list[str | Path] = [programs / "flashmesh", *arguments]
        ran = subprocess.run(command, cwd=tmp_path, env=environment(), capture_output=True, text=True, check=False)
        assert ran.returncode == 0, ran.stderr


@pytest.mark.long
def test_the_source_distribution_holds_what_it_is_built_from(source: Path, tmp_path: Path) -> None:
    with tarfile.open(source) as archive:
        archive.extractall(tmp_path, filter="data")
    (folder,) = tmp_path.iterdir()
    listed = [
        *(f"crates/{crate}/src" for crate in ("flashmesh", "flashmesh-base", "flashmesh-nbdkit", "flashmesh-workload")),
        "crates/flashmesh-py",
        "python",
        "examples",
        "Cargo.lock",
        "LICENSE",
        "README.md",
    ]
    tracked = subprocess.run(["git", "ls-files", *listed], cwd=ROOT, capture_output=True, text=True, check=True)
    manifest = ("Cargo.toml", "crates/flashmesh-py/Cargo.toml")  # rewritten by maturin
    for name in tracked.stdout.split():
        if name not in manifest and (ROOT / name).exists():
            assert (folder / name).read_bytes() == (ROOT / name).read_bytes(), name
    # Cargo fails if a target of a manifest is missing. It also drops the lock file's entries of crates that are not
    # distributed, which it would refuse to do with --locked.
    command = ["cargo", "tree", "--offline", "--prefix=none", "--package=flashmesh-py", "--edges=normal,build"]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    used = {tuple(line.split()[:2]) for line in done.stdout.splitlines()}
    locked = tomllib.loads((ROOT / "Cargo.lock").read_text())["package"]
    assert len(used) > 20
    assert used <= {(package["name"], f"v{package['version']}") for package in locked}


@pytest.mark.skipif(not os.environ.get(LONG), reason=f"{LONG}=1 compiles and installs the source distribution")
@pytest.mark.long
def test_the_source_distribution_installs_with_pip_alone(source: Path, tmp_path: Path) -> None:
    programs = installed(source, tmp_path / "env")
    ran = subprocess.run([programs / "flashmesh", "doctor"], cwd=tmp_path, env=environment(), check=False)
    assert ran.returncode == 0


def test_the_image_is_described_by_commands_that_are_there() -> None:
    text = (ROOT / "Containerfile").read_text().replace("\\\n", " ")
    lines = [line for line in text.splitlines() if line and not line.startswith("#")]
    bases = re.findall(r"^ARG \w+_IMAGE=(\S+)", text, re.MULTILINE)
    assert len(bases) == 2
    assert all(re.search(r":\d+\.\d+[\w.-]*@sha256:[0-9a-f]{64}$", base) for base in bases), bases
    instructions = {"FROM", "RUN", "COPY", "WORKDIR", "ARG", "USER", "ENTRYPOINT", "CMD"}
    assert {line.split()[0] for line in lines} == instructions
    makefile = (ROOT / "Makefile").read_text()
    targets = re.findall(r"\bmake ([a-z][\w-]*)(?=$|\s)", "\n".join(line for line in lines if "apt-get" not in line))
    assert targets == ["wheel"]
    assert all(re.search(rf"^{target}:", makefile, re.MULTILINE) for target in targets)
    assert "--out out/dist" in makefile
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    (entry,) = re.findall(r'^ENTRYPOINT \["(.*)"\]$', text, re.MULTILINE)
    assert entry in project["project"]["scripts"]
    rust = tomllib.loads((ROOT / "Cargo.toml").read_text())["workspace"]["package"]["rust-version"]
    (image,) = re.findall(r"rust:(\d+)\.(\d+)", bases[0])
    assert tuple(map(int, image)) >= tuple(map(int, rust.split(".")[:2]))


def test_the_image_installs_by_the_hashes_of_the_lock_file() -> None:
    text = (ROOT / "Containerfile").read_text()
    assert "tools/runtime_lock.py > out/dist/runtime.lock" in text
    assert "--require-hashes --requirement /tmp/dist/runtime.lock" in text
    lock = runtime_lock.runtime_lock((ROOT / "requirements.lock").read_text())
    entries = re.findall(r"^([a-z0-9._-]+)==\S+(.*(?:(?<=\\)\n.*)*)$", lock, re.MULTILINE | re.IGNORECASE)
    assert all("--hash=sha256:" in hashes for _, hashes in entries)
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    wanted = [*project["dependencies"], *project["optional-dependencies"]["plots"]]
    wanted += project["optional-dependencies"]["search"]
    direct = {canonicalize_name(Requirement(each).name) for each in wanted}
    assert direct <= {canonicalize_name(name) for name, _ in entries}
    assert not {"pytest", "ruff", "sphinx"} & {name for name, _ in entries}


def test_the_citation_agrees_with_the_package() -> None:
    cited = yaml.safe_load((ROOT / "CITATION.cff").read_text())
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert cited["cff-version"] == "1.2.0"
    assert {"title", "message", "authors", "type"} <= cited.keys()
    assert str(cited["version"]) == flashmesh.__version__
    assert cited["license"] == project["license"]
    assert [author["name"] for author in cited["authors"]] == [author["name"] for author in project["authors"]]


def test_the_record_of_zenodo_agrees_with_the_citation() -> None:
    cited = yaml.safe_load((ROOT / "CITATION.cff").read_text())
    record = json.loads((ROOT / ".zenodo.json").read_text())
    assert re.fullmatch(r"\d{4}-\d\d-\d\d", str(cited["date-released"]))
    shared = {"title": "title", "version": "version", "license": "license", "keywords": "keywords"}
    assert all(record[ours] == cited[theirs] for ours, theirs in shared.items())
    assert record["description"] == cited["abstract"]
    assert [each["name"] for each in record["creators"]] == [each["name"] for each in cited["authors"]]


def test_both_recipes_of_images_do_the_same() -> None:
    recipe = (ROOT / "Apptainer.def").read_text()
    container = (ROOT / "Containerfile").read_text()
    bases = re.findall(r"^ARG \w+_IMAGE=docker\.io/library/(\S+)", container, re.MULTILINE)
    assert re.findall(r"^From: (\S+)$", recipe, re.MULTILINE) == bases
    for command in (
        "make wheel",
        "tools/runtime_lock.py > out/dist/runtime.lock",
        "--require-hashes",
        "flashmesh doctor",
    ):
        assert command in recipe
        assert command in container


def test_releases_are_published_without_a_token() -> None:
    jobs = yaml.safe_load((ROOT / ".github/workflows/ci.yml").read_text())["jobs"]
    job = jobs["publish"]
    assert job["permissions"] == {"id-token": "write"}
    assert job["if"] == jobs["wheels"]["if"] == "startsWith(github.ref, 'refs/tags/v')"
    assert job["needs"] == "wheels"
    publish = job["steps"][-1]
    assert publish["uses"].startswith("pypa/gh-action-pypi-publish@")
    assert "password" not in publish.get("with", {})


def test_the_changelog_keeps_its_form() -> None:
    text = (ROOT / "CHANGELOG.md").read_text()
    versions = re.findall(r"^## (.*)$", text, re.MULTILINE)
    assert versions[0] == "[Unreleased]"
    assert all(re.fullmatch(r"\[\d+\.\d+\.\d+\] - \d{4}-\d\d-\d\d", version) for version in versions[1:])
    kinds = re.findall(r"^### (.*)$", text, re.MULTILINE)
    assert set(kinds) <= {"Added", "Changed", "Deprecated", "Removed", "Fixed", "Security"}
