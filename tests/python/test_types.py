"""The stub of the compiled module agrees with the module."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest


@pytest.mark.long
def test_stub_agrees_with_the_compiled_module(tmp_path: Path) -> None:
    # Imports of the stub are checked with the package: analysing pandas and NumPy again takes most of a minute.
    settings = tmp_path / "stubtest.ini"
    settings.write_text("[mypy]\nfollow_imports = skip\nignore_missing_imports = True\n", encoding="utf-8")
    command = [sys.executable, "-m", "mypy.stubtest", "flashmesh._native", "--mypy-config-file", str(settings)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
