"""Command line: results on stdout, everything else on stderr, exit codes for scripts."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import NoReturn


def main() -> NoReturn:
    """Runs the command line and ends the process."""
    # Install signal handlers before the imports, which take a while and can be interrupted as well.
    from flashmesh.cli.signals import hold

    hold()
    from flashmesh.cli.entry import main

    main()


__all__ = ["main"]
