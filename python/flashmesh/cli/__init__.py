"""The command line: results on stdout, everything else on stderr, exit codes that scripts can use."""

from flashmesh.cli.entry import main

__all__ = ["main"]
