"""Groups of tests that run in one process when several processes share the tests."""

from __future__ import annotations

from pathlib import Path

from conftest import SHARING, group

HERE = Path(__file__).parent


def test_tests_that_share_what_is_dear_to_make_run_in_one_process() -> None:
    assert group("tests/python/test_site.py::a[1::2]") == group("tests/python/test_site_pages.py::b")
    assert group("tests/python/test_calibration.py::a") == group("tests/python/test_calibration.py::b[x]")
    assert group("tests/python/test_calibration.py::a") != group("tests/python/test_packages.py::a")


def test_others_run_wherever_there_is_time() -> None:
    assert "test_cores" not in SHARING
    assert group("tests/python/test_cores.py::a") != group("tests/python/test_cores.py::b")
    assert group("README.md::README.md") != group("python/flashmesh/units.py::flashmesh.units")


def test_every_user_of_the_site_is_in_its_group() -> None:
    users = [path.stem for path in HERE.glob("test_*.py") if "site: Path" in path.read_text(encoding="utf-8")]
    assert len(users) >= 2
    assert {group(f"tests/python/{user}.py::a") for user in users if user != Path(__file__).stem} == {"site"}
