"""The stub of the compiled module says what the module is."""

from __future__ import annotations

import subprocess
import sys


def test_stub_agrees_with_the_compiled_module() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "mypy.stubtest", "flashmesh._native"], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
