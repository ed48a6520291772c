"""The command line: results on stdout, everything else on stderr, exit codes that scripts can use."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import NoReturn


def main() -> NoReturn:
    """Runs the command line and ends the process."""
    # Before the imports, which take a while: they may be interrupted as well.
    from flashmesh.cli.signals import hold

    hold()
    from flashmesh.cli.entry import main

    main()


__all__ = ["main"]
